"""What reasoning found in a session -> memories with their evidence; and the turns of a session as reasoning reads them.

`put` reconciles a session with what is found in it now: what is new comes, what is found again stays as it is, what is no longer
found goes. So a session may be read any number of times, by rules or by a model, and nothing doubles. What people did to a memory
is in events and is applied again afterwards. Every function works inside the transaction its caller holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from hindbrain.base.errors import LedgerError
from hindbrain.ledger import fulltext, memories, query, removal, verdicts
from hindbrain.ledger.calls import Call, Spent, call, call_event, calls, note_produced, put_call, spent
from hindbrain.ledger.changes import dreams, note_change, undo
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forgotten
from hindbrain.ledger.known import Known, current, known, of_session, review, unreflected
from hindbrain.ledger.lineage import Lineage, why
from hindbrain.ledger.memories import KINDS, SCOPES
from hindbrain.ledger.merge import clean, traces_of
from hindbrain.ledger.relations import contradict, mark_reflected, put_digest, put_insight, reinforce, supersede
from hindbrain.ledger.statement import TRUSTS, Said, Statement, beside

__all__ = [
    "BadStatement", "Call", "Known", "Lineage", "Put", "Reading", "Said", "Spent", "Statement", "call", "call_event", "calls",
    "contradict", "current", "dreams", "known", "mark_reflected", "note_change", "note_produced", "of_session", "put", "put_call",
    "put_digest", "put_insight", "reading", "reinforce", "review", "said", "set_reading", "spent", "supersede", "undo",
    "unreflected", "why",
]  # fmt: skip

_INSERT: Final = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_from, created_at,
                      detail, evidence, held, made_by, session_id)
VALUES (?, 'observation', ?, ?, ?, ?, 'hindbrain', ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
"""
_STORED: Final = """
SELECT id, detail, scope, project_id, made_by, valid_from, held FROM memories
WHERE session_id = ? AND level = 'observation' AND made_by <> 'person' ORDER BY id
"""
_REWRITE: Final = """
UPDATE memories SET confidence = ?, trust = ?, held = ?, scope = ?, project_id = ?, made_by = ?, valid_from = ?, created_at = ?,
                    detail = ?
WHERE id = ?
"""
_ACTS: Final = ("seen", "acted", "over", "done", "stands")  # of the detail, what was not found with the statement itself
_PUT_READING: Final = """
INSERT INTO readings (session_id, read_to, made_by, at, digested_at, digested_memories, digested_tokens)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (session_id) DO UPDATE SET
    read_to = excluded.read_to, made_by = excluded.made_by, at = excluded.at, digested_at = excluded.digested_at,
    digested_memories = excluded.digested_memories, digested_tokens = excluded.digested_tokens
"""


class BadStatement(LedgerError):
    """A statement cannot be kept as it was found"""

    default_hint = "nothing is stored of it; whatever found it has to be mended"


@dataclass(frozen=True, slots=True)
class Put:
    """What reconciling a session changed: ids."""

    new: list[str] = field(default_factory=list[str])
    gone: list[str] = field(default_factory=list[str])
    waiting: list[str] = field(default_factory=list[str])  # not kept yet: nobody knows which project the session belongs to


@dataclass(frozen=True, slots=True)
class Reading:
    """How far a session was read, and what its digests were made of."""

    session_id: str
    read_to: int = 0  # how many of its first turns were read by that
    made_by: str = ""
    at: int = 0
    digested_at: int = 0
    digested_memories: int = 0
    digested_tokens: int = 0


