"""`hindbrain jobs`: work that is still to be done, or could not be; look at it, try it again, call it off."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.serve.commands.options import json_option, limit_option, one_line
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, printable_lines, say, say_json

if TYPE_CHECKING:
    from hindbrain.queues.job import Job
    from hindbrain.queues.queue import Queue

STATES: Final = ("waiting", "ready", "running", "done", "parked", "cancelled")
_RETRIED: Final = ("parked", "cancelled")
_CANCELLED: Final = ("waiting", "ready", "running", "parked")
_ALL: Final = 100_000
_MOST_ID: Final = (1 << 63) - 1

_dry_run = click.option("--dry-run", is_flag=True, help="Show what would be changed and change nothing.")
_kind = click.option("--kind", metavar="KIND", help="Only jobs of this kind.")
_state = click.option("--state", type=click.Choice(STATES), help="Only jobs in this state.")


@click.group(invoke_without_command=True)
@click.pass_context
def jobs(context: click.Context) -> None:
    """List, show, retry and cancel jobs.

    Without a command: the list. A job that failed too often is parked: it stays until it is tried again or called off.

    \b
    hindbrain jobs
    hindbrain jobs list --state parked
    hindbrain jobs show 17
    hindbrain jobs retry --all-parked --dry-run
    hindbrain jobs cancel 17 18
    """
    if context.invoked_subcommand is None:
        context.invoke(listed)


@jobs.command("list")
@_state
@_kind
@limit_option(100, "jobs")
@json_option
@pass_invocation
def listed(invocation: Invocation, state: str | None, kind: str | None, limit: int, as_json: bool) -> None:
    """List jobs.

    One line each: id, kind, state, tries, when it was changed last, key, and why it failed last.

    \b
    hindbrain jobs list --kind housekeeping --json
    """
    with _queue(invocation) as queue:
        found = _checked(queue, state, kind, limit)
    if as_json:
        say_json([_as_data(job) for job in found])
        return
    if not found:
        note("there are no jobs" if state is None and kind is None else "there are no such jobs")
    for job in found:
        say(_line(job))


@jobs.command()
@click.argument("id", metavar="ID")
@json_option
@pass_invocation
def show(invocation: Invocation, id: str, as_json: bool) -> None:
    """Show a job: its payload, its tries, its last error.

    \b
    hindbrain jobs show 17
    hindbrain jobs show 17 --json
    """
    with _queue(invocation) as queue:
        (job,) = _named(queue, [_number(id)])
    if as_json:
        say_json(_as_data(job))
        return
    for name, value in _rows(job):
        say(f"{name:<9} {value}")


@jobs.command()
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--all-parked", is_flag=True, help="Every job that is parked.")
@_kind
@_dry_run
@json_option
@pass_invocation
def retry(
    invocation: Invocation, ids: tuple[str, ...], all_parked: bool, kind: str | None, dry_run: bool, as_json: bool
) -> None:
    """Try parked or cancelled jobs again, as if they were new.

    \b
    hindbrain jobs retry 17
    hindbrain jobs retry --all-parked --kind housekeeping
    """
    if bool(ids) == all_parked:
        raise UsageError("say which jobs to retry: their ids, or --all-parked", hint="see `hindbrain jobs retry --help`")
    if kind is not None and not all_parked:
        raise UsageError("--kind goes with --all-parked", hint="leave --kind out, or name no ids")
    wanted = [_number(each) for each in ids]
    with _queue(invocation, writes=not dry_run) as queue:
        found = _named(queue, wanted) if wanted else _checked(queue, "parked", kind, _ALL)
        _allow(found, _RETRIED, "retried")
        count = len(found) if dry_run or queue is None else _each(queue.retry, found)
    _report(found, "tried again", count, dry_run, as_json)
    if count and not dry_run:
        _wake(invocation)


@jobs.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@_dry_run
@json_option
@pass_invocation
def cancel(invocation: Invocation, ids: tuple[str, ...], dry_run: bool, as_json: bool) -> None:
    """Call jobs off that are waiting, ready, running or parked.

    What a running job has done so far is thrown away.

    \b
    hindbrain jobs cancel 17 18 --dry-run
    """
    wanted = [_number(each) for each in ids]
    with _queue(invocation, writes=not dry_run) as queue:
        found = _named(queue, wanted)
        _allow(found, _CANCELLED, "cancelled")
        count = len(found) if dry_run or queue is None else _each(queue.cancel, found)
    _report(found, "cancelled", count, dry_run, as_json)


@contextlib.contextmanager
def _queue(invocation: Invocation, *, writes: bool = False) -> Iterator[Queue | None]:
    """The queue of this home; None before there is one."""
    from hindbrain.queues.queue import Queue
    from hindbrain.serve.status import opened
    from hindbrain.serve.work import opener

    clock = SystemClock()
    home = Home(invocation.config.home)
    if not invocation.config.is_shared and not (writes and home.ledger.exists()):
        ledger = opened(home, clock)
        if ledger is None:
            yield None
            return
        with ledger:
            yield Queue(ledger, clock)
        return
    with opener(invocation.config, clock)() as shared:
        yield Queue(shared, clock)


def _number(text: str) -> int:
    """The id somebody typed."""
    plain = text.strip()
    if not (plain.isascii() and plain.isdigit()) or len(plain) > 19:
        raise UsageError(f"{text[:80]!r} is not the number of a job", hint="see `hindbrain jobs` for the numbers")
    return int(plain)


def _named(queue: Queue | None, ids: list[int]) -> list[Job]:
    """These jobs, each once; raises NotFound before anything is changed."""
    if queue is None:
        raise NotFound(f"there is no job {ids[0]}", hint="see `hindbrain jobs`")
    if unknown := [each for each in ids if each > _MOST_ID]:
        raise NotFound(f"there is no job {unknown[0]}", hint="see `hindbrain jobs`")
    return [queue.get(each) for each in dict.fromkeys(ids)]


def _checked(queue: Queue | None, state: Any, kind: str | None, limit: int) -> list[Job]:
    from hindbrain.capture.event import storable

    return [] if queue is None else queue.listing(state=state, kind=None if kind is None else storable(kind), limit=limit)


def _allow(found: list[Job], states: tuple[str, ...], what: str) -> None:
    for job in found:
        if job.state not in states:
            raise UsageError(f"job {job.id} is {job.state} and cannot be {what}", hint=f"{what} are jobs that are {_or(states)}")


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"


def _each(change: Callable[[list[int]], int], found: list[Job]) -> int:
    return change([job.id for job in found]) if found else 0


def _report(found: list[Job], what: str, count: int, dry_run: bool, as_json: bool) -> None:
    if as_json:
        say_json({"dry_run": dry_run, "changed": 0 if dry_run else count, "jobs": [job.id for job in found]})
        return
    for job in found if dry_run else ():
        say(_line(job))
    said = f"{count} jobs would be {what}" if dry_run else f"{count} jobs are {what}"
    say(said if count != 1 else said.replace("jobs are", "job is").replace("1 jobs", "1 job"))
    if not dry_run and count < len(found):
        note(f"{len(found) - count} were left alone: they changed meanwhile, or another job of the same kind and key is live")


def _wake(invocation: Invocation) -> None:
    import os

    from hindbrain.capture.hook import wake

    with contextlib.suppress(OSError):  # the jobs are there all the same
        wake(os.fsencode(invocation.config.home))


def _line(job: Job) -> str:
    from hindbrain.serve.moments import minute

    tries = f"{job.attempts}/{job.max_attempts}"
    start = f"{job.id:>6}  {printable(job.kind):<14}  {job.state:<9}  {tries:>5}  {minute(job.changed_ms)}"
    return f"{start}  {one_line(job.key, 60)}  {one_line(job.error, 100)}".rstrip()


def _rows(job: Job) -> Iterator[tuple[str, str]]:
    import json

    from hindbrain.serve.moments import when

    yield "job", f"{job.id} {printable(job.kind)} {printable(job.key)}"
    yield "state", job.state + (f", owned by {printable(job.owner)}" if job.state == "running" else "")
    if job.group:
        yield "group", printable(job.group)
    yield "priority", f"{job.priority}" + (", forced" if job.forced else "")
    yield "added", when(job.enqueued_ms)
    yield "changed", when(job.changed_ms)
    if job.state == "waiting":
        yield "runs", f"not before {when(job.run_after_ms)}"
    tries = f"{job.attempts} of {job.max_attempts}, claimed {job.token} times in all"
    yield "tries", tries + (f", {job.crashes} workers died while it ran" if job.crashes else "")
    if job.error:
        yield "error", printable_lines(job.error).replace("\n", f"\n{'':<10}")
    yield "payload", printable(json.dumps(dict(job.payload), ensure_ascii=False))


def _as_data(job: Job) -> dict[str, object]:
    from hindbrain.serve.moments import when

    return {
        "id": job.id, "kind": job.kind, "key": job.key, "group": job.group, "state": job.state, "priority": job.priority,
        "forced": job.forced, "attempts": job.attempts, "max_attempts": job.max_attempts, "crashes": job.crashes,
        "claims": job.token, "owner": job.owner, "enqueued_at": when(job.enqueued_ms), "changed_at": when(job.changed_ms),
        "run_after": when(job.run_after_ms), "error": job.error, "payload": dict(job.payload),
    }  # fmt: skip
