"""A question and its scope -> what its words match that was left out of the answer, and why.

Looked at is what fits the words best, wherever it is from: an answer that seems to lack something can be held against it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hindbrain.recall import rank
from hindbrain.recall.question import understood

if TYPE_CHECKING:
    from hindbrain.ledger.database import Database

LOOKED_AT: Final = 1_000

_TURNS: Final = """
SELECT reason, count(*) FROM (
    SELECT CASE
        WHEN sessions.agent = 'hindbrain' THEN 'kept'
        WHEN {elsewhere} THEN 'project'
        WHEN turns.at < ? THEN 'before'
        WHEN turns.at > ? THEN 'after'
        WHEN NOT (1 = 1 {condition}) THEN 'role'
        ELSE '' END AS reason
    FROM turns CROSS JOIN sessions
    WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
) AS looked_at GROUP BY reason
"""
_MEMORIES: Final = """
SELECT reason, count(*) FROM (
    SELECT CASE
        WHEN {elsewhere} THEN 'project'
        WHEN memories.valid_from < ? THEN 'before'
        WHEN memories.valid_from > ? THEN 'after'
        WHEN memories.valid_to <= ? THEN 'ended'
        WHEN memories.held <> '' THEN 'held'
        ELSE '' END AS reason
    FROM memories WHERE memories.id IN (SELECT value FROM json_each(?))
      AND memories.held <> 'rejected' AND memories.level IN ('observation', 'derived')
) AS looked_at GROUP BY reason
"""
_EQUAL: Final = """
SELECT count(*) - count(DISTINCT turns.text) FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.at BETWEEN ? AND ? AND sessions.agent <> 'hindbrain' {condition}
"""
_SAID: Final = {
    "project": "of other projects", "before": "from before the time asked for", "after": "from after the time asked for",
    "role": "said by others than asked for", "kept": "kept as memories, which stand for them", "ended": "that no longer holds",
    "held": "held back until a person has looked at it",
}  # fmt: skip


def left_out(database: Database, question: str, scope: rank.Scope) -> list[str]:
    """In plain words how many turns and memories that hold the question's words are not in the answer, by reason."""
    asked = understood(question)
    if not asked.words:
        return []
    rows = json.dumps([row for row, _ in rank.best_turns(database, asked.words, LOOKED_AT)])
    ids = json.dumps([identifier for identifier, _ in rank.best_memories(database, asked.words, LOOKED_AT)])
    condition, values = scope.condition("turns")
    times = (scope.after, scope.before)
    elsewhere, where = _elsewhere(scope, "sessions.project_id IS NULL OR sessions.project_id <> ?")
    query = _TURNS.format(elsewhere=elsewhere, condition=condition)
    turns = dict(database.execute(query, (*where, *times, *values, rows)).fetchall())
    elsewhere, where = _elsewhere(scope, "memories.scope <> 'global' AND memories.project_id <> ?", "memories.scope <> 'global'")
    until = -rank.FOREVER if asked.wants_past else scope.before
    memories = dict(database.execute(_MEMORIES.format(elsewhere=elsewhere), (*where, *times, until, ids)).fetchall())
    (equal,) = database.execute(_EQUAL.format(condition=condition), (rows, *times, *values)).fetchone()
    said = [_counted(count, "turn", _SAID[reason]) for reason, count in sorted(turns.items()) if reason]
    said += [_counted(count, "memory", _SAID[reason]) for reason, count in sorted(memories.items()) if reason]
    return said + ([_counted(equal, "turn", "said again in the same words, behind the others")] if equal else [])


def _elsewhere(scope: rank.Scope, other: str, none: str = "1 = 1") -> tuple[str, list[str]]:
    """SQL that holds for what is of another project, and its values."""
    if scope.everything:
        return "1 = 0", []
    return (none, []) if scope.project is None else (other, [scope.project])


def _counted(count: int, what: str, why: str) -> str:
    plural = {"turn": "turns", "memory": "memories"}
    return f"{count} {what if count == 1 else plural[what]} {why}"
