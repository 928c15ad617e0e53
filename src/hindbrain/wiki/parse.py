"""A page's text, after anyone had it -> its front matter, its statements, and the blocks that are a person's own.

Never raises: what is not understood is a note, verbatim. A list item is a statement wherever it stands, but below Notes, Related
and Sources only if it bears the mark of a memory. Generated paragraphs (prose, digests) are read as notes too; who wants to know
what a person wrote compares with the reading of the text that was written last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hindbrain.wiki import front
from hindbrain.wiki.page import Read, ReadLine
from hindbrain.wiki.render import OURS
from hindbrain.wiki.sections import NOTES, RELATED, SECTIONS, SOURCES
from hindbrain.wiki.text import memory_of, parted, plain

_ENDS: Final = re.compile(r"\r\n|\r|\n")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_ITEM: Final = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*)|$)")
_RULE: Final = re.compile(r" {0,3}(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$")
_QUOTE: Final = re.compile(r" {0,3}[>|]")
_BOX: Final = re.compile(r"\[([ xX])\](?:[ \t]+|$)")
_MARK: Final = re.compile(r"(?:^|[ \t])\^([a-z]-[0-9a-z]{1,64})$")
_STRUCK: Final = re.compile(r"~~((?:[^~\\]|\\.|~(?!~))+)~~(.*)$")
_SOURCE: Final = re.compile(r"\d{4}-\d\d-\d\d .*: `")
_KNOWN: Final = frozenset(name.casefold() for name in (*SECTIONS, NOTES, RELATED, SOURCES))


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that belong together, and the number of the first."""

    sort: str  # heading, item, other
    lines: tuple[str, ...]
    number: int


def read(text: str) -> Read:
    """What a page says. Bad front matter: no id, and the block is kept as a note."""
    lines = split(text)
    values, notes, start = _front(lines)
    found = _Found(notes)
    for block in _blocks(lines, start):
        found.take(block)
    title = values.get("title")
    extra = {key: value for key, value in values.items() if key not in OURS}
    return Read(
        _string(values.get("id")), _string(title) or found.heading, _strings(values.get("aliases")), _strings(values.get("tags")),
        tuple(found.lines), tuple(found.notes), extra, found.heading, tuple(found.related),
        tuple(found.made),
    )  # fmt: skip


def split(text: str) -> list[str]:
    """A page's lines, however they end."""
    return _ENDS.split(text.removeprefix("\ufeff"))


def block_at(lines: list[str], number: int) -> str:
    """The block that begins in a line, as it stands. Lines count from 1, as in what was read."""
    return "\n".join(lines[number - 1 : _extent(lines, number - 1)[1]])


def has_front(text: str) -> bool:
    """Whether a page begins with front matter that can be read."""
    _, notes, start = _front(split(text))
    return start > 0 and not notes


def _front(lines: list[str]) -> tuple[dict[str, object], list[str], int]:
    """The values, what could not be read, and the line where the page begins."""
    if lines[0].rstrip() != "---":
        return {}, [], 0
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() in ("---", "...")), 0)
    if end == 0:
        return {}, [], 0
    try:
        return front.read("\n".join(lines[1:end])), [], end + 1
    except front.BadFront:
        return {}, ["\n".join(lines[: end + 1])], end + 1


def _string(value: object) -> str:
    return str(value) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _strings(value: object) -> tuple[str, ...]:
    """A list as people write it: in brackets, line by line, or a single word."""
    values = value if isinstance(value, list) else [value]
    return tuple(filter(None, map(_string, values)))


def _blocks(lines: list[str], start: int) -> Iterator[_Block]:
    number = start
    while number < len(lines):
        if not lines[number].strip():
            number += 1
            continue
        sort, end = _extent(lines, number)
        yield _Block(sort, tuple(lines[number:end]), number + 1)
        number = end


