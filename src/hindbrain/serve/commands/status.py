"""`hindbrain status`: what is captured, stored, behind, lost; and whether a worker runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.serve.reasoning_state import Reasoning
    from hindbrain.serve.shared_status import SharedStatus

_AWAY = "unknown: the shared ledger does not answer"


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def status(invocation: Invocation, as_json: bool) -> None:
    """Show what is captured, stored, waiting, damaged and lost."""
    from hindbrain.serve.status import look  # loads the ledger

    found = look(Home(invocation.config.home), SystemClock())
    shared = _shared(invocation)
    jobs = _jobs(invocation)
    reasoning = _reasoning(invocation)
    if as_json:
        made = None if reasoning is None else reasoning.as_data()
        say_json(found.as_data() | {"shared": None if shared is None else shared.as_data(), "jobs": jobs, "reasoning": made})
        return
    stored = found.stored
    behind = f"{found.lag.lines} lines, {found.lag.bytes} bytes"
    if found.lag.oldest_seconds is not None:
        behind += f", oldest {found.lag.oldest_seconds:.0f} s"
    rules = ", ".join(f"{rule} {count}" for rule, count in stored.redacted.items())
    worker = f"pid {found.worker_pid}" if found.worker_pid is not None else "not running (a hook starts it)"
    rows = [
        ("home", found.home),
        ("captured", f"{found.captured} lines"),
        ("ingested", f"{stored.lines} lines: {stored.turns} turns in {stored.sessions} sessions, {stored.projects} projects"),
        ("lag", behind if found.lag.lines else "none"),
        ("damaged", f"{stored.damaged} damaged, {stored.torn} torn, {stored.unparsed} unparsed"),
        ("lost", f"{found.lost.count} events" + (f", last reason {found.lost.reason}" if found.lost.count else "")),
        ("redacted", f"{sum(stored.redacted.values())} secrets" + (f": {rules}" if rules else "")),
        ("worker", worker + (f"; last error: {found.worker_error}" if found.worker_error else "")),
        ("jobs", _told(jobs)),
        ("memories", _AWAY if reasoning is None else reasoning.memories),
        ("reasoning", _AWAY if reasoning is None else reasoning.waiting),
        ("model", _AWAY if reasoning is None else str(reasoning.meter)),
        ("embedding", str(stored.embedding)),
        ("sizes", ", ".join(f"{name} {_size(size)}" for name, size in found.sizes.items())),
    ]
    if shared is not None:
        rows.insert(4, ("shared", str(shared)))
    for name, value in rows:
        say(f"{name:<9} {printable(value)}")
    if shared is not None and shared.error and shared.hint:
        note(f"hint: {printable(shared.hint)}")


def _shared(invocation: Invocation) -> SharedStatus | None:
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.shared_status import look_shared

    shared = shared_of(invocation.config, SystemClock())
    return None if shared is None else look_shared(shared, SystemClock())


def _jobs(invocation: Invocation) -> dict[str, int] | None:
    """How many jobs are in each state; None when the database that keeps them does not answer."""
    from hindbrain.base.errors import LedgerError
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.work import counted

    clock = SystemClock()
    shared = shared_of(invocation.config, clock)
    try:
        return counted(Home(invocation.config.home), shared, clock)
    except LedgerError:
        if shared is None:
            raise
        return None  # the line about the shared ledger says why


def _reasoning(invocation: Invocation) -> Reasoning | None:
    """What was made of what was said; None when the database that keeps it does not answer."""
    from hindbrain.base.errors import LedgerError
    from hindbrain.serve import reasoning_state
    from hindbrain.serve.engines import shared_of
    from hindbrain.serve.status import opened

    clock = SystemClock()
    shared = shared_of(invocation.config, clock)
    try:
        ledger = opened(Home(invocation.config.home), clock) if shared is None else shared.open_to_ask()
        if ledger is None:
            return reasoning_state.look(None, invocation.config, clock)
        with ledger:
            return reasoning_state.look(ledger, invocation.config, clock)
    except LedgerError:
        if shared is None:
            raise
        return None  # the line about the shared ledger says why


def _told(jobs: dict[str, int] | None) -> str:
    if jobs is None:
        return _AWAY
    said = ", ".join(f"{jobs[state]} {state}" for state in ("running", "ready", "waiting", "parked") if jobs[state])
    return (said or "none to do") + ("; see `hindbrain jobs list --state parked`" if jobs["parked"] else "")


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"
