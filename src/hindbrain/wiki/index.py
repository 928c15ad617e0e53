"""All pages -> `index.md`, where each has its line; what was compiled when -> `log.md`; the newest soul -> `soul.md`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Final

from hindbrain.wiki.page import Fact, Material, Page
from hindbrain.wiki.render import day, link
from hindbrain.wiki.text import escaped, folded

_GROUPS: Final = (
    ("project", "Projects"), ("concept", "Concepts"), ("connection", "Connections"), ("qa", "Questions"), ("daily", "Days"),
)  # fmt: skip
MOST_LETTERS: Final = 120


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that happened to the wiki."""

    at: int
    op: str  # compile, sync, undo
    text: str = ""  # one line
    pages: tuple[str, ...] = ()  # paths


def index(pages: Mapping[str, Page], material: Material, shown: Callable[[Page], str] | None = None) -> Page:
    """A line for each page, by kind and title: what it is called and the statement that says most.

    `shown` gives the `line` of a page for whoever still has it from last time.
    """
    shown = shown or (lambda page: line(page, material))
    held: dict[str, list[Page]] = defaultdict(list)
    for page in pages.values():
        held[page.type].append(page)
    parts = []
    for kind, name in _GROUPS:
        if held[kind]:
            parts += [f"## {name}", "\n".join(map(shown, _ordered(held[kind])))]
    if "soul" in pages:
        parts = [f"- {link(pages['soul'])}", *parts]
    times = [page.updated for page in pages.values() if page.type != "log"]
    first = min((page.created for page in pages.values() if page.created), default=0)
    body = "\n\n".join(parts) or "Nothing is known yet."
    return Page("index", "index", "index.md", "Index", body=body, created=first, updated=max(times, default=0))


def _ordered(pages: Iterable[Page]) -> list[Page]:
    """By title; days from the newest."""
    found = sorted(pages, key=lambda page: (page.title.casefold(), page.path))
    return [*reversed(found)] if found[0].type == "daily" else found


def line(page: Page, material: Material) -> str:
    """A page in one line."""
    facts = [material.facts[each] for section in page.sections for each in section.facts if each in material.facts]
    holding = [fact for fact in facts if fact.state in ("current", "disputed")]
    count = f" ({len(holding)})" if facts else ""
    says = f": {escaped(_cut(_best(holding).text))}" if holding and page.type in ("concept", "connection") else ""
    return f"- {link(page)}{count}{says}"


def _best(facts: Sequence[Fact]) -> Fact:
    """What to show of a page in one line: pinned, sure, new."""
    return max(facts, key=lambda one: (one.pinned, one.state == "current", round(one.confidence, 1), one.valid_from, one.id))


def _cut(words: str) -> str:
    shown = folded(words)
    return shown if len(shown) <= MOST_LETTERS else shown[:MOST_LETTERS].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def log(entries: Iterable[Entry], zone: tzinfo = UTC) -> Page:
    """The newest first, a heading for each day."""
    held: dict[str, list[Entry]] = defaultdict(list)
    every = sorted(entries, key=lambda entry: (-entry.at, entry.op, entry.text))
    for entry in every:
        held[day(entry.at, zone)].append(entry)
    parts = [part for date, found in held.items() for part in (f"## {date}", "\n".join(_entry(entry, zone) for entry in found))]
    return Page("log", "log", "log.md", "Log", body="\n\n".join(parts) or "Nothing was compiled yet.",
                created=every[-1].at if every else 0, updated=every[0].at if every else 0)  # fmt: skip


def _entry(entry: Entry, zone: tzinfo) -> str:
    try:
        clock = datetime.fromtimestamp(entry.at / 1000, zone).strftime("%H:%M")
    except (OverflowError, ValueError, OSError):
        clock = "00:00"
    text = f": {escaped(entry.text)}" if folded(entry.text) else ""
    links = ", ".join(f"[[{path.removesuffix('.md')}]]" for path in entry.pages)
    pages = f" ({links})" if links else ""
    return f"- {clock} {escaped(entry.op)}{text}{pages}"


def soul(material: Material) -> Page | None:
    """Who the user is, in the words of the newest soul; None where there is none."""
    if not material.soul.strip():
        return None
    lines = [escaped(each) for each in material.soul.split("\n") if each.strip()]
    return Page("soul", "soul", "soul.md", "Soul", body="\n\n".join(lines))
