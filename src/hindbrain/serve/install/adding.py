"""A home and an agent's settings file -> that file with the home's hooks in it.

Order: launcher, backup, manifest, settings; each is on the disk before the next begins. After a crash the settings
are as they were, or they have our hooks and a manifest that says how to take them out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hindbrain import __version__
from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, StorageError
from hindbrain.base.home import Home
from hindbrain.capture.launcher import LAUNCHER, install_launcher, launcher_command
from hindbrain.serve.install import hooks, launchers, manifest, settings
from hindbrain.serve.install.agents import Agent, Scope
from hindbrain.serve.install.json_spans import JsonSyntaxError, parse
from hindbrain.serve.install.manifest import Record
from hindbrain.serve.install.settings import SettingsFile

_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Plan:
    """What installing will do; nothing is written yet."""

    agent: Agent
    scope: Scope
    file: SettingsFile
    command: list[str]
    change: hooks.Added
    record: Record | None  # of an earlier installation into this file
    warnings: tuple[str, ...]

    @property
    def data(self) -> bytes:
        return self.change.text.encode()

    @property
    def changes(self) -> bool:
        return self.file.data is None or self.data != self.file.data


def plan(home: Home, agent: Agent, scope: Scope, environ: Mapping[str, str], cwd: Path) -> Plan:
    """Look at everything; raises StorageError when the settings cannot be edited."""
    command = launcher_command(home.root)
    file = settings.look(agent.settings(scope, environ, cwd))
    _check_names(command)
    records = manifest.load(home)
    ours = launchers.ours(home, records)
    try:
        change = hooks.with_hooks(file.text, command, agent, ours)
        strangers = _strangers(change.text, agent, ours)
    except (JsonSyntaxError, hooks.WrongShape) as error:
        raise settings.unreadable(file.path, str(error)) from error
    made = Plan(agent, scope, file, command, change, _known(records, agent, file), ())
    if made.changes:
        settings.check_writable(file)
    return replace(made, warnings=(*strangers, *silenced(change.text, file.path, agent, scope, environ, cwd)))


def _check_names(command: list[str]) -> None:
    for name in command:
        try:
            name.encode()
        except UnicodeEncodeError as error:
            hint = "choose a data directory and an interpreter whose paths are UTF-8"
            raise StorageError(f"settings cannot name {name}: it is not UTF-8", path=name, hint=hint) from error


def _known(records: list[Record], agent: Agent, file: SettingsFile) -> Record | None:
    return next((r for r in records if r.agent == agent.name and r.scope != "plugin" and r.target == str(file.target)), None)


def _strangers(text: str, agent: Agent, ours: hooks.Ours) -> list[str]:
    found = {hook.launcher for hook in hooks.find(text, parse(text), agent) if not ours(hook.launcher)}
    return [f"hooks of another home were left in place: {Path(launcher).parent}" for launcher in sorted(found)]


def silenced(text: str, path: Path, agent: Agent, scope: Scope, environ: Mapping[str, str], cwd: Path) -> list[str]:
    """Why the agent would not run our hooks although they are there."""
    found = _switches(path, text)
    for other in agent.also_read(scope, environ, cwd):
        try:
            found += _switches(other, settings.look(other).text)
        except HindbrainError:
            continue  # not ours to judge; the agent says so itself
    return found


def _switches(path: Path, text: str) -> list[str]:
    try:
        root = parse(text)
    except JsonSyntaxError:
        return []
    on = [name for name in ("disableAllHooks", "allowManagedHooksOnly")
          if (node := root.get(name)) is not None and text[node.start : node.end] == "true"]  # fmt: skip
    return [f"{path} says {name}: the hooks will not run" for name in on]


def install(
    home: Home, agent: Agent, scope: Scope, environ: Mapping[str, str], cwd: Path, clock: Clock
) -> tuple[Plan, Record]:
    """Plan and do it. Nothing is written, not even a home, when the settings cannot be edited."""
    plan(home, agent, scope, environ, cwd)
    with manifest.held(home):
        for _ in range(_TRIES - 1):
            planned = plan(home, agent, scope, environ, cwd)
            try:
                return planned, apply(home, planned, clock)
            except settings.ChangedMeanwhile:
                continue  # the agent itself, an editor, or the installer of another home
        planned = plan(home, agent, scope, environ, cwd)
        return planned, apply(home, planned, clock)


def apply(home: Home, plan: Plan, clock: Clock) -> Record:
    """Do what was planned; call with the manifest held. The record that was written, or found when nothing had to change."""
    records = manifest.load(home)
    if plan.changes:
        settings.check_writable(plan.file)
    command = install_launcher(home.root)
    if command != plan.command:
        raise StorageError(f"the launcher is run by {command}, not by {plan.command}", hint="install again")
    if not plan.changes and plan.record is not None:
        return plan.record
    record = _record(home, plan, clock)
    manifest.save(home, [*(other for other in records if other != plan.record), record])
    if not plan.changes:
        return record
    try:
        settings.write(plan.file, plan.data, home.root)
    except HindbrainError:
        if settings.look(plan.file.path).data == plan.file.data:  # nothing was changed, and nothing shall say so
            settings.clear(record.temporary, record.made_directories)
            manifest.save(home, records)
        raise
    return record


def _record(home: Home, plan: Plan, clock: Clock) -> Record:
    file, old = plan.file, plan.record
    found, left = settings.digest(file.data), settings.digest(plan.data) or ""
    fresh = Record(
        agent=plan.agent.name, scope=plan.scope, path=str(file.path), target=str(file.target),
        launcher=str(home.root / LAUNCHER), before=found, after=(left,), added=plan.change.added, traces=plan.change.traces,
        made_directories=tuple(str(path) for path in settings.missing_directories(file.target)), made_file=file.data is None,
        temporary=str(settings.temporary(file.target, home.root)), version=__version__, at_ms=clock.now_ms(),
    )  # fmt: skip
    if old is not None:
        made = dict.fromkeys((*old.made_directories, *fresh.made_directories))
        fresh = replace(fresh, made_directories=tuple(made), made_file=old.made_file or fresh.made_file)
    if old is not None and found in old.after:
        # ours on top of ours: what was there before us is what the earlier installation found
        return replace(
            fresh, before=old.before, after=(*old.after, left), backup=old.backup, traces=old.traces.joined(fresh.traces),
            added=tuple(dict.fromkeys((*old.added, *fresh.added))),
        )  # fmt: skip
    if plan.change.found_ours:
        # there are hooks of ours in a file we do not know byte by byte: the copy is for people, not to go back to
        fresh = replace(fresh, after=(), traces=old.traces.joined(fresh.traces) if old is not None else fresh.traces)
    if file.data is not None and plan.changes:
        fresh = replace(fresh, backup=manifest.keep_backup(home, file))
    return fresh
