"""Memories that go -> the ones that go with them, and the ones that stand again.

What replaces or reinforces a memory is a link, and the links are the truth: `superseded_by`, `valid_to` and how often a memory
was seen are worked out from them anew whenever one comes or goes. An insight goes with any of its supports (reflection makes it
again from what is left), a contradiction with any of its sides. What a person decided on stays: it falls back on the turns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from typing import Any, Final

from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database, foreign, is_sqlite

_INSIDE: Final = "(SELECT value FROM json_each(?))"
LINK: Final = """
INSERT INTO links (memory_id, number, role, turn_id, target_memory_id, created_at)
SELECT :memory, coalesce(max(number) + 1, 0), :role, CAST(:turn AS TEXT), CAST(:target AS TEXT), :at
FROM links WHERE memory_id = :memory
ON CONFLICT DO NOTHING
"""
_RESTING: Final = f"""
SELECT links.memory_id FROM links WHERE links.role IN ('supports', 'contradicts') AND links.target_memory_id IN {_INSIDE}
"""
_TARGETS: Final = f"""
SELECT DISTINCT target_memory_id FROM links
WHERE role IN ('supersedes', 'reinforces', 'supports') AND target_memory_id IS NOT NULL AND memory_id IN {_INSIDE}
"""
# A person's word stands before what was found, the later before the earlier.
_SUCCESSORS: Final = f"""
SELECT links.target_memory_id, links.memory_id, links.created_at
FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'supersedes' AND memories.held = '' AND links.target_memory_id IN {_INSIDE}
ORDER BY CASE WHEN memories.made_by = 'person' THEN 1 ELSE 0 END, links.created_at, links.memory_id
"""
_ABOVE: Final = f"SELECT memory_id FROM links WHERE role = 'supersedes' AND target_memory_id IN {_INSIDE}"
_SEEN: Final = f"""
SELECT links.target_memory_id, count(*) FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'reinforces' AND memories.held = '' AND links.target_memory_id IN {_INSIDE} GROUP BY links.target_memory_id
"""
_ROWS: Final = f"""
SELECT id, valid_from, superseded_by, valid_to, confidence, detail FROM memories WHERE id IN {_INSIDE} ORDER BY id
"""
_GROUNDS: Final = f"""
SELECT turn_id, created_at FROM links WHERE turn_id IS NOT NULL AND memory_id IN {_INSIDE} ORDER BY memory_id, number
"""
_LEFT: Final = f"""
SELECT min(number) FROM links WHERE memory_id = ? AND (target_memory_id IS NULL OR target_memory_id NOT IN {_INSIDE})
"""
_CONTRADICTED: Final = f"""
SELECT DISTINCT links.memory_id FROM links JOIN memories ON memories.id = links.target_memory_id
WHERE links.role = 'contradicts' AND links.target_memory_id IN {_INSIDE}
  AND (memories.held <> '' OR memories.superseded_by IS NOT NULL OR memories.valid_to IS NOT NULL)
