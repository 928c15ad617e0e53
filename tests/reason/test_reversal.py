"""Almost the same words, and the opposite: never agreement, in three languages; lines that are of other things are left alone."""

from __future__ import annotations

import pytest

from hindbrain.reason import relating
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import judge
from hindbrain.reason.relation import reverses
from hindbrain.reason.reversal import at_odds
from hindbrain.reason.sides import Sides
from tests.reason.knowing import know

LIKENESS = Likeness()


def told(older: str, newer: str, kinds: str = "decision decision") -> str:
    old, new = kinds.split()
    return judge(know("n", newer, new, 2), know("o", older, old, 1), LIKENESS).said


def turned(older: str, newer: str, kinds: str = "decision decision") -> bool:
    old, new = kinds.split()
    return reverses(know("n", newer, new, 2), know("o", older, old, 1))


STAYING = [
    ("We moved the orders service back to PostgreSQL", "Actually no, the orders service stays on MySQL"),
    ("We moved the orders service from MySQL to PostgreSQL", "the orders service stays on MySQL"),
    ("We moved the orders service to PostgreSQL because of its JSON", "No, the orders service stays on MySQL"),
    ("We migrated the CI to GitHub Actions", "No, the CI stays on Jenkins"),
    ("Wir haben den Bestelldienst auf PostgreSQL umgestellt", "Doch nicht, der Bestelldienst bleibt auf MySQL"),
    ("Pasamos el servicio de pedidos a PostgreSQL", "Mejor no, el servicio de pedidos se queda en MySQL"),
    ("the upload timeout is 60 seconds now", "Actually no, the upload timeout stays at 30 seconds"),
]


@pytest.mark.parametrize("kinds", ["decision decision", "decision correction", "decision fact", "fact decision"])
@pytest.mark.parametrize(("older", "newer"), STAYING)
def test_what_stays_with_one_thing_replaces_that_it_went_to_another(older: str, newer: str, kinds: str) -> None:
    assert told(older, newer, kinds) == "supersedes"


def test_what_is_believed_to_stay_replaces_nothing_and_is_told() -> None:
    assert told("We moved the orders service to PostgreSQL", "I think the orders service stays on MySQL") == "contradicts"


@pytest.mark.parametrize(
    ("kinds", "older", "newer"),
    [
        ("instruction decision", "Never use tabs in Python files", "Use tabs in Python files"),
        ("instruction instruction", "Use tabs in Python files", "Never use tabs in Python files"),
        ("instruction decision", "Benutze nie Tabs in Python-Dateien", "Benutze Tabs in Python-Dateien"),
        ("instruction instruction", "Nunca uses tabs en los archivos Python", "Usa tabs en los archivos Python"),
        ("correction decision", "We don't use Docker in this project", "We use Docker in this project"),
        ("fact fact", "Wir benutzen kein Docker in diesem Projekt", "Wir benutzen Docker in diesem Projekt"),
        ("fact fact", "No usamos Docker en este proyecto", "Usamos Docker en este proyecto"),
        ("instruction instruction", "Always answer in German", "Always answer in English from now on"),
        ("instruction instruction", "Antworte immer auf Deutsch", "Antworte immer auf Englisch"),
        ("instruction instruction", "Responde siempre en alemán", "Responde siempre en inglés"),
        ("preference preference", "I prefer tabs over spaces", "I prefer spaces over tabs"),
        ("preference preference", "I like composition rather than inheritance.", "I like inheritance rather than composition."),
        ("preference preference", "Ich bevorzuge Tabs statt Leerzeichen", "Ich bevorzuge Leerzeichen statt Tabs"),
        ("preference preference", "Prefiero tabulaciones en vez de espacios", "Prefiero espacios en vez de tabulaciones"),
        ("preference preference", "I prefer tabs", "I prefer spaces"),
        ("fact fact", "The backend is written in Python", "The backend is written in Rust"),
    ],
)
def test_the_opposite_in_almost_the_same_words_replaces_it_or_is_told(kinds: str, older: str, newer: str) -> None:
    assert turned(older, newer, kinds)
    assert told(older, newer, kinds) in ("supersedes", "contradicts")


