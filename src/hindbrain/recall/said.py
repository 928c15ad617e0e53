"""What a hit says -> its words, the names in it, its sentence nearest to a question, and whether it says that something is over.

A name is a word that is rare in ordinary talk: a tool, a file, a service. Which words are rare is known from the table's weights.
"""

from __future__ import annotations

import re
from functools import cached_property, lru_cache
from typing import Final

from hindbrain.recall import cues, fitting
from hindbrain.recall.passages import sentences
from hindbrain.recall.rank import Found
from hindbrain.recall.static import Floats, Static
from hindbrain.recall.words import STOP_WORDS, spaced

PASSAGE_CHARS: Final = 2_000
RARE: Final = 8.0  # the idf of a word that names something
SAME_NAME: Final = 6  # letters that two forms of a name share at least: Postgres, PostgreSQL

_SPEAKER: Final = re.compile(r"([A-Z][\w.'-]{1,30}(?: [A-Z][\w.'-]{1,30}){0,2}): ")
_WORD: Final = re.compile(r"[\w'/.-]*\w")
_ARTICLES: Final = frozenset({"the", "a", "an", "our"})
# What is counted in is not what is counted: "seconds" in two statements does not make them one.
UNITS: Final = frozenset({
    "second", "minut", "minute", "hour", "day", "week", "month", "year", "ms", "sec", "min", "mb", "kb", "gb", "percent", "per",
    "every", "tim", "time", "new", "use", "us", "mak", "make", "set", "run", "fil", "file", "cod", "code",
})  # fmt: skip

stem = lru_cache(16_384)(fitting.stem)


class Said:
    """What a hit says. Most of it is looked at of few hits, so it is read off the text when it is first asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def words(self) -> frozenset[str]:
        return _words(self.text)

    @cached_property
    def changes(self) -> bool:
        """Whether it says that something is another way than before."""
        return cues.says_change(self.text)

    @cached_property
    def over(self) -> bool:
        """Whether it says that something is over."""
        return cues.says_over(self.text)


class Names:
    """What names something, in what was said: words that are rare in ordinary talk and that the question does not say."""

    def __init__(self, question: str, static: Static) -> None:
        self.asked = _words(question)
        self._static = static

    def beside(self, hit: Found) -> list[str]:
        """The names in what a hit says, rarest first."""
        words = [word for word in spaced(_passage(hit)).split() if word not in STOP_WORDS and len(word) > 1]
        known = self.asked | UNITS
        found = {word: self._idf(word) for word in words if stem(word) not in known and self._idf(word) >= RARE}
        return sorted(found, key=lambda word: (-found[word], word))

    def shared(self, new: Said, old: Said) -> set[str]:
        """Names in the older one that the newer one says too: how it was until then."""
        both = {word for word in new.words if word in old.words or _is_form_of(word, old.words)}
        return {word for word in both - self.asked - UNITS if self._idf(word) >= RARE}

    def over(self, newer: Found, older: Found) -> bool:
        """Whether the newer one says of a name in the older that this is over."""
        new = said(newer)
        return new.over and is_over(new, self.shared(new, said(older)))

    def _idf(self, word: str) -> float:
        return _idf(self._static, word)


@lru_cache(16_384)
def _idf(static: Static, word: str) -> float:
    """How telling a word is in ordinary talk; one that the table cannot read tells much."""
    return max((float(static.usual[token]) ** 2 for token in static.tokens(word)), default=RARE)


def _passage(hit: Found) -> str:
    return hit.text[hit.start : hit.end] if hit.end else hit.text[:PASSAGE_CHARS]


def said(hit: Found) -> Said:
    return _said(_passage(hit))


@lru_cache(4_096)  # the same few hits are compared with each other, and asked for again with the next question
def _said(text: str) -> Said:
    return Said(text)


@lru_cache(16_384)
def _words(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in spaced(text).split() if word not in STOP_WORDS and len(word) > 1)


def _is_form_of(word: str, others: frozenset[str]) -> bool:
    """Whether one of them is the same name, shorter or longer."""
    return word[:SAME_NAME] in _beginnings(others) and any(
        len(each) >= SAME_NAME and (each.startswith(word) or word.startswith(each)) for each in others
    )


@lru_cache(4_096)
def _beginnings(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word[:SAME_NAME] for word in words if len(word) >= SAME_NAME)


def is_over(new: Said, named: set[str]) -> bool:
    """Whether it says of one of these names that it is over: "we dropped RabbitMQ", "Jenkins is switched off"."""
    return bool(named) and any(
        named & _words(match.group()) and cues.says_over(new.text, match.start(), match.end())
        for match in _WORD.finditer(new.text)
    )


def words_before(text: str) -> dict[str, set[str]]:
    """Which telling words stand right before each telling word, with nothing but space and articles between."""
    found: dict[str, set[str]] = {}
    last, end = "", 0
    for match in _WORD.finditer(text.lower()):
        word, beside = match.group(), not text[end : match.start()].strip()
        if word in _ARTICLES and beside:
            end = match.end()
            continue
        if word in STOP_WORDS or cues.says_change(word):
            last = ""
            continue
        if last and beside:
            found.setdefault(stem(word), set()).add(last)
        last, end = stem(word), match.end()
    return found


def nearest_sentences(question: str, texts: list[str], static: Static) -> Floats:
    """For each text the vector of its sentence that is nearest to the question."""
    cut: list[str] = []
    owner: list[int] = []
    for number, text in enumerate(texts):
        for start, end in sentences(text) or [(0, len(text))]:
            cut.append(text[start:end])
            owner.append(number)
    vectors = static.documents(cut)
    near = vectors @ static.question(question)
    best: dict[int, int] = {}
    for place, number in enumerate(owner):
        if number not in best or near[place] > near[best[number]]:
            best[number] = place
    found: Floats = vectors[[best[number] for number in range(len(texts))]]
    return found


def speaker(hit: Found) -> str:
    match = _SPEAKER.match(hit.text[:100])
    return match[1] if match else ""
