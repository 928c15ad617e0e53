"""Ids that must not be kept -> rows that are gone, and a note that keeps them from coming back.

Forgetting is an event of its own that holds ids and no content. It is applied in the transaction that takes it in, and
every later delivery of the same thing (a transcript that is read again, a backup that is restored) is turned away. What
remains of the text in free pages and old index entries is removed by scrub(); the journal's own lines are rewritten by
the caller.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from hindbrain.base.errors import LedgerBusy
from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.ledger import calls, fulltext, near, removal
from hindbrain.ledger.database import Database, is_sqlite

# No id of ours is nearly as long; a longer text names nothing, and not every engine could keep it as a key.
MAX_ID: Final = 200

_NOTE: Final = """
INSERT INTO forgotten (id, at) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET at = excluded.at WHERE excluded.at > forgotten.at
"""
_IDS: Final = "SELECT value FROM json_each(:ids)"
# How long a session is forgotten for stands beside its id.
_UNTIL: Final = "(SELECT forgotten.at FROM forgotten WHERE forgotten.id = {session})"
_DOOMED: Final = f"""
SELECT id, session_id, at FROM turns
WHERE id IN ({_IDS}) OR (session_id IN ({_IDS}) AND at <= {_UNTIL.format(session="turns.session_id")})
"""
_FOUND_IN: Final = """
SELECT id, session_id FROM memories WHERE session_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))
"""
# A memory goes when it is named, or when its evidence goes; a digest when anything it may tell of goes.
_MEMORIES: Final = f"""
SELECT id FROM memories WHERE id IN ({_IDS})
UNION SELECT memory_id FROM links WHERE role = 'derived_from' AND turn_id IN (SELECT value FROM json_each(:turns))
UNION SELECT id FROM memories WHERE level IN ('digest_short', 'digest_long')
      AND session_id IN (SELECT value FROM json_each(:sessions))
"""
_FORGET: Final = (
    "DELETE FROM readings WHERE session_id IN (SELECT value FROM json_each(:sessions))",  # what is left is read again
    f"""
    DELETE FROM events WHERE kind <> 'forget'
    AND (id IN ({_IDS}) OR (session_id IN ({_IDS}) AND at <= {_UNTIL.format(session="events.session_id")}))""",
    f"DELETE FROM calls WHERE id IN ({_IDS})",
    f"DELETE FROM injections WHERE item_id IN ({_IDS}) OR session_id IN ({_IDS})",
    f"""
    DELETE FROM sessions WHERE id IN ({_IDS}) AND last_at <= {_UNTIL.format(session="sessions.id")}
    AND NOT EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id)
    AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id)""",
)  # fmt: skip

_Named = tuple[int, set[str]]  # when it was said, and the ids it names


def forget_event(ids: Iterable[str], at: int) -> Event:
    """The event that has these turns, events, memories and sessions forgotten."""
    wanted: list[Json] = [*sorted(set(ids))]
    key = stable_id("k", str(at), *[str(each) for each in wanted])
    return Event(kind="forget", agent="hindbrain", session="", at=at, key=key, origin="api", detail={"ids": wanted})


def forgotten(connection: Database) -> dict[str, int]:
    """Everything that is not to come back, with the time until which it counts."""
    return dict(connection.execute("SELECT id, at FROM forgotten").fetchall())


def is_forgotten(known: Mapping[str, int], names: Iterable[str], session: str | None, at: int) -> bool:
    """Whether a thing is to be turned away, by any of its ids. A forgotten session may go on: what was said before counts."""
    return any(each in known for each in names) or (session is not None and at <= known.get(session, -1))


class Wish(NamedTuple):
    """What a forget event says."""

    at: int
    ids: Sequence[str]
    also: Sequence[str] = ()  # other ids that the same things have in this ledger


def named(detail: Mapping[str, Json]) -> list[str]:
    """The ids in the detail of a forget event."""
    ids = detail.get("ids")
    return [each for each in ids if isinstance(each, str) and len(each) <= MAX_ID] if isinstance(ids, list) else []


def apply(connection: Database, wishes: Iterable[Wish]) -> None:
    """Take away what is not to be kept; inside the caller's transaction."""
    if is_sqlite(connection):
        connection.execute("PRAGMA secure_delete = ON")
    every = list(wishes)
    notes = [(each, wish.at) for wish in every for each in sorted(set(wish.ids))]
    if notes:
        connection.executemany(_NOTE, notes)
        _remove(connection, [(wish.at, {*wish.ids, *wish.also}) for wish in every])


