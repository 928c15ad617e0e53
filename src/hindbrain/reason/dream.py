"""What stands, and the time -> what a dream changes: duplicates become one, the unused fades, what projects share becomes global.

A nap looks at one project after a session, a dream at one project after many new memories, a deep dream at everything when nobody
works. All are bounded by a number of memories and by `check`, which says whether there is time left; what was found until then is
given.
Nothing is read or written here, and every change says how it was before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from hindbrain.ledger.removal import surer
from hindbrain.reason.agreement import in_the_same_words, says_the_same
from hindbrain.reason.changes import Change, Fade, Insight, Standing, Supersede, standing
from hindbrain.reason.partners import Partners, words
from hindbrain.reason.reflect import best_worded, insight_of, time_of
from hindbrain.reason.relation import Likeness, relation
from hindbrain.reason.soul import soul

Check = Callable[[], bool]

DAY_MS: Final = 86_400_000
HALF_LIFE_MS: Final = 90 * DAY_MS
FLOOR: Final = 0.1  # below it a memory no longer holds
LEAST_FADE: Final = 0.01  # less is not worth writing
LIMITS: Final = {"nap": 300, "dream": 2_000, "deep": 10_000}  # memories looked at
NEW_MEMORIES: Final = 20  # since the last dream
IDLE_MS: Final = 30 * 60_000
DEEP_EVERY_MS: Final = DAY_MS
SHARED: Final = ("preference", "instruction", "procedure", "lesson")  # kinds that may hold in all projects
PROJECTS: Final = 2
SESSIONS: Final = 3  # of them; two are enough where the words are the same
ALIKE: Final = 0.6  # share of words that two have in common before they are looked at as one


def due(new_memories: int, idle_ms: int, since_deep_ms: int, *, ended: bool = False) -> str:
    """Which dream it is time for: "deep", "dream", "nap" after a session that ended, or ""."""
    if idle_ms >= IDLE_MS and since_deep_ms >= DEEP_EVERY_MS:
        return "deep"
    if new_memories >= NEW_MEMORIES:
        return "dream"
    return "nap" if ended and new_memories else ""


def nap(known: Sequence[Standing], now: int, likeness: Likeness, check: Check) -> list[Change]:
    """After a session: the newest of a project, duplicates alone."""
    return list(consolidate(_newest(known, LIMITS["nap"]), now, likeness, check))


def dream(known: Sequence[Standing], now: int, likeness: Likeness, check: Check, used: Mapping[str, int]) -> list[Change]:
    """After many new memories of a project: duplicates, and what fades. `used` is when each was used last."""
    looked_at = _newest(known, LIMITS["dream"])
    found = list(consolidate(looked_at, now, likeness, check))
    return found + list(fade(_without(looked_at, found), now, used, check))


def deep(known: Sequence[Standing], now: int, likeness: Likeness, check: Check, used: Mapping[str, int]) -> list[Change]:
    """When nobody works: all projects, what they share, and the page on the person who works in them."""
    looked_at = _newest(known, LIMITS["deep"])
    found = list(consolidate(looked_at, now, likeness, check))
    left = _without(looked_at, found)
    found += fade(left, now, used, check)
    left = _without(left, found)
    patterns = list(across(left, likeness, check))
    page = soul(left, patterns, [each for each in known if _is_page(each)]) if check() else None
    return [*found, *patterns, *([page] if page else [])]


def _is_page(memory: Standing) -> bool:
    return memory.level == "digest_long" and memory.detail.get("page") == "soul" and memory.superseded_by is None


def _newest(known: Sequence[Standing], most: int) -> list[Standing]:
    able = [each for each in known if each.level in ("observation", "derived") and not each.held
            and each.superseded_by is None and each.valid_to is None]  # fmt: skip
    return sorted(able, key=time_of, reverse=True)[:most]


def _without(known: Iterable[Standing], changes: Iterable[Change]) -> list[Standing]:
    gone = {change.old for change in changes if isinstance(change, Supersede)}
    gone |= {change.memory for change in changes if isinstance(change, Fade) and change.valid_to is not None}
    return [each for each in known if each.id not in gone]


def consolidate(known: Sequence[Standing], now: int, likeness: Likeness, check: Check) -> Iterable[Change]:
    """Of those that say the same in one place and kind, the best worded stays and stands for the others."""
    able = [each for each in known if each.level == "observation"]
    for group in _groups(able, likeness, check, ("same",), _may_be_one, _may_be_one):
        best = best_worded(group)
        for each in sorted(group, key=time_of):
            if each.id != best.id and not each.pinned and each.made_by != "person":
                yield Supersede(each.id, best.id, now, "says the same", standing(each), joined=True)


def _may_be_one(one: Standing, other: Standing) -> bool:
    """Whether two are of one place and have most words in common; all else need not be compared."""
    if _place(one) != _place(other):
        return False
    mine, others = words(one.text), words(other.text)
    return len(mine & others) >= ALIKE * len(mine | others)


def _place(memory: Standing) -> tuple[object, ...]:
    return memory.scope, memory.project_id, memory.kind, memory.trust


def fade(known: Iterable[Standing], now: int, used: Mapping[str, int], check: Check) -> Iterable[Change]:
    """What rests on little and was not used for long is trusted less, by half in 90 days."""
    for each in known:
        if not check():
            return
        if not fades(each):
            continue
        unused = now - max(each.valid_from, used.get(each.id, 0))
        base = surer(float(each.detail.get("found", each.confidence)), int(each.detail.get("seen", 1)) - 1)
        left = round(base * 0.5 ** (max(0, unused) / HALF_LIFE_MS), 4)
        if left < FLOOR:
            yield Fade(each.id, min(left, each.confidence), now, standing(each))
        elif each.confidence - left >= LEAST_FADE:
            yield Fade(each.id, left, None, standing(each))


def fades(memory: Standing) -> bool:
    """Whether time wears it away: tasks, and what no person said; never what a person keeps or decided."""
    decided = memory.made_by == "person" or "acted" in memory.detail or "done" in memory.detail
    if memory.pinned or decided or memory.kind in ("instruction", "decision"):
        return False
    return memory.level == "observation" and (memory.kind == "task" or memory.trust not in ("user", "human_file"))


def across(known: Sequence[Standing], likeness: Likeness, check: Check) -> Iterable[Insight]:
    """What was said in several projects holds in all of them."""
    made = {(each.kind, each.text): each.id for each in known if each.level == "derived" and each.scope == "global"}
    able = [each for each in known if each.kind in SHARED and each.scope == "project" and each.trust != "tool"]
    for group in _groups(able, likeness, check, ("same", "reinforces"), _apart, says_the_same):
        if _is_pattern(group):
            insight = insight_of(group, "global", None)
            if (insight.kind, insight.text) not in made:
                worded = {(each.kind, each.text) for each in group}
                yield replace(insight, replaces=tuple(sorted(made[each] for each in worded & made.keys())))


def _is_pattern(group: Sequence[Standing]) -> bool:
    several = len({each.project_id for each in group}) >= PROJECTS
    return several and (len({each.session_id or each.id for each in group}) >= SESSIONS or in_the_same_words(group))


def _apart(one: Standing, other: Standing) -> bool:
    return one.project_id != other.project_id


def _groups(
    known: Sequence[Standing], likeness: Likeness, check: Check, wanted: Sequence[str],
    able: Callable[[Standing, Standing], bool], one: Callable[[Standing, Standing], bool],
) -> list[list[Standing]]:  # fmt: skip
    """Those that agree, and of which any two may be one; groups of two and more, the oldest first in each."""
    partners = Partners(known)
    groups = {each.id: [each] for each in known}  # those of one group share the list
    for each in known:
        if not check():
            break
        for other in partners.of(each):
            older = time_of(other) < time_of(each) and other.kind == each.kind and able(each, other)
            mine, others = groups[each.id], groups[other.id]
            if not older or mine is others or not all(one(first, second) for first in mine for second in others):
                continue
            if relation(each, other, likeness) in wanted:
                others += mine
                groups |= dict.fromkeys((joined.id for joined in mine), others)
    found = {id(group): sorted(group, key=time_of) for group in groups.values() if len(group) > 1}
    return sorted(found.values(), key=lambda group: time_of(group[0]))
