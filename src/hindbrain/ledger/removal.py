"""Memories that go -> the ones that go with them, and the ones that stand again.

What replaces or reinforces a memory is a link, and the links are the truth: `superseded_by`, `valid_to` and how often a memory
was seen are worked out from them anew whenever one comes or goes. An insight goes with any of its supports (reflection makes it
again from what is left), a contradiction with any of its sides. What a person decided on stays: it falls back on the turns.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final, NamedTuple

from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database, foreign, is_sqlite

_INSIDE: Final = "(SELECT value FROM json_each(?))"
LINK: Final = """
INSERT INTO links (memory_id, number, role, turn_id, target_memory_id, created_at, sure, joined)
SELECT :memory, coalesce(max(number) + 1, 0), :role, CAST(:turn AS TEXT), CAST(:target AS TEXT), :at, :sure, :joined
FROM links WHERE memory_id = :memory
ON CONFLICT DO NOTHING
"""
# All that rests on memories, directly or through others, in one question.
_RESTING: Final = f"""
WITH RECURSIVE resting (memory, target) AS (
    SELECT memory_id, target_memory_id FROM links WHERE role IN ('supports', 'contradicts') AND target_memory_id IN {_INSIDE}
    UNION SELECT links.memory_id, links.target_memory_id FROM links JOIN resting ON links.target_memory_id = resting.memory
    WHERE links.role IN ('supports', 'contradicts')
)
SELECT resting.memory, resting.target, memories.level FROM resting LEFT JOIN memories ON memories.id = resting.memory
"""
_TARGETS: Final = f"""
SELECT DISTINCT target_memory_id FROM links
WHERE role IN ('supersedes', 'reinforces', 'supports') AND target_memory_id IS NOT NULL AND memory_id IN {_INSIDE}
"""
# A person's word stands before what was found, what says otherwise before what says the same, the later before the earlier.
_SUCCESSORS: Final = f"""
SELECT links.target_memory_id, links.memory_id, links.created_at
FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'supersedes' AND memories.held = '' AND links.target_memory_id IN {_INSIDE}
ORDER BY CASE WHEN memories.made_by = 'person' THEN 1 ELSE 0 END, 1 - links.joined, links.sure, links.created_at, links.memory_id
"""
_ABOVE: Final = f"""
WITH RECURSIVE above (memory, target) AS (
    SELECT memory_id, target_memory_id FROM links WHERE role = 'supersedes' AND target_memory_id IN {_INSIDE}
    UNION SELECT links.memory_id, links.target_memory_id FROM links JOIN above ON links.target_memory_id = above.memory
    WHERE links.role = 'supersedes'
)
SELECT memory, target FROM above
"""
_SEEN: Final = f"""
SELECT links.target_memory_id, count(*) FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'reinforces' AND memories.held = '' AND links.target_memory_id IN {_INSIDE} GROUP BY links.target_memory_id
"""
_ROWS: Final = f"""
SELECT id, valid_from, superseded_by, valid_to, confidence, detail FROM memories WHERE id IN {_INSIDE} ORDER BY id
"""
_GROUNDS: Final = f"""
SELECT memory_id, number, role, turn_id, target_memory_id, created_at FROM links WHERE memory_id IN {_INSIDE}
ORDER BY memory_id, number
"""
_STAND: Final = "UPDATE memories SET superseded_by = ?, valid_to = ? WHERE id = ?"
_COUNT: Final = "UPDATE memories SET confidence = ?, detail = ? WHERE id = ?"
_CONTRADICTED: Final = f"""
SELECT DISTINCT links.memory_id FROM links JOIN memories ON memories.id = links.target_memory_id
WHERE links.role = 'contradicts' AND links.target_memory_id IN {_INSIDE}
  AND (memories.held <> '' OR memories.superseded_by IS NOT NULL OR memories.valid_to IS NOT NULL)
