"""A backup is one private, checked file of one moment, made while others write."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import HindbrainError, LedgerError
from hindbrain.ledger.backup import backup_to
from hindbrain.ledger.check import problems
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from tests.ledger.making import batch, event, record

CLOCK = ManualClock()


def test_a_backup_is_one_private_file_with_the_same_content(ledger: Ledger, tmp_path: Path) -> None:
    ledger.ingest(batch(*(record(10 * number, event(key=str(number))) for number in range(100))))
    backup_to(ledger, tmp_path / "copy.db")
    assert [path.name for path in tmp_path.iterdir()] == ["copy.db"]
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600
    wanted = fingerprint(ledger)
    ledger.ingest(batch(record(9_990, event(key="later"))))
    with Ledger.open(tmp_path / "copy.db", CLOCK) as copy:
        assert fingerprint(copy) == wanted
        assert problems(copy) == []


def test_a_backup_sees_only_what_was_committed(ledger: Ledger, tmp_path: Path) -> None:
    ledger.ingest(batch(record(0, event())))
    with Ledger.open(ledger.path, CLOCK) as other, other.writing() as connection:
        connection.execute("UPDATE turns SET text = 'unfinished'")
        backup_to(ledger, tmp_path / "copy.db")
    with Ledger.open(tmp_path / "copy.db", CLOCK) as copy:
        assert [hit.text for hit in copy.search("hello")] == ["hello"]


def test_a_newer_backup_takes_the_place_of_an_older_one(ledger: Ledger, tmp_path: Path) -> None:
    backup_to(ledger, tmp_path / "copy.db")
    ledger.ingest(batch(record(0, event())))
    backup_to(ledger, tmp_path / "copy.db")
    with Ledger.open(tmp_path / "copy.db", CLOCK) as copy:
        assert copy.counts().turns == 1


def test_a_backup_of_a_damaged_ledger_is_refused_and_the_old_one_kept(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(*(record(10 * number, event(key=str(number), text="x " * 500)) for number in range(300))))
        backup_to(ledger, tmp_path / "copy.db")
    before = (tmp_path / "copy.db").read_bytes()
    with path.open("r+b") as file:
        for page in range(path.stat().st_size // 4096 // 2, path.stat().st_size // 4096):
            file.seek(page * 4096)
            file.write(b"\xa5" * 4096)
    with Ledger.open(path, CLOCK, read_only=True) as ledger:
        with pytest.raises(LedgerError):
            backup_to(ledger, tmp_path / "copy.db")
    assert (tmp_path / "copy.db").read_bytes() == before
    assert not (tmp_path / "copy.db.part").exists()


def test_a_place_that_cannot_be_written_is_an_error_of_ours(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(HindbrainError):
        backup_to(ledger, tmp_path / "none" / "copy.db")
