"""Replies that were paid for are kept, and dreams can be taken back; on every engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hindbrain.ledger import reasoned, removal
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.reasoned import Call
from tests.conformance.reasoning import ONE, RULES, TEXTS, TURNS, TWO, act, put, standing, statement, tell
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger
from tests.ledger.making import event

CONTRADICTED = "SELECT memory_id, number, target_memory_id, created_at FROM links WHERE role = 'contradicts' ORDER BY 1, 2"
REPLY = Call("k1", 50, "openai", "small", "extract", "a reply\x00 \ud800", "p_x", 100, 20, 7, (ONE, TWO))


def test_a_reply_comes_back_from_its_event(ledger: Evidence) -> None:
    with ledger.writing() as database:
        assert reasoned.call(database, "k1") is None
        reasoned.put_call(database, REPLY)
        kept = reasoned.call(database, "k1")
        reasoned.note_produced(database, "k1", ["m_b", "m_a"])
    before = rows(ledger, "SELECT * FROM calls")
    tell(ledger, reasoned.call_event(REPLY))
    assert rows(ledger, "SELECT * FROM calls") == before
    assert kept == replace(REPLY, reply="a reply\ufffd \ufffd\ufffd\ufffd", sessions=tuple(sorted((ONE, TWO))))
    with ledger.reading() as database:
        assert reasoned.spent(database, 0) == reasoned.Spent(120, 7, 1)
        assert reasoned.spent(database, 0, "p_x", "extract") == reasoned.Spent(120, 7, 1)
        assert reasoned.spent(database, 51) == reasoned.spent(database, 0, "p_y") == reasoned.Spent(0, 0, 0)
        assert [each.produced for each in reasoned.calls(database)] == [("m_a", "m_b")]


def test_of_two_replies_to_one_question_the_same_stands_in_any_order(new_ledger: NewLedger) -> None:
    told = [reasoned.call_event(Call("k1", at, "openai", model, "extract", reply)) for at, model, reply in
            ((50, "small", "b"), (50, "small", "a"), (51, "tiny", "c"))]  # fmt: skip
    states = []
    for order in (told, told[::-1], told[1:] + told[:1]):
        ledger = new_ledger()
        for each in order:
            tell(ledger, each)
        states.append(rows(ledger, "SELECT at, model, reply FROM calls"))
    assert states == [[(50, "small", "a")]] * 3


def test_an_event_that_is_no_reply_is_kept_as_an_event(ledger: Evidence) -> None:
    odd: list[dict[str, Any]] = [
        {}, {"tokens": 3}, {"tokens": ["x", None], "sessions": "x"}, {"tokens": [1], "sessions": []}, {"sessions": [1, None]},
    ]
    tell(ledger, *(event(kind="call", session="", key=f"odd {number}", detail=detail) for number, detail in enumerate(odd)))
    assert rows(ledger, "SELECT count(*) FROM calls") == [(0,)]
    hostile = {"tokens": [-5, 1 << 80], "sessions": [1, None, "s_x", ["y"]], "cost": "much", "project": 7, "provider": []}
    tell(ledger, event(kind="call", session="", key="hostile", detail=hostile))
    with ledger.reading() as database:
        found = reasoned.call(database, "hostile")
    assert found is not None and (found.input_tokens, found.sessions, found.cost_micros) == (0, ("s_x",), 0)




def test_a_dream_can_be_taken_back(told: Evidence) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    put(told, ONE, [first, second, third])
    before = rows(told, "SELECT * FROM memories ORDER BY id"), rows(told, "SELECT memory_id, role FROM links ORDER BY 1, 2")
    with told.writing() as database:
        for each in (first, second, third):
            reasoned.note_change(database, "dream 1", each.id, at=5)
        reasoned.supersede(database, first.id, second.id, 800)
        reasoned.reinforce(database, second.id, third.id, 800)
        database.execute("UPDATE memories SET confidence = 0.1 WHERE id = ?", (third.id,))
        made = reasoned.put_insight(database, "insight", "it all fits", [second.id, third.id], "global", None, RULES, 600)
        reasoned.note_change(database, "dream 1", made, "", at=5)
        reasoned.note_change(database, "dream 1", third.id, at=6)
        assert reasoned.dreams(database) == [("dream 1", 5, 4)]
    with told.writing() as database:
        assert reasoned.undo(database, "dream 1", 900) == 4
        assert reasoned.undo(database, "dream 1", 900) == 0
        assert reasoned.dreams(database) == []
    after = rows(told, "SELECT * FROM memories ORDER BY id"), rows(told, "SELECT memory_id, role FROM links ORDER BY 1, 2")
    plain = [[[value for value in row if not (isinstance(value, str) and value.startswith("{"))] for row in table]
             for table in (*before, *after)]  # fmt: skip
    assert plain[:2] == plain[2:]


@pytest.mark.parametrize("way", ["replaced", "faded"])
def test_taking_a_dream_back_brings_back_the_contradictions_it_had_settled(told: Evidence, way: str) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    put(told, ONE, [first, second, third])
    with told.writing() as database:
        made = reasoned.contradict(database, first.id, second.id, f"“{TEXTS[0]}” / “{TEXTS[1]}”", 700)
    before = rows(told, f"SELECT * FROM memories WHERE id = '{made}'"), rows(told, CONTRADICTED)
    with told.writing() as database:
        reasoned.note_change(database, "dream 1", first.id, at=5)
        if way == "replaced":
            reasoned.supersede(database, first.id, third.id, 800)
        else:
            database.execute("UPDATE memories SET valid_to = 800 WHERE id = ?", (first.id,))
            removal.settle(database, [first.id])
    assert rows(told, CONTRADICTED) == []
    with told.writing() as database:
        assert reasoned.undo(database, "dream 1", 900) == 1
    assert (rows(told, f"SELECT * FROM memories WHERE id = '{made}'"), rows(told, CONTRADICTED)) == before
    assert is_sound(told)


def test_taking_a_dream_back_brings_no_contradiction_back_that_somebody_settled(told: Evidence) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    put(told, ONE, [first, second, third])
    with told.writing() as database:
        made = reasoned.contradict(database, first.id, second.id, "they differ", 700)
        reasoned.note_change(database, "dream 1", first.id)
        reasoned.note_change(database, "dream 2", third.id)
        reasoned.supersede(database, first.id, third.id, 800)
    tell(told, *act("reject", second.id, 9_100))
    with told.writing() as database:
        reasoned.undo(database, "dream 1", 900)
    assert rows(told, f"SELECT id FROM memories WHERE id = '{made}'") == []
    assert is_sound(told)


def test_taking_a_dream_back_leaves_what_people_decided_and_what_is_gone(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(TURNS[1])
    put(told, ONE, [first, second])
    with told.writing() as database:
        for each in (first, second):
            reasoned.note_change(database, "dream 1", each.id)
        reasoned.supersede(database, first.id, second.id, 800)
        made = reasoned.put_insight(database, "insight", "it all fits", [second.id], "global", None, RULES, 600)
        reasoned.note_change(database, "dream 1", made, "")
    tell(told, *act("pin", made))
    tell(told, *act("reject", first.id, 9_100))
    with told.writing() as database:
        reasoned.undo(database, "dream 1", 900)
    assert standing(told) == [TEXTS[1], "it all fits"]
    put(told, ONE, [])
    assert is_sound(told)
