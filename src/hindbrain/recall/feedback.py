"""How often a hit was told and then used, and its age -> a factor of its score, between 0.9 and 1.1.

What is told and used rises, what is told again and again and never used sinks; what was never told stays where it is. Age takes
a little from what was said, half of that little within a year: of two turns that fit alike the fresher stands first. Rules and
pinned statements do not age. The factor never outweighs how well a hit fits: it decides between near equals.

Nothing after the scope's end counts, so that what is asked "as of" a day is not judged by what became of it later.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from hindbrain.ledger.database import Database
from hindbrain.recall.rank import FOREVER, Found

LEAST: Final = 0.9
MOST: Final = 1.1
AGE_TAKES: Final = 0.04  # in the end
HALF_LIFE_DAYS: Final = 365.0
# One use says as much as this many times untouched: most of what helps is not quoted.
USE_COUNTS: Final = 4
# So much told one way or the other takes a hit half of the way.
HALF_WAY: Final = 8
AGELESS: Final = frozenset({"instruction", "preference", "correction"})
_DAY_MS: Final = 86_400_000

_TOLD: Final = """
SELECT item_id, count(*), count(CASE WHEN used_at <= ? THEN 1 END), max(CASE WHEN used_at <= ? THEN used_at END)
FROM injections WHERE item_id IN (SELECT value FROM json_each(?)) AND at <= ?
GROUP BY item_id
"""
_PINNED: Final = "SELECT id FROM memories WHERE pinned = 1 AND id IN (SELECT value FROM json_each(?))"


class Told(NamedTuple):
    """What became of an item: to how many sessions it was told, how many of them used it, and when the last one did."""

    injected: int
    used: int
    used_at: int | None


def factor(used: int, injected: int, age_days: float) -> float:
    """What a score is multiplied by. `age_days`: since it was said or last used; 0 for what does not age."""
    told = USE_COUNTS * used - max(injected - used, 0)
    usefulness = told / (abs(told) + HALF_WAY)
    aged: float = AGE_TAKES * (1 - 0.5 ** (max(age_days, 0.0) / HALF_LIFE_DAYS))
    return min(max(1 + (MOST - 1) * usefulness - aged, LEAST), MOST)


def told(database: Database, ids: Sequence[str], until: int = FOREVER) -> dict[str, Told]:
    """What became of these turns and memories until a time; those that were never told are left out."""
    rows = database.execute(_TOLD, (until, until, json.dumps(list(ids)), until)).fetchall()
    return {str(row[0]): Told(int(row[1]), int(row[2]), row[3]) for row in rows}


def weigh(database: Database, hits: Iterable[Found], now_ms: int, until: int = FOREVER) -> None:
    """Add the part `use` to each hit's score: what its use and age take from it or give to it. The order is the caller's."""
    every = list(hits)
    memories = [hit.id for hit in every if hit.kind != "turn"]
    pinned = {row[0] for row in database.execute(_PINNED, (json.dumps(memories),)).fetchall()} if memories else set()
    known = told(database, [hit.id for hit in every], until)
    today = min(now_ms, until) // _DAY_MS * _DAY_MS  # by the day, so that the same question gives the same answer all day
    for hit in every:
        injected, used, used_at = known.get(hit.id, Told(0, 0, None))
        ageless = hit.kind in AGELESS or hit.id in pinned
        age = 0.0 if ageless else (today - max(hit.at, used_at or hit.at)) / _DAY_MS
        hit.parts.pop("use", None)
        change = round(abs(sum(hit.parts.values())) * (factor(used, injected, age) - 1), 6)
        if change:
            hit.parts["use"] = change
        hit.score = sum(hit.parts.values())
