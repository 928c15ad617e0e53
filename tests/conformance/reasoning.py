"""Two sessions of a project, statements found in them, and what people do to these: for the tests of what reasoning keeps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hindbrain.capture.event import Event, Json, session_id
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event
from hindbrain.ledger.reasoned import Put, Statement
from tests.conformance.states import rows
from tests.ledger.making import event, place_event, record

RULES = "rules/1"
TEXTS = ("We use Postgres for storage.", "Never push to main.", "Actually we moved to MySQL.", "The build needs make.")
TURNS = [event(session="s1", key=f"t{number}", at=100 * (number + 1), text=text, cwd="/p") for number, text in enumerate(TEXTS)]
LATER = [event(session="s2", key=f"u{number}", at=1_000 + number, text=text, cwd="/p") for number, text in enumerate(TEXTS)]
ONE, TWO = session_id("claude-code", "s1"), session_id("claude-code", "s2")
PLACE = place_event("/p", "git:h/p", 3)


def tell(ledger: Evidence, *events: Event) -> None:
    ledger.ingest(Batch([record(0, each) for each in events], [], {}))


def statement(turn: Event, text: str = "", **fields: Any) -> Statement:
    given: dict[str, Any] = {"kind": "decision", "text": text or turn.text, "turns": (turn.id,), "quote": turn.text}
    return Statement(**(given | {"confidence": 0.8} | fields))


def put(ledger: Evidence, session: str, found: Sequence[Statement], made_by: str = RULES) -> Put:
    with ledger.writing() as database:
        return reasoned.put(database, session, made_by, found, 5_000)


def standing(ledger: Evidence) -> list[str]:
    project = rows(ledger, "SELECT id FROM projects")[0][0]
    with ledger.reading() as database:
        return [each.text for each in reasoned.current(database, project)]


def act(op: str, target: str, at: int = 9_000, text: str = "", **more: Json) -> list[Event]:
    """A person's act, and the turn that is its evidence where it says something."""
    said = event(agent="hindbrain", session="kept", key=f"{op} {at}", at=at, text=text, cwd="/p")
    made: dict[str, Json] = {"turn": said.id, "kind": "decision", "scope": "project"} if text else {}
    detail: dict[str, Json] = {"target": target, **made, **more}
    done = memory_event(op, agent="hindbrain", session="kept" if text else "", at=at, text=text, detail=detail)
    return [said, done] if text else [done]
