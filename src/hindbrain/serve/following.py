"""What a ledger took in -> the jobs that follow from it, told in the very transaction that takes it in.

One statement per batch, whatever it holds. Whoever keeps no jobs (a home whose ledger is shared: its lines are taken in there
once more) hands in nothing.
"""

from __future__ import annotations

from hindbrain.base.clock import Clock
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Ingested, Then
from hindbrain.queues.queue import Queue
from hindbrain.reason.telling import to_read


def following(ledger: Evidence, clock: Clock) -> Then:
    """What to hand to `ingest` of a ledger that keeps jobs."""
    queue = Queue(ledger, clock)

    def then(database: Database, done: Ingested) -> None:
        queue.enqueue(database, to_read(done.sessions, done.ended))

    return then
