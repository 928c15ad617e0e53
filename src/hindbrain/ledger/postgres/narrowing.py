"""A question of terms -> the documents that fit it best, without looking at all that hold one of them.

Common words lead to very many documents, nearly none of which is among the best. So the rare words' documents are scored first,
then those in which a common word weighs much, and the others only as far as what remains to be found could still matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from hindbrain.ledger.database import Rows
from hindbrain.ledger.postgres import bm25
from hindbrain.ledger.postgres.bm25 import Question

# So many documents are scored without asking whether it could be spared.
FIRST_DOCUMENTS: Final = 10_000
# With no more words than this left, documents that hold two of them are looked for apart.
FEW: Final = 6
# A bound and a score are worked out differently, so they may differ in their last digits.
_SLACK: Final = 1.0 - 1e-9

_BEST: Final = """
SELECT number, score FROM text_best(?, ?::integer[], ?::double precision[], ?::double precision, ?::double precision,
                                    ?::integer[], ?::integer[], ?::integer[], ?::integer[], ?::double precision, ?::integer)
"""

Scores = list[tuple[int, float]]


class Asked(Protocol):
    """What statements run on."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Rows: ...


class Narrowing:
    """The best documents so far, and what it takes to be among them."""

    def __init__(self, index: Asked, kind: str, question: Question, near_weight: float, limit: int) -> None:
        self.found: Scores = []
        self._index = index
        self._kind = kind
        self._question = question
        self._near_weight = near_weight
        self._limit = limit
        self._seen: list[int] = []  # every document that holds one of these has been scored
        self._most: dict[int, float] = {}  # what a document that has not been scored can have from each term
        for word in question.words:  # a term counts as often as it was asked for
            self._most[word.id] = self._most.get(word.id, 0.0) + bm25.bound(word)
        self._docs = {word.id: word.docs for word in question.words}

    @property
    def _threshold(self) -> float:
        return self.found[-1][1] if len(self.found) == self._limit else 0.0

    def _could_matter(self, most: float) -> bool:
        return most >= self._threshold * _SLACK

    def narrow(self) -> None:
        """Rare terms first; then documents strong in another; then the next terms, while what is left could still matter."""
        left = sorted(self._docs, key=lambda term: (self._docs[term], term))
        self._look_at(_taken(left, self._docs, FIRST_DOCUMENTS))
        if self._kind == "memory" or self._near_weight <= bm25.STRONG_NEAR_WEIGHT:
            self._look_at_strong(left)
        budget = FIRST_DOCUMENTS
        while left and (matter := self._that_matter(left)):
            if 1 < len(left) <= FEW:
                self.look(pivots=matter, rest=left)
                self._look_at([term for term in matter if self._could_matter(self._most[term])])
                return
            budget *= 4
            self._look_at(_taken(left, self._docs, budget) or [left.pop(0)])

    def _look_at_strong(self, left: Sequence[int]) -> None:
        """Score what is strong in one of these terms. What is left then has less from each of them."""
        weak = {
            term: sum(bm25.weak_bound(word, self._question) for word in self._question.words if word.id == term) for term in left
        }
        most = sum(weak.values())
        wanted = []
        for term in sorted(left, key=lambda term: (self._most[term] - weak[term], term)):
            most += self._most[term] - weak[term]
            if self._could_matter(most):  # strong in this one and the ones before, it could be among the best
                wanted.append(-term)
        self._look_at(wanted)
        self._most.update(weak)

    def _that_matter(self, left: Sequence[int]) -> list[int]:
        """The terms of which a document must hold one: all the others together would not suffice."""
        most = 0.0
        weakest = sorted(left, key=lambda term: (self._most[term], term))
        for number, term in enumerate(weakest):
            most += self._most[term]
            if self._could_matter(most):
                return weakest[number:]
        return []

    def _look_at(self, any_of: Sequence[int]) -> None:
        if any_of:
            self.look(any_of=any_of)
            self._seen += any_of

    def look(self, any_of: Sequence[int] = (), pivots: Sequence[int] = (), rest: Sequence[int] = ()) -> None:
        """Score the documents that hold any of the terms, or one of the pivots together with another of the rest."""
        words = self._question.words
        rows = self._index.execute(_BEST, (
            self._kind, [word.id for word in words], [word.idf for word in words], self._near_weight, self._question.average,
            list(any_of), list(pivots), list(rest), self._seen, self._threshold, None if self._limit < 0 else self._limit,
        )).fetchall()  # fmt: skip
        self.found = best_of({**dict(self.found), **dict(rows)}.items(), self._limit) if self.found else list(rows)


def _taken(left: list[int], docs: dict[int, int], budget: int) -> list[int]:
    """Take the next terms away that together lead to no more documents than that."""
    taken = []
    while left and docs[left[0]] <= budget:
        budget -= docs[left[0]]
        taken.append(left.pop(0))
    return taken


def best_of(found: Iterable[tuple[int, float]], limit: int) -> Scores:
    ordered = sorted(found, key=lambda each: (-each[1], each[0]))
    return ordered if limit < 0 else ordered[:limit]
