"""The schema on PostgreSQL: the same columns as on SQLite, each table under row security, migrated once by however many."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError, LedgerNotReady, MigrationChanged, SchemaTooNew
from hindbrain.ledger import vectors
from hindbrain.ledger.postgres import check, schema
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.schema import Migration
from hindbrain.ledger.store import Ledger
from hindbrain.ledger.versions import HELD
from tests.ledger.making import batch, event, record
from tests.postgres import Cluster

CLOCK = ManualClock()
NEXT = schema.shipped()[-1].number + 1
MORE = Migration(NEXT, "more", "CREATE TABLE more (tenant text, x text, PRIMARY KEY (tenant, x));\nCALL protect('more');\n")
BROKEN = Migration(NEXT, "broken", "CREATE TABLE half (x text);\nINSERT INTO nowhere VALUES (1);\n")
# The full-text index is each engine's own, and so is what makes vectors quick to find.
OWN = {"terms", "turn_terms", "memory_terms", "text_totals"}
OWN_COLUMNS = {"tenant", "bits"}
TYPES = {"bigint": "INTEGER", "text": "TEXT", "double precision": "REAL", "bytea": "BLOB"}


def asked(url: str, query: str) -> list[Any]:
    with psycopg.connect(url) as connection:
        return connection.execute(query.encode()).fetchall()


def test_shipped_migrations_are_numbered_without_gaps() -> None:
    assert [migration.number for migration in schema.shipped()] == list(range(1, len(schema.shipped()) + 1))


def test_both_engines_have_the_same_tables_and_columns(pg_url: str, tmp_path: Path) -> None:
    found: dict[str, set[tuple[str, str, bool]]] = {}
    for table, column, kind, null in asked(pg_url, """
        SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns WHERE table_schema = 'hindbrain'
    """):
        if table not in OWN and column not in OWN_COLUMNS:
            found.setdefault(table, set()).add((column, TYPES[kind], null == "YES"))
    wanted: dict[str, set[tuple[str, str, bool]]] = {}
    with Ledger.open(tmp_path / "ledger.db", CLOCK) as ledger:
        tables = ledger.connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND instr(name, '_fts') = 0 AND name NOT LIKE 'sqlite%'"
        ).fetchall()
        for (table,) in tables:
            columns = ledger.connection.execute("SELECT * FROM pragma_table_info(?)", (table,)).fetchall()
            wanted[table] = {(name, kind, not (required or key)) for _, name, kind, required, _, key in columns}
    assert found == wanted


def test_all_text_is_compared_byte_by_byte(pg_url: str) -> None:
    assert asked(pg_url, """
        SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'hindbrain' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'
    """) == []


def test_every_table_is_under_row_security_and_granted(pg_url: str) -> None:
    tables = {row[0] for row in asked(pg_url, "SELECT tablename FROM pg_tables WHERE schemaname = 'hindbrain'")}
    held = asked(pg_url, """
        SELECT tablename, policyname, cmd, roles::text, qual, with_check FROM pg_policies WHERE schemaname = 'hindbrain'
    """)
    own = "(tenant = hindbrain.own_tenant())"
    assert set(held) == {
        (table, "tenant", "ALL", "{hindbrain_tenant}", own, None) for table in tables - {"migrations"}
    } | {("migrations", "everybody", "SELECT", "{hindbrain_tenant}", "true", None)}
    assert {row[0] for row in asked(pg_url, """
        SELECT tablename FROM pg_tables WHERE schemaname = 'hindbrain' AND rowsecurity
    """)} == tables
    grants = asked(pg_url, """
        SELECT table_name, string_agg(privilege_type, ' ' ORDER BY privilege_type) FROM information_schema.role_table_grants
        WHERE table_schema = 'hindbrain' AND grantee = 'hindbrain_tenant' GROUP BY table_name
    """)
    assert dict(grants) == dict.fromkeys(tables, "DELETE INSERT SELECT UPDATE") | {"migrations": "SELECT"}


def test_every_key_and_reference_begins_with_the_tenant(pg_url: str) -> None:
    """An index that is not unique may lead with something else: it finds rows, it does not rule on them."""
    keys = asked(pg_url, """
        SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid, 1, true) FROM pg_index
        JOIN pg_class ON pg_class.oid = indrelid JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = 'hindbrain' AND indisunique AND relname <> 'migrations'
    """)
    assert [key for key in keys if key[1] != "tenant"] == []
    references = asked(pg_url, """
        SELECT conname, pg_get_constraintdef(oid), condeferrable FROM pg_constraint
        WHERE contype = 'f' AND connamespace = 'hindbrain'::regnamespace
    """)
    assert len(references) >= 12
    assert [each for each in references if not each[1].startswith("FOREIGN KEY (tenant, ") or not each[2]] == []


def test_the_role_cannot_log_in_and_owns_nothing(pg_url: str) -> None:
    rights = "rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb"
    assert asked(pg_url, f"SELECT {rights} FROM pg_roles WHERE rolname = 'hindbrain_tenant'") == [(False,) * 5]
    assert asked(pg_url, "SELECT relname FROM pg_class WHERE relowner = 'hindbrain_tenant'::regrole") == []


@pytest.mark.parametrize("harm", [
    "ALTER TABLE hindbrain.turns DISABLE ROW LEVEL SECURITY", "DROP POLICY tenant ON hindbrain.memories",
    "CREATE TABLE hindbrain.stray (x text)", "ALTER TABLE hindbrain.links OWNER TO hindbrain_tenant",
    "DELETE FROM hindbrain.migrations WHERE number = 2", "UPDATE hindbrain.migrations SET checksum = 'x' WHERE number = 1",
    "DROP EXTENSION vector CASCADE", "DELETE FROM hindbrain.turn_terms", "UPDATE hindbrain.text_totals SET docs = docs + 1",
    "DELETE FROM hindbrain.unembedded_turns", "UPDATE hindbrain.unembedded_turns SET turn = turn + 1",
])  # fmt: skip
def test_what_is_wrong_is_found(pg_url: str, harm: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event())))
        assert check.problems(ledger) == []
        with psycopg.connect(pg_url, autocommit=True) as admin:
            admin.execute(harm.encode())
        found = check.problems(ledger)
        assert len(found) >= 1, harm
        if found[0].repair == "reindex":
            check.repair_index(ledger)
            assert check.problems(ledger) == []


def test_a_fresh_database_is_made_and_one_that_is_there_is_not(cluster: Cluster) -> None:
    url = cluster.create("fresh")
    with pytest.raises(LedgerNotReady) as refused:
        PostgresLedger.open(url, CLOCK, read_only=True)
    assert refused.value.fresh
    assert asked(url, "SELECT count(*) FROM pg_namespace WHERE nspname = 'hindbrain'") == [(0,)]
    with PostgresLedger.open(url, CLOCK) as ledger, PostgresLedger.open(url, CLOCK) as again:
        assert (ledger.created, again.created) == (True, False)
        assert ledger.size_bytes() > 0


def test_the_extension_may_live_in_a_schema_of_its_own(cluster: Cluster) -> None:
    url = cluster.create("elsewhere")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA extensions")
        admin.execute("CREATE EXTENSION vector SCHEMA extensions")
    with PostgresLedger.open(url, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event())))
        with ledger.writing() as database:
            vectors.use_model(database, "m1")
            items = vectors.waiting(database, 1)
            vectors.store(database, "m1", [(each, [vectors.Piece(0, 1, b"x", bytes(32))]) for each in items])
        with ledger.reading() as database:
            assert len(vectors.nearest(database, "m1", bytes(32), 5, project=None, everything=True)) == 1
        assert check.problems(ledger) == []
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("REVOKE USAGE ON SCHEMA extensions FROM hindbrain_tenant")
        assert [problem.hint for problem in check.problems(ledger)] == ["GRANT USAGE ON SCHEMA extensions TO hindbrain_tenant;"]


def test_an_extension_too_old_for_the_index_is_refused(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "OLDEST_VECTOR", (99, 0))
    with pytest.raises(LedgerError, match=r"has version [\d.]+: 99.0 or newer is needed"):
        PostgresLedger.open(pg_url, CLOCK, migrations=(*schema.shipped(), MORE))


def test_a_later_migration_is_run_and_covered(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event())))
    with PostgresLedger.open(pg_url, CLOCK, migrations=(*schema.shipped(), MORE)) as ledger:
        assert (ledger.created, ledger.counts().turns, check.problems(ledger)) == (False, 1, [])
        with ledger.transaction() as database:
            database.execute("INSERT INTO more (tenant, x) VALUES (?, ?)", ("main", "x"))


def test_the_tenants_with_something_in_them_are_known_to_hold_ids_of_the_first_version(cluster: Cluster) -> None:
    url, told = cluster.create("held"), {"turns": event(), "events": event(kind="notice", session=""), "nothing": None}
    for tenant, each in told.items():
        with PostgresLedger.open(url, CLOCK, tenant=tenant, migrations=schema.shipped()[:6]) as ledger:
            if each is not None:
                ledger.ingest(batch(record(0, each)))
    for tenant, each in told.items():
        with PostgresLedger.open(url, CLOCK, tenant=tenant) as ledger:
            assert ledger.meta(HELD) == ("" if each is None else "yes"), tenant


def test_a_migration_that_fails_leaves_the_state_before_it(pg_url: str) -> None:
    with pytest.raises(LedgerError, match="nowhere"):
        PostgresLedger.open(pg_url, CLOCK, migrations=(*schema.shipped(), BROKEN))
    assert asked(pg_url, "SELECT to_regclass('hindbrain.half')") == [(None,)]
    PostgresLedger.open(pg_url, CLOCK, migrations=(*schema.shipped(), MORE)).close()


def test_an_older_program_refuses_a_newer_ledger_untouched(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as old:  # two versions at work on one database: the older one has it open already
        PostgresLedger.open(pg_url, CLOCK, migrations=(*schema.shipped(), MORE)).close()
        old.ingest(batch(record(0, event())))
        for read_only in (False, True):
            with pytest.raises(SchemaTooNew, match=f"schema {NEXT}, this version knows {NEXT - 1}"):
                PostgresLedger.open(pg_url, CLOCK, read_only=read_only)
        assert old.counts().turns == 1


def test_a_changed_migration_is_refused(pg_url: str) -> None:
    edited = Migration(1, "first", schema.shipped()[0].sql + "-- edited\n")
    with pytest.raises(MigrationChanged, match="first"):
        PostgresLedger.open(pg_url, CLOCK, migrations=(edited, *schema.shipped()[1:]))


def test_tables_of_another_program_are_left_alone(cluster: Cluster) -> None:
    url = cluster.create("strangers")
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA hindbrain")
        admin.execute("CREATE TABLE hindbrain.theirs (x text)")
    with pytest.raises(LedgerError, match="tables of another program"):
        PostgresLedger.open(url, CLOCK)
    assert asked(url, "SELECT tablename FROM pg_tables WHERE schemaname = 'hindbrain'") == [("theirs",)]


_OPEN = """
import sys
from hindbrain.base.clock import SystemClock
from hindbrain.ledger.postgres.store import PostgresLedger
sys.stdin.readline()
with PostgresLedger.open(sys.argv[1], SystemClock(), tenant=sys.argv[2]) as ledger:
    print(ledger.created, ledger.counts().turns, flush=True)
"""


@pytest.mark.slow
def test_ten_processes_that_open_it_at_once_migrate_once(cluster: Cluster) -> None:
    url = cluster.create("crowd")
    started = [
        subprocess.Popen([sys.executable, "-c", _OPEN, url, f"tenant {number}"], text=True, stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(10)
    ]  # fmt: skip
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    ended = [process.communicate() for process in started]
    assert sorted(ended) == [("False 0\n", "")] * 9 + [("True 0\n", "")]
    assert asked(url, "SELECT count(*) FROM hindbrain.migrations") == [(len(schema.shipped()),)]
