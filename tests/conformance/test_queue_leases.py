"""Claims, leases and failures, on both engines: one holder at a time, and who lost the lease changes nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hindbrain.queues.job import MOST_DELAYS, BackOff, Job, LeaseLost, NewJob, Park, Reaped, Retry
from hindbrain.queues.queue import Queue
from tests.queues.opened import LEASE, Opened, Tenant, note, notes, opened

SAYINGS: dict[str, Callable[[Queue, Job], object]] = {
    "finish": lambda queue, job: queue.finish([job]),
    "finish in a batch": lambda queue, job: queue.finish([job, job]),  # SQLite has a statement for one
    "finish with an effect": lambda queue, job: queue.finish([job], note("stale")),
    "fail": lambda queue, job: queue.fail([job], Retry("x")),
    "park": lambda queue, job: queue.fail([job], Park("x")),
}
LOSSES: dict[str, Callable[[Opened, Job], object]] = {
    "reaped": lambda q, job: q.crash(),
    "reaped and claimed by another": lambda q, job: (q.crash(), q.queue.claim_suspect(["k"], "other")),
    "cancelled": lambda q, job: q.queue.cancel([job.id]),
    "cancelled and retried": lambda q, job: (q.queue.cancel([job.id]), q.queue.retry([job.id]), q.claim(owner="other")),
    "finished": lambda q, job: q.queue.finish([job]),
    "failed": lambda q, job: q.queue.fail([job], Park("x")),
    "released": lambda q, job: q.queue.release([job]),
}


def stale_is_refused(q: Opened, say: Callable[[Queue, Job], object], lose: Callable[[Opened, Job], object]) -> None:
    """A holder whose lease is gone is told so, and leaves everything as it found it."""
    q.add("a")
    job = q.claim_one()
    lose(q, job)
    before = q.rows()
    with pytest.raises(LeaseLost) as caught:
        say(q.queue, job)
    assert (q.rows(), notes(q.ledger)) == (before, [])
    assert caught.value.hint


@pytest.mark.parametrize("lost", LOSSES)
@pytest.mark.parametrize("said", SAYINGS)
def test_a_stale_finish_is_refused_and_changes_nothing(tenant: Tenant, said: str, lost: str) -> None:
    stale_is_refused(opened(tenant), SAYINGS[said], LOSSES[lost])


@pytest.mark.parametrize("said", SAYINGS)
def test_control_with_the_token_check_off_a_stale_finish_is_noticed(tenant: Tenant, said: str) -> None:
    """The suite can fail: without the fence the test above goes red."""
    q = opened(tenant)
    words = q.queue._words
    unfenced = {
        name: re.sub(r"token = (held_token|:token)", "token >= 0", getattr(words, name))
        for name in ("finish", "finish_one", "fail")
    }
    q.queue._words = replace(words, **unfenced)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        stale_is_refused(q, SAYINGS[said], LOSSES["reaped and claimed by another"])


def test_stale_heartbeats_and_releases_change_nothing(tenant: Tenant) -> None:
    for lose in LOSSES.values():
        q = opened(tenant)
        (identifier,) = q.add("a")
        job = q.claim_one()
        lose(q, job)
        before = q.rows()
        assert q.queue.heartbeat([job]) == set()
        q.queue.release([job])
        assert q.rows() == before
        q.queue.cancel([identifier])
        tenant.renew()


def test_a_batch_with_one_lost_job_is_refused_whole(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b", "c")
    jobs = q.claim()
    q.queue.cancel([jobs[1].id])
    before = q.rows()
    for say in SAYINGS.values():
        with pytest.raises(LeaseLost, match="not all of 3 jobs are ours"):
            say(_AllOf(q.queue, jobs), jobs[0])  # type: ignore[arg-type]
        assert (q.rows(), notes(q.ledger)) == (before, [])
    assert q.queue.heartbeat(jobs) == {jobs[0].id, jobs[2].id}
    q.queue.release(jobs)
    assert q.states() == {"a": "ready", "b": "cancelled", "c": "ready"}


class _AllOf:
    """Says of all jobs what is said of one."""

    def __init__(self, queue: Queue, jobs: list[Job]) -> None:
        self._queue, self._jobs = queue, jobs

    def finish(self, jobs: list[Job], effect: object = None) -> None:
        self._queue.finish(self._jobs, effect)  # type: ignore[arg-type]

    def fail(self, jobs: list[Job], error: BaseException) -> None:
        self._queue.fail(self._jobs, error)


def test_claims_go_by_priority_then_age_within_one_kind(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    q.add("c", priority=5)
    q.add("d", priority=-1)
    q.add("x", kind="other", priority=99)
    assert [job.key for job in q.claim(3)] == ["c", "a", "b"]
    assert [job.key for job in q.claim(3)] == ["d"]
    assert q.claim(3) == []
    assert q.states()["x"] == "ready"


def test_a_claim_hands_out_a_lease_and_touches_nothing_else(tenant: Tenant) -> None:
    q = opened(tenant)
    first, second = q.add("a", "b")
    before = q.rows()
    q.clock.advance(1)
    (job,) = q.claim(1, owner="worker 1")
    assert q.rows() == {
        first: {**before[first], "state": "running", "attempts": 1, "token": 1, "owner": "worker 1", "lease_ms": 10_000,
                "lease_until": 1_011_000, "changed_ms": q.clock.now_ms()},
        second: before[second],
    }  # fmt: skip
    assert job == q.queue.get(first)


def test_a_lease_is_over_at_its_end_and_not_before(tenant: Tenant) -> None:
    q = opened(tenant)
    first, _ = q.add("a", "b")
    q.claim(1)
    q.clock.advance(1)
    q.claim(1)
    q.clock.advance(LEASE - 1.001)
    assert (q.queue.reap(), q.states()) == (Reaped(), {"a": "running", "b": "running"})
    q.clock.advance(0.001)
    assert (q.queue.reap(), q.states()) == (Reaped(ready=1), {"a": "ready", "b": "running"})
    row = q.row(first)
    assert (row["crashes"], row["attempts"], row["owner"], row["error"]) == (1, 1, "", "")
    assert q.queue.reap() == Reaped()


def test_a_heartbeat_renews_the_lease_for_a_whole_one(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    job, other = q.claim()
    q.clock.advance(LEASE - 0.001)
    assert q.queue.heartbeat([job]) == {job.id}
    q.clock.advance(LEASE - 0.001)
    assert (q.queue.reap(), q.states()) == (Reaped(ready=1), {"a": "running", "b": "ready"})
    q.clock.advance(0.001)
    assert q.queue.reap() == Reaped(ready=1)
    assert other.id != job.id


def test_a_lease_that_ran_out_unnoticed_can_still_be_renewed_or_finished(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.clock.advance(LEASE + 5)
    assert q.queue.heartbeat([job]) == {job.id}
    assert q.queue.reap() == Reaped()
    q.clock.advance(LEASE + 5)
    q.queue.finish([job], note("a"))
    assert (q.states(), notes(q.ledger)) == ({"a": "done"}, ["a"])


def test_leases_of_different_lengths_do_not_disturb_each_other(tenant: Tenant) -> None:
    q = opened(tenant)
    patient, hasty = q.another(lease_seconds=1000.0), q.another(lease_seconds=0.5)
    q.add("a", "b")
    patient.claim("k", 1, "patient")
    hasty.claim("k", 1, "hasty")
    q.clock.advance(0.5)
    assert hasty.reap() == Reaped(ready=1)
    assert q.states() == {"a": "running", "b": "ready"}
    q.clock.advance(999.5)
    assert hasty.reap() == Reaped(ready=1)


@pytest.mark.parametrize(("attempts", "seconds"), [(1, 2), (2, 4), (3, 8), (11, 2048), (12, 3600), (20, 3600)])
def test_a_failed_job_waits_twice_as_long_each_time_up_to_an_hour(tenant: Tenant, attempts: int, seconds: int) -> None:
    q = opened(tenant)
    q.add("a", max_attempts=30)
    for number in range(1, attempts + 1):
        job = q.claim_one()
        q.queue.fail([job], ValueError("broken"))
        row = q.row(job.id)
        assert (row["state"], row["attempts"], row["error"]) == ("waiting", number, "ValueError: broken")
        wait = row["run_after_ms"] - q.clock.now_ms()
        q.clock.advance(wait / 1000 - 0.001)
        assert q.queue.promote() == 0
        q.clock.advance(0.001)
        assert q.queue.promote() == 1
    assert wait == seconds * 1000


def test_the_last_allowed_try_that_fails_parks_the_job(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", max_attempts=2)
    for state in ("waiting", "parked"):
        job = q.claim_one()
        q.queue.fail([job], Retry("no answer"))
        assert (q.row(job.id)["state"], q.row(job.id)["error"]) == (state, "no answer")
        q.clock.advance(10)
        q.queue.promote()
    assert q.row(job.id)["attempts"] == 2
    assert q.claim() == []


def test_a_job_that_cannot_be_done_is_parked_at_once_with_its_error(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.queue.fail([job], Park("the key sk-ant-api03-" + "a" * 95 + " is refused\x00\ud800" + "x" * 3000))
    row = q.row(job.id)
    assert (row["state"], row["attempts"], len(row["error"])) == ("parked", 1, 2000)
    assert row["error"].startswith("the key [redacted:")
    assert "\x00" not in row["error"]


def test_told_to_come_later_a_job_comes_then_and_keeps_its_try(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", max_attempts=1)
    for number in range(1, 4):
        job = q.claim_one()
        assert job.attempts == 1
        q.queue.fail([job], BackOff("too many requests", seconds=90.5))
        row = q.row(job.id)
        assert (row["state"], row["attempts"], row["delays"]) == ("waiting", 0, number)
        assert row["run_after_ms"] == q.clock.now_ms() + 90_500
        q.clock.advance(90.499)
        assert q.queue.promote() == 0
        q.clock.advance(0.001)
        assert q.queue.promote() == 1


def test_told_to_come_later_too_often_a_job_is_parked(tenant: Tenant) -> None:
    q = opened(tenant)
    (identifier,) = q.add("a")
    with q.ledger.transaction() as database:
        database.execute("UPDATE jobs SET delays = ?", (MOST_DELAYS - 1,))
    for state in ("waiting", "parked"):
        q.queue.fail([q.claim_one()], BackOff("too many requests", seconds=1))
        assert q.row(identifier)["state"] == state
        q.clock.advance(1)
        q.queue.promote()


@pytest.mark.parametrize("seconds", [-5.0, 0.0, float("nan"), float("inf"), 1e300])
def test_any_number_of_seconds_to_come_later_is_a_time(tenant: Tenant, seconds: float) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.queue.fail([job], BackOff("later", seconds=seconds))
    wait = q.row(job.id)["run_after_ms"] - q.clock.now_ms()
    assert wait == (0 if seconds <= 0 else 366 * 86_400_000)


def test_a_released_job_is_ready_as_if_not_tried_for_whoever_comes_next(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", max_attempts=1)
    for number in range(1, 4):
        (job,) = q.claim()
        assert (job.attempts, job.token) == (1, number)
        q.queue.release([job])
        assert (q.row(job.id)["state"], q.row(job.id)["attempts"], q.row(job.id)["crashes"]) == ("ready", 0, 0)


def test_waiting_and_ready_are_different_states_and_due_is_not_early(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", delay_seconds=5)
    q.add("b", delay_seconds=6)
    assert (q.claim(), q.queue.next_due()) == ([], 5.0)
    q.clock.advance(4.999)
    assert (q.queue.promote(), q.queue.next_due()) == (0, 0.001)
    q.clock.advance(0.001)
    assert q.claim() == [], "the claim reads no clock"
    assert (q.queue.promote(), q.states(), q.queue.next_due()) == (1, {"a": "ready", "b": "waiting"}, 1.0)
    assert [job.key for job in q.claim()] == ["a"]


def test_next_due_tells_the_first_time_something_is_to_be_done(tenant: Tenant) -> None:
    q = opened(tenant)
    assert q.queue.next_due() is None
    q.add("a")
    assert q.queue.next_due() is None, "what is ready needs no waiting for"
    (job,) = q.claim()
    assert q.queue.next_due() == LEASE
    q.add("b", delay_seconds=3)
    assert q.queue.next_due() == 3.0
    q.clock.advance(20)
    assert q.queue.next_due() == 0.0
    assert (q.queue.promote(), q.queue.reap()) == (1, Reaped(ready=1))
    assert q.queue.next_due() is None
    assert job.id


def test_a_job_that_takes_three_workers_with_it_is_parked(tenant: Tenant) -> None:
    q = opened(tenant)
    (identifier,) = q.add("poison", max_attempts=99)
    q.claim()
    for crashes in (1, 2):
        assert q.crash() == Reaped(ready=1)
        assert (q.row(identifier)["state"], q.row(identifier)["crashes"]) == ("ready", crashes)
        assert q.claim() == [], "a suspect is not for everybody"
        (job,) = q.queue.claim_suspect(["k"], "me")
        assert (job.id, job.crashes) == (identifier, crashes)
    assert q.crash() == Reaped(parked=1)
    row = q.row(identifier)
    assert (row["state"], row["crashes"], row["error"]) == ("parked", 3, "its worker died 3 times while it ran")
    assert q.queue.claim_suspect(["k"], "me") == []


def test_a_job_out_of_tries_is_parked_when_its_worker_dies(tenant: Tenant) -> None:
    q = opened(tenant)
    (last,) = q.add("a", max_attempts=1)
    (more,) = q.add("b", max_attempts=2)
    q.claim()
    assert q.crash() == Reaped(ready=1, parked=1)
    assert (q.row(last)["state"], q.row(last)["error"]) == ("parked", "its worker died 1 times while it ran")
    assert q.row(more)["state"] == "ready"


def test_of_a_batch_whose_worker_died_only_the_poison_is_parked(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "poison", "b", "c", group="")
    q.claim()
    q.crash()
    for _ in range(20):
        jobs = q.queue.claim_suspect(["other", "k"], "me")
        if not jobs:
            break
        (job,) = jobs
        if job.key == "poison":
            q.crash()
        else:
            q.queue.finish(jobs)
    assert q.states() == {"a": "done", "poison": "parked", "b": "done", "c": "done"}


def test_suspects_are_claimed_one_at_a_time_and_of_the_kinds_asked_for(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    q.add("x", kind="other")
    q.claim()
    q.claim(kind="other")
    q.crash()
    q.add("fresh")
    assert [job.key for job in q.queue.claim_suspect(["other"], "me")] == ["x"]
    assert q.queue.claim_suspect(["other"], "me") == []
    assert q.queue.claim_suspect([], "me") == []
    assert [job.key for job in q.queue.claim_suspect(["k"], "me")] == ["a"]
    assert [job.key for job in q.claim()] == ["fresh"]
    assert q.states() == {"a": "running", "b": "ready", "x": "running", "fresh": "running"}


def test_parked_and_cancelled_jobs_are_tried_again_when_asked_for(tenant: Tenant) -> None:
    q = opened(tenant)
    parked, cancelled, done, ready = q.add("a", "b", "c", "d")
    a, b, c = q.claim(3)
    q.queue.fail([a], Park("broken"))
    q.queue.cancel([cancelled])
    q.queue.finish([c])
    q.clock.advance(1)
    before = q.rows()
    assert q.queue.retry([parked, cancelled, done, ready]) == 2
    fresh = {"state": "ready", "attempts": 0, "crashes": 0, "delays": 0, "run_after_ms": q.clock.now_ms(),
             "changed_ms": q.clock.now_ms()}  # fmt: skip
    assert q.rows() == {
        parked: {**before[parked], **fresh}, cancelled: {**before[cancelled], **fresh}, done: before[done], ready: before[ready],
    }  # fmt: skip
    assert q.row(parked)["error"] == "broken", "what went wrong last can still be seen"
    assert b.id == cancelled


def test_a_retry_never_makes_two_live_jobs_of_one_key(tenant: Tenant) -> None:
    q = opened(tenant)
    ids = []
    for _ in range(3):
        ids += q.add("a")
        q.queue.cancel(ids[-1:])
    before = q.rows()
    assert q.queue.retry(ids) == 1
    assert [row["state"] for row in q.rows().values()] == ["cancelled", "cancelled", "ready"], "the newest stands for all"
    assert q.queue.retry(ids) == 0
    assert {each: q.rows()[each] for each in ids[:2]} == {each: before[each] for each in ids[:2]}


def test_cancelling_ends_what_is_live_or_parked_and_nothing_else(tenant: Tenant) -> None:
    q = opened(tenant)
    done, parked, running, ready = q.add("a", "b", "c", "d")
    (waiting,) = q.add("e", delay_seconds=9)
    a, b, c = q.claim(3)
    q.queue.finish([a])
    q.queue.fail([b], Park("broken"))
    assert q.queue.cancel([done, parked, running, ready, waiting]) == 4
    assert q.states() == {"a": "done", "b": "cancelled", "c": "cancelled", "d": "cancelled", "e": "cancelled"}
    assert q.queue.cancel([done, parked, running, ready, waiting]) == 0
    with pytest.raises(LeaseLost):
        q.queue.finish([c])


def test_counts_and_lists_say_what_is_there(tenant: Tenant) -> None:
    q = opened(tenant)
    assert (q.queue.counts(), q.queue.listing()) == ({}, [])
    q.add("a", "b")
    q.add("c", kind="other", delay_seconds=5)
    job = q.claim_one()
    assert q.queue.counts() == {("k", "running"): 1, ("k", "ready"): 1, ("other", "waiting"): 1}
    assert [each.key for each in q.queue.listing()] == ["c", "b", "a"]
    assert [each.key for each in q.queue.listing(limit=1)] == ["c"]
    assert [each.key for each in q.queue.listing(kind="k", state="ready")] == ["b"]
    assert q.queue.listing(state="running") == [job] == [q.queue.get(job.id)]
    assert q.queue.listing(kind="nothing") == []


def test_jobs_of_one_tenant_are_not_those_of_another(shared_url: str, empty_file: Path) -> None:
    q = opened(Tenant.new("postgresql", shared_url, empty_file))
    other = Queue(q.engine.open(q.clock, tenant=f"{q.engine.tenant}, another"), q.clock)
    (mine,) = q.add("a")
    (theirs,) = other.add([NewJob("k", "a")])
    assert mine != theirs
    assert [job.id for job in other.claim("k", 9, "me")] == [theirs]
    q.clock.advance(1000)
    assert q.queue.reap() == Reaped()
    assert (q.queue.counts(), other.counts()) == ({("k", "ready"): 1}, {("k", "running"): 1})
    q.engine.close()


def test_a_copy_of_a_ledger_gives_back_whatever_runs_and_the_tries_with_it(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    a = q.claim_one()
    assert q.queue.release_all() == 1
    again = q.claim(limit=2)
    assert [(job.key, job.attempts) for job in again] == [("a", 1), ("b", 1)]
    with pytest.raises(LeaseLost):
        q.queue.finish([a])
