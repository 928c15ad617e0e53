"""A planned page, what the ledger holds and what a person settled -> the page's text.

A pure function: the same values give the same bytes. Every statement is one list item that ends in the mark of its memory.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from typing import Final

from hindbrain.wiki import front, names
from hindbrain.wiki.page import Fact, Material, Page, Section
from hindbrain.wiki.sections import NOTES, RELATED, SOURCES, TASKS
from hindbrain.wiki.text import escaped, folded, mark, tailed

OURS: Final = ("id", "title", "aliases", "tags", "sources", "created", "updated", "confidence")  # front matter that is made


@dataclass(frozen=True, slots=True)
class Human:
    """What a person settled for one page. Empty wherever nothing was."""

    title: str = ""
    aliases: tuple[str, ...] | None = None  # None: those that are planned
    tags: tuple[str, ...] | None = None
    extra: Mapping[str, object] = field(default_factory=dict[str, object])  # front matter of the person's own
    notes: tuple[str, ...] = ()  # blocks, verbatim
    related: tuple[str, ...] = ()  # lines a person added under Related, verbatim, without the dash
    unlinked: tuple[str, ...] = ()  # lines a person took away from Related


NOBODY: Final = Human()


def rendered(page: Page, material: Material, pages: Mapping[str, Page], human: Human = NOBODY, *, zone: tzinfo = UTC) -> str:
    """The whole text. `pages` are all pages by id, for links; `zone` decides on which day something was said."""
    title = folded(human.title or page.title)
    parts = [f"---\n{front.written(_front(page, title, material, human, zone))}---", f"# {escaped(title)}"]
    if page.body:
        parts.append(page.body.strip("\n"))
    many = len(page.projects) > 1
    parts += [_section(each, material, many, zone) for each in page.sections]
    if human.notes:
        parts.append("\n\n".join((f"## {NOTES}", *human.notes)))
    parts += filter(None, (_related(page, pages, human), _sources(page, material, many, zone)))
    return "\n\n".join(filter(None, parts)) + "\n"


def day(at: int, zone: tzinfo) -> str:
    """2026-03-02"""
    try:
        return datetime.fromtimestamp(at / 1000, zone).strftime("%Y-%m-%d")
    except (OverflowError, ValueError, OSError):
        return "0000-00-00"  # a clock that was nowhere; still the form of a day


def _front(page: Page, title: str, material: Material, human: Human, zone: tzinfo) -> dict[str, object]:
    facts = [material.facts[each] for section in page.sections for each in section.facts if each in material.facts]
    aliases = page.aliases if human.aliases is None else human.aliases
    if human.title and human.title != page.title and human.aliases is None:
        aliases = (page.title, *aliases)  # links to the old title still find it
    values: dict[str, object] = {"id": page.id, "title": title}
    tags = page.tags if human.tags is None else human.tags
    for name, words in (("aliases", aliases), ("tags", tags)):
        if found := [*filter(None, map(folded, words))]:
            values[name] = found
    if facts:
        values["sources"] = len({source.session for fact in facts for source in fact.sources})
    values |= {name: day(at, zone) for name, at in (("created", page.created), ("updated", page.updated)) if at}
    if facts:
        values["confidence"] = round(page.confidence, 2)
    return values | {key: value for key, value in human.extra.items() if key not in OURS}


def _section(section: Section, material: Material, many: bool, zone: tzinfo) -> str:
    facts = [material.facts[each] for each in section.facts if each in material.facts]
    lines = "\n".join(line(fact, material, section.name, many=many, zone=zone) for fact in facts)
    prose = section.prose.strip("\n")
    return "\n\n".join(filter(None, (f"## {section.name}", prose, lines))) if lines or prose else ""


def line(fact: Fact, material: Material, section: str = "", *, many: bool = False, zone: tzinfo = UTC) -> str:
    """A statement as a list item."""
    over = fact.state in ("superseded", "expired")
    done = fact.kind == "task" and fact.state == "expired"
    words = escaped(fact.text)
    shown = f"~~{words}~~" if over and words and not done else words
    box = ("[x] " if done else "[ ] ") if fact.kind == "task" and (done or (section == TASKS and not over)) else ""
    tail = [*([f"project: {escaped(_name(fact.project, material))}"] if many else ()), *_why(fact)]
    if over:
        end = fact.valid_to if fact.valid_to is not None else fact.valid_from
        tail.append(f"{day(fact.valid_from, zone)} to {day(end, zone)}")
    return " ".join(filter(None, (f"- {box}".rstrip(), tailed(shown, tail), mark(fact.id))))


def _name(project: str | None, material: Material) -> str:
    return material.projects.get(project, project) if project else "all"


def _why(fact: Fact) -> list[str]:
    """The reason and what was not taken, where the words do not say so already."""
    said = folded(fact.text).casefold()
    pairs = (("because", fact.why), ("instead of", fact.instead_of))
    return [f"{label}: {escaped(words)}" for label, words in pairs if folded(words) and folded(words).casefold() not in said]


def _related(page: Page, pages: Mapping[str, Page], human: Human) -> str:
    lines = [link(pages[each]) for each in dict.fromkeys(page.related) if each in pages and each != page.id]
    lines = [each for each in lines if each not in human.unlinked]
    lines += [each for each in human.related if each not in lines]
    return "\n\n".join((f"## {RELATED}", "\n".join(f"- {each}" for each in lines))) if lines else ""


def link(page: Page, part: str = "") -> str:
    """`[[concepts/postgresql|PostgreSQL]]`"""
    return f"[[{page.path.removesuffix('.md')}{part}|{label(page.title)}]]"


def label(title: str) -> str:
    """A title as the words of a link: what could end the link or a block is left out."""
    shown = "".join(" " if letter in "[]|#^`<>\\" or not letter.isprintable() else letter for letter in title)
    return folded(shown) or "page"


def _sources(page: Page, material: Material, many: bool, zone: tzinfo) -> str:
    """A line for each session: when, who, and what of it is on the page."""
    said: dict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    first: dict[tuple[str, str, str], int] = {}
    for fact in _facts(page, material):
        for source in fact.sources:
            key = (source.session, source.agent, _name(fact.project, material) if many else "")
            first[key] = min(source.at, first.get(key, source.at))
            said[key][source.turn].append(fact.id)
    lines = [_source(key, first[key], said[key], material, zone) for key in sorted(said, key=lambda key: (first[key], key))]
    return "\n\n".join((f"## {SOURCES}", "\n".join(lines))) if lines else ""


def _facts(page: Page, material: Material) -> Iterable[Fact]:
    return (material.facts[each] for section in page.sections for each in section.facts if each in material.facts)


def _source(key: tuple[str, str, str], at: int, turns: Mapping[str, Sequence[str]], material: Material, zone: tzinfo) -> str:
    session, agent, project = key
    began = material.sittings[session].began if session in material.sittings else at
    where = f" in {escaped(project)}" if project else ""
    target = f"[[daily/{day(began, zone)}#^s-{names.short(session)}|session {names.short(session)}]]"
    known = target if session in material.sittings else f"session {names.short(session)}"
    said = "; ".join(f"`{_turn(turn)}` ({_marks(ids)})" for turn, ids in turns.items())
    return f"- {day(at, zone)} {escaped(agent)}{where}, {known}: {said}"


def _marks(ids: Sequence[str]) -> str:
    return ", ".join(mark(each)[1:] for each in dict.fromkeys(ids))


def _turn(turn: str) -> str:
    return turn if re.fullmatch(r"[a-z]_[0-9a-z]{1,64}", turn) else names.hashed(turn)
