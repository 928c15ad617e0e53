"""Real processes, on both engines: one that stands still past its lease comes back, and what it says changes nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.queues.job import Job, NewJob, Reaped
from hindbrain.queues.queue import Queue
from tests.queues.opened import Tenant, note, notes

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 25
LEASE = 0.2
DEADLINE = 120.0
WORKER = """
import sys
from tests.queues.opened import Tenant, note
from hindbrain.base.clock import SystemClock
from hindbrain.queues.job import LeaseLost
from hindbrain.queues.queue import Queue
name, place, tenant, lease = sys.argv[1:]
ledger = Tenant(name, place, tenant=tenant).open(SystemClock())
queue = Queue(ledger, SystemClock(), lease_seconds=float(lease))
for line in sys.stdin:
    if line == "claim\\n":
        jobs = queue.claim("k", 1, "worker")
        print("claimed", len(jobs), flush=True)
    else:
        try:
            queue.finish(jobs, note(f"{jobs[0].key} by the worker"))
            print("finished", flush=True)
        except LeaseLost:
            print("lost", flush=True)
"""


class Worker:
    """A process that claims and finishes when it is told to."""

    def __init__(self, tenant: Tenant, lease: float) -> None:
        argv = [sys.executable, "-c", WORKER, tenant.name, tenant.place, tenant.tenant, str(lease)]
        environ = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
        self.process = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, env=environ, cwd=ROOT
        )

    def tell(self, word: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def stop(self) -> None:
        """Have it stand still, and see that it does."""
        self.process.send_signal(signal.SIGSTOP)
        _, status = os.waitpid(self.process.pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)

    def go_on(self) -> None:
        self.process.send_signal(signal.SIGCONT)


@contextlib.contextmanager
def worker(tenant: Tenant, lease: float) -> Iterator[Worker]:
    started = Worker(tenant, lease)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.communicate()


def reaped(queue: Queue) -> Reaped:
    deadline = time.monotonic() + DEADLINE
    while (found := queue.reap()) == Reaped():
        assert time.monotonic() < deadline, "the lease never ran out"
        time.sleep(0.01)
    return found


def stands_still(tenant: Tenant, rounds: int) -> tuple[list[str], list[str]]:
    """A worker is stopped while it works; another finishes. What the first one answers, and all effects."""
    queue = Queue(ledger := tenant.open(SystemClock()), SystemClock(), lease_seconds=60.0)
    answers: list[str] = []
    with worker(tenant, LEASE) as stopped:
        for number in range(rounds):
            queue.add([NewJob("k", f"{number:02}")])
            stopped.tell("claim")
            assert stopped.answer() == "claimed 1"
            stopped.stop()
            assert reaped(queue) == Reaped(ready=1)
            jobs: list[Job] = queue.claim_suspect(["k"], "another")
            if number % 2:  # the other one is done before the first wakes, or is still at it
                queue.finish(jobs, note(f"{number:02} by another"))
            stopped.go_on()
            stopped.tell("finish")
            answers.append(stopped.answer())
            if not number % 2:
                queue.finish(jobs, note(f"{number:02} by another"))
    return answers, notes(ledger)


@pytest.mark.slow
def test_a_worker_that_stood_still_past_its_lease_changes_nothing(tenant: Tenant) -> None:
    answers, effects = stands_still(tenant, ROUNDS)
    assert answers == ["lost"] * ROUNDS
    assert effects == [f"{number:02} by another" for number in range(ROUNDS)]
    assert Queue(tenant.open(), SystemClock()).counts() == {("k", "done"): ROUNDS}


def test_a_worker_that_was_not_missed_finishes_as_if_nothing_had_been(tenant: Tenant) -> None:
    queue = Queue(ledger := tenant.open(SystemClock()), SystemClock())
    queue.add([NewJob("k", "a")])
    with worker(tenant, 3600.0) as stopped:
        stopped.tell("claim")
        assert stopped.answer() == "claimed 1"
        stopped.stop()
        assert queue.reap() == Reaped()
        stopped.go_on()
        stopped.tell("finish")
        assert stopped.answer() == "finished"
    assert notes(ledger) == ["a by the worker"]


def test_a_killed_workers_job_is_done_by_the_next_one_once(tenant: Tenant) -> None:
    queue = Queue(ledger := tenant.open(SystemClock()), SystemClock())
    queue.add([NewJob("k", "a")])
    with worker(tenant, LEASE) as killed:
        killed.tell("claim")
        assert killed.answer() == "claimed 1"
    assert reaped(queue) == Reaped(ready=1)
    assert queue.claim("k", 9, "next") == []
    (job,) = queue.claim_suspect(["k"], "next")
    queue.finish([job], note("a by the next"))
    assert (notes(ledger), job.crashes, job.attempts) == (["a by the next"], 1, 2)
