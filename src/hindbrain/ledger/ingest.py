"""Journal records and their events -> rows, full-text index, damage and cursors, in one transaction.

A batch is first folded in memory (merge.py), then compared with what is stored by one query per table, then written by
`executemany`. So a batch costs a fixed number of statements, and an event that was seen before costs no write at all.
The caller holds the transaction: either all of a batch is there afterwards, cursors included, or none of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hindbrain.capture.event import FIRST_VERSION, Event, Json, session_id, shares
from hindbrain.journal.read import Damage, Record
from hindbrain.ledger import calls, forget, memories, merge, rows, versions
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import Piece, SessionState, clean, json_text, whole
from hindbrain.ledger.project import Place, place_of
from hindbrain.ledger.rows import Cursor

BATCH_RECORDS: Final = 2000
BATCH_BYTES: Final = 8 << 20
SEGMENT_PREFIX: Final = "segment:"
_ENDS: Final = ("session_end", "pre_compact")
_HOLDING: Final = "SELECT DISTINCT session_id FROM turns WHERE id IN (SELECT value FROM json_each(?))"


@dataclass(slots=True)
class Batch:
    """What one transaction takes in: records with their events, damage, and where the cursors stand after it."""

    records: list[tuple[Record, list[Event]]] = field(default_factory=list[tuple[Record, list[Event]]])
    damages: list[Damage] = field(default_factory=list[Damage])
    cursors: dict[str, Json] = field(default_factory=dict[str, Json])
    machine: str = ""  # whose folders these are: in a shared ledger the same path is another place on another machine


@dataclass(slots=True)
class Ingested:
    """What a batch changed."""

    records: int = 0
    skipped: int = 0  # records below their segment's cursor
    turns_new: int = 0
    events_new: int = 0
    merged: int = 0  # known turns and events that a delivery added something to
    duplicates: int = 0  # deliveries of something known, merged or not
    damages_new: int = 0
    redactions_new: int = 0
    sessions: frozenset[str] = frozenset()  # whose turns are not what they were, or that belong to another project now
    ended: frozenset[str] = frozenset()  # of these those that are over or were compacted, or of which something was forgotten
    acted: bool = False  # what people had kept or decided was put together anew


# What is to follow from a batch, done in the transaction that takes it in.
Then = Callable[[Database, Ingested], None]


def segment_source(segment: str) -> str:
    """The cursor of a journal segment."""
    return SEGMENT_PREFIX + segment


def batches(
    items: Iterable[Record | Damage], decode: Callable[[Record], list[Event]], *,
    max_records: int = BATCH_RECORDS, max_bytes: int = BATCH_BYTES,
) -> Iterator[Batch]:  # fmt: skip
    """Group what a segment's reader yields; each batch moves the segment's cursor behind its last item."""
    batch, size = Batch(), 0
    for item in items:
        if isinstance(item, Record):
            batch.records.append((item, decode(item)))
        else:
            batch.damages.append(item)
        batch.cursors[segment_source(item.segment)] = item.end
        size += item.end - item.start
        if len(batch.records) + len(batch.damages) >= max_records or size >= max_bytes:
            yield batch
            batch, size = Batch(), 0
    if batch.cursors:
        yield batch


def write(connection: Database, batch: Batch, now_ms: int) -> Ingested:
    """Write a batch inside the transaction the caller holds."""
    result, folded = Ingested(), _Folded()
    reached, holds_first = rows.reached(connection, _sources(batch)) if batch.records else ({}, False)
    gone = forget.forgotten(connection)
    folded.knows_first = holds_first or bool(gone)
    for record, events in batch.records:
        if record.start < reached.get(segment_source(record.segment), 0):
            result.skipped += 1
            continue
        result.records += 1
        folded.take(record, events)
    folded.leave_out(gone)
    if holds_first or folded.of_first:
        folded.rename(versions.settle(connection, folded.first_ids, folded.of_first, noted=holds_first))
    moved = rows.write_places(connection, folded.places, batch.machine)
    rows.write_sessions(connection, folded.sessions, batch.machine)
    assigned = rows.assign_projects(connection, list(folded.sessions), moved)
    turns = rows.write_turns(connection, folded.turns)
    events_written = rows.write_events(connection, folded.events)
    for call in folded.calls:
        calls.put_call(connection, call)
    memories.follow_projects(connection, assigned)
    bereft, result.acted = _act(connection, folded, moved=bool(moved))
    result.sessions = turns.sessions | frozenset(assigned) | bereft
    result.ended = _ended(folded.events.values()) | {each for each, is_over in assigned.items() if is_over} | bereft
    result.turns_new, result.events_new = turns.new, events_written.new
    result.merged = turns.merged + events_written.merged
    result.duplicates = folded.repeated + turns.known + events_written.known
    result.damages_new = rows.write_damages(connection, batch.damages, now_ms)
    result.redactions_new = rows.write_redactions(connection, folded.redactions)
    told = [_told_cursor(source, position, now_ms) for source, position in batch.cursors.items()]
    rows.write_cursors(connection, [*folded.cursors, *told], now_ms)
    rows.count_lines(connection, folded.lines)
    return result


def _ended(pieces: Iterable[Piece]) -> frozenset[str]:
    return frozenset(each.session_id for each in pieces if each.session_id is not None and each.kind in _ENDS)


def _act(connection: Database, folded: _Folded, *, moved: bool) -> tuple[frozenset[str], bool]:
    """What a person wants done with what is stored: forgotten, kept, corrected, pinned; the sessions that lost something by it,
    and whether what people had kept or decided was put together anew.

    A statement's evidence, and the project that evidence belongs to, may also come after it.
    """
    wanted = [piece for piece in folded.events.values() if piece.kind in ("forget", "memory")]
    first = set(folded.standing.values())
    wishes = [_wish(connection, each, each.id in first) for each in wanted if each.kind == "forget" and each.content]
    bereft = frozenset(_sessions_of(connection, wishes)) if wishes else frozenset[str]()
    forget.apply(connection, wishes)
    acted = bool(wanted) or moved or memories.concerns(connection, folded.sessions, folded.standing)
    if acted:
        memories.refold(connection)
    return bereft, acted


def _wish(connection: Database, piece: Piece, is_first: bool) -> forget.Wish:
    """What is to be forgotten. A wish of the first version knows one id of each event, later ones all (serve/forgetting.py)."""
    assert piece.content is not None  # it was delivered just now
    ids = forget.named(json.loads(piece.content.detail))
    return forget.Wish(piece.at, ids, versions.stored_as_newest(connection, ids) if is_first else [])


def _sessions_of(connection: Database, wishes: Iterable[forget.Wish]) -> list[str]:
    """The sessions that hold turns which are to be forgotten."""
    named = [each for wish in wishes for each in (*wish.ids, *wish.also)]
    return [str(row[0]) for row in connection.execute(_HOLDING, (json.dumps(named),)).fetchall()]


def _sources(batch: Batch) -> set[str]:
    return {segment_source(record.segment) for record, _ in batch.records}


class _Folded:
    """A batch's events, one entry per row to be written, under their newest ids until it is known which of them stand."""

    def __init__(self) -> None:
        self.knows_first = False  # whether the ledger knows anything by an id of the first version
        self.first_ids: dict[str, str] = {}  # newest id -> the first version's, where that may be known
        self.of_first: set[str] = set()  # newest ids of what came under the first version's
        self.standing: Mapping[str, str] = {}  # of these what stands under the first version's id
        self.sessions: dict[str, SessionState] = {}
        self.turns: dict[str, Piece] = {}
        self.events: dict[str, Piece] = {}
        self.places: list[tuple[Place, int]] = []
        self.cursors: list[Cursor] = []
        self.calls: list[calls.Call] = []
        self.lines: dict[str, int] = {}
        self.redactions: list[tuple[str, int, str, int]] = []
        self.repeated = 0
        self._by_client: dict[tuple[str, str], SessionState] = {}

    def take(self, record: Record, events: Sequence[Event]) -> None:
        source = segment_source(record.segment)
        self.lines[source] = self.lines.get(source, 0) + 1
        if told := record.line.meta.get("r"):
            self.redactions += _taken_out(record, events, redactions(told))
        for event in events:
            if event.kind == "place" and (place := place_of(event)) is not None:
                self.places.append(place)
            elif event.kind == "cursor" and (cursor := _cursor_of(event)) is not None:
                self.cursors.append(cursor)
            elif event.kind == "call" and (call := calls.of_event(event)) is not None:
                self.calls.append(call)
            else:
                self._take_content(event, record)

    def leave_out(self, known: Mapping[str, int]) -> None:
        """Turn away what was forgotten, however it comes again."""
        if not known:
            return
        for table in (self.turns, self.events):
            for identifier, piece in list(table.items()):
                names = (identifier, self.first_ids.get(identifier, identifier))
                if piece.kind != "forget" and forget.is_forgotten(known, names, piece.session_id, piece.at):
                    del table[identifier]
        busy = {piece.session_id for piece in (*self.turns.values(), *self.events.values())}
        for identifier in [each for each in self.sessions if each in known and each not in busy]:
            del self.sessions[identifier]

    def rename(self, standing: Mapping[str, str]) -> None:
        """Give what stands under an id of the first version that id."""
        self.standing = standing
        self.turns, self.events = (
            {(name := standing.get(each, each)): piece._replace(id=name) for each, piece in table.items()}
            for table in (self.turns, self.events)
        )

    def _take_content(self, event: Event, record: Record) -> None:
        session = self._session(event) if event.session else None
        piece = merge.piece_of(event, session.id if session else None, record.segment, record.start)
        # a turn without a session or a role has no place in a conversation; it is kept as something we could not read
        is_turn = event.kind == "turn" and session is not None and event.role is not None
        if event.kind == "turn" and not is_turn:
            piece = piece._replace(kind="unparsed")
        if self.knows_first or event.version == FIRST_VERSION:
            newest, first = event.ids
            piece = piece._replace(id=newest)
            self.first_ids[newest] = first
            if event.version == FIRST_VERSION:
                self.of_first.add(newest)
        table = self.turns if is_turn else self.events
        known = table.get(piece.id)
        if known is None:
            table[piece.id] = piece
        else:
            self.repeated += 1
            table[piece.id] = merge.merged(known, piece)

    def _session(self, event: Event) -> SessionState:
        state = self._by_client.get((event.agent, event.session))
        if state is None:
            agent, client_id, at = clean(event.agent), clean(event.session), whole(event.at)
            identifier = session_id(agent, client_id)
            state = self.sessions.setdefault(identifier, SessionState(identifier, agent, client_id, at, at))
            self._by_client[event.agent, event.session] = state
        state.take(event)
        return state


