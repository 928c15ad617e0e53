"""Hits -> the same, each turn of which something was kept with a note that says what, and under which id it can be changed.

A statement that was found in a session is told by the turn that says it, so that nothing is told twice. Its kind and its id are
still worth knowing: a person may pin, correct or reject it, and what contradicts it is to be seen.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from hindbrain.ledger.database import Database
from hindbrain.recall.contradictions import disputes
from hindbrain.recall.rank import TOLD, Found
from hindbrain.recall.short_ids import shortened

MOST: Final = 2  # of one turn

_KEPT: Final = f"""
SELECT links.turn_id, memories.id, memories.kind FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.number = memories.evidence AND memories.session_id IS NOT NULL
  AND memories.valid_from <= ? AND {TOLD}
ORDER BY links.turn_id, memories.confidence DESC, memories.id
"""


def kept_as(database: Database, hits: list[Found], until: int) -> list[Found]:
    """The hits as they stood at a time."""
    turns = {hit.id: hit for hit in hits if hit.kind == "turn"}
    rows = database.execute(_KEPT, (json.dumps(list(turns)), until)).fetchall() if turns else []
    if not rows:
        return hits
    kept: dict[str, list[tuple[str, str]]] = {}
    for turn, memory, kind in rows:
        kept.setdefault(turn, []).append((memory, kind))
    short = shortened(database, [memory for told in kept.values() for memory, _ in told[:MOST]])
    against = disputes(database, [row[1] for row in rows], until)
    for turn, told in kept.items():
        hit = turns[turn]
        notes = [f"kept as {kind} [{short[memory]}]" for memory, kind in told[:MOST]]
        notes += _disputed(hit, [note for memory, _ in told for note in against.get(memory, ())])
        hit.note = "; ".join(([hit.note] if hit.note else []) + notes)
    return hits


def _disputed(hit: Found, notes: Sequence[str]) -> Sequence[str]:
    if notes:
        hit.disputed = notes[0]
    return notes[:MOST]
