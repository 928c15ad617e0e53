"""What was put into agents' settings -> a file in the home that says how to take it out again; and back.

It is written before the settings are, with the hashes the file has before and after: whichever of the two is found
later, a crash in between included, says how far the work had come.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from hindbrain.base.errors import StorageError
from hindbrain.base.files import Lock, ensure_private_dir, read_private, replace_file, storage_error, sync_directory
from hindbrain.base.home import Home
from hindbrain.serve.install.hooks import Traces
from hindbrain.serve.install.settings import SettingsFile

FORMAT: Final = 1
_MAX_BYTES: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class Record:
    """One settings file (or one plugin folder) that was changed."""

    agent: str
    scope: str  # user, project or plugin
    path: str  # as it was named; a link may lead elsewhere
    target: str
    launcher: str
    before: str | None  # sha256 of the file as it was; None when there was none
    after: tuple[str, ...]  # what we left, in any version; with one of these in place, `backup` is what was there
    backup: str = ""  # in install/backup; empty when there is nothing to go back to byte by byte
    added: tuple[str, ...] = ()
    traces: Traces = field(default_factory=Traces)
    made_directories: tuple[str, ...] = ()  # outermost first
    made_file: bool = False
    temporary: str = ""
    version: str = ""
    at_ms: int = 0


def path_of(home: Home) -> Path:
    return home.install / "manifest.json"


@contextlib.contextmanager
def held(home: Home) -> Iterator[None]:
    """One installer per home at a time."""
    ensure_private_dir(home.root)
    ensure_private_dir(home.install)
    with Lock(home.install / "lock"):
        yield


def load(home: Home) -> list[Record]:
    """Every record of this home; none when there is no manifest. Raises StorageError for one that cannot be understood.

    A home that was copied brought the records of the other one along. They are not its own as long as that one lives.
    """
    path = path_of(home)
    data = read_private(path, _MAX_BYTES)
    if data is None:
        return []
    try:
        document = json.loads(data)
        if document["format"] != FORMAT:
            raise ValueError(f"its format is {document['format']!r}")
        records = [_record(entry) for entry in document["installed"]]
    except (ValueError, KeyError, TypeError) as error:
        hint = "it was written by another version, or damaged; move it away and hooks are found without it"
        raise StorageError(f"cannot understand {path}: {error}", path=str(path), hint=hint) from error
    current = os.path.realpath(home.root)
    return [record for record in records
            if os.path.realpath(os.path.dirname(record.launcher)) == current or not os.path.lexists(record.launcher)]  # fmt: skip


def _record(entry: dict[str, Any]) -> Record:
    traces = Traces(tuple(entry["traces"]["made"]), dict(entry["traces"]["interiors"]))
    lists = {name: tuple(entry[name]) for name in ("after", "added", "made_directories")}
    return Record(**{**entry, **lists, "traces": traces})


def save(home: Home, records: list[Record]) -> None:
    """Make this the manifest, durably."""
    document = {"format": FORMAT, "installed": [asdict(record) for record in records]}
    replace_file(path_of(home), json.dumps(document, indent=2).encode() + b"\n")


def backup_path(home: Home, record: Record) -> Path:
    return home.install / "backup" / record.backup


def keep_backup(home: Home, file: SettingsFile) -> str:
    """Keep a copy of a settings file as it is; the name it has in install/backup."""
    data = file.data or b""
    where = hashlib.sha256(os.fsencode(file.target)).hexdigest()[:12]
    name = f"{file.target.name}.{where}.{hashlib.sha256(data).hexdigest()[:16]}"
    ensure_private_dir(home.install / "backup")
    replace_file(home.install / "backup" / name, data)
    return name


def read_backup(home: Home, record: Record) -> bytes | None:
    """The bytes to go back to; None when the copy is gone or is not what was kept."""
    if not record.backup:
        return None
    data = read_private(backup_path(home, record), _MAX_BYTES)
    return data if data is not None and hashlib.sha256(data).hexdigest() == record.before else None


def drop_backup(home: Home, record: Record) -> None:
    if not record.backup:
        return
    try:
        backup_path(home, record).unlink(missing_ok=True)
    except OSError as error:
        raise storage_error("remove", backup_path(home, record), error) from error
    sync_directory(home.install / "backup")
