"""Events that were told under ids of two versions -> one row each, under the first version's id.

An id is what people, wishes to forget and links know a turn by, so one that was ever given stays: what was first stored under a
newest id takes the older one when it comes under that too. So which id stands does not depend on the order of deliveries. A
ledger that never held anything of the first version has no note of it, and nothing is asked.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from hindbrain.capture.event import SESSION_DIGITS, first_id, newest_id
from hindbrain.ledger import near, removal
from hindbrain.ledger.database import Database

# Noted in `meta` once anything of the first version is stored. Migrations 0010 (SQLite) and 0007 (PostgreSQL) say the same.
HELD: Final = "event ids of version 1"
_NOTE: Final = "INSERT INTO meta (key, value) VALUES (?, 'yes') ON CONFLICT (key) DO NOTHING"
_STORED: Final = """
SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(:ids))
UNION ALL SELECT id FROM events WHERE id IN (SELECT value FROM json_each(:ids))
"""
_SPANS: Final = """
SELECT session_id, min(at), max(at) FROM turns
WHERE role IN ('user', 'assistant') AND id IN (SELECT value FROM json_each(?)) GROUP BY session_id
"""
_RENAME: Final = (
    "UPDATE turns SET id = ? WHERE id = ?", "UPDATE events SET id = ? WHERE id = ?",
    "UPDATE links SET turn_id = ? WHERE turn_id = ?", "UPDATE injections SET item_id = ? WHERE item_id = ?",
)  # fmt: skip
# What ids are made of, of all turns and events that a condition holds for.
_MADE_OF: Final = """
SELECT turns.id, sessions.agent, sessions.client_id, 'turn', turns.role, turns.key
FROM turns JOIN sessions ON sessions.id = turns.session_id WHERE {turns}
UNION ALL SELECT events.id, sessions.agent, sessions.client_id, events.kind, events.role, events.key
FROM events JOIN sessions ON sessions.id = events.session_id WHERE {events}
"""
_EVENT_ID: Final = re.compile("e_[0-9a-f]{24}")
_LAST: Final = "\U0010ffff"


def settle(connection: Database, first_ids: Mapping[str, str], told: Collection[str], *, noted: bool) -> dict[str, str]:
    """Of a batch's events (newest id -> the first version's) those that stand under the first version's id.

    `told` are the newest ids of what came under the first version's just now, `noted` whether anything did before.
    """
    wanted = [*first_ids.values(), *told]
    stored = {row[0] for row in connection.execute(_STORED, {"ids": json.dumps(wanted)}).fetchall()} if wanted else set[str]()
    late = {newest: first_ids[newest] for newest in told if newest in stored}
    if late:
        _rename(connection, late)
    if told and not noted:
        connection.execute(_NOTE, (HELD,))
    return {newest: first for newest, first in first_ids.items() if newest in told or first in stored}


def _rename(connection: Database, names: Mapping[str, str]) -> None:
    removal.defer(connection)
    for statement in _RENAME:
        connection.executemany(statement, [(name, known) for known, name in names.items()])
    # of turns of the same moment the id says which comes first, so their neighbours may be others now
    spans = connection.execute(_SPANS, (json.dumps(list(names.values())),)).fetchall()
    near.place(connection, {session: (low, high) for session, low, high in spans})


def every_id(connection: Database, ids: Iterable[str]) -> set[str]:
    """The ids, and for turns and events among them what they are called in the other version."""
    named = set(ids)
    inside = "id IN (SELECT value FROM json_each(:ids))"
    rows = _made_of(connection, f"turns.{inside}", f"events.{inside}", {"ids": json.dumps(sorted(named))})
    return named | {each for identifier, names in rows if identifier in names for each in names}


def stored_as_first(connection: Database, ids: Sequence[str]) -> list[str]:
    """The ids under which events are stored that the newest version calls so: the beginning of an id leads to its session."""
    found = []
    for each in ids:
        if _EVENT_ID.fullmatch(each):
            begins = "s_" + each[2 : 2 + SESSION_DIGITS]
            inside = "sessions.id >= :low AND sessions.id < :high"
            rows = _made_of(connection, inside, inside, {"low": begins, "high": begins + _LAST})
            found += [identifier for identifier, names in rows if names == (each, identifier)]
    return found


def stored_as_newest(connection: Database, ids: Sequence[str]) -> list[str]:
    """The ids under which events are stored that the first version calls so. Nothing leads there: all newest ids are tried."""
    wanted = {each for each in ids if _EVENT_ID.fullmatch(each)}
    if not wanted:
        return []
    begins = "substr({table}.id, 3, {digits}) = substr({table}.session_id, 3, {digits})"
    turns, events = (begins.format(table=table, digits=SESSION_DIGITS) for table in ("turns", "events"))
    rows = _made_of(connection, turns, events, {})
    return [identifier for identifier, (newest, first) in rows if identifier == newest and first in wanted]


def _made_of(
    connection: Database, turns: str, events: str, values: Mapping[str, str]
) -> Iterable[tuple[str, tuple[str, str]]]:
    """Stored ids, each with what the newest and the first version call the same event."""
    for identifier, *told in connection.execute(_MADE_OF.format(turns=turns, events=events), values).fetchall():
        yield identifier, (newest_id(*told), first_id(*told))
