"""Something a user said, and where -> how likely it is worth keeping, and as what; by weights learnt from labelled sessions.

The rules say how a thing was said; they cannot say how much each sign counts. "Port 8081" names a value and chooses it, or
reports what was seen this minute, and which of the two is likelier depends on everything around it. So each sign found in a
sentence and beside it is a mark, and so is how the assistant takes it; every mark has one weight, what it means adds its part,
and a statement is kept when they add up (`scripts/train_keeping.py` learns all of them).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from itertools import pairwise
from math import exp
from typing import Final, NamedTuple

from hindbrain.base.errors import EmbedderFailed
from hindbrain.reason.clauses import Sentence
from hindbrain.reason.cues import COMMON, Cues
from hindbrain.reason.forms import WORD, Context, loose, offered, orders, silent, specific, verbless, words_of
from hindbrain.reason.gate import is_technical

log = logging.getLogger("hindbrain.reason")

LENGTHS: Final = (2, 4, 6, 9, 13, 20, 30)  # words
CROWDS: Final = (2, 4, 8)  # sentences of a turn
_BESIDE: Final = ("momentary", "others", "elsewhere", "maybe", "open", "past", "ack")
FEW, SOME = 5, 11  # words
REPLY_CHARS: Final = 600  # of a reply, from its end, that may ask or offer
TAKEN: Final = (1, 2, 3, 5)  # words that two texts have in common
LEAST: Final = 4  # letters of a word that counts there
ANSWER_CHARS: Final = 300  # of what the assistant says next
ANSWER_WORDS: Final = 8
_COUNTED: Final = re.compile(r"\b\d+(?:[.,]\d+)?\s?(?:%|€|\$|[a-zµ°]{1,12}\b)", re.IGNORECASE)
_NUMBER: Final = re.compile(r"\d+(?:\.\d+)*")
_NAMES: Final = re.compile(
    r"`[^`\n]+`|\b\w+[_./:@-]\w[\w./:@-]*|\b[A-Za-z]+\d\w*|\b[a-z]+[A-Z]\w*|\b[A-Z]{2,}\w*|(?<=[\w,:)] )[A-Z]\w+"
)
_OFFERS: Final = re.compile(
    r"\b(?:or|oder|either|options?|alternativ\w*|opción|opciones|entweder)\b|(?:^|\n)\s*(?:\d[.)]|[a-c]\)|-)\s", re.IGNORECASE
)
_FILE: Final = "weights.json"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in its turn something was said."""

    sentences: Sequence[Sentence]
    number: int  # of the sentence that holds it, or where it begins
    found: int  # other things the rules found in the same turn

    @property
    def sentence(self) -> Sentence:
        return self.sentences[self.number]


def marks(text: str, kind: str, confidence: float, place: Place, context: Context) -> frozenset[str]:
    """What is to be seen of something said. kind: what the rules take it for, "" for nothing."""
    return frozenset((
        f"rule {kind or 'none'} {confidence:.2f}", *_of_words(text, context), *_of_sentence(text, place, context),
        *_of_place(place, context), *_together(text, place, context), *_beside(place, context.cues),
        *_replying(text, context), *_answered(text, context),
    ))  # fmt: skip


def _of_words(text: str, context: Context) -> Iterator[str]:
    low, cues = text.lower(), context.cues
    yield from (name for name in cues.names if cues.has(name, low))
    said = WORD.findall(low)
    count = len(said)
    yield from (f"word {word}" for word in said if word.isalpha())
    yield from (f"pair {word} {after}" for word, after in pairwise(said) if word.isalpha() and after.isalpha())
    if said:
        yield f"word {said[0]} first"
        yield f"word {said[-1]} last"
    yield from (f"over {least} words" for least in LENGTHS if count > least)
    signs = {
        "specific": specific(text, context.language), "technical": is_technical(text), "orders": orders(low, cues),
        "verbless": verbless(low, cues), "offered": offered(low, context), "silent": silent(low, cues), "loose": loose(low, cues),
    }  # fmt: skip
    yield from (f"is {name}" for name, there in signs.items() if there)


def _of_sentence(text: str, place: Place, context: Context) -> Iterator[str]:
    sentence = place.sentence
    yield f"ends {sentence.mark or 'nowhere'}"
    if sentence.listed:
        yield "listed"
    low = sentence.text.lower()
    if low != text.lower():
        yield from (f"around {name}" for name in context.cues.names if context.cues.has(name, low))


def _of_place(place: Place, context: Context) -> Iterator[str]:
    count = len(place.sentences)
    signs = {
        "first": place.number == 0, "last": place.number == count - 1, "only": count == 1,
        "asked": context.reply.rstrip().endswith("?"),
    }  # fmt: skip
    yield from (f"place {name}" for name, there in signs.items() if there)
    yield from (f"over {least} sentences" for least in CROWDS if count > least)
    yield f"beside {min(place.found, 3)} others"
    yield f"language {context.language}"


