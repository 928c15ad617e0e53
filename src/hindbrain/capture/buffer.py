"""The journal seen as one crash-safe buffer per agent and session.

A program that wraps an agent keeps what it learns here until it is stored for good: start a session, append pieces of a
type, ask what is waiting, recover it after a crash, clear what has been stored. Each append is durable when it returns;
there is nothing to flush and nothing held back in memory. Agents and sessions are fields of a line and never become
file names, so any name is safe.

`stored` tells how far each segment has been taken into the ledger; without one, everything counts as waiting.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event, Json, Kind, Role, storable, text_key
from hindbrain.capture.record import Recorder
from hindbrain.journal.archive import archive_stored
from hindbrain.journal.read import Record, SegmentGone, read_segment, segment_name, segments

# What a session's context is made of. `turn` needs a role.
TYPES: Final[tuple[Kind, ...]] = (
    "turn", "decision", "file", "task", "insight", "error", "command", "subagent", "custom",
)  # fmt: skip

Stored = Callable[[], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Waiting:
    """What one session of one agent has in the buffer."""

    agent: str
    session: str
    entries: int
    types: Mapping[str, int]
    first_at: int
    last_at: int


class Buffer:
    """Append-only; safe with any number of writers in any number of processes."""

    def __init__(self, home: Path, *, stored: Stored = dict, clock: Clock | None = None) -> None:
        self._home = Home(home)
        self._stored = stored
        self._clock = clock or SystemClock()
        self._recorder = Recorder(home)

    def close(self) -> None:
        self._recorder.close()

    def start(self, agent: str, session: str, *, cwd: str = "") -> str:
        """Say that a session begins; its event id."""
        now = self._clock.now_ms()
        return self._record(Event(
            kind="session_start", agent=agent, session=session, at=now, key=f"start:{now}", origin="api", cwd=cwd,
        ))  # fmt: skip

    def append(
        self, agent: str, session: str, type: Kind, text: str = "", *,
        role: Role | None = None, key: str = "", at: int | None = None, detail: Mapping[str, Json] | None = None,
    ) -> str:  # fmt: skip
        """Add one piece of a session's context and return its event id once it is durable.

        `key` is the caller's own id for it: the same key again is the same event. Without one, time and text make it.
        """
        if type not in TYPES:
            raise UsageError(f"{type!r} is not a type of entry", hint=f"use one of {', '.join(TYPES)}")
        if (type == "turn") != (role is not None):
            hint = "role is user, assistant, tool_call or tool_result"
            raise UsageError("a turn has a role, and nothing else has one", hint=hint)
        now = self._clock.now_ms() if at is None else at
        return self._record(Event(
            kind=type, agent=agent, session=session, at=now, key=key or f"{now}:{text_key(text)}", origin="api", role=role,
            text=storable(text), detail=dict(detail or {}),
        ))  # fmt: skip

    def _record(self, event: Event) -> str:
        self._recorder.record([event], self._clock.now_ms())
        return event.id

    def recover(self, agent: str | None = None, session: str | None = None) -> Iterator[Event]:
        """Everything that waits, oldest first: after a crash, all that was acknowledged and not yet stored."""
        for _, event in self._waiting():
            if agent in (None, event.agent) and session in (None, event.session):
                yield event

    def status(self, agent: str | None = None, session: str | None = None) -> list[Waiting]:
        """How much waits, per agent and session."""
        groups: dict[tuple[str, str], list[Event]] = {}
        for event in self.recover(agent, session):
            groups.setdefault((event.agent, event.session), []).append(event)
        return [_summed(name, events) for name, events in sorted(groups.items())]

    def sessions(self) -> list[tuple[str, str]]:
        """Agents and sessions that have something waiting."""
        return [(waiting.agent, waiting.session) for waiting in self.status()]

    def has(self, agent: str, session: str) -> bool:
        """Whether anything of this session waits."""
        return next(self.recover(agent, session), None) is not None

    def clear(self) -> list[str]:
        """Archive the segments that are wholly stored; what is not stored stays. Names of what was archived."""
        return archive_stored(self._home.journal, self._home.archive, self._stored(), keep=0)

    def _waiting(self) -> Iterator[tuple[Record, Event]]:
        stored = self._stored()
        for path in segments(self._home.journal):
            with contextlib.suppress(SegmentGone):  # archived meanwhile: stored
                for item in read_segment(path, stored.get(segment_name(path), 0)):
                    if isinstance(item, Record):
                        yield from ((item, event) for event in events_of(item) if event.kind not in ("place", "cursor"))


def _summed(name: tuple[str, str], events: list[Event]) -> Waiting:
    types: dict[str, int] = {}
    for event in events:
        types[event.kind] = types.get(event.kind, 0) + 1
    times = [event.at for event in events]
    return Waiting(name[0], name[1], len(events), types, min(times), max(times))
