"""Doctor finds memories that rest on nothing, and replacements that cannot be; on every engine."""

from __future__ import annotations

import pytest

from hindbrain.ledger import reasoned, removal, soundness
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from tests.conformance.reasoning import ONE, RULES, TURNS, put, statement
from tests.conformance.states import is_sound

FOUND = [statement(turn) for turn in TURNS[:3]]
FIRST, SECOND, THIRD = (each.id for each in FOUND)


@pytest.fixture
def reasoned_on(told: Evidence) -> Evidence:
    put(told, ONE, FOUND)
    with told.writing() as database:
        assert reasoned.supersede(database, FIRST, SECOND, 500)
    return told


def wrong(ledger: Evidence) -> list[str]:
    with ledger.reading() as database:
        return list(soundness.differences(database))


def test_a_ledger_as_we_leave_it_is_sound(reasoned_on: Evidence) -> None:
    assert wrong(reasoned_on) == [] and is_sound(reasoned_on)


def test_memories_that_rest_on_each_other_alone_are_found(reasoned_on: Evidence) -> None:
    def loose(database: Database, text: str, support: str) -> str:
        return reasoned.put_insight(database, "insight", text, [support], "global", None, RULES, 600)

    with reasoned_on.writing() as database:
        removal.defer(database)
        one = loose(database, "one", SECOND)
        other = loose(database, "other", one)
        database.execute("UPDATE links SET target_memory_id = ? WHERE memory_id = ?", (other, one))
    assert wrong(reasoned_on) == ["2 memories rest on no turn"]


def test_a_replacement_without_a_link_is_found(reasoned_on: Evidence) -> None:
    with reasoned_on.writing() as database:
        database.execute("UPDATE memories SET superseded_by = ?, valid_to = 600 WHERE id = ?", (THIRD, SECOND))
    assert wrong(reasoned_on) == ["1 memories were replaced by others that do not say so"]


def test_a_circle_of_replacements_is_found(reasoned_on: Evidence) -> None:
    with reasoned_on.writing() as database:
        removal.link(database, FIRST, "supersedes", target=SECOND, at=600)
        database.execute("UPDATE memories SET superseded_by = ?, valid_to = 600 WHERE id = ?", (FIRST, SECOND))
        removal.link(database, SECOND, "supersedes", target=THIRD, at=600)
        database.execute("UPDATE memories SET superseded_by = ?, valid_to = 600 WHERE id = ?", (SECOND, THIRD))
    assert wrong(reasoned_on) == ["3 memories replace each other in a circle"]
