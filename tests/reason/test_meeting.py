"""Where two statements speak of one thing: the clauses that share most, how near they are and what they say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindbrain.reason.likeness import by_words
from hindbrain.reason.meeting import Meeting
from hindbrain.reason.sides import Sides
from tests.reason.knowing import know


def met(older: str, newer: str) -> Meeting | None:
    return Sides(know("n", newer, "decision", 2), know("o", older, "decision", 1), by_words).meeting


def test_of_several_clauses_those_that_share_most_are_looked_at() -> None:
    found = met("cache expiry is 15 minutes, decided over lunch", "lunch was fine, cache expiry moved to 20 minutes")
    assert found is not None and found.changes and found.values == 2


@pytest.mark.parametrize(
    ("newer", "changes"), [("the export moved to parquet", True), ("the export is slow, the tests moved", False)]
)
def test_a_change_counts_in_the_clause_that_is_shared(newer: str, changes: bool) -> None:
    found = met("the export writes csv", newer)
    assert found is not None and found.changes is changes


def test_the_places_of_the_first_shared_words_are_counted_from_the_beginning_of_each_clause() -> None:
    found = met("watchdog fires after two seconds", "give the watchdog eight")
    assert found is not None and found.places == (2, 0) and found.values == 0 and 0 < found.cover <= 1


def test_two_that_share_nothing_meet_nowhere() -> None:
    assert met("we deploy on Fridays", "tabs for indenting") is None


@given(some.text(max_size=60), some.text(max_size=60))
def test_whatever_is_said_a_meeting_is_in_bounds(older: str, newer: str) -> None:
    found = met(older, newer)
    assert found is None or (0 <= found.alike <= 1 and found.cover >= 0 and min(found.places) >= 0 and found.values in (0, 1, 2))
