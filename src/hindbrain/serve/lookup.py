"""An id, or the beginning of one -> the one thing it names.

Turns and events are `e_...`, memories `m_...`, sessions `s_...`; a session also answers to the id its agent gave it, unless
something has that id itself. A beginning is enough where it leads to one thing only: a block shows no more of an id. What was
typed is compared, never interpreted: no wildcards.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.capture.event import storable
from hindbrain.ledger import versions
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall.short_ids import SHORTEST

Kind = Literal["turn", "event", "memory", "session"]

_MOST: Final = 10  # candidates told of
_TABLES: Final[tuple[tuple[Kind, str, str], ...]] = (
    ("turn", "turns", "id"), ("event", "events", "id"), ("memory", "memories", "id"), ("session", "sessions", "id"),
)  # fmt: skip
_CLIENTS: Final[tuple[tuple[Kind, str, str], ...]] = (("session", "sessions", "client_id"),)
_LAST: Final = "\U0010ffff"


@dataclass(frozen=True, slots=True)
class Named:
    """A thing by its whole id."""

    kind: Kind
    id: str


def look_up(ledger: Evidence | None, typed: str, *kinds: Kind) -> Named:
    """The thing meant. Raises NotFound, UsageError when several are meant or when it is not of the kinds wanted."""
    wanted = storable(typed.strip())
    if not wanted:
        raise UsageError("the id is empty", hint="ids are shown by `hindbrain search` and `hindbrain sessions`")
    # ids are ours and client names are anybody's: one that looks like an id must not stand in front of it
    found = (_candidates(ledger, wanted, _TABLES) or _candidates(ledger, wanted, _CLIENTS)) if ledger is not None else []
    if ledger is not None and not found:
        found = _first(ledger, wanted)
    if not found:
        short = len(wanted) < SHORTEST
        hint = f"the beginning of an id needs at least {SHORTEST} characters" if short else ""
        raise NotFound(f"nothing is stored under {_shown(wanted)}", hint=hint)
    fitting = [each for each in found if not kinds or each.kind in kinds]
    if not fitting:
        raise UsageError(f"{found[0].id} is a {found[0].kind}, not a {' or '.join(kinds)}", hint="see `hindbrain show ID`")
    if len(fitting) > 1:
        listed = ", ".join(each.id for each in fitting[:_MOST]) + (" ..." if len(fitting) > _MOST else "")
        raise UsageError(f"{_shown(wanted)} is the beginning of several ids: {listed}", hint="give more of it")
    return fitting[0]


def _candidates(ledger: Evidence, wanted: str, tables: tuple[tuple[Kind, str, str], ...]) -> list[Named]:
    exact, begun = dict[str, Named](), dict[str, Named]()
    with ledger.reading() as connection:
        for kind, table, column in tables:
            rows = connection.execute(f"SELECT id FROM {table} WHERE {column} = ?", (wanted,)).fetchall()
            exact |= {row[0]: Named(kind, row[0]) for row in rows}
            if len(wanted) >= SHORTEST:
                query = f"SELECT id FROM {table} WHERE {column} >= ? AND {column} < ? ORDER BY {column} LIMIT ?"
                rows = connection.execute(query, (wanted, wanted + _LAST, _MOST + 1)).fetchall()
                begun |= {row[0]: Named(kind, row[0]) for row in rows}
    return list((exact or begun).values())


def _first(ledger: Evidence, wanted: str) -> list[Named]:
    """What the newest version calls so, and is stored under the id that the first one gave it."""
    with ledger.reading() as connection:
        ids = versions.stored_as_first(connection, [wanted])
    return [each for identifier in ids for each in _candidates(ledger, identifier, _TABLES)]


def _shown(wanted: str) -> str:
    return repr(wanted if len(wanted) <= 80 else wanted[:80] + "…")
