"""What every ledger does besides taking in: notes, cursors, places of several machines, transactions."""

from __future__ import annotations

import random
import string

import pytest

from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import session_id
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from tests.conformance.states import everything, rows
from tests.engines import Engine, NewLedger
from tests.ledger.making import batch, cursor_event, event, place_event, record

FIRST = session_id("claude-code", "s1")


def test_a_note_is_kept_until_it_is_replaced(ledger: Evidence) -> None:
    assert ledger.meta("colour") == ""
    ledger.set_meta("colour", "blue")
    ledger.set_meta("colour", "naïve ☂ 100 % ? :x 'quoted'")
    assert ledger.meta("colour") == "naïve ☂ 100 % ? :x 'quoted'"


def test_what_a_session_was_told_is_noted_once(ledger: Evidence) -> None:
    ledger.note_injections("s", ["a", "b"], 5)
    ledger.note_injections("s", ["b", "c"], 9)
    ledger.note_injections("other", ["a"], 9)
    wanted = [("other", "a", 9), ("s", "a", 5), ("s", "b", 5), ("s", "c", 9)]
    assert rows(ledger, "SELECT session_id, item_id, at FROM injections ORDER BY 1, 2") == wanted


def test_cursors_are_chosen_by_their_beginning_literally(ledger: Evidence) -> None:
    for number, source in enumerate(["transcript:/a%", "transcript:/ab", "transcript:/a_", "other"]):
        ledger.ingest(batch(record(10 * number, cursor_event(source, number, at=1))))
    assert list(ledger.cursors("transcript:/a%")) == ["transcript:/a%"]
    assert list(ledger.cursors("transcript:")) == ["transcript:/a%", "transcript:/a_", "transcript:/ab"]
    assert len(ledger.cursors()) == 4


def test_text_is_ordered_by_its_bytes(ledger: Evidence) -> None:
    sources = ["b", "a", "B", "ä", "_", "日", "Z", "\U0001f40d", "\uff5e"]
    for number, source in enumerate(sources):
        ledger.ingest(batch(record(10 * number, cursor_event(source, 1, at=1))))
    assert list(ledger.cursors()) == sorted(sources, key=str.encode)


def test_the_same_folder_on_two_machines_is_two_places(ledger: Evidence) -> None:
    ledger.ingest(Batch([record(0, event(session="s1", key="a", cwd="/p"), place_event("/p", "git:h/one", 5))], [], {}, "m1"))
    ledger.ingest(Batch([record(10, event(session="s2", key="b", cwd="/p"), place_event("/p", "git:h/two", 4))], [], {}, "m2"))
    ledger.ingest(Batch([record(20, event(session="s3", key="c", cwd="/p"))], [], {}, "m3"))
    query = """
        SELECT client_id, machine, (SELECT identity FROM projects WHERE projects.id = sessions.project_id)
        FROM sessions ORDER BY client_id
    """
    assert rows(ledger, query) == [("s1", "m1", "git:h/one"), ("s2", "m2", "git:h/two"), ("s3", "m3", None)]
    ledger.ingest(Batch([record(30, place_event("/p", "git:h/three", 9))], [], {}, "m2"))
    assert rows(ledger, query) == [("s1", "m1", "git:h/one"), ("s2", "m2", "git:h/three"), ("s3", "m3", None)]
    assert rows(ledger, "SELECT machine, cwd, identity FROM places ORDER BY machine") == [
        ("m1", "/p", "git:h/one"), ("m2", "/p", "git:h/three"),
    ]  # fmt: skip


def test_a_block_that_fails_leaves_nothing(ledger: Evidence) -> None:
    for transaction in (ledger.writing, ledger.transaction):
        with pytest.raises(ZeroDivisionError), transaction() as database:
            database.execute("INSERT INTO meta (key, value) VALUES (?, ?)", ("half", "done"))
            raise ZeroDivisionError
        assert ledger.meta("half") == ""
    ledger.set_meta("half", "whole")
    assert ledger.meta("half") == "whole"


