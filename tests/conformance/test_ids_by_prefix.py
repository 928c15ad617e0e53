"""An id is found by how it begins, on both engines, and no text is anything but a beginning."""

from __future__ import annotations

import pytest

from hindbrain.ledger import query
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.memories import memory_event, memory_id
from tests.conformance.states import rows
from tests.ledger.making import batch, event, record


def found(ledger: Evidence, prefix: str, limit: int = 10) -> list[str]:
    with ledger.reading() as database:
        return query.turns_by_prefix(database, prefix, limit)


@pytest.fixture
def filled(ledger: Evidence) -> Evidence:
    turns = [event(key=str(number), at=number) for number in range(40)]
    detail = {"turn": turns[0].id, "kind": "fact", "scope": "global"}
    kept = memory_event("remember", agent="hindbrain", session="s1", at=50, text="kept", detail=detail)
    ledger.ingest(batch(*(record(10 * number, each) for number, each in enumerate([*turns, kept]))))
    return ledger


def test_turns_and_memories_are_found_by_the_beginning_of_their_id(filled: Evidence) -> None:
    ids = sorted(row[0] for row in rows(filled, "SELECT id FROM turns UNION SELECT id FROM memories"))
    for length in (1, 3, 4, 12):
        for identifier in ids[::7]:
            wanted = [each for each in ids if each.startswith(identifier[:length])]
            assert found(filled, identifier[:length], 100) == wanted
            assert found(filled, identifier[:length], 2) == wanted[:2]
    assert all(found(filled, identifier) == [identifier] for identifier in ids)
    (memory,) = (row[0] for row in rows(filled, "SELECT id FROM memories"))
    assert found(filled, "m") == [memory]
    assert memory.startswith(memory_id("")[:2])


@pytest.mark.parametrize("prefix", [
    "", "%", "_", "e%", "E", "e_'", "' OR 1=1 --", "e_\x00", "é", "e_\n", "e_*", "\ud800", "e" * 5000, "z", "e_" + "0" * 100, "?",
], ids=lambda prefix: ascii(prefix)[:20])  # fmt: skip
def test_what_begins_no_id_finds_nothing(filled: Evidence, prefix: str) -> None:
    assert found(filled, prefix) == []


def test_no_more_are_given_than_asked_for(filled: Evidence) -> None:
    assert (found(filled, "e", 0), found(filled, "e", -1)) == ([], [])
    assert len(found(filled, "e", 5)) == 5
