"""Sessions -> a page for each day: what each was about, what was said, decided, learned and left to do.

Made from the material alone, so that the same ledger gives the same bytes. A session belongs to the day it began on. The line
below its heading bears the mark `^s-…` to which the sources of other pages point; what the user said bears the mark of its turn,
and every statement that of its memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, tzinfo
from typing import Final

from hindbrain.wiki import names
from hindbrain.wiki.page import FOLDERS, Fact, Material, Page, Sitting
from hindbrain.wiki.render import day, line
from hindbrain.wiki.sections import section_of
from hindbrain.wiki.text import escaped, folded, mark

_PARTS: Final[Mapping[str, str]] = {
    "Decisions": "Decisions", "Rules": "Decisions", "Lessons": "Lessons", "How to": "Lessons", "Key points": "Lessons",
    "Tasks": "Action items",
}  # fmt: skip
MOST_LETTERS: Final = 300  # of what a user said


def days(material: Material, zone: tzinfo) -> dict[str, Page]:
    """Page id -> page, one for each day on which a session began, oldest first."""
    made = [page(date, sittings, [told(each, material, zone) for each in sittings])
            for date, sittings in by_day(material, zone).items()]  # fmt: skip
    return {each.id: each for each in made}


def by_day(material: Material, zone: tzinfo) -> dict[str, list[Sitting]]:
    """Day -> the sessions that began on it, oldest first."""
    held: dict[str, list[Sitting]] = defaultdict(list)
    for sitting in sorted(material.sittings.values(), key=lambda sitting: (sitting.began, sitting.id)):
        held[day(sitting.began, zone)].append(sitting)
    return held


def page(date: str, sittings: Sequence[Sitting], parts: Iterable[str]) -> Page:
    """The page of a day, with what is `told` of each session."""
    projects = tuple(sorted({sitting.project for sitting in sittings if sitting.project}))
    body = "\n\n".join(parts)
    return Page(
        f"daily-{date}", "daily", f"{FOLDERS['daily']}/{date}.md", date, tags=("daily",), projects=projects, body=body,
        created=sittings[0].began, updated=max(max(sitting.began, sitting.ended) for sitting in sittings),
    )  # fmt: skip


def told(sitting: Sitting, material: Material, zone: tzinfo) -> str:
    """A session's part of its day."""
    project = material.projects.get(sitting.project or "", sitting.project or "")
    where = (f" in {escaped(project)}" if project else "") + (f" ({escaped(sitting.branch)})" if sitting.branch else "")
    began, ended = _clock(sitting.began, zone), _clock(max(sitting.began, sitting.ended), zone)
    if day(sitting.ended, zone) > day(sitting.began, zone):
        ended = f"{day(sitting.ended, zone)} {ended}"
    short = names.short(sitting.id)
    parts = [f"## {began} {escaped(sitting.agent)}{where}", f"Session {short}, {began} to {ended}. ^s-{short}"]
    parts += _headed("Context", [escaped(each) for each in _digest(sitting)], "\n\n")
    parts += _headed("Key exchanges", [_exchange(turn, words) for turn, words in sitting.exchanges if folded(words)], "\n")
    found: dict[str, list[str]] = defaultdict(list)
    for fact in (material.facts[each] for each in dict.fromkeys(sitting.facts) if each in material.facts):
        found[_PARTS[section_of(fact.kind)]].append(_line(fact, material, zone))
    for name in ("Decisions", "Lessons", "Action items"):
        parts += _headed(name, found[name], "\n")
    return "\n\n".join(parts)


def _line(fact: Fact, material: Material, zone: tzinfo) -> str:
    return line(fact, material, section_of(fact.kind), zone=zone)


def _digest(sitting: Sitting) -> list[str]:
    """The long digest line by line, else the short one."""
    return [folded(each) for each in (sitting.long or sitting.short).split("\n") if folded(each)]


def _headed(name: str, lines: Sequence[str], between: str) -> list[str]:
    return [f"### {name}", between.join(lines)] if lines else []


def _exchange(turn: str, words: str) -> str:
    shown = folded(words)
    cut = shown if len(shown) <= MOST_LETTERS else shown[:MOST_LETTERS].rstrip() + "…"
    return f"- {escaped(cut)} {mark(turn)}"


def _clock(at: int, zone: tzinfo) -> str:
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%H:%M")
    except (OverflowError, ValueError, OSError):
        return "00:00"
