"""Which stretches of time a question names, counted back from the last moment the ledger knows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.recall import dates

LAST = datetime(2026, 3, 18, 12, 0, tzinfo=UTC)  # a Wednesday


def ms(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def days(question: str, last: datetime = LAST) -> list[tuple[str, str]]:
    """The first and the last day of each stretch."""
    found = dates.stretches(question, lambda: ms(last))
    return [tuple(f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d}" for at in span) for span in found]  # type: ignore[misc]


@pytest.mark.parametrize(("question", "wanted"), [
    ("what did we decide in March?", [("2026-03-01", "2026-03-31")]),
    ("what did we decide in April", [("2025-04-01", "2025-04-30")]),
    ("what broke last week", [("2026-03-04", "2026-03-18")]),
    ("what broke this week", [("2026-03-11", "2026-03-18")]),
    ("what did I say yesterday", [("2026-03-16", "2026-03-18")]),
    ("what was on 5 May 2023?", [("2023-05-05", "2023-05-05")]),
    ("on May 5th", [("2025-05-05", "2025-05-05")]),
    ("deployed 2026-01-02", [("2026-01-02", "2026-01-02")]),
    ("three weeks ago", [("2026-02-22", "2026-02-28")]),
    ("in the last 10 days", [("2026-03-08", "2026-03-18")]),
    ("what was said on Tuesday", [("2026-03-17", "2026-03-17")]),
    ("in 2022 or on 3 June 2024", [("2024-06-03", "2024-06-03"), ("2022-01-01", "2022-12-31")]),
    ("30 February 2024, 2024-13-01, 9999-99-99", []),
    ("what may be the matter", []),
    ("", []),
])  # fmt: skip
def test_a_question_names_stretches_of_time(question: str, wanted: list[tuple[str, str]]) -> None:
    assert days(question) == wanted


def test_the_last_moment_is_looked_up_only_for_questions_that_name_a_time() -> None:
    asked: list[int] = []

    def last() -> int:
        asked.append(1)
        return ms(LAST)

    dates.stretches("which database do we use", last)
    assert asked == []
    dates.stretches("which database did we use last year", last)
    assert asked == [1]


def test_what_is_told_after_a_stretch_counts_less_with_every_day() -> None:
    spans = [(ms(LAST - timedelta(days=2)), ms(LAST))]
    near = [dates.nearness(ms(LAST + timedelta(days=late)), spans) for late in (-3, -1, 0, 5, 10, 400)]
    assert near == [0.0, 1.0, 1.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize(("question", "event"), [
    ("what did we use before the release?", ("before", "release")),
    ("what broke after we launched the shop", ("after", "launched")),
    ("since the database migration", ("since", "migration")),
    ("before lunch", None),
    ("the release", None),
])  # fmt: skip
def test_a_question_may_place_itself_by_an_event(question: str, event: tuple[str, str] | None) -> None:
    assert dates.event_of(question) == event


@given(text=st.text(max_size=80), at=st.integers(-(1 << 62), 1 << 62))
def test_any_text_and_any_moment_are_read_without_an_error(text: str, at: int) -> None:
    for question in (text, f"last {text} week", f"{text} 3 years ago", f"999 years ago {text}", f"0000-01-0{text}"):
        for start, end in dates.stretches(question, lambda: at):
            assert start <= end
        dates.event_of(question)