def _extent(lines: list[str], number: int) -> tuple[str, int]:
    """What begins here, and the line behind its end."""
    line = lines[number]
    if fence := _FENCE.match(line):
        return "other", _fenced(lines, number, fence[1])
    if _HEADING.match(line):
        return "heading", number + 1
    item = _ITEM.match(line) is not None and _RULE.match(line) is None
    end = number + 1
    while end < len(lines) and _goes_on(lines[end], item):
        end += 1
    return ("item" if item else "other"), end


def _goes_on(line: str, item: bool) -> bool:
    if not line.strip() or _HEADING.match(line) or _FENCE.match(line):
        return False
    return not (item and (_ITEM.match(line) or _QUOTE.match(line))) and (item or not _starts_list(line))


def _starts_list(line: str) -> bool:
    """Whether a line ends a paragraph because a list begins; numbers in the middle of prose do not."""
    return re.match(r" {0,3}[-*+][ \t]+\S", line) is not None and _RULE.match(line) is None


def _fenced(lines: list[str], number: int, fence: str) -> int:
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$")
    for end in range(number + 1, len(lines)):
        if closing.match(lines[end]):
            return end + 1
    return len(lines)


class _Found:
    """What was read so far, and under which heading."""

    def __init__(self, notes: list[str]) -> None:
        self.notes = notes
        self.lines: list[ReadLine] = []
        self.related: list[str] = []
        self.made: list[str] = []
        self.heading = ""
        self.section = ""
        self._below = 0  # the line behind the last note

    def take(self, block: _Block) -> None:
        if block.sort == "heading":
            self._take_heading(block)
        elif block.sort == "other" or not self._take_item(block):
            self._note(block)

    def _note(self, block: _Block) -> None:
        """What stands without an empty line between is one note, so that a person's list stays as close as it was."""
        text = "\n".join(block.lines)
        if self.notes and block.number == self._below:
            self.notes[-1] += "\n" + text
        else:
            self.notes.append(text)
        self._below = block.number + len(block.lines)

    def _take_heading(self, block: _Block) -> None:
        found = _HEADING.match(block.lines[0])
        assert found is not None
        words = plain(found[2] or "")
        if len(found[1]) == 1 and not self.heading and not self.section:
            self.heading = words
        elif words.casefold() in _KNOWN and len(found[1]) == 2:
            self.section = words
        else:
            self._note(block)
            if self.section.casefold() != NOTES.casefold():
                self.section = words

    def _take_item(self, block: _Block) -> bool:
        """Whether it was a statement, or a line we made ourselves."""
        item = _ITEM.match(block.lines[0])
        assert item is not None
        raw = " ".join(line.strip() for line in (item[2] or "", *block.lines[1:])).strip()
        found = _MARK.search(raw)
        name = self.section.casefold()
        if found is None and name in (NOTES.casefold(), RELATED.casefold(), SOURCES.casefold()):
            return self._apart(name, raw, block)
        if found is not None and not found[1].startswith("m-"):
            self.made.append("\n".join(block.lines))  # what was said in a session, as the daily log shows it: not a memory
            return True
        self.lines.append(_line(raw, found, self.section, block.number))
        return True

    def _apart(self, name: str, raw: str, block: _Block) -> bool:
        if name == RELATED.casefold():
            self.related.append(raw)
            return True
        source = name == SOURCES.casefold() and _SOURCE.match(raw) is not None
        self.made += ["\n".join(block.lines)] if source else []
        return source


def _line(raw: str, found: re.Match[str] | None, section: str, number: int) -> ReadLine:
    memory = memory_of(found[1]) if found is not None else ""
    words = raw[: found.start()].rstrip() if found is not None else raw
    box = _BOX.match(words)
    words = words[box.end() :] if box else words
    struck = _STRUCK.match(words)
    tail = ""
    if struck is not None and (memory or not struck[2].strip()):
        words, tail = struck[1], struck[2].strip()
    elif memory:
        struck = None
        words, tail = parted(words)
    else:
        struck = None
    checked = None if box is None else box[1] != " "
    return ReadLine(memory, section, plain(words), struck is not None, checked, number, plain(tail))
