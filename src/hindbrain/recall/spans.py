"""A question and its scope -> the stretches of time the question means, by what the ledger knows.

"Last week" counts back from when something was last said in reach; "before the release" from when the release was last spoken
of by someone who did not ask for it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from hindbrain.ledger import fulltext
from hindbrain.recall import dates, rank
from hindbrain.recall.question import Question

if TYPE_CHECKING:
    from hindbrain.ledger.database import Database

SPOKEN_OF: Final = 200  # turns that speak of an event, that are looked at

_LAST: Final = "SELECT max(last_at) FROM sessions"
_LAST_INSIDE: Final = "SELECT max(last_at) FROM sessions WHERE project_id = ?"
_EVENT: Final = """
SELECT max(turns.at) FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.at BETWEEN ? AND ? AND turns.role IN ('user', 'assistant') AND turns.text NOT LIKE '%?' {project}
"""


def spans_of(database: Database, asked: Question, scope: rank.Scope, now: int) -> list[dates.Stretch]:
    """The stretches of time a question names; most name none, and cost nothing."""
    spans = dates.stretches(asked.text, lambda: _last_moment(database, scope, now))
    event = dates.event_of(asked.text)
    if event is not None:
        how, word = event
        at = _moment_of(database, word, scope)
        if at is not None:
            spans.append(dates.around_event(how, at))
    return spans


def _last_moment(database: Database, scope: rank.Scope, now: int) -> int:
    """When something was last said in reach."""
    inside = not scope.everything and scope.project is not None
    row = database.execute(_LAST_INSIDE, (scope.project,)) if inside else database.execute(_LAST)
    (last,) = row.fetchone()
    return min(now, scope.before, now if last is None else last)


def _moment_of(database: Database, word: str, scope: rank.Scope) -> int | None:
    """When an event was last spoken of."""
    held = [row for row, score in fulltext.best(database, [word], 0.0, SPOKEN_OF) if score > 0]
    condition, values = scope.condition("turns")
    found = database.execute(_EVENT.format(project=condition), (json.dumps(held), scope.after, scope.before, *values)).fetchone()
    return None if found[0] is None else int(found[0])
