"""An address -> sessions of one tenant, lent for one transaction each.

Sessions are opened by whoever needs one, in the caller's own thread: a server that refuses is known at once and with its reason.
A server that ends a session says so at once, and nobody else writes to one that lies idle: if there is something to read, or its
end, it is dead. It is thrown away with all others that lie idle, because what ended it mostly ended them too. What that does not
show (a network that fell silent) shows at the first statement.
"""

from __future__ import annotations

import select
import threading

from psycopg.pq import TransactionStatus

from hindbrain.base.errors import LedgerBusy, LedgerError
from hindbrain.ledger.postgres.connect import Address, Session, begin_session, connect
from hindbrain.ledger.postgres.failures import translating


class Pool:
    """At most `size` sessions at a time."""

    def __init__(self, address: Address, size: int) -> None:
        self.address = address
        self._idle: list[Session] = []
        self._room = threading.BoundedSemaphore(size)
        self._size = size
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> tuple[Session, bool]:
        """A session, and whether it was opened just now. Every one that is taken must be given back."""
        if not self._room.acquire(timeout=self.address.statement_seconds):
            raise LedgerBusy(f"all {self._size} connections to {self.address} are in use")
        try:
            idle = self._idle_one()
            if idle is not None:
                return idle, False
            return self._open(), True
        except BaseException:
            self._room.release()
            raise

    def _idle_one(self) -> Session | None:
        with self._lock:
            if self._closed:
                raise LedgerError(f"the ledger {self.address} is closed")
            found = self._idle.pop() if self._idle else None
        if found is None or not _is_dead(found):
            return found
        found.close()
        self.drop_idle()
        return None

    def _open(self) -> Session:
        session = connect(self.address)
        try:
            with translating(self.address.url):
                begin_session(session, self.address)
        except BaseException:
            session.close()
            raise
        return session

    def give_back(self, session: Session) -> None:
        """Keep the session for the next one, if it can still be used."""
        usable = not session.closed and session.info.transaction_status == TransactionStatus.IDLE
        with self._lock:
            kept = usable and not self._closed
            if kept:
                self._idle.append(session)
        if not kept:
            session.close()
        self._room.release()

    def put(self, session: Session) -> None:
        """Add a session that was opened elsewhere and is one of the tenant already."""
        with self._lock:
            self._idle.append(session)

    def drop_idle(self) -> None:
        """Close every session that nobody uses."""
        with self._lock:
            dropped, self._idle = self._idle, []
        for session in dropped:
            session.close()

    def close(self) -> None:
        """Close every session, those in use when they are given back."""
        with self._lock:
            self._closed = True
        self.drop_idle()


def _is_dead(session: Session) -> bool:
    poll = select.poll()
    poll.register(session.fileno(), select.POLLIN)
    return bool(poll.poll(0))
