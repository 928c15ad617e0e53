"""What was told under ids of two versions is stored once, under the older id, whichever came first; on both engines."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from itertools import permutations

import pytest

from hindbrain.capture.event import Event, Source, session_id
from hindbrain.ledger import versions
from hindbrain.ledger.calls import Call, call_event
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.ledger.store import Ledger
from tests.conformance.states import everything, is_sound, rows
from tests.engines import NewLedger
from tests.ledger.making import batch, event, record

FIRST = session_id("claude-code", "s1")
LATER = "SELECT id FROM turns ORDER BY at, id"


def old(given: Event) -> Event:
    return replace(given, version=1)


def said(number: int, **more: object) -> Event:
    return event(key=f"k{number}", at=number, text=f"saying {number}", **more)


def tell(ledger: Evidence, *events: Event, start: int = 0) -> None:
    ledger.ingest(batch(*(record(start + 10 * number, each) for number, each in enumerate(events))))


def ids(ledger: Evidence) -> list[str]:
    return [row[0] for row in rows(ledger, LATER)]


def test_a_session_told_half_by_each_version_has_every_turn_once(ledger: Evidence) -> None:
    every = [said(number) for number in range(20)]
    tell(ledger, *(old(each) for each in every[:12]))  # hooks of the older program
    lines = [replace(each, origin="transcript", source=Source("/t", each.at, each.at + 1)) for each in every]
    tell(ledger, *lines[6:], start=1000)  # the newer one reads the transcript from somewhere
    assert ids(ledger) == [old(each).id for each in every[:12]] + [each.id for each in every[12:]]
    found = ledger.turns_of(FIRST)
    assert [turn.text for turn in found] == [each.text for each in every]
    assert [turn.origins for turn in found][5:13] == [{"hook"}, *[{"hook", "transcript"}] * 6, {"transcript"}]
    assert is_sound(ledger)


def test_reading_it_all_again_adds_nothing(ledger: Evidence) -> None:
    every = [*(said(number) for number in range(5)), event(kind="session_end", key="end", at=9)]
    tell(ledger, *(old(each) for each in every))
    again = ledger.ingest(batch(*(record(1000 + 10 * number, each) for number, each in enumerate(every))))
    assert (again.turns_new, again.events_new, again.merged, again.duplicates) == (0, 0, 0, 6)


@pytest.mark.parametrize("apart", [False, True], ids=["in one batch", "in batches"])
def test_the_order_of_versions_changes_nothing(new_ledger: NewLedger, apart: bool) -> None:
    turn, beside = said(5), [said(5, role="assistant"), said(4), said(6)]  # one of the same moment: ids say which comes first
    end = event(kind="session_end", key="end", at=9)
    kept = memory_event("remember", agent="hindbrain", session="", at=20, text="kept", detail={
        "turn": turn.id, "kind": "fact", "scope": "global"})  # fmt: skip
    lines = [record(0, old(turn), old(end)), record(10, turn, end, *beside), record(20, kept)]
    states = []
    for order in permutations(lines):
        ledger = new_ledger()
        for part in [[each] for each in order] if apart else [order]:
            ledger.ingest(Batch(list(part), [], {}))
        assert is_sound(ledger)
        states.append(everything(ledger))
    assert all(each == states[0] for each in states)
    assert {old(turn).id, *(each.id for each in beside)} == set(ids(ledger))
    assert states[0]["links"][0][3] == old(turn).id
    assert states[0]["memories"][0][0] == memory_id(kept.id)


def test_what_an_agent_was_told_stays_told_when_the_older_id_comes(ledger: Evidence) -> None:
    tell(ledger, said(1))
    ledger.note_injections(FIRST, [said(1).id], 5)
    tell(ledger, old(said(1)), start=100)
    assert rows(ledger, "SELECT item_id FROM injections") == [(old(said(1)).id,)]


def test_a_wish_of_the_first_version_means_the_event_whatever_it_is_called(new_ledger: NewLedger) -> None:
    turn, stays = said(1), said(2)
    wish = old(forget_event([old(turn).id], 50))
    states = []
    for order in permutations([record(0, turn, stays), record(10, wish), record(20, replace(turn, origin="transcript"))]):
        ledger = new_ledger()
        for part in order:
            ledger.ingest(Batch([part], [], {}))
        assert ids(ledger) == [stays.id]
        assert is_sound(ledger)
        states.append(everything(ledger))
    assert all(each["forgotten"] == [(old(turn).id, 50)] for each in states)
    assert all(each == states[0] for each in states)


def test_neighbours_of_the_same_moment_follow_the_id_that_stands(new_ledger: NewLedger) -> None:
    talk = [event(key=f"k{number}", at=5, text=f"saying {number}") for number in range(8)]
    late, straight = new_ledger(), new_ledger()
    tell(late, *talk)
    tell(late, *(old(each) for each in talk[:4]), start=100)
    tell(straight, *(old(each) for each in talk[:4]), start=100)
    tell(straight, *talk)
    assert everything(late) == everything(straight)
    assert is_sound(late)


def test_a_newer_wish_that_names_a_first_id_turns_the_newest_away(ledger: Evidence) -> None:
    tell(ledger, forget_event([old(said(1)).id], 50))
    tell(ledger, said(1), said(2), start=100)
    assert ids(ledger) == [said(2).id]
    assert ledger.meta(versions.HELD) == ""


def test_a_wish_that_names_a_newest_id_turns_the_first_away(ledger: Evidence) -> None:
    tell(ledger, forget_event([said(1).id], 50))
    tell(ledger, old(said(1)), old(said(2)), start=100)
    assert ids(ledger) == [old(said(2)).id]


def test_an_event_is_found_by_the_id_the_newest_version_gives_it(ledger: Evidence) -> None:
    end = event(kind="session_end", key="end", at=9)
    tell(ledger, *(old(said(number)) for number in range(3)), said(3), old(end))
    with ledger.reading() as connection:
        assert versions.stored_as_first(connection, [said(1).id, end.id]) == [old(said(1)).id, old(end).id]
        odd = ["e_", "", "e_12345678", "m_" + said(1).id[2:], "e_\ud800" + "0" * 23, "e_" + "%" * 24, said(1).id + "0"]
        assert versions.stored_as_first(connection, [said(3).id, said(9).id, old(said(1)).id, *odd]) == []
        assert versions.every_id(connection, [old(said(1)).id, said(3).id, "m_1"]) == {
            *said(1).ids, *said(3).ids, "m_1"}  # fmt: skip
        assert versions.stored_as_newest(connection, [old(said(3)).id, old(said(1)).id, "s_1"]) == [said(3).id]


def test_a_reply_that_was_paid_for_does_not_make_a_ledger_one_of_the_first_version(ledger: Evidence) -> None:
    reply = call_event(Call("k", 1, "p", "m", "extract", "a reply"))
    tell(ledger, reply, said(1))
    assert rows(ledger, "SELECT id FROM calls") == [(reply.id,)] == [("e_382eba767596aae7296696d3",)]  # for ever
    assert ledger.meta(versions.HELD) == ""
    tell(ledger, old(said(2)), start=100)
    assert ledger.meta(versions.HELD) == "yes"


def traced(ledger: Ledger, *events: Event, start: int) -> list[str]:
    run: list[str] = []
    ledger.connection.set_trace_callback(run.append)
    tell(ledger, *events, start=start)
    ledger.connection.set_trace_callback(None)
    return [" ".join(each.split()) for each in run if not each.startswith("--")]


def test_a_ledger_without_the_first_version_asks_nothing_more(engine_file: Ledger) -> None:
    many = [said(number) for number in range(100, 200)]
    tell(engine_file, said(0))
    fresh = traced(engine_file, *(replace(each, session="s2") for each in many), start=1000)
    tell(engine_file, old(said(1)), start=3000)
    held = traced(engine_file, *(replace(each, session="s3") for each in many), start=5000)
    more = [each for each in held if each.startswith("SELECT id FROM turns WHERE id IN") and "UNION ALL" in each]
    assert len(more) == 1, "one question a batch, not one an event"
    assert len(held) == len(fresh) + 1
    assert not any("UNION ALL SELECT id FROM events" in each for each in fresh)


@pytest.fixture
def engine_file(new_ledger: NewLedger) -> Ledger:
    """A ledger whose statements can be counted."""
    ledger = new_ledger()
    if not isinstance(ledger, Ledger) or not isinstance(ledger.connection, sqlite3.Connection):
        pytest.skip("statements are counted on SQLite; the text is the same for both")
    return ledger
