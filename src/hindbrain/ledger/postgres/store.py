"""An address -> a PostgresLedger: the ledger that several machines share.

Evidence of a tenant is written by one transaction at a time, held by an advisory lock: rows.py reads, merges and writes, and
relies on nobody writing in between. Readers see one consistent moment and wait for nobody. A session found dead before its
transaction began is replaced; in the middle of a transaction nothing is ever repeated here.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self

import psycopg
from psycopg.errors import DeadlockDetected, SerializationFailure

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerBusy, LedgerError
from hindbrain.ledger import ingest
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch, Ingested, Then
from hindbrain.ledger.postgres import schema
from hindbrain.ledger.postgres.connect import SCHEMA, Address, Connection, Session, begin_session, connect, to_postgres
from hindbrain.ledger.postgres.failures import is_unreachable, translating
from hindbrain.ledger.postgres.pool import Pool
from hindbrain.ledger.schema import Migration

INGEST_ATTEMPTS: Final = 4
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED"
# Two statements in one message. The lock must be held before the first snapshot that counts, hence READ COMMITTED.
_WRITE_EVIDENCE: Final = f"""
{_WRITE};
SELECT pg_advisory_xact_lock({schema.LOCK_CLASS}, hashtext(current_setting('hindbrain.tenant')))
"""
_SIZE: Final = """
SELECT CAST(coalesce(sum(pg_total_relation_size(pg_class.oid)), 0) AS bigint)
FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = ? AND relkind = 'r'
"""


class PostgresLedger(Evidence):
    """Sessions, turns and what belongs to them, of one tenant of a PostgreSQL database. Any number of threads may use it."""

    def __init__(self, pool: Pool, clock: Clock, *, read_only: bool, created: bool, migrations: Sequence[Migration]) -> None:
        self.address = pool.address
        self.read_only = read_only
        self.created = created  # the tables were made by this call
        self.migrations = migrations
        self._clock = clock
        self._pool = pool
        self._current = threading.local()

    @classmethod
    def open(
        cls, url: str, clock: Clock, *, tenant: str = "main", machine: str = "", read_only: bool = False,
        migrations: Sequence[Migration] | None = None, connect_seconds: float = 5.0, statement_seconds: float = 30.0,
        pool_size: int = 4,
    ) -> Self:  # fmt: skip
        """Open the ledger at `url`, brought to the newest schema if need be. A refusal changes nothing."""
        if not tenant:
            raise LedgerError("the ledger needs the name of a tenant", hint="set one: HINDBRAIN_TENANT=main")
        address = Address(url, tenant, machine, connect_seconds, statement_seconds)
        steps = schema.shipped() if migrations is None else migrations
        session = connect(address)
        try:
            with translating(url):
                done = schema.bring_up(session, address, steps, clock.now_ms(), read_only=read_only)
                begin_session(session, address)
        except BaseException:
            session.close()
            raise
        pool = Pool(address, pool_size)
        pool.put(session)
        return cls(pool, clock, read_only=read_only, created=bool(done) and done[0] == steps[0].number, migrations=steps)

    def close(self) -> None:
        self._pool.close()

    def reading(self) -> contextlib.AbstractContextManager[Connection]:
        """One consistent view for several queries. Inside another transaction of this thread it is that one."""
        current: Connection | None = getattr(self._current, "connection", None)
        return self._transaction(_READ) if current is None else contextlib.nullcontext(current)

    def writing(self) -> contextlib.AbstractContextManager[Connection]:
        """A write transaction, and no other of this tenant writes evidence meanwhile."""
        return self._transaction(_WRITE_EVIDENCE)

    def transaction(self) -> contextlib.AbstractContextManager[Connection]:
        """A write transaction for what is not evidence: it waits for nobody but the rows it changes."""
        return self._transaction(_WRITE)

    @contextlib.contextmanager
    def _transaction(self, begin: str) -> Iterator[Connection]:
        if getattr(self._current, "connection", None) is not None:
            raise LedgerError("a transaction was begun inside another one of the same thread", hint="this is a bug; report it")
        if self.read_only and begin != _READ:
            raise LedgerError(f"the ledger {self.address} was opened for reading", hint="this is a bug; report it")
        with translating(self.address.url):
            session = self._begun(begin)
            try:
                self._current.connection = connection = Connection(session)
                try:
                    yield connection
                finally:
                    self._current.connection = None
                session.execute("COMMIT")
            except BaseException:
                _roll_back(session)
                raise
            finally:
                self._pool.give_back(session)

    def run_alone(self, sql: str, parameters: Any = ()) -> tuple[list[Any], int]:
        """One statement as a transaction of its own, in one message to the server and one back.

        Never sent twice: when the answer does not come, it may have been carried out all the same.
        """
        if getattr(self._current, "connection", None) is not None or self.read_only:
            raise LedgerError("a statement of its own was run inside a transaction or a reader", hint="this is a bug; report it")
        with translating(self.address.url):
            session, _ = self._pool.take()
            try:
                done = session.execute(to_postgres(sql), parameters)
                # asking `description` would make an object for each column
                return (done.fetchall() if done.pgresult is not None and done.pgresult.nfields else []), done.rowcount
            except psycopg.Error as error:
                if is_unreachable(error):
                    self._pool.drop_idle()
                raise
            finally:
                self._pool.give_back(session)

    def _begun(self, begin: str) -> Session:
        """A session in a new transaction. One that has died while it lay idle shows here, and is replaced."""
        while True:
            session, fresh = self._pool.take()
            try:
                session.execute(begin.encode(), prepare=False)
                return session
            except BaseException as error:
                _roll_back(session)
                self._pool.give_back(session)
                if fresh or not isinstance(error, psycopg.Error) or not is_unreachable(error):
                    raise
                self._pool.drop_idle()

    def ingest(self, batch: Batch, then: Then | None = None) -> Ingested:
        """Take a batch in: all of it, cursors and what follows from it included, or none. Taking it in again changes nothing."""
        return self._insisting(lambda: self._ingest(batch, then))

    def _ingest(self, batch: Batch, then: Then | None) -> Ingested:
        with self.writing() as connection:
            done = ingest.write(connection, batch, self._clock.now_ms())
            if then is not None:
                then(connection, done)
            return done

    def size_bytes(self) -> int:
        """How much room the tables and indexes of all tenants take."""
        with self.reading() as connection:
            (size,) = connection.execute(_SIZE, (SCHEMA,)).fetchone() or (0,)
        return int(size)

    def _insisting(self, work: Callable[[], Ingested]) -> Ingested:
        """Again for a transaction that had to give way: it left nothing behind, and the other has what it wanted."""
        for _ in range(INGEST_ATTEMPTS - 1):
            try:
                return work()
            except LedgerBusy as error:
                if not isinstance(error.__cause__, SerializationFailure | DeadlockDetected):
                    raise  # the server is away, or it took too long already
        return work()


def _roll_back(session: Session) -> None:
    if not session.closed:
        # should this fail too, the error that brought us here says more; the server drops the transaction with the session
        with contextlib.suppress(psycopg.Error):
            session.execute("ROLLBACK")
