"""Runners on a test's database: handlers that leave a mark for every time their effect was written, and a look at the marks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from hindbrain.base.clock import SystemClock
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.job import Effect, Job, State
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Kind, Runner, Task
from tests.engines import Engine

Found = TypeVar("Found")

LISTENING = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'"

# A second time is to be seen, so it is added to the first.
MARK = "INSERT INTO meta (key, value) VALUES (?, '1') ON CONFLICT (key) DO UPDATE SET value = meta.value || '1'"
MARKS = "SELECT key, value FROM meta WHERE key LIKE 'mark:%'"


def marking(*keys: str) -> Effect:
    """An effect that leaves a mark per key."""

    def effect(database: Database) -> None:
        for key in keys:
            database.execute(MARK, (f"mark:{key}",))

    return effect


def mark(task: Task) -> Effect:
    """The plainest handler: a mark for each of its jobs."""
    return marking(*(job.key for job in task.jobs))


def marks(ledger: Evidence) -> dict[str, str]:
    """Which effects were written, and a 1 for each time."""
    with ledger.reading() as database:
        return {key.removeprefix("mark:"): value for key, value in database.execute(MARKS).fetchall()}


def until(ready: Callable[[], Found | None], what: str, seconds: float = 30.0) -> Found:
    """What `ready` gives once it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(0.01)
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")


class Bench:
    """A queue to fill and to look at, and runners on it."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.clock = SystemClock()
        self.ledger = engine.open(self.clock)
        self.queue = Queue(self.ledger, self.clock)

    def runner(self, kinds: Mapping[str, Kind], lease_seconds: float = 30.0) -> Runner:
        return Runner(lambda: self.engine.open(self.clock), kinds, self.clock, lease_seconds=lease_seconds)

    @contextlib.contextmanager
    def running(self, kinds: Mapping[str, Kind], lease_seconds: float = 30.0, grace: float = 20.0) -> Iterator[Runner]:
        runner = self.runner(kinds, lease_seconds)
        runner.start()
        try:
            yield runner
        finally:
            runner.stop(grace)

    def job(self, key: str) -> Job:
        (found,) = [job for job in self.queue.listing() if job.key == key]
        return found

    def in_state(self, key: str, state: State) -> Job:
        """The job once it is in this state."""

        def there() -> Job | None:
            return next((job for job in self.queue.listing(state=state) if job.key == key), None)

        return until(there, f"{key} to be {state}")

    def crashed(self, kind: str, keys: int) -> None:
        """Claim so many jobs as a worker that dies would, and have them reaped."""
        dying = Queue(self.ledger, self.clock, lease_seconds=0.001)
        assert len(dying.claim(kind, keys, "dead")) == keys
        reaped = 0

        def all_reaped() -> bool:
            nonlocal reaped
            reaped += self.queue.reap().ready
            return reaped == keys

        until(all_reaped, "the leases to run out")
