"""Turns and memories <-> the full-text index on PostgreSQL, with the words and scores of SQLite's FTS5.

Whoever writes holds the tenant's evidence lock, so a count that is read and written again is right. A batch costs a handful of
statements however large it is. The tables and the functions that search them are in migrations/0003_text.sql.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final, Literal

from hindbrain.ledger.postgres import bm25, terms
from hindbrain.ledger.postgres.searching import Searching
from hindbrain.ledger.postgres.terms import Counted

# How many documents are in hand at once.
PIECE: Final = 2_000

_TURNS_ABOVE: Final = f"SELECT rowid, text, near FROM turns WHERE rowid > ? ORDER BY rowid LIMIT {PIECE}"
_TURNS: Final = "SELECT rowid, text, near FROM turns WHERE rowid = ANY (?::bigint[]) ORDER BY rowid"
_COUNT_UP: Final = """
UPDATE terms SET {docs} = terms.{docs} + given.docs FROM unnest(?::text[], ?::integer[]) AS given (term, docs)
WHERE terms.term = given.term RETURNING terms.term, terms.id, terms.{docs}
"""
_ADD_TERMS: Final = """
INSERT INTO terms (term, {docs}) SELECT term, docs FROM unnest(?::text[], ?::integer[]) AS given (term, docs)
RETURNING term, id, {docs}
"""
# Puts documents in and counts the totals up. Lists of different lengths cannot be one array, so each comes as text.
_ADD: Final = """
WITH added AS (
    INSERT INTO {table} ({key}, length, ids, counts)
    SELECT given.key, given.length, given.ids::integer[], given.counts::integer[]
    FROM unnest(?::{key_type}[], ?::integer[], ?::text[], ?::text[]) AS given (key, length, ids, counts)
    RETURNING length
)
INSERT INTO text_totals ({docs}, {tokens}) SELECT count(*), sum(length) FROM added
ON CONFLICT ON CONSTRAINT text_totals_pkey
DO UPDATE SET {docs} = text_totals.{docs} + excluded.{docs}, {tokens} = text_totals.{tokens} + excluded.{tokens}
"""
# Takes documents out, counts their terms and the totals down, and gives back the terms nothing holds any more.
_REMOVE: Final = """
WITH gone AS (DELETE FROM {table} WHERE {key} = ANY (?::{key_type}[]) RETURNING length, ids),
     lost AS (SELECT id, count(*) AS docs FROM gone, unnest(gone.ids) AS held (id) WHERE id > 0 GROUP BY id),
     less AS (UPDATE terms SET {docs} = terms.{docs} - lost.docs FROM lost WHERE terms.id = lost.id
              RETURNING terms.id, terms.docs, terms.memory_docs),
     total AS (UPDATE text_totals SET {docs} = text_totals.{docs} - given.docs, {tokens} = text_totals.{tokens} - given.tokens
               FROM (SELECT count(*) AS docs, coalesce(sum(length), 0) AS tokens FROM gone) AS given)
SELECT id FROM less WHERE docs = 0 AND memory_docs = 0
"""
_COUNT: Final = (1 << 31) - 1
_REMOVE_TERMS: Final = "DELETE FROM terms WHERE id = ANY (?::integer[])"

_NAMES: Final = {
    "turn": {"table": "turn_terms", "key": "number", "key_type": "bigint", "docs": "docs", "tokens": "tokens"},
    "memory": {"table": "memory_terms", "key": "memory", "key_type": "text", "docs": "memory_docs", "tokens": "memory_tokens"},
}


class TextIndex(Searching):
    """The full-text methods of Foreign."""

    def index_turns_above(self, last: int) -> None:
        """Put the turns with a larger row number into the index."""
        while rows := self.execute(_TURNS_ABOVE, (last,)).fetchall():
            self._index_turns(rows)
            last = rows[-1][0]

    def index_turns(self, rows: Sequence[int]) -> None:
        """Put turns into the index, by row number."""
        for start in range(0, len(rows), PIECE):
            self._index_turns(self.execute(_TURNS, (list(rows[start : start + PIECE]),)).fetchall())

    def unindex_turns(self, rows: Sequence[int]) -> None:
        """Take turns out of the index."""
        self._remove("turn", rows)

    def index_memories(self, texts: Mapping[str, str]) -> None:
        """Put memories into the index, by id, in place of what they said before."""
        self._remove("memory", list(texts))
        rows = list(texts.items())
        for start in range(0, len(rows), PIECE):
            piece = rows[start : start + PIECE]
            self._add("memory", [row[0] for row in piece], terms.count([(row[1], "") for row in piece]))

    def unindex_memories(self, identifiers: Sequence[str]) -> None:
        """Take memories out of the index."""
        self._remove("memory", identifiers)

    def _index_turns(self, rows: Sequence[tuple[int, str, str]]) -> None:
        self._add("turn", [row[0] for row in rows], terms.count([row[1:] for row in rows]))

    def _add(self, kind: Literal["turn", "memory"], keys: Sequence[Any], documents: Sequence[Counted]) -> None:
        if not documents:
            return
        names = _NAMES[kind]
        ids, counts = _lists(documents, self._count_up(names, documents))
        self.execute(_ADD.format(**names), (list(keys), [each.length for each in documents], ids, counts))

    def _count_up(self, names: dict[str, str], documents: Sequence[Counted]) -> dict[str, tuple[int, int]]:
        """One more for each document that holds a term; gives back each term's id and how many hold it now."""
        held: Counter[str] = Counter()
        for each in documents:
            held.update(each.terms.keys())
        ordered = sorted(held)  # neighbours in the index are on the same page
        values = ordered, [held[term] for term in ordered]
        rows = self.execute(_COUNT_UP.format(**names), values).fetchall()
        known = {term for term, *_ in rows}
        new = [term for term in ordered if term not in known]
        if new:
            rows += self.execute(_ADD_TERMS.format(**names), (new, [held[term] for term in new])).fetchall()
        return {term: (number, docs) for term, number, docs in rows}

    def _remove(self, kind: Literal["turn", "memory"], keys: Sequence[Any]) -> None:
        if not keys:
            return
        unheld = [row[0] for row in self.execute(_REMOVE.format(**_NAMES[kind]), (list(keys),)).fetchall()]
        if unheld:
            self.execute(_REMOVE_TERMS, (unheld,))


def _lists(documents: Sequence[Counted], known: dict[str, tuple[int, int]]) -> tuple[list[str], list[str]]:
    """The ids of each document's terms, the most common first, and their counts, as PostgreSQL writes lists.

    Rank and count of a term are put in one number: sorting numbers is quick. Behind the ids stand, as negative numbers, those of
    the terms the document is strong in.
    """
    order = sorted(known, key=lambda term: -known[term][1])
    rank = {term: place << 31 for place, term in enumerate(order)}
    names = [str(known[term][0]) for term in order]
    ids, counts = [], []
    for each in documents:
        held = sorted([rank[term] | count for term, count in each.terms.items()])
        least = bm25.strong_from(each.length)
        strong = [f"-{names[one >> 31]}" for one in held if _weight(one & _COUNT) > least]
        ids.append(f"{{{','.join([names[one >> 31] for one in held] + strong)}}}")
        counts.append(f"{{{','.join([str(one & _COUNT) for one in held])}}}")
    return ids, counts


def strong_terms(document: Counted) -> list[str]:
    """The terms a document is strong in."""
    return [term for term, count in document.terms.items() if _weight(count) > bm25.strong_from(document.length)]


@cache
def _weight(count: int) -> float:
    return bm25.frequency_of(count, bm25.STRONG_NEAR_WEIGHT)
