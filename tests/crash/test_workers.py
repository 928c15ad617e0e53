"""Worker processes that are killed and stopped at random: every effect is written exactly once, no job is lost, none is parked.

A long run: CHAOS_WORKERS=10 CHAOS_JOBS=10000 CHAOS_SECONDS=1 CHAOS_LEASE=5 python -m pytest -n0 -s --timeout 2000 -k exactly_once
tests/crash/test_workers.py
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from tests.crash.working import opener
from tests.engines import Engine
from tests.queues.running import marks

WORKERS = int(os.environ.get("CHAOS_WORKERS", "4"))
JOBS = int(os.environ.get("CHAOS_JOBS", "600"))
SECONDS = float(os.environ.get("CHAOS_SECONDS", "0.5"))  # between two kills
LEASE = float(os.environ.get("CHAOS_LEASE", "2"))
STALL = 1.0  # beyond the lease, for a worker that is stopped and goes on
STALLS = {"sound": 0.3, "no fence": 1.0, "effect apart": 0.0}  # how many of the strikes are no kills
DEADLINE = 60 + JOBS / 10

pytestmark = pytest.mark.slow


def jobs(count: int) -> list[NewJob]:
    """Most by themselves, some in groups, some handled in batches."""
    kinds = [("single", ""), ("grouped", "g"), ("batched", ""), ("single", ""), ("single", "")]
    return [
        NewJob(kind, f"{kind} {number}", group=f"{group}{number // 25}" if group else "")
        for number in range(count) for kind, group in [kinds[number % len(kinds)]]
    ]  # fmt: skip


def expected(told: list[NewJob]) -> set[str]:
    keys = {job.key for job in told}
    return keys | {f"after {job.key}" for job in told if job.kind == "single" and job.key.endswith("0")}


@dataclass
class Chaos:
    """Workers that are killed, stopped and replaced, until nothing is left to do."""

    engine: str
    place: str
    mode: str = "sound"
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list[subprocess.Popen[bytes]])
    stopped: dict[int, float] = field(default_factory=dict[int, float])  # pid -> when it goes on
    kills: int = 0
    stops: int = 0
    spared: int = 0

    def __enter__(self) -> Chaos:
        self._fill_up()
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers:
            worker.kill()
            worker.wait(30)

    def _fill_up(self) -> None:
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < WORKERS:
            argv = [sys.executable, "-m", "tests.crash.working", self.engine, self.place, str(LEASE), self.mode]
            self.workers.append(subprocess.Popen(argv, stdin=subprocess.DEVNULL))

    def strike(self, queue: Queue) -> None:
        """Kill one worker, or stop one that is at a job; those that died are replaced."""
        self._fill_up()
        running = queue.listing(state="running", limit=1_000)
        # A job that three workers died of, alone with it, is what a poison job looks like: nobody could tell that it was us.
        endangered = {job.owner for job in running if job.crashes > 1}
        free = [worker for worker in self.workers if worker.pid not in self.stopped and str(worker.pid) not in endangered]
        self.spared += len(endangered)
        if random.random() < STALLS[self.mode]:
            at_work = {job.owner for job in running}
            busy = [worker for worker in free if str(worker.pid) in at_work]
            if busy and not self.stopped:  # one at a time: somebody has to take over from it
                self.stops += 1
                victim = random.choice(busy)
                self.stopped[victim.pid] = time.monotonic() + LEASE + STALL
                victim.send_signal(signal.SIGSTOP)
        elif free:
            self.kills += 1
            victim = random.choice(free)
            victim.kill()
            victim.wait(30)
            self._fill_up()

    def go_on(self, everybody: bool = False) -> None:
        """Wake those that were stopped for long enough."""
        for pid, end in list(self.stopped.items()):
            if everybody or time.monotonic() >= end:
                del self.stopped[pid]
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


def run(engine: Engine, mode: str = "sound") -> list[str]:
    """What is wrong after all jobs are done; the figures go to stdout."""
    with opener(engine.name, engine.place)() as ledger:
        queue = Queue(ledger, SystemClock())
        told = jobs(JOBS)
        for start in range(0, JOBS, 500):
            queue.add(told[start : start + 500])
        began = time.monotonic()
        with Chaos(engine.name, engine.place, mode) as chaos:
            rage(chaos, ledger, queue, began + DEADLINE)
        deaths = dict(sorted(Counter(job.crashes for job in queue.listing(limit=100_000)).items()))
        took = time.monotonic() - began
        print(f"\n{engine.name}, {mode}: {JOBS} jobs, {WORKERS} workers, {chaos.kills} killed, {chaos.stops} stopped and gone on,"
              f" {chaos.spared} spared, {took:.1f} s; jobs by how often a worker died at them: {deaths}")  # fmt: skip
        return problems(ledger, queue, expected(told))


def rage(chaos: Chaos, ledger: Evidence, queue: Queue, deadline: float) -> None:
    """Strike until everything is done; a slow machine gets the time to do something between two strikes."""
    struck_at, done = time.monotonic(), 0
    while live(queue) and time.monotonic() < deadline and not (chaos.mode != "sound" and doubled(ledger)):
        time.sleep(0.05)
        chaos.go_on()
        now_done = sum(count for (_, state), count in queue.counts().items() if state == "done")
        if time.monotonic() >= struck_at + SECONDS and now_done > done:
            chaos.strike(queue)
            struck_at, done = time.monotonic(), now_done
    chaos.go_on(everybody=True)
    while chaos.mode == "no fence" and not doubled(ledger) and time.monotonic() < deadline:
        time.sleep(0.05)  # whoever was stopped last says now that it is done


def doubled(ledger: Evidence) -> list[str]:
    return [key for key, times in marks(ledger).items() if times != "1"]


def live(queue: Queue) -> int:
    return sum(count for (_, state), count in queue.counts().items() if state in ("waiting", "ready", "running"))


def problems(ledger: Evidence, queue: Queue, wanted: set[str]) -> list[str]:
    """Every effect exactly once, every job done."""
    found = marks(ledger)
    wrong = [f"{key}: effect missing" for key in sorted(wanted - found.keys())]
    wrong += [f"{key}: effect nobody wanted" for key in sorted(found.keys() - wanted)]
    wrong += [f"{key}: effect {len(times)} times" for key, times in sorted(found.items()) if times != "1"]
    stored = queue.listing(limit=100_000)
    wrong += [f"{job.key}: {job.state} ({job.error})" for job in stored if job.state != "done"]
    return wrong + [f"{key}: job {count} times" for key, count in Counter(job.key for job in stored).items() if count != 1]


def test_workers_killed_at_random_leave_every_effect_exactly_once(engine: Engine) -> None:
    assert run(engine) == []


@pytest.mark.parametrize("mode", ["no fence", "effect apart"])
def test_without_what_makes_it_right_the_suite_would_notice(engine: Engine, mode: str) -> None:
    wrong = run(engine, mode)
    assert [each for each in wrong if "effect 2 times" in each], wrong
