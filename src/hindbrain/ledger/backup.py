"""A live ledger -> a copy of one moment in one file, checked before it is called a backup.

SQLite's online backup reads one snapshot while others go on writing. The copy is made under a temporary name and takes
its own only once it is whole, sound and on the disk.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from hindbrain.base.errors import LedgerDamaged
from hindbrain.base.files import open_private, storage_error, sync, sync_directory
from hindbrain.ledger import connect

if TYPE_CHECKING:
    from hindbrain.ledger.store import Ledger


def backup_to(ledger: Ledger, dest: Path) -> None:
    """Put a checked copy of the ledger at `dest`, 0600, in place of what was there."""
    copy_to(ledger.path, dest)


def copy_to(path: Path, dest: Path) -> None:
    """backup_to, by path. Raises LedgerDamaged when the copy is not sound; `dest` is then left as it was."""
    part = dest.with_name(f"{dest.name}.part")
    try:
        part.unlink(missing_ok=True)
        os.close(open_private(part, os.O_RDWR | os.O_CREAT | os.O_EXCL))
    except OSError as error:
        raise storage_error("create", part, error) from error
    try:
        with contextlib.closing(connect.connect(path, read_only=True, busy_ms=5_000)) as source:
            with contextlib.closing(connect.connect(part, read_only=False, busy_ms=5_000)) as target:
                source.backup(target)  # all pages in one step: one snapshot, and no writer can make it start again
                target.execute("PRAGMA journal_mode = DELETE")  # one file, no -wal beside it
                found = [str(row[0]) for row in target.execute("PRAGMA integrity_check(5)")]
        if found != ["ok"]:
            raise LedgerDamaged(f"the copy of {path} is not sound: {found[0]}")
        sync_file(part)
        part.replace(dest)
        sync_directory(dest.parent)
    except sqlite3.Error as error:
        raise connect.translated(error, path) from error
    except OSError as error:
        raise storage_error("write", dest, error) from error
    finally:
        part.unlink(missing_ok=True)


def sync_file(path: Path) -> None:
    """Force a database nobody has open to the disk."""
    descriptor = open_private(path, os.O_RDWR)
    try:
        sync(descriptor)
    finally:
        os.close(descriptor)
