"""Memories and their links -> what about them cannot be, in words, on either engine.

What references and checks of the database cannot say: that following links down ends at a turn, and that what replaces what is a
link and no circle.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hindbrain.ledger.database import Database

_BASELESS: Final = """
WITH RECURSIVE grounded (id) AS (
    SELECT memory_id FROM links WHERE turn_id IS NOT NULL
    UNION
    SELECT links.memory_id FROM links JOIN grounded ON links.target_memory_id = grounded.id
    WHERE links.role NOT IN ('supersedes', 'reinforces')
)
SELECT count(*) FROM memories WHERE id NOT IN (SELECT id FROM grounded)
"""
_UNLINKED: Final = """
SELECT count(*) FROM memories WHERE superseded_by IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM links WHERE links.memory_id = memories.superseded_by AND links.role = 'supersedes'
    AND links.target_memory_id = memories.id
)
"""


def differences(database: Database) -> Iterator[str]:
    """What is wrong with the memories, a sentence for each kind of thing."""
    (baseless,) = database.execute(_BASELESS).fetchone()
    if baseless:
        yield f"{baseless} memories rest on no turn"
    (unlinked,) = database.execute(_UNLINKED).fetchone()
    if unlinked:
        yield f"{unlinked} memories were replaced by others that do not say so"
    newer = dict(database.execute("SELECT id, superseded_by FROM memories WHERE superseded_by IS NOT NULL").fetchall())
    if circles := _in_circles(newer):
        yield f"{circles} memories replace each other in a circle"


def _in_circles(newer: dict[str, str]) -> int:
    """How many never lead to one that stands."""
    ends: dict[str, bool] = {}
    for start in newer:
        path: dict[str, None] = {}
        at: str | None = start
        while at is not None and at not in ends and at not in path:
            path[at] = None
            at = newer.get(at)
        stands = at is None or ends.get(at, False)
        ends.update(dict.fromkeys(path, stands))
    return sum(not stands for stands in ends.values())
