"""Which jobs there are, who does them and where they are kept.

Jobs are kept in the shared database where there is one, else in the home's own ledger. A kind is a line in the table `kinds`;
what adds jobs of a kind calls Queue.enqueue inside the transaction that makes them necessary.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.home import Home
from hindbrain.ledger.database import is_sqlite
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import STATES
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Kind, Runner, Task
from hindbrain.serve.engines import Shared, shared_of
from hindbrain.serve.status import opened

if TYPE_CHECKING:
    from hindbrain.ledger.postgres.listen import Listener

log = logging.getLogger("hindbrain.jobs")

LEASE_SECONDS: Final = 120.0
STOP_SECONDS: Final = 5.0  # `daemon stop` waits 15 s in all
# A job that is due within this is worth staying for.
STAY_SECONDS: Final = 900.0
_LAST_LOOK_SECONDS: Final = 2.0
_LONGEST_STAY: Final = 60.0  # between two looks whether there is still something
_DAY: Final = 86_400.0

OpenLedger = Callable[[], Evidence]


def opener(config: Config, clock: Clock) -> OpenLedger:
    """How to open the ledger that keeps the jobs."""
    shared = shared_of(config, clock)
    home = Home(config.home)
    return (lambda: Ledger.open(home.ledger, clock)) if shared is None else shared.open


def kinds(open_ledger: OpenLedger, clock: Clock, keep_days: float) -> dict[str, Kind]:
    """Every kind of job there is."""

    def housekeeping(task: Task) -> None:
        with open_ledger() as ledger:
            keep_house(ledger, clock, keep_days)

    return {"housekeeping": Kind(housekeeping, daily=True, timeout_seconds=600.0)}


def keep_house(ledger: Evidence, clock: Clock, keep_days: float) -> None:
    """What has to be done now and then so that nothing grows without end."""
    queue = Queue(ledger, clock)
    queue.reap()
    gone = queue.prune(keep_days * _DAY)
    if gone:
        log.info("%d finished jobs were removed", gone)
    with ledger.reading() as database:
        sqlite = is_sqlite(database)
    if sqlite:  # PostgreSQL does this by itself
        with ledger.transaction() as database:
            database.execute("PRAGMA optimize")


class Work:
    """The jobs' part of a worker: begun with start, ended with stop."""

    def __init__(
        self, config: Config, clock: Clock, *, kinds_of: Mapping[str, Kind] | None = None, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._config = config
        self._clock = clock
        open_ledger = opener(config, clock)
        table = kinds(open_ledger, clock, config.keep_jobs_days) if kinds_of is None else kinds_of
        self._runner = Runner(open_ledger, table, clock, lease_seconds=lease_seconds)
        self._listener: Listener | None = None

    def start(self) -> None:
        self._runner.start()
        if self._config.is_shared:
            from hindbrain.ledger.postgres.connect import Address
            from hindbrain.ledger.postgres.listen import Listener

            self._listener = Listener(Address(self._config.database, self._config.tenant), self._runner.wake)
            self._listener.start()

    def wake(self) -> None:
        """There may be new jobs."""
        self._runner.wake()

    def stop(self) -> None:
        """End what can be ended in time, give the rest back."""
        self._runner.stop(STOP_SECONDS)
        if self._listener is not None:
            self._listener.close()

    def stay(self) -> float:
        """How long the worker should stay for the sake of its jobs before it asks again; 0 when there is nothing to stay for."""
        if self._runner.busy():
            return 1.0
        due = self._runner.next_due()
        if due is None or due > STAY_SECONDS:
            return 0.0
        return min(max(due, 1.0), _LONGEST_STAY)

    def anything_after_all(self) -> bool:
        """Look once more, now that nobody can wake us; True when there is something to stay for."""
        self._runner.wake()
        deadline = self._clock.elapsed() + _LAST_LOOK_SECONDS
        while self._runner.next_due() == 0.0 and not self._runner.busy() and self._clock.elapsed() < deadline:
            time.sleep(0.01)
        return self.stay() > 0


def run_due(open_ledger: OpenLedger, clock: Clock, timeout: float, *, keep_days: float = 14.0) -> bool:
    """Have everything done that is to be done now: here, and by whoever else is at it. False when it took too long."""
    table = kinds(open_ledger, clock, keep_days)
    deadline = clock.elapsed() + timeout
    while _anything_live(open_ledger, clock, table):
        left = deadline - clock.elapsed()
        if left <= 0 or not Runner(open_ledger, table, clock, lease_seconds=LEASE_SECONDS).run_all(left):
            return False
        time.sleep(0.02)  # what is left is being done by a worker
    return True


def _anything_live(open_ledger: OpenLedger, clock: Clock, table: Mapping[str, Kind]) -> bool:
    with open_ledger() as ledger:
        queue = Queue(ledger, clock)
        queue.promote()
        return any(kind in table and state in ("ready", "running") for kind, state in queue.counts())


def counted(home: Home, shared: Shared | None, clock: Clock) -> dict[str, int]:
    """How many jobs are in each state. Raises LedgerError when the database that keeps them does not answer."""
    ledger = opened(home, clock) if shared is None else shared.open_to_ask()
    totals: dict[str, int] = dict.fromkeys(STATES, 0)
    if ledger is not None:
        with ledger:
            for (_, state), count in Queue(ledger, clock).counts().items():
                totals[state] += count
    return totals
