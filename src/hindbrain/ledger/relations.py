"""Two memories that have to do with each other -> links, and what follows from them; several -> insights and digests.

What no longer stands when the result arrives (it was forgotten, replaced, rejected meanwhile) has no consequences: these
functions then change nothing and say so. Links are told once; telling them again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final

from hindbrain.base.errors import LedgerError
from hindbrain.capture.event import stable_id
from hindbrain.ledger import fulltext, memories, removal
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forgotten
from hindbrain.ledger.known import Known, known
from hindbrain.ledger.merge import clean

# From what is trusted most to what is trusted least.
_TRUST: Final = ("user", "human_file", "assistant", "import", "tool")
_BUG: Final = "this is a bug of whatever found it; report it"
_MOST_SURE: Final = 0.95  # of what nobody said in so many words
_PUT: Final = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_from, created_at,
                      detail, evidence, made_by, session_id, reflected)
VALUES (?, ?, ?, ?, ?, ?, 'hindbrain', ?, ?, ?, ?, ?, '{}', 0, ?, ?, 1)
ON CONFLICT (id) DO NOTHING
"""
_ENDS: Final = "SELECT id, at FROM turns WHERE session_id = ? ORDER BY at, source_start NULLS FIRST, segment, start, role, id"


def mark_reflected(database: Database, ids: Iterable[str]) -> None:
    """Note that these were compared with what stands."""
    named = json.dumps(list(ids))
    database.execute("UPDATE memories SET reflected = 1 WHERE id IN (SELECT value FROM json_each(?))", (named,))


def supersede(database: Database, old: str, new: str, at: int, *, sure: float = 1.0, joined: bool = False) -> bool:
    """Let one memory take the place of another; False when one is not there or held back, or each would replace the other, or a
    person said of the older one, knowing the other, that it holds.

    Of several that were to take its place the surest does. `joined`: it says the same, and nothing has ended.
    """
    both = known(database, [old, new])
    if old == new or len(both) < 2 or both[new].held or both[old].held or old in removal.above(database, new):
        return False
    if _stands(both[old], both[new]):
        return False
    removal.link(database, new, "supersedes", target=old, at=at, sure=sure, joined=joined)
    removal.settle(database, [old])
    return True


def reinforce(database: Database, old: str, new: str, at: int) -> bool:
    """Let one memory be a reason to be surer of another; False when one of them is not there or is held back."""
    both = known(database, [old, new])
    if old == new or len(both) < 2 or both[new].held or both[old].held:
        return False
    removal.link(database, new, "reinforces", target=old, at=at)
    removal.settle(database, [old])
    return True


def contradict(database: Database, one: str, other: str, text: str, at: int) -> str:
    """Note that two memories cannot both be right; the id of the contradiction, "" when one of them does not stand.

    The same pair is noted once. It goes when one side goes or is replaced.
    """
    first, second = sorted((one, other))
    sides = known(database, [first, second])
    identifier = stable_id("m", "contradiction", first, second)
    if len(sides) < 2 or not all(each.stands for each in sides.values()) or identifier in forgotten(database):
        return ""
    if _stands(sides[first], sides[second]) or _stands(sides[second], sides[first]):
        return ""
    own = [each for each in sides.values() if each.scope == "project"]
    place = ("project", own[0].project_id) if own else ("global", None)
    confidence = min(each.confidence for each in sides.values())
    least = _least_trusted(sides.values())
    _put(database, (identifier, "contradiction", "fact", clean(text), confidence, least, least, *place, at, at, "rules/1", None))
    for side in (first, second):
        removal.link(database, identifier, "contradicts", target=side, at=at)
    _apply_acts(database, identifier)
    return identifier


