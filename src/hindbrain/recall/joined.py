"""Turns -> those of which something still holds though it is told in other words: a dream made one statement of it and others.

What was joined is not over. It holds as long as the statement does that stands for it, or the one that this was joined into.
Imported by the hook when no worker answers: built-ins only.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from hindbrain.ledger.database import Database

# The condition of ledger.joining, which the hook does not load.
JOINED = """
EXISTS (
    SELECT 1 FROM links AS joins WHERE joins.memory_id = memories.superseded_by AND joins.target_memory_id = memories.id
    AND joins.role = 'supersedes' AND joins.joined = 1
)
"""
_HOLDING = f"""
WITH RECURSIVE stands (turn, memory) AS (
    SELECT links.turn_id, memories.superseded_by FROM links JOIN memories ON memories.id = links.memory_id
    WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.role IN ('derived_from', 'supports')
      AND memories.held = '' AND {JOINED}
    UNION
    SELECT stands.turn, memories.superseded_by FROM stands JOIN memories ON memories.id = stands.memory
    WHERE memories.held = '' AND {JOINED}
)
SELECT DISTINCT stands.turn FROM stands JOIN memories ON memories.id = stands.memory
WHERE memories.held = '' AND (memories.valid_to IS NULL OR memories.valid_to > ?)
"""


def holding(connection: "Database", turns: "Iterable[str]", then: int) -> "set[str]":
    """Of these turns the ones of which something was joined into a statement that held at a time."""
    named = "[" + ",".join(f'"{each}"' for each in turns if each.isascii() and each.replace("_", "").isalnum()) + "]"
    if named == "[]":
        return set()
    return {row[0] for row in connection.execute(_HOLDING, (named, then)).fetchall()}
