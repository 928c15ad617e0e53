"""Two labelled items, or all that was found in a story -> what reflection says of them.

The pairs with a label are asked in the labels' own words. Among all that was found, what replaces or contradicts something
although no label says so is counted too: labels name the changes that matter, so not each of these is wrong; but most are, and a
statement that gives way to an unrelated one is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.labels import Item, Pair, Story
from hindbrain.ledger.known import Known
from hindbrain.ledger.statement import Said, Statement, beside
from hindbrain.reason.changes import Contradict, Supersede
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import reflect
from hindbrain.reason.relation import relation


@dataclass(frozen=True)
class Quoted:
    """An item as if it had been found word by word."""

    kind: str
    text: str
    valid_from: int
    trust: str
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])


def asked() -> Callable[[Pair], str]:
    likeness = Likeness()
    return lambda pair: relation(quoted(pair.new), quoted(pair.old), likeness)


def quoted(item: Item) -> Quoted:
    return Quoted(item.kind, item.quote, item.at, item.trust, noted(item.quote, item.said))


def unlabelled(story: Story, kept: Mapping[str, Sequence[Statement]]) -> Iterator[tuple[str, Statement, Statement]]:
    """What reflection over all statements of a story says although no label does: what, the older, the newer."""
    found = {each.id: (session.name, each) for session in story.sessions for each in kept[session.name] if not each.quarantine}
    turns = {turn.id: turn for session in story.sessions for turn in session.turns}
    new = [standing(each, session, turns[each.turns[0]]) for session, each in found.values()]
    pairs = [pair for pair in story.pairs if pair.type]
    labelled = {frozenset((turn, other)) for pair in pairs for turn in pair.old.turns for other in pair.new.turns}
    for change in reflect(new, [], Likeness()):
        if isinstance(change, Supersede):
            told, older, newer = "supersedes", found[change.old][1], found[change.new][1]
        elif isinstance(change, Contradict):
            told, older, newer = "contradicts", found[change.other][1], found[change.one][1]
        else:
            continue
        if labelled.isdisjoint(frozenset((a, b)) for a in older.turns for b in newer.turns):
            yield told, older, newer


def noted(quote: str, text: str) -> dict[str, Any]:
    """What the ledger notes of a turn beside a quote."""
    return dict(zip(("before", "after"), beside(text, quote), strict=True))


def standing(said: Statement, session: str, turn: Said) -> Known:
    """A statement as the ledger would hold it."""
    return Known(
        said.id, "observation", said.kind, said.text, said.confidence, said.trust, said.scope, "project", session, turn.at, None,
        None, "", "rules/1", False, False,
        {"why": said.why, "instead_of": said.instead_of, "quote": said.quote, **noted(said.quote, turn.text)},
    )  # fmt: skip
