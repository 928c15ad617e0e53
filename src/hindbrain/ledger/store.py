"""A file -> a Ledger: the one object through which evidence is written and read.

Writes happen in Ledger.ingest, each in one transaction. After an error that leaves open what reached the disk, the
ledger takes no more writes, and a mark next to the file has it checked before it is trusted again.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final, Self

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerBusy, LedgerDamaged, LedgerError, LedgerNotReady, StorageError
from hindbrain.base.files import read_private, replace_file
from hindbrain.ledger import connect, forget, ingest, schema
from hindbrain.ledger.backup import copy_to
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch, Ingested, Then
from hindbrain.ledger.schema import Migration

BUSY_MS: Final = 5_000
# A reader that holds its snapshot keeps the -wal file from being emptied. Beyond this size no more is written to it:
# the journal has every event, so waiting costs nothing.
WAL_LIMIT_BYTES: Final = 256 << 20
SUSPECT_SUFFIX: Final = ".suspect"
_SWAP: Final = b"swap "


class Ledger(Evidence):
    """Sessions, turns and what belongs to them, in one SQLite file. Made with Ledger.open, ended with close."""

    def __init__(
        self, connection: sqlite3.Connection, path: Path, clock: Clock, *,
        read_only: bool, created: bool, busy_ms: int, wal_limit: int, migrations: Sequence[Migration],
    ) -> None:  # fmt: skip
        self.connection = connection
        self.path = path
        self.read_only = read_only
        self.created = created  # the file was made by this call: whoever has archives will want a rebuild
        self.migrations = migrations
        self._clock = clock
        self._busy_ms = busy_ms
        self._wal_limit = wal_limit
        self._failed = ""

    @classmethod
    def open(
        cls, path: Path, clock: Clock, *, read_only: bool = False, busy_ms: int = BUSY_MS,
        wal_limit: int = WAL_LIMIT_BYTES, migrations: Sequence[Migration] | None = None,
    ) -> Self:  # fmt: skip
        """Open the ledger at `path`, made and brought to the newest schema if need be. A refusal changes nothing."""
        created = connect.claim_file(path, create=not read_only)
        ledger = cls(
            connect.connect(path, read_only=read_only, busy_ms=busy_ms), path, clock,
            read_only=read_only, created=created, busy_ms=busy_ms, wal_limit=wal_limit,
            migrations=schema.shipped() if migrations is None else migrations,
        )  # fmt: skip
        try:
            with ledger.translating():
                ledger._prepare()
        except BaseException:
            ledger.connection.close()
            raise
        return ledger

    def close(self) -> None:
        """Give the file back; the last one to do so folds the write-ahead log in."""
        with self.translating():
            self.connection.close()

    def _prepare(self) -> None:
        waiting = schema.outstanding(schema.applied(self.connection), self.migrations)
        connect.set_up(self.connection, read_only=self.read_only, busy_ms=self._busy_ms)
        if self.read_only:
            if waiting:
                found = f"the ledger {self.path} waits for migration {waiting[0].number}"
                raise LedgerNotReady(found, fresh=waiting[0] == self.migrations[0])
            return
        self._check_if_suspect()
        self.migrate()

    def _check_if_suspect(self) -> None:
        mark = suspect_mark(self.path)
        told = read_private(mark, limit=1 << 16)
        if told is None:
            return
        if told.startswith(_SWAP) and Path(os.fsdecode(told[len(_SWAP) :])).exists():
            raise LedgerDamaged(f"the ledger {self.path} is not whole: a rebuild was cut off while putting it in place")
        found = [str(row[0]) for row in self.connection.execute("PRAGMA integrity_check(5)")]
        if found != ["ok"]:
            raise LedgerDamaged(f"the ledger {self.path} is not sound after a storage error: {found[0]}")
        mark.unlink(missing_ok=True)

    def migrate(self) -> list[int]:
        """Run what is outstanding, each migration in a transaction of its own; gives back their numbers.

        An existing ledger is copied aside first, under the same lock, so nobody writes between copy and migration.
        """
        done: list[int] = []
        while schema.outstanding(schema.applied(self.connection), self.migrations):
            with self.writing("EXCLUSIVE"):
                before = schema.applied(self.connection)
                waiting = schema.outstanding(before, self.migrations)
                if not waiting:  # another process was quicker
                    break
                if before and not done:
                    copy_to(self.path, self.path.with_name(f"{self.path.name}.before-{waiting[0].number:04d}"))
                schema.apply(self.connection, waiting[0], self._clock.now_ms())
            done.append(waiting[0].number)
        return done

    @contextlib.contextmanager
    def translating(self) -> Iterator[None]:
        """Turn SQLite's errors into ours, and remember the ones after which the file cannot be trusted unseen."""
        try:
            yield
        except sqlite3.Error as error:
            if connect.is_suspect(error) and not self.read_only:
                self._failed = str(error)
                self._leave_mark(str(error))
            raise connect.translated(error, self.path) from error
        except UnicodeDecodeError as error:  # SQLite's message holds a name, and that name is no text: the schema is damaged
            raise LedgerDamaged(f"the ledger {self.path} is not sound: {error.object!r}") from error

    def _leave_mark(self, reason: str) -> None:
        try:
            replace_file(suspect_mark(self.path), f"{self._clock.now_ms()} {reason}\n".encode())
        except (StorageError, OSError):
            pass  # the disk that just failed may refuse this too; the error itself is on its way to the caller

    def _refuse_if_failed(self) -> None:
        if self._failed:
            found = f"the ledger {self.path} takes no writes after a storage error: {self._failed}"
            raise LedgerError(found, hint="open it again; it is checked then")

    @contextlib.contextmanager
    def writing(self, mode: str = "IMMEDIATE") -> Iterator[sqlite3.Connection]:
        """A write transaction: all of the block, or nothing of it."""
        self._refuse_if_failed()
        with self.translating():
            self.connection.execute(f"BEGIN {mode}")
            try:
                yield self.connection
                self.connection.execute("COMMIT")
            except BaseException:
                self._roll_back()
                raise

    def transaction(self) -> contextlib.AbstractContextManager[sqlite3.Connection]:
        """A write transaction for what is not evidence; SQLite has one writer at a time either way."""
        return self.writing()

    def run_alone(self, sql: str, parameters: Any = ()) -> tuple[list[Any], int]:
        """One statement as a transaction of its own; SQLite commits it when its last row was fetched."""
        self._refuse_if_failed()
        with self.translating():
            done = self.connection.execute(sql, parameters)
            return done.fetchall(), done.rowcount

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent view for several queries; keep it short, it holds the write-ahead log. Inside another it is that one."""
        with self.translating():
            if self.connection.in_transaction:
                yield self.connection
                return
            self.connection.execute("BEGIN")
            try:
                yield self.connection
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            # should this fail too, the error that brought us here says more; SQLite drops the transaction at close
            with contextlib.suppress(sqlite3.Error):
                self.connection.execute("ROLLBACK")

    def ingest(self, batch: Batch, then: Then | None = None) -> Ingested:
        """Take a batch in: all of it, cursors and what follows from it included, or none. Taking it in again changes nothing."""
        self._keep_wal_bounded()
        with self.translating():
            connect.fit_log(self.connection)
        with self.writing() as connection:
            done = ingest.write(connection, batch, self._clock.now_ms())
            if then is not None:
                then(connection, done)
            return done

    def _keep_wal_bounded(self) -> None:
        if self.wal_bytes() <= self._wal_limit:
            return
        self.checkpoint()
        if self.wal_bytes() > self._wal_limit:
            raise LedgerBusy(
                f"a reader keeps the write-ahead log of {self.path} from being emptied: {self.wal_bytes()} bytes",
                hint="end the program that reads the ledger; capturing goes on meanwhile",
            )

    def wal_bytes(self) -> int:
        """Size of the write-ahead log."""
        try:
            return self.path.with_name(self.path.name + "-wal").stat().st_size
        except FileNotFoundError:
            return 0

    def checkpoint(self) -> bool:
        """Fold the write-ahead log into the main file and empty it; False when a reader or writer is in the way."""
        with self.translating():
            busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            if not busy:
                busy, *_ = self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            return not busy

    def scrub(self) -> None:
        """Remove what forgotten text left in free pages and old index entries; nobody else may be writing."""
        with self.translating():
            forget.scrub(self.connection)


def suspect_mark(path: Path) -> Path:
    """The file that has a ledger checked at its next opening."""
    return path.with_name(path.name + SUSPECT_SUFFIX)


def swap_text(new: Path) -> bytes:
    """What the mark says while `new` is being put in the ledger's place; once `new` has no name, that is done."""
    return _SWAP + os.fsencode(new.absolute())
