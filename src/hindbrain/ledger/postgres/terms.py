"""Texts -> the terms FTS5 would index them under, with how often each occurs.

Nothing here knows what a word is: the texts go into a full-text table of SQLite in memory, made with the tokenizer of the
ledger's own, and what comes out are the entries of its index. So both engines have the same words, stems and foldings by
construction.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

# As in ledger/migrations: a test compares them.
TOKENIZER: Final = "porter unicode61 remove_diacritics 2"
# How one number says both counts of a term: this for each time among a document's own words, 1 for each among its neighbours'.
OWN: Final = 4096
_LARGEST: Final = 2**31 - 1
# An index entry of PostgreSQL has room for some 2,700 bytes. A longer term is known by its digest, after a control character, as
# no term holds one.
LONGEST_TERM: Final = 250

_TABLES: Final = f"""
CREATE VIRTUAL TABLE texts USING fts5 (own, near, content = '', columnsize = 0, tokenize = '{TOKENIZER}');
INSERT INTO texts (texts, rank) VALUES ('hashsize', 33554432);
CREATE VIRTUAL TABLE entries USING fts5vocab (texts, instance);
"""
# Only a long term passes through Python, and as bytes: FTS5 cuts it off at 32,768 of them, perhaps inside a letter.
_TERM: Final = f"CASE WHEN length(term) > {LONGEST_TERM} THEN short_name(CAST(term AS BLOB)) ELSE term END"
# One row for each occurrence: adding up is quicker here than sorting there.
_OCCURRENCES: Final = f"SELECT doc, {_TERM}, CASE col WHEN 'own' THEN {OWN} ELSE 1 END FROM entries"
_IN_ORDER: Final = f"SELECT doc, {_TERM} FROM entries ORDER BY doc, offset"


class Counted(NamedTuple):
    """A document's length in words, and its terms with their counts: OWN for each own occurrence, 1 for each of a neighbour's."""

    length: int
    terms: dict[str, int]


# A connection may be used by one thread at a time, so each has a database in memory of its own.
_of_thread: Final = threading.local()


def count(texts: Sequence[tuple[str, str]]) -> list[Counted]:
    """The terms of each document, told as its own text and its neighbours'."""
    lengths = [0] * len(texts)
    terms: list[dict[str, int]] = [{} for _ in texts]
    for number, term, weight in _entries(texts, _OCCURRENCES):
        lengths[number] += 1
        held = terms[number]
        if term in held:
            held[term] += weight
        else:
            held[term] = weight
    return [Counted(length, _within(length, held)) for length, held in zip(lengths, terms, strict=True)]


def _within(length: int, terms: dict[str, int]) -> dict[str, int]:
    """Counts that fit their column; a document must be far larger than any turn for this to matter."""
    return terms if length * OWN <= _LARGEST else {term: min(count, _LARGEST) for term, count in terms.items()}


def in_order(texts: Sequence[str]) -> list[list[str]]:
    """The terms of each text as they follow each other."""
    found: list[list[str]] = [[] for _ in texts]
    for number, term in _entries([(text, "") for text in texts], _IN_ORDER):
        found[number].append(term)
    return found


def _entries(texts: Sequence[tuple[str, str]], query: str) -> Iterator[tuple[Any, ...]]:
    connection = _connection()
    connection.execute("BEGIN")
    try:
        connection.executemany(
            "INSERT INTO texts (rowid, own, near) VALUES (?, ?, ?)", ((number, *text) for number, text in enumerate(texts))
        )
        yield from connection.execute(query)
    finally:
        connection.execute("ROLLBACK")


def _connection() -> sqlite3.Connection:
    known: _Held | None = getattr(_of_thread, "held", None)
    if known is None:
        # used by this thread alone, but closed by whoever sees it end
        made = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        made.create_function("short_name", 1, _short_name, deterministic=True)
        made.executescript(_TABLES)
        known = _of_thread.held = _Held(made)
        weakref.finalize(known, made.close)
    return known.connection


class _Held:
    """A connection that is closed when its thread ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection


def _short_name(term: bytes) -> str:
    return f"\x01{hashlib.sha256(term).hexdigest()}"
