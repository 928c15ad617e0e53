"""One kind of job on one home: `python -m tests.crash.reasoning HOME KIND MODE`, until nothing of that kind is to be done.

All in one thread, since what is injected counts the calls of each: claimed, handled and finished as a worker does it.
The mode "apart" takes away what makes it right (the effect is written in a transaction of its own), so that the suite can show
that it would notice. A model is asked where the environment names one.
"""

from __future__ import annotations

import sys
import threading

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.queues.job import Effect
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Handler, Task
from hindbrain.serve.work import OpenLedger, kinds, opener

MODES = ("sound", "apart")


def apart(handler: Handler, open_ledger: OpenLedger) -> Handler:
    """The mistake: the effect is written, and then the job is finished."""

    def wrong(task: Task) -> Effect | None:
        effect = handler(task)
        if effect is not None:
            with open_ledger() as ledger, ledger.writing() as database:
                effect(database)
        return None

    return wrong


def main(home: str, kind: str, mode: str = "sound") -> None:
    assert mode in MODES
    config, clock = load(home), SystemClock()
    open_ledger = opener(config, clock)
    handler = kinds(open_ledger, clock, 14.0, config)[kind].handler
    if mode == "apart":
        handler = apart(handler, open_ledger)
    done = 0
    with open_ledger() as ledger:
        queue = Queue(ledger, clock)
        while jobs := queue.claim(kind, 1, "worker"):
            queue.finish(jobs, handler(Task(jobs, clock.elapsed() + 60.0, threading.Event())))
            done += 1
    print("done", done)


if __name__ == "__main__":
    main(*sys.argv[1:])
