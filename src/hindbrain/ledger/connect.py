"""A path -> an SQLite connection set up for durability, on a file that is safely ours.

Existing files are looked at with lstat and never opened here: closing a second descriptor of a database would drop the
POSIX locks that another connection of this process holds on it. SQLite gives -wal and -shm the mode of the main file.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
import time
from pathlib import Path
from typing import Final

from hindbrain.base.errors import LedgerBusy, LedgerDamaged, LedgerError, StorageError, UnsafePath
from hindbrain.base.files import PRIVATE_FILE, open_private, storage_error, sync_directory

OLDEST_SQLITE: Final = (3, 37, 0)  # STRICT tables
SIDE_FILES: Final = ("-wal", "-shm", "-journal")
PAGE_BYTES: Final = 4096
# How many pages the write-ahead log grows to before it is folded in. The index of turn ids is written all over: in a large
# ledger nearly every turn changes another of its pages, and a longer log has each of them written back once for several changes
# (at a million turns 95 instead of 133 microseconds a turn). So the log is bounded by a twelfth of the ledger, within reason.
FEWEST_LOG_PAGES: Final = 8_000
MOST_LOG_PAGES: Final = 32_000
LOG_SHARE: Final = 12
# What the -wal file is cut back to after a checkpoint: half as much again as it grows to before one. Cut back further, commits
# would extend it anew each time, and a sync that extends a file takes at least twice as long as one that overwrites.
KEPT_LOG_BYTES_A_PAGE: Final = PAGE_BYTES * 3 // 2

_SETTINGS: Final = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA synchronous = FULL",  # NORMAL loses acknowledged commits at a power cut
    "PRAGMA fullfsync = ON",  # macOS: plain fsync stops at the drive's cache; no effect elsewhere
    "PRAGMA temp_store = MEMORY",  # nothing of ours in /tmp
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA cache_size = -32768",
)

# What went wrong -> what to say. Extended codes share their low byte with the primary one.
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_DAMAGED: Final = {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT}
_HINTS: Final = {
    sqlite3.SQLITE_FULL: "free some disk space; what was captured stays in the journal",
    sqlite3.SQLITE_IOERR: "check the disk; the ledger is checked when it is next opened",
    sqlite3.SQLITE_READONLY: "make the ledger and its directory writable for you",
    sqlite3.SQLITE_CANTOPEN: "check that the directory exists and belongs to you",
    sqlite3.SQLITE_PERM: "check that the ledger belongs to you",
}
# After these nobody knows what reached the disk, so the file is checked before it is trusted again.
_SUSPECT: Final = _DAMAGED | {sqlite3.SQLITE_IOERR}


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's primary result code, 0 when the error came from Python's side."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def is_suspect(error: sqlite3.Error) -> bool:
    """Whether the file must be checked before it is used again."""
    return primary_code(error) in _SUSPECT


def translated(error: sqlite3.Error, path: Path) -> LedgerError:
    """The error to raise for one of SQLite's."""
    code = primary_code(error)
    if code in _BUSY:
        return LedgerBusy(f"the ledger {path} is in use by another process: {error}")
    if code in _DAMAGED:
        return LedgerDamaged(f"the ledger {path} is not sound: {error}")
    return LedgerError(f"the ledger {path} could not do its work: {error}", hint=_HINTS.get(code, ""))


def claim_file(path: Path, *, create: bool) -> bool:
    """Make sure that `path` and its side files are plain files of ours, 0600; True when the file had to be made."""
    for suffix in SIDE_FILES:
        _own(path.with_name(path.name + suffix))
    if _own(path):
        return False
    if not create:
        raise LedgerError(f"there is no ledger at {path}", hint="it is made when the worker first runs")
    try:
        os.close(open_private(path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except FileNotFoundError as error:
        raise storage_error("create", path, error) from error
    except StorageError as error:  # another process was quicker; its file must pass the same test
        if error.errno != errno.EEXIST or not _own(path):
            raise
        return False
    sync_directory(path.parent)
    return True


def _own(path: Path) -> bool:
    try:
        found = path.lstat()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise storage_error("look at", path, error) from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a plain file"
        raise UnsafePath(f"{path} is {kind}", path=str(path))
    if found.st_uid != os.geteuid():
        raise UnsafePath(f"{path} belongs to user {found.st_uid}, not to you", path=str(path))
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(PRIVATE_FILE)
    return True


def connect(path: Path, *, read_only: bool, busy_ms: int) -> sqlite3.Connection:
    """A connection without implicit transactions; nothing has been read or written yet."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise LedgerError(
            f"SQLite {sqlite3.sqlite_version} is too old: {'.'.join(map(str, OLDEST_SQLITE))} or newer is needed",
            hint="use a Python built with a newer SQLite",
        )
    uri = f"{path.absolute().as_uri()}?mode={'ro' if read_only else 'rw'}"
    try:
        # a connection serves one thread, but whoever ends the program's work may close those of all threads
        return sqlite3.connect(uri, uri=True, timeout=busy_ms / 1000, isolation_level=None, check_same_thread=False)
    except sqlite3.Error as error:
        raise translated(error, path) from error


def set_up(connection: sqlite3.Connection, *, read_only: bool, busy_ms: int) -> None:
    """Bring a connection whose file is known to be ours into the state every query relies on."""
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")  # has an effect on a new file only
    for setting in _SETTINGS:
        connection.execute(setting)
    if read_only:
        connection.execute("PRAGMA query_only = ON")
    else:
        _use_wal(connection, busy_ms)
        fit_log(connection)


def fit_log(connection: sqlite3.Connection) -> None:
    """Let the write-ahead log grow as the ledger has grown."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    most = min(max(pages // LOG_SHARE, FEWEST_LOG_PAGES), MOST_LOG_PAGES)
    connection.execute(f"PRAGMA wal_autocheckpoint = {most}")
    connection.execute(f"PRAGMA journal_size_limit = {most * KEPT_LOG_BYTES_A_PAGE}")


def _use_wal(connection: sqlite3.Connection, busy_ms: int) -> None:
    """SQLite does not wait by itself when two connections turn WAL on at once, so this does."""
    deadline = time.monotonic() + busy_ms / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if primary_code(error) not in _BUSY or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
