"""A question with its limits -> hits, each with what its score is made of, in plain words.

The ranking is recall's; here it is only narrowed to a role and a time, and the part a turn owes to its neighbours is
told apart from its own words by ranking the same rows once more with the neighbours left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from hindbrain.base.errors import UsageError
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall import rank
from hindbrain.recall.fitting import stem
from hindbrain.recall.left_out import left_out
from hindbrain.recall.words import words_of
from hindbrain.serve.scoping import Chosen

Search = Callable[[Database, str, rank.Scope, int], list[rank.Found]]

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


# What each part of a score means, for people.
PLAIN: Final = {
    "session": "the rest of its session", "meaning": "what it means", "session_meaning": "what its session is about",
    "tokens": "its words one by one", "speaker": "said by who was named", "reply": "answers what was asked like this",
    "question": "asks rather than tells", "literal": "holds the very letters", "date": "said at that time",
    "long_reply": "a long reply", "tool": "of a tool", "memory": "kept as a memory", "superseded": "no longer holds",
    "use": "used or left unused before, and its age", "amends": "says that the next one is over",
    "newest": "speaks of the same thing as the next one, at the time that is asked for", "behind": "what stands before it",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explained:
    """A hit and the parts of its score."""

    found: rank.Found
    own: float
    neighbours: float
    shared: list[str]  # words of the question that it says itself

    @property
    def parts(self) -> dict[str, float]:
        """All of them; their sum is the score."""
        others = {name: value for name, value in self.found.parts.items() if name != "words"}
        return {"own_words": self.own, "neighbours": self.neighbours, **others}

    def told(self) -> list[str]:
        """The parts in plain words."""
        said = [f"its own words {self.own:.2f}" + (f" ({', '.join(self.shared)})" if self.shared else "")]
        if self.found.kind == "turn":
            said.append(f"its neighbours' words {self.neighbours:.2f}")
        said += [f"{PLAIN.get(name, name)} {value:.2f}" for name, value in self.found.parts.items() if name != "words"]
        return said + ([self.found.note] if self.found.note else [])


class _Narrowed(rank.Scope):
    """A scope that also keeps to a role; and where only the time of saying is limited, to what still stands."""

    __slots__ = ("_role", "_today")

    def __init__(self, chosen: Chosen, limits: Limits) -> None:
        after = -rank.FOREVER if limits.after is None else limits.after
        super().__init__(chosen.project, everything=chosen.everything, after=after, before=limits.until)
        self._role = limits.role
        self._today = limits.as_of is None and limits.before is not None

    def condition(self, table: str) -> tuple[str, list[str]]:
        sql, values = super().condition(table)
        if table == "memories" and self._today:
            sql += " AND memories.superseded_by IS NULL AND memories.valid_to IS NULL"
        if self._role is not None:
            sql += " AND memories.trust = ?" if table == "memories" else " AND turns.role = ?"
            values = [*values, self._role]
        return sql, values


def find(
    ledger: Evidence, question: str, chosen: Chosen, limits: Limits, k: int, search: Search = rank.search
) -> list[Explained]:
    """The best fits, best first."""
    if limits.after is not None and limits.after > limits.until:
        raise UsageError("no time lies after the one and before the other", hint="swap --after and --before")
    with ledger.reading() as connection:
        found = search(connection, question, _Narrowed(chosen, limits), k)
        shares = _own_shares(connection, question, found)
    return [_explained(each, question, shares.get(each.id, 1.0)) for each in found]


def missed(ledger: Evidence, question: str, chosen: Chosen, limits: Limits) -> list[str]:
    """In plain words what holds the question's words and is not in the answer, and why."""
    with ledger.reading() as connection:
        return left_out(connection, question, _Narrowed(chosen, limits))


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
    return Explained(found, own=words * share, neighbours=words * (1.0 - share), shared=shared)