def _taken_out(record: Record, events: Sequence[Event], counts: Mapping[str, int]) -> Iterator[tuple[str, int, str, int]]:
    """Which secrets were taken out of what: an event's id stands for it however often it comes, else the line's place."""
    if not events:
        yield from ((record.segment, record.start, rule, count) for rule, count in counts.items())
    for event, own in zip(events, shares(events, counts), strict=True):
        yield from ((event.ids[0], 0, rule, count) for rule, count in own.items())


def redactions(told: str) -> dict[str, int]:
    """Secrets taken out of a line, by rule, from its header field: `github-token:2,password-assignment:1`."""
    found: dict[str, int] = {}
    for part in told.split(","):
        rule, _, number = part.rpartition(":")
        count = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        if rule and count:
            found[clean(rule)] = found.get(clean(rule), 0) + count
        elif part:  # not in the form we write: something was taken out, so something is counted
            found["unreadable"] = found.get("unreadable", 0) + 1
    return found


def _cursor_of(event: Event) -> Cursor | None:
    """The cursor an event moves; None when it names none that an event may move."""
    source, position = event.detail.get("source"), event.detail.get("position")
    if not isinstance(source, str) or not source or source.startswith(SEGMENT_PREFIX) or not isinstance(position, dict):
        return None
    return Cursor(clean(source), whole(event.at), _offset(position), json_text(position))


def _told_cursor(source: str, position: Json, now_ms: int) -> Cursor:
    """A cursor the caller moves itself. A segment only grows, so for it the offset alone decides."""
    at = 0 if source.startswith(SEGMENT_PREFIX) else now_ms
    return Cursor(clean(source), at, _offset(position), json_text(position))


def _offset(position: Json) -> int:
    value = position.get("offset", 0) if isinstance(position, dict) else position
    return whole(value) if isinstance(value, int) else 0
