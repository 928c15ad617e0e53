"""Rows of the ledger -> what a person looks at: a turn with where it comes from, a session, a memory with its evidence.

Reads only. Whether a transcript still says what a turn was taken from is looked up in the file itself.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from typing import Any, Final, Literal

from hindbrain.base.home import Home
from hindbrain.journal.read import archives, segment_name, segments
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.joining import JOINED
from hindbrain.ledger.merge import ORIGIN_BITS
from hindbrain.serve import inbox

Standing = Literal["there", "changed", "gone", "unreadable"]

_LINE_BYTES: Final = 64 << 20
_COLUMNS: Final = """
p.id, p.role, p.text, p.tool, p.at, p.origins, p.segment, p.start, p.source_path, p.source_start, p.source_end,
p.session_id, sessions.client_id, sessions.agent, projects.id, projects.name
"""
_JOINED: Final = """
LEFT JOIN sessions ON sessions.id = p.session_id LEFT JOIN projects ON projects.id = sessions.project_id
"""
_TURN: Final = f"SELECT 'turn', {_COLUMNS} FROM turns AS p {_JOINED} WHERE p.id = ?"
_EVENT: Final = f"SELECT p.kind, {_COLUMNS} FROM events AS p {_JOINED} WHERE p.id = ?"
_MEMORY: Final = f"""
SELECT memories.id, level, kind, text, confidence, trust, scope, projects.id, projects.name, valid_from, valid_to,
       superseded_by, pinned, memories.created_at, memories.held, memories.made_by, memories.observer, memories.subject,
       CASE WHEN {JOINED} THEN 1 ELSE 0 END
FROM memories LEFT JOIN projects ON projects.id = memories.project_id WHERE memories.id = ?
"""
_BESIDE: Final = """
SELECT id, role, tool, at, substr(text, 1, {chars}), length(text) FROM turns
WHERE session_id = :session AND (at {than} :at OR (at = :at AND id {than} :id)) ORDER BY at {order}, id {order} LIMIT :most
"""
_LINKS: Final = "SELECT role, turn_id, target_memory_id FROM links WHERE memory_id = ? ORDER BY number"
_RESTING: Final = "SELECT DISTINCT memory_id FROM links WHERE turn_id = :id OR target_memory_id = :id ORDER BY memory_id"
_TOLD: Final = "SELECT session_id, at FROM injections WHERE item_id = ? ORDER BY at, session_id LIMIT 100"
_REPLACED: Final = """
SELECT target_memory_id, joined FROM links WHERE memory_id = ? AND role = 'supersedes' AND target_memory_id IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Piece:
    """A turn, or an event that is none."""

    kind: str
    id: str
    role: str
    text: str
    tool: str
    at: int
    origins: tuple[str, ...]
    segment: str
    start: int
    source: tuple[str, int, int] | None
    session_id: str | None
    session: str | None  # as its agent calls it
    agent: str
    project_id: str | None
    project: str | None


@dataclass(frozen=True, slots=True)
class Beside:
    """A turn next to another, with as much of its text as was asked for."""

    id: str
    role: str
    tool: str
    at: int
    text: str
    chars: int  # of the whole text


