"""What a statement runs on: SQLite's own connection, or another engine's made to look like it.

The SQL of this stage is one text for both engines: `?` and `:name` for values, lists as JSON (`json_each`), times as whole
numbers. What no common text can say, full text above all, is behind the few methods of `Foreign`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeGuard


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Database(Protocol):
    """A connection; the caller holds its transaction."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Rows: ...

    def executemany(self, sql: str, parameters: Any, /) -> Rows: ...


class Foreign(Database, Protocol):
    """An engine that is not SQLite: what it must bring of its own."""

    def index_turns_above(self, last: int) -> None:
        """Put the turns with a larger row number into the full-text index."""

    def index_turns(self, rows: Sequence[int]) -> None:
        """Put turns into the full-text index, by row number."""

    def unindex_turns(self, rows: Sequence[int]) -> None:
        """Take turns out of the full-text index, before their text changes or goes."""

    def index_memories(self, texts: Mapping[str, str]) -> None:
        """Put memories into the full-text index, by id, in place of what they said before."""

    def unindex_memories(self, identifiers: Sequence[str]) -> None:
        """Take memories out of the full-text index."""

    def best_turns(
        self, words: Sequence[str], near_weight: float, limit: int, rarer: Sequence[str] | None = None
    ) -> list[tuple[int, float]]:
        """Row numbers and BM25 scores of the turns that hold any of the words, best first; limit -1 for all. With `rarer`: only
        turns that hold one of these of the words."""

    def turns_inside(self, words: Sequence[str], near_weight: float, project: str) -> list[tuple[int, float]]:
        """The same for all turns of one project, in any order."""

    def best_memories(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """Ids and BM25 scores of the memories that hold any of the words, best first; limit -1 for all."""

    def score_turns(self, words: Sequence[str], near_weight: float, identifiers: Sequence[str]) -> list[tuple[str, float]]:
        """Ids and BM25 scores of these turns."""

    def locking(self, held: str, kept: str) -> str:
        """The end of a SELECT that holds the rows of one table and keeps those of another from going until the transaction ends.

        Rows that somebody else holds are passed over. Nothing in a transaction that only reads.
        """

    def put_vectors(self, rows: Sequence[tuple[str, int | None, str | None, int, int, int, bytes, bytes]]) -> None:
        """Put vectors in: model, turn, memory, place, start, end, vector, signs."""

    def nearest_vectors(
        self, model: str, bits: bytes, project: str | None, everything: bool, after: int, before: int, limit: int
    ) -> list[int]:
        """Ids of the vectors inside a scope whose signs differ least from these, best first."""

    def turns_holding(self, words: Sequence[str]) -> list[int]:
        """In how many turns each of the words stands, its own or its neighbours'."""

    def defer_constraints(self) -> None:
        """Check references when the transaction commits, not before."""


def is_sqlite(database: Database) -> TypeGuard[sqlite3.Connection]:
    """Whether SQLite's own means may be used."""
    return not hasattr(database, "best_turns")


def foreign(database: Database) -> Foreign:
    """The engine that is not SQLite."""
    return database  # type: ignore[return-value]  # there are two kinds, and this is the other one
