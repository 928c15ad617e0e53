"""The schema itself refuses a memory without evidence and a tool's word as an instruction."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.base.errors import LedgerError
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database, foreign, is_sqlite
from hindbrain.ledger.evidence import Evidence
from tests.ledger.making import batch, event, record

TURN = event()
MEMORY: dict[str, Any] = {
    "id": "m1", "level": "observation", "kind": "fact", "text": "the build needs Python 3.11", "confidence": 0.8,
    "trust": "user", "observer": "assistant", "subject": "user", "scope": "global", "project_id": None, "valid_from": 5,
    "valid_to": None, "superseded_by": None, "created_at": 5, "evidence": 1,
}  # fmt: skip
LINK: dict[str, Any] = {
    "memory_id": "m1", "number": 1, "role": "derived_from", "turn_id": TURN.id, "target_memory_id": None, "created_at": 5,
}  # fmt: skip


@pytest.fixture
def with_turn(ledger: Evidence) -> Evidence:
    ledger.ingest(batch(record(0, TURN)))
    return ledger


def insert(connection: Database, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def test_a_memory_with_a_link_to_a_turn_is_stored(with_turn: Evidence) -> None:
    with with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK)
    assert with_turn.counts().memories == 1


def test_a_memory_without_evidence_is_refused_at_commit(with_turn: Evidence) -> None:
    with pytest.raises(LedgerError, match=r"(?i)foreign key"), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
    assert with_turn.counts().memories == 0


def test_the_last_link_cannot_go_while_the_memory_stays(with_turn: Evidence) -> None:
    with with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK)
    with pytest.raises(LedgerError, match=r"(?i)foreign key"), with_turn.writing() as connection:
        connection.execute("DELETE FROM links")
    with pytest.raises(LedgerError, match=r"(?i)foreign key"), with_turn.writing() as connection:
        connection.execute("DELETE FROM turns")


def test_references_can_wait_for_the_end_of_the_transaction(with_turn: Evidence) -> None:
    with with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK)
    with pytest.raises(LedgerError, match=r"(?i)foreign key"), with_turn.writing() as connection:
        _defer(connection)
        connection.execute("DELETE FROM turns")
    with with_turn.writing() as connection:
        _defer(connection)
        fulltext.remove(connection, [1])
        for table in ("turns", "memories", "links"):
            connection.execute(f"DELETE FROM {table}")
    assert (with_turn.counts().turns, with_turn.counts().memories) == (0, 0)


def _defer(connection: Database) -> None:
    if is_sqlite(connection):
        connection.execute("PRAGMA defer_foreign_keys = ON")
    else:
        foreign(connection).defer_constraints()


@pytest.mark.parametrize("change", [
    {"level": "rumour"}, {"kind": "gossip"}, {"text": ""}, {"confidence": 1.5}, {"confidence": -0.1}, {"trust": "nobody"},
    {"scope": "galaxy"}, {"scope": "project"}, {"scope": "global", "project_id": "p_x"}, {"valid_to": 4},
    {"superseded_by": "m1"}, {"superseded_by": "m9"}, {"trust": "tool", "kind": "instruction"},
    {"trust": "tool", "kind": "preference"},
], ids=str)  # fmt: skip
def test_a_memory_that_breaks_a_rule_is_refused(with_turn: Evidence, change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY | change)
        insert(connection, "links", LINK)


@pytest.mark.parametrize("change", [
    {"role": "guessed_from"}, {"turn_id": None}, {"turn_id": "e_none"}, {"target_memory_id": "m1"},
    {"turn_id": None, "target_memory_id": "m1"}, {"turn_id": None, "target_memory_id": "m9"}, {"memory_id": "m9"},
], ids=str)  # fmt: skip
def test_a_link_that_breaks_a_rule_is_refused(with_turn: Evidence, change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK | change)
