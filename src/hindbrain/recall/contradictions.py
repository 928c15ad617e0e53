"""Hits -> the same, each that another one contradicts with a note that says which, and when that was said.

Nobody has decided yet which of the two holds, so both are told, and neither as if it were beyond doubt. A turn stands for what
was found in it: it is marked where that is contradicted, and where nothing of it holds any more, or a person rejected it.
Imported by the hook when no worker answers: built-ins only.
"""

import time

from hindbrain.recall.block import day_of
from hindbrain.recall.joined import holding
from hindbrain.recall.short_ids import shortened

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

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

_ENDED = """
SELECT links.turn_id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.role IN ('derived_from', 'supports')
  AND memories.held IN ('', 'rejected')
GROUP BY links.turn_id
HAVING max(CASE WHEN memories.held = '' AND (memories.valid_to IS NULL OR memories.valid_to > ?) THEN 1 ELSE 0 END) = 0
"""
_KEPT = """
SELECT links.turn_id, memories.id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.number = memories.evidence AND memories.session_id IS NOT NULL
  AND memories.valid_from <= ? AND memories.held = '' AND memories.level IN ('observation', 'derived')
ORDER BY links.turn_id, memories.confidence DESC, memories.id
"""


def marked_turns(connection: "Database", hits: "list[Found]", until: int) -> "list[Found]":
    """The hits, turns among them marked by what became of what they say. What a search has marked already stays so."""
    turns = {hit.id: hit for hit in hits if hit.kind == "turn" and not hit.disputed and not hit.superseded}
    named = _listed(turns)
    if named == "[]":
        return hits
    then = min(until, int(time.time() * 1000))
    ended = [row[0] for row in connection.execute(_ENDED, (named, then)).fetchall()]
    joined = holding(connection, ended, then)
    for turn in ended:
        turns[turn].superseded = turn not in joined
    kept = connection.execute(_KEPT, (named, until)).fetchall()
    notes = disputes(connection, [memory for _, memory in kept], until) if kept else {}
    for turn, memory in kept:
        if memory in notes and not turns[turn].disputed:
            turns[turn].disputed = notes[memory][0]
    return hits


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
    named = _listed(memories)
    if named == "[]":
        return {}
    rows = connection.execute(_OTHERS, (named, until)).fetchall()
    short = shortened(connection, [row[1] for row in rows]) if rows else {}
    notes: dict[str, list[str]] = {}
    for mine, other, said_at in rows:
        notes.setdefault(mine, []).append(f"contradicts [{short[other]}], said on {day_of(said_at)}")
    return notes


def _listed(ids: "Iterable[str]") -> str:
    """These ids as JSON; what is no id of ours is left out."""
    return "[" + ",".join(f'"{each}"' for each in ids if each.isascii() and each.replace("_", "").isalnum()) + "]"
