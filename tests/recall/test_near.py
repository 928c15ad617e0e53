"""A turn's neighbours follow from the turns of its session alone, whatever order they came in and however often."""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import ManualClock
from hindbrain.capture.event import Event
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.near import NEAR_CHARS
from hindbrain.ledger.store import Ledger
from tests.ledger.making import event, record

NewLedger = Callable[[], Ledger]


@pytest.fixture(scope="module")
def new_ledger(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewLedger]:
    folder, numbers, opened = tmp_path_factory.mktemp("near"), itertools.count(), list[Ledger]()
    empty = folder / "empty.db"
    Ledger.open(empty, ManualClock()).close()

    def make() -> Ledger:
        path: Path = folder / f"{next(numbers)}.db"
        shutil.copyfile(empty, path)
        opened.append(Ledger.open(path, ManualClock()))
        opened[-1].connection.execute("PRAGMA synchronous = OFF")
        return opened[-1]

    yield make
    for ledger in opened:
        ledger.close()


TURNS = st.lists(
    st.builds(
        event, session=st.sampled_from(["s1", "s2"]), at=st.integers(0, 12), key=st.sampled_from("abcdefgh"),
        role=st.sampled_from(["user", "assistant", "tool_result"]), origin=st.sampled_from(["hook", "transcript"]),
        text=st.sampled_from(["alpha", "beta gamma", "", "delta " * 200, "naïve"]),
    ),
    max_size=14,
)  # fmt: skip


def recomputed(ledger: Ledger) -> dict[str, str]:
    """The neighbours of every turn, worked out plainly from the rows."""
    wanted: dict[str, str] = {}
    rows = ledger.connection.execute("SELECT id, session_id, role, text FROM turns ORDER BY session_id, at, id").fetchall()
    for _, turns in itertools.groupby(rows, key=lambda row: row[1]):
        talk = [row for row in turns if row[2] in ("user", "assistant")]
        for number, row in enumerate(talk):
            sides = [talk[beside][3][:NEAR_CHARS] for beside in (number - 1, number + 1) if 0 <= beside < len(talk)]
            wanted[row[0]] = "\n".join(sides)
    return {row[0]: wanted.get(row[0], "") for row in rows}


def stored(ledger: Ledger) -> dict[str, str]:
    return dict(ledger.connection.execute("SELECT id, near FROM turns").fetchall())


def index_is_sound(ledger: Ledger) -> bool:
    """The index holds exactly what the rows hold; SQLite raises otherwise."""
    ledger.connection.execute("INSERT INTO turns_fts (turns_fts, rank) VALUES ('integrity-check', 1)")
    return True


def take_in(ledger: Ledger, events: list[Event], seed: int) -> None:
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


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(turns=TURNS, seed=st.integers(0, 1 << 20))
def test_neighbours_do_not_depend_on_order_or_batches(new_ledger: NewLedger, turns: list[Event], seed: int) -> None:
    one, other = new_ledger(), new_ledger()
    take_in(one, turns, 0)
    take_in(other, turns, seed)
    assert stored(one) == recomputed(one)
    assert stored(other) == recomputed(other) == stored(one)
    assert index_is_sound(one) and index_is_sound(other)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
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
    assert index_is_sound(ledger)
