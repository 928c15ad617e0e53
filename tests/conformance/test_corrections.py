"""A correction is of what a statement says, wherever that was said before: nobody is told both; on every engine."""

from __future__ import annotations

import itertools

import pytest

from hindbrain.capture.event import Event, session_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.memories import memory_id
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, act, put, standing, statement, tell
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger

BETTER = "We use SQLite."
OLD, TWIN, OTHER = statement(TURNS[0]), statement(LATER[0]), statement(TURNS[3])


def said_in(ledger: Evidence, name: str, at: int, text: str = TEXTS[0]) -> reasoned.Statement:
    """What a session said, taken in and found."""
    turn = Event(
        kind="turn", agent="claude-code", session=name, at=at, key=name, origin="hook", role="user", text=text, cwd="/p"
    )
    tell(ledger, turn)
    found = statement(turn)
    put(ledger, session_id("claude-code", name), [found])
    return found


def insight(ledger: Evidence, supports: list[reasoned.Statement], at: int, text: str = TEXTS[0]) -> str:
    project = rows(ledger, "SELECT id FROM projects")[0][0]
    with ledger.writing() as database:
        named = [each.id for each in supports]
        return reasoned.put_insight(database, "decision", text, named, "project", project, RULES, at)


@pytest.mark.parametrize("op", ["correct", "edit"])
def test_what_was_said_before_in_the_same_words_is_corrected_too(told: Evidence, op: str) -> None:
    put(told, ONE, [OLD, OTHER])
    put(told, TWO, [TWIN])
    done = act(op, OLD.id, text=BETTER)
    tell(told, *done)
    made = memory_id(done[1].id)
    assert standing(told) == [TEXTS[3], BETTER]
    assert rows(told, "SELECT superseded_by, valid_to FROM memories WHERE id = ?", (TWIN.id,)) == [(made, 9_000)]
    for session, found in ((TWO, []), (TWO, [TWIN]), (ONE, [OTHER]), (ONE, [OLD, OTHER])):
        put(told, session, found)
        assert standing(told) == [TEXTS[3], BETTER], "reading a session again takes no correction back"
    said_in(told, "s3", 20_000)
    assert standing(told) == [TEXTS[3], BETTER, TEXTS[0]], "said after it was corrected, it is another statement"
    tell(told, forget_event([done[1].id, made, done[0].id], 9_999))
    assert standing(told) == [TEXTS[0], TEXTS[3], TEXTS[0], TEXTS[0]]
    assert is_sound(told)


def test_an_insight_gives_way_with_what_it_rests_on(told: Evidence) -> None:
    put(told, ONE, [OLD, OTHER])
    put(told, TWO, [TWIN])
    direct = insight(told, [TWIN, OTHER], 600, "Storage is settled.")
    apart = insight(told, [OTHER], 600, "Builds are settled.")
    with told.writing() as database:
        above = reasoned.put_insight(database, "insight", "all is settled", [direct, apart], "global", None, RULES, 700)
    tell(told, *act("correct", OLD.id, text=BETTER))
    assert standing(told) == [TEXTS[3], "Builds are settled.", BETTER]
    assert rows(told, "SELECT superseded_by IS NULL FROM memories WHERE id = ?", (above,))[0][0] in (0, False)
    assert is_sound(told)


def test_whoever_corrects_an_insight_corrects_what_it_was_made_of(told: Evidence) -> None:
    put(told, ONE, [OLD, OTHER])
    put(told, TWO, [TWIN])
    third = said_in(told, "s3", 3_000, "Storage is Postgres, as ever.")
    made = insight(told, [OLD, TWIN, third], 4_000)
    tell(told, *act("correct", made, text=BETTER))
    assert standing(told) == [TEXTS[3], BETTER]
    assert is_sound(told)


def test_what_is_said_anew_in_several_sessions_is_an_insight_anew(told: Evidence) -> None:
    put(told, ONE, [OLD])
    put(told, TWO, [TWIN])
    insight(told, [OLD, TWIN], 4_000)
    tell(told, *act("correct", OLD.id, text=BETTER))
    assert standing(told) == [BETTER]
    anew = [said_in(told, f"anew{number}", 20_000 + number) for number in range(3)]
    assert insight(told, anew, 30_000)
    assert standing(told) == [BETTER, *[TEXTS[0]] * 4]
    tell(told, *act("pin", OTHER.id))  # all acts are weighed once more
    assert standing(told) == [BETTER, *[TEXTS[0]] * 4]
    assert is_sound(told)


def test_what_was_accepted_after_the_correction_stands(told: Evidence) -> None:
    put(told, ONE, [OLD])
    put(told, TWO, [TWIN])
    tell(told, *act("correct", OLD.id, text=BETTER))
    tell(told, *act("accept", TWIN.id, 9_100))
    assert standing(told) == [TEXTS[0], BETTER]
    assert is_sound(told)


def test_a_later_correction_of_the_twin_itself_counts_for_it(told: Evidence) -> None:
    put(told, ONE, [OLD])
    put(told, TWO, [TWIN])
    first, second = act("correct", OLD.id, text=BETTER), act("correct", TWIN.id, 9_100, text="We use MySQL.")
    tell(told, *second, *first)
    wanted = [(OLD.id, memory_id(first[1].id)), (TWIN.id, memory_id(second[1].id))]
    assert rows(told, "SELECT id, superseded_by FROM memories WHERE made_by = ? ORDER BY valid_from", (RULES,)) == wanted


def test_the_words_of_a_forgotten_statement_are_corrected_no_longer(told: Evidence) -> None:
    put(told, ONE, [OLD])
    put(told, TWO, [TWIN])
    tell(told, *act("correct", OLD.id, text=BETTER))
    tell(told, forget_event([OLD.id], 9_999))
    assert standing(told) == [TEXTS[0], BETTER], "nobody knows any more what was corrected, as after a rebuild"
    assert is_sound(told)


def test_a_correction_and_what_it_is_about_may_come_in_any_order(new_ledger: NewLedger) -> None:
    done = act("correct", OLD.id, text=BETTER)
    states = set[str]()
    for order in itertools.permutations(("old", "twin", "done")):
        ledger = new_ledger()
        tell(ledger, PLACE, *TURNS, *LATER)
        for step in order:
            if step == "done":
                tell(ledger, *done)
            else:
                put(ledger, *((ONE, [OLD]) if step == "old" else (TWO, [TWIN])))
        kept = rows(ledger, "SELECT id, superseded_by, valid_to, detail FROM memories ORDER BY id")
        states.add(repr((kept, rows(ledger, "SELECT memory_id, role, target_memory_id FROM links ORDER BY 1, 2, 3"))))
        assert standing(ledger) == [BETTER]
    assert len(states) == 1
