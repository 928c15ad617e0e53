"""What every ledger answers, whichever engine keeps it: one contract, one text of SQL, one suite of tests.

An engine brings transactions, errors and migrations (store.py for SQLite, postgres/store.py for PostgreSQL); everything that is
said in common SQL stands here.
"""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from hindbrain.base.clock import Clock
from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.ledger import query
from hindbrain.ledger.database import Database
from hindbrain.ledger.ingest import Batch, Ingested, Then
from hindbrain.ledger.query import Counts, Hit, Session, Turn


class Evidence(abc.ABC):
    """Sessions, turns and what belongs to them. Use as a context manager."""

    _clock: Clock

    @abc.abstractmethod
    def close(self) -> None:
        """Give everything back."""

    @abc.abstractmethod
    def reading(self) -> contextlib.AbstractContextManager[Database]:
        """One consistent view for several queries; keep it short."""

    @abc.abstractmethod
    def writing(self) -> contextlib.AbstractContextManager[Database]:
        """A write transaction, and nobody else writes evidence meanwhile: all of the block, or nothing of it."""

    @abc.abstractmethod
    def transaction(self) -> contextlib.AbstractContextManager[Database]:
        """A write transaction that leaves evidence alone, so that others may write evidence meanwhile."""

    @abc.abstractmethod
    def run_alone(self, sql: str, parameters: Any = ()) -> tuple[list[Any], int]:
        """One statement that leaves evidence alone, as a transaction of its own: its rows, and how many it changed."""

    @abc.abstractmethod
    def ingest(self, batch: Batch, then: Then | None = None) -> Ingested:
        """Take a batch in: all of it, cursors included, or none. Taking it in again changes nothing.

        `then` is called in the same transaction: what follows from the batch is stored with it.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def search(self, words: str, k: int = 10) -> list[Hit]:
        """The turns that fit any of the words best, best first. Any text is safe."""
        with self.reading() as connection:
            return query.search(connection, words, k)

    def counts(self) -> Counts:
        """How much is stored, lost and taken out."""
        with self.reading() as connection:
            return query.counts(connection)

    def session(self, session_id: str) -> Session | None:
        """A session by the ledger's id."""
        with self.reading() as connection:
            return query.session(connection, session_id)

    def sessions(self, limit: int = 100) -> list[Session]:
        """The sessions active last, newest first."""
        with self.reading() as connection:
            return query.sessions(connection, limit)

    def turns_of(self, session_id: str) -> list[Turn]:
        """A session's turns in the order they were said."""
        with self.reading() as connection:
            return query.turns_of(connection, session_id)

    def forked_at(self, session_id: str) -> int | None:
        """When a session was made from another; None for one that began by itself."""
        with self.reading() as connection:
            return query.forked_at(connection, session_id)

    def cursor(self, source: str) -> Json:
        """Where a source has been dealt with to, as its reader put it; None before the first time."""
        with self.reading() as connection:
            found = query.cursor(connection, source)
        return None if found is None else found[0]

    def cursors(self, prefix: str = "") -> dict[str, Json]:
        """The cursors whose source begins with a prefix."""
        with self.reading() as connection:
            return query.cursors(connection, prefix)

    def cursor_event(self, source: str, position: dict[str, Json], agent: str) -> Event:
        """A cursor as an event for the journal, later than the stored one even when the clock was set back."""
        with self.reading() as connection:
            found = query.cursor(connection, source)
        at = max(self._clock.now_ms(), 0 if found is None else found[1] + 1)
        return Event(
            kind="cursor", agent=agent, session="", at=at, key=stable_id("k", source, str(at)), origin="worker",
            detail={"source": source, "position": position},
        )  # fmt: skip

    def meta(self, key: str) -> str:
        """A note about the ledger itself; "" when there is none."""
        with self.reading() as connection:
            row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return "" if row is None else str(row[0])

    def set_meta(self, key: str, value: str) -> None:
        """Note something about the ledger itself."""
        with self.writing() as connection:
            connection.execute(
                "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", (key, value)
            )

    def note_injections(self, session_id: str, items: Sequence[str], at: int) -> None:
        """Remember what a session was told."""
        with self.writing() as connection:
            connection.executemany(
                "INSERT INTO injections (session_id, item_id, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(session_id, item, at) for item in items],
            )

    def place(self, cwd: str) -> tuple[str, str, int] | None:
        """What a working directory was last found to be (identity, project id, time), None before it was looked at."""
        with self.reading() as connection:
            return query.place(connection, cwd)
