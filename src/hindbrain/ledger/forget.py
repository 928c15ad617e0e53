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
    for wish in wishes:
        connection.executemany(_NOTE, [(each, wish.at) for each in wish.ids])
        _remove(connection, json.dumps([*wish.ids, *wish.also]), wish.at)


def _remove(connection: Database, ids: str, at: int) -> None:
    values = {"ids": ids, "at": at}
    named = "SELECT value FROM json_each(:ids)"
    turns = f"SELECT id FROM turns WHERE id IN ({named}) OR (session_id IN ({named}) AND at <= :at)"
    doomed = [row[0] for row in connection.execute(turns, values).fetchall()]
    sessions = _sessions(connection, json.dumps(doomed), ids)
    # a memory goes when it is named, or when its evidence goes; a digest when anything it may tell of goes
    memories = f"""
        SELECT id FROM memories WHERE id IN ({named})
        UNION SELECT memory_id FROM links WHERE role = 'derived_from' AND turn_id IN ({turns})
        UNION SELECT id FROM memories WHERE level IN ('digest_short', 'digest_long')
              AND session_id IN (SELECT value FROM json_each(:sessions))
    """
    gone = [row[0] for row in connection.execute(memories, {**values, "sessions": sessions}).fetchall()]
    removal.remove(connection, gone)
    _remove_turns(connection, doomed)
    _remove_readings(connection, sessions, at)
    connection.execute(
        f"DELETE FROM events WHERE kind <> 'forget' AND (id IN ({named}) OR (session_id IN ({named}) AND at <= :at))", values
    )
    connection.execute(f"DELETE FROM calls WHERE id IN ({named})", values)
    connection.execute(f"DELETE FROM injections WHERE item_id IN ({named}) OR session_id IN ({named})", values)
    connection.execute(f"""
        DELETE FROM sessions WHERE id IN ({named}) AND last_at <= :at
        AND NOT EXISTS (SELECT 1 FROM turns WHERE session_id = sessions.id)
        AND NOT EXISTS (SELECT 1 FROM events WHERE session_id = sessions.id)""", values)  # fmt: skip


def _sessions(connection: Database, turns: str, ids: str) -> str:
    """The sessions that something is forgotten of: the ones named, those of the turns, those that named memories are from."""
    query = """
        SELECT session_id FROM turns WHERE id IN (SELECT value FROM json_each(?))
        UNION SELECT session_id FROM memories WHERE session_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))
        UNION SELECT value FROM json_each(?)"""
    return json.dumps(sorted(row[0] for row in connection.execute(query, (turns, ids, ids)).fetchall()))


def _remove_readings(connection: Database, sessions: str, at: int) -> None:
    """What was read of these sessions is read again; replies about them go, and do not come back from the journal."""
    connection.execute("DELETE FROM readings WHERE session_id IN (SELECT value FROM json_each(?))", (sessions,))
    about = calls.about(connection, json.loads(sessions))
    connection.executemany(_NOTE, [(each, at) for each in about])
    connection.execute("DELETE FROM calls WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(about),))


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