def _together(text: str, place: Place, context: Context) -> Iterator[str]:
    """Signs that mean something else together: a few words choose where the assistant had asked or put up several ways."""
    count = len(WORD.findall(text))
    size = "few" if count <= FEW else "some" if count <= SOME else "many"
    turned = "first" if place.number == 0 else "later"
    tail = context.reply[-REPLY_CHARS:]
    state = "asked" if "?" in tail else "offered" if _OFFERS.search(tail) else "told"
    yield f"{size} words {turned} {state}"
    if _COUNTED.search(text):
        yield f"{size} words with a value"
        yield f"value {turned} {state}"
    if specific(text, context.language):
        yield f"{size} words with a name {state}"


def _replying(text: str, context: Context) -> Iterator[str]:
    """What it has in common with what the assistant said before it, and where it says something else of the same."""
    if not context.reply:
        return
    theirs = words_of(context.reply)
    own = {word for word in WORD.findall(text.lower()) if len(word) >= LEAST}
    taken = len(own & theirs)
    yield from (f"takes up {least}" for least in TAKEN if taken >= least)
    numbers = set(_NUMBER.findall(text))
    if numbers:
        said = _numbers(context.reply)
        both, other = bool(numbers & said), bool(numbers - said)
        whose = "of theirs" if both else "of its own"
        yield f"number {whose}{' and another' if both and other else ''}{'' if said else ' alone'}"
        if taken and other and said:
            yield "takes up with another number"
    names = {part for name in _NAMES.findall(text) for part in WORD.findall(name.lower())} - COMMON
    if names:
        yield f"name {'of theirs' if names & theirs else 'of its own'}"


@lru_cache(8)
def _numbers(reply: str) -> frozenset[str]:
    return frozenset(_NUMBER.findall(reply))


def _beside(place: Place, cues: Cues) -> Iterator[str]:
    for number, name in ((place.number - 1, "before"), (place.number + 1, "after")):
        if not 0 <= number < len(place.sentences):
            continue
        beside = place.sentences[number]
        low = beside.text.lower()
        if beside.mark == "?":
            yield f"{name} asks"
        if orders(low, cues):
            yield f"{name} orders"
        yield from (f"{name} {each}" for each in _BESIDE if cues.has(each, low))


def _answered(text: str, context: Context) -> Iterator[str]:
    """How the assistant takes it: "Noted", "You are right", or what it does about it."""
    said = WORD.findall(context.answer[:ANSWER_CHARS].lower())
    if not said:
        return
    yield "answered"
    yield from (f"answer {word}" for word in said[:ANSWER_WORDS] if word.isalpha())
    yield f"answer {' '.join(said[:2])} first"
    own = {word for word in WORD.findall(text.lower()) if len(word) >= LEAST}
    taken = len(own.intersection(said))
    yield from (f"answer takes up {least}" for least in TAKEN if taken >= least)


def likely(seen: Collection[str], meant: float) -> float:
    """How likely it is worth keeping, from 0 to 1. meant: what its meaning says to that."""
    return 1 / (1 + exp(-_sum(0, seen) - meant))


def meanings(texts: Sequence[str]) -> list[float]:
    """How much the meaning of each text speaks for keeping it; nothing where the table of meanings cannot be had."""
    from hindbrain.recall.static import Static  # numpy: only for those who read sessions

    try:
        table = Static.load()
    except EmbedderFailed as error:
        log.warning("what is worth keeping is told without its meaning: %s", error.message)
        return [0.0] * len(texts)
    weights = _weights().meaning
    # rounded, so that another machine's order of adding up changes nothing
    return [round(float(vector @ weights), 4) for vector in table.documents(texts)]


def kinds(seen: Collection[str]) -> dict[str, float]:
    """How much speaks for each kind."""
    return {kind: _sum(number, seen) for number, kind in enumerate(_weights().kinds, start=1)}


def _sum(place: int, seen: Collection[str]) -> float:
    """What the marks say, in one place of their rows."""
    rows = _weights().marks
    found = (rows[mark] for mark in sorted(seen) if mark in rows)
    return rows["always"][place] + sum(row[place] for row in found if place < len(row))


class _Weights(NamedTuple):
    kinds: Sequence[str]
    marks: Mapping[str, Sequence[float]]  # for keeping it, then for each kind; a pair of words speaks of keeping alone
    meaning: Sequence[float]


@cache
def _weights() -> _Weights:
    return _Weights(**json.loads(resources.files(__package__).joinpath(_FILE).read_text("utf-8")))
