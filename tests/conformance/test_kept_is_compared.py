"""What a person keeps or decides is compared with what stands, as what was found is: queued with the act, on every engine."""

from __future__ import annotations

from hindbrain.base.clock import SystemClock
from hindbrain.capture.event import Event
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event
from hindbrain.reason import telling
from hindbrain.serve.following import following
from tests.conformance.reasoning import LATER, ONE, PLACE, TURNS, act, put, statement
from tests.conformance.states import rows
from tests.ledger.making import event, record


def take_in(ledger: Evidence, *events: Event) -> None:
    ledger.ingest(Batch([record(0, each) for each in events], [], {}), following(ledger, SystemClock()))


def kept(text: str, at: int, scope: str = "project") -> list[Event]:
    said = event(agent="hindbrain", session="kept", key=f"keep {at}", at=at, text=text, cwd="/p")
    detail = {"turn": said.id, "kind": "instruction", "scope": scope}
    return [said, memory_event("remember", agent="hindbrain", session="kept", at=at, text=text, detail=detail)]


def to_compare(ledger: Evidence) -> list[str]:
    query = "SELECT key FROM jobs WHERE kind = ? AND state = 'waiting' ORDER BY key"
    projects = {row[0]: "project" for row in rows(ledger, "SELECT id FROM projects")}
    return [projects.get(row[0], row[0]) for row in rows(ledger, query, (telling.REFLECT,))]


def test_what_is_kept_is_to_be_compared_once_however_often_it_is_told(ledger: Evidence) -> None:
    first, second = kept("always squash merge", 7_000), kept("never squash merge", 8_000)
    take_in(ledger, PLACE, *first)
    assert to_compare(ledger) == ["project"]
    take_in(ledger, *first)
    take_in(ledger, *second)
    assert to_compare(ledger) == ["project"]


def test_what_holds_everywhere_is_compared_with_what_holds_everywhere(ledger: Evidence) -> None:
    take_in(ledger, PLACE, *kept("answer in short sentences", 7_000, "global"))
    assert to_compare(ledger) == [telling.GLOBAL]


def test_turns_alone_and_what_was_compared_already_ask_for_nothing(ledger: Evidence) -> None:
    take_in(ledger, PLACE, *TURNS)
    assert to_compare(ledger) == []
    found = statement(TURNS[0])
    put(ledger, ONE, [found])
    with ledger.writing() as database:
        reasoned.mark_reflected(database, [found.id])
    take_in(ledger, *act("pin", found.id))
    take_in(ledger, *LATER)
    assert to_compare(ledger) == []


def test_what_was_quarantined_is_compared_once_it_is_accepted_and_not_before(ledger: Evidence) -> None:
    take_in(ledger, PLACE, *TURNS)
    held = statement(TURNS[0], quarantine="an order")
    put(ledger, ONE, [held])
    take_in(ledger, *act("pin", held.id, at=8_000))
    assert to_compare(ledger) == []
    take_in(ledger, *act("accept", held.id))
    assert to_compare(ledger) == ["project"]


def test_what_is_rejected_lets_what_it_replaced_be_compared_again(ledger: Evidence) -> None:
    take_in(ledger, PLACE, *TURNS)
    old, new = statement(TURNS[0]), statement(TURNS[2])
    put(ledger, ONE, [old, new])
    with ledger.writing() as database:
        assert reasoned.supersede(database, old.id, new.id, 300)
        reasoned.mark_reflected(database, [old.id, new.id])
    take_in(ledger, *act("reject", new.id))
    assert to_compare(ledger) == ["project"]
