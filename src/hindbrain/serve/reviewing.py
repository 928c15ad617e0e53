"""What a person has to decide on -> a list with reasons and evidence; and what the decision is allowed to be.

Three things wait: what was quarantined, statements that contradict each other, and what was found with little confidence, which
of an instruction, a preference or a correction is more than of others: every session would be told. A decision is an event like
all others, so it outlives a rebuild and whatever reasoning finds next. Nothing is written before all that was named has been
looked at: either every decision holds or none is taken.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.base.errors import NotFound, UsageError
from hindbrain.capture.event import Json
from hindbrain.ledger import known as knowing
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.known import Known

Act = dict[str, Json]

_DIGESTS: Final = ("digest_short", "digest_long")
_CHANGE: Final = "correct or reject the memories it was made from: `hindbrain show ID --why` names them, and it is made anew"
_PROJECTS: Final = "SELECT id, name FROM projects WHERE id IN (SELECT value FROM json_each(?))"
_QUOTES: Final = """
SELECT links.memory_id, turns.id, turns.at, turns.role, turns.tool, substr(turns.text, 1, 600)
FROM links JOIN turns ON turns.id = links.turn_id
WHERE links.memory_id IN (SELECT value FROM json_each(?)) ORDER BY links.memory_id, links.number
"""
_SIDES: Final = """
SELECT memory_id, target_memory_id FROM links
WHERE role = 'contradicts' AND memory_id IN (SELECT value FROM json_each(?)) AND target_memory_id IS NOT NULL
ORDER BY memory_id, number
"""
_OPEN: Final = """
SELECT links.memory_id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'contradicts' AND links.target_memory_id = ? AND memories.level = 'contradiction'
  AND memories.superseded_by IS NULL AND memories.valid_to IS NULL AND memories.held = ''
ORDER BY links.memory_id
"""
_CORRECTED: Final = """
SELECT 1 FROM events WHERE events.kind = 'memory' AND json_extract(events.detail, '$.target') = ?
  AND json_extract(events.detail, '$.op') IN ('correct', 'edit') LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Quoted:
    """A turn that is evidence, in part."""

    id: str
    at: int
    role: str
    tool: str
    text: str


@dataclass(frozen=True, slots=True)
class Waiting:
    """A memory that a person has to look at."""

    memory: Known
    reason: str  # "quarantine", "contradiction" or "confidence"
    why: str  # in plain words
    project: str | None
    evidence: tuple[Quoted, ...]
    sides: tuple[Known, ...] = ()  # of a contradiction


def waiting(ledger: Evidence, project: str | None = None, *, everything: bool = True) -> list[Waiting]:
    """Everything that waits, newest first; of one project and what is global, where one is named."""
    with ledger.reading() as database:
        found = [each for each in knowing.review(database) if everything or each.scope == "global" or each.project_id == project]
        return told(database, found)


def standing(database: Database) -> list[Known]:
    """What stands of observations and insights in all projects, oldest first."""
    ids = [row[0] for row in database.execute("SELECT id FROM memories WHERE level IN ('observation', 'derived')").fetchall()]
    found = (each for each in knowing.known(database, ids).values() if each.stands)
    return sorted(found, key=lambda each: (each.valid_from, each.id))


def told(database: Database, found: Sequence[Known]) -> list[Waiting]:
    """These memories with what a decision needs."""
    ids = json.dumps([each.id for each in found])
    names = dict(database.execute(_PROJECTS, (json.dumps([each.project_id for each in found if each.project_id]),)).fetchall())
    sides: dict[str, list[str]] = {}
    for memory, side in database.execute(_SIDES, (ids,)).fetchall():
        sides.setdefault(memory, []).append(side)
    others = knowing.known(database, [each for found_sides in sides.values() for each in found_sides])
    quotes: dict[str, list[Quoted]] = {}
    wanted = json.dumps([each.id for each in found] + list(others))
    for memory, *row in database.execute(_QUOTES, (wanted,)).fetchall():
        quotes.setdefault(memory, []).append(Quoted(*row))
    result = []
    for each in found:
        named = tuple(others[side] for side in sides.get(each.id, []) if side in others)
        proof = quotes.get(each.id, []) or [quote for side in named for quote in quotes.get(side.id, [])[:1]]
        reason, why = _why(each)
        project = names.get(each.project_id) if each.project_id else None
        result.append(Waiting(each, reason, why, project, tuple(proof), named if each.level == "contradiction" else ()))
    return result


def _why(memory: Known) -> tuple[str, str]:
    if memory.held == "quarantine":
        return "quarantine", f"quarantined: {memory.detail.get('reason') or 'a person has to look at it first'}"
    if memory.level == "contradiction":
        return "contradiction", "two statements contradict each other: accept the one that holds, or this where both stand"
    if memory.confidence >= knowing.LOW_CONFIDENCE:
        return "confidence", f"found with too little confidence to be told to every session: {memory.confidence:.2f}"
    return "confidence", f"found with little confidence: {memory.confidence:.2f}"


