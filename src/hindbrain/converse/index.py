"""Turns -> a full-text index of them, and the words of a prompt -> the rows that speak of it.

Of each word only the newest places are read, so looking does not get slower as the past grows; how dense they lie tells how
common the word is, and a word that stands everywhere says little about which turn is meant. A turn counts if it holds a rare
word of the prompt or two of any kind. Writing happens inside the caller's transaction.
"""

from __future__ import annotations

import heapq
import json
import math
import re
import sqlite3
from collections.abc import Sequence
from typing import Final

from hindbrain.converse.turns import Turn

PLACES: Final = 64  # of a word, the newest; more of them do not make it more telling
_FOLLOWS: Final = 0.6  # of what a question is worth, for the answer to it
_WEIGHED: Final = 30  # of the turns that hold the words, those that are looked at
_NEAR_BEST: Final = 0.5  # of the best; what is worth less is about something else

_SCHEMA: Final = """
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter unicode61 remove_diacritics 2');
CREATE TABLE turns (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, start INTEGER NOT NULL, size INTEGER NOT NULL,
    letters INTEGER NOT NULL, asks INTEGER NOT NULL
);
CREATE TABLE read (head BLOB NOT NULL, upto INTEGER NOT NULL);
"""
# Scripts without spaces: each pair of letters is a word.
_UNSPACED: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003134f]{2,}")


def known(database: sqlite3.Connection) -> tuple[bytes, int] | None:
    """Which file was read, and how far; None before any was."""
    if database.execute("SELECT 1 FROM sqlite_schema WHERE name = 'read'").fetchone() is None:
        return None
    row = database.execute("SELECT head, upto FROM read").fetchone()
    return None if row is None else (bytes(row[0]), int(row[1]))


def make(database: sqlite3.Connection, head: bytes) -> None:
    """An empty index of the file that begins so."""
    for table in ("words", "turns", "read"):
        database.execute(f"DROP TABLE IF EXISTS {table}")
    for statement in _SCHEMA.split(";"):
        database.execute(statement)
    database.execute("INSERT INTO read (head, upto) VALUES (?, 0)", (head,))


def take_in(database: sqlite3.Connection, turn: Turn, start: int, size: int) -> None:
    """Index a turn that stands at a place of its file; one that is there already is left alone."""
    key = f"{turn.at.isoformat()} {turn.role}"
    row = database.execute(
        "INSERT INTO turns (key, start, size, letters, asks) VALUES (?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING id",
        (key, start, size, len(turn.text), turn.role == "user"),
    ).fetchone()
    if row is not None:
        database.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (row[0], paired(turn.text)))


def scored(database: sqlite3.Connection, words: Sequence[str]) -> list[tuple[int, float]]:
    """Row and score of what the words speak of, best first."""
    every = int(database.execute("SELECT coalesce(max(id), 0) FROM turns").fetchone()[0])
    scores: dict[int, float] = {}
    about: set[int] = set()  # rows with a rare word, or with two
    for word in words:
        query = "SELECT rowid FROM words WHERE words MATCH ? ORDER BY rowid DESC LIMIT ?"
        rows: list[int] = [row for (row,) in database.execute(query, (f'"{word}"', PLACES))]
        if not rows:
            continue
        # Of a common word only the newest places were read; how dense they lie tells how many there are.
        count = len(rows) if len(rows) < PLACES else max(PLACES, PLACES * every // (every - rows[-1] + 1))
        weight = math.log(1 + (every - count + 0.5) / (count + 0.5))
        about.update(rows if count <= max(2, every // 10) else scores.keys() & rows)
        for row in rows:
            scores[row] = scores.get(row, 0.0) + weight
    return _best(database, {row: scores[row] for row in about})


def _best(database: sqlite3.Connection, scores: dict[int, float]) -> list[tuple[int, float]]:
    """Weighed by length, because a long turn speaks of everything; the answer to a question has a part in what it is worth."""
    best = dict(heapq.nlargest(_WEIGHED, scores.items(), key=lambda each: each[1]))
    beside = json.dumps([*best, *(row + 1 for row in best)])
    query = "SELECT id, letters, asks FROM turns WHERE id IN (SELECT value FROM json_each(?))"
    known = {row: (letters, asks) for row, letters, asks in database.execute(query, (beside,))}
    weighed: dict[int, float] = {}
    for row, score in best.items():
        letters, asks = known[row]
        worth = score / (1 + math.log1p(letters / 400) / 4)
        weighed[row] = weighed.get(row, 0.0) + worth
        if asks and row + 1 in known and not known[row + 1][1]:
            weighed[row + 1] = weighed.get(row + 1, 0.0) + worth * _FOLLOWS
    least = max(weighed.values(), default=0.0) * _NEAR_BEST
    return sorted(((row, worth) for row, worth in weighed.items() if worth >= least), key=lambda each: (-each[1], -each[0]))


def paired(text: str) -> str:
    """The text with scripts that write no spaces cut into pairs of letters."""
    return _UNSPACED.sub(lambda run: " ".join(["", *map("".join, zip(run[0], run[0][1:], strict=False)), ""]), text)
