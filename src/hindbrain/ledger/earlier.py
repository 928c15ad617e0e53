"""What models found in a session -> the statements they made, as they made them.

They stand where no model can be asked for the same turns now. Only a reading that is a model's own counts: forgetting anything of
a session takes its reading away, and with it whatever the forgotten words may have gone into.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hindbrain.ledger.database import Database
from hindbrain.ledger.statement import Said, Statement

MODEL: Final = "model:"  # begins the name of every model that made something

_FOUND: Final = """
SELECT id, kind, text, scope, made_by, detail FROM memories
WHERE session_id = ? AND level = 'observation' AND substr(made_by, 1, 6) = 'model:' ORDER BY valid_from, id
"""
_TURNS: Final = """
SELECT memory_id, turn_id FROM links
WHERE role = 'derived_from' AND turn_id IS NOT NULL AND memory_id IN (SELECT value FROM json_each(?)) ORDER BY turn_id
"""


@dataclass(frozen=True, slots=True)
class Earlier:
    """What models made of a session before."""

    made_by: str = ""  # the last of them
    read: frozenset[str] = frozenset()  # ids of turns
    statements: tuple[Statement, ...] = ()
    makers: Mapping[str, str] = field(default_factory=dict[str, str])  # by id of a statement


def earlier(database: Database, session_id: str, made_by: str, read: Sequence[Said], turns: Sequence[Said]) -> Earlier:
    """What stands of it in the turns there are now; nothing where the last reading was not a model's."""
    if not made_by.startswith(MODEL):
        return Earlier()
    rows = database.execute(_FOUND, (session_id,)).fetchall()
    rests: dict[str, list[str]] = {}
    for memory, turn in database.execute(_TURNS, (json.dumps([row[0] for row in rows]),)).fetchall():
        rests.setdefault(memory, []).append(turn)
    texts = {turn.id: turn.text for turn in turns}
    found = [(row[0], row[4], _statement(row, rests.get(row[0], []))) for row in rows]
    kept = [(maker, each) for _, maker, each in found if each is not None and _stands(each, texts)]
    makers = {each.id: maker for maker, each in kept}
    changed = {turn for identifier, _, _ in found if identifier not in makers for turn in rests.get(identifier, [])}
    return Earlier(made_by, frozenset(turn.id for turn in read) - changed, tuple(each for _, each in kept), makers)


def _statement(row: Sequence[Any], turns: Sequence[str]) -> Statement | None:
    """As it was found; None for what no longer has the words it was found with."""
    identifier, kind, text, scope, _, detail = row
    told = json.loads(detail)
    for first in turns:
        statement = Statement(
            kind, text, (first, *(each for each in turns if each != first)), told.get("quote", ""), told.get("found", 0.5),
            told.get("trust", "tool"), scope, told.get("why", ""), told.get("instead_of", ""), told.get("reason", ""),
        )  # fmt: skip
        if statement.id == identifier:
            return statement
    return None


def _stands(each: Statement, texts: Mapping[str, str]) -> bool:
    return bool(each.quote) and all(turn in texts for turn in each.turns) and each.quote in texts[each.turns[0]]
