"""The worker and its jobs: woken at once, stays for what is due, stops in order, and outlived by every job it dies of."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.hook import wake
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import Job, NewJob
from hindbrain.queues.queue import Queue
from hindbrain.serve import daemon
from hindbrain.serve.memory import Memory
from hindbrain.serve.work import keep_house
from tests.queues.running import LISTENING, marks, until
from tests.serve.installed import Installed

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "data")
    home.root.mkdir(mode=0o700)
    (tmp_path / "user").mkdir()
    Ledger.open(home.ledger, SystemClock()).close()
    return home


@pytest.fixture
def start(home: Home, tmp_path: Path) -> Iterator[Start]:
    """Starts workers with the test's kinds; none outlives the test."""
    started: list[subprocess.Popen[bytes]] = []

    def begin(lease: float = 30.0, idle: float = 60.0, database: str = "sqlite") -> subprocess.Popen[bytes]:
        argv = [sys.executable, "-m", "tests.serve.job_worker", str(home.root), str(lease)]
        environ = {**os.environ, "HOME": str(tmp_path / "user"), "HINDBRAIN_WORKER_IDLE_SECONDS": str(idle),
                   "HINDBRAIN_DATABASE": database}  # fmt: skip
        started.append(subprocess.Popen(argv, env=environ, stdin=subprocess.DEVNULL))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.wait(30)


@contextmanager
def queue_of(home: Home) -> Iterator[Queue]:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        yield Queue(ledger, SystemClock())


def add(home: Home, *jobs: NewJob) -> None:
    with queue_of(home) as queue:
        queue.add(jobs)


def job(home: Home, key: str) -> Job:
    with queue_of(home) as queue:
        (found,) = [each for each in queue.listing() if each.key == key]
        return found


def in_state(home: Home, key: str, state: str) -> Job:
    return until(lambda: found if (found := job(home, key)).state == state else None, f"{key} to be {state}")


def written(home: Home) -> dict[str, str]:
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
        return marks(ledger)


def test_a_job_that_is_added_is_begun_when_the_worker_is_woken(home: Home, start: Start) -> None:
    start()
    until(lambda: lock_holder(home.worker_lock) and home.wake.exists(), "the worker")
    add(home, NewJob("note", "first"))
    wake(os.fsencode(home.root))
    in_state(home, "first", "done")
    assert written(home) == {"first": "1"}


@pytest.mark.slow
def test_a_worker_stays_for_a_job_that_is_due_soon_and_leaves_after_it(home: Home, start: Start) -> None:
    add(home, NewJob("note", "soon", delay_seconds=2.5), NewJob("note", "tomorrow", delay_seconds=86_400))
    worker = start(idle=0.1)
    assert worker.wait(60) == 0
    assert (job(home, "soon").state, job(home, "tomorrow").state, written(home)) == ("done", "waiting", {"soon": "1"})


@pytest.mark.slow
def test_a_worker_that_is_told_to_stop_finishes_or_gives_back_within_its_time(home: Home, start: Start) -> None:
    add(home, NewJob("long", "ends"), NewJob("long", "gives up"), NewJob("deaf", "deaf"))
    worker = start()
    for key in ("ends", "gives up", "deaf"):
        in_state(home, key, "running")
    assert daemon.stop(home.root) == worker.pid  # raises when it takes longer than it may
    assert worker.wait(30) == 0
    found = {key: (job(home, key).state, job(home, key).attempts) for key in ("ends", "gives up", "deaf")}
    assert found == {"ends": ("done", 1), "gives up": ("ready", 0), "deaf": ("ready", 0)}
    assert written(home) == {"ends": "1"}


@pytest.mark.slow
def test_a_job_that_ends_its_worker_is_parked_after_three_and_the_others_are_done(home: Home, start: Start) -> None:
    add(home, NewJob("fatal", "poison"), *(NewJob("note", f"n{number}") for number in range(20)))
    deaths = 0
    while job(home, "poison").state != "parked":
        worker = start(lease=0.5, idle=0.1)
        deaths += worker.wait(60) == 70
        assert deaths <= 3
    parked = job(home, "poison")
    assert (parked.crashes, parked.error, deaths) == (3, "its worker died 3 times while it ran", 3)
    assert start(idle=0.1).wait(60) == 0  # whoever comes next has nothing to die of
    with queue_of(home) as queue:
        assert queue.counts() == {("fatal", "parked"): 1, ("note", "done"): 20}
    assert written(home) == {f"n{number}": "1" for number in range(20)}


