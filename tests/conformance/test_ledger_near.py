"""A turn's neighbours follow from the turns of its session alone, whatever order they came in and however often."""

from __future__ import annotations

import itertools
import random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.capture.event import Event
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.near import NEAR_CHARS
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger
from tests.ledger.making import event, record

TURNS = st.lists(
    st.builds(
        event, session=st.sampled_from(["s1", "s2"]), at=st.integers(0, 12), key=st.sampled_from("abcdefgh"),
        role=st.sampled_from(["user", "assistant", "tool_result"]), origin=st.sampled_from(["hook", "transcript"]),
        text=st.sampled_from(["alpha", "beta gamma", "", "delta " * 200, "naïve"]),
    ),
    max_size=14,
)  # fmt: skip


def recomputed(ledger: Evidence) -> dict[str, str]:
    """The neighbours of every turn, worked out plainly from the rows."""
    wanted: dict[str, str] = {}
    found = rows(ledger, "SELECT id, session_id, role, text FROM turns ORDER BY session_id, at, id")
    for _, turns in itertools.groupby(found, key=lambda row: row[1]):
        talk = [row for row in turns if row[2] in ("user", "assistant")]
        for number, row in enumerate(talk):
            order = (number - 1, number + 1, number - 2, number + 2)
            sides = [talk[beside][3][:NEAR_CHARS] for beside in order if 0 <= beside < len(talk)]
            wanted[row[0]] = "\n".join(sides)
    return {row[0]: wanted.get(row[0], "") for row in found}


def stored(ledger: Evidence) -> dict[str, str]:
    return dict(rows(ledger, "SELECT id, near FROM turns"))


def take_in(ledger: Evidence, events: list[Event], seed: int) -> None:
    """In any order, in batches of any size, some of them again; each keeps its place in the journal."""
    choose = random.Random(seed)
    written = [record(10 * number, each) for number, each in enumerate(events)]
    lines = [*written, *(each for each in written if choose.random() < 0.3)]
    if seed:
        choose.shuffle(lines)
    while lines:
        size = choose.randint(1, 4)
        ledger.ingest(Batch(lines[:size], [], {}))
        del lines[:size]


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=TURNS, seed=st.integers(0, 1 << 20))
def test_neighbours_do_not_depend_on_order_or_batches(new_ledger: NewLedger, turns: list[Event], seed: int) -> None:
    one, other = new_ledger(), new_ledger()
    take_in(one, turns, 0)
    take_in(other, turns, seed)
    assert stored(one) == recomputed(one)
    assert stored(other) == recomputed(other) == stored(one)
    assert is_sound(one) and is_sound(other)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=TURNS, seed=st.integers(0, 1 << 20), gone=st.sets(st.integers(0, 13), max_size=4))
def test_neighbours_close_up_where_a_turn_was_forgotten(
    new_ledger: NewLedger, turns: list[Event], seed: int, gone: set[int]
) -> None:
    ledger = new_ledger()
    take_in(ledger, turns, seed)
    ids = [turns[number].id for number in gone if number < len(turns)]
    ledger.ingest(Batch([record(9000, forget_event(ids, 1_000_000))], [], {}))
    assert not stored(ledger).keys() & set(ids)
    assert stored(ledger) == recomputed(ledger)
    assert is_sound(ledger)


def test_a_late_turn_is_noted_beside_two_on_each_side(ledger: Evidence) -> None:
    """Nearest first, what came before ahead of what came after; a neighbour's beginning alone."""
    turns = [event(key=f"k{at}", at=at, text=f"said {at}") for at in range(1, 8)]
    for number, each in enumerate([*turns[:3], *turns[4:]]):
        ledger.ingest(Batch([record(10 * number, each)], [], {}))
    near = {each.id: each.at for each in turns}
    found = {near[identifier]: text.split("\n") for identifier, text in stored(ledger).items()}
    assert found == {
        1: ["said 2", "said 3"], 2: ["said 1", "said 3", "said 5"], 3: ["said 2", "said 5", "said 1", "said 6"],
        5: ["said 3", "said 6", "said 2", "said 7"], 6: ["said 5", "said 7", "said 3"], 7: ["said 6", "said 5"],
    }  # fmt: skip
    late = event(key="k4", at=4, text="late " * 200)
    ledger.ingest(Batch([record(900, late)], [], {}))
    beginning = ("late " * 200)[:NEAR_CHARS]
    found = {near[identifier]: text.split("\n") for identifier, text in stored(ledger).items()}
    assert found == {
        1: ["said 2", "said 3"], 2: ["said 1", "said 3", beginning], 3: ["said 2", beginning, "said 1", "said 5"],
        4: ["said 3", "said 5", "said 2", "said 6"], 5: [beginning, "said 6", "said 3", "said 7"],
        6: ["said 5", "said 7", beginning], 7: ["said 6", "said 5"],
    }  # fmt: skip
    assert is_sound(ledger)
