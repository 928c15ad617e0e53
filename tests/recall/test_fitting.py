"""What fits a prompt: silence before noise, the best stretch of a long turn, the same thing once, less while the topic stays."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.recall.block import MAX_LINE_CHARS
from hindbrain.recall.context import drifted
from hindbrain.recall.excerpt import MAX_CHARS, excerpt
from hindbrain.recall.fitting import BY_LIKENESS, alike, topic_of
from hindbrain.serve.asking import Asking
from hindbrain.serve.recalling import Recalling
from tests.recall.homes import Said, by_hook, context_of, payload, tell

Ask = Callable[[Path, str, dict[str, str]], str]


def by_meaning(home: Path, event: str, call: dict[str, str]) -> str:
    """What the worker answers when it has the table."""
    clock = SystemClock()
    build = Recalling(load(os.fspath(home)), clock).build
    with Ledger.open(Home(home).ledger, clock, read_only=True) as ledger:
        return context_of(Asking(Home(home), clock, build=build).answer(ledger, event, dict(call)), event)


BOTH = pytest.mark.parametrize("ask", [by_hook, by_meaning])


def prompted(ask: Ask, home: Path, prompt: str, session: str = "asks", cwd: str = "/p/one") -> list[str]:
    """The texts an agent is told at a prompt."""
    said = ask(home, "UserPromptSubmit", payload("UserPromptSubmit", cwd, prompt, session=session))
    return [line.partition(": ")[2] for line in said.split("\n") if line.startswith("[")]


TALK = [
    "yes, go on and fix it, thanks", "thanks, that looks good, continue", "please fix it", "run the tests again",
    "we settled on Postgres for the order service", "ok do it", "good, next one", "the error is in the file",
]  # fmt: skip
NOISE = [
    "yes, go on", "thanks", "fix it", "ok", "continue", "do it", "looks good to me, thanks!", "yes please", "go ahead",
    "👍", "?", "hmm, wait", "run it", "the error", "next", "no, not that", "what?", "proceed with that one", "try again",
    "sounds great, carry on",
]  # fmt: skip


@BOTH
def test_a_prompt_without_a_topic_is_told_nothing(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [Said(text, session=f"s{number}") for number, text in enumerate(TALK)])
    assert {prompt: prompted(ask, home, prompt) for prompt in NOISE} == {prompt: [] for prompt in NOISE}
    assert prompted(ask, home, "which Postgres for the order service") == ["we settled on Postgres for the order service"]


@BOTH
def test_weak_words_fit_together_but_not_in_place_of_the_topic(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, ["we run the tests with make check", Said("fix the flaky test of the parser", session="s2")])
    assert prompted(ask, home, "how do we run the tests?") == ["we run the tests with make check"]
    if ask is by_hook:
        assert prompted(ask, home, "fix the failing test of the zebra importer") == []


def test_by_meaning_it_fits_without_a_shared_word(memory: Memory, home: Path) -> None:
    fact = "our dog and two cats live in the garden"
    tell(memory, [fact, Said("the marmoset cage is turquoise", session="s2")])
    assert prompted(by_meaning, home, "which pets do we have?") == [fact]
    assert prompted(by_hook, home, "which pets do we have?") == []
    assert prompted(by_meaning, home, "the weather in Lisbon this weekend") == []


def test_by_meaning_alone_only_a_few_are_told(memory: Memory, home: Path) -> None:
    tell(memory, [Said(f"our dog and {number} cats live in the garden", session=f"s{number}") for number in range(20)])
    assert len(prompted(by_meaning, home, "which pets do we have?")) == BY_LIKENESS
    assert len(prompted(by_meaning, home, "which cats live with the dog?")) > BY_LIKENESS


LONG = "Chatter about nothing much. " * 120 + "The marmoset cage is turquoise since May. " + "More chatter of this kind. " * 120


@BOTH
def test_of_a_long_turn_the_stretch_that_fits_is_told(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [Said(LONG, role="assistant")])
    (told,) = prompted(ask, home, "which colour is the marmoset cage, turquoise?")
    assert "The marmoset cage is turquoise since May." in told
    assert told.startswith("…") and told.endswith("…") and len(told) <= 600


@BOTH
def test_what_says_the_same_is_told_once(memory: Memory, home: Path, ask: Ask) -> None:
    tell(memory, [
        "the marmoset cage is turquoise", Said("The marmoset cage: is TURQUOISE!", session="s2"),
        Said("turquoise is the marmoset cage", session="s3"), Said("the marmoset cage 2 is turquoise", session="s4"),
        Said("the marmoset cage is not turquoise", session="s5"),
    ])  # fmt: skip
    told = prompted(ask, home, "colour of the marmoset cage, turquoise?")
    assert sorted(re.sub(r"\W+", " ", text.lower()).strip() for text in told)[:2] == [
        "the marmoset cage 2 is turquoise", "the marmoset cage is not turquoise",
    ]  # fmt: skip
    assert len(told) == 3


WORDS = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


@pytest.mark.parametrize(("one", "other", "same"), [
    (WORDS, WORDS, True), (WORDS, WORDS[:-1], True), (WORDS, [*WORDS[:-1], "other"], True), (WORDS, [*WORDS, "not"], False),
    (WORDS, [*WORDS, "7"], False), (WORDS, WORDS[:20], False), (WORDS[:4], WORDS[:3], False), ([], [], True), (WORDS, [], False),
])  # fmt: skip
def test_texts_are_alike_when_nearly_all_words_are_shared_and_no_number_or_not_differs(
    one: list[str], other: list[str], same: bool
) -> None:
    assert alike(frozenset(one), frozenset(other)) is same
    assert alike(frozenset(other), frozenset(one)) is same


def test_of_nearly_equal_statements_the_newer_is_told(memory: Memory, home: Path) -> None:
    words = " ".join(WORDS)
    tell(memory, [f"marmoset cage painted {words} turquoise", Said(f"marmoset cage painted {words} crimson", session="s2")])
    assert prompted(by_hook, home, "marmoset cage painted turquoise") == [f"marmoset cage painted {words} crimson"]


@pytest.mark.parametrize("text", [
    "Deploys go out on Tuesdays; never on Fridays!", "deploys  go out on tuesdays, never on fridays",
    "*Deploys* go out on Tuesdays",
])  # fmt: skip
def test_what_stands_in_the_instructions_with_other_punctuation_is_not_told(
    memory: Memory, home: Path, tmp_path: Path, text: str
) -> None:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "AGENTS.md").write_text("# Rules\n- Deploys go out on Tuesdays,\n  never on Fridays.\n")
    tell(memory, [Said(text, project=str(folder)), Said("deploys go out by hand", project=str(folder), session="s2")])
    told = prompted(by_hook, home, "when do deploys go out", cwd=str(folder))
    assert told == ["deploys go out by hand"]


def test_while_the_topic_stays_a_session_is_told_half_as_much(memory: Memory, home: Path) -> None:
    tell(memory, [
        *(Said(f"marmoset cage fact {number}: " + f"detail{number} " * 12, session=f"s{number}") for number in range(30)),
        Said("tell me about the marmoset cage", session="asks", minute=90),
    ])  # fmt: skip
    new = prompted(by_hook, home, "marmoset cage fact", session="fresh")
    same = prompted(by_hook, home, "more of the marmoset cage fact", session="asks")
    assert 0 < len(same) <= len(new) // 2 + 1 < len(new)


def test_a_topic_has_changed_when_few_words_are_those_of_the_last_prompts(memory: Memory, home: Path) -> None:
    tell(memory, [Said(text, session="x", minute=number + 1) for number, text in enumerate([
        "the zebra importer drops rows", "paint the marmoset cage", "which colour has the marmoset cage", "is the cage locked?",
    ])])  # fmt: skip
    with Ledger.open(Home(home).ledger, SystemClock(), read_only=True) as ledger, ledger.reading() as database:
        session = database.execute("SELECT id FROM sessions WHERE client_id = 'x'").fetchone()[0]
        assert not drifted(database, session, "lock the cage")
        assert not drifted(database, session, "is the cage locked?")
        assert not drifted(database, session, "what colour did we paint it")
        assert drifted(database, session, "why does the importer drop rows")  # four prompts ago
        assert drifted(database, session, "write the release notes") and drifted(database, session, "ok")
        assert drifted(database, "", "lock the cage") and drifted(database, "s_unknown", "lock the cage")


def test_the_topic_of_a_prompt_is_its_telling_words() -> None:
    assert topic_of("please fix the login tests")[1] == {"login"}
    assert topic_of("thanks, go on") == topic_of("fix it") == topic_of("") == (frozenset(), frozenset())


@given(
    text=st.text(max_size=60).map(lambda text: text * 40), start=st.integers(-5, 4000), end=st.integers(-5, 4000),
    stems=st.lists(st.text(min_size=1, max_size=5)),
)  # fmt: skip
def test_an_excerpt_of_any_text_is_a_piece_of_it(text: str, start: int, end: int, stems: list[str]) -> None:
    found = excerpt(text, start, end, stems)
    assert found == text or (len(found) <= MAX_CHARS + 2 and found.strip("…") in text)


def test_an_excerpt_with_its_marks_is_a_line() -> None:
    assert MAX_CHARS + 2 <= MAX_LINE_CHARS


def test_five_megabytes_without_a_space_are_looked_at_in_part() -> None:
    assert len(excerpt("x" * (5 << 20), stems=["x"])) <= MAX_CHARS + 2
    assert len(excerpt("needle " + "x" * (5 << 20), stems=["needle", "x" * 40])) <= MAX_CHARS + 2
