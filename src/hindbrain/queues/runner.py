"""Jobs of the queue -> handlers run in threads, within the limits of their kind.

One thread, the desk, does all the talking with the queue: it writes down how calls ended, gives up those that overran, claims
what may be begun, and sleeps until it is woken or something is due. Handlers run in threads of their own and only hand back what
came of their work. What the desk could not write down because the database was away, it writes down later.

A job that was running when a worker died is a suspect: it may be what killed it. Suspects are run one at a time and alone, so
that only a job that really kills its worker is there every time one dies.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerBusy
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.heartbeat import Heartbeat
from hindbrain.queues.job import Effect, Job, LeaseLost, NewJob, Retry
from hindbrain.queues.queue import Queue
from hindbrain.queues.task import Bucket, Call, Handler, Kind, Stopped, Task, unexpected

__all__ = ["Handler", "Kind", "Runner", "Stopped", "Task"]

log = logging.getLogger("hindbrain.jobs")

POLL_SECONDS: Final = 30.0  # for what nobody told us of
SOON_SECONDS: Final = 1.0  # run_all waits for what is due within this
SUSPECT_SECONDS: Final = 60.0  # suspects hold up the rest for no longer at a stretch
LOOK_SECONDS: Final = 300.0  # a runner that never has a rest looks for suspects all the same
_LEAST_REST: Final = 0.02
_MOST_REST: Final = 1.0  # between two looks for what is due, while there is work
_BACKOFF: Final = (0.5, 60.0)
_LAST_WORDS: Final = 3.0  # for what is written at the very end


class Runner:
    """Runs jobs of some kinds, from start to stop, or all there are with run_all."""

    def __init__(
        self, open_ledger: Callable[[], Evidence], kinds: Mapping[str, Kind], clock: Clock, *, owner: str = "",
        lease_seconds: float = 120.0,
    ) -> None:  # fmt: skip
        self.owner = owner or f"{socket.gethostname()}:{os.getpid()}:{random.getrandbits(32):08x}"
        self._open = open_ledger
        self._kinds = dict(kinds)
        self._clock = clock
        self._lease = lease_seconds
        self._buckets = {name: Bucket(kind.per_minute, clock.elapsed()) for name, kind in kinds.items()}
        self._ledger: Evidence | None = None
        self._calls: list[Call] = []  # everything claimed whose end is not written down; the desk alone changes it
        self._given_up: list[threading.Thread] = []
        self._bell = threading.Event()
        self._wakes, self._seen = 1, 0  # how often somebody said that there is something new, and up to where that was looked at
        self._stop_at: float | None = None
        self._heartbeat = Heartbeat(open_ledger, clock, lease_seconds, lambda: self._calls)
        self._thread: threading.Thread | None = None
        self._failures, self._said = 0, ""
        self._not_before = 0.0  # the database is away: no try before this
        self._due_at: float | None = None  # the first job that waits or lease that ends
        self._look_at = self._looked_at = 0.0  # for what is due
        self._rest = _LEAST_REST
        self._suspects_at = 0.0
        self._suspects_since: float | None = None  # nothing but suspects since then
        self._days: dict[str, int] = {}

    @property
    def abandoned(self) -> int:
        """Threads of calls that overran and have not come back."""
        self._given_up = [thread for thread in self._given_up if thread.is_alive()]
        return len(self._given_up)

    def start(self) -> None:
        """Begin, in a thread."""
        self._heartbeat.start()
        self._thread = threading.Thread(target=self._serve, name="jobs", daemon=True)
        self._thread.start()

    def wake(self) -> None:
        """There may be something new."""
        self._wakes += 1
        self._bell.set()

    def busy(self) -> bool:
        """Whether jobs are being worked on."""
        return bool(self._calls)

    def next_due(self) -> float | None:
        """Seconds until there is something to do, 0 while there is; None when nothing is known of."""
        if self._calls or (self._wakes != self._seen and not self._failures):
            return 0.0
        if self._failures:
            return None
        now = self._clock.elapsed()
        # where calls are spread out there may be more, and it may begin then
        times = [wait for bucket in self._buckets.values() if (wait := bucket.wait(now)) > 0]
        times += [] if self._due_at is None else [max(0.0, self._due_at - now)]
        return min(times, default=None)

    def stop(self, grace_seconds: float) -> None:
        """Begin nothing more; what ends within the grace is finished, the rest is given back."""
        self._stop_at = self._clock.elapsed() + grace_seconds
        for call in list(self._calls):
            call.task.stopping.set()
        self._bell.set()
        if self._thread is not None:
            self._thread.join(grace_seconds + _LAST_WORDS)
            if self._thread.is_alive():
                log.warning("jobs are left to their leases: the database does not answer")
        self._heartbeat.stop(_LAST_WORDS)

    def run_all(self, timeout: float) -> bool:
        """Run what is there, here and now, until nothing is ready or due soon; False when that took too long."""
        deadline = self._clock.elapsed() + timeout
        self._heartbeat.start()
        try:
            while True:
                rest = self._turn()
                if self._nothing_soon():
                    return True
                left = deadline - self._clock.elapsed()
                if left <= 0:
                    return False
                self._sleep(min(rest, left))
        finally:
            self._stop_at = self._clock.elapsed() + SOON_SECONDS
            for call in self._calls:
                call.task.stopping.set()
            self._wind_up()
            self._heartbeat.stop(_LAST_WORDS)

    def _nothing_soon(self) -> bool:
        if self._calls or self._wakes != self._seen or self._failures:
            return False
        now = self._clock.elapsed()
        waits = [bucket.wait(now) for bucket in self._buckets.values()]
        if any(waits):  # it cannot be claimed yet, so it has to be counted
            counts = self._queue().counts()
            if any(counts.get((name, "ready")) for name in self._kinds):
                return False
        return self._due_at is None or self._due_at - now > SOON_SECONDS

    def _serve(self) -> None:
        while self._stop_at is None:
            self._sleep(self._turn())
        self._wind_up()

    def _wind_up(self) -> None:
        """The grace of a stop: write down what ends, give the rest back."""
        while self._calls and self._stop_at is not None and self._clock.elapsed() < self._stop_at:
            self._sleep(min(self._turn(), self._stop_at - self._clock.elapsed()))
        for call in self._calls:
            call.give_up(Stopped())
        try:
            self._write_down()
        except Exception as error:  # noqa: BLE001  # a thread's boundary: the leases run out by themselves
            log.warning("jobs are left to their leases: %s", str(error).replace("\n", "; "))
        self._close()

    def _sleep(self, seconds: float) -> None:
        if seconds > 0:
            self._bell.wait(seconds)
        self._bell.clear()

    def _turn(self) -> float:
        """One round; how long there is nothing more to do, unless the bell rings."""
        self._give_up_overdue()
        now = self._clock.elapsed()
        if now < self._not_before:
            return self._not_before - now
        try:
            rest = self._round()
            if self._failures:
                log.info("the queue answers again")
            self._failures, self._said = 0, ""
            return rest
        except Exception as error:  # noqa: BLE001  # a thread's boundary: without the desk no job would ever run again
            return self._wait_for_database(error)

    def _wait_for_database(self, error: Exception) -> float:
        low, high = _BACKOFF
        seconds = min(high, low * 2.0 ** min(self._failures, 20)) * random.uniform(0.5, 1.0)
        if not isinstance(error, LedgerBusy):
            self._close()  # opened anew it is checked, or says what is wrong
        said = str(error).replace("\n", "; ")
        if said != self._said:  # not again for every try
            level = logging.WARNING if isinstance(error, LedgerBusy) else logging.ERROR
            trace = None if isinstance(error, HindbrainError) else error
            log.log(level, "the queue failed, and is tried again: %s", said, exc_info=trace)
        self._said = said
        self._failures += 1
        self._not_before = self._clock.elapsed() + seconds
        return seconds

    def _round(self) -> float:
        wakes = self._wakes
        moved = self._write_down()
        if self._stop_at is None:
            moved = self._take_on() or moved
            news = moved or wakes != self._seen
            if self._clock.elapsed() >= self._look_at or (news and not self._calls):
                moved = self._look() or moved
            elif news:
                self._look_at = min(self._look_at, self._looked_at + _MOST_REST)
        if moved:
            return 0.0
        self._seen = wakes
        return self._until_next()

    def _until_next(self) -> float:
        now = self._clock.elapsed()
        if self._stop_at is not None:
            return POLL_SECONDS
        times = [self._look_at, *(call.task.deadline for call in self._calls if call.state == "running")]
        for name in self._kinds:
            if (wait := self._buckets[name].wait(now)) > 0:
                times.append(now + wait)
        return max(_LEAST_REST, min(times) - now)

    def _look(self) -> bool:
        """Move what is due: jobs that waited, leases that ran out, what comes by itself every day."""
        queue = self._queue()
        moved = self._begin_days(queue) if self._thread is not None else 0  # run_all does what is there, and no more
        moved += queue.promote()
        reaped = queue.reap()
        if reaped.ready:
            self._suspects_at = 0.0
        if reaped.parked:
            log.error("%d jobs are parked: their workers died again and again; see `hindbrain jobs`", reaped.parked)
        due, now = queue.next_due(), self._clock.elapsed()
        moved += reaped.ready
        self._rest = _LEAST_REST if moved else min(_MOST_REST, self._rest * 2)
        self._due_at = None if due is None else now + due
        self._looked_at = now
        self._look_at = now + (POLL_SECONDS if due is None else min(POLL_SECONDS, max(due, self._rest)))
        return moved > 0

    def _begin_days(self, queue: Queue) -> int:
        day = self._clock.now_ms() // 86_400_000
        begun = 0
        for name, kind in self._kinds.items():
            if kind.daily and self._days.get(name) != day:
                begun += self._begin_day(queue, name, str(day))
                self._days[name] = day
        return begun

    def _begin_day(self, queue: Queue, name: str, day: str) -> bool:
        """Once per day and queue, whoever comes first: the note and the job are one transaction. True for whoever was."""
        mark = f"daily:{name}"
        if self._opened().meta(mark) == day:
            return False
        with self._opened().writing() as database:
            row = database.execute("SELECT value FROM meta WHERE key = ?", (mark,)).fetchone()
            if row is not None and row[0] == day:
                return False
            database.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (mark, day)
            )
            queue.enqueue(database, [NewJob(name, day)])
        return True

    def _take_on(self) -> bool:
        """Claim and begin what may be begun; True when there was something."""
        now = self._clock.elapsed()
        if self._suspects_since is None and now >= self._suspects_at:
            self._suspects_since, self._suspects_at = now, now + LOOK_SECONDS
        if self._suspects_since is not None:
            if self._calls:
                return False  # they end first
            if self._claim_suspect(now):
                return True
            self._suspects_since = None
        claimed = self._claim()
        if claimed or self._calls:
            return claimed
        self._suspects_since = now  # nothing else to do is as good a moment as any
        found = self._claim_suspect(now)
        self._suspects_since = now if found else None
        return found

    def _claim_suspect(self, now: float) -> bool:
        if self._suspects_since is not None and now - self._suspects_since > SUSPECT_SECONDS:
            self._suspects_at = now + SUSPECT_SECONDS  # the others had to wait long enough
            return False
        jobs = self._queue().claim_suspect(list(self._kinds), self.owner)
        if jobs:
            log.info("job %d was running when a worker died; it is run alone", jobs[0].id)
            self._begin(self._held(jobs[0].kind, jobs))
        return bool(jobs)

    def _claim(self) -> bool:
        claimed = False
        for name, kind in self._kinds.items():
            held = [call for call in self._calls if call.jobs[0].kind == name]
            running = sum(call.state == "running" for call in held)
            waiting = [call for call in held if call.state == "claimed"]
            room = self._buckets[name].available(self._clock.elapsed(), kind.concurrency - running)
            if room > len(waiting):
                jobs = self._queue().claim(name, (room - len(waiting)) * kind.batch, self.owner)
                claimed = claimed or bool(jobs)
                waiting += [self._held(name, part) for part in _parts(jobs, kind.batch)]
            for call in waiting[: max(0, room)]:
                self._begin(call)
        return claimed

    def _held(self, name: str, jobs: Sequence[Job]) -> Call:
        call = Call(self._kinds[name], jobs, self._clock, lambda _: self._bell.set())
        self._calls = [*self._calls, call]
        self._heartbeat.wake()
        return call

    def _begin(self, call: Call) -> None:
        self._buckets[call.jobs[0].kind].take()
        call.start()

    def _give_up_overdue(self) -> None:
        for call in self._calls:
            if call.overdue:
                found = f"took longer than {call.kind.timeout_seconds:g} s"
                call.give_up(Retry(found))
                if call.thread is not None:
                    self._given_up.append(call.thread)
                log.warning("job %s %s; %d threads are given up", call.name, found, self.abandoned)

    def _write_down(self) -> bool:
        """Tell the queue how calls ended; True when one had."""
        ended = [call for call in self._calls if call.state == "ended"]
        for call in ended:
            self._write_end(call)
            self._calls = [each for each in self._calls if each is not call]
        return bool(ended)

    def _write_end(self, call: Call) -> None:
        queue = self._queue()
        try:
            if isinstance(call.error, Stopped):
                queue.release(call.jobs)
            elif call.error is not None:
                log.info("job %s: %s", call.name, type(call.error).__name__)
                queue.fail(call.jobs, call.error)
            else:
                self._finish(queue, call)
        except LeaseLost:
            log.warning("job %s is no longer ours: its result is thrown away", call.name)
            self._give_back_rest(queue, call)

    def _finish(self, queue: Queue, call: Call) -> None:
        if call.effect is None:
            queue.finish(call.jobs)
            return
        effect = _Watched(call.effect)
        try:
            queue.finish(call.jobs, effect)
        except (LeaseLost, LedgerBusy):
            raise
        except Exception as error:
            if not effect.failed:
                raise  # the database's trouble, not the handler's
            call.effect, call.error = None, unexpected(error, call.name)
            queue.fail(call.jobs, call.error)

    def _give_back_rest(self, queue: Queue, call: Call) -> None:
        """Of jobs that were to end together, one was lost; the others are still ours, and nobody died."""
        ours = queue.heartbeat(call.jobs)
        rest = [job for job in call.jobs if job.id in ours]
        if rest:
            with contextlib.suppress(LeaseLost):
                queue.release(rest)

    def _opened(self) -> Evidence:
        if self._ledger is None:
            self._ledger = self._open()
        return self._ledger

    def _queue(self) -> Queue:
        return Queue(self._opened(), self._clock, lease_seconds=self._lease)

    def _close(self) -> None:
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            with contextlib.suppress(HindbrainError):
                ledger.close()


class _Watched:
    """An effect that remembers whether it failed by itself."""

    def __init__(self, effect: Effect) -> None:
        self._effect = effect
        self.failed = False

    def __call__(self, database: Database) -> None:
        try:
            self._effect(database)
        except BaseException:
            self.failed = True
            raise


def _parts(jobs: Sequence[Job], batch: int) -> Iterator[list[Job]]:
    """What each call gets: a group whole, jobs without one in batches."""
    groups: dict[str, list[Job]] = {}
    for job in jobs:
        groups.setdefault(job.group, []).append(job)
    single = groups.pop("", [])
    for start in range(0, len(single), batch):
        yield single[start : start + batch]
    yield from groups.values()
