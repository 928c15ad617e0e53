"""A person says of a memory that was replaced that it holds: both do from then on, whatever is read again; on every engine."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve import reviewing
from tests.conformance.reasoning import LATER, ONE, TEXTS, TURNS, TWO, act, put, standing, statement, tell
from tests.conformance.states import rows
from tests.ledger.making import event

OLD, NEW = statement(TURNS[0]), statement(LATER[2])
BOTH = sorted([TEXTS[0], TEXTS[2]])


def supersede(ledger: Evidence, old: str, new: str, at: int = 1_002) -> bool:
    with ledger.writing() as database:
        return reasoned.supersede(database, old, new, at, sure=0.8)


def replaced(ledger: Evidence) -> list[tuple[object, ...]]:
    return rows(ledger, "SELECT id, superseded_by FROM memories WHERE superseded_by IS NOT NULL ORDER BY id")


def accept(ledger: Evidence, *ids: str, at: int = 9_000) -> None:
    """As the command does it."""
    with ledger.reading() as database:
        acts = reviewing.accepting(database, ids)
    for each in acts:
        tell(ledger, *act("accept", str(each["target"]), at, over=each["over"], stands=each["stands"]))


@pytest.fixture
def ended(told: Evidence) -> Evidence:
    """The older one is replaced by the newer."""
    put(told, ONE, [OLD])
    put(told, TWO, [NEW])
    assert supersede(told, OLD.id, NEW.id)
    return told


def test_both_hold_and_neither_is_found_to_replace_or_contradict_the_other_again(ended: Evidence) -> None:
    accept(ended, OLD.id)
    assert sorted(standing(ended)) == BOTH
    assert rows(ended, "SELECT valid_to, superseded_by FROM memories WHERE id = ?", (OLD.id,)) == [(None, None)]
    assert not supersede(ended, OLD.id, NEW.id)
    with ended.writing() as database:
        assert reasoned.contradict(database, OLD.id, NEW.id, "they differ", 2_000) == ""
    assert sorted(standing(ended)) == BOTH


def test_a_second_reading_in_other_words_changes_nothing_of_it(ended: Evidence) -> None:
    accept(ended, OLD.id)
    reworded = statement(LATER[2], "We moved to MySQL.")
    put(ended, TWO, [reworded], made_by="model:other/1")
    put(ended, ONE, [statement(TURNS[0], why="it is good")], made_by="model:other/1")
    assert not supersede(ended, OLD.id, reworded.id)
    assert sorted(standing(ended)) == sorted([TEXTS[0], "We moved to MySQL."])


def test_what_is_said_afterwards_may_end_it(ended: Evidence) -> None:
    accept(ended, OLD.id)
    after = event(session="s2", key="later", at=9_500, text="Now all of it is in Oracle.", cwd="/p")
    tell(ended, after)
    put(ended, TWO, [NEW, statement(after)])
    assert supersede(ended, OLD.id, statement(after).id, 9_500)
    assert replaced(ended) == [(OLD.id, statement(after).id)]


def test_rejecting_it_later_or_preferring_the_other_is_the_last_word(ended: Evidence) -> None:
    accept(ended, OLD.id)
    tell(ended, *act("accept", NEW.id, at=9_100, over=[OLD.id]))
    assert replaced(ended) == [(OLD.id, NEW.id)]
    accept(ended, OLD.id, at=9_200)
    assert replaced(ended) == []
    tell(ended, *act("reject", OLD.id, at=9_300))
    assert standing(ended) == [TEXTS[2]]


def test_the_order_in_which_acts_and_findings_arrive_does_not_matter(told: Evidence) -> None:
    tell(told, *act("accept", OLD.id, at=9_000, over=[], stands=True))
    put(told, TWO, [NEW])
    put(told, ONE, [OLD])
    assert not supersede(told, OLD.id, NEW.id)
    assert sorted(standing(told)) == BOTH


def test_what_a_person_corrected_stays_corrected(ended: Evidence) -> None:
    tell(ended, *act("correct", NEW.id, at=8_000, text="We moved to MariaDB."))
    with ended.reading() as database, pytest.raises(UsageError, match="was corrected by a person"):
        reviewing.accepting(database, [NEW.id])
    accept(ended, OLD.id)
    assert sorted(standing(ended)) == sorted([TEXTS[0], "We moved to MariaDB."])


def test_what_was_joined_or_is_held_back_is_not_to_be_accepted_so(told: Evidence) -> None:
    again = statement(LATER[0])
    put(told, ONE, [OLD])
    put(told, TWO, [again])
    with told.writing() as database:
        assert reasoned.supersede(database, OLD.id, again.id, 5_000, joined=True)
    with told.reading() as database, pytest.raises(UsageError, match="says the same as"):
        reviewing.accepting(database, [OLD.id])


def test_others_that_were_replaced_stay_so(ended: Evidence) -> None:
    other, newer = statement(TURNS[3]), statement(LATER[3], "The build needs ninja.")
    put(ended, ONE, [OLD, other])
    put(ended, TWO, [NEW, newer])
    assert supersede(ended, other.id, newer.id)
    accept(ended, OLD.id)
    assert replaced(ended) == [(other.id, newer.id)]
