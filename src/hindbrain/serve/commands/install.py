"""`hindbrain install`: an agent's settings -> the same settings with Hindbrain's hooks in them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.serve.install.agents import AGENTS, Agent, Scope, agent_named
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.install.adding import Plan
    from hindbrain.serve.install.manifest import Record


@click.command()
@click.argument("agent", type=click.Choice(list(AGENTS)))
@click.option("--project", is_flag=True, help="Change the settings of the project in this directory instead of yours.")
@click.option("--dry-run", is_flag=True, help="Show the change as a diff and write nothing.")
@click.option("--plugin", metavar="DIR", type=click.Path(path_type=Path), help="Write a plugin folder to DIR instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def install(invocation: Invocation, agent: str, project: bool, dry_run: bool, plugin: Path | None, as_json: bool) -> None:
    """Add Hindbrain's hooks to the settings of AGENT.

    Everything else in the file stays as it is, byte by byte. The file as it was is kept, and `hindbrain uninstall` puts it back.

    \b
    hindbrain install claude-code --dry-run
    hindbrain install claude-code
    """
    if plugin is not None and project:
        raise UsageError("--plugin and --project are two different places", hint="give one of them")
    home, chosen = Home(invocation.config.home), agent_named(agent)
    if plugin is not None:
        _plugin(home, chosen, Path(os.path.abspath(plugin)), dry_run, as_json)
    else:
        _settings(home, chosen, "project" if project else "user", dry_run, as_json)


def _settings(home: Home, agent: Agent, scope: Scope, dry_run: bool, as_json: bool) -> None:
    from hindbrain.serve.install import adding

    record = None
    if dry_run:
        planned = adding.plan(home, agent, scope, os.environ, Path.cwd())
    else:
        planned, record = adding.install(home, agent, scope, os.environ, Path.cwd(), SystemClock())
    for warning in planned.warnings:
        note(f"warning: {printable(warning)}")
    if as_json:
        say_json(_as_data(home, planned, record))
    elif record is None:
        from hindbrain.serve.install.diff import unified

        say(unified(planned.file.path, planned.file.data, planned.data).rstrip("\n") or "nothing would change")
    else:
        _told(home, planned, record)


def _as_data(home: Home, planned: Plan, record: Record | None) -> dict[str, object]:
    from hindbrain.serve.install import diff, manifest

    backup = str(manifest.backup_path(home, record)) if record is not None and record.backup else None
    data: dict[str, object] = {
        "agent": planned.agent.name, "scope": planned.scope, "path": str(planned.file.path), "dry_run": record is None,
        "changed": planned.changes, "added": list(planned.change.added), "updated": list(planned.change.updated),
        "command": planned.command, "backup": backup, "warnings": list(planned.warnings),
    }  # fmt: skip
    return data if record is not None else data | {"diff": diff.unified(planned.file.path, planned.file.data, planned.data)}


def _told(home: Home, planned: Plan, record: Record) -> None:
    from hindbrain.serve.install import manifest

    title, path = planned.agent.title, printable(str(planned.file.path))
    if not planned.changes:
        say(f"already installed for {title}: {path}")
        return
    done = [f"{word} {', '.join(names)}" for word, names in (("added", planned.change.added), ("updated", planned.change.updated))
            if names]  # fmt: skip
    say(f"installed for {title}: {path}")
    say(f"  hooks     {'; '.join(done) or 'doubles removed'}")
    say(f"  launcher  {printable(planned.command[-1])}")
    say(f"  backup    {printable(str(manifest.backup_path(home, record))) if record.backup else 'none: there was no such file'}")
    if planned.scope == "project":
        say("  note      the file names paths of this machine; think twice before committing it")
    say("next:")
    say(f"  start a new session of {title}; sessions already open may not notice")
    say(f"  {'hindbrain doctor':<32} is it working?")
    say(f"  hindbrain uninstall {planned.agent.name:<12} puts the file back as it was")


def _plugin(home: Home, agent: Agent, folder: Path, dry_run: bool, as_json: bool) -> None:
    from hindbrain.serve.install import diff, manifest, plugin

    files = plugin.plan(home, agent, folder)
    if not dry_run:
        with manifest.held(home):
            plugin.apply(home, agent, folder, files, SystemClock())
    if as_json:
        say_json({"agent": agent.name, "plugin": str(folder), "dry_run": dry_run, "files": [str(path) for path in files]})
    elif dry_run:
        for path, data in files.items():
            old = path.read_bytes() if path.exists() else None
            say(diff.unified(path, old, data).rstrip("\n") or f"{printable(str(path))} would not change")
    else:
        say(f"plugin written: {printable(str(folder))}")
        say(f"try it: claude --plugin-dir {printable(str(folder))}")
