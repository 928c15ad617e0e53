"""`hindbrain sessions` and `hindbrain timeline`: what happened, by session and by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.serve.commands.options import (
    answered,
    chosen_project,
    date_option,
    json_option,
    limit_option,
    one_line,
    project_options,
)
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.lists import Asked, Listed
    from hindbrain.serve.scoping import Chosen


@click.command()
@project_options
@limit_option(20, "sessions")
@json_option
@pass_invocation
def sessions(invocation: Invocation, project: str | None, all_projects: bool, limit: int, as_json: bool) -> None:
    """List sessions, the one active last first.

    One line each: id, agent, project, start, turns, first prompt.

    \b
    hindbrain sessions
    hindbrain sessions --all-projects --limit 100
    """
    from hindbrain.serve import lists
    from hindbrain.serve.moments import minute, when


    def ask(ledger: Evidence | None) -> tuple[Chosen, list[Listed]]:
        chosen = chosen_project(invocation, ledger, project, all_projects)
        return chosen, lists.sessions(ledger, chosen, limit) if ledger is not None else []

    chosen, found = answered(invocation, ask)
    if as_json:
        say_json([
            {"id": each.id, "agent": each.agent, "session": each.client_id, "project": each.project, "parent": each.parent_id,
             "project_id": each.project_id, "cwd": each.cwd, "started_at": when(each.started_at), "last_at": when(each.last_at),
             "turns": each.turns, "first_prompt": each.first_prompt, **invocation.answered} for each in found
        ])  # fmt: skip
        return
    if not found and not chosen.unknown:
        note(f"no session is stored of {printable(chosen.named)}")
    for each in found:
        place = printable(each.project or "-")
        start = f"{each.id}  {printable(each.agent):<11}  {place:<16}  {minute(each.started_at)}"
        say(f"{start}  {each.turns:>5} turns  {one_line(each.first_prompt, 120)}".rstrip())


@click.command()
@project_options
@date_option("--since", "Only what was asked at this time or later; a day alone is its beginning.")
@limit_option(50, "prompts")
@json_option
@pass_invocation
def timeline(
    invocation: Invocation, project: str | None, all_projects: bool, since: int | None, limit: int, as_json: bool
) -> None:
    """Show what was asked, day by day.

    By session, the newest day last.

    \b
    hindbrain timeline
    hindbrain timeline --since 2026-11-01 --limit 200
    hindbrain timeline --all-projects --json
    """
    from hindbrain.recall.rank import FOREVER
    from hindbrain.serve import lists
    from hindbrain.serve.moments import when

    earliest = -FOREVER if since is None else since

    def ask(ledger: Evidence | None) -> tuple[Chosen, list[Asked]]:
        chosen = chosen_project(invocation, ledger, project, all_projects)
        return chosen, lists.timeline(ledger, chosen, earliest, limit) if ledger is not None else []

    chosen, found = answered(invocation, ask)
    if as_json:
        say_json([
            {"at": when(each.at), "turn": each.turn or None, "text": each.text, "session": each.session, "agent": each.agent,
             "project": each.project, **invocation.answered} for each in found
        ])  # fmt: skip
        return
    if not found and not chosen.unknown:
        note(f"nothing was asked in {printable(chosen.named)}" + (" since then" if since is not None else ""))
    _say_days(found)


def _say_days(found: list[Asked]) -> None:
    from hindbrain.serve.moments import day, minute

    today = session = ""
    for each in found:
        if day(each.at) != today:
            today, session = day(each.at), ""
            say(today)
        if each.session != session:
            session = each.session
            say(f"  {session}  {printable(each.agent)}  {printable(each.project or '-')}")
        if each.turn:
            say(f"    {minute(each.at)[-6:]}  {each.turn}  {one_line(each.text, 120)}")
