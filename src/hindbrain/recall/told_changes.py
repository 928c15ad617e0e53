"""Two hits of which the newer may have changed what the older says -> whether people are told so.

Which statement replaced which is found out when sessions are read, and then the ledger knows: where it knows of no replacement
none is told, however alike the two sound ("the payments API has a timeout of 10 seconds", "the search API ... 3 seconds"). Until
a session has been read, and where nothing was found in one of the two, the ledger cannot know: there the words alone have to do,
and only of one subject. What only says the same replaces nothing.
"""

from __future__ import annotations

import json
from typing import Final

from hindbrain.ledger.database import Database
from hindbrain.recall.joined import JOINED
from hindbrain.recall.rank import Found
from hindbrain.recall.said import words_before
from hindbrain.recall.words import spaced

SUBJECT_WORDS: Final = 4  # of a sentence: who or what it speaks of

# What was found in a turn.
_FOUND_IN: Final = """
SELECT links.memory_id FROM links WHERE links.turn_id = ? AND links.role IN ('derived_from', 'supports') ORDER BY links.memory_id
"""
# What stands in the place of memories, one step after the other, and whether any step said otherwise.
_AFTER: Final = f"""
WITH RECURSIVE after (memory, otherwise) AS (
    SELECT memories.superseded_by, CASE WHEN {JOINED} THEN 0 ELSE 1 END FROM memories
    WHERE memories.id IN (SELECT value FROM json_each(?)) AND memories.superseded_by IS NOT NULL
    UNION
    SELECT memories.superseded_by, CASE WHEN after.otherwise = 1 THEN 1 WHEN {JOINED} THEN 0 ELSE 1 END
    FROM after JOIN memories ON memories.id = after.memory WHERE memories.superseded_by IS NOT NULL
)
SELECT memory FROM after WHERE otherwise = 1
"""
_READ: Final = """
SELECT 1 FROM readings
WHERE session_id = ? AND read_to >= (SELECT count(*) FROM turns WHERE turns.session_id = readings.session_id)
"""


class ToldChanges:
    """Answers for the hits of one question."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: dict[str, set[str]] = {}
        self._read: dict[str, bool] = {}

    def __call__(self, newer: Found, older: Found) -> bool:
        """Whether the newer one is said to have changed what the older one says."""
        both = bool(self._memories(newer)) and bool(self._memories(older))
        if both and self._replaces(newer, older):
            return True
        if spaced(newer.text) == spaced(older.text) or _two_subjects(newer.text, older.text):
            return False
        return not (both and self._is_read(newer) and self._is_read(older))

    def _replaces(self, newer: Found, older: Found) -> bool:
        rows = self._database.execute(_AFTER, (json.dumps(sorted(self._memories(older))),)).fetchall()
        return bool(self._memories(newer) & {row[0] for row in rows})

    def _memories(self, hit: Found) -> set[str]:
        if hit.id not in self._found:
            rows = self._database.execute(_FOUND_IN, (hit.id,)).fetchall() if hit.kind == "turn" else [(hit.id,)]
            self._found[hit.id] = {row[0] for row in rows}
        return self._found[hit.id]

    def _is_read(self, hit: Found) -> bool:
        """Whether all of its session was read for memories. A memory was found, or kept by a person: it has been compared."""
        if hit.kind != "turn":
            return True
        if hit.session_id not in self._read:
            self._read[hit.session_id] = self._database.execute(_READ, (hit.session_id,)).fetchone() is not None
        return self._read[hit.session_id]


def _two_subjects(newer: str, older: str) -> bool:
    """Whether two begin by speaking of two things of one kind: "the payments API", "the search API"."""
    first, second = (words_before(" ".join(spaced(text).split()[:SUBJECT_WORDS])) for text in (newer, older))
    return any(first[word].isdisjoint(second[word]) for word in first.keys() & second.keys())
