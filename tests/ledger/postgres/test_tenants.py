"""Tenants of one database: the same ids side by side, and no statement of one sees or changes what is another's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import Json
from hindbrain.ledger import vectors
from hindbrain.ledger.memories import memory_event
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.vectors import Piece
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from tests.conformance.states import everything, rows
from tests.ledger.making import batch, cursor_event, event, place_event, record

CLOCK = ManualClock()
MARK = "belongs to b"

LEAK = """
CREATE FUNCTION pg_temp.leak(seen anyelement) RETURNS boolean COST 0.0000001 LANGUAGE plpgsql AS
$$ BEGIN RAISE WARNING '%', seen; RETURN true; END $$
"""
EVERY_TABLE = (
    "SELECT * FROM {table}", "SELECT * FROM {table} WHERE tenant = 'b'", "SELECT count(*) FROM {table} WHERE tenant <> 'a'",
    "SELECT * FROM ONLY {table} TABLESAMPLE SYSTEM (100)", "TABLE {table}", "COPY {table} TO STDOUT",
    "SELECT * FROM {table} AS one LEFT JOIN {table} AS other ON one.tenant <> other.tenant",
    "SELECT * FROM {table} WHERE pg_temp.leak({table}::text)", "SELECT query_to_xml('SELECT * FROM {table}', true, false, '')",
    "SELECT * FROM pg_stats WHERE tablename = '{table}'", "SELECT tenant FROM {table} FOR UPDATE",
    "UPDATE {table} SET tenant = 'b'", "UPDATE {table} SET tenant = 'a' WHERE tenant = 'b'",
    "DELETE FROM {table} WHERE tenant = 'b'", "DELETE FROM {table}", "TRUNCATE {table}",
    "INSERT INTO {table} SELECT * FROM {table} ON CONFLICT DO NOTHING",
    "MERGE INTO {table} USING (SELECT 1) AS one ON true WHEN MATCHED THEN DELETE",
    "ALTER TABLE {table} DISABLE ROW LEVEL SECURITY", "DROP POLICY tenant ON {table}", "DROP TABLE {table} CASCADE",
    "SET row_security = off; SELECT * FROM {table}", "CREATE POLICY open ON {table} USING (true)",
    "SET hindbrain.tenant = ''; SELECT * FROM {table}", "RESET hindbrain.tenant; SELECT * FROM {table}",
)  # fmt: skip
OTHERS = (
    "SELECT schema_to_xml('hindbrain', true, false, '')",
    "UPDATE turns SET text = 'stolen'", "UPDATE turns SET near = 'stolen'", "UPDATE vectors SET bits = ~bits",
    "UPDATE sessions SET cwd = 'stolen'",
    "UPDATE jobs SET state = 'cancelled', live = 0, lead = 0",
    "INSERT INTO meta (tenant, key, value) VALUES ('b', 'planted', 'x')",
    "INSERT INTO meta (tenant, key, value) VALUES ('b', 'note', 'x') ON CONFLICT (tenant, key) DO UPDATE SET value = 'x'",
    "INSERT INTO forgotten (tenant, id, at) SELECT 'b', id, 1 FROM turns",
    "INSERT INTO injections (tenant, session_id, item_id, at) VALUES ('', 's', 'i', 1)",
    "INSERT INTO links (tenant, memory_id, number, role, turn_id, created_at) VALUES ('b', 'm', 9, 'supports', 'x', 1)",
    "SELECT * FROM text_counts('turn', ARRAY(SELECT generate_series(0, 500)), ARRAY(SELECT generate_series(0, 500)))",
    "SELECT * FROM text_holding('turn', ARRAY(SELECT id FROM terms))", "SELECT lastval()",
    "WITH gone AS (DELETE FROM traces RETURNING *) SELECT * FROM gone",
    "CALL protect('turns')", "INSERT INTO migrations VALUES (99, 'x', 'x', 1)", "DELETE FROM migrations",
    "DROP SCHEMA hindbrain CASCADE",
    "ALTER ROLE hindbrain_tenant BYPASSRLS", "SELECT pg_read_file('PG_VERSION')",
)  # fmt: skip


def fill(ledger: PostgresLedger, owner: str) -> None:
    """The same ids for everybody; only the words differ."""
    said = event(cwd="/p", text=f"this {owner}", detail={"file": f"/f {owner}"})
    kept: dict[str, Json] = {"turn": said.id, "kind": "fact", "scope": "global"}
    ledger.ingest(batch(
        record(0, said, meta={"r": f"rule {owner}:1"}), record(10, place_event("/p", f"path:/{owner}", 4)),
        record(20, cursor_event("transcript:/t", 3, at=5)), record(30, event(kind="notice", key="n", text=f"notice {owner}")),
        record(40, memory_event("remember", agent="hindbrain", session="s1", at=6, text=f"kept {owner}", detail=kept)),
        x=50,
    ))  # fmt: skip
    ledger.set_meta("note", owner)
    ledger.note_injections("s1", [said.id], 4)
    with ledger.writing() as database:
        vectors.use_model(database, owner)
        items = vectors.waiting(database, 1)  # the memory; the turn goes on waiting
        vectors.store(database, owner, [(item, [Piece(0, 3, owner.encode(), b"\x5a" * 32)]) for item in items])
    Queue(ledger, CLOCK).add([NewJob("kind", "key", {"text": owner})])


@pytest.fixture
def tenants(pg_url: str) -> Iterator[tuple[PostgresLedger, PostgresLedger]]:
    with PostgresLedger.open(pg_url, CLOCK, tenant="a") as one, PostgresLedger.open(pg_url, CLOCK, tenant="b") as other:
        fill(one, "belongs to a")
        fill(other, MARK)
        with psycopg.connect(pg_url, autocommit=True) as admin:
            admin.execute("ANALYZE")
        yield one, other


def test_the_same_ids_live_side_by_side(tenants: tuple[PostgresLedger, PostgresLedger]) -> None:
    one, other = (everything(ledger) for ledger in tenants)
    assert one["turns"].keys() == other["turns"].keys()
    assert [rows(ledger, "SELECT rowid, id FROM turns") for ledger in tenants] == [[(1, event(cwd="/p").id)]] * 2
    assert MARK in repr(other) and MARK not in repr(one)
    for ledger, owner in zip(tenants, ("belongs to a", MARK), strict=True):
        assert [hit.text for hit in ledger.search("belongs")] == [f"this {owner}"]
        assert ledger.search("belongs to a b")[0].text == f"this {owner}"
        assert ledger.counts().turns == 1


def breaches(attacker: PostgresLedger) -> list[str]:
    """The statements with which a tenant sees or changes what is another's."""
    found = rows(attacker, "SELECT relname FROM pg_class WHERE relnamespace = 'hindbrain'::regnamespace AND relkind = 'r'")
    tables = [row[0] for row in found if row[0] != "migrations"]
    digests = " UNION ALL ".join(
        f"SELECT '{table}', md5(string_agg(it::text, ' ' ORDER BY it::text)) FROM hindbrain.{table} AS it WHERE tenant = 'b'"
        for table in tables
    )
    statements = [*(text.format(table=table) for text in EVERY_TABLE for table in tables), *OTHERS]
    return [statement for statement in statements if _reaches(attacker, statement, digests)]


