"""An answer that `ask` gave -> what is filed of it; answers that were filed -> those nothing of which was forgotten."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from hindbrain.base.errors import UsageError
from hindbrain.ledger.database import Database
from hindbrain.wiki.questions import Asked, Quote

if TYPE_CHECKING:
    from hindbrain.serve.answering import Answer

_INSIDE: Final = "(SELECT value FROM json_each(:ids))"
_FOUND_IN: Final = f"""
SELECT DISTINCT memories.id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'derived_from' AND links.turn_id IN {_INSIDE} AND memories.level IN ('observation', 'derived')
  AND memories.held = '' ORDER BY memories.id
"""
_SAID_IN: Final = f"""
SELECT DISTINCT turn_id FROM links WHERE role = 'derived_from' AND turn_id IS NOT NULL AND memory_id IN {_INSIDE} ORDER BY turn_id
"""
_TURNS: Final = f"SELECT id FROM turns WHERE id IN {_INSIDE}"
_FORGOTTEN: Final = f"SELECT id FROM forgotten WHERE id IN {_INSIDE}"


def asked_of(database: Database, answer: Answer, project: str | None, at: int) -> Asked:
    """What is kept of an answer: with the memories it rests on, and those found in the turns it rests on. Raises UsageError for
    one that is none."""
    if not answer.known or not answer.evidence:
        raise UsageError("there is no answer to file", hint="ask something that is known")
    turns = [proof for proof in answer.evidence if proof.found.kind == "turn"]
    memories = [proof.found.id for proof in answer.evidence if proof.found.kind != "turn"]
    memories += _ids(database, _FOUND_IN, [proof.found.id for proof in turns])
    return Asked(
        answer.question, at, answer.made_by, project, tuple((each.text, each.ids) for each in answer.sentences),
        tuple(dict.fromkeys(memories)),
        tuple(Quote(each.found.id, f"{each.found.role} in {each.found.agent}", each.found.at, each.text) for each in turns),
        tuple(_ids(database, _SAID_IN, memories)),
    )  # fmt: skip


def stands(database: Database, asked: Sequence[Asked]) -> list[Asked]:
    """Those nothing of which was forgotten. A memory that is not there yet, in a ledger that was made anew, is no reason."""
    turns = set(_ids(database, _TURNS, {each for one in asked for each in one.grounds}))
    gone = set(_ids(database, _FORGOTTEN, {each for one in asked for each in one.cited}))
    return [one for one in asked if one.grounds <= turns and gone.isdisjoint(one.cited)]


def _ids(database: Database, query: str, ids: Iterable[str]) -> list[str]:
    return [str(row[0]) for row in database.execute(query, {"ids": json.dumps(sorted(ids))}).fetchall()]
