"""Folded rows -> the database. Every statement that writes evidence stands here, each with what it relies on.

The caller holds a write transaction, so between reading what is stored and writing what is new nobody else writes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from hindbrain.capture.event import stable_id
from hindbrain.journal.read import Damage
from hindbrain.ledger import fulltext, merge, near, versions
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import Content, Piece, SessionState, clean
from hindbrain.ledger.project import Place

_REACHED: Final = """
SELECT source, "offset" FROM cursors WHERE source IN (SELECT value FROM json_each(?))
UNION ALL SELECT key, 1 FROM meta WHERE key = ?
"""
# What merging needs of a stored row; its text stays where it is.
_KNOWN: Final = """
SELECT id, session_id, at, origins, segment, start, source_path, source_start, source_end
FROM {table} WHERE id IN (SELECT value FROM json_each(?))
"""
_ADD_TURN: Final = """
INSERT INTO turns (rowid, id, session_id, role, text, tool, at, key, origins, segment, start,
                   source_path, source_start, source_end, detail, near)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ADD_EVENT: Final = """
INSERT INTO events (id, session_id, kind, role, text, tool, at, key, origins, segment, start,
                    source_path, source_start, source_end, detail)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
# The same thing came again and only says more about when and where.
_EXTEND: Final = """
UPDATE {table} SET at = ?, origins = ?, segment = ?, start = ?, source_path = ?, source_start = ?, source_end = ?
WHERE id = ?
"""
_REWRITE: Final = "UPDATE {table} SET text = ?, tool = ?, detail = ? WHERE id = ?"
_ADD_TRACE: Final = "INSERT INTO traces (turn, number, kind, action, value) VALUES (?, ?, ?, ?, ?)"
_PUT_SESSION: Final = """
INSERT INTO sessions (id, agent, client_id, cwd, cwd_at, parent_id, started_at, last_at, ended_at, end_reason,
                      model, model_at, detail, machine)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    machine = CASE WHEN excluded.machine < sessions.machine THEN excluded.machine ELSE sessions.machine END,
    cwd = excluded.cwd, cwd_at = excluded.cwd_at, parent_id = excluded.parent_id, started_at = excluded.started_at,
    last_at = excluded.last_at, ended_at = excluded.ended_at, end_reason = excluded.end_reason,
    model = excluded.model, model_at = excluded.model_at, detail = excluded.detail
"""
_KNOWN_SESSIONS: Final = """
SELECT id, agent, client_id, started_at, last_at, cwd_at, cwd, parent_id, ended_at, end_reason, model_at, model, detail
FROM sessions WHERE id IN (SELECT value FROM json_each(?))
"""
# A session's project follows from its cwd alone, so this may run at any time and any number of times.
_ASSIGN: Final = """
UPDATE sessions SET project_id = (
    SELECT project_id FROM places WHERE places.machine = sessions.machine AND places.cwd = sessions.cwd
)
WHERE {column} IN (SELECT value FROM json_each(?))
  AND coalesce(project_id, '')
   <> coalesce((SELECT project_id FROM places WHERE places.machine = sessions.machine AND places.cwd = sessions.cwd), '')
