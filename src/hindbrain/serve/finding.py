"""A question with its limits -> hits, each with what its score is made of.

The ranking is recall's; here it is only narrowed to a role and a time, and the part a turn owes to its neighbours is
told apart from its own words by ranking the same rows once more with the neighbours left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from hindbrain.base.errors import UsageError
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall import rank
from hindbrain.recall.context import stem
from hindbrain.recall.words import words_of
from hindbrain.serve.scoping import Chosen


@dataclass(frozen=True, slots=True)
class Limits:
    """What a search leaves out; times in milliseconds."""

    after: int | None = None
    before: int | None = None  # what was said at this very moment is out
    as_of: int | None = None
    role: str | None = None

    @property
    def until(self) -> int:
        """The last moment that counts."""
        ends = [rank.FOREVER, *(each for each in (self.as_of,) if each is not None)]
        return min(ends if self.before is None else [*ends, self.before - 1])


@dataclass(frozen=True, slots=True)
class Explained:
    """A hit and the parts of its score."""

    found: rank.Found
    own: float
    neighbours: float
    session: float
    memory: float
    shared: list[str]  # words of the question that it says itself


class _Narrowed(rank.Scope):
    """A scope that also keeps to a role, and to what still stands unless an earlier day was asked for."""

    __slots__ = ("_role", "_today")

    def __init__(self, chosen: Chosen, limits: Limits) -> None:
        after = -rank.FOREVER if limits.after is None else limits.after
        super().__init__(chosen.project, everything=chosen.everything, after=after, before=limits.until)
        self._role = limits.role
        self._today = limits.as_of is None

    def condition(self, table: str) -> tuple[str, list[str]]:
        sql, values = super().condition(table)
        if table == "memories" and self._today:
            sql += " AND memories.superseded_by IS NULL AND memories.valid_to IS NULL"
        if self._role is not None:
            sql += " AND memories.trust = ?" if table == "memories" else " AND turns.role = ?"
            values = [*values, self._role]
        return sql, values


def find(ledger: Evidence, question: str, chosen: Chosen, limits: Limits, k: int) -> list[Explained]:
    """The best fits, best first."""
    if limits.after is not None and limits.after > limits.until:
        raise UsageError("no time lies after the one and before the other", hint="swap --after and --before")
    with ledger.reading() as connection:
        found = rank.search(connection, question, _Narrowed(chosen, limits), k)
        shares = _own_shares(connection, question, found)
    return [_explained(each, question, shares.get(each.id, 1.0)) for each in found]


def _own_shares(connection: Database, question: str, found: list[rank.Found]) -> dict[str, float]:
    """Which part of a turn's word score its own words make."""
    turns, words = [each.id for each in found if each.kind == "turn"], words_of(question)
    own = fulltext.scores(connection, words, 0.0, turns)
    whole = fulltext.scores(connection, words, rank.NEAR_WEIGHT, turns)
    return {each: min(1.0, max(0.0, own.get(each, 0.0) / score)) if score else 1.0 for each, score in whole.items()}


def _explained(found: rank.Found, question: str, share: float) -> Explained:
    words = found.parts.get("words", 0.0)
    said = {stem(word) for word in "".join(each if each.isalnum() else " " for each in found.text).lower().split()}
    shared = [word for word in words_of(question) if stem(word) in said]
    return Explained(
        found, own=words * share, neighbours=words * (1.0 - share), session=found.parts.get("session", 0.0),
        memory=found.parts.get("memory", 0.0), shared=shared,
    )  # fmt: skip