def test_the_opposite_that_is_ordered_from_now_on_replaces_what_was_asked_for() -> None:
    assert told("Always answer in German", "Always answer in English from now on", "instruction instruction") == "supersedes"


@pytest.mark.parametrize(
    ("kinds", "older", "newer"),
    [
        ("fact fact", "gift cards last 3 years", "passes last 2 days"),
        ("instruction instruction", "Never use tabs in Python files", "Use tabs in Makefiles"),
        ("instruction instruction", "Never use tabs in Python files", "As I said, never use tabs in Python files"),
        ("instruction instruction", "Never commit without tests", "Commit with tests"),
        ("instruction instruction", "Never push to main without review", "Push to main only after review"),
        ("instruction instruction", "Never deploy on Fridays", "Deploy on Thursdays"),
        ("instruction instruction", "Always answer in German", "Write the commit messages in English"),
        ("instruction instruction", "Always answer in German", "Antworte immer auf Deutsch"),
        ("fact fact", "the page is there in German", "the page is there in English"),
        ("fact fact", "we support MySQL", "we support PostgreSQL"),
        ("decision decision", "we use Redis", "we also use Memcached"),
        ("fact fact", "The orders service runs on MySQL", "The billing service stays on PostgreSQL"),
        ("fact fact", "The orders service runs on MySQL", "The orders service stays on MySQL"),
        ("fact fact", "We moved the orders service from PostgreSQL to MySQL", "the orders service stays on MySQL"),
        ("fact fact", "Staging uses MySQL", "Production uses PostgreSQL"),
        ("instruction instruction", "never use MySQL for the orders", "use PostgreSQL for the orders"),
        ("preference preference", "I prefer tabs over spaces in Go", "I prefer spaces over tabs in Python"),
        ("instruction instruction", "Use tabs in Python files", "Just this once, no tabs in Python files"),
        ("decision decision", "We use Docker in this project", "Do we not use Docker in this project?"),
        ("task decision", "use Docker in this project", "we don't use Docker in this project"),
    ],
)
def test_what_is_of_another_thing_or_says_the_same_is_no_opposite(kinds: str, older: str, newer: str) -> None:
    assert not turned(older, newer, kinds)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        *STAYING,
        ("use Jest for the unit tests of the shop", "use Vitest for the unit tests of the shop, as always"),
        ("uploads are kept for 30 days", "as always, uploads are kept for 60 days"),
        ("use default exports", "never use default exports"),
    ],
)
def test_no_weight_makes_agreement_of_two_that_are_at_odds(monkeypatch: pytest.MonkeyPatch, older: str, newer: str) -> None:
    monkeypatch.setattr(relating, "weighed", lambda marks: {name: 9.0 * (name == "reinforces") for name in relating.RELATIONS})
    assert told(older, newer) not in ("reinforces", "same")


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("use Jest for the unit tests of the shop", "as always: Jest for the unit tests of the shop, not Vitest"),
        ("the orders service runs on PostgreSQL", "the orders service still runs on Postgres"),
        ("uploads are kept for 30 days", "as always, uploads are kept for 30 days, and 5 at most"),
    ],
)
def test_who_says_the_same_once_more_is_not_at_odds(older: str, newer: str) -> None:
    assert not at_odds(Sides(know("n", newer, at=2), know("o", older, at=1), LIKENESS))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Keep commits small", "Don't use emojis in commits in this repo"),
        ("Don't use emojis in commits", "Keep commits small"),
        ("I want log lines short, one event one line", "No customer numbers in logs"),
    ],
)
def test_a_no_to_something_else_in_the_same_place_is_no_contradiction(older: str, newer: str) -> None:
    assert told(older, newer, "preference instruction") == ""


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Don't use emojis in commits", "Use emojis in commits"),
        ("put the names of pupils in the logs", "Don't put pupils' names in the logs"),
    ],
)
def test_a_no_to_the_same_thing_is_one(older: str, newer: str) -> None:
    assert told(older, newer, "instruction instruction") in ("contradicts", "supersedes")
