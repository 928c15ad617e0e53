"""The schema itself refuses a memory without evidence and a tool's word as an instruction."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from hindbrain.base.errors import LedgerError
from hindbrain.ledger.store import Ledger
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
def with_turn(ledger: Ledger) -> Ledger:
    ledger.ingest(batch(record(0, TURN)))
    return ledger


def insert(connection: sqlite3.Connection, table: str, row: dict[str, Any]) -> None:
    names = ", ".join(row)
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))


def test_a_memory_with_a_link_to_a_turn_is_stored(with_turn: Ledger) -> None:
    with with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK)
    assert with_turn.counts().memories == 1


def test_a_memory_without_evidence_is_refused_at_commit(with_turn: Ledger) -> None:
    with pytest.raises(LedgerError, match="FOREIGN KEY"), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
    assert with_turn.counts().memories == 0


def test_the_last_link_cannot_go_while_the_memory_stays(with_turn: Ledger) -> None:
    with with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK)
    with pytest.raises(LedgerError, match="FOREIGN KEY"), with_turn.writing() as connection:
        connection.execute("DELETE FROM links")
    with pytest.raises(LedgerError, match="FOREIGN KEY"), with_turn.writing() as connection:
        connection.execute("DELETE FROM turns_fts")
        connection.execute("DELETE FROM turns")


@pytest.mark.parametrize("change", [
    {"level": "rumour"}, {"kind": "gossip"}, {"text": ""}, {"confidence": 1.5}, {"confidence": -0.1}, {"trust": "nobody"},
    {"scope": "galaxy"}, {"scope": "project"}, {"scope": "global", "project_id": "p_x"}, {"valid_to": 4},
    {"superseded_by": "m1"}, {"superseded_by": "m9"}, {"trust": "tool", "kind": "instruction"},
    {"trust": "tool", "kind": "preference"},
], ids=str)  # fmt: skip
def test_a_memory_that_breaks_a_rule_is_refused(with_turn: Ledger, change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY | change)
        insert(connection, "links", LINK)


@pytest.mark.parametrize("change", [
    {"role": "guessed_from"}, {"turn_id": None}, {"turn_id": "e_none"}, {"target_memory_id": "m1"},
    {"turn_id": None, "target_memory_id": "m1"}, {"turn_id": None, "target_memory_id": "m9"}, {"memory_id": "m9"},
], ids=str)  # fmt: skip
def test_a_link_that_breaks_a_rule_is_refused(with_turn: Ledger, change: dict[str, Any]) -> None:
    with pytest.raises(LedgerError), with_turn.writing() as connection:
        insert(connection, "memories", MEMORY)
        insert(connection, "links", LINK | change)
