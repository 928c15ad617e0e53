"""What becomes of a job whose try failed, as pure arithmetic; and what an error leaves behind."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.errors import HindbrainError, LedgerBusy, LedgerUnreachable
from hindbrain.queues.job import (
    ENOUGH_DELAYS,
    ERROR_CHARS,
    LONGEST_BACKOFF,
    LONGEST_LEAST_DELAY,
    MOST_DELAYS,
    BackOff,
    Job,
    JobFailed,
    LeaseLost,
    Park,
    Retry,
    Verdict,
    backoff_seconds,
    error_text,
    verdict,
)
from hindbrain.queues.rows import Row, merged
from hindbrain.queues.task import unexpected


def job(attempts: int = 1, max_attempts: int = 5, delays: int = 0) -> Job:
    return Job(1, "k", "a", "", {}, 0, False, "running", attempts, 0, max_attempts, 1, "me", 0, 0, 0, "", delays)


@given(attempts=st.integers(0, 10_000), seed=st.integers())
def test_a_backoff_lies_between_half_and_all_of_its_doubling_time(attempts: int, seed: int) -> None:
    whole = min(2.0 * 2.0 ** min(max(attempts - 1, 0), 40), LONGEST_BACKOFF)
    assert whole / 2 <= backoff_seconds(attempts, random.Random(seed)) <= whole


def test_backoffs_differ_so_that_jobs_do_not_come_back_together() -> None:
    chance = random.Random(1)
    assert len({backoff_seconds(5, chance) for _ in range(100)}) == 100


@pytest.mark.parametrize("error", [Retry("x"), JobFailed("x"), ValueError("x"), KeyboardInterrupt(), LedgerBusy("x")])
def test_any_error_but_a_park_means_another_try_while_there_are_tries(error: BaseException) -> None:
    again = verdict(job(4), error, random.Random(1))
    assert (again.state, again.attempts, again.delays) == ("waiting", 4, 0)
    assert 8_000 <= again.wait_ms <= 16_000
    assert verdict(job(5), error, random.Random(1)) == Verdict("parked", 5, 0, 0)


def test_a_park_is_for_good_and_a_back_off_is_for_then() -> None:
    assert verdict(job(1), Park("x"), random.Random(1)) == Verdict("parked", 1, 0, 0)
    assert verdict(job(5), BackOff("x", seconds=1.0001), random.Random(1)) == Verdict("waiting", 4, 1, 1001)
    assert verdict(job(5, delays=MOST_DELAYS), BackOff("x", seconds=1), random.Random(1)) == Verdict("parked", 5, MOST_DELAYS, 0)


def test_whoever_has_too_much_to_do_is_left_alone_for_longer_each_time() -> None:
    delays, waits = 0, list[float]()
    while delays < ENOUGH_DELAYS:
        told = verdict(job(1, delays=delays), BackOff("x", seconds=0.0, rising=True), random.Random(1))
        assert (told.state, told.attempts) == ("waiting", 0)
        delays, waits = told.delays, [*waits, told.wait_ms / 1000]
    assert waits == sorted(waits)
    assert (waits[:4], waits[-1]) == ([5.0, 10.0, 20.0, 40.0], LONGEST_LEAST_DELAY)
    assert 3_000 < sum(waits) < 4_000  # about an hour


@pytest.mark.parametrize("seconds", [0.0, 30.0, 300.0, 900.0, 3_600.0])
def test_it_is_enough_after_an_hour_or_two_however_long_each_wait_is(seconds: float) -> None:
    delays, waited = 0, 0.0
    while delays < ENOUGH_DELAYS:
        told = verdict(job(1, delays=delays), BackOff("x", seconds=seconds, rising=True), random.Random(1))
        assert told.wait_ms >= 1000 * seconds
        delays, waited = told.delays, waited + told.wait_ms / 1000
    assert 3_000 < waited <= 7_200


@given(seconds=st.floats())
def test_whatever_a_service_says_to_wait_is_bounded(seconds: float) -> None:
    wait_ms = verdict(job(), BackOff("x", seconds=seconds), random.Random(1)).wait_ms
    assert 0 <= wait_ms <= 366 * 86_400_000
    if math.isfinite(seconds) and 0 <= seconds < 1e7:
        assert wait_ms >= seconds * 1000, "never before then"


def test_every_failure_is_one_of_our_errors_with_a_hint() -> None:
    for error in (Retry(), Park(), BackOff(seconds=1), LeaseLost()):
        assert error.message and error.hint and issubclass(type(error), HindbrainError)


@given(st.text(max_size=5000))
def test_what_is_kept_of_an_error_is_bounded_and_storable(text: str) -> None:
    kept = error_text(ValueError(text))
    assert len(kept) <= ERROR_CHARS and "\x00" not in kept
    kept.encode()


def test_of_several_tellings_of_one_job_the_strongest_of_each_stands() -> None:
    first = Row("k", "a", "g", '{"v":1}', 5, 1, 9_000, 2)
    second = Row("k", "a", "h", '{"v":2}', 7, 0, 3_000, 9)
    other = Row("k", "b", "", "{}", 0, 0, 0, 5)
    assert merged([first, other, second]) == [Row("k", "a", "g", '{"v":2}', 7, 1, 3_000, 2), other]


def test_a_failure_is_logged_with_where_it_was_unless_the_database_was_away(caplog: pytest.LogCaptureFixture) -> None:
    for error in (LedgerUnreachable("no answer"), ValueError("a surprise")):
        unexpected(error, "digest 1")
    assert [(record.getMessage(), record.exc_info is not None) for record in caplog.records] == [
        ("job digest 1 failed: LedgerUnreachable", False), ("job digest 1 failed: ValueError", True),
    ]  # fmt: skip
