"""What people said should be kept -> memories, each with the turn that is its evidence; what they did to memories -> done.

`remember`, `correct`, `edit`, `pin`, `accept`, `reject`, `done` and `undone` are events like all others, so they survive a
rebuild. The memories they make are what remains when all of these events are read in order of time: they are few, so they are
simply all read again whenever one more comes, and the result does not depend on the order they arrived in. Memories that were
found, not told to be kept, may come and go beneath the acts on them (ledger/verdicts.py, ledger/endings.py).

What a person wrote into a file is trusted as such (`human_file`): the act says so, and may not claim to be trusted more.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.ledger import attribution, corrections, endings, fulltext, removal, verdicts, versions
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forgotten
from hindbrain.ledger.merge import clean

KINDS: Final = ("decision", "preference", "correction", "instruction", "fact", "lesson", "procedure", "task", "insight")
SCOPES: Final = ("project", "global")
FILE: Final = "human_file"  # the trust in what a person wrote into a file

_EVENTS: Final = """
SELECT events.id, events.at, events.text, events.detail FROM events WHERE events.kind = 'memory' ORDER BY events.at, events.id
"""
_REPLACING: Final = ("correct", "edit")
_EVIDENCE: Final = """
SELECT turns.id, sessions.project_id FROM turns JOIN sessions ON sessions.id = turns.session_id
WHERE turns.id IN (SELECT value FROM json_each(?))
"""
_CONCERNED: Final = """
SELECT 1 FROM events JOIN turns ON turns.id = json_extract(events.detail, '$.turn')
WHERE events.kind = 'memory' AND turns.session_id IN (SELECT value FROM json_each(?)) LIMIT 1
"""
_NAMED: Final = """
SELECT 1 FROM events
WHERE events.kind = 'memory' AND json_extract(events.detail, '$.turn') IN (SELECT value FROM json_each(?)) LIMIT 1
"""
_PUT: Final = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_to, pinned,
                      valid_from, created_at, detail, evidence)
VALUES (?, 'observation', ?, ?, 1.0, ?, 'user', 'user', ?, ?, ?, ?, ?, ?, ?, 0)
ON CONFLICT (id) DO UPDATE SET
    kind = excluded.kind, text = excluded.text, scope = excluded.scope, project_id = excluded.project_id,
    valid_to = excluded.valid_to, pinned = excluded.pinned
"""
_STORED: Final = """
SELECT id, kind, text, scope, project_id, valid_to, pinned FROM memories WHERE id IN (SELECT value FROM json_each(?))
"""
_ELSEWHERE: Final = """
SELECT memories.id, sessions.project_id FROM memories JOIN sessions ON sessions.id = memories.session_id
WHERE memories.scope = 'project' AND sessions.project_id IS NOT NULL AND memories.project_id <> sessions.project_id
  AND sessions.id IN (SELECT value FROM json_each(?))
ORDER BY memories.id
"""
_RESTING: Final = """
SELECT DISTINCT memory_id FROM links
WHERE role IN ('supports', 'contradicts') AND target_memory_id IN (SELECT value FROM json_each(?))
"""
_LINK: Final = """
INSERT INTO links (memory_id, number, role, turn_id, created_at) VALUES (?, 0, 'derived_from', ?, ?) ON CONFLICT DO NOTHING
"""


@dataclass(slots=True)
class _Kept:
    id: str
    text: str
    kind: str
    scope: str
    turn: str
    at: int
    pinned: bool = False
    trust: str = "user"  # as it was said; what was accepted since is not written over, nor the detail
    detail: str = "{}"
    valid_to: int | None = None
    supersedes: str | None = None
    project: str | None = field(default=None)

    @property
    def columns(self) -> tuple[object, ...]:
        """What may change of its row, as it is stored."""
        return self.kind, self.text, self.scope, self.project, self.valid_to, int(self.pinned)


def memory_event(
    op: str, *, agent: str, session: str, at: int, text: str = "", detail: Mapping[str, Json], key: str = ""
) -> Event:
    """A person's act on memories. The same act at the same moment is the same event, unless a key says which one it is."""
    key = key or stable_id("k", op, str(at), text, json.dumps(dict(detail), sort_keys=True))
    return Event(
        kind="memory", agent=agent, session=session, at=at, key=key, origin="api", text=text, detail={"op": op, **detail},
    )  # fmt: skip


