"""A home and the settings files that have its hooks -> those files without them, looked at again afterwards.

A file that is just as we left it gets back the bytes it had. One that was edited since loses our hooks and what we
made for them, and nothing else. The record is dropped last, so a crash leaves work that can be done again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from hindbrain.base.errors import HindbrainError, StorageError
from hindbrain.base.home import Home
from hindbrain.serve.install import hooks, launchers, manifest, settings
from hindbrain.serve.install.agents import Agent, Scope
from hindbrain.serve.install.hooks import Ours
from hindbrain.serve.install.json_spans import JsonSyntaxError, parse
from hindbrain.serve.install.manifest import Record
from hindbrain.serve.install.settings import SettingsFile

How = Literal["restored", "edited", "deleted", "untouched"]


@dataclass(frozen=True, slots=True)
class Undo:
    """What will be done to one file."""

    scope: str
    file: SettingsFile
    how: How
    data: bytes | None  # the file afterwards; None when there will be none
    hooks: int  # how many of ours it has now


def plan(
    home: Home, agent: Agent, scope: Scope, environ: Mapping[str, str], cwd: Path, *, everywhere: bool = False
) -> tuple[list[Undo], list[Record]]:
    """What has to be done, and the records that are settled by it. Raises StorageError for a file that cannot be edited."""
    records = manifest.load(home)
    ours = launchers.ours(home, records)
    named = agent.settings(scope, environ, cwd)
    mine = [r for r in records if r.agent == agent.name and (everywhere or _asked(r, scope, named))]
    undos: dict[Path, Undo] = {}
    for record in mine:
        for path in dict.fromkeys((Path(record.path), Path(record.target))):
            file = settings.look(path)
            undos.setdefault(file.target, _undo(home, agent, record.scope, file, ours, record))
    file = settings.look(named)
    if file.target not in undos:
        undos[file.target] = _undo(home, agent, scope, file, ours, None)
    return list(undos.values()), mine


def _asked(record: Record, scope: Scope, named: Path) -> bool:
    """Yours is all of yours; a project is the one named, not every project."""
    if scope == "user":
        return record.scope != "project"
    return record.scope == "project" and (record.path == str(named) or record.target == os.path.realpath(named))


def _undo(home: Home, agent: Agent, scope: str, file: SettingsFile, ours: Ours, record: Record | None) -> Undo:
    if file.data is None:
        return Undo(scope, file, "untouched", None, 0)
    known = record is not None and settings.digest(file.data) in record.after
    try:
        text, count = hooks.without_hooks(file.text, agent, ours, record.traces if record is not None else None)
        empty = hooks.is_blank(text) or (parse(text).kind == "object" and not parse(text).members)
    except JsonSyntaxError as error:
        raise settings.unreadable(file.path, str(error)) from error
    backup = manifest.read_backup(home, record) if record is not None else None
    made = record is not None and record.made_file
    if record is not None and known and (record.before is None or backup is not None):
        undo = Undo(scope, file, "deleted" if record.before is None else "restored", backup, count)
    elif not count:
        return Undo(scope, file, "untouched", file.data, 0)
    elif empty and made:
        undo = Undo(scope, file, "deleted", None, count)
    elif empty and backup is not None and hooks.is_blank(backup.decode("utf-8", "replace")):
        undo = Undo(scope, file, "restored", backup, count)
    else:
        undo = Undo(scope, file, "edited", text.encode(), count)
    settings.check_writable(file)
    return undo


def apply(home: Home, agent: Agent, undos: list[Undo], records: list[Record]) -> None:
    """Do what was planned; call with the manifest held, where there is one."""
    for undo in undos:
        if undo.how == "deleted":
            settings.delete(undo.file)
        elif undo.how != "untouched" and undo.data is not None:
            settings.write(undo.file, undo.data, home.root)
    for record in records:
        settings.clear(record.temporary, record.made_directories)
    _verify(home, agent, undos)
    if records:
        restored = {str(undo.file.target) for undo in undos if undo.how in ("restored", "deleted")}
        manifest.save(home, [record for record in manifest.load(home) if record not in records])
        for record in records:
            if record.target in restored:
                manifest.drop_backup(home, record)


def _verify(home: Home, agent: Agent, undos: list[Undo]) -> None:
    """Read every file again. Raises StorageError when a hook of ours is still there."""
    ours = launchers.ours(home, manifest.load(home))
    for undo in undos:
        file = settings.look(undo.file.path)
        if file.data != undo.data:
            raise StorageError(f"{file.path} was changed while the hooks were removed", path=str(file.path), hint="try again")
        if file.data is None or hooks.is_blank(file.text):
            continue
        left = [hook for hook in hooks.find(file.text, parse(file.text), agent) if ours(hook.launcher)]
        if left:
            events = ", ".join(hook.event for hook in left)
            raise StorageError(f"{file.path} still has hooks of ours: {events}", path=str(file.path), hint="remove them by hand")


def elsewhere(home: Home, agent: Agent, settled: list[Record]) -> list[Record]:
    """Files that keep our hooks because they were not asked about."""
    try:
        return [record for record in manifest.load(home) if record.agent == agent.name and record not in settled]
    except HindbrainError:
        return []
