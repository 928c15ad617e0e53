"""A PostgreSQL server that goes away, refuses, runs full or falls silent: the right error, nothing half done, no endless wait."""

from __future__ import annotations

import contextlib
import threading
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerBusy, LedgerError, LedgerUnreachable
from hindbrain.ledger.database import Database
from hindbrain.ledger.postgres.connect import PATIENCE_SECONDS
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from tests.faults.test_postgres_cuts import said
from tests.faults.wire import Wire
from tests.postgres import Cluster

CLOCK = ManualClock()


@pytest.fixture
def ledger(pg_url: str) -> Iterator[PostgresLedger]:
    with PostgresLedger.open(pg_url, CLOCK) as opened:
        yield opened


@pytest.fixture(scope="module")
def fragile() -> Iterator[Cluster]:
    """A server of its own, to be crashed: durable, and with room for few."""
    with Cluster(fsync=True, settings={"max_connections": "8", "superuser_reserved_connections": "1"}) as started:
        yield started


@pytest.fixture
def crashing(fragile: Cluster, request: pytest.FixtureRequest) -> str:
    return fragile.create(f"c{zlib.crc32(request.node.name.encode())}")


def note(database: Database, key: str) -> None:
    database.execute("INSERT INTO meta (key, value) VALUES (?, ?)", (key, "yes"))


WORK: dict[str, Callable[[PostgresLedger, Callable[[], None]], None]] = {}


def interrupted(name: str) -> Callable[[Callable[[PostgresLedger, Callable[[], None]], None]], None]:
    def keep(work: Callable[[PostgresLedger, Callable[[], None]], None]) -> None:
        WORK[name] = work

    return keep


@interrupted("writing")
def _(ledger: PostgresLedger, crash: Callable[[], None]) -> None:
    with ledger.writing() as database:
        note(database, "half")
        crash()
        note(database, "other half")


@interrupted("transaction")
def _(ledger: PostgresLedger, crash: Callable[[], None]) -> None:
    with ledger.transaction() as database:
        note(database, "half")
        crash()


@interrupted("reading")
def _(ledger: PostgresLedger, crash: Callable[[], None]) -> None:
    with ledger.reading() as database:
        database.execute("SELECT 1").fetchall()
        crash()
        database.execute("SELECT 1").fetchall()


@interrupted("finish")
def _(ledger: PostgresLedger, crash: Callable[[], None]) -> None:
    queue = Queue(ledger, CLOCK)
    jobs = queue.claim("k", 1, "worker")

    def effect(database: Database) -> None:
        note(database, "half")
        crash()

    queue.finish(jobs, effect)


def survives_a_crash(
    server: Cluster, url: str, work: Callable[[PostgresLedger, Callable[[], None]], None], left: str = "ready"
) -> None:
    """Crash the server at a point of the work; then the same objects are used on."""
    with PostgresLedger.open(url, CLOCK) as ledger:
        queue = Queue(ledger, CLOCK)
        queue.add([NewJob("k", "1")])
        ledger.ingest(said(7))
        ledger.set_meta("before", "yes")
        with pytest.raises(LedgerUnreachable):
            work(ledger, lambda: server.restart("immediate"))
        assert (ledger.meta("before"), ledger.meta("half"), ledger.meta("other half")) == ("yes", "", "")
        assert ledger.counts().turns == 5
        ledger.set_meta("half", "now")
        assert ledger.meta("half") == "now"
        assert queue.counts() == {("k", left): 1}


@pytest.mark.slow
@pytest.mark.parametrize("name", WORK)
def test_a_server_that_crashes_in_the_middle_keeps_what_was_committed_and_nothing_else(
    fragile: Cluster, crashing: str, name: str
) -> None:
    survives_a_crash(fragile, crashing, WORK[name], "running" if name == "finish" else "ready")


@pytest.mark.slow
def test_the_check_notices_work_that_commits_half_way(fragile: Cluster, crashing: str) -> None:
    def in_two(ledger: PostgresLedger, crash: Callable[[], None]) -> None:
        ledger.set_meta("half", "yes")
        WORK["reading"](ledger, crash)

    with pytest.raises(AssertionError):
        survives_a_crash(fragile, crashing, in_two)


@pytest.mark.slow
def test_a_server_that_is_down_refuses_at_once_and_serves_again_when_it_is_back(fragile: Cluster, crashing: str) -> None:
    with PostgresLedger.open(crashing, CLOCK) as ledger:
        fragile.stop("immediate")
        try:
            calls: list[Callable[[], object]] = [
                lambda: ledger.meta("x"), lambda: ledger.set_meta("x", "y"), lambda: ledger.ingest(said(7)),
                lambda: Queue(ledger, CLOCK).claim("k", 1, "w"), lambda: PostgresLedger.open(crashing, CLOCK),
            ]  # fmt: skip
            for work in calls:
                with pytest.raises(LedgerUnreachable):
                    work()
        finally:
            fragile.start()
        assert ledger.ingest(said(7)).turns_new == 5


@pytest.mark.slow
def test_a_server_without_room_for_another_connection_says_so_and_nothing_hangs(fragile: Cluster, crashing: str) -> None:
    with PostgresLedger.open(crashing, CLOCK) as ledger, contextlib.ExitStack() as stack:
        with pytest.raises(psycopg.OperationalError):
            while True:
                stack.enter_context(psycopg.connect(crashing))
        ledger.set_meta("the one it has", "still works")
        with pytest.raises(LedgerUnreachable):
            PostgresLedger.open(crashing, CLOCK)
        with ledger.reading(), ThreadPoolExecutor(1) as other:
            with pytest.raises(LedgerUnreachable):
                other.submit(ledger.meta, "a second one").result(timeout=60)
        stack.close()
        assert ledger.meta("the one it has") == "still works"


