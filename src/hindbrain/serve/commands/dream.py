"""`hindbrain dream`: consolidate what was found, now; see what dreams changed; take one back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.errors import UsageError
from hindbrain.serve.commands.options import chosen_project, json_option, project_options
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.dreaming import Dreamt


@click.command()
@click.option("--deep", is_flag=True, help="Across all projects: patterns they share, and the page about you and your work.")
@click.option("--list", "listed", is_flag=True, help="List the dreams that can be taken back.")
@click.option("--undo", metavar="ID", help="Take back everything the dream ID changed.")
@click.option("--dry-run", is_flag=True, help="Show what would be changed and change nothing.")
@project_options
@json_option
@pass_invocation
def dream(
    invocation: Invocation, deep: bool, listed: bool, undo: str | None, dry_run: bool, project: str | None, all_projects: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Consolidate memories: join duplicates, let what was not confirmed fade, find what several agree on.

    The worker does this by itself after sessions and when nothing happens for a while; here it is done at once, for the project
    of the current directory. Every dream can be taken back as a whole.

    \b
    hindbrain dream
    hindbrain dream --deep --dry-run
    hindbrain dream --list
    hindbrain dream --undo deep@2026-11-15T14:30:00Z
    """
    from hindbrain.serve import dreaming

    if sum((listed, undo is not None, deep or dry_run)) > 1:
        raise UsageError("--list, --undo and --deep or --dry-run exclude each other", hint="see `hindbrain dream --help`")
    if deep and (project is not None or all_projects):
        raise UsageError("--deep looks at all projects", hint="leave --project and --all-projects out")
    config = invocation.config
    if listed:
        _say(dreaming.dreams(config), as_json)
        return
    if undo is not None:
        count = dreaming.undo(config, undo)
        if as_json:
            say_json({"dream": undo, "restored": count})
        else:
            say(f"{count} {'memory is as it was' if count == 1 else 'memories are as they were'} before {printable(undo)}")
        return
    key = "deep" if deep else dreaming.place(config, lambda ledger: chosen_project(invocation, ledger, project, all_projects))
    found = dreaming.would(config, key) if dry_run else dreaming.run(config, key)
    if not found and not as_json:
        note("nothing would be changed" if dry_run else "nothing was to be changed")
    _say(found, as_json)


def _say(found: list[Dreamt], as_json: bool) -> None:
    from hindbrain.serve.moments import minute, when

    if as_json:
        say_json([{"dream": each.name, "at": when(each.at), "memories": each.memories, "changes": each.changes}
                  for each in found])  # fmt: skip
        return
    for each in found:
        say(f"{printable(each.name)}  {minute(each.at)}  {each.memories} {'memory' if each.memories == 1 else 'memories'}")
        for change in each.changes:
            say(f"    {printable(change)}")
