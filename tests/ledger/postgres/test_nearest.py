"""The nearest vectors on PostgreSQL: the right ones, by index or by looking through the scope, and never from outside of it."""

from __future__ import annotations

import random
import re
from typing import Any

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import Event
from hindbrain.ledger import vectors
from hindbrain.ledger.memories import memory_event
from hindbrain.ledger.postgres import nearest
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.vectors import Piece
from tests.conformance.states import rows
from tests.ledger.making import batch, event, place_event, record

CLOCK = ManualClock()
PROJECTS = ("one", "two", "three")
WAYS = pytest.mark.parametrize("few", [nearest.FEW, 0], ids=["whole", "index"])


def signs_of(text: str) -> bytes:
    """Signs that a text stands for."""
    return random.Random(text).randbytes(32)


def apart(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count()


def fill(ledger: PostgresLedger, turns: int = 90, owner: str = "") -> None:
    """Turns of three projects and of nobody's, memories of each and of all; every one with signs of its text."""
    said = []
    for number in range(turns):
        folder = (*PROJECTS, "")[number % 4]
        said.append(event(key=f"k{number}", session=f"s{number % 8}", at=number, cwd=f"/{folder}" if folder else "",
                          text=f"{owner}{folder} {number}"))  # fmt: skip
    kept = [_kept(said[number], f"{owner}{PROJECTS[number]} kept", "project") for number in range(3)]
    kept.append(_kept(said[4], f"{owner}everybody's", "global"))
    kept.append(event(agent="hindbrain", key="own", cwd="/one", text=f"{owner}evidence"))
    places = [place_event(f"/{name}", f"path:/{name}", 1) for name in PROJECTS]
    ledger.ingest(batch(*(record(10 * number, each) for number, each in enumerate([*places, *said, *kept]))))
    with ledger.writing() as database:
        vectors.use_model(database, "m1")
        done = [(each, [Piece(0, 1, each.text.encode(), signs_of(each.text))]) for each in vectors.waiting(database, 10_000)]
        assert vectors.store(database, "m1", done) == turns + 5


def _kept(turn: Event, text: str, scope: str) -> Event:
    detail = {"turn": turn.id, "kind": "fact", "scope": scope}
    return memory_event("remember", agent="hindbrain", session="s1", at=50, text=text, detail=detail)


def asked(ledger: PostgresLedger, about: str, limit: int, **scope: Any) -> list[str]:
    """The texts whose vectors are nearest to that of a text."""
    with ledger.reading() as database:
        if not nearest.FEW:  # as if there were so many that sorting them all cost more
            database.execute("SET LOCAL enable_sort = off")
        ids = vectors.nearest(database, "m1", signs_of(about), limit, **{"project": None, **scope})
        texts = {row.id: row.vector.decode() for row in vectors.fetch(database, ids)}
    return [texts[each] for each in ids]


def expected(texts: list[str], about: str, limit: int) -> list[int]:
    """How far from a text the nearest of these are."""
    return sorted(apart(signs_of(text), signs_of(about)) for text in texts)[:limit]


def project(ledger: PostgresLedger, name: str) -> str:
    return str(rows(ledger, "SELECT id FROM projects WHERE identity = ?", (f"path:/{name}",))[0][0])


@WAYS
def test_the_nearest_of_each_scope_are_found_and_nothing_outside(
    pg_url: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nearest, "FEW", few)
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        fill(ledger)
        known = [row[0].decode() for row in rows(ledger, "SELECT vector FROM vectors")]
        inside = {
            "two": [text for text in known if text.startswith("two")] + ["everybody's"],
            "nobody": ["everybody's"], "all": [text for text in known if text != "evidence"],
        }  # fmt: skip
        scopes: dict[str, dict[str, Any]] = {
            "two": {"project": project(ledger, "two")}, "nobody": {}, "all": {"everything": True},
        }  # fmt: skip
        for name, scope in scopes.items():
            for limit in (1, 7, 1_000):
                found = asked(ledger, "two 5", limit, **scope)
                assert set(found) <= set(inside[name])
                assert expected(found, "two 5", limit) == expected(inside[name], "two 5", limit)
        assert asked(ledger, "two 5", 1, everything=True) == ["two 5"]
        assert asked(ledger, "one 4", 3, project="p_none") == ["everybody's"]
        assert asked(ledger, "one 4", 0, everything=True) == []


@WAYS
def test_times_outside_the_scope_are_left_out(pg_url: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "FEW", few)
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        fill(ledger)
        found = asked(ledger, "two 5", 100, everything=True, after=10, before=13)
        assert sorted(found) == [" 11", "one 12", "three 10", "two 13"]
        found = asked(ledger, "two 5", 100, project=project(ledger, "two"), after=50, before=57)
        assert sorted(found) == ["everybody's", "two 53", "two 57", "two kept"]


@WAYS
def test_a_tenant_finds_its_own_alone(pg_url: str, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nearest, "FEW", few)
    with PostgresLedger.open(pg_url, CLOCK, tenant="a") as one, PostgresLedger.open(pg_url, CLOCK, tenant="b") as other:
        fill(one, 8)
        fill(other, 300, owner="other ")
        assert "other two 5" not in asked(one, "other two 5", 1_000, everything=True)
        assert len(asked(one, "other two 5", 1_000, everything=True)) == 12
        assert asked(other, "other two 5", 1, everything=True) == ["other two 5"]
        assert all(text.startswith("other") for text in asked(other, "two 5", 1_000, project=project(other, "two")))


def test_a_scope_the_index_gave_too_little_of_is_looked_through(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"FEW": 0, "SEARCHED": 1, "MOST_SEARCHED": 1}.items():
        monkeypatch.setattr(nearest, name, value)
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        fill(ledger, 600)
        found = asked(ledger, "one 4", 1_000, project=project(ledger, "two"))
        assert len(found) == 600 // 4 + 2


def test_a_large_ledger_is_searched_by_the_index(pg_url: str) -> None:
    """The plan is asked for, not the time: an index that a change of the question shuts out would go unnoticed."""
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        fill(ledger)
        query = nearest._BY_INDEX.format(inside=nearest._INSIDE.format(turns="", memories=""))
        values = {"model": "m1", "bits": f"x{'5a' * 32}", "after": -1, "before": 1 << 60, "limit": 10}
        with ledger.reading() as database:
            database.execute("SET LOCAL enable_sort = off")
            plan = "\n".join(row[0] for row in database.execute(f"EXPLAIN {query}", values))
        assert "Index Scan using vectors_by_bits" in plan


@pytest.mark.parametrize("statement", [
    "SELECT text FROM turns WHERE rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?))",
    "SELECT vector FROM vectors WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) ORDER BY id",
    vectors._DROP.format(**vectors._TURNS),
    "SELECT text FROM turns WHERE id IN (SELECT value FROM json_each(?))",
], ids=["turns", "vectors", "of turns", "by text"])  # fmt: skip
def test_rows_of_a_list_are_looked_up_one_by_one_under_row_security(pg_url: str, statement: str) -> None:
    """Row security shuts an index out where a condition could fail: then every question reads whole tables."""
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        fill(ledger, 400)
        with psycopg.connect(pg_url) as owner:
            owner.execute("ANALYZE")
        with ledger.reading() as database:
            for other in ("seqscan", "hashjoin", "mergejoin"):  # small as the tables are here, these would be quicker
                database.execute(f"SET LOCAL enable_{other} = off")
            plan = "\n".join(row[0] for row in database.execute(f"EXPLAIN {statement}", ("[3, 7, 11]",)))
    assert re.search(r"Index Cond: .*json_", plan), plan


def test_a_model_of_another_name_and_empty_vectors_are_not_found(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as ledger:
        ledger.ingest(batch(record(0, event(text=""))))
        with ledger.writing() as database:
            vectors.use_model(database, "m1")
            vectors.store(database, "m1", [(each, []) for each in vectors.waiting(database, 1)])
        assert asked(ledger, "x", 10, everything=True) == []
        with ledger.writing() as database:
            database.execute("UPDATE turns SET text = 'now there is one'")
            vectors.use_model(database, "m2")
            vectors.store(database, "m2", [(each, [Piece(0, 1, b"x", bytes(32))]) for each in vectors.waiting(database, 1)])
        assert asked(ledger, "x", 10, everything=True) == []
        with ledger.reading() as database:
            assert len(vectors.nearest(database, "m2", bytes(32), 10, project=None, everything=True)) == 1
            with pytest.raises(LedgerError, match="32 bytes: 4 were given"):
                vectors.nearest(database, "m2", b"abcd", 10, project=None)


def test_workers_that_embed_at_once_do_not_take_the_same(pg_url: str) -> None:
    with PostgresLedger.open(pg_url, CLOCK) as one, PostgresLedger.open(pg_url, CLOCK) as other:
        one.ingest(batch(*(record(10 * number, event(key=str(number), text=f"text {number}")) for number in range(6))))
        with one.writing() as database:
            vectors.use_model(database, "m1")
        with one.transaction() as first, other.transaction() as second:
            mine, theirs = vectors.waiting(first, 4), vectors.waiting(second, 4)
            assert [each.text for each in (*mine, *theirs)] == [f"text {number}" for number in range(6)]
            assert vectors.store(second, "m1", [(each, [Piece(0, 1, b"x")]) for each in (*mine, *theirs)]) == 2
            assert vectors.store(first, "m1", [(each, [Piece(0, 1, b"x")]) for each in mine]) == 4
        with one.reading() as database:
            assert vectors.counts(database) == (6, 0)


def test_evidence_is_written_while_vectors_are_stored(pg_url: str) -> None:
    """Neither waits for the other: the worker's ingest must not stand behind an embedder."""
    with PostgresLedger.open(pg_url, CLOCK) as one, PostgresLedger.open(pg_url, CLOCK) as other:
        one.ingest(batch(record(0, event(key="1", at=1, text="first", origin="transcript")), record(10, event(key="2", at=9))))
        with one.writing() as database:
            vectors.use_model(database, "m1")
        with one.transaction() as first:
            items = vectors.waiting(first, 10)
            other.ingest(batch(record(20, event(key="3", at=5, text="between: neighbours of both change"))))
            assert vectors.store(first, "m1", [(each, [Piece(0, 1, b"x")]) for each in items]) == 2
            other.ingest(batch(record(30, event(key="4", at=6, text="and once more"))))
        with one.reading() as database:
            assert vectors.counts(database) == (2, 2)