class _Enough(Exception):
    """Takes back what a statement did to its own tenant."""


def _reaches(ledger: PostgresLedger, statement: str, digests: str) -> bool:
    """Whether a statement gives another's words away (rows, warnings, errors) or changes their rows; it is taken back then."""
    told: list[str] = []
    before = after = None
    try:
        with ledger.transaction() as database:
            before = after = _as_administrator(database.raw, digests)
            database.raw.execute(LEAK)
            database.raw.add_notice_handler(hear := lambda notice: told.append(str(notice.message_primary)))
            try:
                told += _given(database.raw, statement)
                after = _as_administrator(database.raw, digests)
            finally:
                database.raw.remove_notice_handler(hear)
            raise _Enough
    except (_Enough, LedgerError) as error:
        return MARK in f"{told} {error}" or after != before


def _given(raw: psycopg.Connection[Any], statement: str) -> list[str]:
    with raw.cursor() as cursor:
        if statement.startswith("COPY"):
            with cursor.copy(statement.encode()) as copy:
                return [bytes(row).decode() for row in copy]
        cursor.execute(statement.encode(), prepare=False)
        found = []
        while True:
            found += [str(row) for row in cursor.fetchall()] if cursor.description else []
            if not cursor.nextset():
                return found


def _as_administrator(raw: psycopg.Connection[Any], query: str) -> list[Any]:
    """Asked inside the same transaction, past row security: the login role of these tests is the administrator."""
    raw.execute("RESET ROLE")
    raw.execute("SET row_security = on")
    found = sorted(raw.execute(query.encode()).fetchall())
    raw.execute("SET ROLE hindbrain_tenant")
    return found


