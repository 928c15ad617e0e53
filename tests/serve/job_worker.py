"""A real worker whose jobs are the test's: `python -m tests.serve.job_worker HOME LEASE`.

`note` leaves a mark, `fatal` ends the process, `long` waits until it is told to stop, `deaf` does not listen.
"""

from __future__ import annotations

import os
import sys
import threading

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config, load
from hindbrain.queues.job import Effect
from hindbrain.queues.runner import Kind, Task
from hindbrain.serve.daemon import Worker
from hindbrain.serve.work import Work
from tests.queues.running import mark


def fatal(task: Task) -> None:
    os._exit(70)


def long(task: Task) -> Effect:
    task.stopping.wait(300)
    if task.jobs[0].key == "gives up":
        task.check()
    return mark(task)


def deaf(task: Task) -> None:
    threading.Event().wait(300)


KINDS = {"note": Kind(mark, concurrency=2), "fatal": Kind(fatal), "long": Kind(long, concurrency=2), "deaf": Kind(deaf)}


def main(home: str, lease: str) -> None:
    def work(config: Config, clock: Clock) -> Work:
        return Work(config, clock, kinds_of=KINDS, lease_seconds=float(lease))

    Worker(load(home), work=work).run(wait_for_lock=10.0)


if __name__ == "__main__":
    main(*sys.argv[1:])
