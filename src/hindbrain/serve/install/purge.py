"""A home -> nothing, after it was made sure that it is one.

Only a directory in which every name is one of ours is removed: a data directory that was set to a folder of yours by
mistake has to survive this.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LockTimeout, StorageError, UnsafePath
from hindbrain.base.files import Lock, storage_error, sync_directory
from hindbrain.base.home import Home
from hindbrain.capture.launcher import LAUNCHER
from hindbrain.serve import daemon, status

# Beside what Home names: files the worker, the hook and the tools make on their own.
_OTHERS: Final = re.compile(
    r"hook\.py|config\.toml|lost(\.unloaded)?|machine\.lock|worker\.(lock|start)|wake\.replaced-\d+|ledger[.\w-]*|ask|prepared|__pycache__|\..*\.tmp|\.backup-.*"
)
_WAIT_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be gone."""

    home: Path
    files: int
    bytes: int
    backups: int
    sessions: int | None  # None when the ledger cannot be read
    turns: int | None


def look(home: Home, clock: Clock, environ: Mapping[str, str]) -> Preview | None:
    """What is there; None when there is no home. Raises UnsafePath for a directory that is not one."""
    if not home.root.is_dir():
        return None
    _check(home, environ)
    sizes = [os.lstat(os.path.join(folder, name)).st_size for folder, _, names in os.walk(home.root) for name in names]
    backups = len(list(home.backups.iterdir())) if home.backups.is_dir() else 0
    try:
        stored = status.look(home, clock).stored
    except HindbrainError:  # a damaged ledger is a reason to remove it, not to keep it
        return Preview(home.root, len(sizes), sum(sizes), backups, None, None)
    return Preview(home.root, len(sizes), sum(sizes), backups, stored.sessions, stored.turns)


def _check(home: Home, environ: Mapping[str, str]) -> None:
    hint = "nothing was removed; remove it by hand if you are sure"
    root = Path(os.path.realpath(home.root))
    for place in filter(None, (environ.get("HOME", ""), os.path.expanduser("~"))):
        yours = Path(os.path.realpath(place))
        if root in (yours, *yours.parents):
            raise UnsafePath(f"{home.root} is not a data directory: it holds your own directory", path=str(root), hint=hint)
    if root.stat().st_uid != os.geteuid():
        raise UnsafePath(f"{home.root} belongs to user {root.stat().st_uid}, not to you", path=str(root), hint=hint)
    ours = {getattr(home, name).name for name, value in vars(Home).items() if isinstance(value, property)}
    names = {path.name for path in root.iterdir()}
    strange = sorted(name for name in names if name not in ours and not _OTHERS.fullmatch(name))
    if strange:
        found = ", ".join(strange[:3])
        raise UnsafePath(f"{home.root} is not a data directory alone: it holds {found}", path=str(root), hint=hint)
    if not names & {LAUNCHER, "journal", "ledger.db", "config.toml", "install"}:
        raise UnsafePath(f"{home.root} does not look like a data directory", path=str(root), hint=hint)


def remove(home: Home, environ: Mapping[str, str]) -> None:
    """Stop the worker and remove everything."""
    daemon.stop(home.root)
    lock = Lock(home.worker_lock)
    if not lock.acquire(timeout=_WAIT_SECONDS):  # or a hook could start the next worker into a directory that is going
        raise LockTimeout(f"{home.worker_lock} is held by another process", path=str(home.worker_lock))
    try:
        _check(home, environ)
        root = Path(os.path.realpath(home.root))
        gone = root.with_name(f".{root.name}.removed-{os.getpid()}")
        root.rename(gone)  # at once: a hook that comes now finds no home, not half of one
        shutil.rmtree(gone)
        if home.root.is_symlink():
            home.root.unlink()
        sync_directory(root.parent)
    except OSError as error:
        raise storage_error("remove", error.filename or home.root, error) from error
    finally:
        lock.release()
    if home.root.exists():
        raise StorageError(f"{home.root} is there again", path=str(home.root), hint="end running agent sessions, then try again")
