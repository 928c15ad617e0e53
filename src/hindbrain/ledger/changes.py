"""What a dream changes -> a note of how it was, and from the notes back to it.

A note holds no text: how sure a memory was, until when it held, its links, and what contradicted it. Taking a dream back removes
what it made, restores the rest as far as it is still there, and lets people's acts have the last word. A contradiction that went
because one of its sides did is noted again, in the words of its two sides.
"""

from __future__ import annotations

import json
from typing import Any, Final

from hindbrain.ledger import memories, relations, removal
from hindbrain.ledger.database import Database
from hindbrain.ledger.known import known

_FIELDS: Final = ("confidence", "superseded_by", "valid_to", "reflected")
_LINKS: Final = """
SELECT memory_id, role, target_memory_id, created_at, sure, joined FROM links
WHERE target_memory_id IS NOT NULL AND role IN ('supersedes', 'reinforces') AND (memory_id = :id OR target_memory_id = :id)
ORDER BY memory_id, role, target_memory_id
"""
_AGAINST: Final = """
SELECT theirs.target_memory_id, mine.created_at FROM links AS mine
JOIN links AS theirs ON theirs.memory_id = mine.memory_id AND theirs.target_memory_id <> mine.target_memory_id
WHERE mine.role = 'contradicts' AND theirs.role = 'contradicts' AND mine.target_memory_id = ? ORDER BY theirs.target_memory_id
"""
_NOTE: Final = "INSERT INTO changes (dream, at, memory_id, before) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"


def note_change(database: Database, dream: str, memory_id: str, before: str | None = None, *, at: int = 0) -> None:
    """Note how a memory stands, before a dream changes it for the first time; "" for one that the dream is about to make."""
    told = snapshot(database, memory_id) if before is None else before
    database.execute(_NOTE, (dream, at, memory_id, told))


def snapshot(database: Database, memory_id: str) -> str:
    """How a memory stands now; "" when it is not there."""
    row = database.execute(f"SELECT {', '.join(_FIELDS)} FROM memories WHERE id = ?", (memory_id,)).fetchone()
    if row is None:
        return ""
    links = [list(each) for each in database.execute(_LINKS, {"id": memory_id}).fetchall()]
    against = [list(each) for each in database.execute(_AGAINST, (memory_id,)).fetchall()]
    return json.dumps({**dict(zip(_FIELDS, row, strict=True)), "links": links, "against": against}, sort_keys=True)


def dreams(database: Database) -> list[tuple[str, int, int]]:
    """The dreams that can be taken back: name, time and how many memories each changed; newest first."""
    query = "SELECT dream, max(at), count(*) FROM changes GROUP BY dream ORDER BY max(id) DESC"
    return [(row[0], row[1], row[2]) for row in database.execute(query).fetchall()]


def undo(database: Database, dream: str, now_ms: int) -> int:
    """Take back what a dream changed; how many memories that were. Done again, it changes nothing."""
    rows = database.execute("SELECT memory_id, before FROM changes WHERE dream = ? ORDER BY id DESC", (dream,)).fetchall()
    database.execute("DELETE FROM changes WHERE dream = ?", (dream,))
    decided = memories.targets(database)
    made = [memory for memory, before in rows if not before and memory not in decided]
    removal.remove(database, made, spared=decided)
    changed = [(memory, json.loads(before)) for memory, before in rows if before]
    touched = {each for memory, before in changed for each in (memory, *_ends(before), *_restore(database, memory, before))}
    removal.settle(database, touched)
    for memory, before in changed:
        _contradict_again(database, memory, before)
    memories.refold(database)
    return len(made) + len(changed)


def _contradict_again(database: Database, memory: str, before: dict[str, Any]) -> None:
    """Note again what contradicted a memory, where both sides stand."""
    for other, at in before.get("against", []):
        sides = sorted(known(database, [memory, other]).values(), key=lambda each: (each.valid_from, each.id))
        if len(sides) == 2:
            text = " / ".join(f"“{each.text}”" for each in sides)
            relations.contradict(database, memory, other, text, at)


def _restore(database: Database, memory: str, before: dict[str, Any]) -> set[str]:
    """Give a memory back its links and its confidence; what else was tied to it by links that go."""
    touched: set[str] = set()
    links = {(each[0], each[1], each[2]): (each[3], each[4], *each[5:]) for each in before["links"]}
    for source, role, target, *_ in database.execute(_LINKS, {"id": memory}).fetchall():
        if (source, role, target) not in links:
            touched.add(target)
            database.execute(
                "DELETE FROM links WHERE memory_id = ? AND role = ? AND target_memory_id = ?", (source, role, target)
            )
    there = {row[0] for row in database.execute(
        "SELECT id FROM memories WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(sorted(_ends(before))),)
    ).fetchall()}  # fmt: skip
    for (source, role, target), (at, sure, *joined) in links.items():  # a note from before says nothing of joining
        if source in there and target in there and not (role == "supersedes" and target in removal.above(database, source)):
            removal.link(database, source, role, target=target, at=at, sure=sure, joined=any(joined))
    ended = before["valid_to"] if before["superseded_by"] is None else None
    database.execute(
        "UPDATE memories SET confidence = ?, valid_to = CASE WHEN superseded_by IS NULL THEN ? ELSE valid_to END, reflected = ?"
        " WHERE id = ?", (_confidence(database, memory, before, there), ended, before["reflected"], memory),
    )  # fmt: skip
    return touched


def _confidence(database: Database, memory: str, before: dict[str, Any], there: set[str]) -> float:
    """How sure a memory was; without what had made it surer and was forgotten since."""
    again = [each[0] for each in before["links"] if each[1] == "reinforces" and each[2] == memory]
    left = [each for each in again if each in there]
    sure, row = float(before["confidence"]), known(database, [memory]).get(memory)
    if len(left) == len(again) or row is None or "acted" in row.detail or "found" not in row.detail:
        return sure
    return min(sure, removal.surer(row.detail["found"], len(left)))


def _ends(before: dict[str, Any]) -> set[str]:
    return {end for each in before["links"] for end in (each[0], each[2])}
