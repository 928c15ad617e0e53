"""A store -> something that can be asked: a home of Hindbrain's own, or what SQLite does without it.

Homes lie in memory where the machine has a place for it: what is measured there is the ranking, not the disk.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from bench.conversations import Store, Turn
from bench.scoring import distinct
from hindbrain import Memory
from hindbrain.recall.static import Static
from hindbrain.recall.tokens import tokens_in
from hindbrain.recall.words import match_expression, words_of

SETTLE_SECONDS = 3600.0


def in_memory() -> str | None:
    """A folder of a file system in memory, if there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


@contextmanager
def remembered(store: Store) -> Iterator[Memory]:
    """A home that holds the store's turns."""
    with tempfile.TemporaryDirectory(prefix="hindbrain-quality-", dir=in_memory()) as home, Memory.open(home=home) as memory:
        for turn in store.turns:
            memory.record(
                agent=store.agent, session=turn.session, role=turn.role, text=turn.text, at=turn.at, project=store.project,
                key=turn.key,
            )  # fmt: skip
        memory.settle(timeout=SETTLE_SECONDS)
        yield memory


class PlainText:
    """What SQLite alone does: porter stems and the same stop words over whole turns, no neighbours, no session score."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._texts = {turn.key: turn.text for turn in turns}
        self._vectors = np.empty(0, np.float32)
        self._connection = sqlite3.connect(":memory:")
        self._connection.execute("CREATE VIRTUAL TABLE turns USING fts5(key UNINDEXED, text, tokenize = 'porter unicode61')")
        self._connection.executemany("INSERT INTO turns VALUES (?, ?)", [(turn.key, turn.text) for turn in turns])

    def close(self) -> None:
        self._connection.close()

    def scored(self, question: str, k: int) -> list[tuple[str, float]]:
        query = "SELECT key, -bm25(turns) FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?"
        return list(self._connection.execute(query, (match_expression(words_of(question)), k)))

    def search(self, question: str, k: int) -> list[str]:
        return distinct(key for key, _ in self.scored(question, k))

    def search_with_meaning(self, question: str, k: int) -> list[str]:
        """The same with vectors of whole turns: each side's best counts 1, and they are added."""
        if not self._vectors.size:
            self._vectors = Static.load().documents(list(self._texts.values()))
        words = dict(self.scored(question, -1))
        likeness = np.maximum(self._vectors @ Static.load().question(question), 0)
        most, nearest = max(words.values(), default=0) or 1.0, float(likeness.max()) or 1.0
        total = {key: words.get(key, 0) / most + float(like) / nearest for key, like in zip(self._texts, likeness, strict=True)}
        return sorted(total, key=lambda key: -total[key])[:k]

    def packed(self, question: str, budget: int) -> list[str]:
        """Whole turns, best first, as many as fit the budget; not a token is spent on anything else."""
        held, left = [], budget
        for key in self.search(question, 100):
            cost = tokens_in(self._texts[key])
            if cost <= left:
                held.append(key)
                left -= cost
        return held
