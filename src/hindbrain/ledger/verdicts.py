"""What people decided about memories -> how these stand: accepted, rejected, pinned, or again as they were found.

What was found is kept beside the decision (`acted` in the detail), so a decision that is forgotten leaves no trace. Of a memory
that was replaced a person may say that it holds (`stands`, and when): nothing that was said by then ends it, whoever finds that.
Whoever
rejects a statement rejects it wherever it was said before in the same words; said anew it is another one.
"""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Final

from hindbrain.ledger import removal
from hindbrain.ledger.database import Database

_INSIDE: Final = "(SELECT value FROM json_each(?))"
_CONCERNED: Final = f"""
SELECT id, made_by, held, confidence, trust, pinned, detail FROM memories
WHERE id IN {_INSIDE} OR detail LIKE '%"acted":%' OR detail LIKE '%"done":%' OR (pinned = 1 AND made_by <> 'person') ORDER BY id
"""
_SAID: Final = """
SELECT id, text, scope, project_id, valid_from FROM memories WHERE made_by <> 'person' AND level IN ('observation', 'derived')
"""
_WRITE: Final = "UPDATE memories SET held = ?, confidence = ?, trust = ?, pinned = ?, detail = ? WHERE id = ?"
_FREED: Final = f"UPDATE memories SET reflected = 0 WHERE level = 'observation' AND id IN {_INSIDE}"
_RESTING: Final = f"SELECT DISTINCT memory_id FROM links WHERE role = 'supports' AND target_memory_id IN {_INSIDE}"
_TARGETS: Final = f"SELECT DISTINCT target_memory_id FROM links WHERE target_memory_id IS NOT NULL AND memory_id IN {_INSIDE}"
_SAID_BY_THEN: Final = f"""
SELECT links.memory_id, links.target_memory_id, memories.valid_from FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'supersedes' AND links.target_memory_id IN {_INSIDE} ORDER BY links.memory_id, links.target_memory_id
"""
_NOT_ABOVE: Final = f"DELETE FROM links WHERE role = 'supersedes' AND memory_id = ? AND target_memory_id IN {_INSIDE}"

Verdict = tuple[str, int]  # accept or reject, and when
Preferred = tuple[str, str, int]  # which of two that contradict each other was accepted, the other one, and when


def apply(
    database: Database, verdicts: Mapping[str, Verdict], pins: Mapping[str, bool], beside: Mapping[str, int]
) -> bool:
    """Let memories stand as people decided; the verdicts and pins are all there are. Whether any was said to be done. `beside`
    says of which that they hold beside what had replaced them, and since when.

    That is seen on the way: looking through all memories once more would be a cost to every batch (ledger/endings.py).
    """
    spread = {**dict(_in_the_same_words(database, verdicts)), **verdicts}
    named = json.dumps(sorted({*spread, *pins}))
    barred: list[str] = []
    freed: list[str] = []
    changed: list[tuple[object, ...]] = []
    back: list[tuple[str, list[str]]] = []
    again: list[str] = []  # to be compared once more, now that nobody says that they stand
    has_ended = False
    for row in database.execute(_CONCERNED, (named,)).fetchall():
        identifier, made_by, held, confidence, trust, pinned, text = row
        detail = json.loads(text)
        has_ended = has_ended or "done" in detail
        found = detail.pop("acted", {"held": held, "confidence": confidence, "trust": trust})
        stands = (found["held"], found["confidence"], found["trust"])
        if spread.get(identifier, ("", 0))[0] != "accept" and "over" in detail:
            back.append((identifier, detail.pop("over")))
        if detail.pop("stands", None) is not None and identifier not in beside:
            again.append(identifier)
        if identifier in beside:
            detail["stands"] = beside[identifier]
        if identifier in spread:
            detail["acted"] = found
            is_accepted = spread[identifier][0] == "accept"
            stands = ("", 1.0, "user") if is_accepted else ("rejected", found["confidence"], found["trust"])
        pin = pinned if made_by == "person" else int(pins.get(identifier, False))
        after = (*stands, pin, removal.dumped(detail) if detail else "{}")
        if after != (held, confidence, trust, pinned, text):
            changed.append((*after, identifier))
        if bool(held) != bool(stands[0]):
            (barred if stands[0] else freed).append(identifier)
    if changed:
        database.executemany(_WRITE, changed)
    if again:
        database.execute(_FREED, (json.dumps(again),))
    _give_back(database, back)
    follow(database, barred, freed, spread)
    return has_ended


