"""Rows of calls -> the ledger a person reads: who was asked, for which job, what it cost and what came of it.

A bill and its reply are rows of their own (calls.py) that share a time: an attempt that was lost and asked again is two bills and
one reply. Ledgers of earlier versions have both in one row.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from hindbrain.ledger.database import Database

# unusable: something came that could not be read. free: nothing came and nothing was paid. unknown: no reply is kept, because it
# is still under way, was lost, or was forgotten.
Outcome = Literal["answered", "unusable", "free", "unknown"]
Place = tuple[int, str]  # in the list: time and key

NEWEST: Final[Place] = (1 << 62, "")
_HOUR_MS: Final = 3_600_000
_VOID: Final = "/void "
_BILLS: Final = f"""
SELECT calls.key, calls.at, calls.provider, calls.model, calls.kind, projects.name, input_tokens, output_tokens, cost_micros
FROM calls LEFT JOIN projects ON projects.id = calls.project_id
WHERE calls.key NOT LIKE '%{_VOID}%' AND (calls.key LIKE '%/%' OR input_tokens > 0) AND (calls.at, calls.key) < (?, ?)
ORDER BY calls.at DESC, calls.key DESC LIMIT ?
"""
_REPLIES: Final = "SELECT key, at, reply, produced FROM calls WHERE key IN (SELECT value FROM json_each(?))"


@dataclass(frozen=True, slots=True)
class Bill:
    """One call of a model."""

    key: str
    at: int
    provider: str
    model: str
    kind: str  # of the job
    project: str | None
    input_tokens: int
    output_tokens: int
    cost_micros: int
    outcome: Outcome = "unknown"
    complaint: str = ""  # why a reply could not be used
    produced: tuple[str, ...] = ()  # ids of the memories that came of it

    @property
    def place(self) -> Place:
        """Where the list goes on behind it."""
        return self.at, self.key


@dataclass(frozen=True, slots=True)
class _Reply:
    at: int
    text: str
    produced: tuple[str, ...]


def bills(database: Database, before: Place = NEWEST, limit: int = 100) -> list[Bill]:
    """The calls before a place in the list, newest first."""
    found = [Bill(*row) for row in database.execute(_BILLS, (*before, limit)).fetchall()]
    replies = _replies(database, {key for bill in found for key in _reply_keys(bill)})
    return [_told(bill, replies) for bill in found]


def _reply_keys(bill: Bill) -> tuple[str, ...]:
    """Where what came of it may stand: as a reply, or as a complaint in the hour it came."""
    question, hour = bill.key.partition("/")[0], bill.at // _HOUR_MS
    return question, f"{question}{_VOID}{hour}", f"{question}{_VOID}{hour + 1}"


def _replies(database: Database, keys: Iterable[str]) -> dict[str, _Reply]:
    rows = database.execute(_REPLIES, (json.dumps(sorted(keys)),)).fetchall()
    return {key: _Reply(at, reply, tuple(json.loads(produced))) for key, at, reply, produced in rows}


def _told(bill: Bill, replies: dict[str, _Reply]) -> Bill:
    what = (bill.key, bill.at, bill.provider, bill.model, bill.kind, bill.project,
            bill.input_tokens, bill.output_tokens, bill.cost_micros)  # fmt: skip
    question, *voids = _reply_keys(bill)
    if (reply := replies.get(question)) and reply.at == bill.at:
        return Bill(*what, "answered", "", reply.produced)
    for void in voids:
        if (reply := replies.get(void)) and reply.at == bill.at:
            return Bill(*what, "unusable", reply.text)
    return Bill(*what, "unknown" if bill.input_tokens or bill.output_tokens else "free")
