"""What need not be done is no task, what nobody spoke of is not put right, and what happens by itself is no rule."""

from __future__ import annotations

import pytest

from hindbrain.reason.cues import cues_of
from hindbrain.reason.extract import extract
from hindbrain.reason.forms import Context
from hindbrain.reason.kinds import settled
from tests.reason.talk import talk

TOLD = {"task": 3.0, "correction": 2.0, "instruction": 1.0, "fact": 0.5}


def kinds(text: str, reply: str = "Done.") -> list[str]:
    said = talk("u: Can you look at the failing build of the backend?", f"a: {reply}", f"u: {text}", "a: Noted.")
    return [each.kind for each in extract(said) if each.turns[0] == "3"]


@pytest.mark.parametrize(
    "text",
    [
        "No hace falta ejecutar los tests en la rama de docs.",
        "There's no need to update the changelog.",
        "Nobody needs to review docs changes before the release.",
        "Du musst die Tests vor dem Commit nicht laufen lassen.",
        "I'm on vacation next week, Jonas takes over reviews",
        "Ich bin nächste Woche im Urlaub, Jonas übernimmt die Reviews",
        "La semana que viene estoy de vacaciones, Jonas se encarga de las revisiones",
    ],
)
def test_what_need_not_be_done_and_who_is_away_are_no_tasks(text: str) -> None:
    assert "task" not in kinds(text)


@pytest.mark.parametrize(
    "text",
    [
        "Remind me that we don't need to renew the cert in May.",
        "I'm away next week and have to rotate the certs before that.",
        "Next week I need to rotate the certificates.",
        "We still need to update the docs before Friday.",
        "Falta añadir tests al módulo de facturación.",
    ],
)
def test_what_is_left_to_do_stays_a_task(text: str) -> None:
    assert kinds(text) == ["task"]


def test_what_is_not_so_puts_something_right_only_where_it_was_spoken_of() -> None:
    assert kinds("We don't use feature flags") == ["fact"]
    assert kinds("No usamos feature flags") == ["fact"]
    assert kinds("We don't use feature flags", "I put it behind a feature flag.") == ["correction"]
    assert kinds("No, we don't use npm, it's pnpm here", "Ran npm install.") == ["correction"]
    assert kinds("We never use mocks in tests") == ["instruction"]


@pytest.mark.parametrize(
    "text",
    [
        "Deploys to staging happen on every merge",
        "Staging is deployed on every merge",
        "Los despliegues a staging ocurren en cada merge",
    ],
)
def test_what_happens_every_time_is_a_fact(text: str) -> None:
    assert kinds(text) == ["fact"]


@pytest.mark.parametrize(
    "text",
    [
        "Docstrings on every public function",
        "Tests for every new endpoint please",
        "Every PR needs a review",
        "The linter must run on every commit",
    ],
)
def test_what_is_asked_for_every_time_is_a_rule(text: str) -> None:
    assert kinds(text) == ["instruction"]


@pytest.mark.parametrize("text", ["", " ", "no need to " * 3_000, "we don't use " * 3_000, "x " * 5_000 + "on every merge"])
@pytest.mark.parametrize("best", ["task", "correction", "instruction", "fact"])
def test_any_text_is_of_some_kind(best: str, text: str) -> None:
    assert settled(best, TOLD, text, Context(cues_of("en"), "en", reply="ok")) in TOLD