RETURNING id, ended_at
"""
_PUT_PROJECT: Final = """
INSERT INTO projects (id, identity, name, remote, common_dir, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (identity) DO UPDATE SET created_at = excluded.created_at WHERE excluded.created_at < projects.created_at
"""
_PUT_ALIAS: Final = "INSERT INTO project_aliases (identity, project_id) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PUT_PLACE: Final = """
INSERT INTO places (machine, cwd, identity, project_id, remote, common_dir, branch, at)
SELECT :machine, :cwd, :identity, project_id, :remote, :common_dir, :branch, :at FROM project_aliases WHERE identity = :identity
ON CONFLICT (machine, cwd) DO UPDATE SET
    identity = excluded.identity, project_id = excluded.project_id, remote = excluded.remote,
    common_dir = excluded.common_dir, branch = excluded.branch, at = excluded.at
WHERE (excluded.at, excluded.identity, excluded.remote, excluded.common_dir, excluded.branch)
    > (places.at, places.identity, places.remote, places.common_dir, places.branch)
"""
_PUT_DAMAGE: Final = """
INSERT INTO damage (segment, start, "end", kind, reason, found_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (segment, start) DO UPDATE SET "end" = excluded."end", kind = excluded.kind, reason = excluded.reason
WHERE (excluded."end", excluded.kind, excluded.reason) > (damage."end", damage.kind, damage.reason)
"""
_REDACTED: Final = "SELECT count FROM redactions WHERE segment = ? AND start = ? AND rule = ?"
_PUT_REDACTION: Final = """
INSERT INTO redactions (segment, start, rule, count) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
"""
_MORE_REDACTED: Final = "UPDATE redactions SET count = ? WHERE segment = ? AND start = ? AND rule = ?"
_PUT_CURSOR: Final = """
INSERT INTO cursors (source, at, "offset", position, updated_at) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (source) DO UPDATE SET
    at = excluded.at, "offset" = excluded."offset", position = excluded.position, updated_at = excluded.updated_at
WHERE (excluded.at, excluded."offset", excluded.position) > (cursors.at, cursors."offset", cursors.position)
"""


class Cursor(NamedTuple):
    """Where a source has been dealt with to."""

    source: str
    at: int
    offset: int
    position: str


class Written(NamedTuple):
    """How many pieces were new, were known, and of the known ones gained something; and whose sessions say something else now."""

    new: int
    known: int
    merged: int
    sessions: frozenset[str] = frozenset()


def reached(connection: Database, sources: Iterable[str]) -> tuple[dict[str, int], bool]:
    """The offsets that the cursors of sources stand at, and whether events of the first version are stored: one question."""
    found = dict(connection.execute(_REACHED, (json.dumps(list(sources)), versions.HELD)).fetchall())
    held = found.pop(versions.HELD, 0)
    return found, bool(held)


def write_turns(connection: Database, pieces: Mapping[str, Piece]) -> Written:
    """Add turns with their index entries and traces, or extend those that are known."""
    known = _known(connection, "turns", pieces)
    new = [piece for identifier, piece in pieces.items() if identifier not in known]
    if new:
        (last,) = connection.execute("SELECT coalesce(max(rowid), 0) FROM turns").fetchone()
        numbered = list(enumerate(new, last + 1))
        beside = near.among(new)
        connection.executemany(_ADD_TURN, [_turn_row(number, piece, beside.get(piece.id, "")) for number, piece in numbered])
        near.place(connection, _spans(new), last)
        _add_traces(connection, numbered)
    merged, sessions = 0, {piece.session_id for piece in new}
    for identifier, stored in known.items():
        after = merge.merged(stored, pieces[identifier])
        if after == stored:
            continue
        merged += 1
        if after.content is None:
            _update(connection, "turns", after)
        else:
            _rewrite(connection, after)
        if after.at != stored.at or after.content is not None:  # its neighbours hold its old place or its old words
            near.place(connection, _spans([stored, after]))
            sessions.add(stored.session_id)
    return Written(len(new), len(known), merged, frozenset(each for each in sessions if each is not None))


def _rewrite(connection: Database, turn: Piece) -> None:
    (number,) = connection.execute("SELECT rowid FROM turns WHERE id = ?", (turn.id,)).fetchone()
    fulltext.remove(connection, [number])
    connection.execute("DELETE FROM traces WHERE turn = ?", (number,))
    _update(connection, "turns", turn)
    fulltext.add(connection, [number])
    _add_traces(connection, [(number, turn)])


def _spans(pieces: Iterable[Piece]) -> dict[str, tuple[int, int]]:
    """Per session, the stretch of time in which turns were put or moved."""
    spans: dict[str, tuple[int, int]] = {}
    for piece in pieces:
        if piece.session_id is not None and piece.role in near.ROLES:
            low, high = spans.get(piece.session_id, (piece.at, piece.at))
            spans[piece.session_id] = (min(low, piece.at), max(high, piece.at))
    return spans


def write_events(connection: Database, pieces: Mapping[str, Piece]) -> Written:
    """Add events, or extend those that are known."""
    known = _known(connection, "events", pieces)
    new = [piece for identifier, piece in pieces.items() if identifier not in known]
    connection.executemany(_ADD_EVENT, [_event_row(piece) for piece in new])
    merged = 0
    for identifier, stored in known.items():
        after = merge.merged(stored, pieces[identifier])
        if after != stored:
            merged += 1
            _update(connection, "events", after)
    return Written(len(new), len(known), merged)


def _known(connection: Database, table: str, pieces: Mapping[str, Piece]) -> dict[str, Piece]:
    if not pieces:
        return {}
    found = {}
    for row in connection.execute(_KNOWN.format(table=table), (json.dumps(list(pieces)),)):
        identifier, session, at, origins, segment, start, path, source_start, source_end = row
        source = None if path is None else (path, source_start, source_end)
        # kind, role and key are part of the id, so they are those of the piece at hand
        found[identifier] = pieces[identifier]._replace(
            session_id=session, at=at, origins=origins, segment=segment, start=start, source=source, content=None
        )
    return found


def _content(piece: Piece) -> Content:
    assert piece.content is not None  # only a stored row, never a delivery, comes without
    return piece.content


def _turn_row(number: int, piece: Piece, beside: str) -> tuple[object, ...]:
    text, tool, detail, _ = _content(piece)
    return (
        number, piece.id, piece.session_id, piece.role, text, tool, piece.at, piece.key, piece.origins, piece.segment,
        piece.start, *(piece.source or (None, None, None)), detail, beside,
    )  # fmt: skip


def _event_row(piece: Piece) -> tuple[object, ...]:
    text, tool, detail, _ = _content(piece)
    return (
        piece.id, piece.session_id, piece.kind, piece.role, text, tool, piece.at, piece.key, piece.origins,
        piece.segment, piece.start, *(piece.source or (None, None, None)), detail,
    )  # fmt: skip


def _update(connection: Database, table: str, piece: Piece) -> None:
    source = piece.source or (None, None, None)
    values = (piece.at, piece.origins, piece.segment, piece.start, *source, piece.id)
    connection.execute(_EXTEND.format(table=table), values)
    if piece.content is not None:
        connection.execute(_REWRITE.format(table=table), (*piece.content[:3], piece.id))


def _add_traces(connection: Database, turns: Iterable[tuple[int, Piece]]) -> None:
    rows = [
        (turn, number, *trace) for turn, piece in turns for number, trace in enumerate(_content(piece).traces)
    ]  # fmt: skip
    connection.executemany(_ADD_TRACE, rows)


def write_sessions(connection: Database, sessions: Mapping[str, SessionState], machine: str = "") -> None:
    """Put each session in its newest state."""
    if not sessions:
        return
    stored = {row[0]: row for row in connection.execute(_KNOWN_SESSIONS, (json.dumps(list(sessions)),))}
    changed = []
    for identifier, state in sessions.items():
        if identifier in stored:
            state.join(_session_state(stored[identifier]))
        changed.append((*_session_row(state), machine))
    connection.executemany(_PUT_SESSION, changed)


def _session_state(row: tuple[object, ...]) -> SessionState:
    identifier, agent, client_id, started_at, last_at, *latest, detail = row
    cwd_at, cwd, parent_id, ended_at, reason, model_at, model = latest
    return SessionState(
        str(identifier), str(agent), str(client_id), _int(started_at), _int(last_at), _pair(cwd_at, cwd),
        None if parent_id is None else str(parent_id), _pair(ended_at, reason), _pair(model_at, model),
        {name: (at, value) for name, (at, value) in json.loads(str(detail)).items()},
    )  # fmt: skip


def _pair(at: object, value: object) -> tuple[int, str] | None:
    return None if at is None else (_int(at), str(value))


def _int(value: object) -> int:
    assert isinstance(value, int)  # a STRICT column
    return value


def _session_row(state: SessionState) -> tuple[object, ...]:
    cwd_at, cwd = state.cwd or (None, "")
    ended_at, reason = state.ended or (None, None)
    model_at, model = state.model or (None, "")
    facts = json.dumps(state.facts, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return (
        state.id, state.agent, state.client_id, cwd, cwd_at, state.parent_id, state.started_at, state.last_at, ended_at,
        reason, model, model_at, facts,
    )  # fmt: skip


def write_places(connection: Database, places: Sequence[tuple[Place, int]], machine: str = "") -> list[str]:
    """Add the projects that places name and put each place in its newest state; gives back the directories told of."""
    for place, at in places:
        project = stable_id("p", place.identity)
        connection.execute(_PUT_PROJECT, (project, place.identity, place.name, *place.of_project, at))
        connection.execute(_PUT_ALIAS, (place.identity, project))
        found = {"remote": place.remote, "common_dir": place.common_dir, "branch": place.branch, "at": at}
        connection.execute(_PUT_PLACE, {"machine": machine, "cwd": place.cwd, "identity": place.identity, **found})
    return [place.cwd for place, _ in places]


def assign_projects(connection: Database, sessions: list[str], directories: list[str]) -> dict[str, bool]:
    """Give the sessions of a batch, and those of directories just told of, the project their cwd belongs to.

    Gives back those that moved, and whether each is over.
    """
    wanted = [("id", sessions), ("cwd", directories)]
    done = [connection.execute(_ASSIGN.format(column=name), (json.dumps(values),)) for name, values in wanted if values]
    return {str(row[0]): row[1] is not None for rows in done for row in rows.fetchall()}


def write_damages(connection: Database, damages: Iterable[Damage], now_ms: int) -> int:
    """Note stretches that hold no record; gives back how many were not known."""
    before = _count(connection, "damage") if damages else 0
    rows = [(bad.segment, bad.start, bad.end, bad.kind, clean(bad.reason), now_ms) for bad in damages]
    connection.executemany(_PUT_DAMAGE, rows)
    return _count(connection, "damage") - before if rows else 0


def _count(connection: Database, table: str) -> int:
    (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(count)


def write_redactions(connection: Database, redactions: Sequence[tuple[str, int, str, int]]) -> int:
    """Note what was taken out of events; gives back how many secrets were not counted before. Of several deliveries of an event
    the one counts that says most."""
    new = 0
    for row in redactions:
        found = connection.execute(_REDACTED, row[:3]).fetchone()
        known = 0 if found is None else int(found[0])
        if found is None:
            connection.execute(_PUT_REDACTION, row)
        elif row[3] > known:
            connection.execute(_MORE_REDACTED, (row[3], *row[:3]))
        new += max(row[3] - known, 0)
    return new


def count_lines(connection: Database, lines: Mapping[str, int]) -> None:
    """Add to how many lines of each source were taken in; its cursor has been moved in the same transaction."""
    connection.executemany("UPDATE cursors SET lines = lines + ? WHERE source = ?", [(n, s) for s, n in lines.items()])


def write_cursors(connection: Database, cursors: Iterable[Cursor], now_ms: int) -> None:
    """Move cursors forward; one that stands further already stays."""
    connection.executemany(_PUT_CURSOR, [(*cursor, now_ms) for cursor in cursors])
