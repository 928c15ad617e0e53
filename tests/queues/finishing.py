"""A folder with claimed jobs -> the same with the jobs finished, and their effect: the program that test_finish_faults runs."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Final

from hindbrain.base.clock import ManualClock
from hindbrain.ledger.database import Database
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import Job, NewJob
from hindbrain.queues.queue import Queue

MARK: Final = "finishing-begins-here"


def effect(queue: Queue, database: Database) -> None:
    database.execute("INSERT INTO meta (key, value) VALUES ('effect', ?)", ("x" * 20_000,))
    queue.enqueue(database, [NewJob("k", "a", {"step": 2}), NewJob("k", "next")])


def finish_on(ledger: Ledger, folder: Path) -> None:
    queue = Queue(ledger, ManualClock())
    jobs = [Job(**each) for each in json.loads((folder / "claimed").read_text())]
    queue.finish(jobs, lambda database: effect(queue, database))


def finish(folder: Path) -> None:
    """Finish the jobs that were claimed in this folder."""
    with Ledger.open(folder / "ledger.db", ManualClock()) as ledger:
        os.access(MARK, os.F_OK)  # whoever watches system calls sees where it begins
        finish_on(ledger, folder)


if __name__ == "__main__":
    finish(Path(sys.argv[1]))
