"""A configuration -> one look at everything: what is captured and stored, what waits, what was made of it, what the model cost.

What `hindbrain status` prints and the web page shows. Reads only. Where the shared ledger does not answer, what only it knows is
None, and its own line says why.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import LedgerError
from hindbrain.base.home import Home
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve import reasoning_state
from hindbrain.serve import status as kept
from hindbrain.serve.engines import shared_of
from hindbrain.serve.reasoning_state import Reasoning
from hindbrain.serve.shared_status import SharedStatus, look_shared
from hindbrain.serve.status import Status, opened
from hindbrain.serve.work import counted

AWAY: Final = "unknown: the shared ledger does not answer"


@dataclass(frozen=True, slots=True)
class Overview:
    """All of it, at one moment."""

    found: Status
    shared: SharedStatus | None  # None for a home that keeps to itself
    jobs: dict[str, int] | None
    reasoning: Reasoning | None

    def as_data(self) -> dict[str, object]:
        """For programs."""
        shared = None if self.shared is None else self.shared.as_data()
        made = None if self.reasoning is None else self.reasoning.as_data()
        return self.found.as_data() | {"shared": shared, "jobs": self.jobs, "reasoning": made}

    @property
    def rows(self) -> list[tuple[str, str]]:
        """In plain words, each with its name."""
        found, stored, lost = self.found, self.found.stored, self.found.lost
        rules = ", ".join(f"{rule} {count}" for rule, count in stored.redacted.items())
        worker = f"pid {found.worker_pid}" if found.worker_pid is not None else "not running (a hook starts it)"
        rows = [
            ("home", found.home),
            ("captured", f"{found.captured} lines"),
            ("ingested", f"{stored.lines} lines: {stored.turns} turns in {stored.sessions} sessions, {stored.projects} projects"),
            ("lag", _lag(found)),
            ("damaged", f"{stored.damaged} damaged, {stored.torn} torn, {stored.unparsed} unparsed"),
            ("lost", f"{lost.count} events" + (f", last reason {lost.reason}" if lost.count else "")),
            ("redacted", f"{sum(stored.redacted.values())} secrets" + (f": {rules}" if rules else "")),
            ("worker", worker + (f"; last error: {found.worker_error}" if found.worker_error else "")),
            ("jobs", _jobs(self.jobs)),
            ("memories", AWAY if self.reasoning is None else self.reasoning.memories),
            ("reasoning", AWAY if self.reasoning is None else self.reasoning.waiting),
            ("model", AWAY if self.reasoning is None else str(self.reasoning.meter)),
            ("embedding", str(stored.embedding)),
            ("sizes", ", ".join(f"{name} {_size(size)}" for name, size in found.sizes.items())),
        ]
        if self.shared is not None:
            rows.insert(4, ("shared", str(self.shared)))
        return rows


def look(config: Config, clock: Clock) -> Overview:
    """Gather it all; raises what this home's own ledger or journal raises when they cannot be read."""
    home, shared = Home(config.home), shared_of(config, clock)
    found = kept.look(home, clock)
    told = None if shared is None else look_shared(shared, clock)
    jobs: dict[str, int] | None = None
    reasoning: Reasoning | None = None
    with _away(shared is not None):
        jobs = counted(home, shared, clock)
    with _away(shared is not None), ledger_of_jobs(config, clock) as ledger:
        reasoning = reasoning_state.look(ledger, config, clock)
    return Overview(found, told, jobs, reasoning)


@contextlib.contextmanager
def ledger_of_jobs(config: Config, clock: Clock) -> Iterator[Evidence | None]:
    """The ledger in which memories are made and calls are counted; None before anything is stored."""
    shared = shared_of(config, clock)
    ledger = opened(Home(config.home), clock) if shared is None else shared.open_to_ask()
    if ledger is None:
        yield None
        return
    with ledger:
        yield ledger


@contextlib.contextmanager
def _away(shared: bool) -> Iterator[None]:
    """A shared ledger may be away, and its own line says so; this home's own may not."""
    try:
        yield
    except LedgerError:
        if not shared:
            raise


def _lag(found: Status) -> str:
    if not found.lag.lines:
        return "none"
    oldest = "" if found.lag.oldest_seconds is None else f", oldest {found.lag.oldest_seconds:.0f} s"
    return f"{found.lag.lines} lines, {found.lag.bytes} bytes{oldest}"


def _jobs(jobs: dict[str, int] | None) -> str:
    if jobs is None:
        return AWAY
    said = ", ".join(f"{jobs[state]} {state}" for state in ("running", "ready", "waiting", "parked") if jobs[state])
    return (said or "none to do") + ("; see `hindbrain jobs list --state parked`" if jobs["parked"] else "")


def _size(number: float) -> str:
    for unit in ("B", "KB", "MB"):
        if number < 1024:
            return f"{number:.0f} {unit}"
        number /= 1024
    return f"{number:.1f} GB"
