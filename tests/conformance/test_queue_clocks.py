"""Clocks that jump, stand or start anew, on both engines: nothing ends early, nothing waits for ever, nobody spins."""

from __future__ import annotations

import threading

import pytest

from hindbrain.base.clock import ManualClock, SystemClock
from hindbrain.queues.job import BackOff, NewJob, Reaped, Retry
from hindbrain.queues.queue import Queue
from tests.queues.opened import LEASE, Opened, Tenant, opened

DAY = 86_400_000
YEAR = 365 * DAY


def jump(q: Opened, by_ms: int) -> None:
    q.clock.set_wall(q.clock.now_ms() + by_ms)


@pytest.mark.parametrize("by", [-3 * DAY, 10 * YEAR])
def test_a_wall_clock_that_jumps_ends_no_lease_early_and_none_late(tenant: Tenant, by: int) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    jump(q, by)
    q.clock.advance(LEASE - 0.001)
    assert (q.queue.reap(), q.queue.next_due()) == (Reaped(), 0.001)
    assert q.queue.heartbeat([job]) == {job.id}
    jump(q, -by)
    q.clock.advance(LEASE - 0.001)
    assert q.queue.reap() == Reaped()
    q.clock.advance(0.001)
    assert q.queue.reap() == Reaped(ready=1)


@pytest.mark.parametrize("by", [-3 * DAY, -1000, 10 * YEAR])
def test_a_wall_clock_that_jumps_lets_no_job_wait_for_ever(tenant: Tenant, by: int) -> None:
    q = opened(tenant)
    q.add("delayed", delay_seconds=3600)
    q.add("failed", "later")
    one, two = q.claim()
    q.queue.fail([one], Retry("x"))
    q.queue.fail([two], BackOff("x", seconds=600))
    jump(q, by)
    assert q.queue.next_due() == 0.0
    assert q.queue.promote() == 3
    assert q.queue.next_due() is None, "nobody spins: what was due at once has been moved"
    assert set(q.states().values()) == {"ready"}


def test_a_job_told_under_a_wrong_clock_runs_under_the_right_one(tenant: Tenant) -> None:
    q = opened(tenant)
    jump(q, 10 * YEAR)
    q.add("a", delay_seconds=60)
    q.add("b")
    jump(q, -10 * YEAR)
    assert q.queue.promote() == 1
    assert [job.key for job in q.claim()] == ["a", "b"]


def test_told_again_after_the_clock_was_set_back_a_waiting_job_still_comes(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", delay_seconds=60)
    jump(q, -3 * DAY)
    q.add("a", delay_seconds=30)
    assert q.queue.next_due() == 30.0
    q.clock.advance(30)
    assert q.queue.promote() == 1


def test_told_again_to_wait_longer_after_the_clock_was_set_back_it_does_not_wait_three_days(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", delay_seconds=1)
    jump(q, -3 * DAY)
    q.add("a", delay_seconds=5 * 86_400)
    assert q.queue.promote() == 1


def test_a_run_told_again_under_a_clock_set_back_is_ready_at_its_end(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.add("a", delay_seconds=60)
    jump(q, -3 * DAY)
    q.queue.finish([job])
    assert q.states() == {"a": "ready"}


def test_what_a_wrong_clock_stamped_is_pruned_too(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    one, two = q.claim()
    q.queue.finish([one])
    jump(q, 10 * YEAR)
    q.queue.finish([two])
    jump(q, -10 * YEAR)
    assert q.queue.prune(14 * 86_400) == 1
    assert q.states() == {"a": "done"}


def test_while_the_machine_sleeps_leases_do_not_run_out(tenant: Tenant) -> None:
    """A suspended machine: the wall clock goes on, elapsed time stands."""
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    jump(q, 8 * 3_600_000)
    assert q.queue.reap() == Reaped()
    q.queue.finish([job])


@pytest.mark.parametrize("uptime", [0.0, 5.0, 999.999, 1001.0])
def test_after_a_reboot_the_leases_of_the_time_before_are_over_within_one_lease(tenant: Tenant, uptime: float) -> None:
    """Elapsed time starts at 0 again; the lease was given at 1,000 s."""
    q = opened(tenant)
    q.add("a")
    q.claim()
    rebooted = ManualClock(q.clock.now_ms() + 60_000)
    rebooted.advance(uptime)
    queue = Queue(tenant.open(rebooted), rebooted, lease_seconds=LEASE)
    waited = 0.0
    while (reaped := queue.reap()) == Reaped():
        due = queue.next_due()
        assert due is not None and due > 0, "nobody spins"
        rebooted.advance(due)
        waited += due
        assert waited <= LEASE
    assert reaped == Reaped(ready=1)
    assert waited == (0.0 if uptime < 1000 else 9.0)


class Seen(ManualClock):
    """Tells when it was looked at."""

    def __init__(self, now_ms: int) -> None:
        super().__init__(now_ms)
        self.looked = threading.Event()

    def elapsed(self) -> float:
        self.looked.set()
        return super().elapsed()


@pytest.mark.parametrize("tenant", ["sqlite"], indirect=True)
def test_a_lease_given_while_a_reaper_waits_for_the_database_stands(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    clock = Seen(q.clock.now_ms())
    clock.advance(q.clock.elapsed())
    found: list[Reaped] = []
    other = tenant.open(clock)
    reaper = threading.Thread(target=lambda: found.append(Queue(other, clock, lease_seconds=LEASE).reap()))
    with q.ledger.transaction():
        reaper.start()
        clock.looked.wait(0.5)  # whoever looks before it has the database would have done so by then
        for each in (clock, q.clock):
            each.advance(1)
        assert len(q.claim()) == 1
    reaper.join(20)
    assert found == [Reaped()] and set(q.states().values()) == {"running"}


def test_sleeping_until_next_due_comes_to_every_job_without_spinning(tenant: Tenant) -> None:
    q = opened(tenant)
    for number in range(20):
        q.add(str(number), delay_seconds=1 + number * 0.37)
    steps = 0
    while (due := q.queue.next_due()) is not None:
        steps += 1
        q.clock.advance(due)
        assert q.queue.promote() >= (1 if due == 0.0 else 0)
    assert steps <= 41
    assert q.queue.counts() == {("k", "ready"): 20}


def test_the_real_clock_counts_leases_and_delays_in_real_time(tenant: Tenant) -> None:
    queue = Queue(tenant.open(), SystemClock(), lease_seconds=3600.0)
    queue.add([NewJob("k", "a"), NewJob("k", "b", delay_seconds=7200)])
    (job,) = queue.claim("k", 5, "me")
    due = queue.next_due()
    assert due is not None and 3000 < due <= 3600
    assert (queue.promote(), queue.reap(), queue.heartbeat([job])) == (0, Reaped(), {job.id})
    assert abs(queue.get(job.id).enqueued_ms - SystemClock().now_ms()) < 600_000
    short = Queue(tenant.open(), SystemClock(), lease_seconds=0.001)
    queue.release([job])
    short.claim("k", 1, "me")
    while short.reap() == Reaped():
        pass  # ends when a millisecond of real time has passed
    assert short.get(job.id).crashes == 1
