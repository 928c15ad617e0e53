"""Rows of the ledger -> what the library hands to programs: sessions, turns and memories, typed, with times as datetimes.

`show` answers with the one of the three that an id names. The values are copies: whatever happens in the ledger afterwards, they
stay as they were.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.capture.event import Json, session_id, storable
from hindbrain.ledger import query
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve import lists, reading
from hindbrain.serve.lookup import look_up
from hindbrain.serve.scoping import Chosen

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST: Final = (datetime.max.replace(tzinfo=UTC) - _EPOCH) // timedelta(milliseconds=1)
_MEMORY: Final = """
SELECT memories.id, kind, text, level, confidence, trust, observer, subject, projects.name, pinned, valid_from, valid_to,
       superseded_by, held, made_by
FROM memories LEFT JOIN projects ON projects.id = memories.project_id WHERE memories.id = ?
"""
_LINKS: Final = "SELECT role, turn_id, target_memory_id FROM links WHERE memory_id = ? ORDER BY number"


@dataclass(frozen=True, slots=True)
class Turn:
    """A turn to be recorded: what Memory.record takes, for Memory.record_many."""

    agent: str
    session: str
    role: str
    text: str
    at: datetime | None = None
    project: str | None = None
    key: str | None = None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])  # whatever belongs to it, as JSON; it is not searched
    tool: str = ""  # of a tool_call or tool_result: the name of the tool


@dataclass(frozen=True, slots=True)
class Said:
    """A turn that is stored."""

    id: str
    role: str
    text: str
    tool: str
    at: datetime
    agent: str
    session: str  # as its agent calls it
    session_id: str
    project: str | None
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Session:
    """A session that is stored."""

    id: str
    agent: str
    session: str  # as its agent calls it
    project: str | None
    parent: str | None
    folder: str
    started_at: datetime
    last_at: datetime
    turns: int
    first_prompt: str


@dataclass(frozen=True, slots=True)
class Kept:
    """A memory that is stored, and the turns it rests on in the end."""

    id: str
    kind: str
    text: str
    level: str
    confidence: float
    trust: str
    observer: str  # who keeps it: user, the name of an agent, or hindbrain for what was found
    subject: str  # what or whom it is about
    project: str | None  # None: it holds everywhere
    pinned: bool
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: str | None
    held: str  # "" where it may be told, else quarantine or rejected
    made_by: str
    evidence: tuple[str, ...]


def show(ledger: Evidence | None, identifier: str) -> Said | Session | Kept:
    """What an id, or its beginning where that is unique, names. Raises NotFound."""
    named = look_up(ledger, identifier, "turn", "memory", "session")
    assert ledger is not None  # nothing can be found in none
    if named.kind == "session":
        return _session(lists.session(ledger, named.id, 0)[0])
    if named.kind == "memory":
        if (kept := memory_of(ledger, named.id)) is None:
            raise NotFound(f"there is no memory {named.id}")
        return kept
    found = reading.piece(ledger, named.id)
    with ledger.reading() as database:
        (detail,) = database.execute("SELECT detail FROM turns WHERE id = ?", (named.id,)).fetchone()
    return Said(
        found.id, found.role, found.text, found.tool, moment(found.at), found.agent, found.session or "", found.session_id or "",
        found.project, json.loads(detail),
    )  # fmt: skip


def sessions(ledger: Evidence, chosen: Chosen, limit: int) -> list[Session]:
    """The sessions active last, newest first."""
    return [_session(each) for each in lists.sessions(ledger, chosen, limit)]


def turns(ledger: Evidence, session: str, agent: str | None) -> list[Said]:
    """What was said in a session, in order; nothing of one that is not there. Raises UsageError where several agents have one."""
    with ledger.reading() as database:
        ids = _session_ids(database, storable(session), agent)
        if len(ids) > 1:
            raise UsageError(f"several agents have a session {session[:80]!r}", hint="name the agent, or the session's id")
        known = query.session(database, ids[0]) if ids else None
        said = query.turns_of(database, ids[0]) if ids else []
        project = _project_name(database, known.project_id) if known is not None else None
    if known is None:
        return []
    whose = known.agent, known.client_id, known.id, project
    return [Said(each.id, each.role, each.text, each.tool, moment(each.at), *whose, each.detail) for each in said]


def memory_of(ledger: Evidence, identifier: str) -> Kept | None:
    """A memory by its whole id, None when it is not there; read at one moment."""
    with ledger.reading() as database:
        row = database.execute(_MEMORY, (identifier,)).fetchone()
        evidence = _evidence(database, identifier) if row is not None else ()
    if row is None:
        return None
    *plain, pinned, since, until, newer, held, made_by = row
    ended = None if until is None else moment(until)
    columns: list[Any] = [*plain, bool(pinned), moment(since), ended, newer, held, made_by, evidence]
    return Kept(*columns)


def _evidence(database: Database, identifier: str) -> tuple[str, ...]:
    """The turns a memory rests on in the end, through however many memories between; what it replaced is no evidence."""
    turns: dict[str, None] = {}
    seen, waiting = {identifier}, [identifier]
    while waiting:
        for role, turn, memory in database.execute(_LINKS, (waiting.pop(0),)).fetchall():
            if turn is not None:
                turns[turn] = None
            elif role != "supersedes" and memory not in seen:
                seen.add(memory)
                waiting.append(memory)
    return tuple(turns)


def moment(at: int) -> datetime:
    """The time as Python can say it; what lies outside is the nearest it can."""
    return _EPOCH + timedelta(milliseconds=min(max(at, 0), _LAST))


def _session_ids(database: Database, session: str, agent: str | None) -> list[str]:
    if agent is not None:
        return [session_id(storable(agent), session)]
    rows = database.execute("SELECT id FROM sessions WHERE id = ? OR client_id = ? ORDER BY id", (session, session)).fetchall()
    ids = [str(row[0]) for row in rows]
    return [session] if session in ids else ids


def _project_name(database: Database, project: str | None) -> str | None:
    row = database.execute("SELECT name FROM projects WHERE id = ?", (project,)).fetchone() if project is not None else None
    return None if row is None else str(row[0])


def _session(listed: lists.Listed) -> Session:
    return Session(
        listed.id, listed.agent, listed.client_id, listed.project, listed.parent_id, listed.cwd, moment(listed.started_at),
        moment(listed.last_at), listed.turns, listed.first_prompt,
    )  # fmt: skip
