"""One worker process on a queue: `python -m tests.crash.working ENGINE PLACE LEASE MODE`, until it is killed.

Every job's effect is a mark in the transaction that finishes it; some enqueue another job there. The modes other than "sound"
take away what makes that right, so that the suite can show that it would notice.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from hindbrain.base.clock import SystemClock
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.store import Ledger
from hindbrain.queues import runner as queues_runner
from hindbrain.queues.job import Effect, Job, NewJob
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Handler, Kind, Runner, Task
from tests.queues.running import marking

MODES = ("sound", "no fence", "effect apart")


def opener(engine: str, place: str) -> Callable[[], Evidence]:
    clock = SystemClock()
    if engine == "sqlite":
        return lambda: Ledger.open(Path(place), clock)
    return lambda: PostgresLedger.open(place, clock, pool_size=2)


def handled(task: Task, ledger: Evidence, seconds: float) -> Effect:
    """Work for a moment; the mark is the effect, and every tenth job has another in its train."""
    task.stopping.wait(random.uniform(0.0, seconds))
    tenth = [job.key for job in task.jobs if job.key.startswith("single") and job.key.endswith("0")]
    following = [NewJob("single", f"after {key}") for key in tenth]

    def effect(database: Database) -> None:
        marking(*(job.key for job in task.jobs))(database)
        if following:
            Queue(ledger, SystemClock()).enqueue(database, following)  # in the transaction it is given

    return effect


def handled_apart(task: Task, engine: str, place: str) -> None:
    """The mistake: the effect in a transaction of its own, and death may come between."""
    with opener(engine, place)() as ledger, ledger.writing() as database:
        marking(*(job.key for job in task.jobs))(database)
    if any(job.key.endswith("25") and job.crashes == 0 for job in task.jobs):
        os.kill(os.getpid(), signal.SIGKILL)


class Believing(Queue):
    """The mistake: whoever says that a job is done is believed."""

    def finish(self, jobs: Sequence[Job], effect: Effect | None = None) -> None:
        with self._ledger.writing() as database:
            for job in jobs:
                done = "UPDATE jobs SET state = 'done', live = 0, lead = 0, again = 0, owner = '' WHERE id = ?"
                database.execute(done, (job.id,))
            if effect is not None:
                effect(database)


def main(engine: str, place: str, lease: str, mode: str) -> None:
    assert mode in MODES
    if mode == "no fence":
        vars(queues_runner)["Queue"] = Believing
    open_ledger = opener(engine, place)
    # where a worker is to be stopped in the middle of a job, jobs have to have a middle
    handler: Handler = partial(handled, ledger=open_ledger(), seconds=0.1 if mode == "no fence" else 0.01)
    if mode == "effect apart":
        handler = partial(handled_apart, engine=engine, place=place)
    kinds = {"single": Kind(handler, concurrency=2), "grouped": Kind(handler), "batched": Kind(handler, batch=5)}
    runner = Runner(open_ledger, kinds, SystemClock(), owner=str(os.getpid()), lease_seconds=float(lease))
    parent = os.getppid()
    runner.start()
    while os.getppid() == parent:  # nobody is left to kill us
        threading.Event().wait(1.0)
        runner.wake()


if __name__ == "__main__":
    main(*sys.argv[1:])
