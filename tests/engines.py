"""The engines that one body of tests runs on, SQLite and PostgreSQL, and the databases for it.

A PostgreSQL server is started once per test process, when the first test asks for it. Every test has a database of its own,
copied from one that is migrated already.
"""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import Clock, ManualClock
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.store import Ledger
from tests.postgres import Cluster

TEMPLATE = "hindbrain_template"
ENGINES = ("sqlite", "postgresql")
MOST_OPEN = 8
MOST_FINISHED = 20
_FINISHED: list[str] = []
_NUMBERS = itertools.count()

NewLedger = Callable[[], Evidence]
NewPair = Callable[[], tuple[Evidence, Evidence]]


@dataclass(slots=True)
class Engine:
    """Opens ledgers on one database."""

    name: str
    folder: Path
    cluster: Cluster | None = None
    empty: Path | None = None
    opened: list[Evidence] = field(default_factory=list[Evidence])
    place: str = ""  # the file or the URL

    def __post_init__(self) -> None:
        self.place = self.cluster.create(f"t{next(_NUMBERS)}", TEMPLATE) if self.cluster is not None else self._new_file()

    def _new_file(self) -> str:
        assert self.empty is not None
        return str(shutil.copyfile(self.empty, self.folder / f"t{next(_NUMBERS)}.db"))

    def open(self, clock: Clock | None = None, **options: Any) -> Evidence:
        """The ledger on this engine's database; a second call opens it a second time. All are closed in the end."""
        clock = ManualClock() if clock is None else clock
        ledger: Evidence
        if self.cluster is not None:
            ledger = PostgresLedger.open(self.place, clock, **options)
        else:
            ledger = sqlite = Ledger.open(Path(self.place), clock, **options)
            sqlite.connection.execute("PRAGMA synchronous = OFF")  # many small ledgers; durability has tests of its own
        self.opened.append(ledger)
        return ledger

    def open_empty(self, clock: Clock | None = None) -> Evidence:
        """Another empty ledger: a file of its own, or a tenant of its own. Only the last few stay open."""
        while len(self.opened) >= MOST_OPEN:
            self.opened.pop(0).close()
        if self.cluster is not None:
            return self.open(clock, tenant=f"tenant {next(_NUMBERS)}")
        self.place = self._new_file()
        return self.open(clock)

    def close(self) -> None:
        """Close what is open, and take the database away."""
        while self.opened:
            self.opened.pop().close()
        if self.cluster is not None:
            drop(self.cluster, self.place)


def drop(cluster: Cluster, url: str) -> None:
    """Take a test's database away, some time: each dropping makes the server write out all it holds, so several go at once."""
    _FINISHED.append(url.rpartition("/")[2])
    if len(_FINISHED) < MOST_FINISHED:
        return
    with cluster.admin() as connection:
        while _FINISHED:
            connection.execute(f'DROP DATABASE IF EXISTS "{_FINISHED.pop()}" WITH (FORCE)'.encode())


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One server for all tests of this process, with a template that is migrated already."""
    with Cluster() as started:
        PostgresLedger.open(started.create(TEMPLATE), ManualClock()).close()
        yield started


@pytest.fixture
def pg_url(cluster: Cluster) -> Iterator[str]:
    """A fresh, migrated database."""
    url = cluster.create(f"t{next(_NUMBERS)}", TEMPLATE)
    yield url
    drop(cluster, url)


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite ledger without content: copying it is quicker than making one."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(path, ManualClock()).close()
    return path


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path, empty_file: Path) -> Iterator[Engine]:
    """A database of its own on each engine in turn; one body of tests runs on both."""
    made = _made(request, tmp_path, empty_file)
    yield made
    made.close()


@pytest.fixture(scope="module", params=ENGINES)
def new_ledger(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, empty_file: Path
) -> Iterator[NewLedger]:
    """A function that opens another empty ledger, on each engine in turn; cheaper than `engine`, and fit for many examples."""
    made = _made(request, tmp_path_factory.mktemp("ledgers"), empty_file)
    yield made.open_empty
    made.close()


@pytest.fixture(scope="module")
def new_pair(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory, empty_file: Path) -> Iterator[NewPair]:
    """A function that opens an empty ledger on each engine."""
    folder = tmp_path_factory.mktemp("pairs")
    sqlite, postgresql = Engine("sqlite", folder, None, empty_file), Engine("postgresql", folder, cluster)
    yield lambda: (sqlite.open_empty(), postgresql.open_empty())
    sqlite.close()
    postgresql.close()


@pytest.fixture
def ledger(new_ledger: NewLedger) -> Evidence:
    """An empty ledger, on each engine in turn."""
    return new_ledger()


def _made(request: pytest.FixtureRequest, folder: Path, empty: Path) -> Engine:
    cluster = request.getfixturevalue("cluster") if request.param == "postgresql" else None
    return Engine(request.param, folder, cluster, empty)
