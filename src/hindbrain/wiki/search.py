"""Words -> the pages that speak of them, best first, and the lines that do, with their ids.

BM25 over whole pages, in which a word of the title counts as much as four of the text; a word of the question also finds longer
words that begin with it, at half the weight. Lines of a page are ranked by the weights of the words they hold.
"""

from __future__ import annotations

import math
import unicodedata
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from hindbrain.recall.words import spaced, words_of
from hindbrain.wiki import parse
from hindbrain.wiki.finding import type_of
from hindbrain.wiki.outline import lines_of, outline
from hindbrain.wiki.page import Read
from hindbrain.wiki.text import plain

TITLE: Final = 4
ALIAS: Final = 3
TAG: Final = 2
BEGINNING: Final = 0.5  # what a longer word counts that begins with the one asked for
SHORTEST: Final = 3  # letters that a beginning must have
STRUCK: Final = 0.4  # what held once is told behind what holds
LISTS: Final = frozenset({"index", "log"})  # they name every page and say nothing of it
_LIST_WEIGHT: Final = 0.2
_K1: Final = 1.2
_B: Final = 0.5


@dataclass(frozen=True, slots=True)
class LineHit:
    """A line that speaks of it."""

    number: int  # in the file, from 1
    memory: str  # id, "" for a line that is no statement
    section: str
    text: str
    struck: bool
    score: float


@dataclass(frozen=True, slots=True)
class PageHit:
    """A page that speaks of it."""

    path: str
    id: str
    title: str
    score: float
    lines: tuple[LineHit, ...]  # best first


@dataclass(frozen=True, slots=True)
class _Entry:
    read: Read
    counts: Counter[str]
    length: int


class Shelf:
    """Pages, ready to be asked; made once for any number of questions."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._entries = {path: _entry(texts[path]) for path in sorted(texts)}
        self._holding: dict[str, list[str]] = {}
        for path, entry in self._entries.items():
            for word in entry.counts:
                self._holding.setdefault(word, []).append(path)
        self._vocabulary = sorted(self._holding)
        self._mean = sum(entry.length for entry in self._entries.values()) / max(len(self._entries), 1) or 1.0

    def search(self, question: str, limit: int = 10, lines: int = 5) -> list[PageHit]:
        """The best pages, each with its best lines. The same question gives the same order."""
        asked = {word: self._weights(word) for word in dict.fromkeys(words_of(folded(question)))}
        scores: dict[str, float] = {}
        for weights in asked.values():
            for path, score in self._scores(weights).items():
                scores[path] = scores.get(path, 0.0) + score
        best = sorted(scores, key=lambda path: (-scores[path], path))[: max(limit, 0)]
        return [self._hit(path, scores[path], asked, lines) for path in best]

    def _weights(self, word: str) -> dict[str, float]:
        """Every word of the pages that the one asked for means, with how much it says."""
        found = {word: 1.0} if word in self._holding else {}
        if len(word) >= SHORTEST:
            place = bisect_left(self._vocabulary, word)
            while place < len(self._vocabulary) and self._vocabulary[place].startswith(word):
                found.setdefault(self._vocabulary[place], BEGINNING)
                place += 1
        every = len(self._entries)
        return {each: weight * math.log(1 + (every + 0.5) / (len(self._holding[each]) + 0.5)) for each, weight in found.items()}

    def _scores(self, weights: Mapping[str, float]) -> dict[str, float]:
        """Page -> what the best of these words gives it: forms of one word do not add up."""
        scores: dict[str, float] = {}
        for word, weight in weights.items():
            for path in self._holding[word]:
                entry = self._entries[path]
                count = entry.counts[word]
                score = weight * count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * entry.length / self._mean))
                score *= _LIST_WEIGHT if type_of(path) in LISTS else 1
                scores[path] = max(scores.get(path, 0.0), score)
        return scores

    def _hit(self, path: str, score: float, asked: Mapping[str, Mapping[str, float]], most: int) -> PageHit:
        read = self._entries[path].read
        hits = []
        for number, memory, section, text, struck in _lines(self._texts[path], read):
            words = set(spaced(folded(text), len(text) * 4).split())
            fits = sum(max((weights[word] for word in words & weights.keys()), default=0.0) for weights in asked.values())
            if fits:
                value = fits * (STRUCK if struck else 1) * (1.0 if memory else 0.8)
                hits.append(LineHit(number, memory, section, text, struck, round(value, 6)))
        hits.sort(key=lambda hit: (-hit.score, hit.number))
        return PageHit(path, read.id, read.title, round(score, 6), tuple(hits[: max(most, 0)]))


def found(texts: Mapping[str, str], question: str, limit: int = 10, lines: int = 5) -> list[PageHit]:
    """For one question."""
    return Shelf(texts).search(question, limit, lines)


def folded(text: str) -> str:
    """Without accents, so that they need not be typed."""
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFC", "".join(letter for letter in parts if not unicodedata.combining(letter)))


def _entry(text: str) -> _Entry:
    read = parse.read(text)
    body = "\n".join(lines_of(text)[outline(text).body - 1 :])
    counts = Counter(_words(body))
    length = counts.total()
    for words, weight in ((read.title, TITLE), (" ".join(read.aliases), ALIAS), (" ".join(read.tags), TAG)):
        for word in _words(words):
            counts[word] += weight
    return _Entry(read, counts, length)


def _words(text: str) -> list[str]:
    plain_text = folded(text)
    return spaced(plain_text, len(plain_text)).split()


def _lines(text: str, read: Read) -> Iterator[tuple[int, str, str, str, bool]]:
    """(number, memory, section, text, struck): the statements, and every other line that is no heading."""
    statements = {line.number: line for line in read.lines}
    shape = outline(text)
    headings = {heading.line: heading for heading in shape.headings}
    section = ""
    for number, line in enumerate(lines_of(text)[shape.body - 1 :], shape.body):
        if number in headings:
            section = headings[number].text if headings[number].level > 1 else ""
        elif number in statements:
            each = statements[number]
            yield number, each.memory, each.section, each.text, each.struck
        elif line.strip():
            yield number, "", section, plain(line), False
