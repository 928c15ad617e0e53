"""`hindbrain status`: what is captured, stored, behind, lost; and whether a worker runs."""

from __future__ import annotations

import click

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import printable, say, say_json


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON for a program.")
@pass_invocation
def status(invocation: Invocation, as_json: bool) -> None:
    """Show what is captured, stored, waiting, damaged and lost."""
    from hindbrain.serve.status import look  # loads the ledger

    found = look(Home(invocation.config.home), SystemClock())
    if as_json:
        say_json(found.as_data())
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
        ("sizes", ", ".join(f"{name} {_size(size)}" for name, size in found.sizes.items())),
    ]
    for name, value in rows:
        say(f"{name:<9} {printable(value)}")


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"