@dataclass(frozen=True, slots=True)
class Link:
    """What a memory rests on: a turn or another memory."""

    role: str
    turn: str | None
    memory: str | None


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory."""

    id: str
    level: str
    kind: str
    text: str
    confidence: float
    trust: str
    scope: str
    project_id: str | None
    project: str | None
    valid_from: int
    valid_to: int | None
    superseded_by: str | None
    pinned: bool
    created_at: int
    held: str  # '' where it may be told; else quarantine or rejected
    made_by: str
    observer: str  # user, hindbrain for what was found, or the agent that keeps it under its own name
    subject: str
    joined: bool  # what took its place says the same and stands for it
    supersedes: tuple[str, ...]
    stands_for: tuple[str, ...]  # what says the same
    links: tuple[Link, ...]


def piece(ledger: Evidence, identifier: str) -> Piece:
    """A turn or event that is known to be there."""
    with ledger.reading() as connection:
        row = connection.execute(_TURN, (identifier,)).fetchone() or connection.execute(_EVENT, (identifier,)).fetchone()
    columns: list[Any] = list(row)  # STRICT columns have the declared types
    kind, ident, role, text, tool, at, bits, segment, start, path, first, last, *where = columns
    origins = tuple(name for name, bit in ORIGIN_BITS.items() if bits & bit)
    session_id, session, agent, project_id, project = where
    source = None if path is None else (path, first, last)
    return Piece(
        kind, ident, role, text, tool, at, origins, segment, start, source, session_id, session, agent or "", project_id, project
    )


def beside(ledger: Evidence, found: Piece, most: int, chars: int) -> tuple[list[Beside], list[Beside]]:
    """The turns of the same session just before and just after, in order of time, each with the beginning of its text."""
    values = {"session": found.session_id, "at": found.at, "id": found.id, "most": most}
    with ledger.reading() as connection:
        before = connection.execute(_BESIDE.format(chars=int(chars), than="<", order="DESC"), values).fetchall()
        after = connection.execute(_BESIDE.format(chars=int(chars), than=">", order="ASC"), values).fetchall()
    return [Beside(*row) for row in reversed(before)], [Beside(*row) for row in after]


def memory(ledger: Evidence, identifier: str) -> Kept:
    """A memory that is known to be there."""
    with ledger.reading() as connection:
        row = connection.execute(_MEMORY, (identifier,)).fetchone()
        links = tuple(Link(*each) for each in connection.execute(_LINKS, (identifier,)).fetchall())
        older = connection.execute(_REPLACED, (identifier,)).fetchall()
    replaced, same = (tuple(each for each, joined in older if bool(joined) == wanted) for wanted in (False, True))
    *plain, joined = row
    columns: list[Any] = [*plain, bool(joined), replaced, same, links]
    columns[12] = bool(columns[12])
    return Kept(*columns)


def evidence(ledger: Evidence, kept: Kept) -> list[Piece]:
    """The turns a memory rests on in the end, through however many memories between; what it replaced is no evidence."""
    turns: dict[str, None] = {}
    seen, waiting = {kept.id}, list(kept.links)
    while waiting:
        link = waiting.pop(0)
        if link.turn is not None:
            turns[link.turn] = None
        elif link.memory is not None and link.role != "supersedes" and link.memory not in seen:
            seen.add(link.memory)
            waiting += memory(ledger, link.memory).links
    return [piece(ledger, each) for each in turns]


def resting_on(ledger: Evidence, identifier: str) -> list[str]:
    """The memories that have a turn or memory as their evidence, or replace it."""
    with ledger.reading() as connection:
        return [row[0] for row in connection.execute(_RESTING, {"id": identifier}).fetchall()]


def told_to(ledger: Evidence, identifier: str) -> list[tuple[str, int]]:
    """The sessions that were told of a turn or memory, and when."""
    with ledger.reading() as connection:
        return [(row[0], row[1]) for row in connection.execute(_TOLD, (identifier,)).fetchall()]


def journal_file(home: Home, segment: str) -> str | None:
    """The file in which a segment lies now: open, or archived; None when it is gone."""
    for path in (*segments(home.journal), *archives(home.archive)):
        if segment_name(path) == segment:
            return str(path)
    return None


def standing(piece: Piece) -> Standing | None:
    """Whether a transcript still has the line a turn was taken from, or a file of the inbox the text; None for one of neither."""
    if piece.source is None:
        return None
    path, start, end = piece.source
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except (FileNotFoundError, NotADirectoryError):
        return "gone"
    except OSError:
        return "unreadable"
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return "unreadable"
        if piece.agent == inbox.AGENT:
            same = os.pread(descriptor, end - start, start) == piece.text.encode()
        else:
            same = _is_line(descriptor, start, end, piece.session)
        return "there" if same else "changed"
    except OSError:
        return "unreadable"
    finally:
        os.close(descriptor)


def _is_line(descriptor: int, start: int, end: int, session: str | None) -> bool:
    """One whole line of the same session; a line too long to load is judged by its ends."""
    before = os.pread(descriptor, 1, start - 1) if start else b"\n"
    if before != b"\n" or end <= start or os.pread(descriptor, 1, end - 1) != b"\n":
        return False
    if end - start > _LINE_BYTES:
        return True
    data = os.pread(descriptor, end - start, start)
    if data.count(b"\n") != 1:
        return False
    try:
        line = json.loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(line, dict) and line.get("sessionId", session) in (session, None)
