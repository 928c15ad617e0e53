"""A home -> whether the hooks that were installed for it are still where they were put, and would run.

Reads only. Each finding is a grade, what was found, and what to do about it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.serve.install import adding, hooks, launchers, manifest, settings
from hindbrain.serve.install.agents import AGENTS, Agent, Scope
from hindbrain.serve.install.hooks import Ours
from hindbrain.serve.install.json_spans import JsonSyntaxError, parse
from hindbrain.serve.install.manifest import Record

Grade = Literal["ok", "warning", "problem"]
Finding = tuple[Grade, str, str]


def findings(home: Home, environ: Mapping[str, str]) -> list[Finding]:
    """One finding or more for each place hooks were installed in, and for each agent that has none."""
    try:
        records = manifest.load(home)
    except HindbrainError as error:
        return [("problem", error.message, error.hint)]
    ours = launchers.ours(home, records)
    found: list[Finding] = []
    for agent in AGENTS.values():
        mine = [record for record in records if record.agent == agent.name]
        for record in mine:
            if record.path.endswith(f"/{agent.file}") or record.path.endswith("/hooks.json"):
                found += _place(agent, Path(record.path), record, ours, environ)
        named = agent.settings("user", environ, Path("/"))
        if not any(record.scope != "project" for record in mine):
            found += _unrecorded(agent, named, ours, bool(mine), environ)
    return found


def _place(agent: Agent, path: Path, record: Record | None, ours: Ours, environ: Mapping[str, str]) -> Iterator[Finding]:
    project = record is not None and record.scope == "project"
    again = f"hindbrain install {agent.name}{' --project' if project else ''}"
    if record is not None and record.scope == "plugin":
        again += f" --plugin {path.parent.parent}"
    try:
        text = settings.look(path).text
        found = [] if hooks.is_blank(text) else hooks.find(text, parse(text), agent)
    except HindbrainError as error:
        yield "problem", error.message, "correct the file"
        return
    except JsonSyntaxError as error:
        yield "problem", f"{path} is not JSON: {error}", "correct the file"
        return
    for launcher in sorted({hook.launcher for hook in found if not ours(hook.launcher)}):
        other = Path(launcher).parent
        hint = f"each event is kept twice; hindbrain --home '{other}' uninstall {agent.name} removes those"
        yield "warning", f"{path} also has hooks of {other}", hint
    mine = [hook for hook in found if ours(hook.launcher)]
    missing = [event.name for event in agent.events if event.name not in {hook.event for hook in mine}]
    broken = list(_broken(mine))
    if missing:
        yield "problem", f"{path} has no hook of ours for {', '.join(missing)}", again
    for what in broken:
        yield "problem", f"{path} names {what}", again
    for warning in _switched_off(agent, text, path, "project" if project else "user", environ):
        yield "warning", warning, "remove that line, or ask who set it"
    if not missing and not broken:
        yield "ok", f"{agent.title}: {len(mine)} hooks in {path}", ""


def _broken(mine: list[hooks.Found]) -> Iterator[str]:
    for name in sorted({hook.argv[0] for hook in mine if not os.access(hook.argv[0], os.X_OK)}):
        yield f"an interpreter that is not there: {name}"
    for name in sorted({hook.launcher for hook in mine if not os.path.isfile(hook.launcher)}):
        yield f"a launcher that is not there: {name}"


def _switched_off(agent: Agent, text: str, path: Path, scope: Scope, environ: Mapping[str, str]) -> list[str]:
    cwd = path.parent.parent if scope == "project" else Path("/")
    return adding.silenced(text, path, agent, scope, environ, cwd)


def _unrecorded(agent: Agent, path: Path, ours: Ours, elsewhere: bool, environ: Mapping[str, str]) -> Iterator[Finding]:
    """The user's own settings, which nobody says were changed."""
    try:
        text = settings.look(path).text
        found = [] if hooks.is_blank(text) else hooks.find(text, parse(text), agent)
    except (HindbrainError, JsonSyntaxError):
        found = []  # not ours to judge: nothing was installed there
    if any(ours(hook.launcher) for hook in found):
        yield from _place(agent, path, None, ours, environ)
    elif not elsewhere:
        yield "warning", f"no hooks are installed for {agent.title}", f"hindbrain install {agent.name}"
