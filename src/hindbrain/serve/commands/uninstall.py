"""`hindbrain uninstall`: an agent's settings -> what they were before Hindbrain came, and the data too if asked."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.serve.install.agents import AGENTS, Scope, agent_named
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.install.purge import Preview
    from hindbrain.serve.install.removing import Undo

_SAID = {
    "restored": "restored byte by byte",
    "edited": "changed since; only our hooks were removed",
    "deleted": "removed; there was none before",
}


@click.command()
@click.argument("agent", type=click.Choice(list(AGENTS)), default="claude-code")
@click.option("--project", is_flag=True, help="Change the settings of the project in this directory instead of yours.")
@click.option("--dry-run", is_flag=True, help="Show the change as a diff and write nothing.")
@click.option("--purge", is_flag=True, help="Remove the hooks everywhere, then the data directory with all that was kept.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def uninstall(
    invocation: Invocation, agent: str, project: bool, dry_run: bool, purge: bool, yes: bool, as_json: bool
) -> None:
    """Take Hindbrain's hooks out of the settings of AGENT.

    A file that was not changed since is put back as it was, byte by byte; from any other only our hooks are removed. What was
    captured stays, unless --purge is given.

    \b
    hindbrain uninstall claude-code
    hindbrain uninstall claude-code --purge
    """
    from hindbrain.serve.install import manifest, removing

    home, chosen = Home(invocation.home), agent_named(agent)
    scope: Scope = "project" if project else "user"
    preview = _previewed(home, dry_run, yes) if purge else None
    with manifest.held(home) if home.root.is_dir() and not dry_run else contextlib.nullcontext():
        undos, records = removing.plan(home, chosen, scope, os.environ, Path.cwd(), everywhere=purge)
        if not dry_run:
            removing.apply(home, chosen, undos, records)
    others = removing.elsewhere(home, chosen, records)
    if preview is not None and not dry_run:
        from hindbrain.serve.install.purge import remove

        remove(home, os.environ)
    for record in others:
        note(f"note: hooks remain in {printable(record.path)} ({record.scope})")
    if as_json:
        say_json(_as_data(agent, undos, preview, dry_run))
    elif dry_run:
        _show(undos)
    else:
        _told(chosen.title, undos, preview)


def _previewed(home: Home, dry_run: bool, yes: bool) -> Preview | None:
    """Say what would be gone, and ask."""
    from hindbrain.serve.install.purge import look

    preview = look(home, SystemClock(), os.environ)
    if preview is None:
        note(f"there is no data in {home.root}")
        return None
    kept = "a ledger that cannot be read" if preview.sessions is None else f"{preview.sessions} sessions, {preview.turns} turns"
    size = f"{preview.files} files, {preview.bytes / 1e6:.1f} MB"
    backups = f", {preview.backups} backups among them" if preview.backups else ""
    note(f"{home.root} will be removed: {kept}; {size}{backups}")
    note("agent sessions that are still open keep calling the hook: end them first")
    if dry_run or yes:
        return preview
    if not sys.stdin.isatty():
        raise UsageError("--purge asks before it removes anything, and there is nobody to ask", hint="add --yes")
    if not click.confirm("remove it for good?", err=True):
        raise click.Abort
    return preview


def _as_data(agent: str, undos: list[Undo], preview: Preview | None, dry_run: bool) -> dict[str, object]:
    from hindbrain.serve.install.diff import unified

    files = []
    for undo in undos:
        proof = {"diff": unified(undo.file.path, undo.file.data, undo.data)} if dry_run else {"verified": True}
        files.append({"path": str(undo.file.path), "scope": undo.scope, "how": undo.how, "hooks": undo.hooks, **proof})
    purged = None if preview is None else {**asdict(preview), "home": str(preview.home)}
    return {"agent": agent, "dry_run": dry_run, "files": files, "purged": purged}


def _show(undos: list[Undo]) -> None:
    from hindbrain.serve.install.diff import unified

    shown = [unified(undo.file.path, undo.file.data, undo.data) for undo in undos]
    say("".join(shown).rstrip("\n") or "nothing would change")


def _told(title: str, undos: list[Undo], preview: Preview | None) -> None:
    changed = [undo for undo in undos if undo.how != "untouched"]
    if not changed:
        say(f"not installed for {title}: {', '.join(printable(str(undo.file.path)) for undo in undos)}")
    for undo in changed:
        say(f"uninstalled for {title}: {printable(str(undo.file.path))} ({_SAID[undo.how]})")
    if changed:
        say(f"verified: no hook of ours is left; {sum(undo.hooks for undo in changed)} were removed")
    if preview is not None:
        say(f"removed: {printable(str(preview.home))}")
    elif changed:
        say("what was captured is kept; hindbrain uninstall --purge removes it too")
