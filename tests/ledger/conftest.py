"""Empty SQLite ledgers. What every engine has to do is tested in tests/conformance; here is what a file of SQLite's can do."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.ledger.store import Ledger

NewLedger = Callable[[], Ledger]


@pytest.fixture(scope="session")
def empty_ledger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger without content: copying it is quicker than making one."""
    path = tmp_path_factory.mktemp("empty") / "ledger.db"
    Ledger.open(path, ManualClock()).close()
    return path


@pytest.fixture(scope="module", params=["sqlite"])
def new_ledger(
    request: pytest.FixtureRequest, empty_ledger: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NewLedger]:
    """A function that opens another empty ledger; all are closed in the end."""
    directory, numbers, opened = tmp_path_factory.mktemp("ledgers"), itertools.count(), list[Ledger]()

    def make() -> Ledger:
        path = directory / f"{next(numbers)}.db"
        shutil.copyfile(empty_ledger, path)
        ledger = Ledger.open(path, ManualClock())
        ledger.connection.execute("PRAGMA synchronous = OFF")  # many small ledgers; durability has tests of its own
        opened.append(ledger)
        return ledger

    yield make
    for ledger in opened:
        ledger.close()


@pytest.fixture
def ledger(new_ledger: NewLedger) -> Ledger:
    return new_ledger()
