"""The full-text index on PostgreSQL: kept to its tenant, quick to search, and checked against the texts it was made from."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.postgres import bm25, narrowing, text_check
from hindbrain.ledger.postgres.connect import Connection
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.recall.rank import NEAR_WEIGHT
from tests.conformance.states import rows
from tests.conformance.text_corpus import turns
from tests.engines import TEMPLATE, drop
from tests.ledger.making import event, record
from tests.postgres import Cluster

OURS, THEIRS = "ours", "theirs"


@pytest.fixture
def filled(pg_url: str) -> Iterator[PostgresLedger]:
    """A ledger with a part of the corpus and a memory."""
    with PostgresLedger.open(pg_url, ManualClock()) as ledger:
        said = event(session="kept", key="said", at=9_000, text="We deploy on Fridays", agent="hindbrain", origin="api")
        detail: Any = {"op": "remember", "turn": said.id, "kind": "fact", "scope": "global"}
        kept = event(kind="memory", session="kept", key="note", at=9_000, text=said.text, agent="hindbrain", origin="api",
                     detail=detail)  # fmt: skip
        other = event(session="x", key="secret", text="Rumpelstilzchen sagt migration")
        ledger.ingest(Batch([record(10 * n, each) for n, each in enumerate([*turns()[:90], other, said, kept])], [], {}))
        yield ledger


def differences(ledger: PostgresLedger) -> list[str]:
    with ledger.reading() as connection:
        return list(text_check.differences(connection))


def search(ledger: PostgresLedger, *words: str) -> list[tuple[int, float]]:
    with ledger.reading() as connection:
        return connection.best_turns(words, NEAR_WEIGHT, 20)


_SAYS = "entries of the full-text index do not say what the text says"
_NO_TEXT = "entries of the full-text index have no text"
_COUNTED = "terms of the full-text index are counted wrong"
# what is done to it, and what is said first about it
DAMAGE = {
    "UPDATE turns SET text = 'something else' WHERE rowid = 3": f"1 turn {_SAYS}",
    "UPDATE turn_terms SET counts[1] = counts[1] + 1 WHERE number = 3": f"1 turn {_SAYS}",
    "UPDATE turn_terms SET length = length + 1 WHERE number IN (3, 4)": f"2 turn {_SAYS}",
    "DELETE FROM turn_terms WHERE number = 3": f"1 turn {_SAYS}",
    "UPDATE memories SET text = 'We deploy on Mondays'": f"1 memory {_SAYS}",
    "INSERT INTO turn_terms VALUES (DEFAULT, 4000, 0, '{}', '{}')": f"1 turn {_NO_TEXT}",
    "INSERT INTO memory_terms (memory, length, ids, counts) VALUES ('m', 0, '{}', '{}')": f"1 memory {_NO_TEXT}",
    "UPDATE terms SET docs = docs + 1 WHERE term IN ('migrat', 'index')": f"2 {_COUNTED}",
    "INSERT INTO terms (term) VALUES ('left behind')": f"1 {_COUNTED}",
    "DELETE FROM terms WHERE term = 'rumpelstilzchen'": f"1 turn {_SAYS}",
    "UPDATE text_totals SET docs = docs + 1": "the full-text index counts [93, ",
    "DELETE FROM text_totals": "the full-text index counts [0, 0, 0, 0] documents and words, and there are [92, ",
}


@pytest.mark.parametrize("damage", DAMAGE, ids=range(len(DAMAGE)))
def test_whatever_is_wrong_with_the_index_is_found_and_repaired(filled: PostgresLedger, damage: str) -> None:
    before = search(filled, "migration", "index")
    assert (differences(filled), len(before) > 2) == ([], True)
    with filled.writing() as connection:
        connection.execute(damage)
    found = differences(filled)
    assert found
    assert found[0].startswith(DAMAGE[damage])
    with filled.writing() as connection:
        text_check.make_anew(connection)
    assert differences(filled) == []
    if "text =" not in damage:
        assert search(filled, "migration", "index") == before


def test_no_word_of_what_is_forgotten_is_left(filled: PostgresLedger) -> None:
    (identifier,) = [row[0] for row in rows(filled, "SELECT id FROM turns WHERE text LIKE 'Rumpel%'")]
    known = {row[0] for row in rows(filled, "SELECT term FROM terms")}
    filled.ingest(Batch([record(5_010, forget_event([identifier], 1 << 40))], [], {}))
    left = {row[0] for row in rows(filled, "SELECT term FROM terms")}
    assert known - left == {"rumpelstilzchen", "sagt"}
    assert differences(filled) == []


@pytest.fixture
def tenants(pg_url: str) -> Iterator[dict[str, PostgresLedger]]:
    """Two tenants with the same words; what is theirs has even row numbers too."""
    opened = {name: PostgresLedger.open(pg_url, ManualClock(), tenant=name) for name in (OURS, THEIRS)}
    for name, ledger in opened.items():
        count = 3 if name == OURS else 9
        ledger.ingest(Batch([record(10 * n, event(key=f"{n}", at=n, session=f"{n}", text=f"migration index {name}{n}"))
                             for n in range(count)], [], {}))  # fmt: skip
    yield opened
    for ledger in opened.values():
        ledger.close()


# every argument that might reach further than the own tenant: all terms and numbers there are, other sources, nothing at all
BEST = """
SELECT number FROM text_best(?, ?::integer[], ?::double precision[], ?, ?, ?::integer[], ?::integer[], ?::integer[], '{}',
                             -1e300, NULL)
