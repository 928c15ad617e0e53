"""A clause -> how it is made: whether it asks, wonders, gives an order, names something, has a verb.

What is done by saying it follows from that and from the cues.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from hindbrain.reason.cues import Cues

SPECIFIC: Final = re.compile(
    r"`[^`]+`|\b\w+[/_.:@#-]\w|\b\d|\b[a-zA-Z]{1,12}\d"
    r"|#\w|(?<=[a-z])[A-Z]|\b[A-Z]{2,}|\"[^\"]+\"|\.\w+\b"
)
_NAMED: Final = re.compile(r"(?<=[\w,:)] )[A-ZÄÖÜÁÉÍÓÚ][\wäöüßáéíóúñ]+")
_QUOTED: Final = re.compile(r"\"[^\"]{1,60}\"|“[^”]{1,60}”|„[^“”]{1,60}[“”]|«[^»]{1,60}»|»[^«]{1,60}«")
_NEGATED: Final = ("do", "does", "did", "is", "are", "was", "were", "has", "have", "should", "would")
_SHORT_FORMS: Final = {
    **{f"{verb} not": f"{verb}n't" for verb in _NEGATED},
    **{f"{who} {verb}": f"{who}'{end}" for who in ("i", "we", "you", "they", "it", "that", "there") for verb, end in (
        ("am", "m"), ("are", "re"), ("is", "s"), ("have", "ve"), ("will", "ll"), ("would", "d"))},
    "cannot": "can't", "will not": "won't", "let us": "let's",
}  # fmt: skip
_FULL: Final = re.compile(r"\b(?:" + "|".join(sorted(_SHORT_FORMS, key=len, reverse=True)) + r")\b")
WORD: Final = re.compile(r"\w+")


@dataclass(slots=True)
class Context:
    """What was said before, as far as it changes what a clause means."""

    cues: Cues
    language: str
    reply: str = ""  # what the assistant said last, if it did since the user spoke
    acted: bool = False  # the assistant said or did something since
    opening: bool = False  # nobody said anything in this session before
    wrong: bool = False  # the turn contradicts the assistant, and what is right was not said yet
    ruling: bool = False  # the sentence before said that rules follow
    head: bool = True  # nothing was said in this sentence before, or a conjunction stands between
    begins: bool = True  # nothing was said in this sentence before
    reversed: bool = False  # the user just took back what they had said themselves
    asks: bool = False  # the sentence goes on to ask, or announces, or cries out
    early: bool = False  # one of the first sentences of the turn
    first: bool = False  # nothing was said in this turn before
    answer: str = ""  # what the assistant says next


def specific(text: str, language: str) -> bool:
    """Whether it names something: code, a path, a number, a person. In German every noun has a capital."""
    return SPECIFIC.search(text) is not None or len(_NAMED.findall(text)) > (1 if language == "de" else 0)


def silent(low: str, cues: Cues) -> bool:
    """Whether the clause asks, or takes back, or speaks of somewhere else."""
    return cues.any(("question", "withdrawn", "elsewhere", "if"), low)


def loose(low: str, cues: Cues) -> bool:
    """Whether it says what might be, what is still open, or what is done with."""
    return cues.any(("maybe", "open", "done"), low)


def unquoted(low: str) -> str:
    """With the words inside of quotation marks gone: they are named, not said."""
    return _QUOTED.sub("\"…\"", low)


def orders(low: str, cues: Cues) -> bool:
    """Whether it begins with a verb that gives an order. "Log retention goes down" begins so too, and says how things are."""
    if not cues.has("order", low) or cues.has("compound", low):
        return False
    finite = cues.find("finite", low.partition(",")[0])
    return finite is None or cues.has("complement", low[: finite.start()])


def contracted(low: str) -> str:
    """English as it is spoken: "do not" as "don't", "we have" as "we've". Who writes long sentences writes both words."""
    return _FULL.sub(lambda found: _SHORT_FORMS[found[0]], low)


def verbless(low: str, cues: Cues) -> bool:
    """Whether nothing is said of anything: a name, a value, a few words."""
    return not cues.any(("fact", "order", "ask", "ack", "momentary", "past", "felt", "weak_subject"), low)


@lru_cache(8)
def words_of(reply: str) -> frozenset[str]:
    """Kept for a while: of every clause it is asked what the reply before it has said."""
    return frozenset(WORD.findall(reply.lower()))


def offered(low: str, context: Context) -> bool:
    """Whether it has a word that the assistant just said."""
    said = words_of(context.reply)
    return any(len(word) > 3 and word in said for word in WORD.findall(low))
