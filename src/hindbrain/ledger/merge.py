"""Several deliveries of one thing -> the one row the ledger keeps, whatever order they came in.

The same turn arrives from a hook, from its resend and from the transcript. Each rule below picks the smallest or the
largest of something, so merging is commutative, associative and idempotent: replaying a journal in any order, any
number of times, gives the same rows. Pure: no I/O, no clock; every engine uses it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from hindbrain.capture.event import Event, Json, Source, session_id, storable

# Bits of `origins`. The lowest one present says whose text is kept: a hook saw it first-hand, a transcript comes later.
ORIGIN_BITS: Final[dict[str, int]] = {"hook": 1, "api": 2, "worker": 4, "transcript": 8}
TRANSCRIPT: Final = ORIGIN_BITS["transcript"]
# SQLite integers have 64 bits; a clock gone wild must not make an event unstorable.
MAX_INTEGER: Final = (1 << 63) - 1
# What a session remembers of its events' details: the latest of each.
SESSION_FACTS: Final = ("transcript_path", "branch", "gitBranch", "version", "entrypoint", "source", "permission_mode")
TRACE_KINDS: Final = ("file", "command", "error", "subagent", "task")
MAX_TRACES: Final = 1000

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"))
SourceSpan = tuple[str, int, int]
_Ranked = TypeVar("_Ranked", str, tuple[int, str])


class Trace(NamedTuple):
    """What a turn did to the world."""

    kind: str
    action: str
    value: str


class Content(NamedTuple):
    """What a row says, taken as a whole from one delivery."""

    text: str
    tool: str
    detail: str
    traces: tuple[Trace, ...] = ()


class Piece(NamedTuple):
    """A turn or an event: one delivery, or several merged. `content` None stands for what the row already holds."""

    id: str
    session_id: str | None
    kind: str
    role: str
    key: str
    at: int
    origins: int
    segment: str
    start: int
    source: SourceSpan | None
    content: Content | None


def piece_of(event: Event, session: str | None, segment: str, start: int) -> Piece:
    """One delivery, made storable."""
    traces = tuple(traces_of(event.detail)) if event.kind == "turn" and event.detail else ()
    content = Content(clean(event.text), clean(event.tool), json_text(event.detail), traces)
    origin = ORIGIN_BITS[event.origin]
    return Piece(
        event.id, session, event.kind, event.role or "", clean(event.key), whole(event.at), origin, segment, start,
        _span(event.source), content,
    )  # fmt: skip


def merged(one: Piece, other: Piece) -> Piece:
    """The row for two deliveries of the same thing."""
    first = one if _standing(one) <= _standing(other) else other
    if (one.origins ^ other.origins) & TRANSCRIPT:  # the transcript has the client's own time
        at = one.at if one.origins & TRANSCRIPT else other.at
    else:
        at = min(one.at, other.at)
    sources = [source for source in (one.source, other.source) if source is not None]
    return first._replace(at=at, origins=one.origins | other.origins, source=min(sources, default=None))


def _standing(piece: Piece) -> tuple[int, str, int]:
    """Whose content is kept: the best origin's, then that of the earliest place in the journal."""
    return piece.origins & -piece.origins, piece.segment, piece.start


@dataclass(slots=True)
class SessionState:
    """What is known of one session."""

    id: str
    agent: str
    client_id: str
    started_at: int
    last_at: int
    cwd: tuple[int, str] | None = None
    parent_id: str | None = None
    ended: tuple[int, str] | None = None
    model: tuple[int, str] | None = None
    facts: dict[str, tuple[int, str]] = field(default_factory=dict[str, tuple[int, str]])

    def take(self, event: Event) -> None:
        """Learn from one event of this session."""
        at = whole(event.at)
        if at < self.started_at:
            self.started_at = at
        if at > self.last_at:
            self.last_at = at
        if event.cwd and (self.cwd is None or at <= self.cwd[0]):
            self.cwd = _smaller(self.cwd, (at, clean(event.cwd)))
        if event.parent:
            self.parent_id = _smaller(self.parent_id, session_id(self.agent, clean(event.parent)))
        if event.kind == "session_end":
            self.ended = _larger(self.ended, (at, _text(event.detail, "reason")))
        if event.detail:
            self._take_detail(event.detail, at)

    def _take_detail(self, detail: Mapping[str, Json], at: int) -> None:
        if model := _text(detail, "model"):
            self.model = _larger(self.model, (at, model))
        for name in SESSION_FACTS:
            if name in detail and (value := _text(detail, name)):
                self.facts[name] = max(self.facts.get(name, (at, value)), (at, value))

    def join(self, other: SessionState) -> None:
        """Learn everything another state of the same session knows."""
        self.started_at = min(self.started_at, other.started_at)
        self.last_at = max(self.last_at, other.last_at)
        self.cwd = _smaller(self.cwd, other.cwd)
        self.parent_id = _smaller(self.parent_id, other.parent_id)
        self.ended = _larger(self.ended, other.ended)
        self.model = _larger(self.model, other.model)
        for name, told in other.facts.items():
            self.facts[name] = max(self.facts.get(name, told), told)


def traces_of(detail: Mapping[str, Json]) -> Iterator[Trace]:
    """The traces in a turn's detail, {"file": ..., "action": ...} and the like, alone or listed under "traces"."""
    listed = detail.get("traces")
    entries = [detail, *listed[:MAX_TRACES]] if isinstance(listed, list) else [detail]
    seen = set()
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        for kind in TRACE_KINDS:
            if kind in entry and (trace := _trace(entry, kind)) is not None and trace not in seen:
                seen.add(trace)
                yield trace


def _trace(entry: Mapping[str, Json], kind: str) -> Trace | None:
    value = entry[kind]
    if value is None or value is False or value == "":
        return None
    text = clean(value) if isinstance(value, str) else "" if value is True else json_text(value)
    return Trace(kind, _text(entry, "action"), text)


def clean(text: str) -> str:
    """The text as any database can hold it. Nearly every text is fine already, and finding that out is cheap."""
    if text.isascii():
        return text.replace("\x00", "\ufffd") if "\x00" in text else text
    return storable(text)


def whole(number: int) -> int:
    """The number within what the database can hold."""
    return max(0, min(number, MAX_INTEGER))


def json_text(value: Json | Mapping[str, Json]) -> str:
    """JSON that SQLite and PostgreSQL both read: keys in order, no NaN, no lone surrogates."""
    if not value and isinstance(value, Mapping):
        return "{}"
    try:
        text = _ENCODER.encode(value)
    except ValueError:  # NaN and infinity are not JSON
        text = _ENCODER.encode(json.loads(json.dumps(value), parse_constant=str))
    except RecursionError:
        text = '{"unreadable":"nested too deeply"}'
    return clean(text)


def _span(source: Source | None) -> SourceSpan | None:
    return None if source is None else (clean(source.path), whole(source.start), whole(source.end))


def _text(detail: Mapping[str, Json], name: str) -> str:
    value = detail.get(name, "")
    return clean(value) if isinstance(value, str) else ""


def _smaller(one: _Ranked | None, other: _Ranked | None) -> _Ranked | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)


def _larger(one: _Ranked | None, other: _Ranked | None) -> _Ranked | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