@pytest.mark.slow
def test_a_worker_that_is_killed_is_replaced_and_its_job_is_run_once_more(home: Home, start: Start) -> None:
    add(home, NewJob("long", "cut off"))
    first = start(lease=0.5)
    in_state(home, "cut off", "running")
    first.kill()
    first.wait(30)
    second = start(lease=0.5)
    found = until(lambda: each if (each := job(home, "cut off")).token == 2 else None, "the second try")
    assert (found.state, found.crashes) == ("running", 1)
    second.send_signal(signal.SIGTERM)
    assert second.wait(30) == 0
    assert (job(home, "cut off").state, written(home)) == ("done", {"cut off": "1"})


def test_the_real_worker_keeps_house_once_a_day_and_prunes_what_is_old(installed: Installed) -> None:
    home = installed.home
    with queue_of(home) as queue:
        old, new = queue.add([NewJob("housekeeping", "old"), NewJob("housekeeping", "new")])
        queue.finish(queue.claim("housekeeping", 2, "test"))
    with Ledger.open(home.ledger, SystemClock()) as ledger, ledger.writing() as connection:
        connection.execute("UPDATE jobs SET changed_ms = changed_ms - 15 * 86400000 WHERE id = ?", (old,))
    installed.cli("daemon", "start")

    def done() -> bool:
        with queue_of(home) as queue:
            jobs = {each.id: each.state for each in queue.listing()}
        return old not in jobs and new in jobs and len(jobs) > 1 and set(jobs.values()) == {"done"}

    until(done, "the house to be kept")
    assert installed.cli("daemon", "stop").returncode == 0


@pytest.mark.slow
def test_with_a_shared_database_jobs_are_kept_there_and_heard_of_at_once(home: Home, start: Start, pg_url: str) -> None:
    worker = start(database=pg_url)
    with PostgresLedger.open(pg_url, SystemClock()) as ledger, psycopg.connect(pg_url, autocommit=True) as admin:
        until(lambda: admin.execute(LISTENING).fetchone(), "the worker to listen")
        queue = Queue(ledger, SystemClock())
        queue.add([NewJob("note", "shared")])
        until(lambda: queue.counts() == {("note", "done"): 1}, "the job to be done", seconds=20)
        assert marks(ledger) == {"shared": "1"}
        (identifier,) = queue.add([NewJob("unknown", "called off")])
        queue.cancel([identifier])
    listed = json.loads(command(home, pg_url, "jobs", "list", "--json"))
    assert [(job["key"], job["state"]) for job in listed] == [("called off", "cancelled"), ("shared", "done")]
    assert json.loads(command(home, pg_url, "jobs", "retry", str(identifier), "--json"))["changed"] == 1
    assert json.loads(command(home, pg_url, "status", "--json"))["jobs"]["ready"] == 1
    assert json.loads(command(home, "sqlite", "jobs", "list", "--json")) == []
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(30) == 0


def command(home: Home, database: str, *arguments: str) -> str:
    argv = [sys.executable, "-m", "hindbrain", "--home", str(home.root), *arguments]
    environ = {**os.environ, "HOME": str(home.root.parent / "user"), "HINDBRAIN_DATABASE": database}
    return subprocess.run(argv, env=environ, capture_output=True, text=True, check=True, timeout=60).stdout


def test_keeping_house_removes_what_ended_long_ago_and_leaves_the_rest(home: Home) -> None:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        queue = Queue(ledger, SystemClock())
        queue.add([NewJob("note", "done"), NewJob("note", "ready")])
        queue.finish(queue.claim("note", 1, "test"))
        keep_house(ledger, SystemClock(), 1)
        assert queue.counts() == {("note", "done"): 1, ("note", "ready"): 1}
        with ledger.writing() as connection:
            connection.execute("UPDATE jobs SET changed_ms = changed_ms - 2 * 86400000")
        keep_house(ledger, SystemClock(), 1)
        assert queue.counts() == {("note", "ready"): 1}


def test_settling_does_the_jobs_there_are(home: Home) -> None:
    add(home, NewJob("housekeeping", "today"), NewJob("unknown", "of another version"))
    with Memory(home.root) as memory:
        memory.record(agent="test", session="s", role="user", text="hello")
        memory.settle()
    assert (job(home, "today").state, job(home, "of another version").state) == ("done", "ready")
