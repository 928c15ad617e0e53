"""Sessions of a project -> one row each, and what was asked in them, in order of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.scoping import Chosen

_CHARS: Final = 2000  # of a text that is only shown in part
_SESSION: Final = """
sessions.id, sessions.agent, sessions.client_id, sessions.project_id, projects.name, sessions.parent_id, sessions.started_at,
sessions.last_at, sessions.cwd
"""
_FROM: Final = "FROM sessions LEFT JOIN projects ON projects.id = sessions.project_id"
_IN_PROJECT: Final = "(:everything = 1 OR sessions.project_id = :project)"
_SESSIONS: Final = f"""
SELECT {_SESSION}, (SELECT count(*) FROM turns WHERE turns.session_id = sessions.id),
       coalesce((SELECT substr(text, 1, {_CHARS}) FROM turns WHERE turns.session_id = sessions.id AND role = 'user'
                 ORDER BY at, rowid LIMIT 1), '')
{_FROM} WHERE {_IN_PROJECT} ORDER BY sessions.last_at DESC, sessions.id LIMIT :limit
"""
_PROMPTS: Final = f"""
SELECT turns.at, turns.id, substr(turns.text, 1, {_CHARS}), sessions.id, sessions.agent, projects.name
FROM turns JOIN sessions ON sessions.id = turns.session_id LEFT JOIN projects ON projects.id = sessions.project_id
WHERE turns.role = 'user' AND {_IN_PROJECT} AND turns.at >= :since ORDER BY turns.at DESC, turns.id DESC LIMIT :limit
"""
_SILENT: Final = f"""
SELECT sessions.started_at, '', '', sessions.id, sessions.agent, projects.name {_FROM}
WHERE {_IN_PROJECT} AND sessions.started_at >= :since
  AND NOT EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.id AND turns.role = 'user')
ORDER BY sessions.started_at DESC, sessions.id DESC LIMIT :limit
"""
_TURNS: Final = f"""
SELECT id, role, tool, at, substr(text, 1, {_CHARS}) FROM turns WHERE session_id = ?
ORDER BY at, source_start NULLS FIRST, segment, start, role, id LIMIT ?
"""
_ONE: Final = f"""
SELECT {_SESSION}, (SELECT count(*) FROM turns WHERE turns.session_id = sessions.id), '' {_FROM} WHERE sessions.id = ?
"""


@dataclass(frozen=True, slots=True)
class Listed:
    """A session in a list."""

    id: str
    agent: str
    client_id: str
    project_id: str | None
    project: str | None
    parent_id: str | None
    started_at: int
    last_at: int
    cwd: str
    turns: int
    first_prompt: str


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt in its session; a session without one has no turn."""

    at: int
    turn: str
    text: str
    session: str
    agent: str
    project: str | None


@dataclass(frozen=True, slots=True)
class Said:
    """A turn in a session's list."""

    id: str
    role: str
    tool: str
    at: int
    text: str


def sessions(ledger: Evidence, chosen: Chosen, limit: int) -> list[Listed]:
    """The sessions active last, newest first."""
    with ledger.reading() as connection:
        rows = connection.execute(_SESSIONS, _values(chosen, limit)).fetchall()
    return [Listed(*row) for row in rows]


def session(ledger: Evidence, identifier: str, limit: int) -> tuple[Listed, list[Said]]:
    """A session that is known to be there, and its first turns."""
    with ledger.reading() as connection:
        row = connection.execute(_ONE, (identifier,)).fetchone()
        turns = connection.execute(_TURNS, (identifier, limit)).fetchall()
    return Listed(*row), [Said(*turn) for turn in turns]


def timeline(ledger: Evidence, chosen: Chosen, since: int, limit: int) -> list[Asked]:
    """The last prompts, oldest of them first."""
    values = _values(chosen, limit) | {"since": since}
    with ledger.reading() as connection:
        rows = [*connection.execute(_PROMPTS, values).fetchall(), *connection.execute(_SILENT, values).fetchall()]
    return [Asked(*row) for row in sorted(rows)[-limit:]]


def _values(chosen: Chosen, limit: int) -> dict[str, object]:
    return {"everything": int(chosen.everything), "project": chosen.project, "limit": limit}