def put_insight(
    database: Database, kind: str, text: str, supports: Sequence[str], scope: str, project_id: str | None, made_by: str, at: int
) -> str:
    """Keep what several memories say together; its id, "" when one of them does not stand any more."""
    if kind not in memories.KINDS or not text.strip() or not supports:
        raise LedgerError(f"an insight needs a kind, words and supports: {kind!r}, {len(supports)} supports", hint=_BUG)
    found = known(database, supports)
    place = (scope, project_id if scope == "project" else None)
    identifier = stable_id("m", "insight", kind, scope, place[1] or "", " ".join(text.casefold().split()))
    if len(found) < len(set(supports)) or not all(each.stands for each in found.values()) or identifier in forgotten(database):
        return ""
    if identifier in found:
        raise LedgerError(f"an insight cannot support itself: {identifier}", hint=_BUG)
    least = _least_trusted(found.values())
    if least == "tool" and kind in ("instruction", "preference"):
        raise LedgerError(f"what a tool said cannot become one: {kind}", hint=_BUG)
    doubt = 1.0
    for each in found.values():
        doubt *= 1.0 - each.confidence
    confidence = round(min(_MOST_SURE, 1.0 - doubt), 4)
    _make_room(database, identifier)
    _put(database, (identifier, "derived", kind, clean(text), confidence, least, least, *place, at, at, made_by, None))
    for support in sorted(found):
        removal.link(database, identifier, "supports", target=support, at=at)
    _apply_acts(database, identifier)
    return identifier


def _make_room(database: Database, insight: str) -> None:
    """What was corrected and is said anew since is an insight anew, unless the correction was of the insight itself."""
    stored = known(database, [insight])
    newer = stored[insight].superseded_by if insight in stored else None
    decided = memories.targets(database) if newer is not None else set[str]()
    if newer is not None and known(database, [newer])[newer].made_by == "person" and insight not in decided:
        removal.remove(database, [insight], spared=decided)


def put_digest(database: Database, session_id: str, short: str, long: str, made_by: str, at: int) -> list[str]:
    """Let these be the digests of a session, in place of those it had; their ids, none where it has no turns or no project."""
    turns = database.execute(_ENDS, (session_id,)).fetchall()
    row = database.execute("SELECT project_id FROM sessions WHERE id = ?", (session_id,)).fetchone()
    banned = forgotten(database)
    wanted = {stable_id("m", level, session_id): (level, clean(text)) for level, text in
              (("digest_short", short), ("digest_long", long)) if text.strip()}  # fmt: skip
    stored = "SELECT id FROM memories WHERE session_id = ? AND level IN ('digest_short', 'digest_long')"
    removal.remove(database, [each[0] for each in database.execute(stored, (session_id,)).fetchall()])
    if not turns or row is None or row[0] is None:
        return []
    found = "SELECT id FROM memories WHERE session_id = ? AND level = 'observation' AND held = '' ORDER BY valid_from, id"
    memories_of = [each[0] for each in database.execute(found, (session_id,)).fetchall()]
    made = [each for each in wanted if each not in banned]
    for identifier in made:
        level, text = wanted[identifier]
        said_at = turns[-1][1]
        told = (level, "fact", text, 1.0, "assistant", "assistant", "project", row[0], said_at, said_at)
        _put(database, (identifier, *told, made_by, session_id))
        for turn in dict.fromkeys((turns[0][0], turns[-1][0])):
            removal.link(database, identifier, "digested_from", turn=turn, at=at)
        for memory in memories_of:
            removal.link(database, identifier, "digested_from", target=memory, at=at)
    return made


def _stands(memory: Known, other: Known) -> bool:
    """Whether a person said that a memory holds beside all that had been said by then (ledger/verdicts.py)."""
    since = memory.detail.get("stands")
    return isinstance(since, int) and other.valid_from <= since


def _put(database: Database, values: tuple[object, ...]) -> None:
    if database.execute(_PUT, values).rowcount:
        fulltext.put_memory(database, str(values[0]), str(values[3]))


def _apply_acts(database: Database, identifier: str) -> None:
    if identifier in memories.targets(database):
        memories.refold(database)


def _least_trusted(found: Iterable[Known]) -> str:
    return max((each.trust for each in found), key=_TRUST.index)