"""
SOURCES = ["turn", "memory", "turn_terms", "turns; DROP TABLE terms", "", None]


def what_functions_give(connection: Connection, ids: list[int]) -> set[int]:
    """Every row number that any of the functions gives for any of the arguments; an error is no answer."""
    numbers = list(range(-5, 50))
    idf = [1.0] * len(ids)
    given: list[tuple[str, tuple[Any, ...]]] = []
    for source, words in itertools.product(SOURCES, (ids, [], None)):
        given += [
            (BEST, (source, words, idf, 0.3, 10.0, ids, [], [])), (BEST, (source, words, idf, 0.3, 10.0, [], ids, ids)),
            ("SELECT number FROM text_counts(?, ?::integer[], ?::bigint[])", (source, words, numbers)),
            ("SELECT number FROM text_holding(?, ?::integer[])", (source, words)),
        ]  # fmt: skip
        given += [("SELECT number FROM text_holding(?, ?::integer[])", (source, [each])) for each in ids]
    found: set[int] = set()
    for statement, values in given:
        connection.execute("SAVEPOINT asked")
        try:
            found |= {row[0] for row in connection.execute(statement, values).fetchall()}
        except psycopg.Error:
            connection.execute("ROLLBACK TO SAVEPOINT asked")
    return found


def all_ids(url: str) -> list[int]:
    with closing(psycopg.connect(url)) as owner:
        return [row[0] for row in owner.execute("SELECT id FROM hindbrain.terms ORDER BY id")]


def test_no_argument_gets_rows_of_another_tenant_out(pg_url: str, tenants: dict[str, PostgresLedger]) -> None:
    ids = all_ids(pg_url)
    with tenants[OURS].reading() as connection:
        assert what_functions_give(connection, ids) == {1, 2, 3}
    with tenants[THEIRS].reading() as connection:
        assert what_functions_give(connection, ids) == set(range(1, 10))
        connection.execute("SELECT set_config('hindbrain.tenant', '', true)")
        assert what_functions_give(connection, ids) == set()
    assert search(tenants[OURS], "theirs5", "index")[0][0] in {1, 2, 3}


@pytest.mark.parametrize("name", ["text_best", "text_counts", "text_holding"])
def test_without_its_comparison_of_tenants_a_function_would_be_caught(
    pg_url: str, tenants: dict[str, PostgresLedger], name: str
) -> None:
    with closing(psycopg.connect(pg_url, autocommit=True)) as owner:
        found = owner.execute("SELECT pg_get_functiondef(to_regproc(%s))", (f"hindbrain.{name}",)).fetchone()
        assert found is not None
        assert "tenant = $" in found[0]
        owner.execute(found[0].replace("tenant = $", "tenant <> $").encode())
    with tenants[OURS].reading() as connection:
        assert not what_functions_give(connection, all_ids(pg_url)) <= {1, 2, 3}


def test_a_search_goes_through_the_inverted_index(pg_url: str) -> None:
    told: list[str] = []
    with PostgresLedger.open(pg_url, ManualClock()) as ledger:
        texts = [f"word{n % 7} word{n % 11} rare{n} {'foo bar' if n % 50 == 0 else 'foo'}" for n in range(4_000)]
        ledger.ingest(Batch([record(10 * n, event(key=f"{n}", at=n, session=f"{n}", text=text))
                             for n, text in enumerate(texts)], [], {}))  # fmt: skip
        with closing(psycopg.connect(pg_url, autocommit=True)) as owner:
            owner.execute("VACUUM ANALYZE hindbrain.turn_terms")
            owner.execute("LOAD 'auto_explain'")
            owner.execute("SET auto_explain.log_min_duration = 0; SET auto_explain.log_nested_statements = on; "
                          "SET client_min_messages = log; SET search_path = hindbrain, pg_temp; SET hindbrain.tenant = 'main'; "
                          "SET ROLE hindbrain_tenant")  # fmt: skip
            owner.add_notice_handler(lambda notice: told.append(notice.message_primary or ""))
            index = Connection(owner)  # type: ignore[arg-type]  # a plain connection has all that is used
            for words, limit in ((["rare5"], 10), (["rare5", "word1", "word2"], 600), (["word3"], -1), (["foo_bar", "word3"], 5)):
                index.best_turns(words, NEAR_WEIGHT, limit)
    plans = [plan for plan in told if "on turn_terms" in plan and "Query Text: SELECT number" in plan]
    assert len(plans) >= 5
    for plan in plans:
        assert "Bitmap Index Scan on turn_terms_by_term" in plan
        assert "Seq Scan on turn_terms" not in plan


@pytest.fixture(scope="module")
def common_words(cluster: Cluster) -> Iterator[PostgresLedger]:
    """Two thousand turns of few words, most of them in very many turns."""
    choose = random.Random(4)
    url = cluster.create("common_words", TEMPLATE)
    with PostgresLedger.open(url, ManualClock()) as ledger:
        said = [
            event(session=f"{n % 40}", key=f"{n}", at=n, role=choose.choice(["user", "assistant", "tool_result"]),
                  text=" ".join(_word(choose) for _ in range(choose.choice([1, 2, 4, 9, 9, 25, 80]))))
            for n in range(2_000)
        ]  # fmt: skip
        ledger.ingest(Batch([record(10 * n, each) for n, each in enumerate(said)], [], {}))
        yield ledger
    drop(cluster, url)


def _word(choose: random.Random) -> str:
    return f"w{int(choose.paretovariate(0.7)) % 300}"


def shortened(ledger: PostgresLedger) -> int:
    """How many of many questions have another beginning when only that is asked for."""
    choose = random.Random(8)
    wrong = 0
    with ledger.reading() as connection:
        for number in range(60):
            words = [_word(choose) for _ in range(choose.choice([1, 1, 2, 3, 5, 12]))]
            every = connection.best_turns(words, NEAR_WEIGHT, -1)
            k = (3, 10, 60)[number % 3]
            wrong += connection.best_turns(words, NEAR_WEIGHT, k) != every[:k]
    return wrong


def test_the_best_few_are_the_first_of_all(common_words: PostgresLedger, monkeypatch: pytest.MonkeyPatch) -> None:
    for first in (1, 150):
        monkeypatch.setattr(narrowing, "FIRST_DOCUMENTS", first)
        assert shortened(common_words) == 0


@pytest.mark.parametrize("bound", ["bound", "weak_bound"])
def test_with_a_bound_too_low_the_best_few_would_be_others(
    common_words: PostgresLedger, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    right = getattr(bm25, bound)
    monkeypatch.setattr(narrowing, "FIRST_DOCUMENTS", 1)
    monkeypatch.setattr(bm25, bound, lambda *known: 0.5 * right(*known))
    assert shortened(common_words) > 0
