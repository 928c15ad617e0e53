"""Ids -> as much of each as tells it from every other.

A block has little room, and an id of 26 letters costs as much as a sentence. The neighbours of an id in the order of ids say how
many letters are needed; one statement asks for all. `hindbrain show` and every other command takes such a beginning.

Imported by the hook when no worker answers: built-ins only.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.ledger.database import Database

SHORTEST = 6

# Each id with its neighbours. A turn and an event of the same letters are told apart as well.
_NEIGHBOURS = """
SELECT value, (SELECT max(id) FROM {table} WHERE id < value), (SELECT min(id) FROM {table} WHERE id > value)
FROM json_each(?)
"""
_TABLES = {"e": ("turns", "events"), "m": ("memories",)}


def shortened(connection: "Database", ids: "Iterable[str]") -> dict[str, str]:
    """The shortest beginning of each id that no other id has; at least SHORTEST letters."""
    lengths = dict.fromkeys(ids, SHORTEST)
    for kind, tables in _TABLES.items():
        mine = [each for each in lengths if each.startswith(kind + "_") and each.isascii() and each.replace("_", "").isalnum()]
        if not mine:
            continue
        listed = "[" + ",".join(f'"{each}"' for each in mine) + "]"
        for table in tables:
            for name, *near in connection.execute(_NEIGHBOURS.format(table=table), (listed,)).fetchall():
                for other in near:
                    lengths[name] = max(lengths[name], _common(name, other or "") + 1)
    known = {"e_", "m_"}
    return {each: each[:length] if each[:2] in known else each for each, length in lengths.items()}


def _common(one: str, other: str) -> int:
    """How many letters two ids begin with alike."""
    for place, letter in enumerate(other):
        if place >= len(one) or one[place] != letter:
            return place
    return len(other)
