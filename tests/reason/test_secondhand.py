"""What is kept of the agent's words: choices that last and lessons, not the next step of the work."""

from __future__ import annotations

import json
from importlib import resources
from math import isfinite

import pytest

from hindbrain.ledger.statement import Statement
from hindbrain.reason.extract import extract, found_in
from hindbrain.reason.secondhand import likely, marks, worth_keeping
from tests.reason.talk import talk

FILE = resources.files("hindbrain.reason").joinpath("secondhand.json")


def decided(text: str, **more: str) -> Statement:
    return Statement("decision", text, ("a", "u"), text, 0.85, "user", **more)


def test_the_weights_are_numbers_and_the_file_is_small() -> None:
    text = FILE.read_text("utf-8")
    weights = json.loads(text)
    assert "always" in weights and all(isfinite(value) for value in weights.values())
    assert len(text) < 10_000


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Tidy up the two files and go on", False),
        ("Keep the thumbnails for 30 days on the volume and make them anew when they are asked for", True),
        ("Take Redis for it", True),
    ],
)
def test_a_step_is_dropped_and_a_choice_is_kept(text: str, kept: bool) -> None:
    assert worth_keeping(decided(text)) is kept


def test_other_kinds_are_not_weighed() -> None:
    assert worth_keeping(Statement("fact", "It is so", ("a",), "It is so", 0.6, "assistant"))


def test_a_lesson_that_only_answers_what_the_user_told_counts_less() -> None:
    said = "with the larger pool the workers no longer wait for a free connection anywhere in it"
    plain, replying = (Statement("lesson", text, ("a",), text, 0.7, "assistant") for text in (said, f"Right, {said}"))
    assert marks(replying) - marks(plain) == {"lesson replying"}
    assert likely(marks(replying)) < likely(marks(plain))


def test_what_the_user_picked_from_several_is_kept_however_short() -> None:
    turns = talk("u: how do we lay it out?", "a: Two ways:\nA) By layer\nB) By feature\nWhich one?", "u: B")
    assert [(each.text, secondhand) for each, secondhand in found_in(turns)] == [("By feature", False)]
    assert [each.text for each in extract(turns)] == ["By feature"]
