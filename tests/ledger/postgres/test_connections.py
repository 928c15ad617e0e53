"""Connections die, servers stall, others hold locks: every wait ends, and nothing is done twice."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerBusy, LedgerError, LedgerUnreachable
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.postgres import connect
from hindbrain.ledger.postgres.store import INGEST_ATTEMPTS, PostgresLedger
from hindbrain.ledger.rebuild import fingerprint
from tests.conformance.states import rows
from tests.ledger.making import batch, event, random_history, record, shuffled_batches

CLOCK = ManualClock()


def end_sessions(url: str) -> None:
    """What a restart of the server does to the sessions of a database; they are gone when this returns."""
    query = "SELECT pg_terminate_backend(pid, 30000) FROM pg_stat_activity WHERE application_name = 'hindbrain' AND datname = %s"
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(query, (url.rpartition("/")[2],))


def test_a_session_has_its_role_its_tenant_and_its_limits(pg_url: str) -> None:
    names = ("role", "hindbrain.tenant", "hindbrain.machine", "statement_timeout", "lock_timeout",
             "idle_in_transaction_session_timeout", "application_name", "search_path", "session_authorization")  # fmt: skip
    with PostgresLedger.open(pg_url, CLOCK, tenant="a", machine="m1", statement_seconds=10) as ledger:
        found = [rows(ledger, f"SHOW {name}")[0][0] for name in names]
        (working,) = rows(ledger, "SELECT current_user, current_setting('transaction_isolation')")
    assert working == ("hindbrain_tenant", "repeatable read")
    assert found == [
        "hindbrain_tenant", "a", "m1", "10s", "8s", "1min", "hindbrain", "hindbrain, public, pg_temp", "postgres",
    ]  # fmt: skip


@pytest.mark.parametrize("how", ["reading", "writing", "transaction"])
def test_sessions_that_died_idle_are_replaced(pg_url: str, how: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        ledger.set_meta("a", "b")
        together = threading.Barrier(3)

        def hold() -> None:
            with ledger.reading():
                together.wait(60)

        with ThreadPoolExecutor(3) as pool:  # three sessions lie idle then
            list(pool.map(lambda _: hold(), range(3)))
        end_sessions(pg_url)
        with getattr(ledger, how)() as database:
            assert database.execute("SELECT value FROM meta").fetchall() == [("b",)]
        end_sessions(pg_url)
        assert ledger.run_alone("SELECT value FROM meta") == ([("b",)], 1)


def test_a_transaction_that_loses_its_session_is_not_repeated(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        begun = 0
        with pytest.raises(LedgerUnreachable), ledger.writing() as database:
            begun += 1
            database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
            end_sessions(pg_url)
            database.execute("INSERT INTO meta (key, value) VALUES ('c', 'd')")
        assert begun == 1
        assert rows(ledger, "SELECT key FROM meta") == []


def test_a_session_lost_at_the_end_of_a_transaction_is_told(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        with pytest.raises(LedgerUnreachable), ledger.writing() as database:
            database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
            end_sessions(pg_url)
        assert rows(ledger, "SELECT key FROM meta") == []
        ledger.set_meta("a", "b")


def test_a_statement_that_takes_too_long_is_cut_short(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.2) as ledger:
        with pytest.raises(LedgerBusy, match="statement timeout") as caught, ledger.reading() as database:
            database.execute("SELECT pg_sleep(120)")
        assert type(caught.value) is LedgerBusy
        assert ledger.counts().turns == 0


@pytest.mark.parametrize("begun", [True, False], ids=["in a transaction", "between two"])
def test_a_server_process_that_stops_is_given_up(pg_url: str, monkeypatch: pytest.MonkeyPatch, begun: bool) -> None:
    """The kernel still takes what we send, so nothing but our own clock can tell."""
    monkeypatch.setattr(connect, "PATIENCE_SECONDS", 0.5)
    with PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.5) as ledger:
        ((process,),) = rows(ledger, "SELECT pg_backend_pid()")
        try:
            if begun:
                with pytest.raises(LedgerUnreachable, match="no answer within 1 s"), ledger.reading() as database:
                    os.kill(process, signal.SIGSTOP)
                    database.execute("SELECT 1")
            else:
                os.kill(process, signal.SIGSTOP)
            assert rows(ledger, "SELECT pg_backend_pid()") != [(process,)]
        finally:
            os.kill(process, signal.SIGCONT)


def test_writers_of_one_tenant_take_turns_and_those_of_another_do_not_wait(pg_url: str) -> None:
    with (
        PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.5) as one, PostgresLedger.open(pg_url, CLOCK) as same,
        PostgresLedger.open(pg_url, CLOCK, tenant="other", statement_seconds=0.5) as other,
    ):  # fmt: skip
        with same.writing() as database:
            database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
            with pytest.raises(LedgerBusy, match="lock timeout"):
                one.set_meta("another", "c")
            assert one.meta("a") == ""  # a reader waits for nobody
            with one.transaction() as beside:
                beside.execute("INSERT INTO meta (key, value) VALUES ('beside', 'b')")
            other.set_meta("a", "c")
        assert (one.meta("a"), other.meta("a")) == ("b", "c")


def giving_way(url: str, times: int, how: str = "RAISE EXCEPTION 'in the way' USING ERRCODE = '40001'") -> None:
    """Let the next inserts of turns fail as if another transaction had been in the way."""
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE SEQUENCE hindbrain.tries")
        admin.execute("GRANT USAGE ON SEQUENCE hindbrain.tries TO hindbrain_tenant")
        admin.execute(f"""
            CREATE FUNCTION hindbrain.give_way() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('hindbrain.tries') <= {times} THEN {how}; END IF;
                RETURN new;
            END $$""".encode())
        admin.execute(
            "CREATE TRIGGER give_way BEFORE INSERT ON hindbrain.turns FOR EACH ROW EXECUTE FUNCTION hindbrain.give_way()"
        )


def test_taking_in_tries_again_when_it_had_to_give_way(pg_url: str) -> None:
    giving_way(pg_url, INGEST_ATTEMPTS - 1)
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        assert ledger.ingest(batch(record(0, event()), x=10)).turns_new == 1
        assert (ledger.counts().turns, ledger.cursor("segment:x")) == (1, 10)


def test_taking_in_gives_up_after_a_few_times(pg_url: str) -> None:
    giving_way(pg_url, INGEST_ATTEMPTS)
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        with pytest.raises(LedgerBusy, match="in the way"):
            ledger.ingest(batch(record(0, event()), x=10))
        assert (ledger.counts().turns, ledger.cursor("segment:x")) == (0, None)


def test_taking_in_does_not_try_again_what_took_too_long(pg_url: str) -> None:
    giving_way(pg_url, 9, "PERFORM pg_sleep(120)")
    with PostgresLedger.open(pg_url, CLOCK, statement_seconds=0.5) as ledger:
        with pytest.raises(LedgerBusy, match="statement timeout"):
            ledger.ingest(batch(record(0, event())))
    with psycopg.connect(pg_url) as admin:
        assert admin.execute("SELECT last_value FROM hindbrain.tries").fetchone() == (1,)


def test_no_more_sessions_than_agreed(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK, pool_size=2, statement_seconds=0.3) as ledger:
        together, go_on = threading.Barrier(3), threading.Event()

        def hold() -> None:
            with ledger.reading():
                together.wait(60)
                assert go_on.wait(60)

        with ThreadPoolExecutor(2) as pool:
            held = [pool.submit(hold) for _ in range(2)]
            together.wait(60)
            with pytest.raises(LedgerBusy, match="all 2 connections"):
                ledger.counts()
            go_on.set()
            for each in held:
                each.result()
        assert ledger.counts().turns == 0


def test_a_closed_ledger_says_so_and_leaves_no_session(pg_url: str) -> None:
    ledger = PostgresLedger.open(pg_url, CLOCK)
    with ledger.reading():
        ledger.close()
    with pytest.raises(LedgerError, match="is closed"):
        ledger.counts()
    with psycopg.connect(pg_url, autocommit=True) as admin:
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'hindbrain' AND datname = current_database()"
        deadline = time.monotonic() + 60
        while admin.execute(query).fetchone() != (0,):
            assert time.monotonic() < deadline
            time.sleep(0.01)


_WRITER = """
import sys
from hindbrain.base.clock import ManualClock
from hindbrain.ledger.postgres.store import PostgresLedger
from tests.ledger.making import random_history, shuffled_batches
with PostgresLedger.open(sys.argv[1], ManualClock()) as ledger:
    sys.stdin.readline()
    for each in shuffled_batches(random_history(7, 60), int(sys.argv[2])):
        ledger.ingest(each)
"""


@pytest.mark.slow
def test_processes_that_take_in_the_same_journal_at_once_leave_what_one_would(pg_url: str) -> None:
    started = [
        subprocess.Popen(
            [sys.executable, "-c", _WRITER, pg_url, str(seed)], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for seed in range(4)
    ]  # fmt: skip
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    assert [(process.communicate()[1], process.returncode) for process in started] == [("", 0)] * 4
    with PostgresLedger.open(pg_url, CLOCK) as together, PostgresLedger.open(pg_url, CLOCK, tenant="alone") as alone:
        alone.ingest(Batch(random_history(7, 60), [], {}))
        assert len(shuffled_batches(random_history(7, 60), 1)) > 5
        assert fingerprint(together) == fingerprint(alone)
