"""How sharing stands -> a small file in the home, and back: what `status`, `doctor` and the hook's health line tell of.

It is a report and nothing relies on it, with one exception: before a home has once been shared as a whole, its own ledger
knows more than the shared one and is asked instead.
"""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.base.files import read_private, replace_file
from hindbrain.base.home import Home
from hindbrain.journal.read import Record
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.sharing import between, positions

_LIMIT: Final = 16 << 20


@dataclass(frozen=True, slots=True)
class State:
    """What was last known; times in milliseconds."""

    database: str = ""  # masked, with the tenant: what is known of another database does not count
    complete: bool = False  # the shared ledger has had everything of this home at least once
    reached: dict[str, int] = field(default_factory=dict[str, int])
    behind_ms: int | None = None  # since when sharing fails
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Behind:
    """What is in this home's ledger and not in the shared one."""

    lines: int
    oldest_seconds: float | None


def read(home: Home, database: str) -> State:
    """What is known of sharing with this database; a file that cannot be read says nothing."""
    try:
        raw = json.loads(read_private(home.sharing, _LIMIT) or b"{}")
        found = State(**raw)
    except (ValueError, TypeError, RecursionError, HindbrainError):
        return State(database)
    return found if found.database == database else State(database)


def write(home: Home, state: State) -> None:
    """Keep it; the file is replaced as a whole."""
    replace_file(home.sharing, json.dumps(asdict(state)).encode())


def passed(state: State, reached: dict[str, int], problem: HindbrainError | None = None) -> State:
    """After a pass that went through, but for what `problem` says."""
    error, hint = ("", "") if problem is None else (problem.message, problem.hint)
    return replace(state, complete=True, reached=reached, behind_ms=None, error=error, hint=hint)


def with_reached(state: State, reached: dict[str, int]) -> State:
    """As the shared ledger itself says just now."""
    return replace(state, reached=reached)


def failed(state: State, error: HindbrainError, now_ms: int) -> State:
    """After a pass that did not."""
    since = now_ms if state.behind_ms is None else state.behind_ms
    return replace(state, behind_ms=since, error=error.message, hint=error.hint)


def behind(home: Home, state: State, local: Evidence, clock: Clock) -> Behind:
    """How many lines the shared ledger lacks as far as is known here, and how old the oldest is."""
    lines, oldest = 0, None
    for segment, end in positions(local).items():
        start = state.reached.get(segment, 0)
        if start >= end:
            continue
        with contextlib.suppress(NotFound):  # a segment that is gone: what sharing says of it is in the state
            for item in between(home, segment, start, end):
                if isinstance(item, Record):
                    lines += 1
                    oldest = item.line.at_ns if oldest is None else min(oldest, item.line.at_ns)
    return Behind(lines, None if oldest is None else max(0.0, (clock.now_ms() - oldest // 1_000_000) / 1000))
