"""What people said should be kept -> memories, each with the turn that is its evidence.

`remember`, `correct` and `pin` are events like all others, so they survive a rebuild. The memories they make are what
remains when all of these events are read in order of time: they are few, so they are simply all read again whenever one
more comes, and the result does not depend on the order they arrived in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forgotten

KINDS: Final = ("decision", "preference", "correction", "instruction", "fact", "lesson", "procedure", "task", "insight")
SCOPES: Final = ("project", "global")

_EVENTS: Final = """
SELECT events.id, events.at, events.text, events.detail FROM events WHERE events.kind = 'memory' ORDER BY events.at, events.id
"""
_EVIDENCE: Final = """
SELECT turns.id, sessions.project_id FROM turns JOIN sessions ON sessions.id = turns.session_id
WHERE turns.id IN (SELECT value FROM json_each(?))
"""
_CONCERNED: Final = """
SELECT 1 FROM events JOIN turns ON turns.id = json_extract(events.detail, '$.turn')
WHERE events.kind = 'memory' AND turns.session_id IN (SELECT value FROM json_each(?)) LIMIT 1
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


def concerns(connection: Database, sessions: Iterable[str]) -> bool:
    """Whether any of these sessions holds the evidence of an act: what came of it may have to be put together anew."""
    return connection.execute(_CONCERNED, (json.dumps(list(sessions)),)).fetchone() is not None


def refold(connection: Database) -> None:
    """Bring the memories in line with all events about them; inside the caller's transaction."""
    gone = forgotten(connection)
    kept = {each.id: each for each in _folded(connection).values() if each.id not in gone}
    wanted = json.dumps([each.turn for each in kept.values()])
    projects = dict(connection.execute(_EVIDENCE, (wanted,)).fetchall())
    for each in kept.values():
        each.project = projects.get(each.turn) if each.scope == "project" else None
    # one that waits for its evidence, or for its project to be known, is not shown: it would be told in other projects
    _write(connection, {
        each.id: each for each in kept.values() if each.turn in projects and (each.project is not None or each.scope == "global")
    })  # fmt: skip


def _folded(connection: Database) -> dict[str, _Kept]:
    """All statements first, then what was done to them in order of time: a clock that was set back loses none."""
    acts = [(row[0], row[1], row[2], json.loads(row[3])) for row in connection.execute(_EVENTS).fetchall()]
    kept = {made.id: made for act in acts if (made := _made(*act)) is not None}
    for identifier, at, _, said in acts:
        target = kept.get(str(said.get("target", "")))
        if target is None:
            continue  # it was forgotten: what took its place stands by itself
        if said.get("op") == "pin":
            target.pinned = bool(said.get("pinned", True))
        elif said.get("op") == "correct":
            made = kept[memory_id(identifier)]
            made.kind, made.scope, made.pinned, made.supersedes = target.kind, target.scope, target.pinned, target.id
            target.superseded_by, target.valid_to = made.id, max(at, target.at)
    return kept


def _made(identifier: str, at: int, text: str, said: Mapping[str, Json]) -> _Kept | None:
    if said.get("op") not in ("remember", "correct"):
        return None
    kind, scope = str(said.get("kind")), str(said.get("scope"))
    return _Kept(
        memory_id(identifier), text, kind if kind in KINDS else "fact", scope if scope in SCOPES else "project",
        str(said.get("turn", "")), at, bool(said.get("pinned")),
    )  # fmt: skip


def _write(connection: Database, kept: Mapping[str, _Kept]) -> None:
    for each in kept.values():
        values = (each.kind, each.text, each.scope, each.project, each.at, each.valid_to, int(each.pinned), each.at)
        connection.execute(_PUT, (each.id, *values))
        connection.execute(_LINK, (each.id, 0, "derived_from", each.turn, None, each.at))
        fulltext.put_memory(connection, each.id, each.text)
    for each in kept.values():  # once all are there, so that they may name each other
        newer = each.superseded_by if each.superseded_by in kept else None
        connection.execute("UPDATE memories SET superseded_by = ? WHERE id = ?", (newer, each.id))
        if each.supersedes in kept:
            connection.execute(_LINK, (each.id, 1, "supersedes", None, each.supersedes, each.at))
