"""Turns and memories <-> the full-text index, whichever engine keeps it.

The index is part of the ledger: it is written by the transaction that writes the row. SQLite has FTS5; another engine brings
its own, with the same words and the same scores.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from hindbrain.ledger.database import Database, foreign, is_sqlite

LEAST_COMMON: Final = 5_000
FEW: Final = 300
_NO_ROW: Final = (1 << 63) - 1

_ADD: Final = """
INSERT INTO turns_fts (rowid, text, near) SELECT rowid, text, near FROM turns WHERE rowid IN (SELECT value FROM json_each(?))
"""
# An external-content index must be told the very text it once indexed.
_REMOVE: Final = """
INSERT INTO turns_fts (turns_fts, rowid, text, near)
SELECT 'delete', rowid, text, near FROM turns WHERE rowid IN (SELECT value FROM json_each(?))
"""
# All that a batch changes, in one statement and in order of row numbers: FTS5 makes a piece of index of what it holds whenever a
# statement begins or a row number goes down, and every piece has to be merged. The texts need not pass through Python.
_CHANGE: Final = """
INSERT INTO turns_fts (turns_fts, rowid, text, near)
SELECT json_extract(value, '$[0]'), turns.rowid, text, coalesce(json_extract(value, '$[2]'), near)
FROM json_each(?) CROSS JOIN turns ON turns.rowid = json_extract(value, '$[1]')
UNION ALL SELECT NULL, rowid, text, near FROM turns WHERE rowid > ?
"""
_BEST: Final = """
SELECT rowid, -bm25(turns_fts, 1.0, ?) AS score FROM turns_fts WHERE turns_fts MATCH ? ORDER BY score DESC LIMIT ?
"""

# What FTS5 keeps of its index as a whole: how many rows and words it holds, and all its pieces. Another one with every change.
_STATE: Final = "SELECT id, block FROM turns_fts_data WHERE id IN (1, 10)"
_REMEMBERED: Final = 20_000  # counts, some megabytes

_SCORES: Final = """
SELECT turns.id, -bm25(turns_fts, 1.0, ?) FROM turns_fts JOIN turns ON turns.rowid = turns_fts.rowid
WHERE turns_fts MATCH ? AND turns.id IN (SELECT value FROM json_each(?))
"""


def change(database: Database, near: Mapping[int, str], write: Callable[[], object], above: int | None = None) -> None:
    """Write other neighbours of turns that are indexed with these, and bring the index in line; index all above a row number."""
    if is_sqlite(database):
        write()
        rows = [each for row in sorted(near) for each in (("delete", row, near[row]), (None, row, None))]
        if rows or above is not None:
            database.execute(_CHANGE, (json.dumps(rows), _NO_ROW if above is None else above))
        return
    if near:
        foreign(database).unindex_turns(list(near))
    write()
    if near:
        foreign(database).index_turns(list(near))
    if above is not None:
        foreign(database).index_turns_above(above)


def add(database: Database, rows: Sequence[int]) -> None:
    """Index turns by row number."""
    if is_sqlite(database):
        database.execute(_ADD, (json.dumps(list(rows)),))
    else:
        foreign(database).index_turns(rows)


def remove(database: Database, rows: Sequence[int]) -> None:
    """Take turns out of the index; before their text changes or goes."""
    if is_sqlite(database):
        database.execute(_REMOVE, (json.dumps(list(rows)),))
    else:
        foreign(database).unindex_turns(rows)


def put_memory(database: Database, identifier: str, text: str) -> None:
    """Index a memory in place of what it said before."""
    put_memories(database, {identifier: text})


def put_memories(database: Database, texts: Mapping[str, str]) -> None:
    """Index memories, by id, in place of what they said before."""
    if not texts:
        return
    if is_sqlite(database):
        remove_memories(database, list(texts))
        database.executemany("INSERT INTO memories_fts (id, text) VALUES (?, ?)", texts.items())
    else:
        foreign(database).index_memories(texts)


def remove_memories(database: Database, identifiers: Sequence[str]) -> None:
    """Take memories out of the index."""
    if is_sqlite(database):
        named = json.dumps(list(identifiers))
        database.execute("DELETE FROM memories_fts WHERE id IN (SELECT value FROM json_each(?))", (named,))
    else:
        foreign(database).unindex_memories(identifiers)


def best(database: Database, words: Sequence[str], near_weight: float, limit: int) -> list[tuple[int, float]]:
    """The turns that hold any of the words: row numbers and scores, best first. Words are plain: letters and digits."""
    if is_sqlite(database):
        return database.execute(_BEST, (near_weight, _any_of(words), limit)).fetchall()
    return foreign(database).best_turns(words, near_weight, limit)


def scores(database: Database, words: Sequence[str], near_weight: float, identifiers: Sequence[str]) -> dict[str, float]:
    """How well each of these turns fits the words, by id; one that holds none of them is left out."""
    if not words or not identifiers:
        return {}
    if is_sqlite(database):
        return dict(database.execute(_SCORES, (near_weight, _any_of(words), json.dumps(list(identifiers)))).fetchall())
    return dict(foreign(database).score_turns(words, near_weight, identifiers))


class Counts:
    """How often words stand in one ledger's index, remembered until it changes: common ones are asked for again and again, and
    take the longest to count. Any thread may use it; each sees what its own transaction sees."""

    def __init__(self) -> None:
        self._now: tuple[object, dict[tuple[str, int], int]] = (None, {})

    def of(self, database: Database, words: Sequence[str], most: int) -> list[int]:
        """As `counted`."""
        if not is_sqlite(database) or database.total_changes:  # one that writes may see what nobody else will ever see
            return counted(database, words, most)
        state = database.execute(_STATE).fetchall()
        if self._now[0] != state or len(self._now[1]) > _REMEMBERED:
            self._now = state, {}
        remembered = self._now
        known = remembered[1] if remembered[0] == state else {}  # another thread may see another state
        new = [word for word in words if (word, most) not in known]
        known.update(((word, most), count) for word, count in zip(new, counted(database, new, most), strict=True))
        return [known[word, most] for word in words]


def holding(database: Database, words: Sequence[str], counts: Counts | None = None) -> list[int]:
    """In how many turns each of these words stands, its own or its neighbours'.

    A word that stands in one turn of twenty is common: where others are rare, how common makes no difference worth the counting.
    """
    (last,) = database.execute("SELECT max(rowid) FROM turns").fetchone()
    most = max(LEAST_COMMON, (last or 0) // 20)
    count = counted if counts is None else counts.of
    found = count(database, words, most)
    if sum(each for each in found if each < most) < FEW:
        return count(database, words, _NO_ROW)
    return found


def counted(database: Database, words: Sequence[str], most: int) -> list[int]:
    """The same, each word counted no further than `most`."""
    if is_sqlite(database):
        query = "SELECT count(*) FROM (SELECT 1 FROM turns_fts WHERE turns_fts MATCH ? LIMIT ?)"
        return [int(database.execute(query, (_any_of([word]), most)).fetchone()[0]) for word in words]
    return [min(count, most) for count in foreign(database).turns_holding(words)]


def _any_of(words: Sequence[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)
