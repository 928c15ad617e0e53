"""`hindbrain import`: the transcripts an agent already wrote -> memory of sessions from before Hindbrain came."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.serve import exits
from hindbrain.serve.commands.options import json_option, reading
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.progress import Progress
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.importing import File

_SHOWN_PROBLEMS = 5


@click.command("import")
@click.argument("agent", type=click.Choice(("claude-code",)))
@click.argument("paths", nargs=-1, metavar="[PATH]...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Count what there is and write nothing.")
@json_option
@pass_invocation
def transcripts(invocation: Invocation, agent: str, paths: tuple[Path, ...], dry_run: bool, as_json: bool) -> int:
    """Take in transcripts that are already there.

    PATHs are folders or transcripts of AGENT; by default its own folder and those set as capture.transcript_roots. The
    oldest come first. Nothing is stored twice, however often this runs and whatever hooks told. Interrupted, it goes on where
    it stood when run again. Ends with exit code 7 when a file could not be read; the others are taken in.

    \b
    hindbrain import claude-code --dry-run
    hindbrain import claude-code
    hindbrain import claude-code ~/backup/laptop/.claude/projects
    """
    from hindbrain.serve import importing

    files = importing.find(invocation.config, paths)
    if not files:
        note("no transcripts were found\nhint: name the folder that holds them")
    finished: list[str] = []
    try:
        with Progress("import", total=len(files)) as progress:

            def step(name: str) -> None:
                finished.append(name)
                progress.step(name)

            if dry_run:
                with reading(invocation) as ledger:
                    importing.preview(SystemClock(), ledger, files, step)
            elif files:
                importing.carry_out(invocation.config, SystemClock(), files, step)
                _share(invocation)
    except KeyboardInterrupt:
        done = max(0, len(finished) - 1)
        note(f"import stopped after {done} of {len(files)} files; run the same command again and it goes on from there")
        raise
    _report(files, dry_run, as_json)
    return exits.PROBLEMS if any(file.error for file in files) else exits.DONE


def _share(invocation: Invocation) -> None:
    """Hand on what was taken in, if a ledger is shared; the worker does it later otherwise."""
    from hindbrain.base.errors import LedgerError
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.sharer import share_now

    if (shared := shared_of(invocation.config, SystemClock())) is None:
        return
    try:
        with Progress("share") as progress:
            share_now(shared, SystemClock(), lambda lines: progress.step("lines", lines))
    except LedgerError as error:
        note(f"warning: kept on this machine; the shared ledger gets it when it answers: {printable(error.message)}")


def _report(files: list[File], dry_run: bool, as_json: bool) -> None:
    totals = {
        "files": len(files), "failed": sum(bool(file.error) for file in files), "sessions": sum(file.sessions for file in files),
        "bytes": sum(file.bytes for file in files), "read": sum(file.to_read for file in files),
        "turns_new": sum(file.turns_new for file in files), "turns_known": sum(file.turns_known for file in files),
        "problems": sum(len(file.problems) for file in files),
    }  # fmt: skip
    for file in files:
        _note_problems(file)
    if as_json:
        say_json({"dry_run": dry_run, **totals, "by_file": [_as_data(file) for file in files]})
        return
    for file in files if dry_run else []:
        counts = f"{file.turns_new:>6} new {file.turns_known:>6} known  {file.to_read:>10} of {file.bytes} bytes to read"
        say(f"{counts}  {printable(file.path)}" if not file.error else f"{'failed':>18}  {printable(file.path)}")
    word = "would be imported" if dry_run else "imported"
    say(
        f"{word}: {totals['turns_new']} new turns ({totals['turns_known']} known) in {totals['sessions']} sessions,"
        f" from {totals['files'] - totals['failed']} files, {totals['read']} of {totals['bytes']} bytes"
    )
    if totals["failed"]:
        say(f"failed: {totals['failed']} files")


def _note_problems(file: File) -> None:
    if file.error:
        note(f"not read: {printable(file.path)}: {printable(file.error)}")
    for problem in file.problems[:_SHOWN_PROBLEMS]:
        note(f"left out: {printable(file.path)} {printable(problem.removeprefix(file.path).strip())}")
    if len(file.problems) > _SHOWN_PROBLEMS:
        note(f"left out: {len(file.problems) - _SHOWN_PROBLEMS} more pieces of {printable(file.path)}")


def _as_data(file: File) -> dict[str, object]:
    return {
        "path": file.path, "bytes": file.bytes, "read": file.to_read, "sessions": file.sessions, "turns_new": file.turns_new,
        "turns_known": file.turns_known, "problems": file.problems, "error": file.error or None,
    }  # fmt: skip
