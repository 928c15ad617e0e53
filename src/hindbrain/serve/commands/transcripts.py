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
    it stood when run again. Ends with exit code 7 when a file could not be read; the others are taken in. Where a model is
    configured, what it would use to read them is told first.

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
    expected = _expected(invocation, files) if files and not dry_run else None
    try:
        with Progress("import", total=len(files)) as progress:

            def step(name: str) -> None:
                finished.append(name)
                progress.step(name)

            if dry_run:
                with reading(invocation) as ledger:
                    importing.preview(SystemClock(), ledger, files, step, invocation.config)
                    expected = _told(invocation, files)
            elif files:
                importing.carry_out(invocation.config, SystemClock(), files, step)
                _share(invocation)
    except KeyboardInterrupt:
        done = max(0, len(finished) - 1)
        note(f"import stopped after {done} of {len(files)} files; run the same command again and it goes on from there")
        raise
    _report(files, dry_run, as_json, expected)
    return exits.PROBLEMS if any(file.error for file in files) else exits.DONE


def _expected(invocation: Invocation, files: list[File]) -> dict[str, float] | None:
    """What the model would use, told before anything is taken in; None where none is configured."""
    from dataclasses import replace

    from hindbrain.serve import importing

    if not invocation.config.model:
        return None
    looked_at = [replace(file, problems=[]) for file in files]  # what an import finds is counted anew
    with Progress("estimate", total=len(files)) as progress, reading(invocation) as ledger:
        importing.preview(SystemClock(), ledger, looked_at, progress.step, invocation.config)
    return _told(invocation, looked_at)


def _told(invocation: Invocation, files: list[File]) -> dict[str, float] | None:
    """The estimate of all files together, said on stderr; None where no model is configured."""
    config = invocation.config
    if not config.model:
        return None
    found = {"calls": sum(file.calls for file in files), "tokens": sum(file.tokens for file in files),
             "cost": round(sum(file.dollars for file in files), 6)}  # fmt: skip
    caps = (f"{config.model_cap('', 'tokens'):,.0f} tokens" if config.model_cap("", "tokens") else "",
            f"${config.model_cap('', 'cost'):.2f}" if config.model_cap("", "cost") else "")  # fmt: skip
    limit = " and ".join(each for each in caps if each)
    note(
        f"estimate: {config.model[0]} reads what is new with about {found['calls']:,} questions, {found['tokens']:,} tokens,"
        f" ${found['cost']:.2f}" + (f"; at most {limit} a day, then rules read on" if limit else "")
    )
    return found


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


def _report(files: list[File], dry_run: bool, as_json: bool, expected: dict[str, float] | None) -> None:
    totals = {
        "files": len(files), "failed": sum(bool(file.error) for file in files), "sessions": sum(file.sessions for file in files),
        "bytes": sum(file.bytes for file in files), "read": sum(file.to_read for file in files),
        "turns_new": sum(file.turns_new for file in files), "turns_known": sum(file.turns_known for file in files),
        "problems": sum(len(file.problems) for file in files),
    }  # fmt: skip
    for file in files:
        _note_problems(file)
    if as_json:
        say_json({"dry_run": dry_run, **totals, "estimate": expected, "by_file": [_as_data(file) for file in files]})
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
