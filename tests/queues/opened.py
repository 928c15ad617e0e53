"""An engine -> a queue on it whose time stands still until it is moved, and a look at every column of every job.

On PostgreSQL each test is a tenant of one database: that is quicker than a database each, and sees to it that they do not meet.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import Clock, ManualClock
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import Job, NewJob, Reaped
from hindbrain.queues.queue import Queue
from tests.engines import ENGINES, TEMPLATE
from tests.postgres import Cluster

LEASE = 10.0
_NUMBERS = itertools.count()
_COLUMNS = ("id", "kind", "key", "group_key", "payload", "priority", "forced", "state", "again", "attempts", "crashes", "delays",
            "max_attempts", "token", "owner", "lead", "lease_until", "lease_ms", "run_after_ms", "enqueued_ms", "changed_ms",
            "error")  # fmt: skip


@dataclass(slots=True)
class Tenant:
    """An empty ledger that can be opened any number of times."""

    name: str
    place: str  # the file or the URL
    empty: Path = Path()
    tenant: str = ""
    opened: list[Evidence] = field(default_factory=list[Evidence])

    @classmethod
    def new(cls, name: str, place: str, empty: Path) -> Tenant:
        made = cls(name, place, empty)
        made.renew()
        return made

    def renew(self) -> None:
        """Another empty ledger in place of the one before."""
        self.close()
        if self.name == "sqlite":
            self.place = str(shutil.copyfile(self.empty, Path(self.place).with_name(f"{next(_NUMBERS)}.db")))
        else:
            self.tenant = f"tenant {next(_NUMBERS)}"

    def open(self, clock: Clock | None = None, **options: Any) -> Evidence:
        clock = ManualClock() if clock is None else clock
        ledger: Evidence
        if self.name == "sqlite":
            ledger = sqlite = Ledger.open(Path(self.place), clock, **options)
            sqlite.connection.execute("PRAGMA synchronous = OFF")  # many small ledgers; durability has tests of its own
        else:
            ledger = PostgresLedger.open(self.place, clock, **{"tenant": self.tenant, **options})
        self.opened.append(ledger)
        return ledger

    def close(self) -> None:
        while self.opened:
            self.opened.pop().close()


@pytest.fixture(scope="session")
def shared_url(cluster: Cluster) -> str:
    return cluster.create("shared", TEMPLATE)


@pytest.fixture(params=ENGINES)
def tenant(request: pytest.FixtureRequest, tmp_path: Path, empty_file: Path) -> Iterator[Tenant]:
    """An empty ledger on each engine in turn."""
    place = str(tmp_path / "none") if request.param == "sqlite" else request.getfixturevalue("shared_url")
    made = Tenant.new(request.param, place, empty_file)
    yield made
    made.close()


class Longest(random.Random):
    """No chance: the longest wait there is."""

    def uniform(self, a: float, b: float) -> float:
        return b


@dataclass(slots=True)
class Opened:
    engine: Tenant
    clock: ManualClock
    ledger: Evidence
    queue: Queue

    def another(self, **options: Any) -> Queue:
        """The same jobs through a connection of its own, as another worker has."""
        return Queue(self.engine.open(self.clock), self.clock, **{"lease_seconds": LEASE, "chance": Longest(), **options})

    def rows(self) -> dict[int, dict[str, Any]]:
        """Every job with every column."""
        return all_rows(self.ledger)

    def row(self, identifier: int) -> dict[str, Any]:
        return self.rows()[identifier]

    def states(self) -> dict[str, str]:
        """The state of the newest job of each key."""
        return {row["key"]: row["state"] for _, row in sorted(self.rows().items())}

    def add(self, *keys: str, kind: str = "k", **fields: Any) -> list[int]:
        return self.queue.add([NewJob(kind, key, **fields) for key in keys])

    def claim(self, limit: int = 100, kind: str = "k", owner: str = "me") -> list[Job]:
        return self.queue.claim(kind, limit, owner)

    def claim_one(self, kind: str = "k") -> Job:
        (job,) = self.queue.claim(kind, 1, "me")
        return job

    def crash(self) -> Reaped:
        """Whoever runs something dies, and that is noticed."""
        self.clock.advance(LEASE)
        return self.queue.reap()


def all_rows(ledger: Evidence) -> dict[int, dict[str, Any]]:
    with ledger.reading() as database:
        found = database.execute(f"SELECT {', '.join(_COLUMNS)} FROM jobs ORDER BY id").fetchall()
    return {row[0]: dict(zip(_COLUMNS, row, strict=True)) for row in found}


def opened(engine: Tenant, **options: Any) -> Opened:
    clock = ManualClock()
    clock.advance(1000)
    ledger = engine.open(clock)
    return Opened(engine, clock, ledger, Queue(ledger, clock, **{"lease_seconds": LEASE, "chance": Longest(), **options}))


def note(key: str, value: str = "") -> Any:
    """An effect: something written that can be looked up."""

    def write(database: Database) -> None:
        database.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (f"effect:{key}", value))

    return write


def notes(ledger: Evidence) -> list[str]:
    """What effects wrote."""
    with ledger.reading() as database:
        rows = database.execute("SELECT key FROM meta WHERE key LIKE 'effect:%' ORDER BY key").fetchall()
    return [row[0].removeprefix("effect:") for row in rows]
