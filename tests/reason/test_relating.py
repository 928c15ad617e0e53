"""What two statements are to each other is told by learnt weights: what the marks are, and that the file of weights is sound."""

from __future__ import annotations

import json
from importlib import resources
from math import isfinite

import pytest

from hindbrain.reason import relating
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import judge
from hindbrain.reason.relation import by_rules, relation, seen
from hindbrain.reason.sides import Sides
from tests.reason.knowing import know

FILE = resources.files("hindbrain.reason").joinpath("relating.json")
LIKENESS = Likeness()


def side_by_side(older: str, newer: str, kinds: str = "decision decision") -> Sides:
    old, new = kinds.split()
    return Sides(know("n", newer, new, 2), know("o", older, old, 1), LIKENESS)


def marks(older: str, newer: str, kinds: str = "decision decision") -> frozenset[str]:
    pair = side_by_side(older, newer, kinds)
    return seen(pair, by_rules(pair))


def test_the_weights_are_numbers_and_the_file_is_small() -> None:
    text = FILE.read_text("utf-8")
    weights = json.loads(text)
    assert {len(row) for row in weights.values()} == {len(relating.RELATIONS)} and "always" in weights
    assert all(isfinite(value) for row in weights.values() for value in row)
    assert len(text) < 100_000


def test_what_the_rules_say_the_kinds_and_the_words_are_marks() -> None:
    found = marks("we run postgres 14", "back to postgres 13 then", "fact decision")
    assert {"rule supersedes", "rule supersedes decision", "decision after fact", "values differ", "word back first",
            "word then"} <= found  # fmt: skip
    assert "one kind" not in found


def test_a_value_that_is_named_once_more_to_be_given_up_is_a_mark() -> None:
    assert {"value kept and another", "value given up"} <= marks("commit every 5000 records", "5000 is too much, 1000")
    assert "value given up" not in marks("commit every 5000 records", "commit every 1000 records")


def test_two_that_differ_in_one_word_alone_are_marked() -> None:
    assert "one word apart" in marks("never edit files under vendor/", "never edit files under generated/")
    assert "one word apart" not in marks("never edit files under vendor/", "generated/ may be edited now")


def test_unknown_marks_weigh_nothing_and_the_order_of_marks_changes_nothing() -> None:
    found = sorted(marks("use Postgres for the orders", "we moved to MySQL for the orders"))
    told = relating.weighed(found)
    assert told == relating.weighed([*reversed(found), "a mark nobody has"])
    assert max(told, key=lambda name: told[name]) == "supersedes"


def test_other_signs_may_say_what_the_rules_do_not_see() -> None:
    older, newer = "Don't reformat code in files outside the task", "Hands off the layout of files outside the task, I said"
    assert by_rules(side_by_side(older, newer, "instruction instruction")) == ""
    assert relation(know("n", newer, "instruction", 2), know("o", older, "instruction", 1), LIKENESS) == "reinforces"


def test_few_words_in_common_are_enough_where_all_else_speaks_for_it_and_a_number_alone_is_not() -> None:
    rows = know("n", "40 is too much for phones, make it 25 now", at=2)
    seats = know("n", "six is too few on the big box, make it twelve", at=2)
    older = know("o", "pages of 40 rows", at=1), know("o", "six workers for the thumbnails", at=1)
    assert [relation(*pair, LIKENESS) for pair in zip((rows, seats), older, strict=True)] == ["supersedes", "supersedes"]
    assert [judge(*pair, LIKENESS).said for pair in zip((rows, seats), older, strict=True)] == ["supersedes", ""]


@pytest.mark.parametrize(
    ("kinds", "older", "newer"),
    [
        ("instruction instruction", "use default exports", "never use default exports"),
        ("instruction instruction", "no global state", "global state is ok in the fixtures"),
        ("task fact", "add a search to the orders", "the orders page is green"),
    ],
)
def test_what_no_weight_outvotes(monkeypatch: pytest.MonkeyPatch, kinds: str, older: str, newer: str) -> None:
    ruled = by_rules(side_by_side(older, newer, kinds))
    old, new = kinds.split()
    loud = "supersedes" if old == "task" else "reinforces"
    monkeypatch.setattr(relating, "weighed", lambda marks: {name: float(name == loud) for name in relating.RELATIONS})
    assert relation(know("n", newer, new, 2), know("o", older, old, 1), LIKENESS) == ruled != loud


@pytest.mark.parametrize(
    ("older", "newer", "words"),
    [
        ("gift cards are good for 3 years", "guest passes are good for 2 days", "both"),
        ("gift cards last 3 years", "gift cards last 5 years", "none"),
        ("gift cards last 3 years", "paper gift cards last 5 years", "new"),
        ("paper gift cards last 3 years", "gift cards last 5", "old"),
    ],
)  # fmt: skip
def test_lines_of_a_list_are_told_from_a_line_that_is_said_again_otherwise(older: str, newer: str, words: str) -> None:
    pair = side_by_side(older, newer, "fact fact")
    assert pair.alone == words and 0.3 <= pair.parallel < 1.0
    assert f"parallel 0.3, words of {words}" in seen(pair, by_rules(pair))
    assert side_by_side(older, "tabs, please").parallel < 0.3


@pytest.mark.parametrize(("weight", "said"), [(0.2, ""), (5.0, "supersedes")])
def test_what_is_less_likely_than_not_replaces_nothing(monkeypatch: pytest.MonkeyPatch, weight: float, said: str) -> None:
    monkeypatch.setattr(relating, "weighed", lambda marks: {name: weight * (name == "supersedes") for name in relating.RELATIONS})
    newer, older = know("n", "the nightly export goes to Oslo", at=2), know("o", "the nightly export goes to Rome", at=1)
    assert relation(newer, older, LIKENESS) == "supersedes"
    assert judge(newer, older, LIKENESS).said == said
