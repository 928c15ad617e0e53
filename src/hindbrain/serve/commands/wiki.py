"""`hindbrain wiki`: memories as pages, and what people change in the pages as memories.

This file writes and tells of what was written; what only reads the pages is in wiki_reading.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.errors import UsageError
from hindbrain.serve.commands import wiki_reading
from hindbrain.serve.commands.options import json_option, limit_option, one_line
from hindbrain.serve.commands.wiki_options import into_option, of_invocation
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.wiki.compile import Compiled
    from hindbrain.wiki.edits import Act, Conflict

_SHOWN = 20  # lines of each list on a terminal


@click.group()
def wiki() -> None:
    """Memories as Markdown pages that you read, edit and trust.

    \b
    hindbrain wiki compile
    hindbrain wiki open PostgreSQL
    hindbrain wiki search rotate keys
    hindbrain wiki export wiki.html
    hindbrain wiki lint
    hindbrain wiki undo
    """


for _command in (wiki_reading.search, wiki_reading.open_page, wiki_reading.export, wiki_reading.lint):
    wiki.add_command(_command)


@wiki.command("compile")
@click.option("--all", "everything", is_flag=True, help="Render every page, whether anything changed or not.")
@click.option("--page", metavar="PAGE", default="", help="Only this page: its path, title or id.")
@click.option("--dry-run", is_flag=True, help="Show what would change and write nothing.")
@into_option
@json_option
@pass_invocation
def compile_pages(
    invocation: Invocation, everything: bool, page: str, dry_run: bool, into: str | None, as_json: bool
) -> None:
    """Take in what people changed and bring the pages up to date.

    Only pages whose statements, links or settings changed are written, and every compile is one version that `hindbrain wiki
    undo` takes back. The first one makes the wiki; from then on the worker does this by itself.

    \b
    hindbrain wiki compile
    hindbrain wiki compile --dry-run
    hindbrain wiki compile --page PostgreSQL
    hindbrain wiki compile --into docs/wiki
    """
    from hindbrain.wiki.compile import Options

    if everything and page:
        raise UsageError("--all and --page exclude each other", hint="give one of them")
    found = of_invocation(invocation, into)
    done, late = found.compile(Options(all=everything, page=page, dry_run=dry_run), settle=not dry_run)
    if late:
        note(f"warning: not everything that was said is in the pages yet: {printable(late)}")
    if as_json:
        say_json({"wiki": str(found.folder.root), "dry_run": dry_run, **_as_data(done)})
        return
    if dry_run and done.diff:
        say(done.diff.removesuffix("\n"))
    _tell(done, dry_run)
    if not dry_run:
        say(str(found.folder.root))


@wiki.command("sync")
@into_option
@json_option
@pass_invocation
def sync(invocation: Invocation, into: str | None, as_json: bool) -> None:
    """Take in what people changed in the pages, and write no page.

    \b
    hindbrain wiki sync
    hindbrain wiki sync --json
    """
    from hindbrain.wiki.compile import Options

    found = of_invocation(invocation, into)
    found.require()
    done, _ = found.compile(Options(edits_only=True))
    if as_json:
        say_json({"wiki": str(found.folder.root), **_as_data(done)})
    else:
        _tell(done, False)


@wiki.command("status")
@into_option
@json_option
@pass_invocation
def status(invocation: Invocation, into: str | None, as_json: bool) -> None:
    """Tell how the pages stand: when they were compiled, what waits, what is in conflict, which pages were deleted.

    \b
    hindbrain wiki status
    hindbrain wiki status --json
    """
    from hindbrain.serve.moments import minute, when
    from hindbrain.wiki.compile import Options

    found = of_invocation(invocation, into)
    found.require()
    rows, versions = found.rows(), found.log(1)
    done, _ = found.compile(Options(dry_run=True))
    pages = [row for row in rows if row.base is not None]
    deleted = [row.path for row in rows if row.left_out]
    last = versions[0] if versions else None
    if as_json:
        say_json({
            "wiki": str(found.folder.root), "pages": len(pages), "compiled_at": when(last.at) if last else None,
            "version": last.id if last else None, "to_write": list(done.written), "to_remove": list(done.removed),
            "edits": [_act(act) for act in done.acts], "conflicts": [_conflict(each) for each in done.conflicts],
            "waiting": dict(done.waiting), "deleted": deleted, "by_worker": found.is_kept(),
        })  # fmt: skip
        return
    say(f"wiki       {found.folder.root}")
    say(f"pages      {len(pages)}{f', compiled {minute(last.at)}' if last else ''}")
    say(f"behind     {len(done.written)} to write, {len(done.removed)} to remove")
    say(f"worker     {'keeps it up to date' if found.is_kept() else 'leaves it to you'}")
    for name, lines in (
        ("edits", [_told(act) for act in done.acts]), ("conflict", [_shown(each) for each in done.conflicts]),
        ("waiting", [f"{path}: {why}" for path, why in done.waiting.items()]), ("deleted", deleted),
    ):  # fmt: skip
        for line in lines:
            say(f"{name:<9}  {one_line(line)}")


@wiki.command("watch")
@click.option("--every", default=2.0, show_default=True, type=click.FloatRange(0.2, 3600), help="Seconds between two looks.")
@into_option
@pass_invocation
def watch(invocation: Invocation, every: float, into: str | None) -> None:
    """Compile whenever a page was saved, until Ctrl-C.

    \b
    hindbrain wiki watch
    """
    from hindbrain.serve.wiki_watch import watching

    found = of_invocation(invocation, into)
    note(f"watching {printable(str(found.folder.root))}; Ctrl-C ends it")
    for done in watching(found, every):
        _tell(done, False)


@wiki.command("log")
@limit_option(20, "versions")
@into_option
@json_option
@pass_invocation
def log(invocation: Invocation, limit: int, into: str | None, as_json: bool) -> None:
    """List the versions of the pages, the newest first.

    \b
    hindbrain wiki log --limit 5
    """
    from hindbrain.serve.moments import minute, when

    versions = of_invocation(invocation, into).log(limit)
    if as_json:
        say_json([{"version": each.id, "at": when(each.at), "text": each.text, "pages": list(each.paths)} for each in versions])
        return
    for each in versions:
        say(f"{printable(each.id[:12]):<12}  {minute(each.at)}  {one_line(each.text)}")


@wiki.command("diff")
@click.argument("version", required=False, default="")
@click.option("--page", metavar="PAGE", default="", help="Only this page.")
@into_option
@json_option
@pass_invocation
def diff(invocation: Invocation, version: str, page: str, into: str | None, as_json: bool) -> None:
    """Show what VERSION changed; without one the newest.

    \b
    hindbrain wiki diff
    hindbrain wiki diff 3f2a9c10 --page PostgreSQL
    """
    found = of_invocation(invocation, into).diff(version, page)
    if as_json:
        say_json({"version": version or None, "diff": found})
    elif found:
        say(found.removesuffix("\n"))
    else:
        note("nothing was changed")


@wiki.command("undo")
@click.argument("version", required=False, default="")
@into_option
@json_option
@pass_invocation
def undo(invocation: Invocation, version: str, into: str | None, as_json: bool) -> None:
    """Put pages back as they were before VERSION; without one before the newest.

    It counts as an edit of yours: statements that differ then are taken back in memory as well, and pages that the version had
    made are left out. A page that was changed since is left alone.

    \b
    hindbrain wiki undo
    hindbrain wiki undo 3f2a9c10
    """
    undone, done = of_invocation(invocation, into).undo(version)
    if as_json:
        say_json({"undone": undone.version, "restored": list(undone.restored), "left": list(undone.left), **_as_data(done)})
        return
    say(f"undone {printable(undone.version[:12])}: {_count(len(undone.restored), 'page')} as before")
    for path in undone.left:
        note(f"left alone, it was changed since: {printable(path)}")
    _tell(done, False)


@wiki.command("restore")
@click.argument("page")
@into_option
@json_option
@pass_invocation
def restore(invocation: Invocation, page: str, into: str | None, as_json: bool) -> None:
    """Bring PAGE back, which was deleted.

    \b
    hindbrain wiki status
    hindbrain wiki restore concepts/postgresql
    """
    path = of_invocation(invocation, into).restore(page)
    if as_json:
        say_json({"page": path})
    else:
        say(printable(path))


def _tell(done: Compiled, dry_run: bool) -> None:
    """What was done, for a person; on stderr, because data goes to stdout."""
    would = "would be " if dry_run else ""
    for act in done.acts[:_SHOWN]:
        note(f"{'edit found' if dry_run else 'taken in'}: {one_line(_told(act))}")
    if len(done.acts) > _SHOWN:
        note(f"and {len(done.acts) - _SHOWN} more edits")
    for each in done.conflicts:
        note(f"conflict: {one_line(_shown(each))}")
    for path, why in done.waiting.items():
        note(f"waits: {one_line(path)}: {one_line(why)}")
    if done.trouble:
        note(f"warning: the version was not kept: {printable(done.trouble)}")
    parts = [f"{_count(len(done.written), 'page')} {would}written"]
    parts += [f"{_count(len(done.removed), 'page')} {would}removed"] if done.removed else []
    note(f"{', '.join(parts)}; {done.unchanged} unchanged")


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _told(act: Act) -> str:
    """An edit in plain words."""
    words = {"edit": "reworded", "reject": "rejected", "remember": f"new {act.kind}", "done": "done", "undone": "open again",
             "page": "settings of the page"}  # fmt: skip
    what = f" {act.memory}" if act.memory else ""
    return f"{act.page}: {words.get(act.op, act.op)}{what}{f': {act.text}' if act.text else ''}"


def _shown(conflict: Conflict) -> str:
    return f"{conflict.page}: {conflict.memory}: you wrote {conflict.found!r}, the memory says {conflict.fresh!r}"


def _as_data(done: Compiled) -> dict[str, object]:
    return {
        "written": list(done.written), "removed": list(done.removed), "unchanged": done.unchanged,
        "edits": [_act(act) for act in done.acts], "conflicts": [_conflict(each) for each in done.conflicts],
        "waiting": dict(done.waiting), "version": done.commit or None, "trouble": done.trouble or None,
        **({"diff": done.diff} if done.diff else {}),
    }  # fmt: skip


def _act(act: Act) -> dict[str, object]:
    return {"op": act.op, "memory": act.memory or None, "text": act.text or None, "kind": act.kind or None, "page": act.page}


def _conflict(conflict: Conflict) -> dict[str, object]:
    return {
        "page": conflict.page, "memory": conflict.memory, "before": conflict.base, "yours": conflict.found, "now": conflict.fresh,
    }  # fmt: skip
