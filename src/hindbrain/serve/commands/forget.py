"""`hindbrain forget`: a turn, memory, session or project -> gone, after a look at what that takes along."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.serve.commands.options import answered, json_option, one_line, own_folder
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.engines import Shared
    from hindbrain.serve.forgetting import Forgetting, Wanted

_SHOWN = 5  # of the ids that stay


@click.command()
@click.argument("id", required=False)
@click.option("--session", metavar="SESSION", help="Forget a whole session and the subagents it started.")
@click.option("-p", "--project", metavar="PROJECT", help="Forget everything of a project; its name, folder or id.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show what would be gone and change nothing.")
@json_option
@pass_invocation
def forget(
    invocation: Invocation, id: str | None, session: str | None, project: str | None, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Remove a turn, memory or session for good.

    It goes from ledger, journal and archives, and is turned away if a transcript or a restored backup brings it again.
    A memory that was found in what was said goes alone, and is not found again; the turns stay, and are named. Transcripts of the
    agent and backups are not ours to change: those that may still hold it are named.

    \b
    hindbrain forget e_1f00ba5193c2 --dry-run
    hindbrain forget --session s_5e551044
    hindbrain forget --project shop --yes
    """
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.forgetting import Forgetting

    if sum(each is not None for each in (id, session, project)) != 1:
        raise UsageError("say what to forget: one id, one session or one project", hint="see `hindbrain forget --help`")
    home = Home(invocation.config.home)
    shared = shared_of(invocation.config, SystemClock())
    if not home.journal.is_dir() and shared is None:
        raise NotFound("nothing is stored yet")
    if not dry_run:
        _settle(home, shared)
    work = Forgetting(home, SystemClock(), shared)
    wanted = _find(invocation, work, id, session, project)
    places = _elsewhere(home, wanted)
    _preview(wanted, places)
    if dry_run:
        gone = None
    else:
        _ask(yes)
        gone = work.carry_out(wanted)
    if as_json:
        say_json({
            "dry_run": dry_run, "turns": wanted.turns, "memories": wanted.memories, "sessions": wanted.sessions,
            "examples": wanted.examples, "stays": wanted.stays, "files": wanted.files,
            "transcripts": places["transcript"], "backups": places["backup"],
            "forgotten": None if gone is None else asdict(gone), **invocation.answered,
        })  # fmt: skip
    if gone is not None and gone.waiting:
        note(f"warning: the shared ledger forgets it when it answers again: {printable(gone.waiting)}")
    if gone is not None and gone.wiki:
        note(f"warning: the pages of the wiki forget it with the next compile: {printable(gone.wiki)}")
    if gone is not None and not as_json:
        say(f"forgotten: {gone.turns} turns, {gone.memories} memories, {gone.sessions} sessions; {gone.lines} journal lines")


def _settle(home: Home, shared: Shared | None) -> None:
    """What waits in the journal is part of what is meant."""
    from hindbrain.serve.memory import Memory

    with Memory(home.root, shared=shared) as memory:
        memory.settle_here()
        memory.share()


def _find(
    invocation: Invocation, work: Forgetting, id: str | None, session: str | None, project: str | None
) -> Wanted:
    from hindbrain.serve.lookup import look_up
    from hindbrain.serve.scoping import choose

    def ask(ledger: Evidence | None) -> tuple[str, str]:
        if project is not None:
            chosen = choose(ledger, project, False, lambda folder: own_folder(invocation, ledger, folder))
            if chosen.project is None:
                raise NotFound(f"nothing is stored of the project {chosen.named}", hint="see `hindbrain sessions --all-projects`")
            return chosen.project, "project"
        if session is not None:
            return look_up(ledger, session, "session").id, "session"
        found = look_up(ledger, id or "")
        return found.id, found.kind

    named, kind = answered(invocation, ask)
    match kind:
        case "project":
            return work.find(project=named)
        case "session":
            return work.find(session=named)
        case _:
            return work.find(id=named)


def _elsewhere(home: Home, wanted: Wanted) -> dict[str, list[str]]:
    """Files that are not changed and may still hold what is meant."""
    return {
        "transcript": [path for path in wanted.transcripts if os.path.exists(path)],
        "backup": sorted(str(path) for path in home.backups.glob("*")),
    }


def _preview(wanted: Wanted, places: dict[str, list[str]]) -> None:
    note(f"to be forgotten: {wanted.turns} turns, {wanted.memories} memories, {wanted.sessions} sessions")
    for text in wanted.examples:
        note(f"  {one_line(text, 100)}")
    if wanted.stays:
        more = f" and {len(wanted.stays) - _SHOWN} more" if len(wanted.stays) > _SHOWN else ""
        note(f"not meant: what it was found in stays and still says it: {', '.join(wanted.stays[:_SHOWN])}{more}")
    for path in wanted.files:
        note(f"goes too: {printable(path)}")
    for what, paths in places.items():
        for path in paths:
            note(f"not changed, and may still hold it: {what} {printable(path)}")


def _ask(yes: bool) -> None:
    if yes:
        return
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("forgetting asks first, and there is nobody to ask", hint="add --yes, or look with --dry-run")
    if not click.confirm("forget it for good?", err=True):
        raise click.Abort
