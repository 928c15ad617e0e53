"""What a ledger took in -> the jobs that follow from it, told in the very transaction that takes it in.

Sessions are read, and what a person kept or decided is compared with what stands, as what was found is. One statement per batch
that tells of no act of a person. Whoever keeps no jobs (a home whose ledger is shared: its lines are taken in there
once more) hands in nothing.
"""

from __future__ import annotations

from hindbrain.base.clock import Clock
from hindbrain.ledger import known
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Ingested, Then
from hindbrain.queues.queue import Queue
from hindbrain.reason.telling import to_read, to_reflect


def following(ledger: Evidence, clock: Clock) -> Then:
    """What to hand to `ingest` of a ledger that keeps jobs."""
    queue = Queue(ledger, clock)

    def then(database: Database, done: Ingested) -> None:
        compare = [to_reflect(each) for each in known.uncompared(database)] if done.acted else []
        queue.enqueue(database, to_read(done.sessions, done.ended) + compare)

    return then
