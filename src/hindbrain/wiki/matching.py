"""The statements a page had and the lines it has now -> which line is which statement, which are new, which are gone.

A line is known by its mark. Where an editor broke, moved or lost that, the rest tells: a mark in the middle of a line that was
typed on or joined to another, else the same words, else words much alike. A mark that still stands anywhere in the text, be it in
a quotation or a fence, is not gone.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hindbrain.wiki import parse
from hindbrain.wiki.page import Read, ReadLine
from hindbrain.wiki.text import folded, mark, memory_of

MARK: Final = re.compile(r"(?<![\\#])\^m-[0-9a-z]{1,64}")  # behind a # it is the end of a link
_ITEM: Final = re.compile(r"(?:[-*+]|\d{1,9}[.)]) ")
_BROKEN: Final = re.compile(r"[ \t]\^[ \t]*[^ \t]*$")
_ALIKE: Final = 0.75
_LONGEST: Final = 1_000  # letters of words that are compared letter by letter
_MOST_PAIRS: Final = 2_500


class Matching:
    """Compares a page with what it was. `text` is what `found` was read from."""

    def __init__(self, base: Read, found: Read, text: str) -> None:
        self.held = _by_memory(base.lines)
        self._lines = parse.split(text)
        self.seen, others = self._claimed(found)  # by memory
        self.added = _without(others, base)  # lines without a mark that the page did not have
        self.strays = [line for line in others if line.memory]  # marked lines that the page did not have
        marks = set(MARK.findall(text))
        self.gone = [memory for memory in self.held if memory not in self.seen and mark(memory) not in marks]
        for memory, line in self._paired():
            self.seen[memory] = [self._marked(line, memory)]
            self.gone.remove(memory)
            (self.strays if line.memory else self.added).remove(line)

    def raw(self, line: ReadLine) -> str:
        """As it stands in the text."""
        return parse.block_at(self._lines, line.number)

    def _claimed(self, found: Read) -> tuple[dict[str, list[ReadLine]], list[ReadLine]]:
        """Lines by memory, and those that belong to none of the page's."""
        lines = [piece for line in found.lines for piece in self._pieces(line)]
        seen = _by_memory(line for line in lines if line.memory in self.held)
        missing = sorted((memory for memory in self.held if memory not in seen), key=len, reverse=True)
        others: list[ReadLine] = []
        for line in lines:
            if line.memory in self.held:
                continue
            own = self._inside(line, missing) or self._unmarked(line, missing) if missing else None
            if own is None:
                others.append(line)
            else:
                missing.remove(own.memory)
                seen[own.memory] = [own]
        return seen, others

    def _pieces(self, line: ReadLine) -> list[ReadLine]:
        """The lines that were joined to this one: each ends in its mark."""
        if "^m-" not in line.text and "^m-" not in line.tail:
            return [line]
        raw = folded(self.raw(line))
        own = [found for found in MARK.finditer(raw) if memory_of(found[0]) in self.held]
        foreign = line.memory != "" and line.memory not in self.held  # the last one, and not of this page
        if len(own) + foreign < 2:
            return [line]
        if not foreign:  # what stands behind the last mark belongs to it
            raw = f"{raw[: own[-1].start()]}{raw[own[-1].end() :].strip()} {own.pop()[0]}"
        ends = [*(found.end() for found in own), len(raw)]
        texts = [raw[start:end].strip() for start, end in zip((0, *ends), ends, strict=False)]
        read = [each for text in texts for each in parse.read(text if _ITEM.match(text) else f"- {text}").lines]
        return [replace(each, section=line.section, number=line.number) for each in read]

    def _inside(self, line: ReadLine, missing: Sequence[str]) -> ReadLine | None:
        """The line as it was meant, where a person typed on behind its mark."""
        raw = self.raw(line)
        if "^m-" not in raw:
            return None
        places = ((memory, re.search(rf"(?<![\\#]){re.escape(mark(memory))}", raw)) for memory in missing)
        memory, place = next((pair for pair in places if pair[1] is not None), ("", None))
        if place is None:
            return None
        read = parse.read(f"{folded(raw[: place.start()])} {folded(raw[place.end() :])} {mark(memory)}").lines
        return replace(read[0], section=line.section, number=line.number) if read else None

    def _unmarked(self, line: ReadLine, missing: Sequence[str]) -> ReadLine | None:
        """The line with its mark, where that was deleted or broken and the words tell whose it was."""
        if line.memory:
            return None
        read = self._marked(line, missing[0])
        said = (read.text, read.tail, read.struck)
        lines = (self.held[each][0] for each in missing)
        memory = next((each.memory for each in lines if said == (each.text, each.tail, each.struck)), "")
        return replace(read, memory=memory) if memory else None

    def _marked(self, line: ReadLine, memory: str) -> ReadLine:
        """The line as it is read with a mark, in the place of what is left of one."""
        raw = _BROKEN.sub("", self.raw(line).rstrip())
        read = parse.read(f"{folded(raw)} {mark(memory)}").lines
        return replace(read[0] if read else line, memory=memory, section=line.section, number=line.number)

    def _paired(self) -> list[tuple[str, ReadLine]]:
        """Lines that lost their mark or a part of it, with the memory they are of."""
        exact = {line.text: line for line in (*self.added, *self.strays)}
        words = {memory: self.held[memory][0].text for memory in self.gone}
        pairs = [(memory, exact.pop(words[memory])) for memory in self.gone if words[memory] in exact]
        found = {memory for memory, _ in pairs}
        lost = [memory for memory in self.gone if memory not in found]
        left = [line for line in self.added if exact.get(line.text) is line]
        if len(lost) * len(left) > _MOST_PAIRS:
            return pairs
        near = [(line, self._marked(line, memory).text) for memory in lost[:1] for line in left]
        for memory in lost:
            pair = next((pair for pair in near if _alike(words[memory], pair[1])), None)
            if pair is not None:
                pairs.append((memory, pair[0]))
                near.remove(pair)
        return pairs


def _by_memory(lines: Iterable[ReadLine]) -> dict[str, list[ReadLine]]:
    """A day may tell of the same memory in two sessions."""
    found: dict[str, list[ReadLine]] = defaultdict(list)
    for line in lines:
        if line.memory:
            found[line.memory].append(line)
    return dict(found)


def _without(lines: Iterable[ReadLine], base: Read) -> list[ReadLine]:
    """Lines that bear no mark and say something, but for those the page had already."""
    before = Counter(line.text for line in base.lines if not line.memory)
    added: list[ReadLine] = []
    for line in lines:
        if not line.memory and line.text:
            before[line.text] -= 1
            added += [line] if before[line.text] < 0 else []
    return added


def _alike(one: str, other: str) -> bool:
    if len(one) > _LONGEST or len(other) > _LONGEST:
        return False
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    return matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE and matcher.ratio() >= _ALIKE


def memories_in(text: str) -> set[str]:
    """The ids of all memories whose mark stands anywhere in a text."""
    return {memory_of(found) for found in MARK.findall(text)}
