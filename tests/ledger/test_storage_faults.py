"""Whatever write or sync fails under a batch or a migration: nothing acknowledged is lost, and the file stays sound."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.ledger.check import problems
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.schema import Migration, shipped
from hindbrain.ledger.store import Ledger, suspect_mark
from tests.ledger.faulty import Fault, FaultyDisk, open_on
from tests.ledger.making import batch, event, place_event, record

CLOCK = ManualClock()
FAULTS: tuple[Fault, ...] = ("error", "full", "half")
NEXT = shipped()[-1].number + 1
MORE = Migration(NEXT, "more", "CREATE TABLE more (x TEXT) STRICT;\nINSERT INTO more SELECT text FROM turns;\n"
                 "CREATE INDEX more_x ON more (x);\n")  # fmt: skip


def part(number: int) -> Batch:
    """One of several batches, each with every kind of row."""
    start = 1000 * number
    turns = [record(start + 10 * n, event(key=f"{number}-{n}", text=f"batch{number} " * 300)) for n in range(8)]
    notice = record(start + 500, event(kind="notice", key=f"n{number}"), meta={"r": "a:1"})
    place = record(start + 510, place_event("/p", "path:/p", number))
    return batch(*turns, notice, place, x=start + 999)


PARTS = [part(number) for number in range(4)]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The content a ledger has once all batches are in."""
    with Ledger.open(tmp_path_factory.mktemp("whole") / "ledger.db", CLOCK) as ledger:
        for each in PARTS:
            ledger.ingest(each)
        return fingerprint(ledger)


@pytest.fixture(scope="module")
def disk() -> FaultyDisk:
    return FaultyDisk()


@pytest.fixture(scope="module")
def with_one(empty_ledger: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger that holds the first batch."""
    path = tmp_path_factory.mktemp("one") / "ledger.db"
    shutil.copyfile(empty_ledger, path)
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(PARTS[0])
    return path


def ingest_rest(disk: FaultyDisk, path: Path, at: int, fault: Fault) -> int:
    """Take in the other batches with one fault armed; how many batches were acknowledged, the first included."""
    disk.arm(-1, fault)
    ledger = open_on(disk, path, CLOCK)
    acknowledged = 1
    disk.arm(at, fault)
    try:
        with contextlib.suppress(LedgerError):
            for each in PARTS[1:]:
                ledger.ingest(each)
                acknowledged += 1
            ledger.checkpoint()
    finally:
        with contextlib.suppress(LedgerError):
            ledger.close()
    return acknowledged


def survives(path: Path, acknowledged: int, whole: dict[str, str]) -> None:
    """Opened by plain SQLite the file is sound, holds whole batches only, and all that was acknowledged."""
    with Ledger.open(path, CLOCK) as ledger:
        assert problems(ledger) == []
        turns = ledger.counts().turns
        assert turns % 8 == 0
        assert turns >= 8 * acknowledged
        reached = ledger.cursor("segment:x")
        assert reached == 1000 * (turns // 8 - 1) + 999
        for each in PARTS:
            ledger.ingest(each)
        assert fingerprint(ledger) == whole
    assert not suspect_mark(path).exists()


def sweep(disk: FaultyDisk, original: Path, directory: Path, whole: dict[str, str], step: int) -> int:
    """A fault at every step-th write and sync of ingesting; how many cases there were."""
    path = directory / "ledger.db"
    shutil.copyfile(original, path)
    assert ingest_rest(disk, path, -1, "error") == len(PARTS)
    calls, cases = disk.calls, 0
    assert calls > 50
    for fault in FAULTS:
        refused = 0
        for at in range(0, calls, step):
            for old in directory.iterdir():
                old.unlink()
            shutil.copyfile(original, path)
            acknowledged = ingest_rest(disk, path, at, fault)
            survives(path, acknowledged, whole)
            refused += acknowledged < len(PARTS)
            cases += 1
        assert refused > 0, f"no {fault} was ever noticed: the faults do not reach SQLite"
    return cases


def test_a_fault_while_taking_batches_in_loses_nothing(
    disk: FaultyDisk, with_one: Path, tmp_path: Path, whole: dict[str, str]
) -> None:
    assert sweep(disk, with_one, tmp_path, whole, step=23) >= 9


@pytest.mark.slow
def test_a_fault_at_every_write_and_sync_of_taking_batches_in_loses_nothing(
    disk: FaultyDisk, with_one: Path, tmp_path: Path, whole: dict[str, str]
) -> None:
    assert sweep(disk, with_one, tmp_path, whole, step=1) >= 150


def migrate_with(disk: FaultyDisk, path: Path, at: int, fault: Fault) -> bool:
    disk.arm(at, fault)
    try:
        ledger = open_on(disk, path, CLOCK, (*shipped(), MORE))
    except LedgerError:
        return False
    with contextlib.suppress(LedgerError):
        ledger.close()
    return True


def migration_sweep(disk: FaultyDisk, original: Path, directory: Path, step: int) -> int:
    path = directory / "ledger.db"
    shutil.copyfile(original, path)
    with Ledger.open(path, CLOCK) as ledger:
        wanted = fingerprint(ledger)
    assert migrate_with(disk, path, -1, "error")
    calls, cases = disk.calls, 0
    for fault in FAULTS:
        for at in range(0, calls, step):
            for old in directory.iterdir():
                old.unlink()
            shutil.copyfile(original, path)
            done = migrate_with(disk, path, at, fault)
            with contextlib.closing(sqlite3.connect(path)) as connection:
                assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
                numbers = {number for (number,) in connection.execute("SELECT number FROM migrations")}
            # the state before or the state after, nothing between
            assert ({"more", "more_x"} & tables, NEXT in numbers) in (({"more", "more_x"}, True), (set(), False))
            assert NEXT in numbers or not done
            with Ledger.open(path, CLOCK, migrations=(*shipped(), MORE)) as ledger:
                assert fingerprint(ledger) == wanted
                assert ledger.connection.execute("SELECT count(*) FROM more").fetchone() == (8,)
            cases += 1
    return cases


def test_a_fault_while_migrating_leaves_the_state_before_or_after(disk: FaultyDisk, with_one: Path, tmp_path: Path) -> None:
    assert migration_sweep(disk, with_one, tmp_path, step=9) >= 3


@pytest.mark.slow
def test_a_fault_at_every_write_and_sync_of_migrating_leaves_the_state_before_or_after(
    disk: FaultyDisk, with_one: Path, tmp_path: Path
) -> None:
    assert migration_sweep(disk, with_one, tmp_path, step=1) >= 20
