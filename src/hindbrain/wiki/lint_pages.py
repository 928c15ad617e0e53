"""Pages -> what is wrong with each by itself: front matter, titles that two pages share, and pages that say next to nothing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Final

from hindbrain.wiki.finding import ARTICLES, Finding, Pages, type_of
from hindbrain.wiki.links import Leaf, folded, stem
from hindbrain.wiki.lint_links import shown
from hindbrain.wiki.names import is_page
from hindbrain.wiki.page import Read
from hindbrain.wiki.sections import RELATED, SOURCES

PREFIXES: Final[Mapping[str, str]] = {"concept": "c-", "connection": "x-", "qa": "q-", "project": "p-"}
FEWEST_STATEMENTS: Final = 2
FEWEST_WORDS: Final = 40
_LISTED: Final = frozenset({folded(RELATED), folded(SOURCES)})


def schema(pages: Pages) -> Iterator[Finding]:
    """Front matter that is missing, never ends, or holds what it cannot mean."""
    for path, leaf in pages.wiki.pages.items():
        kind = type_of(path)
        if not kind or not is_page(path):
            yield Finding("foreign-page", "note", path, 0, "no page of ours stands in this place")
        elif not leaf.outline.closed:
            yield Finding("schema", "error", path, 1, "the front matter is never closed")
        elif not readable(leaf):
            yield Finding("schema", "error", path, 1, "the front matter cannot be read")
        elif kind in ARTICLES:
            yield from _front(path, kind, leaf, pages.read[path])


def readable(leaf: Leaf) -> bool:
    """Whether the front matter was understood. Where it was not, nothing is added to it."""
    return leaf.outline.closed and not (leaf.outline.front.get("id", (0, ""))[1] and not leaf.read.id)


def _front(path: str, kind: str, leaf: Leaf, read: Read) -> Iterator[Finding]:
    front = leaf.outline.front
    if not read.id:
        yield Finding("schema", "error", path, 1, "the front matter names no id")
    elif not read.id.startswith(PREFIXES[kind]):
        said = f"the id {shown(read.id)} is not of a page in this folder: those begin with {PREFIXES[kind]}"
        yield Finding("schema", "error", path, _line(leaf, "id"), said)
    if not front.get("title", (1, ""))[1]:
        yield Finding("schema", "warning", path, _line(leaf, "title"), "the front matter names no title", True)
    if not any(heading.level == 1 for heading in leaf.outline.headings):
        yield Finding("schema", "note", path, leaf.outline.body, "the page has no heading", True)
    for name, fault in _FAULTS.items():
        if name in front and (said := fault(value(front[name][1]))):
            yield Finding("schema", "warning", path, front[name][0], f"{name} {said}: {shown(front[name][1])}")
    for name in ("created", "updated"):
        if name not in front:
            yield Finding("schema", "note", path, 1, f"the front matter names no day for {name}")
    yield from _order(path, front)


def _order(path: str, front: Mapping[str, tuple[int, str]]) -> Iterator[Finding]:
    days = [_day(value(front[name][1])) if name in front else None for name in ("created", "updated")]
    if days[0] and days[1] and days[0] > days[1]:
        said = f"created on {days[0]}, after {days[1]}, the day it was updated"
        yield Finding("schema", "warning", path, front["created"][0], said)


def _line(leaf: Leaf, name: str) -> int:
    return leaf.outline.front.get(name, (1, ""))[0]


def value(written: str) -> str:
    """A plain value without its quotes and the comment behind it."""
    return re.split(r"(?:^|[ \t])#", written)[0].strip().strip("\"'")


def _day(value: str) -> date | None:
    try:
        return date.fromisoformat(value[:10])
    except ValueError:
        return None


def _no_day(value: str) -> str:
    return "" if _day(value) else "is no day"


def _no_share(value: str) -> str:
    try:
        return "" if 0 <= float(value) <= 1 else "is not between 0 and 1"
    except ValueError:
        return "is no number"


def _no_count(value: str) -> str:
    return "" if value.isascii() and value.isdigit() else "is no number"


_FAULTS: Final[Mapping[str, Callable[[str], str]]] = {
    "created": _no_day, "updated": _no_day, "confidence": _no_share, "sources": _no_count,
}  # fmt: skip


def sparse(pages: Pages) -> Iterator[Finding]:
    """Articles of hardly a statement and hardly a word."""
    for path in pages.articles:
        read = pages.read[path]
        statements = [line for line in read.lines if folded(line.section) not in _LISTED]
        words = sum(len(line.text.split()) for line in statements) + sum(len(note.split()) for note in read.notes)
        if len(statements) < FEWEST_STATEMENTS and words < FEWEST_WORDS:
            said = f"{len(statements)} statement{'' if len(statements) == 1 else 's'} in {words} words"
            yield Finding("sparse", "note", path, 0, said)


def duplicates(pages: Pages) -> Iterator[Finding]:
    """Pages that share an id, a name or every statement, and files that one folder cannot hold on every system."""
    ids: dict[str, str] = {}
    files: dict[str, str] = {}
    names: dict[str, str] = {}
    contents: dict[tuple[str, frozenset[str]], str] = {}  # a connection may well say what one of its concepts does
    for path, leaf in pages.wiki.pages.items():
        read = pages.read[path]
        if read.id and (other := ids.setdefault(read.id, path)) != path:
            yield Finding("duplicate-id", "error", path, _line(leaf, "id"), f"{other} has the id {shown(read.id)} as well")
        if (other := files.setdefault(folded(stem(path)), path)) != path:
            yield Finding("duplicate-path", "error", path, 0, f"{other} is the same file where case does not count")
        if type_of(path) in ARTICLES:
            yield from _shared_names(path, leaf, names)
            held = frozenset(line.memory for line in read.lines if line.memory)
            if len(held) > 1 and (other := contents.setdefault((type_of(path), held), path)) != path:
                yield Finding("duplicate-page", "warning", path, 0, f"{other} holds exactly the same statements")


def _shared_names(path: str, leaf: Leaf, names: dict[str, str]) -> Iterator[Finding]:
    for place, name in enumerate((leaf.title, *leaf.aliases)):
        if name.strip() and (other := names.setdefault(folded(name), path)) != path:
            line = _line(leaf, "aliases" if place else "title")
            yield Finding("duplicate-title", "warning", path, line, f"{other} is called {shown(name)} as well")
