"""A ledger is opened only where it is safe, stays private, and says what is wrong when it cannot be used."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerBusy, LedgerDamaged, LedgerError, UnsafePath
from hindbrain.ledger import connect
from hindbrain.ledger.store import Ledger, suspect_mark
from tests.ledger.making import batch, event, record

CLOCK = ManualClock()


def modes(directory: Path) -> dict[str, int]:
    return {path.name: stat.S_IMODE(path.stat().st_mode) for path in directory.iterdir()}


@pytest.mark.parametrize("mask", [0o000, 0o077, 0o777], ids=oct)
def test_every_file_is_private_whatever_the_umask(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        with Ledger.open(tmp_path / "ledger.db", CLOCK) as ledger:
            ledger.ingest(batch(record(0, event())))
            assert modes(tmp_path) == {"ledger.db": 0o600, "ledger.db-wal": 0o600, "ledger.db-shm": 0o600}
    finally:
        os.umask(before)
    assert modes(tmp_path) == {"ledger.db": 0o600}


def test_a_ledger_others_could_read_is_made_private(tmp_path: Path, empty_ledger: Path) -> None:
    path = tmp_path / "ledger.db"
    shutil.copyfile(empty_ledger, path)
    path.chmod(0o644)
    Ledger.open(path, CLOCK).close()
    assert modes(tmp_path) == {"ledger.db": 0o600}


def plant_link(path: Path) -> None:
    path.symlink_to(path.with_name("elsewhere"))


def plant_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def plant_stranger(path: Path) -> None:
    path.touch()
    os.chown(path, 12345, 12345)


PLANTED = {"link": plant_link, "directory": Path.mkdir, "fifo": os.mkfifo, "socket": plant_socket, "stranger": plant_stranger}


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
@pytest.mark.parametrize("kind", PLANTED)
def test_what_is_not_a_plain_file_of_ours_is_refused_and_left_alone(
    tmp_path: Path, empty_ledger: Path, kind: str, suffix: str
) -> None:
    if kind == "stranger" and os.geteuid() != 0:
        pytest.skip("only root can give a file away")
    path = tmp_path / "ledger.db"
    if suffix:
        shutil.copyfile(empty_ledger, path)
    planted = tmp_path / f"ledger.db{suffix}"
    PLANTED[kind](planted)  # type: ignore[operator]
    before = planted.lstat()
    with pytest.raises(UnsafePath, match="ledger"):
        Ledger.open(path, CLOCK)
    after = planted.lstat()
    for name in ("st_ino", "st_mode", "st_uid", "st_size", "st_mtime_ns"):
        assert getattr(after, name) == getattr(before, name)
    assert not (tmp_path / "elsewhere").exists()


def test_a_file_that_is_no_database_is_called_damaged_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    path.write_bytes(b"these are not the pages you are looking for " * 500)
    before = path.read_bytes()
    with pytest.raises(LedgerDamaged):
        Ledger.open(path, CLOCK)
    assert path.read_bytes() == before


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(LedgerError, match="another program"):
        Ledger.open(path, CLOCK)
    assert path.read_bytes() == before


def test_reading_needs_a_ledger_and_never_writes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with pytest.raises(LedgerError, match="there is no ledger"):
        Ledger.open(path, CLOCK, read_only=True)
    assert not path.exists()
    with Ledger.open(path, CLOCK) as writer:
        assert writer.created
        writer.ingest(batch(record(0, event(text="seen by readers"))))
        with Ledger.open(path, CLOCK, read_only=True) as reader:
            assert [hit.text for hit in reader.search("readers")] == ["seen by readers"]
            with pytest.raises(LedgerError):
                reader.ingest(batch(record(10, event(key="k2"))))
    with Ledger.open(path, CLOCK) as again:
        assert not again.created
        assert again.counts().turns == 1


def test_a_path_with_odd_characters_is_the_path_that_is_used(tmp_path: Path) -> None:
    path = tmp_path / "ho me?mode=memory&x#%41\u00fc" / "ledger.db"
    path.parent.mkdir()
    Ledger.open(path, CLOCK).close()
    assert path.stat().st_size > 0


def test_a_directory_that_is_not_there_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="cannot create") as caught:
        Ledger.open(tmp_path / "none" / "ledger.db", CLOCK)
    assert type(caught.value).__module__ == "hindbrain.base.errors"


_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute(sys.argv[2])
held.execute("SELECT count(*) FROM turns").fetchall()
print("held", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(path: Path, begin: str) -> Iterator[None]:
    """Holds a transaction of the given kind until the block ends."""
    command = [sys.executable, "-c", _HOLD, str(path), begin]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "held\n"
        try:
            yield
        finally:
            process.communicate()


def test_a_writer_waits_for_another_process_and_then_says_busy(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK, busy_ms=50) as ledger:
        ledger.ingest(batch(record(0, event()), x=10))
        with another_process(path, "BEGIN IMMEDIATE"):
            with pytest.raises(LedgerBusy):
                ledger.ingest(batch(record(10, event(key="k2")), x=20))
            assert ledger.counts().turns == 1  # reading goes on
            assert ledger.cursor("segment:x") == 10
        assert ledger.ingest(batch(record(10, event(key="k2")), x=20)).turns_new == 1


def test_a_long_reader_cannot_make_the_write_ahead_log_grow_without_bound(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    limit = 1 << 20
    with Ledger.open(path, CLOCK, busy_ms=50, wal_limit=limit) as ledger:
        with another_process(path, "BEGIN"):
            with pytest.raises(LedgerBusy, match="reader"):
                for number in range(1_000):
                    ledger.ingest(batch(record(10 * number, event(key=str(number), text=f"word{number} " * 10_000))))
            assert ledger.wal_bytes() < 2 * limit
            assert number < 900
        assert ledger.ingest(batch(record(10 * number, event(key=str(number))))).turns_new == 1
        assert ledger.wal_bytes() < limit
        assert ledger.checkpoint()
        assert ledger.wal_bytes() == 0


def test_after_a_storage_error_the_ledger_is_checked_before_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event())))
    suspect_mark(path).write_bytes(b"1 disk I/O error\n")
    suspect_mark(path).chmod(0o600)
    with Ledger.open(path, CLOCK) as ledger:
        assert ledger.counts().turns == 1
    assert not suspect_mark(path).exists()


def test_damage_met_at_work_stops_writing_and_leaves_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "ledger.db"
    with Ledger.open(path, CLOCK) as ledger:
        ledger.ingest(batch(*(record(10 * number, event(key=str(number), text=f"w{number} " * 200)) for number in range(500))))
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(2, size // 4096):
            file.seek(page * 4096)
            file.write(b"\xff" * 64)
    with pytest.raises(LedgerDamaged):
        with Ledger.open(path, CLOCK) as ledger:
            ledger.ingest(batch(record(9_990, event(key="new"))))
    assert suspect_mark(path).exists()
    with pytest.raises(LedgerDamaged):
        Ledger.open(path, CLOCK)


def test_after_a_storage_error_nothing_is_written_in_any_way(tmp_path: Path) -> None:
    """A transaction and a statement of its own are two ways to write; both end until the ledger is opened, and checked, again."""
    path = tmp_path / "ledger.db"
    put = "INSERT INTO meta (key, value) VALUES ('k', 'v')"
    failure = sqlite3.OperationalError("disk I/O error")
    failure.sqlite_errorcode = sqlite3.SQLITE_IOERR
    with Ledger.open(path, CLOCK) as ledger:
        with pytest.raises(LedgerError), ledger.translating():
            raise failure
        with pytest.raises(LedgerError, match="takes no writes"):
            ledger.run_alone(put)
        with pytest.raises(LedgerError, match="takes no writes"), ledger.writing():
            pass
    with Ledger.open(path, CLOCK) as ledger:
        assert ledger.meta("k") == ""
        ledger.run_alone(put)
        assert ledger.meta("k") == "v"


def test_the_write_ahead_log_may_grow_with_the_ledger_and_is_bounded(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "l.db", isolation_level=None)) as connection:
        connection.execute("PRAGMA page_size = 512")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE filled (blank BLOB)")
        bounds = []
        for size in (0, 60_000_000, 200_000_000):
            connection.execute("INSERT INTO filled VALUES (zeroblob(?))", (size,))
            connect.fit_log(connection)
            named = ("page_count", "wal_autocheckpoint", "journal_size_limit")
            pages, bound, kept = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in named)
            bounds.append((pages, bound))
            assert kept > bound * connect.PAGE_BYTES  # cut back further, every commit would extend it anew
    (_, least), (pages, grown), (_, most) = bounds
    assert least == connect.FEWEST_LOG_PAGES < grown == pages // connect.LOG_SHARE < most == connect.MOST_LOG_PAGES


def test_a_batch_sets_the_bound_of_the_write_ahead_log_anew(tmp_path: Path) -> None:
    """A worker that opened a small ledger may fill it for days."""
    with Ledger.open(tmp_path / "ledger.db", ManualClock()) as ledger:
        ledger.connection.execute("PRAGMA wal_autocheckpoint = 7")
        ledger.ingest(batch(record(0, event())))
        assert ledger.connection.execute("PRAGMA wal_autocheckpoint").fetchone() == (connect.FEWEST_LOG_PAGES,)
