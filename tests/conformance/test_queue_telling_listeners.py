"""PostgreSQL tells whoever listens whose jobs there are, when the transaction that told them commits and not before."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from hindbrain.queues.job import NewJob
from tests.queues.opened import Tenant, opened


def heard(listener: psycopg.Connection) -> set[str]:
    """Whom the listener was told of so far; a round trip brings whatever was sent before it."""
    listener.execute("SELECT 1")
    return {note.payload for note in listener.notifies(timeout=0)}


def test_new_retried_and_released_jobs_are_told_of_when_they_commit(shared_url: str, empty_file: Path) -> None:
    q = opened(Tenant.new("postgresql", shared_url, empty_file))
    mine = {q.engine.tenant}
    with psycopg.connect(shared_url, autocommit=True) as listener:
        listener.execute("LISTEN hindbrain_jobs")
        with q.ledger.transaction() as database:
            q.queue.enqueue(database, [NewJob("k", "a")])
            assert heard(listener) == set(), "not before it commits"
        assert heard(listener) == mine
        jobs = q.claim()
        assert heard(listener) == set(), "claims are no news"
        q.queue.release(jobs)
        assert heard(listener) == mine
        q.queue.cancel([jobs[0].id])
        heard(listener)
        q.queue.retry([jobs[0].id])
        assert heard(listener) == mine
        with pytest.raises(ZeroDivisionError):
            with q.ledger.transaction() as database:
                q.queue.enqueue(database, [NewJob("k", "b")])
                raise ZeroDivisionError
        assert heard(listener) == set()
    q.engine.close()
