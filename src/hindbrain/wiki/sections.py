"""The facts of a page -> its sections, in the order a reader needs them.

What holds stands under the heading of its kind. What was replaced stands, struck out, right below what took its place where that
is of the same kind and on the page; everything else that is over is history.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from hindbrain.wiki.page import Fact, Section

KEY_POINTS: Final = "Key points"
DISPUTED: Final = "Disputed"
HISTORY: Final = "History"
NOTES: Final = "Notes"
RELATED: Final = "Related"
SOURCES: Final = "Sources"
TASKS: Final = "Tasks"
SECTIONS: Final = (KEY_POINTS, "Decisions", "Rules", "Lessons", "How to", TASKS, DISPUTED, HISTORY)  # with statements, in order

_OF_KIND: Final[Mapping[str, str]] = {
    "decision": "Decisions", "instruction": "Rules", "preference": "Rules", "lesson": "Lessons", "procedure": "How to",
    "task": TASKS,
}  # fmt: skip
_KIND: Final[Mapping[str, str]] = {
    "decisions": "decision", "rules": "instruction", "lessons": "lesson", "how to": "procedure", "tasks": "task",
    "action items": "task",
}  # fmt: skip


def section_of(kind: str) -> str:
    """The heading under which a statement of that kind stands."""
    return _OF_KIND.get(kind, KEY_POINTS)


def kind_of(section: str) -> str:
    """What a line is that a person adds under a heading."""
    return _KIND.get(" ".join(section.casefold().split()), "fact")


def sections(facts: Sequence[Fact]) -> tuple[Section, ...]:
    """Facts, oldest first -> sections that are not empty. Each fact is in exactly one."""
    here = {fact.id: fact for fact in facts}
    below: dict[str, list[str]] = defaultdict(list)
    for fact in facts:
        if _follows(fact, here):
            below[fact.successor or ""].append(fact.id)
    found: dict[str, list[str]] = defaultdict(list)
    placed: set[str] = set()
    for fact in sorted(facts, key=lambda fact: not fact.pinned):
        if fact.state in ("current", "disputed"):
            name = DISPUTED if fact.state == "disputed" else section_of(fact.kind)
            ids = _sides(fact, here) if fact.state == "disputed" else [fact.id]
            found[name].extend(_with_past(ids, below, placed))
    found[HISTORY] = [fact.id for fact in facts if fact.id not in placed]
    return tuple(Section(name, tuple(found[name])) for name in SECTIONS if found[name])


def _follows(fact: Fact, here: Mapping[str, Fact]) -> bool:
    """Whether it stands below what took its place."""
    newer = here.get(fact.successor or "")
    return newer is not None and newer.id != fact.id and section_of(newer.kind) == section_of(fact.kind)


def _sides(fact: Fact, here: Mapping[str, Fact]) -> list[str]:
    """Both sides, next to each other."""
    return [fact.id, *(other for other in fact.disputes if other in here and here[other].state == "disputed")]


def _with_past(ids: Iterable[str], below: Mapping[str, list[str]], placed: set[str]) -> list[str]:
    """Each with what it replaced, newest first, as far as it stands nowhere yet."""
    found: list[str] = []
    ahead = [*reversed([*ids])]
    while ahead:
        fact_id = ahead.pop()
        if fact_id not in placed:
            placed.add(fact_id)
            found.append(fact_id)
            ahead.extend(below.get(fact_id, ()))  # the last in is the newest
    return found
