"""A file system that fails on command, under the real SQLite: an apsw VFS, and a connection that looks like sqlite3's.

apsw brings its own SQLite. The ledger's code runs on it unchanged, so every write and sync SQLite does for a batch or a
migration can be made to fail: with an error, as a full disk, or after half the bytes.
"""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import apsw

from hindbrain.base.clock import Clock
from hindbrain.ledger import connect
from hindbrain.ledger.schema import Migration, shipped
from hindbrain.ledger.store import BUSY_MS, WAL_LIMIT_BYTES, Ledger

Fault = Literal["error", "full", "half"]
_numbers = itertools.count()


class FaultyDisk(apsw.VFS):
    """Counts writes and syncs; the one with the number `at` fails. A full disk stays full."""

    def __init__(self) -> None:
        self.name = f"faulty{next(_numbers)}"
        self.calls = 0
        self.at = -1
        self.fault: Fault = "error"
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:
        return _FaultyFile(self, name, flags)

    def arm(self, at: int, fault: Fault) -> None:
        self.calls, self.at, self.fault = 0, at, fault

    def due(self) -> bool:
        self.calls += 1
        number = self.calls - 1
        return self.at >= 0 and (number == self.at or (self.fault == "full" and number > self.at))


class _FaultyFile(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._disk = disk
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        if not self._disk.due():
            super().xWrite(data, offset)
            return
        if self._disk.fault == "half":
            super().xWrite(bytes(data)[: len(data) // 2], offset)
        raise apsw.FullError("full") if self._disk.fault == "full" else apsw.IOError("failed")

    def xSync(self, flags: int) -> None:
        if self._disk.due() and self._disk.fault != "full":
            raise apsw.IOError("failed")
        super().xSync(flags)


class _Rows:
    """A finished statement."""

    def __init__(self, rows: list[tuple[Any, ...]], rowcount: int) -> None:
        self._rows = rows
        self.rowcount = rowcount

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._rows[0] if self._rows else None

    def fetchall(self) -> list[tuple[Any, ...]]:
        return self._rows

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._rows)


class FaultyConnection:
    """The part of sqlite3.Connection that the ledger uses, on apsw."""

    def __init__(self, path: Path, disk: FaultyDisk) -> None:
        flags = apsw.SQLITE_OPEN_READWRITE
        self._connection = apsw.Connection(str(path), flags=flags, vfs=disk.name)
        # a VFS written in Python has no shared memory; with the lock held for good, WAL does without
        self.execute("PRAGMA locking_mode = EXCLUSIVE")

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    def execute(self, sql: str, values: tuple[Any, ...] = ()) -> _Rows:
        try:
            before = self._connection.total_changes()
            rows = list(self._connection.execute(sql, values))
            return _Rows(rows, self._connection.total_changes() - before)
        except apsw.Error as error:
            raise _as_sqlite3(error) from error

    def executemany(self, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        try:
            self._connection.executemany(sql, rows)
        except apsw.Error as error:
            raise _as_sqlite3(error) from error

    def close(self) -> None:
        try:
            self._connection.close()
        except apsw.Error as error:
            raise _as_sqlite3(error) from error


def _as_sqlite3(error: apsw.Error) -> sqlite3.OperationalError:
    raised = sqlite3.OperationalError(str(error))
    raised.sqlite_errorcode = error.extendedresult if hasattr(error, "extendedresult") else 1
    return raised


def open_on(disk: FaultyDisk, path: Path, clock: Clock, migrations: tuple[Migration, ...] | None = None) -> Ledger:
    """Ledger.open, on a faulty disk; a fault may come at any step of it."""
    created = connect.claim_file(path, create=True)
    connection: Any = FaultyConnection(path, disk)
    ledger = Ledger(
        connection, path, clock, read_only=False, created=created, busy_ms=BUSY_MS, wal_limit=WAL_LIMIT_BYTES,
        migrations=shipped() if migrations is None else migrations,
    )  # fmt: skip
    try:
        with ledger.translating():
            ledger._prepare()
    except BaseException:
        connection.close()
        raise
    return ledger
