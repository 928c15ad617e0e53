"""No-op jobs through our queue, and through the least that is as durable: one table, one index, two statements.

The bare tables know no lease, token, group or uniqueness. What they leave out is what the queue is for; how little that costs is
what is measured.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import psycopg

from hindbrain.base.clock import SystemClock
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue

KIND = "noop"
_TABLE = """
CREATE TABLE bare (
    id {serial} PRIMARY KEY, kind TEXT NOT NULL, payload TEXT NOT NULL, priority INTEGER NOT NULL, state TEXT NOT NULL
)
"""
_INDEX = "CREATE INDEX bare_ready ON bare (kind, priority DESC, id) WHERE state = 'ready'"
_SQLITE_FILL = "INSERT INTO bare (kind, payload, priority, state) VALUES ('noop', '{}', 0, 'ready')"
_SQLITE_CLAIM = """
UPDATE bare SET state = 'running'
WHERE id = (SELECT id FROM bare WHERE kind = ? AND state = 'ready' ORDER BY priority DESC, id LIMIT 1) RETURNING id, payload
"""
_SQLITE_DONE = "UPDATE bare SET state = 'done' WHERE id = ?"
_PG_FILL = "INSERT INTO bare (kind, payload, priority, state) SELECT 'noop', '{}', 0, 'ready' FROM generate_series(1, %s)"
_PG_CLAIM = """
UPDATE bare SET state = 'running' WHERE id = ANY (ARRAY(
    SELECT id FROM bare WHERE kind = %s AND state = 'ready' ORDER BY priority DESC, id LIMIT %s FOR UPDATE SKIP LOCKED
)) RETURNING id, payload
"""
_PG_DONE = "UPDATE bare SET state = 'done' WHERE id = ANY(%s)"


class Contender(Protocol):
    """One way of putting jobs through."""

    def prepare(self) -> None:
        """Make what it needs."""

    def fill(self, jobs: int) -> None:
        """Have at least so many jobs ready."""

    def run(self, jobs: int) -> float:
        """Seconds that so many jobs took."""


def at_once(consumers: int, consume: Callable[[int], None]) -> float:
    """Seconds until every consumer, each in a thread, is through."""
    threads = [threading.Thread(target=consume, args=(number,)) for number in range(consumers)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - start


class Ours:
    """The queue as the worker uses it."""

    def __init__(self, ledger: Evidence, batch: int, consumers: int = 1) -> None:
        self._queues = [Queue(ledger, SystemClock()) for _ in range(consumers)]
        self._batch = batch
        self._filled = 0

    def prepare(self) -> None:
        pass  # the ledger was migrated when it was opened

    def fill(self, jobs: int) -> None:
        self._queues[0].add([NewJob(KIND, str(self._filled + number)) for number in range(jobs)])
        self._filled += jobs

    def run(self, jobs: int) -> float:
        share = jobs // len(self._queues)

        def consume(number: int) -> None:
            queue, left = self._queues[number], share
            while left > 0:
                claimed = queue.claim(KIND, self._batch, "bench")
                queue.finish(claimed)
                left -= len(claimed)

        return at_once(len(self._queues), consume)


class BareSQLite:
    """As durable as the ledger: write-ahead log, every commit synced."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")

    def prepare(self) -> None:
        self._database.execute(_TABLE.format(serial="INTEGER"))
        self._database.execute(_INDEX)

    def fill(self, jobs: int) -> None:
        self._database.execute("BEGIN")
        self._database.executemany(_SQLITE_FILL, [()] * jobs)
        self._database.execute("COMMIT")

    def run(self, jobs: int) -> float:
        def consume(_: int) -> None:
            for _ in range(jobs):
                ((number, _payload),) = self._database.execute(_SQLITE_CLAIM, (KIND,)).fetchall()
                self._database.execute(_SQLITE_DONE, (number,))

        return at_once(1, consume)


class BarePostgres:
    """Prepared statements, each a transaction of its own."""

    def __init__(self, url: str, batch: int, consumers: int) -> None:
        self._batch = batch
        self._databases = [psycopg.connect(url, autocommit=True, prepare_threshold=0) for _ in range(consumers)]

    def prepare(self) -> None:
        self._databases[0].execute(_TABLE.format(serial="bigserial").encode())
        self._databases[0].execute(_INDEX)

    def fill(self, jobs: int) -> None:
        self._databases[0].execute(_PG_FILL, (jobs,))

    def run(self, jobs: int) -> float:
        share = jobs // len(self._databases)

        def consume(number: int) -> None:
            database, left = self._databases[number], share
            while left > 0:
                claimed = database.execute(_PG_CLAIM, (KIND, self._batch)).fetchall()
                database.execute(_PG_DONE, ([row[0] for row in claimed],))
                left -= len(claimed)

        return at_once(len(self._databases), consume)
