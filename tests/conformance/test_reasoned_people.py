"""What people decide about what was found has the last word, whatever comes when; on every engine."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.capture.event import session_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.memories import memory_id
from hindbrain.ledger.reasoned import Call, Put, Reading
from hindbrain.ledger.statement import Statement
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, act, put, standing, statement, tell
from tests.conformance.states import is_sound, rows
from tests.ledger.making import event


def test_what_a_person_rejected_is_not_told_and_stays_rejected_when_it_is_found_again(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(TURNS[1])
    put(told, ONE, [first, second])
    tell(told, *act("reject", first.id))
    assert standing(told) == [TEXTS[1]]
    for found in ([first, second], [second], [first], [statement(TURNS[0], confidence=0.9)]):
        put(told, ONE, found)
        assert TEXTS[0] not in standing(told)
    put(told, TWO, [statement(LATER[0])])
    assert standing(told) == [], "the same words, said before it was rejected"
    tell(told, event(session="s3", key="again", at=20_000, text=TEXTS[0], cwd="/p"))
    said_anew = event(session="s3", key="again", at=20_000, text=TEXTS[0], cwd="/p")
    put(told, session_id("claude-code", "s3"), [statement(said_anew)])
    assert standing(told) == [TEXTS[0]], "said after it was rejected, it is another statement"


def test_what_a_person_accepted_is_sure_and_told(told: Evidence) -> None:
    found = statement(TURNS[0], quarantine="it looks like an order", trust="assistant", confidence=0.3)
    put(told, ONE, [found])
    assert standing(told) == []
    with told.reading() as database:
        assert [each.id for each in reasoned.review(database)] == [found.id]
    tell(told, *act("accept", found.id))
    assert standing(told) == [TEXTS[0]]
    assert rows(told, "SELECT held, confidence, trust FROM memories") == [("", 1.0, "user")]
    put(told, ONE, [found])
    put(told, ONE, [])
    assert rows(told, "SELECT held, confidence, trust FROM memories") == [("", 1.0, "user")]
    with told.reading() as database:
        assert reasoned.review(database) == []


def test_a_decision_that_is_forgotten_leaves_no_trace(told: Evidence) -> None:
    found = statement(TURNS[0], quarantine="it looks like an order", confidence=0.3)
    put(told, ONE, [found])
    before = rows(told, "SELECT * FROM memories")
    done = act("accept", found.id) + act("pin", found.id, 9_100)
    tell(told, *done)
    assert rows(told, "SELECT pinned FROM memories") == [(1,)]
    tell(told, forget_event([each.id for each in done], 9_999))
    assert rows(told, "SELECT * FROM memories") == before


@pytest.mark.parametrize("op", ["correct", "edit"])
def test_a_correction_takes_the_place_of_what_was_found(told: Evidence, op: str) -> None:
    found = statement(TURNS[0])
    put(told, ONE, [found])
    done = act(op, found.id, text="We use SQLite.")
    tell(told, *done)
    made = memory_id(done[1].id)
    assert standing(told) == ["We use SQLite."]
    assert rows(told, "SELECT superseded_by, valid_to FROM memories WHERE id = ?", (found.id,)) == [(made, 9_000)]
    put(told, ONE, [])
    put(told, ONE, [found])
    assert standing(told) == ["We use SQLite."]
    with told.writing() as database:
        assert not reasoned.supersede(database, made, found.id, 9_500), "that would be a circle"
    tell(told, forget_event([done[1].id, made, done[0].id], 9_999))
    assert standing(told) == [TEXTS[0]]
    assert is_sound(told)


def test_acts_may_come_before_what_they_are_about(ledger: Evidence) -> None:
    first, second, third = statement(TURNS[0]), statement(TURNS[1]), statement(TURNS[2], quarantine="odd")
    tell(ledger, *act("correct", first.id, text="We use SQLite."), *act("reject", second.id))
    tell(ledger, *act("accept", third.id), *act("pin", third.id))
    tell(ledger, PLACE, *TURNS)
    put(ledger, ONE, [third, second, first])
    assert standing(ledger) == [TEXTS[2], "We use SQLite."]
    wanted = [(first.id, "", 0), (second.id, "rejected", 0), (third.id, "", 1)]
    assert rows(ledger, "SELECT id, held, pinned FROM memories WHERE made_by = ? ORDER BY valid_from", (RULES,)) == wanted


def test_what_is_rejected_replaces_and_supports_nothing_any_more(told: Evidence) -> None:
    old, new, other = statement(TURNS[0]), statement(LATER[2]), statement(TURNS[3])
    put(told, ONE, [old, other])
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.put_insight(database, "insight", "it all fits", [new.id, other.id], "global", None, RULES, 600)
        assert reasoned.contradict(database, other.id, new.id, "they differ", 700)
        assert reasoned.supersede(database, old.id, new.id, 1_002)
    tell(told, *act("reject", new.id))
    assert standing(told) == [TEXTS[0], TEXTS[3]]
    assert rows(told, "SELECT level FROM memories WHERE level <> 'observation'") == []


def test_what_waits_for_a_person_replaces_nothing(told: Evidence) -> None:
    old, new = statement(TURNS[0]), statement(LATER[2], quarantine="an order from a page")
    put(told, ONE, [old])
    put(told, TWO, [new])
    with told.writing() as database:
        assert not reasoned.supersede(database, old.id, new.id, 1_002)
        assert not reasoned.reinforce(database, old.id, new.id, 1_002)
        assert reasoned.contradict(database, old.id, new.id, "they differ", 1_002) == ""
        assert reasoned.put_insight(database, "insight", "x", [old.id, new.id], "global", None, RULES, 600) == ""


def test_what_is_found_to_be_odd_later_replaces_and_supports_nothing_any_more(told: Evidence) -> None:
    old, new, other = statement(TURNS[0]), statement(LATER[2]), statement(TURNS[3])
    put(told, ONE, [old, other])
    put(told, TWO, [new])
    with told.writing() as database:
        assert reasoned.put_insight(database, "insight", "it all fits", [new.id, other.id], "global", None, RULES, 600)
        assert reasoned.contradict(database, other.id, new.id, "they differ", 700)
        assert reasoned.supersede(database, old.id, new.id, 1_002)
    put(told, TWO, [statement(LATER[2], quarantine="an order from a page")], "model:better/1")
    assert standing(told) == [TEXTS[0], TEXTS[3]]
    assert rows(told, "SELECT level FROM memories WHERE level <> 'observation'") == []
    put(told, TWO, [new])
    assert standing(told) == [TEXTS[3], TEXTS[2]], "found to be in order, it replaces again what it replaced"


def test_of_two_that_contradict_each_other_the_accepted_one_holds(told: Evidence) -> None:
    first, second, third = (statement(turn) for turn in TURNS[:3])
    put(told, ONE, [first, second, third])
    with told.writing() as database:  # the third stands in the place of the first, through the second
        assert reasoned.supersede(database, first.id, second.id, 500) and reasoned.supersede(database, second.id, third.id, 600)
    done = act("accept", first.id, over=[third.id])
    tell(told, *done)
    assert rows(told, "SELECT superseded_by FROM memories WHERE id = ?", (third.id,)) == [(first.id,)]
    with told.writing() as database:
        assert not reasoned.supersede(database, first.id, third.id, 9_500)
    assert is_sound(told), "no circle"
    put(told, ONE, [second, first, third])
    assert rows(told, "SELECT superseded_by FROM memories WHERE id = ?", (third.id,)) == [(first.id,)]
    tell(told, forget_event([each.id for each in done], 9_999))
    assert rows(told, "SELECT superseded_by FROM memories WHERE id = ?", (third.id,)) == [(None,)]
    assert is_sound(told)


def test_an_insight_that_a_person_pinned_falls_back_on_the_turns(told: Evidence) -> None:
    found = [statement(turn) for turn in TURNS[:2]]
    put(told, ONE, found)
    with told.writing() as database:
        made = reasoned.put_insight(database, "insight", "it all fits", [each.id for each in found], "global", None, RULES, 600)
    tell(told, *act("pin", made))
    put(told, ONE, [])
    with told.reading() as database:
        assert {each.turn_id for each in reasoned.why(database, made).grounds()} == {TURNS[0].id, TURNS[1].id}
    tell(told, forget_event([TURNS[1].id], 99_999))
    assert rows(told, "SELECT count(*) FROM memories") == [(0,)]
    assert is_sound(told)




def test_nothing_of_a_forgotten_session_stays(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(LATER[1])
    put(told, ONE, [first])
    put(told, TWO, [second])
    with told.writing() as database:
        reasoned.put_digest(database, ONE, "short of one", "long of one", RULES, 700)
        kept = reasoned.put_digest(database, TWO, "short of two", "long of two", RULES, 700)
        reasoned.put_insight(database, "insight", "it all fits", [first.id, second.id], "global", None, RULES, 600)
        reasoned.contradict(database, first.id, second.id, "they differ", 700)
        reasoned.set_reading(database, Reading(ONE, 4, RULES, 5))
        reasoned.note_change(database, "nap", first.id)
        reasoned.put_call(database, Call("k1", 50, "openai", "small", "extract", "reply about one", sessions=(ONE,)))
        reasoned.put_call(database, Call("k2", 50, "openai", "small", "reflect", "reply about both", sessions=(TWO, ONE)))
        reasoned.put_call(database, Call("k3", 50, "openai", "small", "extract", "reply about two", sessions=(TWO,)))
    tell(told, forget_event([ONE], 99_999))
    assert rows(told, "SELECT id FROM memories ORDER BY id") == sorted((each,) for each in (*kept, second.id))
    assert rows(told, "SELECT reply FROM calls") == [("reply about two",)]
    assert (rows(told, "SELECT * FROM readings"), rows(told, "SELECT * FROM changes")) == ([], [])
    assert put(told, ONE, [first]) == Put()
    with told.writing() as database:  # a model that was asked before, and answers only now
        reasoned.put_call(database, Call("k4", 99_998, "openai", "small", "extract", "late", sessions=(ONE,)))
    for key in ("k1", "k2"):
        tell(told, reasoned.call_event(Call(key, 50, "openai", "small", "extract", "again", sessions=(ONE,))))
    assert rows(told, "SELECT key FROM calls") == [("k3",)]
    assert is_sound(told)


def test_forgetting_one_turn_takes_the_digests_of_its_session_and_the_replies_along(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(TURNS[1], turns=(TURNS[1].id, TURNS[3].id))
    put(told, ONE, [first, second])
    with told.writing() as database:
        reasoned.put_digest(database, ONE, "short", "long", RULES, 700)
        reasoned.put_call(database, Call("k1", 50, "openai", "small", "extract", "reply", sessions=(ONE,)))
    tell(told, forget_event([TURNS[3].id], 99_999))
    assert rows(told, "SELECT id FROM memories") == [(first.id,)]
    tell(told, reasoned.call_event(Call("k1", 50, "openai", "small", "extract", "reply", sessions=(ONE,))))
    assert rows(told, "SELECT count(*) FROM calls") == [(0,)], "it does not come back from the journal"
    assert put(told, ONE, [first, second]) == Put()


def test_a_memory_that_was_forgotten_does_not_come_back(told: Evidence) -> None:
    found = statement(TURNS[0])
    put(told, ONE, [found])
    tell(told, forget_event([found.id], 99_999))
    assert put(told, ONE, [found]) == Put()
    assert rows(told, "SELECT count(*) FROM memories") == [(0,)]


def test_an_insight_that_lost_its_supports_stands_on_turns_when_its_preference_is_taken_back(told: Evidence) -> None:
    first, second = statement(TURNS[0]), statement(TURNS[1])
    put(told, ONE, [first, second])
    with told.writing() as database:
        made = reasoned.put_insight(database, "insight", "Storage is settled.", [first.id], "global", None, RULES, 600)
    done = act("accept", made, over=[second.id])
    tell(told, *done, *act("pin", made, 9_100))
    assert standing(told) == [TEXTS[0], "Storage is settled."]
    put(told, ONE, [second])
    assert standing(told) == ["Storage is settled."]
    tell(told, forget_event([done[0].id], 9_999))  # what it replaced was no evidence of it
    assert standing(told) == [TEXTS[1], "Storage is settled."]
    links = "SELECT role, turn_id, target_memory_id FROM links WHERE memory_id = ?"
    assert rows(told, links, (made,)) == [("derived_from", TURNS[0].id, None)]
    assert is_sound(told)


def test_what_is_held_before_a_session_is_read_changes_nothing_else_and_keeps_what_a_person_decided(told: Evidence) -> None:
    found, odd, gone = statement(TURNS[0]), statement(TURNS[1], quarantine="an order"), statement(TURNS[2], quarantine="an order")
    put(told, ONE, [found], "model:better/1")
    tell(told, forget_event([gone.id], 9_000))
    state = "SELECT text, held, made_by FROM memories WHERE level = 'observation' ORDER BY valid_from"
    kept = (found.text, "", "model:better/1")

    def hold(session: str, *statements: Statement) -> list[Any]:
        with told.writing() as database:
            reasoned.hold(database, session, statements, RULES, 5_000)
        return rows(told, state)

    assert hold("s_none", odd) == [kept]
    assert hold(ONE, statement(TURNS[3]), gone, statement(LATER[0], quarantine="of another session")) == [kept]
    assert hold(ONE, odd, odd) == hold(ONE, odd) == [kept, (odd.text, "quarantine", RULES)]
    tell(told, *act("reject", odd.id))
    assert hold(ONE, odd) == [kept, (odd.text, "rejected", RULES)]
    put(told, ONE, [found, odd])
    assert [row[1] for row in rows(told, state)] == ["", "rejected"]
    assert is_sound(told)