def memory_id(event_id: str) -> str:
    """The memory that an event makes."""
    return stable_id("m", event_id)


def concerns(connection: Database, sessions: Iterable[str], renamed: Collection[str] = ()) -> bool:
    """Whether any of these sessions holds the evidence of an act: what came of it may have to be put together anew.

    `renamed` are turns that stand under another id than this one, which an act may have been told with.
    """
    if connection.execute(_CONCERNED, (json.dumps(list(sessions)),)).fetchone() is not None:
        return True
    return bool(renamed) and connection.execute(_NAMED, (json.dumps(list(renamed)),)).fetchone() is not None


def targets(connection: Database) -> set[str]:
    """Ids of the memories that people did something to."""
    query = "SELECT DISTINCT json_extract(events.detail, '$.target') FROM events WHERE events.kind = 'memory'"
    return {row[0] for row in connection.execute(query).fetchall() if isinstance(row[0], str)}


def refold(connection: Database) -> None:
    """Bring the memories in line with all events about them; inside the caller's transaction."""
    folded = _folded(connection)
    placed: Mapping[str, _Kept] = {}
    if folded.kept:
        gone = forgotten(connection)
        placed = _placed(connection, [each for each in folded.kept.values() if each.id not in gone])
        _write(connection, placed)
        attribution.apply(connection)
    has_ended = verdicts.apply(connection, folded.verdicts, folded.pins, folded.stands)
    corrections.spread(connection, _corrections(placed), folded.verdicts)
    preferred = [each for each in folded.preferred if each[2] > folded.stands.get(each[1], -1)]
    verdicts.prefer(connection, preferred)
    corrected = {(each.made, each.target) for each in _corrections(placed)}
    verdicts.let_stand(connection, folded.stands, corrected | {each[:2] for each in preferred})
    if folded.ends or has_ended:
        endings.apply(connection, folded.ends)


def _corrections(placed: Mapping[str, _Kept]) -> list[corrections.Correction]:
    """What stands in the place of something else, in the order in which it was said."""
    return [corrections.Correction(each.id, each.supersedes, each.at) for each in placed.values() if each.supersedes]


def _placed(connection: Database, kept: Sequence[_Kept]) -> dict[str, _Kept]:
    """Those to be shown: one that waits for its evidence, or for its project to be known, would be told in other projects."""
    projects = dict(connection.execute(_EVIDENCE, (json.dumps([each.turn for each in kept]),)).fetchall())
    _follow_renamed(connection, [each for each in kept if each.turn not in projects], projects)
    for each in kept:
        each.project = projects.get(each.turn) if each.scope == "project" else None
    return {each.id: each for each in kept if each.turn in projects and (each.project is not None or each.scope == "global")}


def _follow_renamed(connection: Database, waiting: list[_Kept], projects: dict[str, str | None]) -> None:
    """Let statements rest on turns that are stored under another id than the one they were told with."""
    for each in waiting:
        if found := versions.stored_as_first(connection, [each.turn]):
            each.turn = found[0]
            projects.update(connection.execute(_EVIDENCE, (json.dumps(found),)).fetchall())


@dataclass(slots=True)
class _Folded:
    kept: dict[str, _Kept]
    verdicts: dict[str, verdicts.Verdict] = field(default_factory=dict[str, verdicts.Verdict])
    pins: dict[str, bool] = field(default_factory=dict[str, bool])  # of memories that were found
    preferred: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    stands: dict[str, int] = field(default_factory=dict[str, int])  # beside what had replaced it, and since when a person says so
    ends: dict[str, int | None] = field(default_factory=dict[str, int | None])  # since when it is done; None: it is not


def _folded(connection: Database) -> _Folded:
    """All statements first, then what was done to them in order of time: a clock that was set back loses none."""
    acts = [(row[0], row[1], row[2], json.loads(row[3])) for row in connection.execute(_EVENTS).fetchall()]
    acts.sort(key=lambda act: (act[1], memory_id(act[0])))  # the order in which links are weighed (ledger/removal.py)
    folded = _Folded({made.id: made for act in acts if (made := _made(*act)) is not None})
    for identifier, at, _, told in acts:
        if told.get("op") in _REPLACING:
            _replace(folded, identifier, at, told)
        else:
            _decide(folded, at, told)
    for named, done_at in folded.ends.items():  # as it is stored in the end, so that it is not written again each time
        ended = folded.kept.get(named)
        if ended is not None and done_at is not None and ended.valid_to is None:
            ended.valid_to = max(done_at, ended.at)
    return folded