def accepting(database: Database, ids: Sequence[str]) -> list[Act]:
    """What has to be noted so that these hold. Of statements that contradict each other the one accepted replaces the other;
    where the contradiction itself is accepted, both stand, and go on being told as contradicting each other. One that was
    replaced holds again, beside what replaced it."""
    acts: list[Act] = []
    for memory in _named(database, ids, replaced=True):
        if memory.level in _DIGESTS:
            raise UsageError(f"{_digest(memory)}: there is nothing to accept", hint=_CHANGE)
        if memory.level == "contradiction":
            if one := next((each for each in _sides(database, memory.id) if each in ids), ""):
                raise UsageError(f"{one} is a side of {memory.id}", hint="accept the side that holds, or the contradiction")
            acts.append({"target": memory.id, "over": []})
            continue
        if memory.superseded_by is not None:
            acts.append({"target": _replaced_by_mistake(database, memory), "over": [], "stands": True})
            continue
        over = [side for each in _contradictions(database, memory.id) for side in _sides(database, each) if side != memory.id]
        if memory.made_by == "person" and not over:
            raise UsageError(f"{memory.id} was kept by a person: there is nothing to accept", hint="see `hindbrain review`")
        acts.append({"target": memory.id, "over": [*dict.fromkeys(over)]})
    chosen = {str(act["target"]) for act in acts}
    for act in acts:
        if isinstance(act["over"], list) and (both := chosen.intersection(map(str, act["over"]))):
            raise UsageError(f"{act['target']} and {sorted(both)[0]} contradict each other", hint="accept one of them")
    return acts


def rejecting(database: Database, ids: Sequence[str]) -> list[Act]:
    """What has to be noted so that these are never told. A contradiction that is rejected is none: both sides hold."""
    acts: list[Act] = []
    for memory in _named(database, ids):
        if memory.made_by == "person":
            raise UsageError(f"{memory.id} was kept by a person", hint="use `hindbrain correct` or `hindbrain forget`")
        acts.append({"target": memory.id})
    return acts


def wording(database: Database, identifier: str) -> None:
    """Raises UsageError for what has no words of its own that others could take the place of."""
    for memory in knowing.known(database, [identifier]).values():
        if memory.level == "contradiction":
            hint = _choose(_sides(database, memory.id))
            raise UsageError(f"{memory.id} is a contradiction and has no words of its own", hint=hint)
        if memory.level in _DIGESTS:
            raise UsageError(f"{_digest(memory)}, and cannot be put in other words", hint=_CHANGE)


def editing(database: Database, identifier: str) -> Known:
    """The memory to be put in other words."""
    (memory,) = _named(database, [identifier])
    wording(database, memory.id)
    if memory.made_by == "person":
        raise UsageError(f"{memory.id} was kept by a person", hint="use `hindbrain correct`")
    return memory


def ending(database: Database, identifier: str) -> Known:
    """The memory that is done, or is not: a statement."""
    (memory,) = _named(database, [identifier])
    if memory.level == "contradiction":
        raise UsageError(f"{memory.id} is a contradiction", hint=_choose(_sides(database, memory.id)))
    if memory.level in _DIGESTS:
        raise UsageError(f"{_digest(memory)}: it cannot be done", hint=_CHANGE)
    return memory


def _replaced_by_mistake(database: Database, memory: Known) -> str:
    """The id of a statement that may hold beside what replaced it. Raises UsageError where that is no mistake of ours."""
    newer = memory.superseded_by
    if memory.held or memory.level not in ("observation", "derived"):
        raise UsageError(f"{memory.id} was replaced by {newer}", hint=f"name {newer} instead")
    if memory.joined:
        raise UsageError(f"{memory.id} says the same as {newer}, which stands for it", hint=f"name {newer} instead")
    if database.execute(_CORRECTED, (memory.id,)).fetchone() is not None:
        raise UsageError(f"{memory.id} was corrected by a person: {newer} stands in its place", hint=f"correct or forget {newer}")
    return memory.id


def _named(database: Database, ids: Sequence[str], *, replaced: bool = False) -> list[Known]:
    """Each once, in the order named. Raises NotFound, and UsageError for one that was replaced, unless these are welcome."""
    found = knowing.known(database, ids)
    for each in dict.fromkeys(ids):
        if each not in found:
            raise NotFound(f"there is no memory {each}", hint="see `hindbrain review`")
        if (newer := found[each].superseded_by) is not None and not replaced:
            raise UsageError(f"{each} was replaced by {newer}", hint=f"name {newer} instead")
    return [found[each] for each in dict.fromkeys(ids)]


def _contradictions(database: Database, side: str) -> list[str]:
    return [str(row[0]) for row in database.execute(_OPEN, (side,)).fetchall()]


def _sides(database: Database, contradiction: str) -> list[str]:
    return [str(row[1]) for row in database.execute(_SIDES, (json.dumps([contradiction]),)).fetchall()]


def _digest(memory: Known) -> str:
    page = memory.detail.get("page")
    return f"{memory.id} is the page {page}, made from memories" if page else f"{memory.id} is a digest, made from its session"


def _choose(sides: Sequence[str]) -> str:
    return f"name {' or '.join(sides)}" if sides else "see `hindbrain review`"
