"""Pages and what the ledger knows -> statements that are out of date, in dispute, said twice, or rest on nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from hindbrain.wiki.finding import ARTICLES, Finding, Pages, fingerprint, type_of
from hindbrain.wiki.links import folded
from hindbrain.wiki.lint_links import shown
from hindbrain.wiki.outline import lines_of
from hindbrain.wiki.page import Read, ReadLine
from hindbrain.wiki.sections import DISPUTED, HISTORY, SOURCES

_DAY: Final = re.compile(r"daily/(\d{4}-\d\d-\d\d)\.md")
_SESSION: Final = re.compile(r"\^?(s-[0-9A-Za-z]+)")
_NAMED: Final = re.compile(r"(?<![\w-])m-[0-9A-Za-z]+(?![\w-])")


def _statements(pages: Pages) -> Iterator[tuple[str, ReadLine]]:
    for path, read in pages.read.items():
        for line in read.lines:
            if line.memory:
                yield path, line


def out_of_date(pages: Pages) -> Iterator[Finding]:
    """Statements that are shown as standing though the ledger has ended them, or does not know them."""
    memories = pages.knowledge.memories
    if memories is None:
        return
    for path, line in _statements(pages):
        known = memories.get(line.memory)
        if known is None:
            yield Finding("unknown-memory", "error", path, line.number, f"the ledger holds no memory {line.memory}")
        elif line.struck or folded(line.section) == folded(HISTORY) or line.checked or type_of(path) == "daily":
            continue  # told as past, or as what was said that day
        elif known.state == "superseded":
            by = f" by {known.successor}" if known.successor else ""
            yield Finding("stale-fact", "warning", path, line.number, f"{line.memory} was replaced{by} and is shown as standing")
        elif known.state == "expired":
            yield Finding("expired-fact", "warning", path, line.number, f"{line.memory} holds no more and is shown as standing")


def stale(pages: Pages) -> Iterator[Finding]:
    """Logs that are not compiled yet, and articles that were changed, or whose sources were, since they were."""
    compiled = pages.knowledge.compiled
    for path, text in pages.wiki.texts.items():
        kind = type_of(path)
        if compiled is not None and kind in {*ARTICLES, "daily"} and compiled.get(path) != fingerprint(text):
            if kind == "daily":
                yield Finding("uncompiled-log", "warning", path, 0, "what this day says is not compiled yet")
            else:
                said = "changed after it was compiled" if path in compiled else "never compiled"
                yield Finding("stale-page", "warning", path, 0, f"the page was {said}")
        if kind in ARTICLES:
            yield from _older_than_its_sources(pages, path)


def _older_than_its_sources(pages: Pages, path: str) -> Iterator[Finding]:
    line, written = pages.wiki.pages[path].outline.front.get("updated", (0, ""))
    updated = written[:10]
    days = [found[1] for _, to in pages.links[path] if (found := _DAY.fullmatch(to.path))]
    if updated and days and max(days) > updated:
        said = f"its newest source is of {max(days)}, the page of {shown(updated)}"
        yield Finding("stale-page", "warning", path, line, said)


def contradictions(pages: Pages) -> Iterator[Finding]:
    """Statements in dispute, and statements that stand on one page and are struck out on another."""
    memories = pages.knowledge.memories or {}
    standing: dict[str, tuple[str, int]] = {}
    struck: list[tuple[str, ReadLine]] = []
    for path, line in _statements(pages):
        known = memories.get(line.memory)
        if known and known.state == "disputed":
            yield Finding("contradiction", "warning", path, line.number, f"{line.memory} contradicts {', '.join(known.disputes)}")
        elif folded(line.section) == folded(DISPUTED) and not line.struck and not known:
            yield Finding("contradiction", "warning", path, line.number, "this statement is in dispute")
        if type_of(path) == "daily":
            continue
        if line.struck:
            struck.append((path, line))
        else:
            standing.setdefault(line.memory, (path, line.number))
    for path, line in struck:
        if line.memory in standing:
            other, number = standing[line.memory]
            said = f"{line.memory} is struck out here and stands in {other}, line {number}"
            yield Finding("contradiction", "warning", path, line.number, said)


def said_twice(pages: Pages) -> Iterator[Finding]:
    """One memory under two block marks of a page, or in other words elsewhere; the same words under two memories."""
    words: dict[str, tuple[str, str, int]] = {}
    for path, leaf in pages.wiki.pages.items():
        for mark, number in leaf.outline.repeated if type_of(path) != "daily" else ():  # two sessions may say the same
            first = leaf.outline.marks[mark]
            yield Finding("duplicate-mark", "error", path, number, f"^{mark} marks line {first} already")
    for path, line in _statements(pages):
        said = folded(line.text)
        first_said, other, number = words.setdefault(line.memory, (said, path, line.number))
        if said != first_said and path != other and type_of(path) in ARTICLES and type_of(other) in ARTICLES:
            told = f"{line.memory} is worded differently in {other}, line {number}"
            yield Finding("differing-words", "warning", path, line.number, told)
    for path, read in pages.read.items():
        yield from _same_words(path, read)


def _same_words(path: str, read: Read) -> Iterator[Finding]:
    seen: dict[str, ReadLine] = {}
    for line in read.lines:
        if line.memory and not line.struck and type_of(path) in ARTICLES:
            first = seen.setdefault(folded(line.text), line)
            if first.memory != line.memory:
                said = f"line {first.number} says the same as {first.memory}"
                yield Finding("duplicate-words", "note", path, line.number, said)


def sources(pages: Pages) -> Iterator[Finding]:
    """Sources that name a session or a statement that is not there, and statements that no source names."""
    for path in pages.articles:
        yield from _dead_sessions(pages, path)
        held = {line.memory: line.number for line in reversed(pages.read[path].lines) if line.memory}
        named: set[str] = set()
        for number, line in _source_lines(pages, path):
            for memory in (found.replace("-", "_", 1) for found in _NAMED.findall(line)):
                named.add(memory)
                if memory not in held:
                    yield Finding("dead-source", "warning", path, number, f"{memory} is no statement of this page")
        for memory, number in held.items():
            if memory not in named:
                yield Finding("no-source", "warning", path, number, f"no source names {memory}")


def _source_lines(pages: Pages, path: str) -> Iterator[tuple[int, str]]:
    headings = pages.wiki.pages[path].outline.headings
    begin = next((each for each in headings if each.level == 2 and folded(each.text) == folded(SOURCES)), None)
    if begin is None:
        return
    end = next((each.line for each in headings if each.line > begin.line and each.level <= 2), None)
    lines = lines_of(pages.texts[path])[begin.line : end - 1 if end else None]
    yield from enumerate(lines, begin.line + 1)


def _dead_sessions(pages: Pages, path: str) -> Iterator[Finding]:
    known = pages.knowledge.sessions
    if known is None:
        return
    for link, to in pages.links[path]:
        session = _SESSION.fullmatch(link.part)
        if session and type_of(to.path) == "daily" and session[1] not in known:
            yield Finding("dead-source", "warning", path, link.line, f"the ledger holds no session {session[1]}")