def _decide(folded: _Folded, at: int, told: Mapping[str, Json]) -> None:
    """Take up what was done to one memory, whether a person had it kept or it was found."""
    named, op = str(told.get("target", "")), told.get("op")
    target = folded.kept.get(named)
    if op in ("accept", "reject"):
        folded.verdicts[named] = str(op), at
        if op == "accept" and told.get("stands"):
            folded.stands[named] = at
        elif op == "reject":
            folded.stands.pop(named, None)
        over = told.get("over") if op == "accept" else None  # the other sides of its contradictions
        folded.preferred += [(named, each, at) for each in over if isinstance(each, str)] if isinstance(over, list) else []
    elif op in ("done", "undone"):
        folded.ends[named] = at if op == "done" else None
    elif op == "pin" and target is None:
        folded.pins[named] = bool(told.get("pinned", True))
    elif op == "pin" and target is not None:
        target.pinned = bool(told.get("pinned", True))


def _replace(folded: _Folded, identifier: str, at: int, told: Mapping[str, Json]) -> None:
    """Let what an act made stand in the place of another. It is of that one's kind, unless the act says which (`as`)."""
    made = folded.kept[memory_id(identifier)]
    made.supersedes = str(told.get("target", ""))
    target = folded.kept.get(made.supersedes)
    if target is not None:
        made.kind, made.scope, made.pinned = target.kind, target.scope, target.pinned
        target.valid_to = max(at, target.at)
    if told.get("as") in KINDS:
        made.kind = str(told["as"])


def _made(identifier: str, at: int, text: str, said: Mapping[str, Json]) -> _Kept | None:
    if said.get("op") not in ("remember", *_REPLACING):
        return None
    kind, scope = str(said.get("kind")), str(said.get("scope"))
    beside = {name: clean(words) for name in ("why", "instead_of") if isinstance(words := said.get(name), str) and words.strip()}
    return _Kept(
        memory_id(identifier), text, kind if kind in KINDS else "fact", scope if scope in SCOPES else "project",
        str(said.get("turn", "")), at, bool(said.get("pinned")), FILE if said.get("trust") == FILE else "user",
        removal.dumped(beside),
    )  # fmt: skip


def _write(connection: Database, kept: Mapping[str, _Kept]) -> None:
    stored = {row[0]: row[1:] for row in connection.execute(_STORED, (json.dumps(list(kept)),)).fetchall()}
    changed = [each for each in kept.values() if stored.get(each.id) != each.columns]
    if changed:
        connection.executemany(_PUT, [_row(each) for each in changed])
        connection.executemany(_LINK, [(each.id, each.turn, each.at) for each in changed])
    reworded = {each.id: each.text for each in changed if each.id not in stored or stored[each.id][1] != each.text}
    fulltext.put_memories(connection, reworded)
    replaced = sorted({each.supersedes for each in kept.values() if each.supersedes})
    there = {row[0] for row in connection.execute(_STORED, (json.dumps(replaced),)).fetchall()} if replaced else set[str]()
    removal.link_all(connection, [  # once all are there, so that they may name each other
        removal.Tie(each.id, "supersedes", None, each.supersedes, each.at) for each in kept.values()
        if each.supersedes in there and each.supersedes != each.id
    ])  # fmt: skip
    removal.settle(connection, [*kept, *there])


def _row(each: _Kept) -> tuple[object, ...]:
    kind, text, *rest = each.columns
    return each.id, kind, text, each.trust, *rest, each.at, each.at, each.detail


def follow_projects(connection: Database, sessions: Collection[str]) -> None:
    """Give what was found in sessions the project these belong to now."""
    rows = connection.execute(_ELSEWHERE, (json.dumps(sorted(sessions)),)).fetchall() if sessions else []
    if not rows:
        return
    resting = connection.execute(_RESTING, (json.dumps([row[0] for row in rows]),)).fetchall()
    removal.remove(connection, [row[0] for row in resting], spared=targets(connection))
    connection.executemany("UPDATE memories SET project_id = ?, reflected = 0 WHERE id = ?", [(row[1], row[0]) for row in rows])
