"""The best hits -> later statements that say that what these say is over, though they share no word with the question.

"What do we use as message queue?" finds "Message queue: RabbitMQ." and not "We dropped RabbitMQ, jobs live in a table." So the
names in the best hits that the question does not say are looked up, and of the turns that hold one those are kept that came later
and say right beside it that it is over. Whether they speak of the same thing is judged where hits are put in order (newest.py).
"""

from __future__ import annotations

import json
from typing import Final

from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.recall import rank
from hindbrain.recall.newest import wants_newest
from hindbrain.recall.rank import Found, Scope
from hindbrain.recall.said import Names
from hindbrain.recall.static import Static

LOOKED_AT: Final = 2  # of the hits: what is amended is what would be told first
NAMES: Final = 3  # of each
MOST_TURNS: Final = 300  # that hold a name
COMMON: Final = 20  # a word that one of so many turns holds names nothing
FETCHED: Final = 40
MAX_CHARS: Final = 600  # a long text holds a little of everything

_TURNS: Final = """
SELECT turns.id, turns.role, turns.text, turns.at, turns.key, sessions.agent, sessions.client_id, sessions.project_id, sessions.id
FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.role IN ('user', 'assistant') AND sessions.agent <> 'hindbrain' AND length(turns.text) <= ?
  AND turns.at > ? AND turns.at BETWEEN ? AND ? {project}
ORDER BY turns.at DESC, turns.id
"""


def amendments(database: Database, question: str, hits: list[Found], scope: Scope, static: Static | None) -> list[Found]:
    """Turns that are not among the hits and may amend the first of them; they have no score of their own."""
    if static is None or not wants_newest(question):
        return []
    best = [hit for hit in hits[:LOOKED_AT] if hit.role in ("user", "assistant")]
    names = Names(question, static)
    counts = _telling(database, [word for hit in best for word in names.beside(hit)[:NAMES]])
    if not counts:
        return []
    rows = [row for row, _ in rank.best_turns(database, list(counts), FETCHED, list(counts.values()))]
    condition, values = scope.condition("turns")
    limits = (json.dumps(rows), MAX_CHARS, min(hit.at for hit in best), scope.after, scope.before, *values)
    found = database.execute(_TURNS.format(project=condition), limits).fetchall()
    known = {hit.id for hit in hits}
    later = [
        Found(row[0], "turn", row[1], row[2], row[3], row[4], row[5], row[6], row[7], {}, row[8])
        for row in found if row[0] not in known
    ]  # fmt: skip
    return [each for each in later if any(each.at > hit.at and names.over(each, hit) for hit in best)]


def _telling(database: Database, words: list[str]) -> dict[str, int]:
    """Those that few turns hold, and how many."""
    distinct = list(dict.fromkeys(words))
    if not distinct:
        return {}
    (turns,) = database.execute("SELECT max(rowid) FROM turns").fetchone()
    most = min(MOST_TURNS, (turns or 0) // COMMON)
    counts = fulltext.counted(database, distinct, most + 1)
    return {word: count for word, count in zip(distinct, counts, strict=True) if count <= most}
