"""Turns -> the least that any search over them by words and by meaning must do: one bare query and one bare scan."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hindbrain.recall.matrix import quantised, signs
from hindbrain.recall.rank import NEAR_WEIGHT
from hindbrain.recall.static import Static
from hindbrain.recall.words import match_expression, words_of

RESCORED = 1500


class Floor:
    """What any search over these turns must do at the least."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.execute("CREATE VIRTUAL TABLE turns USING fts5(text, tokenize = 'porter unicode61')")
        self._static = Static.load()
        self._vectors: list[Any] = []

    def add(self, texts: list[str]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO turns (text) VALUES (?)", [(text,) for text in texts])
        self._vectors.append(quantised(self._static.documents(texts)))

    def complete(self) -> None:
        with self._connection:
            self._connection.execute("INSERT INTO turns (turns) VALUES ('optimize')")
        self._whole = np.concatenate(self._vectors)
        self._signs = np.ascontiguousarray(signs(self._whole).view("<u8").T)
        self._vectors = []

    def words(self, question: str) -> None:
        query = "SELECT rowid, text, bm25(turns) FROM turns WHERE turns MATCH ? ORDER BY bm25(turns) LIMIT 10"
        self._connection.execute(query, (match_expression(words_of(question)),)).fetchall()

    def beside(self, ledger: Path) -> None:
        """Have the product's own index at hand too; it holds the words around each turn as well."""
        self._ledger = sqlite3.connect(f"{ledger.as_uri()}?mode=ro", uri=True)

    def own_index(self, question: str) -> None:
        """The bare query on the product's own index."""
        query = "SELECT rowid, bm25(turns_fts, 1.0, ?) AS score FROM turns_fts WHERE turns_fts MATCH ? ORDER BY score LIMIT 10"
        self._ledger.execute(query, (NEAR_WEIGHT, match_expression(words_of(question)))).fetchall()

    def vectors(self, asked: Any) -> None:
        """Ten nearest of a question whose vector is known."""
        bits = signs(quantised(asked).reshape(1, -1)).view("<u8")[0]
        distances = np.zeros(self._signs.shape[1], np.uint16)
        for start in range(0, len(distances), 1 << 15):  # as much as stays in a processor's cache
            for word, sought in zip(self._signs, bits, strict=True):
                distances[start : start + (1 << 15)] += np.bitwise_count(word[start : start + (1 << 15)] ^ sought)
        near = np.argpartition(distances, min(RESCORED, len(distances) - 1))[:RESCORED]
        likeness = self._whole[near].astype(np.float32) @ asked
        near[np.argsort(-likeness)[:10]].tolist()

    def vector_of(self, question: str) -> Any:
        return self._static.question(question)


class Took(NamedTuple):
    """Milliseconds by the clock, and of processor time, which a busy machine disturbs less."""

    wall: float
    cpu: float


def took(call: Callable[[], object]) -> Took:
    start, used = time.perf_counter(), time.process_time()
    call()
    return Took(1000 * (time.perf_counter() - start), 1000 * (time.process_time() - used))
