"""Turns of a session -> each turn's neighbours, as text to be searched beside its own.

A reply often answers in words the question does not repeat, and the turn before has them. What counts as a neighbour is
talk: what people and agents said, not what tools were told. Only the beginning of a neighbour is kept, so a long reply
does not drown what stands next to it. The column is derived: it follows from the turns, whatever order they came in.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database

ROLES: Final = ("user", "assistant")
NEAR_CHARS: Final = 600

_TALK: Final = f"""
SELECT rowid, substr(text, 1, {NEAR_CHARS}), near FROM turns
WHERE session_id = ? AND role IN ('user', 'assistant') AND
"""
_BEFORE: Final = f"{_TALK} at < ? ORDER BY at DESC, id DESC LIMIT 2"
_WITHIN: Final = f"{_TALK} at BETWEEN ? AND ? ORDER BY at, id"
_AFTER: Final = f"{_TALK} at > ? ORDER BY at, id LIMIT 2"
_SET: Final = "UPDATE turns SET near = ? WHERE rowid = ?"


def place(connection: Database, spans: Mapping[str, tuple[int, int]], indexed_to: int | None = None) -> None:
    """Set the neighbours of all turns in these stretches of time and of the ones beside them.

    Turns with a row number above `indexed_to` are not in the index yet; the others are taken out and put in again.
    """
    for session, (low, high) in spans.items():
        before = connection.execute(_BEFORE, (session, low)).fetchall()[::-1]
        within = connection.execute(_WITHIN, (session, low, high)).fetchall()
        after = connection.execute(_AFTER, (session, high)).fetchall()
        chain = [*before, *within, *after]
        # of two turns before (or after) the stretch, the outer one is only there as the inner one's neighbour
        first, last = max(0, len(before) - 1), len(chain) - max(0, len(after) - 1)
        for number in range(first, last):
            row, _, known = chain[number]
            sides = [chain[beside][1] for beside in (number - 1, number + 1) if 0 <= beside < len(chain)]
            near = "\n".join(sides)
            if near != known:
                _set(connection, row, near, indexed=indexed_to is None or row <= indexed_to)


def _set(connection: Database, row: int, near: str, *, indexed: bool) -> None:
    if indexed:
        fulltext.remove(connection, [row])
    connection.execute(_SET, (near, row))
    if indexed:
        fulltext.add(connection, [row])
