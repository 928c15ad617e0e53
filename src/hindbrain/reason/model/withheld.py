"""What a model found in a session, and what rules set aside there -> both, each text once.

Whether a text is hostile is never left to whoever reads it: what rules quarantine is quarantined whatever a model says, leaves
out or makes of it. Theirs stands under the id that any reading finds, so that a person's decision about it outlives a change of
models. What the model made of the same words is left out, in its own words too: else it would tell what is held back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.model.unsaid import taken_over
from hindbrain.reason.quarantine import doubtful


def apart(found: Iterable[Statement], held: Sequence[Statement], turns: Sequence[Said]) -> list[Statement]:
    """What was found that rests on nothing in quarantine. held: what rules set aside in these turns."""
    quotes: dict[str, list[str]] = {}
    for each in held:
        quotes.setdefault(each.turns[0], []).append(each.quote)
    texts = {turn.id: turn.text for turn in turns}
    for turn in turns:
        if turn.id in quotes:  # rules name a few of a turn; there may be more
            quotes[turn.id] += doubtful(turn)
    known = {each.id for each in held}
    return [each for each in found if each.id not in known and not _rests_on(each, quotes, texts)]


def _rests_on(each: Statement, quotes: Mapping[str, Sequence[str]], texts: Mapping[str, str]) -> bool:
    """Whether it quotes such words, or has a telling word of theirs that is nowhere else in its turns."""
    first = each.turns[0]
    if any(_meet(texts.get(first, ""), each.quote, quote) for quote in quotes.get(first, ())):
        return True
    theirs = [quote for turn in each.turns for quote in quotes.get(turn, ())]
    if not theirs:
        return False
    rest = "\n".join(_without(texts.get(turn, ""), quotes.get(turn, ())) for turn in each.turns)
    return bool(taken_over(each.text, rest, "\n".join(theirs)))


def _meet(text: str, one: str, other: str) -> bool:
    """Whether two quotes of a text overlap in it."""
    start, other_start = text.find(one), text.find(other)
    return min(start, other_start) >= 0 and start < other_start + len(other) and other_start < start + len(one)


def _without(text: str, quotes: Iterable[str]) -> str:
    for quote in sorted(quotes, key=len, reverse=True):
        text = text.replace(quote, " ")
    return text
