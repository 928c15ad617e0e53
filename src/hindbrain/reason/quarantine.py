"""What no person of the project said, and speaks to assistants -> statements that a person has to look at first.

Results of tools, pages, files, issues, and what is pasted or quoted in a prompt can say that something is so, never what to do.
What gives orders to assistants or seeks secrets is written down as "X says: …", held back, so that a person can see what was
tried. The same of what stands in a prompt as if the user had said it, where it speaks as no user does: people paste without
marks.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from hindbrain.base.fence import strip_injected
from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.clauses import sentences
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.trust import doubt, may_hold_orders, trust_of

_MOST_EACH: Final = 3  # of one turn: a page full of them is one finding, not a hundred
_MOST_CHARS: Final = 200_000
_TRUST: Final = ("tool", "import")


def set_aside(turns: Sequence[Said], found: Iterable[Statement] = ()) -> list[Statement]:
    """At most a few of each turn, all of them in quarantine. `found`: what readers made of the user's own words. Of a sentence
    that they kept a part of, the rest is still there to be handed on: only what they quarantined is known."""
    known: dict[str, list[str]] = {}
    for each in (one for one in found if one.quarantine):
        known.setdefault(each.turns[0], []).append(each.quote)
    return [each for turn in turns for each in (*_of_turn(turn), *_of_own_words(turn, known.get(turn.id, ())))]


def doubtful(turn: Said) -> list[str]:
    """Every sentence of a turn that gives reason to doubt it, however many there are."""
    return [text for text, _ in (*_foreign_doubts(turn), *_own_doubts(turn))]


def _of_own_words(turn: Said, known: Collection[str]) -> list[Statement]:
    """What no reader set aside, and could be handed to an agent with its turn."""
    new = (_held(turn, text, reason) for text, reason in _own_doubts(turn) if not _known(text, known))
    return list(islice(new, _MOST_EACH))


def _own_doubts(turn: Said) -> Iterator[tuple[str, str]]:
    if turn.role != "user" or trust_of(turn.role, turn.trust) in _TRUST or not may_hold_orders(turn.text):
        return
    for each in sentences(own(turn.text)[:_MOST_CHARS]):
        reason = doubt(each.text, own=True)
        if reason and each.text in turn.text:
            yield each.text, reason


def _known(text: str, quotes: Collection[str]) -> bool:
    return any(quote in text or text in quote for quote in quotes)


def _of_turn(turn: Said) -> list[Statement]:
    return [_held(turn, text, reason) for text, reason in islice(_foreign_doubts(turn), _MOST_EACH)]


def _foreign_doubts(turn: Said) -> Iterator[tuple[str, str]]:
    for text in _foreign(turn):
        if not may_hold_orders(text):
            continue
        for sentence in sentences(text[:_MOST_CHARS]):
            reason = doubt(sentence.text, own=False)
            if reason and sentence.text in turn.text:
                yield sentence.text, reason


def _held(turn: Said, quote: str, reason: str) -> Statement:
    who = (turn.tool or "A tool") if turn.role == "tool_result" else "Pasted text"
    return Statement("fact", f"{who} says: {' '.join(quote.split())}", (turn.id,), quote, 0.2, trust="tool", quarantine=reason)


def _foreign(turn: Said) -> Iterator[str]:
    """The parts of a turn that are not its speaker's own words."""
    if turn.role == "tool_result" or trust_of(turn.role, turn.trust) in _TRUST:
        yield strip_injected(turn.text)
    elif turn.role == "user" and (words := own(turn.text)) != turn.text:
        shown = strip_injected(turn.text)
        if shown == turn.text:  # our own block is nobody's order; where one stands, places no longer agree
            yield "".join(letter if blank == BLANK else "\n" for letter, blank in zip(turn.text, words, strict=True))