def _remove(connection: Database, wishes: Sequence[_Named]) -> None:
    """All wishes at once. Until when a session is forgotten is noted already."""
    ids = json.dumps(sorted({each for _, named in wishes for each in named}))
    doomed = connection.execute(_DOOMED, {"ids": ids}).fetchall()
    sessions = _sessions(connection, wishes, doomed, ids)
    values = {"ids": ids, "turns": json.dumps([row[0] for row in doomed]), "sessions": json.dumps(list(sessions))}
    removal.remove(connection, [row[0] for row in connection.execute(_MEMORIES, values).fetchall()])
    if doomed:
        _remove_turns(connection, [row[0] for row in doomed])
    _remove_replies(connection, sessions)
    for statement in _FORGET:
        connection.execute(statement, values)


def _sessions(connection: Database, wishes: Sequence[_Named], doomed: Sequence[tuple[str, str, int]], ids: str) -> dict[str, int]:
    """The sessions that something is forgotten of, each with the time of the first wish that concerns it.

    They are the ones named, those of the turns, those that named memories are from.
    """
    naming: dict[str, list[int]] = {}
    for number, (_, named) in enumerate(wishes):
        for each in named:
            naming.setdefault(each, []).append(number)
    concerned = [(number, each) for each, numbers in naming.items() for number in numbers]
    for turn, session, said_at in doomed:
        until = (number for number in naming.get(session, ()) if said_at <= wishes[number][0])
        concerned += [(number, session) for number in (*naming.get(turn, ()), *until)]
    for memory, session in connection.execute(_FOUND_IN, (ids,)).fetchall():
        concerned += [(number, session) for number in naming[memory]]
    sessions: dict[str, int] = {}
    for number, session in sorted(set(concerned)):
        sessions.setdefault(session, wishes[number][0])
    return sessions


def _remove_replies(connection: Database, sessions: Mapping[str, int]) -> None:
    """Replies about these sessions go, and do not come back from the journal."""
    about = calls.about(connection, list(sessions))
    if about:
        first = [(each, next(at for session, at in sessions.items() if session in told)) for each, told in about.items()]
        connection.executemany(_NOTE, first)
        connection.execute("DELETE FROM calls WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(about)),))


def _remove_turns(connection: Database, ids: list[str]) -> None:
    inside = "(SELECT value FROM json_each(?))"
    named = json.dumps(ids)
    spans = {
        session: (low, high)
        for session, low, high in connection.execute(
            f"SELECT session_id, min(at), max(at) FROM turns WHERE id IN {inside} GROUP BY session_id", (named,)
        )
    }
    numbers = [row[0] for row in connection.execute(f"SELECT rowid FROM turns WHERE id IN {inside}", (named,)).fetchall()]
    fulltext.remove(connection, numbers)
    connection.execute(f"DELETE FROM links WHERE turn_id IN {inside}", (named,))
    connection.execute(f"DELETE FROM traces WHERE turn IN (SELECT rowid FROM turns WHERE id IN {inside})", (named,))
    connection.execute(f"DELETE FROM turns WHERE id IN {inside}", (named,))
    near.place(connection, spans)  # neighbours held the beginning of what is gone


def scrub(connection: sqlite3.Connection) -> None:
    """Leave no trace in free pages or in the index's older parts; outside any transaction, and not quick."""
    connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('rebuild')")
    connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('rebuild')")
    connection.execute("VACUUM")
    busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise LedgerBusy(
            "forgotten text is still in the write-ahead log: a program that reads the ledger keeps it from being emptied",
            hint="end that program; the next worker completes this",
        )
