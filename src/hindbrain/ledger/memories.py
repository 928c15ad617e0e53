"""What people said should be kept -> memories, each with the turn that is its evidence.

`remember`, `correct` and `pin` are events like all others, so they survive a rebuild. The memories they make are what
remains when all of these events are read in order of time: they are few, so they are simply all read again whenever one
more comes, and the result does not depend on the order they arrived in.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hindbrain.capture.event import Event, Json, stable_id

KINDS: Final = ("decision", "preference", "correction", "instruction", "fact", "lesson", "procedure", "task", "insight")
SCOPES: Final = ("project", "global")

_EVENTS: Final = """
SELECT events.id, events.at, events.text, events.detail FROM events WHERE events.kind = 'memory' ORDER BY events.at, events.id
"""
_EVIDENCE: Final = """
SELECT turns.id, sessions.project_id FROM turns JOIN sessions ON sessions.id = turns.session_id
WHERE turns.id IN (SELECT value FROM json_each(?))
"""
_PUT: Final = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_from, valid_to,
                      pinned, created_at, evidence)
VALUES (?, 'observation', ?, ?, 1.0, 'user', 'user', 'user', ?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, text = excluded.text, scope = excluded.scope, project_id = excluded.project_id,
    valid_to = excluded.valid_to, pinned = excluded.pinned
"""
_LINK: Final = """
INSERT INTO links (memory_id, number, role, turn_id, target_memory_id, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
"""


@dataclass(slots=True)
class _Kept:
    id: str
    text: str
    kind: str
    scope: str
    turn: str
    at: int
    pinned: bool = False
    superseded_by: str | None = None
    valid_to: int | None = None
    supersedes: str | None = None
    project: str | None = field(default=None)


def memory_event(op: str, *, agent: str, session: str, at: int, text: str = "", detail: Mapping[str, Json]) -> Event:
    """A person's act on memories. The same act at the same moment is the same event."""
    key = stable_id("k", op, str(at), text, json.dumps(dict(detail), sort_keys=True))
    return Event(
        kind="memory", agent=agent, session=session, at=at, key=key, origin="api", text=text, detail={"op": op, **detail},
    )  # fmt: skip


def memory_id(event_id: str) -> str:
    """The memory that an event makes."""
    return stable_id("m", event_id)


def refold(connection: sqlite3.Connection) -> None:
    """Bring the memories in line with all events about them; inside the caller's transaction."""
    kept = _folded(connection)
    wanted = json.dumps([each.turn for each in kept.values()])
    projects = dict(connection.execute(_EVIDENCE, (wanted,)).fetchall())
    whole = {each.id: each for each in kept.values() if each.turn in projects}
    for each in whole.values():
        each.project = projects[each.turn] if each.scope == "project" else None
        if each.project is None:
            each.scope = "global"  # said outside any project: it can only be meant for all of them
    _write(connection, whole)


def _folded(connection: sqlite3.Connection) -> dict[str, _Kept]:
    kept: dict[str, _Kept] = {}
    for identifier, at, text, detail in connection.execute(_EVENTS).fetchall():
        said = json.loads(detail)
        target = kept.get(str(said.get("target", "")))
        match said.get("op"):
            case "remember":
                scope = said.get("scope") if said.get("scope") in SCOPES else "project"
                kind = said.get("kind") if said.get("kind") in KINDS else "fact"
                made = _Kept(memory_id(identifier), text, kind, scope, str(said.get("turn", "")), at, bool(said.get("pinned")))
                kept[made.id] = made
            case "correct" if target is not None:
                made = _Kept(
                    memory_id(identifier), text, target.kind, target.scope, str(said.get("turn", "")), at, target.pinned,
                    supersedes=target.id,
                )  # fmt: skip
                kept[made.id] = made
                target.superseded_by, target.valid_to = made.id, max(at, target.at)
            case "pin" if target is not None:
                target.pinned = bool(said.get("pinned", True))
    return kept


def _write(connection: sqlite3.Connection, kept: Mapping[str, _Kept]) -> None:
    for each in kept.values():
        values = (each.kind, each.text, each.scope, each.project, each.at, each.valid_to, int(each.pinned), each.at)
        connection.execute(_PUT, (each.id, *values))
        connection.execute(_LINK, (each.id, 0, "derived_from", each.turn, None, each.at))
        connection.execute("DELETE FROM memories_fts WHERE id = ?", (each.id,))
        connection.execute("INSERT INTO memories_fts (id, text) VALUES (?, ?)", (each.id, each.text))
    for each in kept.values():  # once all are there, so that they may name each other
        newer = each.superseded_by if each.superseded_by in kept else None
        connection.execute("UPDATE memories SET superseded_by = ? WHERE id = ?", (newer, each.id))
        if each.supersedes in kept:
            connection.execute(_LINK, (each.id, 1, "supersedes", None, each.supersedes, each.at))
