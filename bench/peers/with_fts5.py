"""Plain SQLite full-text search in a file: porter stems over whole turns, Hindbrain's stop words."""

from __future__ import annotations

import sqlite3

from bench.peers.driver import serve
from hindbrain.recall.words import match_expression, words_of


class Fts5:
    def open(self, folder: str, url: str) -> None:
        self._connection = sqlite3.connect(f"{folder}/turns.db")
        self._connection.execute("CREATE VIRTUAL TABLE turns USING fts5(key UNINDEXED, text, tokenize = 'porter unicode61')")

    def add(self, turns: list[dict[str, str]]) -> None:
        with self._connection:
            self._connection.executemany("INSERT INTO turns VALUES (?, ?)", [(turn["key"], turn["text"]) for turn in turns])

    def search(self, question: str, k: int) -> list[str]:
        query = "SELECT key FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?"
        return [row[0] for row in self._connection.execute(query, (match_expression(words_of(question)), k))]

    def close(self) -> None:
        self._connection.close()


if __name__ == "__main__":
    serve(Fts5())
