"""Hits that no longer hold -> the same hits, each behind the one that took its place.

What replaced what was found out when the sessions were read (the ledger knows it), so it need not be guessed from words. A
question about the past is left alone. What took the place of a hit and is not among the hits is brought along: it is the answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from hindbrain.ledger.database import Database
from hindbrain.recall.newest import wants_newest
from hindbrain.recall.rank import TOLD, Found, Scope

LOOKED_AT: Final = 20  # of the hits
LONGEST: Final = 10  # amendments of amendments

_RESTING: Final = """
SELECT links.turn_id, memories.id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.number = memories.evidence AND superseded_by IS NOT NULL
"""
_NEXT: Final = f"""
SELECT memories.id, memories.superseded_by, links.turn_id FROM memories
LEFT JOIN links ON links.memory_id = memories.id AND links.number = memories.evidence
WHERE memories.id IN (SELECT value FROM json_each(?)) AND memories.valid_from <= ? AND {TOLD}
"""
_TURN: Final = """
SELECT turns.id, turns.role, turns.text, turns.at, turns.key, sessions.agent, sessions.client_id, sessions.project_id, sessions.id
FROM turns JOIN sessions ON sessions.id = turns.session_id
WHERE turns.id = ? AND turns.at BETWEEN ? AND ? {project}
"""


def current_first(database: Database, question: str, hits: list[Found], scope: Scope) -> list[Found]:
    """The hits, none that was replaced before what replaced it."""
    stale = [hit for hit in hits[:LOOKED_AT] if hit.superseded]
    if not stale or not wants_newest(question):
        return hits
    for hit in stale:
        later = _standing(database, hit, scope.before)
        there = next((each for each in hits if each.id in later), None) or _brought(database, later, hit, scope)
        if there is not None and there not in hits[: hits.index(hit)]:
            rest = [each for each in hits if each is not there]
            place = rest.index(hit)
            hits = [*rest[:place], there, *rest[place:]]
    return hits


def _standing(database: Database, hit: Found, until: int) -> Sequence[str]:
    """The ids under which what stands in its place may be found: the memory's own, and its evidence."""
    if hit.kind == "turn":
        waiting = [row[1] for row in database.execute(_RESTING, (json.dumps([hit.id]),)).fetchall()]
    else:
        waiting = [hit.id]
    seen: set[str] = set()
    for _ in range(LONGEST):
        rows = database.execute(_NEXT, (json.dumps([each for each in waiting if each not in seen]), until)).fetchall()
        seen |= set(waiting)
        ended = [row for row in rows if row[1] is None]
        if ended:
            return [each for row in ended for each in (row[0], row[2]) if each is not None and each != hit.id]
        waiting = [row[1] for row in rows]
        if not waiting:
            break
    return ()


def _brought(database: Database, later: Sequence[str], hit: Found, scope: Scope) -> Found | None:
    condition, values = scope.condition("turns")
    for each in later:
        row = database.execute(_TURN.format(project=condition), (each, scope.after, scope.before, *values)).fetchone()
        if row is not None:
            parts = {"replaces": hit.score}
            return Found(row[0], "turn", row[1], row[2], row[3], row[4], row[5], row[6], row[7], parts, row[8])
    return None