def said(database: Database, session_id: str) -> list[Said]:
    """All turns of a session in the order they were said; none of one that is not there."""
    row = database.execute("SELECT parent_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    is_child = row is not None and row[0] is not None
    return [_said(each, is_child) for each in query.turns_of(database, session_id)]


def _said(turn: query.Turn, is_child: bool) -> Said:
    traces = list(traces_of(turn.detail))
    trust = turn.detail.get("trust")
    if trust not in TRUSTS or trust == "user":  # what a turn says of itself can lower its trust, never raise it
        trust = "assistant" if is_child and turn.role == "user" else ""  # a subagent is told what to do by another agent
    return Said(
        turn.id, turn.role, turn.text, turn.tool, turn.at,
        error=turn.role == "tool_result" and any(each.kind == "error" for each in traces),
        command=next((each.value for each in traces if each.kind == "command"), "") if turn.role == "tool_call" else "",
        files=tuple(each.value for each in traces if each.kind == "file"), trust=str(trust),
    )  # fmt: skip


def put(
    database: Database, session_id: str, made_by: str, statements: Sequence[Statement], now_ms: int,
    others: Mapping[str, str] | None = None,
) -> Put:  # fmt: skip
    """Let the observations of a session be these, and no others but those a person decided on.

    others: by id, who found what made_by did not.
    """
    makers = others or {}
    row = database.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    turns = _turns(database, session_id) if row is not None else {}
    banned = forgotten(database)
    wanted: dict[str, Statement] = {}
    waiting: list[str] = []
    for each in statements:
        _check(each, turns)
    # of two that say the same, the one a person has to look at first, then the surer one
    order = sorted(statements, key=lambda one: (not one.quarantine, -one.confidence, one.trust, one.turns, one.quote, one.why))
    for each in order:
        if each.id in banned or each.id in wanted or not all(turn in turns for turn in each.turns):
            continue  # a turn that was forgotten meanwhile is no evidence
        if each.scope == "project" and row[0] is None:
            waiting.append(each.id)
        else:
            wanted[each.id] = each
    stored = {each[0]: each for each in database.execute(_STORED, (session_id,)).fetchall()}
    decided = memories.targets(database)
    gone = removal.remove(database, [each for each in stored if each not in wanted and each not in decided], spared=decided)
    new = [each for each in sorted(wanted) if each not in stored]
    for identifier in new:
        _insert(database, wanted[identifier], session_id, row[0], turns, makers.get(identifier, made_by), now_ms)
    for identifier in sorted(wanted.keys() & stored.keys()):
        _keep(database, wanted[identifier], stored[identifier], row[0], turns, makers.get(identifier, made_by), now_ms)
    if decided:
        memories.refold(database)
    held = {each[0]: each[6] for each in database.execute(_STORED, (session_id,)).fetchall()}
    barred = [each for each in stored if held.get(each) and not stored[each][6]]
    freed = [each for each in stored if held.get(each) == "" and stored[each][6]]
    verdicts.follow(database, barred, freed, decided)
    return Put(new, sorted(gone), sorted(set(waiting)))


def hold(database: Database, session_id: str, statements: Sequence[Statement], made_by: str, now_ms: int) -> None:
    """Have of these what a person has to look at first, before the session is read to its end. Nothing else is changed."""
    row = database.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    if row is None:
        return
    turns, banned = _turns(database, session_id), forgotten(database)
    stored = {each[0] for each in database.execute(_STORED, (session_id,)).fetchall()}
    for each in statements:
        placed = each.scope != "project" or row[0] is not None
        if each.quarantine and placed and each.id not in stored | banned.keys() and all(turn in turns for turn in each.turns):
            _check(each, turns)
            _insert(database, each, session_id, row[0], turns, made_by, now_ms)
            stored.add(each.id)
    if memories.targets(database):
        memories.refold(database)


def _turns(database: Database, session_id: str) -> dict[str, tuple[int, str]]:
    rows = database.execute("SELECT id, at, text FROM turns WHERE session_id = ?", (session_id,)).fetchall()
    return {identifier: (at, text) for identifier, at, text in rows}


def _check(each: Statement, turns: Mapping[str, tuple[int, str]]) -> None:
    """Raises BadStatement for what must not become a memory, however it was found."""
    if each.kind not in KINDS or each.scope not in SCOPES or each.trust not in TRUSTS:
        raise BadStatement(f"unknown kind, scope or trust: {each.kind!r}, {each.scope!r}, {each.trust!r}")
    if not each.turns or not each.text.strip() or not each.quote.strip():
        raise BadStatement("a statement without evidence, quote or words")
    if not 0.0 <= each.confidence <= 1.0:
        raise BadStatement(f"a confidence has to be between 0 and 1: {each.confidence!r}")
    if each.trust == "tool" and each.kind in ("instruction", "preference"):
        raise BadStatement(f"what a tool said cannot become one: {each.kind}")
    if each.turns[0] in turns and clean(each.quote) not in turns[each.turns[0]][1]:
        raise BadStatement(f"the quote is not in the turn {each.turns[0]}")


def _found(each: Statement, turn: str) -> dict[str, Any]:
    """What is noted of a statement beside its text; equal when nothing about it has changed."""
    before, after = beside(turn, clean(each.quote))
    told = {"quote": each.quote, "why": each.why, "instead_of": each.instead_of, "reason": each.quarantine, "before": before,
            "after": after}  # fmt: skip
    return {**{name: clean(text) for name, text in told.items() if text}, "found": each.confidence, "trust": each.trust}


def _insert(
    database: Database, each: Statement, session_id: str, project: str | None, turns: Mapping[str, tuple[int, str]], made_by: str,
    now_ms: int,
) -> None:  # fmt: skip
    (at, whole), text = turns[each.turns[0]], clean(each.text)
    held = "quarantine" if each.quarantine else ""
    place = each.scope, project if each.scope == "project" else None
    evidence = at, at, removal.dumped(_found(each, whole)), held, made_by, session_id
    database.execute(_INSERT, (each.id, each.kind, text, each.confidence, each.trust, each.trust, *place, *evidence))
    for turn in each.turns:
        removal.link(database, each.id, "derived_from", turn=turn, at=now_ms)
    fulltext.put_memory(database, each.id, text)


def _keep(
    database: Database, each: Statement, stored: Sequence[Any], project: str | None, turns: Mapping[str, tuple[int, str]],
    made_by: str, now_ms: int,
) -> None:  # fmt: skip
    """Bring a memory in line with how it is found now; found as before, it keeps the confidence it has gained or lost."""
    at, whole = turns[each.turns[0]]
    detail, found = json.loads(stored[1]), _found(each, whole)
    place = each.scope, project if each.scope == "project" else None
    seen = detail.get("seen", 1)
    unchanged = {name: value for name, value in detail.items() if name not in _ACTS} == found
    if not unchanged or (stored[2], stored[3], stored[4], stored[5]) != (*place, made_by, at):
        confidence = removal.surer(each.confidence, seen - 1)
        held = "quarantine" if each.quarantine else ""
        done = {name: detail[name] for name in ("done",) if name in detail}
        text = removal.dumped({**found, **({"seen": seen} if seen > 1 else {}), **done})
        database.execute(_REWRITE, (confidence, each.trust, held, *place, made_by, at, at, text, each.id))
    turned = [row[0] for row in database.execute(
        "SELECT turn_id FROM links WHERE memory_id = ? AND role = 'derived_from' AND turn_id IS NOT NULL", (each.id,)
    ).fetchall()]  # fmt: skip
    if set(turned) != set(each.turns):
        database.execute(  # the first one stays: it is part of the id
            "DELETE FROM links WHERE memory_id = ? AND role = 'derived_from' AND turn_id NOT IN (SELECT value FROM json_each(?))",
            (each.id, json.dumps(list(each.turns))),
        )
        for turn in each.turns:
            removal.link(database, each.id, "derived_from", turn=turn, at=now_ms)


def reading(database: Database, session_id: str) -> Reading:
    """How far a session was read."""
    columns = "session_id, read_to, made_by, at, digested_at, digested_memories, digested_tokens"
    row = database.execute(f"SELECT {columns} FROM readings WHERE session_id = ?", (session_id,)).fetchone()
    return Reading(session_id) if row is None else Reading(*row)


def set_reading(database: Database, told: Reading | str, **values: Any) -> None:
    """Note how far a session was read: all of a Reading, or of a session's some fields."""
    known_now = told if isinstance(told, Reading) else reading(database, told)
    put_now = replace(known_now, **values)
    database.execute(_PUT_READING, (
        put_now.session_id, put_now.read_to, put_now.made_by, put_now.at, put_now.digested_at, put_now.digested_memories,
        put_now.digested_tokens,
    ))  # fmt: skip
