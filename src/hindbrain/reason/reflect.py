"""New statements and what stands -> what they do to it: supersede, contradict, reinforce; and insights of several that agree.

Every pair is judged by itself, the newer against the older by the time from which they hold, and what became of a memory follows
from all its pairs. So it does not matter in which order statements arrive, as long as what was superseded before is among what
they are compared with. Where several end the same one, all are told with how sure that is, and the surest counts. Nothing is
written here but by `apply`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from hindbrain.reason.agreement import says_the_same
from hindbrain.reason.applying import apply
from hindbrain.reason.beside import Beside
from hindbrain.reason.changes import Change, Contradict, Insight, Reinforce, Standing, Supersede, standing
from hindbrain.reason.families import tools
from hindbrain.reason.gate import tells_of_oneself
from hindbrain.reason.partners import Partners
from hindbrain.reason.relation import Likeness, Verdict, outranks, reverses, says_change, verdict
from hindbrain.reason.vocabulary import plain
from hindbrain.recall.fitting import stem
from hindbrain.recall.words import STOP_WORDS, spaced

__all__ = ["apply", "judge", "reflect"]

AGREEING: Final = 3  # sessions that must agree before it is an insight
MOST_AGREEING: Final = 12
LEAST_LIKE: Final = 0.3  # of two statements about one thing; of a hundred labelled ones 88 are so alike, or share two words
LEAST_SHARED: Final = 2
LEAST_SURE: Final = 0.15  # of two that share less
SURE: Final = 0.5  # how likely it has to be that one replaces the other: what is replaced by mistake is lost to whoever asks
INSIGHTFUL: Final = ("preference", "instruction", "correction", "lesson", "procedure", "fact", "decision")
BEST_CHARS: Final = (20, 160)  # a statement of this length says what it means and no more


def reflect(
    new: Sequence[Standing], current: Sequence[Standing], likeness: Likeness, decided: Mapping[tuple[str, str], str] | None = None
) -> list[Change]:
    """What the new statements do to the current ones and to each other. Superseded ones may be among the current: see above.

    `decided` says of some pairs (the newer's id, the older's) what they are to each other, as far as the two bear it out; the
    others are judged here.
    """
    every = {each.id: each for each in (*current, *new) if _seen(each)}
    return _Reflection(every, [each for each in new if each.id in every], likeness, decided or {}).changes()


def _seen(memory: Standing) -> bool:
    """Whether it takes part: told to nobody, it does nothing to others; digests and contradictions are no statements."""
    return memory.held == "" and memory.level in ("observation", "derived")


def time_of(memory: Standing) -> tuple[int, str]:
    return memory.valid_from, memory.id


class _Reflection:
    def __init__(
        self, every: dict[str, Standing], new: Sequence[Standing], likeness: Likeness, decided: Mapping[tuple[str, str], str]
    ) -> None:
        self.every = every
        self.new = sorted(new, key=time_of)
        self.likeness = likeness
        self.partners = Partners(sorted(every.values(), key=time_of))
        self.decided = decided
        self.judged: dict[tuple[str, str], Verdict] = {}

    def changes(self) -> list[Change]:
        pairs: dict[tuple[str, str], str] = {}
        for each in self.new:
            for newer, older in self._pairs(each):
                if said := self._judge(newer, older).said:
                    pairs[newer.id, older.id] = said
        found: list[Change] = []
        gone = {each.id for each in self.every.values() if _ended(each)}
        gone |= {older for (_, older), said in pairs.items() if said == "supersedes"}
        for (new, old), said in sorted(pairs.items(), key=lambda pair: (*time_of(self.every[pair[0][0]]), pair[0][1])):
            newer, older = self.every[new], self.every[old]
            if said == "supersedes":
                sure = round(self.judged[new, old].sure, 3)
                found.append(Supersede(old, new, newer.valid_from, "said otherwise later", standing(older), sure))
            elif said == "contradicts" and not {new, old} & gone:
                found.append(Contradict(new, old, _both(newer, older)))
            elif said in ("reinforces", "same"):
                found.append(Reinforce(old, new, standing(older)))
        return found + self._insights(pairs, gone)

    def _pairs(self, memory: Standing) -> Iterable[tuple[Standing, Standing]]:
        """The memory with each that may be about the same thing, the newer first."""
        for other in self.partners.of(memory):
            if _comparable(memory, other):
                yield (memory, other) if time_of(memory) > time_of(other) else (other, memory)

    def _judge(self, newer: Standing, older: Standing) -> Verdict:
        key = (newer.id, older.id)
        if key not in self.judged:
            said = self.decided.get(key)
            self.judged[key] = judge(newer, older, self.likeness) if said is None else Verdict(
                allowed(newer, older, founded(newer, older, said, self.likeness)), 1.0
            )
        return self.judged[key]

    def _insights(self, pairs: dict[tuple[str, str], str], gone: set[str]) -> list[Change]:
        agreeing = {each for pair, said in pairs.items() if said in ("reinforces", "same") for each in pair}
        made = {(each.kind, each.scope, each.project_id, each.text): each.id for each in self.every.values()
                if each.level == "derived" and not _ended(each)}  # fmt: skip
        found: dict[tuple[str, ...], Insight] = {}
        for each in self.new:
            if each.id not in agreeing or each.id in gone or each.kind not in INSIGHTFUL or each.trust == "tool":
                continue
            group = self._agreeing(each)
            merged = {one.id for one in group}  # what a dream made one of still counts
            group = [one for one in group if one.id not in gone or one.superseded_by in merged]
            if len({one.session_id or one.id for one in group}) >= AGREEING:
                insight = insight_of([one for one in group if one.id not in gone], each.scope, each.project_id)
                worded = {(one.kind, each.scope, each.project_id, one.text) for one in group if one.text != insight.text}
                replaced = tuple(sorted(made[key] for key in worded & made.keys()))
                found.setdefault(insight.supports, replace(insight, replaces=replaced))
        return [found[key] for key in sorted(found)]

    def _agreeing(self, memory: Standing) -> list[Standing]:
        """All that agree with it, or with one that agrees with it, and say the same as each of the others; oldest first."""
        found = {memory.id: memory}
        waiting = [memory]
        while waiting and len(found) < MOST_AGREEING:
            for newer, older in self._pairs(waiting.pop(0)):
                if self._judge(newer, older).said in ("reinforces", "same"):
                    for one in (newer, older):
                        able = one.level == "observation" and one.kind in INSIGHTFUL and one.trust != "tool"
                        if one.id not in found and able and all(says_the_same(one, each) for each in found.values()):
                            found[one.id] = one
                            waiting.append(one)
        return sorted(found.values(), key=time_of)


def _ended(memory: Standing) -> bool:
    return memory.superseded_by is not None or memory.valid_to is not None


def _comparable(one: Standing, other: Standing) -> bool:
    """Whether one may speak of the other: of one project, or one of them of all."""
    if "derived" in (one.level, other.level) and one.level == other.level:
        return False
    return one.project_id == other.project_id or "global" in (one.scope, other.scope)


def judge(newer: Standing, older: Standing, likeness: Likeness) -> Verdict:
    """The relation of two memories, where they come from being looked at too."""
    said, sure = verdict(newer, older, likeness)
    if said in ("supersedes", "contradicts") and not _on_one_topic(newer, older, likeness) and not reverses(newer, older):
        # Few words in common are enough where all else speaks for it: "40 rows" and "40 is too much for phones, make it 25".
        near = likeness(newer.text, older.text) >= LEAST_SURE or Beside(newer, older, likeness).tied
        said = said if said == "supersedes" and near else ""
    if said == "supersedes" and sure < SURE:
        said = ""
    return Verdict(allowed(newer, older, said), sure)


def founded(newer: Standing, older: Standing, said: str, likeness: Likeness) -> str:
    """What a model's word on a pair comes to: where they do not speak of one thing none ends the other, and a person looks."""
    if said not in ("supersedes", "contradicts") or judge(newer, older, likeness).said == said:
        return said
    replaced = str(newer.detail.get("instead_of") or "")
    if _one_topic(newer, older, likeness) or _telling(replaced) & _telling(older.text):
        return said
    near = likeness(newer.text, older.text) >= LEAST_SURE or Beside(newer, older, likeness).tied
    return "contradicts" if near or _telling(newer.text) & _telling(older.text) else ""