def _in_the_same_words(database: Database, verdicts: Mapping[str, Verdict]) -> Iterator[tuple[str, Verdict]]:
    """What was said before a rejection and says the same, in the same project."""
    rejected = {each: at for each, (op, at) in verdicts.items() if op == "reject"}
    if not rejected:
        return
    rows = database.execute(_SAID).fetchall()
    limits: dict[tuple[str, str, str | None], int] = {}
    for identifier, text, scope, project, _ in rows:
        if identifier in rejected:
            said = words(text), scope, project
            limits[said] = max(limits.get(said, 0), rejected[identifier])
    for identifier, text, scope, project, said_at in rows:
        until = limits.get((words(text), scope, project))
        if until is not None and said_at <= until and identifier not in rejected:
            yield identifier, ("reject", until)


def words(text: str) -> str:
    """A text by which others in the same words are known."""
    return " ".join(text.casefold().split())


def follow(database: Database, barred: Sequence[str], freed: Sequence[str], decided: Container[str]) -> None:
    """What was barred supports nothing and replaces nothing; what was freed is compared with the others."""
    if barred:
        resting = [row[0] for row in database.execute(_RESTING, (json.dumps([*barred]),)).fetchall()]
        removal.remove(database, [each for each in resting if each not in decided])
    if freed:
        database.execute(_FREED, (json.dumps([*freed]),))
    if barred or freed:
        both = json.dumps([*barred, *freed])
        removal.settle(database, [row[0] for row in database.execute(_TARGETS, (both,)).fetchall()], again=bool(barred))
        removal.drop_contradictions(database, both)


def prefer(database: Database, preferred: Sequence[Preferred]) -> None:
    """Let what was accepted take the place of what contradicts it; of opposite decisions about a pair the last one holds."""
    last = {frozenset((accepted, other)): (accepted, other, at) for accepted, other, at in preferred if accepted != other}
    if not last:
        return
    named = json.dumps(sorted({each for pair in last for each in pair}))
    details = dict(database.execute(f"SELECT id, detail FROM memories WHERE id IN {_INSIDE}", (named,)).fetchall())
    pairs = [pair for pair in last.values() if pair[0] in details and pair[1] in details]
    if pairs:
        _note_over(database, pairs, details)
        replace(database, pairs)


def let_stand(database: Database, stands: Mapping[str, int], but: Container[tuple[str, str]]) -> None:
    """Let memories stand beside what had replaced them when a person said so; `but` are corrections and later preferences."""
    rows = database.execute(_SAID_BY_THEN, (json.dumps(sorted(stands)),)).fetchall() if stands else []
    dropped = [(newer, old) for newer, old, since in rows if since <= stands[old] and (newer, old) not in but]
    if dropped:
        database.executemany(_NOT_ABOVE, [(newer, json.dumps([old])) for newer, old in dropped])
        removal.settle(database, {old for _, old in dropped}, again=True)


def replace(database: Database, pairs: Sequence[Preferred]) -> None:
    """Tie each pair, one after the other, so that no circle comes of it: what was to replace the accepted one no longer does."""
    replacing = removal.replacing(database, {each for pair in pairs for each in pair[:2]})
    dropped: set[tuple[str, str]] = set()
    ties: dict[tuple[str, str], int] = {}
    touched: set[str] = set()
    for accepted, other, at in pairs:
        above = _above(replacing, accepted)
        for each in above:
            if other in replacing.get(each, ()):
                replacing[each].discard(other)
                dropped.add((other, each))
                ties.pop((other, each), None)
        if accepted not in replacing.setdefault(other, set()):
            replacing[other].add(accepted)
            ties[accepted, other] = at
        touched |= {*above, other}
    if dropped:
        database.executemany(_NOT_ABOVE, [(memory, json.dumps([target])) for memory, target in sorted(dropped)])
    removal.link_all(database, [removal.Tie(memory, "supersedes", None, target, at) for (memory, target), at in ties.items()])
    removal.settle(database, touched)


def _above(replacing: Mapping[str, Iterable[str]], memory: str) -> set[str]:
    seen, waiting = {memory}, {memory}
    while waiting:
        waiting = {newer for each in waiting for newer in replacing.get(each, ())} - seen
        seen |= waiting
    return seen


def _note_over(database: Database, pairs: Sequence[Preferred], details: Mapping[str, str]) -> None:
    """Note beside memories what they were preferred to, so that this can be taken back."""
    others: dict[str, set[str]] = {}
    for accepted, other, _ in pairs:
        others.setdefault(accepted, set()).add(other)
    changed: list[tuple[str, str]] = []
    for accepted, new in others.items():
        detail = json.loads(details[accepted])
        over = sorted({*detail.get("over", []), *new})
        if over != detail.get("over"):
            changed.append((removal.dumped({**detail, "over": over}), accepted))
    if changed:
        database.executemany("UPDATE memories SET detail = ? WHERE id = ?", changed)


def _give_back(database: Database, over: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Let what was accepted no longer take the place of these."""
    if over:
        database.executemany(_NOT_ABOVE, [(accepted, json.dumps([*others])) for accepted, others in over])
        removal.settle(database, {each for _, others in over for each in others}, again=True)
