"""The runner and its database: told of new jobs at once, and of no consequence when the database goes away and comes back."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import LedgerBusy
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres.connect import Address
from hindbrain.ledger.postgres.listen import Listener
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import Effect, NewJob
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Kind, Runner, Task
from tests.engines import Engine
from tests.postgres import Cluster
from tests.queues.running import LISTENING, mark, marks, until


@contextmanager
def listening(url: str, tenant: str = "main") -> Iterator[threading.Semaphore]:
    """A listener; the semaphore counts how often it called."""
    heard = threading.Semaphore(0)
    listener = Listener(Address(url, tenant), heard.release)
    listener.start()
    try:
        assert heard.acquire(timeout=30)  # after connecting
        yield heard
    finally:
        listener.close()


def add(url: str, *keys: str, tenant: str = "main") -> None:
    with PostgresLedger.open(url, SystemClock(), tenant=tenant) as ledger:
        Queue(ledger, SystemClock()).add([NewJob("note", key) for key in keys])


def test_a_job_that_another_machine_adds_is_heard_of_at_once(pg_url: str) -> None:
    with listening(pg_url) as heard:
        add(pg_url, "first")
        assert heard.acquire(timeout=20)
        add(pg_url, "second")
        assert heard.acquire(timeout=20)


def test_a_runner_that_listens_runs_it_long_before_it_would_look_by_itself(pg_url: str) -> None:
    runner = Runner(lambda: PostgresLedger.open(pg_url, SystemClock()), {"note": Kind(mark)}, SystemClock())
    listener = Listener(Address(pg_url), runner.wake)
    runner.start()
    try:
        until(lambda: runner.next_due() is None, "the runner to have nothing to do")
        listener.start()
        with psycopg.connect(pg_url, autocommit=True) as connection:
            until(lambda: connection.execute(LISTENING).fetchone(), "the listener to listen")
        add(pg_url, "heard of")
        with PostgresLedger.open(pg_url, SystemClock()) as ledger:
            until(lambda: marks(ledger) == {"heard of": "1"}, "the job to be done", seconds=20)
    finally:
        listener.close()
        runner.stop(10)


def test_jobs_of_another_tenant_are_nobodys_business(pg_url: str) -> None:
    with listening(pg_url, "a") as a, listening(pg_url, "b") as b:
        for number in range(5):
            add(pg_url, f"for b {number}", tenant="b")
            assert b.acquire(timeout=20)
        add(pg_url, "for a", tenant="a")
        assert a.acquire(timeout=20)
        assert not a.acquire(blocking=False)  # notices come in order: those before were not for us


def test_a_listener_whose_connection_ends_connects_again_and_looks_what_it_missed(pg_url: str) -> None:
    with listening(pg_url) as heard, psycopg.connect(pg_url, autocommit=True) as connection:
        (pid,) = until(lambda: connection.execute(LISTENING).fetchone(), "the listener to listen")
        connection.execute("SELECT pg_terminate_backend(%s)", (pid,))
        assert heard.acquire(timeout=30)
        until(lambda: (found := connection.execute(LISTENING).fetchone()) and found[0] != pid, "a new connection")
        add(pg_url, "after all")
        assert heard.acquire(timeout=20)


@pytest.mark.slow
def test_a_database_that_goes_away_and_comes_back_costs_no_job_and_doubles_no_effect() -> None:
    begun, gate = threading.Semaphore(0), threading.Event()

    def wait(task: Task) -> Effect:
        begun.release()
        gate.wait(60)
        return mark(task)

    with Cluster() as cluster:
        url = cluster.create("away")
        add(url, *(f"k{number}" for number in range(6)))
        kinds = {"note": Kind(wait, concurrency=2)}
        runner = Runner(lambda: PostgresLedger.open(url, SystemClock()), kinds, SystemClock(), lease_seconds=60)
        runner.start()
        for _ in range(2):
            assert begun.acquire(timeout=30)
        cluster.stop("immediate")
        gate.set()  # their end cannot be written down
        runner.wake()
        until(lambda: runner.busy() and runner.next_due() == 0.0 and runner._failures > 1, "the runner to notice")
        cluster.start()
        with PostgresLedger.open(url, SystemClock()) as ledger:
            until(lambda: len(marks(ledger)) == 6, "all to be done", seconds=60)
            runner.stop(10)
            assert marks(ledger) == {f"k{number}": "1" for number in range(6)}
            jobs = Queue(ledger, SystemClock()).listing()
            assert {(job.state, job.attempts, job.crashes) for job in jobs} == {("done", 1, 0)}


def test_a_database_that_is_not_there_at_first_is_tried_again(engine: Engine) -> None:
    tries = []

    def open_ledger() -> Evidence:
        tries.append(1)
        if len(tries) < 3:
            raise LedgerBusy("not yet")
        return engine.open(SystemClock())

    ledger = engine.open(SystemClock())
    Queue(ledger, SystemClock()).add([NewJob("note", "patient")])
    runner = Runner(open_ledger, {"note": Kind(mark)}, SystemClock())
    runner.start()
    try:
        until(lambda: marks(ledger) == {"patient": "1"}, "the job to be done")
    finally:
        runner.stop(10)
    assert len(tries) >= 3


def test_a_ledger_that_another_process_holds_is_waited_for_and_the_result_is_not_lost(tmp_path: Path) -> None:
    begun, gate = threading.Event(), threading.Event()

    def wait(task: Task) -> Effect:
        begun.set()
        gate.wait(60)
        return mark(task)

    path = tmp_path / "ledger.db"
    ledger = Ledger.open(path, SystemClock())
    Queue(ledger, SystemClock()).add([NewJob("note", "patient")])
    runner = Runner(lambda: Ledger.open(path, SystemClock(), busy_ms=50), {"note": Kind(wait)}, SystemClock())
    runner.start()
    try:
        assert begun.wait(30)
        with ledger.writing():
            gate.set()
            until(lambda: runner._failures > 0, "the runner to be refused")
        until(lambda: marks(ledger) == {"patient": "1"}, "the job to be done")
    finally:
        runner.stop(10)
    (job,) = Queue(ledger, SystemClock()).listing()
    ledger.close()
    assert (job.state, job.attempts, job.crashes) == ("done", 1, 0)