def test_a_statement_that_fails_is_an_error_of_ours_and_the_ledger_goes_on(ledger: Evidence) -> None:
    for transaction in (ledger.reading, ledger.writing, ledger.transaction):
        with pytest.raises(LedgerError), transaction() as database:
            database.execute("SELECT nothing FROM nowhere")
    ledger.set_meta("a", "b")
    assert ledger.meta("a") == "b"


def test_reading_inside_a_transaction_sees_what_it_wrote(ledger: Evidence) -> None:
    with ledger.writing() as database:
        database.execute("INSERT INTO meta (key, value) VALUES ('a', 'b')")
        assert ledger.meta("a") == "b"
        with pytest.raises(LedgerError), ledger.writing():
            pass


def test_a_reader_sees_one_moment(engine: Engine) -> None:
    reader, writer = engine.open(), engine.open()
    with reader.reading():
        assert reader.meta("a") == ""
        writer.set_meta("a", "b")
        assert reader.meta("a") == ""
    assert reader.meta("a") == "b"


def test_what_was_stored_is_there_when_it_is_opened_again(engine: Engine) -> None:
    first = engine.open()
    first.ingest(batch(record(0, event(cwd="/p"), place_event("/p", "path:/p", 1)), x=10))
    before = everything(first)
    first.close()
    assert everything(engine.open()) == before
    assert everything(engine.open(read_only=True)) == before


def test_a_ledger_opened_for_reading_takes_no_writes(engine: Engine) -> None:
    engine.open().close()
    reader = engine.open(read_only=True)
    with pytest.raises(LedgerError):
        reader.set_meta("a", "b")
    assert reader.meta("a") == ""


LONG = "/" + "".join(random.Random(5).choices(string.printable, k=20_000))


def test_no_text_is_too_long_for_a_key(new_ledger: NewLedger) -> None:
    """Random text: nothing can make it small enough for an index entry."""
    ledger = new_ledger()
    first = event(key="a", session=LONG, cwd=LONG, detail={"file": LONG, "model": LONG, "transcript_path": LONG})
    lines = [
        record(0, first, meta={"r": f"{LONG.replace(',', '')}:2"}), record(10, place_event(LONG, f"git:{LONG}", 5)),
        record(20, cursor_event(f"transcript:{LONG}", 5, at=3)), record(30, forget_event([LONG, "e_none"], 9)),
        record(40, event(key="b", session=LONG + "b", cwd=LONG + "b", tool=LONG, text=LONG)),
        record(50, place_event(LONG + "b", f"git:{LONG}b", 5)), record(60, cursor_event(f"transcript:{LONG}b", 7, at=3)),
    ]  # fmt: skip
    ledger.ingest(batch(*lines))
    before = everything(ledger)
    assert (len(before["sessions"]), ledger.counts().projects, len(before["cursors"])) == (2, 2, 2)
    assert all(each.project_id for each in before["sessions"])
    assert ledger.place(LONG + "b") is not None
    ledger.ingest(batch(*lines))
    assert everything(ledger) == before
    ledger.ingest(batch(record(70, place_event(LONG, "path:/short", 8)), record(80, cursor_event(f"transcript:{LONG}", 9, at=4))))
    found = ledger.place(LONG)
    assert found is not None and found[0] == "path:/short"
    assert ledger.cursor(f"transcript:{LONG}") == {"offset": 9}


@pytest.mark.parametrize("number", [0, 1, 2**15, 2**31, 2**53 + 1, 2**63 - 1])
def test_whole_numbers_keep_their_value(ledger: Evidence, number: int) -> None:
    ledger.ingest(batch(record(0, event(at=number)), x=number))
    (turn,) = ledger.turns_of(FIRST)
    assert turn.at == number
    assert ledger.cursor("segment:x") == number
