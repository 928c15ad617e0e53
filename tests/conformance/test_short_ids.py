"""The beginning of an id that a block shows: as short as it can be, one thing's alone, on both engines the same."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.capture.event import SESSION_DIGITS
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch
from hindbrain.recall.short_ids import SHORTEST, shortened
from hindbrain.serve.lookup import look_up
from hindbrain.serve.reading import beside, piece
from tests.conformance.states import rows
from tests.ledger.making import event, record

COUNT = 600


@pytest.fixture
def ids(ledger: Evidence) -> list[str]:
    """Many turns, so that some begin alike, and a session whose agent calls it like one of them."""
    turns = [event(key=f"k{number}", at=number, text=f"saying {number}") for number in range(COUNT)]
    lines = [record(10 * number, each) for number, each in enumerate(turns)]
    named = event(key="x", session=turns[0].id[:7], text="in a session of such a name")
    ledger.ingest(Batch([*lines, record(10 * COUNT, named)], [], {}))
    return [each.id for each in turns]


def test_a_short_id_is_as_short_as_it_can_be_and_names_one_thing(ledger: Evidence, ids: list[str]) -> None:
    every = [row[0] for row in rows(ledger, "SELECT id FROM turns")]
    with ledger.reading() as database:
        found = shortened(database, ids)
    for whole, short in found.items():
        assert [each for each in every if each.startswith(short)] == [whole]
        assert len(short) == SHORTEST or len([each for each in every if each.startswith(short[:-1])]) > 1
    lengths = {len(short) for short in found.values()}
    assert len(lengths) > 1 and min(lengths) > 2 + SESSION_DIGITS  # they are of one session, and some needed more
    assert {look_up(ledger, short).id for short in found.values()} == set(ids)


def test_a_turn_alone_in_its_session_needs_little(ledger: Evidence, ids: list[str]) -> None:
    (alone,) = (row[0] for row in rows(ledger, "SELECT id FROM turns WHERE key = 'x'"))
    with ledger.reading() as database:
        assert shortened(database, [alone]) == {alone: alone[:SHORTEST]}


def test_what_begins_several_ids_is_said_to(ledger: Evidence, ids: list[str]) -> None:
    with ledger.reading() as database:
        whole, longest = max(shortened(database, ids).items(), key=lambda pair: len(pair[1]))
    with pytest.raises(UsageError) as caught:
        look_up(ledger, longest[:-1])
    assert whole in str(caught.value) and "several" in str(caught.value)


@pytest.mark.parametrize("id", ["", "e_", "x", "e_' OR 1=1", 'e_","', "e_\ud800", "s_1234567890", "e_" + "f" * 24, "m_0"])
def test_any_text_in_an_ids_place_is_safe(ledger: Evidence, ids: list[str], id: str) -> None:
    with ledger.reading() as database:
        assert id.startswith(shortened(database, [id])[id])


def test_the_turns_beside_one_are_those_of_its_session(ledger: Evidence, ids: list[str]) -> None:
    def near(number: int) -> tuple[list[str], list[str]]:
        before, after = beside(ledger, piece(ledger, ids[number]), 2, 6)
        assert {(each.text, each.role) for each in (*before, *after)} == {("saying", "user")}
        return [each.id for each in before], [each.id for each in after]

    assert near(5) == (ids[3:5], ids[6:8])
    assert near(0) == ([], ids[1:3])
    assert near(COUNT - 1) == (ids[-3:-1], [])
