"""What is worth keeping is told by learnt weights: what the marks are, and that the file of weights is sound."""

from __future__ import annotations

import json
from importlib import resources
from math import isfinite

import pytest

from hindbrain.base.errors import EmbedderFailed
from hindbrain.ledger.memories import KINDS
from hindbrain.ledger.statement import Said
from hindbrain.reason.rules import considered, said
from hindbrain.reason.weighing import kinds, likely, meanings
from hindbrain.recall.static import Static
from tests.reason.talk import talk

FILE = resources.files("hindbrain.reason").joinpath("weights.json")


def seen(*turns: str) -> frozenset[str]:
    """The marks of the last thing that is said."""
    return [*considered(talk(*turns))][-1].seen


def test_the_weights_are_numbers_and_the_file_is_small() -> None:
    text = FILE.read_text("utf-8")
    weights = json.loads(text)
    learnt = {"correction", "decision", "fact", "instruction", "preference", "procedure", "task"}
    assert weights.keys() == {"kinds", "marks", "meaning"} and set(weights["kinds"]) == learnt <= set(KINDS)
    assert all(isfinite(value) for row in (*weights["marks"].values(), weights["meaning"]) for value in row)
    assert len(weights["marks"]["always"]) == 1 + len(learnt)
    assert {len(row) for name, row in weights["marks"].items()} == {1, 1 + len(learnt)}
    assert len(weights["meaning"]) == Static.load().dimensions
    assert len(text) < 1_000_000


def test_every_sentence_is_considered_once_and_questions_are_not() -> None:
    turns = talk("u: The port is 8081. Is that fine? Some talk about nothing much here. Never push to main.")
    found = [(each.text, each.unit.kind) for each in considered(turns)]
    assert found == [
        ("The port is 8081", "fact"), ("Some talk about nothing much here", ""), ("Never push to main", "instruction"),
    ]  # fmt: skip


def test_how_the_assistant_takes_it_is_a_mark() -> None:
    marks = seen("u: the queue lives in Oslo", "c: ls", "a: Noted, the queue is in Oslo.")
    assert {"answered", "answer noted", "answer noted the first", "answer takes up 2"} <= marks
    assert not [mark for mark in seen("u: the queue lives in Oslo") if mark.startswith("answer")]
    first, second = considered(talk("u: the queue lives in Oslo", "u: the cache lives in Bergen", "a: Noted."))
    assert ("answered" in first.seen, "answered" in second.seen) == (False, True)


def test_another_number_than_the_one_the_assistant_said_is_a_mark() -> None:
    replied = "a: The limit is 500 requests."
    assert "takes up with another number" in seen("u: hi", replied, "u: the limit is 50 here")
    assert "takes up with another number" not in seen("u: hi", replied, "u: the limit is 500 here")
    assert "takes up with another number" not in seen("u: hi", "a: There is a limit.", "u: the limit is 500 here")


def test_two_words_after_each_other_are_a_mark() -> None:
    assert {"pair never push", "pair to main", "word push"} <= seen("u: never push to main")
    assert not [mark for mark in seen("u: the port is 8081 here") if mark.startswith("pair") and "8081" in mark]


def test_unknown_marks_weigh_nothing_and_the_order_of_marks_changes_nothing() -> None:
    marks = sorted(seen("u: never push to main"))
    assert likely(marks, 0.0) == likely([*reversed(marks), "a mark nobody has"], 0.0)
    told = kinds(marks)
    assert max(told, key=lambda kind: told[kind]) == "instruction"


def test_without_the_table_of_meanings_marks_decide(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def gone() -> Static:
        raise EmbedderFailed("the table cannot be read: it is gone")

    monkeypatch.setattr(Static, "load", gone)
    assert meanings(["one", "other"]) == [0.0, 0.0]
    assert "told without its meaning" in caplog.text
    assert [each.kind for each in said([Said("t", "user", "never push straight to main")])] == ["instruction"]


def test_meaning_is_the_same_alone_and_among_others() -> None:
    assert meanings(["the port is 8081", "thanks"])[0] == meanings(["the port is 8081"])[0]
    assert meanings([]) == []