"""


class Tie(NamedTuple):
    """What a memory is tied to."""

    memory: str
    role: str
    turn: str | None
    target: str | None  # another memory
    at: int
    sure: float = 1.0
    joined: bool = False  # it stands for one that says the same


def link(
    database: Database, memory: str, role: str, *, turn: str | None = None, target: str | None = None, at: int, sure: float = 1.0,
    joined: bool = False,
) -> bool:  # fmt: skip
    """Tie a memory to a turn or to another memory; whether that is new."""
    return bool(database.execute(LINK, _values(Tie(memory, role, turn, target, at, sure, joined))).rowcount)


def link_all(database: Database, ties: Iterable[Tie]) -> None:
    """Tie memories to turns and to each other, in this order."""
    if rows := [_values(tie) for tie in ties]:
        database.executemany(LINK, rows)


def _values(tie: Tie) -> dict[str, object]:
    return tie._asdict() | {"joined": int(tie.joined)}


def remove(database: Database, ids: Iterable[str], spared: Collection[str] = ()) -> set[str]:
    """Take memories away with all that rests on them, and let stand again what they had replaced; which ones went.

    `spared` are decided on by a person: they stay, on the turns that what went rested on.
    """
    gone = set(ids)
    if not gone:
        return gone
    rows = database.execute(_RESTING, (json.dumps(sorted(gone)),)).fetchall()
    on = _grouped((target, memory) for memory, target, _ in rows)
    falling = _Falling(database, gone, rows, spared)
    waiting = gone
    while waiting:
        resting = {each for target in waiting for each in on.get(target, ())} - gone
        waiting = {each for each in resting if not falling.holds(each, gone)}
        gone |= waiting
    falling.write(gone)
    touched = [row[0] for row in database.execute(_TARGETS, (json.dumps(sorted(gone)),)).fetchall() if row[0] not in gone]
    _delete(database, sorted(gone))
    settle(database, touched, again=True)
    return gone


def _grouped(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for name, each in pairs:
        groups.setdefault(name, set()).add(each)
    return groups


class _Falling:
    """Insights that a person decided on: when supports of theirs go they rest on the turns these rested on."""

    def __init__(self, database: Database, ids: Collection[str], rows: Sequence[Sequence[Any]], spared: Collection[str]) -> None:
        self._database = database
        self._insights = {memory for memory, _, level in rows if level == "derived" and memory in spared}
        concerned = {*ids, *(row[0] for row in rows)} if self._insights else ()
        self._links = database.execute(_GROUNDS, (json.dumps(sorted(concerned)),)).fetchall() if concerned else []
        self._evidence: dict[str, int] = {}
        self._ties: dict[str, list[Tie]] = {}

    def holds(self, insight: str, gone: Collection[str]) -> bool:
        """Whether it stays; False for what is no such insight, or finds no turn."""
        if insight not in self._insights:
            return False
        own = [row for row in self._links if row[0] == insight]
        known = {turn for _, _, role, turn, _, _ in own if role == "derived_from"}
        turns: dict[str, int] = {}
        for memory, _, _, turn, _, at in self._links:
            if memory in gone and turn is not None and turn not in known:
                turns.setdefault(turn, at)
        self._ties[insight] = [Tie(insight, "derived_from", turn, None, at) for turn, at in turns.items()]
        # what it replaces is no evidence, and that link may be taken back
        left = [row[1] for row in own if row[2] in ("derived_from", "supports") and row[4] not in gone]
        if left or turns:
            self._evidence[insight] = left[0] if left else max(row[1] for row in own) + 1
        return bool(left or turns)

    def write(self, gone: Collection[str]) -> None:
        """Tie those that stay to their turns."""
        stay = sorted(self._evidence.keys() - gone)
        link_all(self._database, [tie for each in stay for tie in self._ties[each]])
        if stay:
            evidence = [(self._evidence[each], each) for each in stay]
            self._database.executemany("UPDATE memories SET evidence = ? WHERE id = ?", evidence)


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
    wanted = sorted(set(ids))
    if not wanted:
        return
    named = json.dumps(wanted)
    successors = {row[0]: (row[1], row[2]) for row in database.execute(_SUCCESSORS, (named,)).fetchall()}
    seen = dict(database.execute(_SEEN, (named,)).fetchall())
    stand: list[tuple[str | None, int | None, str]] = []
    counts: list[tuple[float, str, str]] = []
    for identifier, valid_from, superseded_by, valid_to, confidence, text in database.execute(_ROWS, (named,)).fetchall():
        newer, at = successors.get(identifier, (None, 0))
        detail = json.loads(text)
        until = max(at, valid_from) if newer else _until(detail, valid_from, None if superseded_by else valid_to)
        if (newer, until) != (superseded_by, valid_to):
            stand.append((newer, until, identifier))
        if counted := _counted(confidence, detail, seen.get(identifier, 0)):
            counts.append((*counted, identifier))
    for statement, rows in ((_STAND, stand), (_COUNT, counts)):
        if rows:
            database.executemany(statement, rows)
    if again:
        database.execute(f"UPDATE memories SET reflected = 0 WHERE level = 'observation' AND id IN {_INSIDE}", (named,))
    drop_contradictions(database, named)


def _until(detail: dict[str, Any], valid_from: int, valid_to: int | None) -> int | None:
    """Until when something holds that nothing replaces: a person's word, where there is one (ledger/endings.py)."""
    if "done" not in detail:
        return valid_to
    done_at = detail["done"][0]
    return None if done_at is None else max(done_at, valid_from)


def above(database: Database, memory: str) -> set[str]:
    """A memory and all that stand in its place, directly or through others. All links count: each may come to decide."""
    return {memory}.union(*replacing(database, [memory]).values())


def replacing(database: Database, memories: Iterable[str]) -> dict[str, set[str]]:
    """What stands in the place of these memories, of what does, and so on: by the memory that each of them replaces."""
    rows = database.execute(_ABOVE, (json.dumps(sorted(memories)),)).fetchall()
    return _grouped((target, memory) for memory, target in rows)


def drop_contradictions(database: Database, named: str) -> None:
    """Take away the contradictions of which one side, among these, no longer stands."""
    ended = [row[0] for row in database.execute(_CONTRADICTED, (named,)).fetchall()]
    if ended:
        _delete(database, sorted(ended))


def _counted(confidence: float, detail: dict[str, Any], times: int) -> tuple[float, str] | None:
    """How sure a memory is that was seen so often, and its detail. What a person decided on is sure enough. None: as before."""
    if detail.get("seen", 1) == times + 1:
        return None
    found = detail.setdefault("found", confidence)
    detail["seen"] = times + 1
    sure = surer(found, times)
    if "acted" in detail:
        detail["acted"]["confidence"], sure = sure, confidence
    return sure, dumped(detail)


def surer(found: float, times: int) -> float:
    """The confidence of what was found with one and was seen again so many times."""
    return round(1.0 - (1.0 - found) * 0.7 ** min(times, 50), 4)


def dumped(detail: dict[str, Any]) -> str:
    """The detail of a memory as it is stored."""
    return json.dumps(detail, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