def committed(ledger: PostgresLedger, statement: str) -> str:
    """The same, and what it did stays done."""
    try:
        with ledger.transaction() as database:
            database.raw.execute(statement.encode(), prepare=False)
        return ""
    except LedgerError as error:
        return str(error)


def test_no_statement_of_one_tenant_reaches_another(tenants: tuple[PostgresLedger, PostgresLedger]) -> None:
    assert breaches(tenants[0]) == []


def test_what_one_tenant_commits_leaves_the_other_as_it_was(tenants: tuple[PostgresLedger, PostgresLedger]) -> None:
    attacker, victim = tenants
    before = everything(victim)
    for table in ("traces", "injections", "meta", "cursors", "redactions", "forgotten", "jobs", "turn_terms", "terms"):
        assert committed(attacker, f"DELETE FROM {table}") == ""
    assert committed(attacker, "UPDATE turns SET text = 'stolen', near = 'stolen'") == ""
    assert "row-level security" in committed(attacker, "UPDATE turns SET tenant = 'b'")
    assert "row-level security" in committed(attacker, "INSERT INTO meta (tenant, key, value) VALUES ('b', 'x', 'y')")
    assert [row[0] for row in rows(attacker, "SELECT text FROM turns")] == ["stolen"]
    assert everything(victim) == before
    assert [hit.text for hit in victim.search("belongs")] == [f"this {MARK}"]


@pytest.mark.parametrize(("table", "change"), [
    ("turns", "UPDATE turns SET near = 'stolen'"), pytest.param("meta", "DELETE FROM meta", marks=pytest.mark.slow),
    pytest.param("jobs", "DELETE FROM jobs WHERE tenant = 'b'", marks=pytest.mark.slow),
])  # fmt: skip
def test_with_row_security_off_for_one_table_the_breach_is_seen(
    tenants: tuple[PostgresLedger, PostgresLedger], pg_url: str, table: str, change: str
) -> None:
    """The suite above can fail: this is what it would say."""
    with psycopg.connect(pg_url, autocommit=True) as admin:
        admin.execute(f"ALTER TABLE hindbrain.{table} DISABLE ROW LEVEL SECURITY".encode())
    assert {f"SELECT * FROM {table}", change} <= set(breaches(tenants[0]))


def test_without_a_tenant_nothing_is_seen_and_nothing_can_be_written(tenants: tuple[PostgresLedger, PostgresLedger]) -> None:
    ledger = tenants[0]
    for name in ("SET LOCAL hindbrain.tenant = ''", "SET LOCAL hindbrain.tenant TO DEFAULT"):
        with pytest.raises(LedgerError, match="row-level security"), ledger.transaction() as database:
            database.execute(name)
            assert database.execute("SELECT * FROM turns").fetchall() == []
            assert database.execute("UPDATE turns SET text = ''").rowcount == 0
            database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")


def test_a_ledger_needs_the_name_of_a_tenant(pg_url: str) -> None:
    with pytest.raises(LedgerError, match="name of a tenant"):
        PostgresLedger.open(pg_url, CLOCK, tenant="")


@pytest.mark.parametrize("name", ["it's", 'a"b', "a\\b", "ü ☂", "a;DROP TABLE x", "%s ? :x", "x" * 300, "a\nb"])
def test_any_name_is_a_tenant_of_its_own(pg_url: str, name: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK, tenant=name) as ledger, PostgresLedger.open(pg_url, CLOCK) as other:
        fill(ledger, "odd")
        assert ledger.counts().turns == 1
        assert rows(ledger, "SELECT DISTINCT tenant FROM turns") == [(name,)]
        assert other.counts().turns == 0
