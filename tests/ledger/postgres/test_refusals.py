"""A database that cannot be used is refused in one sentence and with what to do; the password is in none of them."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerBusy, LedgerError, LedgerNotReady, LedgerUnreachable
from hindbrain.ledger.postgres import schema
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.schema import Migration
from tests.ledger.making import batch, event, record
from tests.ledger.postgres.retelling import NEW_ENOUGH, OLD, POOLED, retelling
from tests.postgres import Cluster

CLOCK = ManualClock()


def refused(url: str, kind: type[LedgerError] = LedgerError, **options: object) -> LedgerError:
    """The refusal of an address: of this very kind, in one line, with a hint and without the password."""
    with pytest.raises(LedgerError) as caught:
        PostgresLedger.open(url, CLOCK, **options)  # type: ignore[arg-type]
    error = caught.value
    assert type(error) is kind
    for said in (error.message, error.hint):
        assert said and "\n" not in said and "secret" not in said and "wrongword" not in said
    assert error.hint != LedgerError().hint, "the hint says nothing about this"
    return error


def test_a_server_that_is_not_there(cluster: Cluster) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "Connection refused" in refused(f"postgresql://me:secret@127.0.0.1:{port}/x", LedgerUnreachable).message
    assert "nowhere.invalid" in refused("postgresql://me:secret@nowhere.invalid/x", LedgerUnreachable).message


def test_a_server_that_never_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://me:secret@127.0.0.1:{silent.getsockname()[1]}/x"
        assert "timeout" in refused(url, LedgerUnreachable, connect_seconds=2.0).message


def test_something_that_is_not_postgresql() -> None:
    with socket.create_server(("127.0.0.1", 0)) as web:

        def answer() -> None:
            client, _ = web.accept()
            client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            client.close()

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        url = f"postgresql://me:secret@127.0.0.1:{web.getsockname()[1]}/x"
        assert "check host and port" in refused(url).hint
        thread.join()


@pytest.mark.parametrize("url", [
    "postgresql://me:se%zzsecret@localhost/x", "postgresql://me:secret@localhost:port/x", "postgresql://me:secret@[::1/x",
    "postgresql://me:secret@localhost/x?nonsense=1",
])  # fmt: skip
def test_an_address_that_cannot_be_read(url: str) -> None:
    assert "cannot be read" in refused(url).message


@pytest.mark.parametrize(("user", "password", "database", "meaning"), [
    ("postgres", "wrongword", "postgres", "the password or the user name is wrong"),
    ("nobody-of-ours", "wrongword", "postgres", "the password or the user name is wrong"),
    ("postgres", "secret", "absent", "there is no such database"),
])  # fmt: skip
def test_a_login_that_is_refused(cluster: Cluster, user: str, password: str, database: str, meaning: str) -> None:
    error = refused(cluster.url(database, user, password))
    assert meaning in error.message and "HINDBRAIN_DATABASE" in error.hint


@pytest.mark.parametrize("made", [True, False], ids=["a ledger", "a fresh database"])
def test_a_server_that_takes_no_writes(cluster: Cluster, pg_url: str, made: bool) -> None:
    url = pg_url if made else cluster.create("silent")
    name = url.rpartition("/")[2]
    with cluster.admin() as admin:
        admin.execute(f'ALTER DATABASE "{name}" SET default_transaction_read_only = on'.encode())
    assert "standby or set to read only" in refused(url).message
    if made:
        with PostgresLedger.open(url, CLOCK, read_only=True) as ledger:
            assert ledger.counts().turns == 0


def test_a_server_that_stops_taking_writes(cluster: Cluster, pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        with pytest.raises(LedgerError, match="standby or set to read only"), ledger.writing() as database:
            database.execute("SET TRANSACTION READ ONLY")
            database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
        ledger.set_meta("a", "b")


def test_a_server_that_is_too_old(cluster: Cluster, pg_url: str) -> None:
    with retelling(cluster.port, OLD) as port:
        error = refused(pg_url.replace(str(cluster.port), str(port)))
        assert "kept by PostgreSQL 13: 14 or newer is needed" in error.message
    with retelling(cluster.port, NEW_ENOUGH) as port:
        PostgresLedger.open(pg_url.replace(str(cluster.port), str(port)), CLOCK).close()


def test_a_pooler_in_between(cluster: Cluster, pg_url: str) -> None:
    """It lends one session of the server to several clients in turn, settings and all."""
    with retelling(cluster.port, POOLED) as port:
        error = refused(pg_url.replace(str(cluster.port), str(port)))
        assert "behind a connection pooler" in error.message


def test_a_server_without_pgvector(cluster: Cluster) -> None:
    url = cluster.create("plain")
    with cluster.admin() as admin:  # where the server looks for extensions: a place without any
        admin.execute("ALTER DATABASE plain SET extension_control_path = '/nowhere'")
    error = refused(url)
    assert error.message.startswith("the extension vector is not installed on the server of postgresql://postgres:****@")
    assert "CREATE EXTENSION vector;" in error.hint
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'hindbrain'").fetchone() == (0,)


def test_a_server_that_is_full(cluster: Cluster, pg_url: str) -> None:
    with cluster.admin() as admin:
        admin.execute("DROP ROLE IF EXISTS few")
        admin.execute("CREATE ROLE few LOGIN PASSWORD 'secret' CONNECTION LIMIT 1")
        admin.execute("GRANT hindbrain_tenant TO few")
    url = pg_url.replace("postgres:secret", "few:secret")
    with PostgresLedger.open(url, CLOCK) as ledger:
        assert "too many connections" in refused(url, LedgerUnreachable).message
        ledger.set_meta("a", "b")


@pytest.fixture(scope="module")
def bare() -> Iterator[Cluster]:
    """A server that has never seen a ledger: roles belong to a server, not to a database."""
    with Cluster() as started:
        with started.admin() as admin:
            admin.execute("CREATE ROLE app LOGIN PASSWORD 'secret'")
            admin.execute("CREATE ROLE guest LOGIN NOINHERIT PASSWORD 'secret'")
        yield started


def test_the_hints_lead_a_user_without_rights_to_a_working_ledger(bare: Cluster) -> None:
    bare.create("shared")
    url = bare.url("shared", "app")
    told = []
    for _ in range(6):
        try:
            ledger = PostgresLedger.open(url, CLOCK)
            break
        except LedgerError as error:
            with bare.admin("shared") as admin:  # a refusal leaves nothing behind but what the hints asked for
                assert admin.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'hindbrain'").fetchone() == (0,)
            asked = re.search(r"run(?: in it| in the database)?: (.*;)", error.hint)
            assert asked is not None, error
            told.append(asked[1])
            with psycopg.connect(bare.url("shared"), autocommit=True) as admin:
                for statement in asked[1].split(";"):
                    admin.execute(statement.encode() or b"SELECT 1")
    assert told == [
        'CREATE ROLE hindbrain_tenant NOLOGIN; GRANT "hindbrain_tenant" TO "app";', "CREATE EXTENSION vector;",
        'GRANT CREATE ON DATABASE "shared" TO "app";',
    ]  # fmt: skip
    with ledger:
        ledger.ingest(batch(record(0, event())))
        assert ledger.counts().turns == 1
    follow_another_user(bare)


def follow_another_user(bare: Cluster) -> None:
    """Somebody who is not the owner: first without the role, then with it, then before a migration that is not theirs to run."""
    url = bare.url("shared", "guest")
    assert "GRANT \"hindbrain_tenant\" TO \"guest\";" in refused(url).hint
    with bare.admin() as admin:
        admin.execute("GRANT hindbrain_tenant TO guest")
    with PostgresLedger.open(url, CLOCK) as ledger:
        assert ledger.counts().turns == 1
    more = Migration(schema.shipped()[-1].number + 1, "more", "CREATE TABLE more (x text);\n")
    error = refused(url, LedgerNotReady, migrations=(*schema.shipped(), more))
    assert f"waits for migration {more.number}, and the user guest may not run it" in error.message
    assert "the user app" in error.hint


def test_a_user_who_lacks_only_the_last_right_is_told_that_one(cluster: Cluster, pg_url: str) -> None:
    with psycopg.connect(pg_url, autocommit=True) as admin:
        admin.execute("REVOKE INSERT ON hindbrain.meta FROM hindbrain_tenant")
    with PostgresLedger.open(pg_url, CLOCK) as ledger, pytest.raises(LedgerError, match=r"lacks a right: .* table meta"):
        ledger.set_meta("a", "b")


def test_unreachable_counts_as_busy() -> None:
    """Whoever tries again when the ledger is busy tries again when its server is away."""
    assert issubclass(LedgerUnreachable, LedgerBusy)
