"""A page's text -> where its front matter, headings, block marks and links stand.

One pass over the lines, because a wiki of thousands of pages is looked at as a whole. What stands in code, in the front matter
or behind a backslash is no link and no heading. The block structure is that of CommonMark as far as it decides what is code;
a test compares the two.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

# In a link: no brackets and no line end; any letter behind a backslash; code as a whole, for code is stronger than a link.
WIKILINK: Final = re.compile(r"(!?)\[\[((?:[^\[\]\n`\\]|\\[^\n]|`[^`\[\]\n]+`(?!`))++)\]\]")
MARK: Final = re.compile(r"(?:^|(?<=[ \t]))\^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*$")
_TOKEN: Final = re.compile(r"\\[^\n]|`+|" + WIKILINK.pattern)
_BACKTICKS: Final = re.compile("`+")
_QUOTE: Final = re.compile(r" {0,3}>(?: |(?=[^ ])|$)")
_ITEM: Final = re.compile(r"[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$)")
_HEADING: Final = re.compile(r"(#{1,6})(?:[ \t]|$)")
_OPENING: Final = re.compile(r"(?:(`{3,})[^`\n]*|(~{3,})[^\n]*)$")
_RULE: Final = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_MOST_NESTED: Final = 50  # lists and quotes on one line; deeper ones are read as text
_UNDERLINE: Final = re.compile(r"-+|=+")
_KEY: Final = re.compile(r"([A-Za-z_][\w-]*)[ \t]*:(?:[ \t]+(.*))?$")


@dataclass(frozen=True, slots=True)
class Link:
    """`[[target#part|alias]]`, and where it stands."""

    line: int  # from 1
    start: int  # columns of the line, from 0
    end: int
    target: str  # "" for the page itself
    part: str  # heading, or "^" and a block mark
    alias: str
    embed: bool = False


@dataclass(frozen=True, slots=True)
class Heading:
    line: int
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class Outline:
    """What stands where in one page."""

    front: Mapping[str, tuple[int, str]]  # key -> (line, value as it is written)
    body: int  # the first line after the front matter, from 1; 1 where there is none
    closed: bool  # False for front matter that never ends
    headings: tuple[Heading, ...]
    marks: Mapping[str, int]  # without the sign -> line of the first
    repeated: tuple[tuple[str, int], ...]  # marks of statements that stand a second time
    links: tuple[Link, ...]


def lines_of(text: str) -> list[str]:
    """The lines without their ends; only a line feed ends one, so that numbers are those of every editor."""
    return [line.removesuffix("\r") for line in text.removeprefix("\ufeff").split("\n")]


def outline(text: str) -> Outline:
    """Never raises, whatever the text."""
    lines = lines_of(text)
    front, body, closed = _front(lines)
    headings: list[Heading] = []
    marks: dict[str, int] = {}
    repeated: list[tuple[str, int]] = []
    links: list[Link] = []
    for number, block in _blocks(lines, body - 1):
        if len(block) == 1 and (heading := _heading(number, block[0].lstrip(" "))):
            headings.append(heading)
        for place, line in enumerate(block):
            if "^" in line and (mark := MARK.search(line)):
                if mark[1] in marks and mark[1].startswith("m-"):
                    repeated.append((mark[1], number + place))
                marks.setdefault(mark[1], number + place)
        links.extend(_links(block, number))
    return Outline(front, body, closed, tuple(headings), marks, tuple(repeated), tuple(links))


def _heading(number: int, line: str) -> Heading | None:
    """What stands behind the signs, without those that may close it."""
    found = _HEADING.match(line)
    if found is None:
        return None
    text = line[found.end() :].strip(" \t")
    bare = text.rstrip("#")
    return Heading(number, len(found[1]), bare.rstrip(" \t") if bare == "" or bare[-1] in " \t" else text)


def _front(lines: list[str]) -> tuple[dict[str, tuple[int, str]], int, bool]:
    """Front matter begins in the first line and nowhere else."""
    if lines[0].rstrip() != "---":
        return {}, 1, True
    found: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines[1:], 2):
        if line.rstrip() in {"---", "..."}:
            return found, number + 1, True
        if key := _KEY.match(line):
            found.setdefault(key[1].lower(), (number, (key[2] or "").strip()))
    return {}, 1, False


@dataclass(slots=True)
class _Fence:
    sign: str
    length: int
    indent: int  # of what it stands in: a line of text further to the left ends it
    quotes: int


class _Reader:
    """Lines one after another -> blocks of lines that are text."""

    def __init__(self) -> None:
        self.fence: _Fence | None = None
        self.block: list[str] = []
        self.number = 0  # of the block's first line
        self.list_indent = 0  # of the text of the list item we are in
        self.quotes = 0

    def flush(self) -> Iterator[tuple[int, list[str]]]:
        if self.block:
            yield self.number, self.block
            self.block = []

    def in_fence(self, quotes: int, body: str, indent: int) -> bool:
        """Whether the line belongs to the fence that is open."""
        fence = self.fence
        if fence is None:
            return False
        shown = body.strip()
        if quotes < fence.quotes or (shown and indent < fence.indent):
            self.fence = None
            return False
        if shown and set(shown) == {fence.sign} and len(shown) >= fence.length and indent < fence.indent + 4:
            self.fence = None
        return True

    def line(self, number: int, line: str) -> Iterator[tuple[int, list[str]]]:
        quotes, body = _unquoted(line)
        if quotes and quotes != self.quotes:
            yield from self.flush()
            self.list_indent = 0
        indent = _indent(body)
        if self.in_fence(quotes, body, indent):
            return
        if not body.strip():
            yield from self.flush()
            return
        yield from self._text(number, line, body, indent, quotes)

    def _text(self, number: int, line: str, body: str, indent: int, quotes: int) -> Iterator[tuple[int, list[str]]]:
        if not self.block and indent < self.list_indent:
            self.list_indent = 0 if indent < 2 else indent
        if not self.block and indent >= self.list_indent + 4:
            return  # indented code
        if self.block and indent >= self.list_indent and _UNDERLINE.fullmatch(body.strip()):  # of a heading
            yield from self.flush()
            return
        start, rest, code = _content(body, indent, self.list_indent)
        item = start > indent
        opening = _OPENING.match(rest) if rest[:1] in {"`", "~"} else None
        if item or opening or rest.startswith("#") or _RULE.match(rest) or not self.block:
            yield from self.flush()
        if item:
            self.list_indent = start
            if code:
                return
        elif rest.startswith("#") and indent < self.list_indent:
            self.list_indent = 0
        self.quotes = quotes or (self.quotes if self.block else 0)
        if opening:
            run = opening[1] or opening[2]
            self.fence = _Fence(run[0], len(run), start if item else min(self.list_indent, indent), quotes)
            return
        if not self.block:
            self.number = number
        self.block.append(line)
        if _HEADING.match(rest):
            yield from self.flush()


def _blocks(lines: list[str], first: int) -> Iterator[tuple[int, list[str]]]:
    """Runs of lines that inline marks may reach across, each with the number of its first line; code is left out."""
    reader = _Reader()
    for number, line in enumerate(lines[first:], first + 1):
        yield from reader.line(number, line)
    yield from reader.flush()


def _unquoted(line: str) -> tuple[int, str]:
    quotes = 0
    while quotes < _MOST_NESTED and ">" in line and (found := _QUOTE.match(line)):
        line = line[found.end() :]
        quotes += 1
    return quotes, line


def _indent(body: str) -> int:
    white = body[: len(body) - len(body.lstrip(" \t"))]
    return len(white.expandtabs(4))


def _content(body: str, indent: int, outer: int) -> tuple[int, str, bool]:
    """The column at which the text of a list item begins, past all its bullets; that text; and whether it is code."""
    rest = body.lstrip(" \t")
    wide = False
    if _RULE.match(rest):
        return indent, rest, False
    for _ in range(_MOST_NESTED):
        found = _ITEM.match(rest) if indent < outer + 4 else None
        if found is None:
            break
        behind = rest[found.end() :]
        gap = _indent(behind)
        wide = gap > 4 and bool(behind.strip())  # code in an item: its text begins one column behind the bullet
        indent += found.end() + (1 if wide or not behind.strip() else gap)
        outer = indent
        rest = behind.lstrip(" \t")
        if wide:
            break
    return indent, rest, wide


def _links(block: list[str], number: int) -> Iterator[Link]:
    text = "\n".join(block)
    if "[[" not in text:
        return
    starts = [0]
    for line in block:
        starts.append(starts[-1] + len(line) + 1)
    for found in _outside_code(text):
        row = bisect_right(starts, found.start()) - 1
        column = found.start() - starts[row]
        yield link_of(found, number + row, column)


def replaced(line: str, pieces: Sequence[tuple[int, int, str]]) -> str:
    """The line with other text at these columns; (start, end, text) in any order, none inside another."""
    parts: list[str] = []
    place = 0
    for start, end, text in sorted(pieces):
        parts += [line[place:start], text]
        place = end
    return "".join([*parts, line[place:]])


def link_of(found: re.Match[str], line: int, column: int) -> Link:
    """What a match of WIKILINK says. In a table the sign before the alias stands behind a backslash."""
    place, sign, alias = found[2].partition("|")
    target, _, part = (place.removesuffix("\\") if sign else place).partition("#")
    return Link(line, column, column + len(found[0]), target.strip(), part.strip(), alias.strip(), bool(found[1]))


def _outside_code(text: str) -> Iterator[re.Match[str]]:
    """The links of a block. A run of backticks opens code where a run of the same length follows."""
    runs: dict[int, list[int]] = {}
    for run in _BACKTICKS.finditer(text):
        runs.setdefault(len(run[0]), []).append(run.start())
    place = 0
    while found := _TOKEN.search(text, place):
        place = found.end()
        if found[0].startswith("`"):
            later = runs.get(len(found[0]), [])
            next_run = bisect_right(later, found.start())
            if next_run < len(later):
                place = later[next_run] + len(found[0])
        elif found[2] is not None:
            yield found