"""


def link(database: Database, memory: str, role: str, *, turn: str | None = None, target: str | None = None, at: int) -> bool:
    """Tie a memory to a turn or to another memory; whether that is new."""
    values = {"memory": memory, "role": role, "turn": turn, "target": target, "at": at}
    return bool(database.execute(LINK, values).rowcount)


def remove(database: Database, ids: Iterable[str], spared: Collection[str] = ()) -> set[str]:
    """Take memories away with all that rests on them, and let stand again what they had replaced; which ones went.

    `spared` are decided on by a person: they stay, on the turns that what went rested on.
    """
    gone = set(ids)
    waiting = gone
    while waiting:
        rows = database.execute(_RESTING, (json.dumps(sorted(waiting)),)).fetchall()
        resting = {row[0] for row in rows} - gone
        kept = {each for each in resting if each in spared and _fall_back(database, each, gone)}
        waiting = resting - kept
        gone |= waiting
    if gone:
        touched = [row[0] for row in database.execute(_TARGETS, (json.dumps(sorted(gone)),)).fetchall() if row[0] not in gone]
        _delete(database, sorted(gone))
        settle(database, touched, again=True)
    return gone


def _fall_back(database: Database, insight: str, gone: Collection[str]) -> bool:
    """Let an insight rest on the turns that what goes rested on; False for what is no insight, or finds no turn."""
    level = database.execute("SELECT level FROM memories WHERE id = ?", (insight,)).fetchone()
    if level is None or level[0] != "derived":
        return False
    named = json.dumps(sorted(gone))
    for turn, at in database.execute(_GROUNDS, (named,)).fetchall():
        link(database, insight, "derived_from", turn=turn, at=at)
    (number,) = database.execute(_LEFT, (insight, named)).fetchone()
    if number is None:
        return False
    database.execute("UPDATE memories SET evidence = ? WHERE id = ?", (number, insight))
    return True


def _delete(database: Database, ids: list[str]) -> None:
    named = (json.dumps(ids),)
    defer(database)
    database.execute(f"UPDATE memories SET superseded_by = NULL, valid_to = NULL WHERE superseded_by IN {_INSIDE}", named)
    database.execute(f"DELETE FROM links WHERE target_memory_id IN {_INSIDE}", named)
    fulltext.remove_memories(database, ids)
    database.execute(f"DELETE FROM links WHERE memory_id IN {_INSIDE}", named)
    database.execute(f"DELETE FROM changes WHERE memory_id IN {_INSIDE}", named)
    database.execute(f"DELETE FROM memories WHERE id IN {_INSIDE}", named)


def defer(database: Database) -> None:
    """Check references when the transaction commits."""
    if is_sqlite(database):
        database.execute("PRAGMA defer_foreign_keys = ON")
    else:
        foreign(database).defer_constraints()


def settle(database: Database, ids: Iterable[str], *, again: bool = False) -> None:
    """Work out anew what replaced these memories and how often they were seen; `again` has them reflected on once more."""
    named = json.dumps(sorted(set(ids)))
    successors = {row[0]: (row[1], row[2]) for row in database.execute(_SUCCESSORS, (named,)).fetchall()}
    seen = dict(database.execute(_SEEN, (named,)).fetchall())
    for identifier, valid_from, superseded_by, valid_to, confidence, text in database.execute(_ROWS, (named,)).fetchall():
        newer, at = successors.get(identifier, (None, 0))
        until = max(at, valid_from) if newer else None if superseded_by else valid_to
        if (newer, until) != (superseded_by, valid_to):
            database.execute("UPDATE memories SET superseded_by = ?, valid_to = ? WHERE id = ?", (newer, until, identifier))
        _count(database, identifier, confidence, json.loads(text), seen.get(identifier, 0))
    if again:
        database.execute(f"UPDATE memories SET reflected = 0 WHERE level = 'observation' AND id IN {_INSIDE}", (named,))
    drop_contradictions(database, named)


def above(database: Database, memory: str) -> set[str]:
    """A memory and all that stand in its place, directly or through others. All links count: each may come to decide."""
    seen, waiting = {memory}, {memory}
    while waiting:
        waiting = {row[0] for row in database.execute(_ABOVE, (json.dumps(sorted(waiting)),)).fetchall()} - seen
        seen |= waiting
    return seen


def drop_contradictions(database: Database, named: str) -> None:
    """Take away the contradictions of which one side, among these, no longer stands."""
    ended = [row[0] for row in database.execute(_CONTRADICTED, (named,)).fetchall()]
    if ended:
        _delete(database, sorted(ended))


def _count(database: Database, identifier: str, confidence: float, detail: dict[str, Any], times: int) -> None:
    """How often a memory was seen, and how sure that makes it. What a person decided on is sure enough."""
    if detail.get("seen", 1) == times + 1:
        return
    found = detail.setdefault("found", confidence)
    detail["seen"] = times + 1
    sure = surer(found, times)
    if "acted" in detail:
        detail["acted"]["confidence"], sure = sure, confidence
    database.execute("UPDATE memories SET confidence = ?, detail = ? WHERE id = ?", (sure, dumped(detail), identifier))


def surer(found: float, times: int) -> float:
    """The confidence of what was found with one and was seen again so many times."""
    return round(1.0 - (1.0 - found) * 0.7 ** min(times, 50), 4)


def dumped(detail: dict[str, Any]) -> str:
    """The detail of a memory as it is stored."""
    return json.dumps(detail, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
