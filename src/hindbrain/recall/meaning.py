"""A question's vector -> the passages and memories that mean something like it, on either engine.

First the nearest by their signs, from the derived matrix or from PostgreSQL's own index, a thousand of them; then the exact
likeness, from the rows. Only rows that the ledger gives count, and only those inside the scope: what was forgotten a moment
ago is not found, whatever the derived side still holds.

Likeness is worked out in whole numbers, so that both engines and every machine give the same one to the last digit.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hindbrain.ledger import vectors
from hindbrain.ledger.database import Database, foreign, is_sqlite
from hindbrain.recall import rank
from hindbrain.recall.matrix import SCALE, Matrix, quantised, signs, unpacked

if TYPE_CHECKING:
    from hindbrain.recall.embedder import Embedder

RESCORED: Final = 1_000  # of 20,000 real passages these hold 99 in 100 of the fifty nearest
_FINE: Final = 1 << 15  # steps of a question's numbers

_SESSIONS = "SELECT id FROM sessions WHERE project_id = ?"
_TURNS = """
SELECT turns.rowid FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.at BETWEEN ? AND ? AND sessions.agent <> 'hindbrain' {project}
"""
_MEMORIES = """
SELECT memories.id FROM memories
WHERE memories.id IN (SELECT value FROM json_each(?)) AND memories.valid_from BETWEEN ? AND ?
  AND (memories.valid_to IS NULL OR memories.valid_to > ?) AND {told} {project}
"""


class Near(NamedTuple):
    """A passage of a turn, or a memory, and how like the question it is: 1 for the same, 0 for nothing in common."""

    turn: int | None
    memory: str | None
    likeness: float
    start: int
    end: int


class Meaning:
    """The vectors of one ledger and one model. `matrix` is for SQLite; PostgreSQL has an index of its own.

    Each question first looks for vectors stored since the last; a `hurried` one leaves the most of many to another thread.
    """

    def __init__(self, embedder: Embedder, matrix: Matrix | None, *, hurried: bool = False) -> None:
        self.embedder = embedder
        self._matrix = matrix
        self._hurried = hurried

    def nearest(
        self, database: Database, question: npt.NDArray[Any], scope: rank.Scope, limit: int,
        turns_inside: Callable[[Iterable[int]], Container[int]] | None = None,
    ) -> list[Near]:  # fmt: skip
        """The most alike inside the scope, best first. `turns_inside`: how to look up which turns are in it."""
        if limit < 1 or not question.any():
            return []
        inside: list[Near] = []
        for most in (limit + limit // 4, RESCORED):  # the first are nearly always enough, and reading all of them takes time
            ids = self._candidates(database, question, scope, most)
            rows = vectors.fetch(database, ids)
            inside = _within(database, _best(rows, self._likeness(rows, question), most), scope, turns_inside)
            if len(inside) >= limit or len(ids) < most:
                break
        return inside[:limit]

    def of(
        self, database: Database, question: npt.NDArray[Any], turns: Sequence[int], memories: Sequence[str]
    ) -> list[Near]:
        """Every passage of these turns and memories, best first."""
        rows = vectors.of_items(database, self.embedder.name, turns, memories)
        return _best(rows, self._likeness(rows, question), len(rows))

    def _candidates(self, database: Database, question: npt.NDArray[Any], scope: rank.Scope, most: int) -> list[int]:
        if self._matrix is None or not is_sqlite(database):
            bits = signs(quantised(question).reshape(1, -1)).tobytes()
            return vectors.nearest(
                foreign(database), self.embedder.name, bits, RESCORED, project=scope.project, everything=scope.everything,
                after=scope.after, before=scope.before,
            )  # fmt: skip
        self._matrix.top_up(database, hurried=self._hurried)
        return self._matrix.likest(question, _sessions(database, scope), scope.after, scope.before, RESCORED, most)

    def _likeness(self, rows: Sequence[vectors.Row], question: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        numbers = unpacked([row.vector for row in rows], self.embedder.dimensions).astype(np.float64)
        asked = np.rint(question.astype(np.float64) * _FINE)
        # whole numbers below 2 ** 53: the sum is exact in whatever order it is made
        found: npt.NDArray[np.float64] = (numbers @ asked) / (SCALE * _FINE)
        return found


def _best(rows: Sequence[vectors.Row], likeness: npt.NDArray[np.float64], most: int) -> list[Near]:
    """So many of the most alike, best first, and those that are as alike as the last of them."""
    places: Sequence[int] = range(len(rows))
    if most < len(rows):
        least = np.partition(likeness, len(rows) - most)[len(rows) - most]
        places = np.flatnonzero(likeness >= least).tolist()
    like = likeness.tolist()
    found = [Near(rows[at].turn, rows[at].memory, like[at], rows[at].start, rows[at].end) for at in places]
    return sorted(found, key=_best_first)


def _best_first(near: Near) -> tuple[float, int, str, int]:
    return -near.likeness, -(near.turn or 0), near.memory or "", near.start


def _sessions(database: Database, scope: rank.Scope) -> list[str] | None:
    if scope.everything:
        return None
    return [] if scope.project is None else [row[0] for row in database.execute(_SESSIONS, (scope.project,))]


def _within(
    database: Database, found: Sequence[Near], scope: rank.Scope,
    turns_inside: Callable[[Iterable[int]], Container[int]] | None,
) -> list[Near]:  # fmt: skip
    """Those the scope lets be found, in the same order."""
    turns = sorted({each.turn for each in found if each.turn is not None})
    memories = sorted({each.memory for each in found if each.memory is not None})
    known_turns = turns_inside(turns) if turns_inside is not None else _turns_inside(database, turns, scope)
    known_memories: set[str] = set()
    if memories:
        condition, values = scope.condition("memories")
        statement = _MEMORIES.format(project=condition, told=rank.SEARCHED)
        rows = database.execute(statement, (json.dumps(memories), scope.after, scope.before, scope.before, *values)).fetchall()
        known_memories = {row[0] for row in rows}
    return [each for each in found if (each.memory in known_memories if each.turn is None else each.turn in known_turns)]


def _turns_inside(database: Database, turns: Sequence[int], scope: rank.Scope) -> set[int]:
    condition, values = scope.condition("turns")
    rows = database.execute(_TURNS.format(project=condition), (json.dumps(turns), scope.after, scope.before, *values)).fetchall()
    return {row[0] for row in rows}
