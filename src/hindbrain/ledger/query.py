"""Rows -> the small values the rest of the program works with.

Every query reads all its rows at once and leaves no read transaction open: an open one would keep the write-ahead log
from being emptied.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from hindbrain.capture.event import Json
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import ORIGIN_BITS, clean

MAX_SEARCH_WORDS: Final = 32
MAX_HITS: Final = 1000
_WORD: Final = re.compile(r"\w+")
_ID: Final = re.compile("[a-z0-9_]{1,200}")
_BEHIND: Final = "\x7f"  # greater than any letter of an id

_NEAR_WEIGHT: Final = 0.3
_FOUND: Final = """
SELECT rowid, id, session_id, role, text, tool, at FROM turns
WHERE rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
"""
_SESSION: Final = """
SELECT id, agent, client_id, project_id, cwd, parent_id, started_at, last_at, ended_at, end_reason, model, detail
FROM sessions
"""
_TURNS_OF: Final = """
SELECT id, session_id, role, text, tool, at, key, origins, segment, start, source_path, source_start, source_end, detail
FROM turns WHERE session_id = ? ORDER BY at, source_start NULLS FIRST, segment, start, role, id
"""


@dataclass(frozen=True, slots=True)
class Hit:
    """A turn that a search found; a larger score fits better."""

    turn_id: str
    session_id: str
    role: str
    text: str
    tool: str
    at: int
    score: float


@dataclass(frozen=True, slots=True)
class Turn:
    """A stored turn with where it came from."""

    id: str
    session_id: str
    role: str
    text: str
    tool: str
    at: int
    key: str
    origins: frozenset[str]
    segment: str
    start: int
    source: tuple[str, int, int] | None
    detail: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Session:
    """A stored session."""

    id: str
    agent: str
    client_id: str
    project_id: str | None
    cwd: str
    parent_id: str | None
    started_at: int
    last_at: int
    ended_at: int | None
    end_reason: str | None
    model: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is stored, and how much was lost or taken out on the way."""

    lines: int  # journal lines taken in
    sessions: int
    turns: int
    events: int
    projects: int
    memories: int
    by_kind: Mapping[str, int]  # events by kind; turns by role as `turn:user` ...
    damaged: int
    torn: int
    unparsed: int
    redacted: Mapping[str, int]  # by rule


def search(connection: Database, words: str, k: int) -> list[Hit]:
    """The turns that fit any of the words best, best first."""
    distinct = list(dict.fromkeys(word.lower() for word in _WORD.findall(words)))[:MAX_SEARCH_WORDS]
    if not distinct or k < 1:
        return []
    scores = dict(fulltext.best(connection, distinct, _NEAR_WEIGHT, min(k, MAX_HITS)))
    rows = connection.execute(_FOUND, (json.dumps(list(scores)),)).fetchall()
    hits = [Hit(*found, scores[number]) for number, *found in rows]  # type: ignore[call-arg]  # mypy cannot count them
    return sorted(hits, key=lambda hit: (-hit.score, hit.turn_id))


def counts(connection: Database) -> Counts:
    """One consistent look at all of it: the caller holds a read transaction."""
    roles = dict(connection.execute("SELECT role, count(*) FROM turns GROUP BY role").fetchall())
    kinds = dict(connection.execute("SELECT kind, count(*) FROM events GROUP BY kind").fetchall())
    bad = dict(connection.execute("SELECT kind, count(*) FROM damage GROUP BY kind").fetchall())
    taken_out = "SELECT rule, CAST(sum(count) AS BIGINT) FROM redactions GROUP BY rule ORDER BY rule"
    rules = dict(connection.execute(taken_out).fetchall())
    (lines,) = connection.execute("SELECT CAST(coalesce(sum(lines), 0) AS BIGINT) FROM cursors").fetchone()
    return Counts(
        lines=lines, sessions=_count(connection, "sessions"), turns=sum(roles.values()), events=sum(kinds.values()),
        projects=_count(connection, "projects"), memories=_count(connection, "memories"),
        by_kind={**{f"turn:{role}": number for role, number in sorted(roles.items())}, **dict(sorted(kinds.items()))},
        damaged=bad.get("damaged", 0), torn=bad.get("torn", 0), unparsed=kinds.get("unparsed", 0), redacted=rules,
    )  # fmt: skip