def test_a_database_set_to_read_only_takes_no_writes_and_still_answers(cluster: Cluster, pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        ledger.ingest(said(7))
    name = pg_url.rpartition("/")[2]
    with cluster.admin() as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    with pytest.raises(LedgerError, match="takes no writes"):
        PostgresLedger.open(pg_url, CLOCK)
    with PostgresLedger.open(pg_url, CLOCK, read_only=True) as reader:
        assert len(reader.search("said")) == 5


def test_of_two_transactions_in_a_deadlock_one_gives_way_and_can_be_done_again(ledger: PostgresLedger) -> None:
    for key in ("a", "b"):
        ledger.set_meta(key, "0")
    both, through = threading.Barrier(2), threading.Event()

    def cross(first: str, second: str, wait: Callable[[], object]) -> None:
        with ledger.transaction() as database:
            database.execute("UPDATE meta SET value = value || '1' WHERE key = ?", (first,))
            wait()
            database.execute("UPDATE meta SET value = value || '1' WHERE key = ?", (second,))

    def tried(first: str, second: str) -> int:
        try:
            cross(first, second, lambda: both.wait(timeout=60))
            through.set()
            return 0
        except LedgerBusy:
            assert through.wait(timeout=60)  # at once the two might meet again
            cross(first, second, lambda: None)
            return 1

    with ThreadPoolExecutor(2) as threads:
        futures = [threads.submit(tried, "a", "b"), threads.submit(tried, "b", "a")]
        assert sum(future.result(timeout=60) for future in futures) == 1
    assert (ledger.meta("a"), ledger.meta("b")) == ("011", "011")


def test_a_serialization_failure_is_told_as_one_that_had_to_give_way(ledger: PostgresLedger) -> None:
    ledger.set_meta("x", "0")
    with pytest.raises(LedgerBusy):
        with ledger.transaction() as database:
            database.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            database.execute("SELECT value FROM meta WHERE key = ?", ("x",)).fetchall()
            with ThreadPoolExecutor(1) as other:
                other.submit(ledger.set_meta, "x", "1").result(timeout=60)
            database.execute("UPDATE meta SET value = ? WHERE key = ?", ("2", "x"))
    assert ledger.meta("x") == "1"


def test_a_statement_that_takes_too_long_is_given_up_and_leaves_nothing(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.5) as ledger:
        with pytest.raises(LedgerBusy):
            with ledger.transaction() as database:
                note(database, "half")
                database.execute("SELECT pg_sleep(600)")
        assert ledger.meta("half") == ""


@pytest.mark.parametrize("work", ["evidence", "rows"])
def test_a_lock_that_is_not_given_back_is_waited_for_only_so_long(pg_url: str, work: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as holder, PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.5) as waiter:
        holder.set_meta("x", "0")
        with holder.writing() as held:
            held.execute("UPDATE meta SET value = ? WHERE key = ?", ("1", "x"))
            with pytest.raises(LedgerBusy):
                if work == "evidence":
                    waiter.ingest(said(7))
                else:
                    with waiter.transaction() as database:
                        database.execute("UPDATE meta SET value = ? WHERE key = ?", ("2", "x"))
            assert waiter.meta("x") == "0", "readers wait for nobody"
        assert waiter.ingest(said(7)).turns_new == 5


@pytest.mark.slow
@pytest.mark.parametrize("work", ["claim", "ingest", "read", "open"])
def test_a_network_that_falls_silent_is_given_up_and_used_again_when_it_is_back(wire: Wire, pg_url: str, work: str) -> None:
    url = wire.url(pg_url)
    with PostgresLedger.open(url, CLOCK, statement_seconds=0.5, connect_seconds=2) as ledger:
        plan = wire.arm(0, "before")
        plan.silent = True
        tasks: dict[str, Callable[[], object]] = {
            "claim": lambda: Queue(ledger, CLOCK).claim("k", 1, "w"), "ingest": lambda: ledger.ingest(said(7)),
            "read": lambda: ledger.meta("x"), "open": lambda: PostgresLedger.open(url, CLOCK, connect_seconds=2),
        }  # fmt: skip
        with ThreadPoolExecutor(1) as thread:
            future = thread.submit(tasks[work])
            # the limits are 0.5 s, 2 s and our patience; ten times that is no wait without end, however busy the machine
            assert isinstance(future.exception(timeout=10 * (PATIENCE_SECONDS + 2.5)), LedgerUnreachable)
        wire.cut()
        wire.arm(0, "before")
        assert ledger.ingest(said(7)).turns_new == 5


@pytest.mark.slow
def test_ten_openings_at_once_of_an_empty_database_migrate_it_once(cluster: Cluster) -> None:
    url = cluster.create("ten_at_once")
    start = threading.Barrier(10)

    def opened(_: int) -> bool:
        start.wait(timeout=60)
        with PostgresLedger.open(url, CLOCK, pool_size=1) as ledger:
            return ledger.created

    with ThreadPoolExecutor(10) as threads:
        assert sorted(threads.map(opened, range(10))) == [False] * 9 + [True]
    with cluster.admin("ten_at_once") as admin:
        numbers = admin.execute("SELECT number FROM hindbrain.migrations ORDER BY number").fetchall()
    assert numbers == [(number,) for number in range(1, len(numbers) + 1)]
