"""What is known of a question's words -> how well a document fits it, in the numbers FTS5's bm25() gives.

The same operations in the same order as there, so that equal documents have equal scores and the others stand in the same order.
The database works the same formula out for many documents at once (`text_best`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.ledger.postgres.terms import OWN

_K1: Final = 1.2
_B: Final = 0.75
# A document is strong in a term that makes up much of it: where its part of the score would be more than this share of the
# largest there is, were the mean length 192 words and neighbours' words counted at 0.3. The index keeps strong documents apart.
_STRONG: Final = 0.65
_LENGTH: Final = 192
STRONG_NEAR_WEIGHT: Final = 0.3


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question as the index knows it: one term, or several that must follow each other."""

    idf: float
    docs: int
    id: int = 0  # of its term; 0 for a phrase
    holding: Mapping[int, int] | None = None  # of a phrase: the documents that hold it, by number, with its counts


@dataclass(frozen=True, slots=True)
class Question:
    """The words that occur at all, in the order they were asked in, and the mean length of a document."""

    words: Sequence[Word]
    average: float

    @property
    def has_phrases(self) -> bool:
        return any(word.holding is not None for word in self.words)


def idf(total: int, docs: int) -> float:
    """How telling it is that a document holds a word which `docs` of `total` hold."""
    found = math.log((total - docs + 0.5) / (docs + 0.5))
    return found if found > 0.0 else 1e-6


def strong_from(length: int) -> float:
    """The frequency above which a document of this length is strong in a term."""
    return _STRONG / (1.0 - _STRONG) * _K1 * (1 - _B + _B * length / _LENGTH)


def bound(word: Word) -> float:
    """No document has more than this from a word."""
    return word.idf * (_K1 + 1.0)


def weak_bound(word: Word, question: Question) -> float:
    """No document has more than this from a word it is not strong in, at the mean length there really is."""
    shorter = min(1.0, _LENGTH / question.average)
    return bound(word) / (1.0 + shorter * (1.0 - _STRONG) / _STRONG)


def score(question: Question, near_weight: float, length: int, counts: Sequence[int]) -> float:
    """How well a document fits: its length, and its count of each word of the question."""
    total = 0.0
    norm = _K1 * (1 - _B + _B * length / question.average)
    for word, count in zip(question.words, counts, strict=True):
        if count:
            frequency = frequency_of(count, near_weight)
            total += word.idf * ((frequency * (_K1 + 1.0)) / (frequency + norm))
    return total


def frequency_of(count: int, near_weight: float) -> float:
    """FTS5 adds up one occurrence after the other; a product would differ in the last digit."""
    total = float(count // OWN)
    for _ in range(count % OWN):
        total += near_weight
    return total


def occurrences(terms: Sequence[str], phrase: Sequence[str]) -> int:
    """How often terms follow each other in a text."""
    wanted = list(phrase)
    return sum(terms[start : start + len(wanted)] == wanted for start in range(len(terms) - len(wanted) + 1))
