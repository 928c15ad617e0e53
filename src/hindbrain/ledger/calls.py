"""Calls of models -> rows that say who was asked, what came back and what it cost, and events of the same.

A reply and its bill are rows of their own. A reply has the key of its question, so the same is not asked twice, and goes when a
session it was shown is forgotten; a bill has that key with an attempt behind it, no word of what was asked, and stays: what was
spent was spent. Both are events, so a rebuild knows them. Two machines may have paid for the same question: both bills count, and
one of the replies stands, the same one whatever the order they come in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hindbrain.capture.event import FIRST_VERSION, Event, Json, storable
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import MAX_INTEGER, clean, json_text, whole

_AGENT: Final = "hindbrain"
_MOST_IDS: Final = 10_000

_COLUMNS: Final = """
key, at, provider, model, kind, project_id, input_tokens, output_tokens, cost_micros, reply, sessions, produced
"""
_PUT: Final = """
INSERT INTO calls (id, key, at, provider, model, kind, project_id, input_tokens, output_tokens, cost_micros, reply, sessions,
                   produced)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET
    at = excluded.at, provider = excluded.provider, model = excluded.model, kind = excluded.kind,
    project_id = excluded.project_id, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
    cost_micros = excluded.cost_micros, reply = excluded.reply, sessions = excluded.sessions
WHERE (excluded.at, excluded.provider, excluded.model, excluded.kind, excluded.reply, excluded.sessions, excluded.input_tokens,
       excluded.output_tokens, excluded.cost_micros, coalesce(excluded.project_id, ''))
    < (calls.at, calls.provider, calls.model, calls.kind, calls.reply, calls.sessions, calls.input_tokens, calls.output_tokens,
       calls.cost_micros, coalesce(calls.project_id, ''))
"""
_FORGOTTEN: Final = """
SELECT 1 FROM forgotten WHERE id = ? OR (id IN (SELECT value FROM json_each(?)) AND at >= ?) LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Call:
    """One reply of a model, or what one attempt to get one cost."""

    key: str  # made of what was asked: the same question has the same key; of a bill, with "/" and the attempt behind it
    at: int  # when it was asked for
    provider: str
    model: str
    kind: str  # of the job
    reply: str
    project_id: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0  # millionths of the currency the price is given in
    sessions: tuple[str, ...] = ()  # ids of the sessions it was shown anything of
    produced: tuple[str, ...] = ()  # ids of the memories that came of it


@dataclass(frozen=True, slots=True)
class Spent:
    """What replies cost together."""

    tokens: int
    cost_micros: int
    calls: int = 0


def call(database: Database, key: str) -> Call | None:
    """The reply to a question, if one was paid for."""
    row = database.execute(f"SELECT {_COLUMNS} FROM calls WHERE key = ?", (key,)).fetchone()
    return None if row is None else _call(row)


def calls(database: Database, since_ms: int = 0, limit: int = 1_000) -> list[Call]:
    """The replies since a time, newest first."""
    query = f"SELECT {_COLUMNS} FROM calls WHERE at >= ? ORDER BY at DESC, key LIMIT ?"
    return [_call(row) for row in database.execute(query, (since_ms, limit)).fetchall()]


def put_call(database: Database, told: Call) -> None:
    """Keep a reply, unless a session it was shown was forgotten since it was asked for. Telling of it again changes nothing."""
    if database.execute(_FORGOTTEN, (event_id(told.key), json.dumps(list(told.sessions)), whole(told.at))).fetchone():
        return
    values = (told.provider, told.model, told.kind, told.project_id, *_numbers(told), clean(told.reply))
    lists = json_text([*sorted(set(told.sessions))]), json_text([*told.produced])
    database.execute(_PUT, (event_id(told.key), told.key, whole(told.at), *values, *lists))


def note_produced(database: Database, key: str, memories: Iterable[str]) -> None:
    """Note which memories came of a reply."""
    database.execute("UPDATE calls SET produced = ? WHERE key = ?", (json_text([*sorted(set(memories))]), key))


def spent(database: Database, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent:
    """What was paid since a time, of one project and one kind of job if they are named."""
    where, values = "at >= ?", [since_ms, *(each for each in (project_id, kind) if each is not None)]
    where += " AND project_id = ?" if project_id is not None else ""
    where += " AND kind = ?" if kind is not None else ""
    row = database.execute(
        f"SELECT coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0), coalesce(sum(cost_micros), 0),"
        f" coalesce(sum(CASE WHEN input_tokens > 0 THEN 1 ELSE 0 END), 0) FROM calls WHERE {where}", values,
    ).fetchone()  # fmt: skip
    return Spent(*(int(each) for each in row))


def call_event(told: Call) -> Event:
    """A reply as an event for the journal."""
    detail: dict[str, Json] = {
        "provider": told.provider, "model": told.model, "job": told.kind, "project": told.project_id,
        "tokens": [told.input_tokens, told.output_tokens], "cost": told.cost_micros, "sessions": [*sorted(set(told.sessions))],
    }  # fmt: skip
    return Event(
        kind="call", agent=_AGENT, session="", at=told.at, key=told.key, origin="worker", text=storable(told.reply),
        detail=detail, version=FIRST_VERSION,
    )  # fmt: skip


def of_event(event: Event) -> Call | None:
    """The reply an event tells of; None for one that is not in the form we write."""
    told = event.detail
    tokens, sessions = told.get("tokens"), told.get("sessions")
    if not isinstance(tokens, list) or len(tokens) != 2 or not isinstance(sessions, list) or not event.key:
        return None
    project = told.get("project")
    return Call(
        clean(event.key), whole(event.at), _text(told, "provider"), _text(told, "model"), _text(told, "job"), clean(event.text),
        clean(project) if isinstance(project, str) else None, _number(tokens[0]), _number(tokens[1]), _number(told.get("cost")),
        tuple(clean(each) for each in sessions[:_MOST_IDS] if isinstance(each, str)),
    )  # fmt: skip


def event_id(key: str) -> str:
    """The id of the event that tells of a reply. It is of no session, so it stays as the first version made it."""
    return Event(kind="call", agent=_AGENT, session="", at=0, key=key, origin="worker", version=FIRST_VERSION).id


def about(database: Database, sessions: Sequence[str]) -> dict[str, list[str]]:
    """Replies that are about any of these sessions: the ids of their events, and all sessions each is about."""
    query = """
        SELECT id, sessions FROM calls WHERE EXISTS (
            SELECT 1 FROM json_each(calls.sessions) AS told WHERE told.value IN (SELECT value FROM json_each(?))
        ) ORDER BY id"""
    return {row[0]: json.loads(row[1]) for row in database.execute(query, (json.dumps(list(sessions)),)).fetchall()}


def _call(row: Sequence[Any]) -> Call:
    key, at, provider, model, kind, project, put_in, put_out, cost, reply, sessions, produced = row
    lists = tuple(json.loads(sessions)), tuple(json.loads(produced))
    return Call(key, at, provider, model, kind, reply, project, put_in, put_out, cost, *lists)


def _numbers(told: Call) -> tuple[int, int, int]:
    return _number(told.input_tokens), _number(told.output_tokens), _number(told.cost_micros)


def _text(told: Mapping[str, Json], name: str) -> str:
    value = told.get(name)
    return clean(value) if isinstance(value, str) else ""


def _number(value: Json) -> int:
    return min(whole(value), MAX_INTEGER >> 16) if isinstance(value, int) and not isinstance(value, bool) else 0
