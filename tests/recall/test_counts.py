"""How often words stand in the index: remembered while it stays as it is, and never told from a state that is not the asker's."""

from __future__ import annotations

from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from tests.engines import Engine
from tests.ledger.making import batch, event, record
from tests.recall.homes import Said, tell

WORDS = ["marmoset", "heron", "absent"]


def ledger_of(home: Path) -> Ledger:
    return Ledger.open(Home(home).ledger, SystemClock())


def said(ledger: Evidence, *texts: str, first: int = 0) -> None:
    """Each in a session of its own, so that none is another's neighbour."""
    ledger.ingest(batch(*(
        record(10 * number, event(session=f"s{number}", key=f"k{number}", at=1_000 + number, text=text))
        for number, text in enumerate(texts, start=first)
    )))  # fmt: skip


def both(database: Database, counts: fulltext.Counts) -> tuple[list[int], list[int]]:
    """Counted with what is remembered, and anew."""
    return fulltext.holding(database, WORDS, counts), fulltext.holding(database, WORDS)


def test_what_came_in_since_is_counted_on_both_engines(engine: Engine) -> None:
    counts = fulltext.Counts()
    ledger = engine.open()
    said(ledger, "the marmoset", "the heron and the marmoset")
    reader = engine.open(read_only=True)
    with reader.reading() as database:
        assert both(database, counts) == ([2, 1, 0], [2, 1, 0])
        assert both(database, counts) == ([2, 1, 0], [2, 1, 0])
        assert counts.of(database, WORDS, 1) == [1, 1, 0]
    said(ledger, "another heron", first=2)
    with reader.reading() as database:
        assert both(database, counts) == ([2, 2, 0], [2, 2, 0])


def test_what_was_forgotten_is_counted_no_more(memory: Memory, home: Path) -> None:
    _, gone = tell(memory, [Said("the marmoset", session="s1"), Said("the marmoset", session="s2")])
    counts = fulltext.Counts()
    with ledger_of(home) as ledger:
        with ledger.reading() as database:
            assert both(database, counts)[0] == [2, 0, 0]
        memory.forget(id=gone)
        with ledger.reading() as database:
            assert both(database, counts) == ([1, 0, 0], [1, 0, 0])


@pytest.mark.parametrize("counted_before", [True, False])
def test_what_is_not_written_in_the_end_is_not_remembered(memory: Memory, home: Path, *, counted_before: bool) -> None:
    tell(memory, ["the marmoset"])
    counts = fulltext.Counts()
    with ledger_of(home) as ledger:
        with ledger.reading() as database:
            assert not counted_before or both(database, counts)[0] == [1, 0, 0]
        with pytest.raises(ZeroDivisionError), ledger.writing() as database:
            database.execute("INSERT INTO turns_fts (rowid, text, near) VALUES (99, 'the heron', '')")
            assert both(database, counts) == ([1, 1, 0], [1, 1, 0])
            raise ZeroDivisionError
        with ledger.reading() as database:
            assert both(database, counts) == ([1, 0, 0], [1, 0, 0])


def test_each_of_two_readers_counts_what_it_sees(memory: Memory, home: Path) -> None:
    tell(memory, [Said("the marmoset", session="s1")])
    counts = fulltext.Counts()
    with ledger_of(home) as early, ledger_of(home) as late, early.reading() as before:
        assert both(before, counts)[0] == [1, 0, 0]
        memory.record(agent="claude-code", session="s2", role="user", text="a heron", project="/p/one", key="late")
        memory.settle()
        with late.reading() as after:
            assert both(after, counts) == ([1, 1, 0], [1, 1, 0])
            assert both(before, counts) == ([1, 0, 0], [1, 0, 0])
            assert both(after, counts) == ([1, 1, 0], [1, 1, 0])
