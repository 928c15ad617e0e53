"""Hits -> the same, each that another one contradicts with a note that says which, and when that was said.

Nobody has decided yet which of the two holds, so both are told, and neither as if it were beyond doubt.
Imported by the hook when no worker answers: built-ins only.
"""

from hindbrain.recall.block import day_of
from hindbrain.recall.short_ids import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hindbrain.ledger.database import Database
    from hindbrain.recall.rank import Found

MOST = 2  # of one hit: more would say no more

_OTHERS = """
SELECT mine.target_memory_id, others.id, others.valid_from
FROM links AS mine JOIN memories AS noted ON noted.id = mine.memory_id
JOIN links AS theirs ON theirs.memory_id = mine.memory_id AND theirs.role = 'contradicts'
JOIN memories AS others ON others.id = theirs.target_memory_id AND others.id <> mine.target_memory_id
WHERE mine.role = 'contradicts' AND mine.target_memory_id IN (SELECT value FROM json_each(?))
  AND noted.held = '' AND noted.valid_from <= ? AND others.held = '' AND others.valid_to IS NULL
ORDER BY mine.target_memory_id, others.valid_from DESC, others.id
"""


def marked(connection: "Database", hits: "list[Found]", until: int) -> "list[Found]":
    """The hits, noted as they stood at a time."""
    notes = disputes(connection, [each.id for each in hits if each.kind != "turn"], until)
    for hit in hits:
        if hit.id in notes:
            hit.disputed = notes[hit.id][0]
            hit.note = "; ".join(([hit.note] if hit.note else []) + notes[hit.id][:MOST])
    return hits


def disputes(connection: "Database", memories: "list[str]", until: int) -> "dict[str, list[str]]":
    """What contradicts each of these memories, in plain words."""
    listed = [each for each in memories if each.isascii() and each.replace("_", "").isalnum()]
    if not listed:
        return {}
    named = "[" + ",".join(f'"{each}"' for each in listed) + "]"
    rows = connection.execute(_OTHERS, (named, until)).fetchall()
    short = shortened(connection, [row[1] for row in rows]) if rows else {}
    notes: dict[str, list[str]] = {}
    for mine, other, said_at in rows:
        notes.setdefault(mine, []).append(f"contradicts [{short[other]}], said on {day_of(said_at)}")
    return notes
