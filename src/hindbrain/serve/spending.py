"""Bills -> what a person is told of them: by day, and in words what came of a call."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from hindbrain.ledger.bills import Outcome
from hindbrain.ledger.calls import Spent, spent
from hindbrain.ledger.database import Database

OUTCOMES: Final[Mapping[Outcome, str]] = {
    "answered": "answered", "unusable": "a reply of no use", "free": "no reply, nothing paid", "unknown": "no reply kept",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Day:
    """What one day of this machine's own time cost."""

    name: str
    spent: Spent


def days(database: Database, now_ms: int, count: int = 14) -> list[Day]:
    """The last days, today first."""
    found: list[Day] = []
    after = Spent(0, 0, 0)
    here = time.localtime(now_ms / 1000)
    for back in range(count):
        began = time.mktime((here.tm_year, here.tm_mon, here.tm_mday - back, 0, 0, 0, 0, 0, -1))
        since = spent(database, int(began * 1000))
        own = Spent(since.tokens - after.tokens, since.cost_micros - after.cost_micros, since.calls - after.calls)
        found.append(Day(time.strftime("%Y-%m-%d", time.localtime(began)), own))
        after = since
    return found