def _count(connection: Database, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def session(connection: Database, identifier: str) -> Session | None:
    """One session by the ledger's id."""
    row = connection.execute(f"{_SESSION} WHERE id = ?", (clean(identifier),)).fetchone()
    return None if row is None else _session(row)


def sessions(connection: Database, limit: int) -> list[Session]:
    """The sessions that were active last, newest first."""
    rows = connection.execute(f"{_SESSION} ORDER BY last_at DESC, id LIMIT ?", (limit,)).fetchall()
    return [_session(row) for row in rows]


def _session(row: tuple[object, ...]) -> Session:
    facts = {name: value for name, (_, value) in json.loads(str(row[-1])).items()}
    columns: list[Any] = [*row[:-1], facts]  # STRICT columns have the declared types
    return Session(*columns)


def turns_of(connection: Database, session_id: str) -> list[Turn]:
    """A session's turns in the order they were said."""
    return [_turn(row) for row in connection.execute(_TURNS_OF, (clean(session_id),)).fetchall()]


def _turn(row: tuple[object, ...]) -> Turn:
    columns: list[Any] = list(row)
    *columns, bits, segment, start, path, source_start, source_end, detail = columns
    origins = frozenset(name for name, bit in ORIGIN_BITS.items() if bits & bit)
    source = None if path is None else (path, source_start, source_end)
    columns += [origins, segment, start, source, json.loads(detail)]
    return Turn(*columns)


def turns_by_prefix(connection: Database, prefix: str, limit: int) -> list[str]:
    """Ids of turns and memories that begin so, in order, no more than `limit`; what cannot begin an id begins none."""
    if not _ID.fullmatch(prefix) or limit < 1:
        return []
    found: list[str] = []
    for table in ("turns", "memories"):
        # by the index on ids: from the prefix to what would come after everything that begins with it
        query = f"SELECT id FROM {table} WHERE id >= ? AND id < ? ORDER BY id LIMIT ?"
        found += [row[0] for row in connection.execute(query, (prefix, f"{prefix}{_BEHIND}", limit)).fetchall()]
    return sorted(found)[:limit]


def forked_at(connection: Database, session_id: str) -> int | None:
    """When a session was made from another; its client copies what had been said until then."""
    query = """
    SELECT max(at) FROM events WHERE session_id = ? AND kind = 'session_start' AND json_extract(detail, '$.source') = 'fork'
    """
    row = connection.execute(query, (clean(session_id),)).fetchone()
    return None if row[0] is None else int(row[0])


def cursor(connection: Database, source: str) -> tuple[Json, int] | None:
    """Where a source has been dealt with to, and the time its cursor was set for."""
    row = connection.execute("SELECT position, at FROM cursors WHERE source = ?", (clean(source),)).fetchone()
    return None if row is None else (json.loads(row[0]), row[1])


def cursors(connection: Database, prefix: str) -> dict[str, Json]:
    """The cursors whose source begins with a prefix."""
    query = "SELECT source, position FROM cursors WHERE substr(source, 1, length(:prefix)) = :prefix ORDER BY source"
    rows = connection.execute(query, {"prefix": clean(prefix)}).fetchall()
    return {source: json.loads(position) for source, position in rows}


def place(connection: Database, cwd: str) -> tuple[str, str, int] | None:
    """What a working directory was last found to be: identity, project id, and when."""
    query = "SELECT identity, project_id, at FROM places WHERE cwd = ? ORDER BY at DESC, machine LIMIT 1"
    row = connection.execute(query, (clean(cwd),)).fetchone()
    return None if row is None else (str(row[0]), str(row[1]), int(row[2]))