def _on_one_topic(newer: Standing, older: Standing, likeness: Likeness) -> bool:
    """Whether it says itself what it replaces, or both are about one thing."""
    return bool(newer.detail.get("instead_of")) or _one_topic(newer, older, likeness)


def _one_topic(newer: Standing, older: Standing, likeness: Likeness) -> bool:
    """One word in common ends nothing: "RS256 keys are retired" says nothing of "UUIDv7 primary keys"."""
    if _tools(newer.text) & _tools(older.text):
        return True  # it names what can take the other's place
    return likeness(newer.text, older.text) >= LEAST_LIKE or len(_telling(newer.text) & _telling(older.text)) >= LEAST_SHARED


@lru_cache(4_096)
def _tools(text: str) -> frozenset[str]:
    return frozenset(family for family, _ in tools(plain(text)))


@lru_cache(4_096)
def _telling(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in spaced(text).split() if word not in STOP_WORDS and len(word) > 2)


def allowed(newer: Standing, older: Standing, said: str) -> str:
    """What may be made of a relation, whoever found it: persons, pins and what holds everywhere are not replaced lightly."""
    if said in ("reinforces", "same") and "derived" in (newer.level, older.level):
        return ""  # an insight is made of what was said, and says nothing new
    if said not in ("supersedes", "contradicts"):
        return said
    if all(each.made_by != "person" and tells_of_oneself(each.text) for each in (newer, older)) and not reverses(newer, older):
        return ""  # what people tell of their days is no state of things that the next day ends
    within = newer.session_id is not None and newer.session_id == older.session_id
    if within and (newer.valid_from == older.valid_from or not (says_change(newer) or newer.kind == "correction")):
        return ""  # said in one breath, or one after the other and none of both taken back: both were meant
    narrower = older.scope == "global" != newer.scope and not says_change(newer)
    if said == "supersedes" and newer.level == "derived":
        return ""
    if said == "supersedes" and (older.pinned or narrower or not outranks(newer, older)):
        return "contradicts"
    return said


def best_worded(group: Sequence[Standing]) -> Standing:
    """Of statements that say the same the one that says it best: neither terse nor long, well founded, the newest."""
    least, most = BEST_CHARS

    def rank(each: Standing) -> tuple[bool, bool, bool, float, int, str]:
        fits = least <= len(each.text) <= most
        found = float(each.detail.get("found", each.confidence))  # how sure it was by itself, before others agreed
        return (bool(each.pinned), each.made_by == "person", fits, round(found, 2), *time_of(each))

    return max(group, key=rank)


def insight_of(group: Sequence[Standing], scope: str, project: str | None) -> Insight:
    best = best_worded(group)
    return Insight(best.kind, best.text, tuple(each.id for each in sorted(group, key=time_of)), scope, project)


def _both(newer: Standing, older: Standing) -> str:
    return f"“{older.text}” / “{newer.text}”"
