"""A sentence of the agent and what the user said to it -> how likely it was put forward and agreed to, by learnt weights.

"Fine by me", "you sold me", "pues no se hable más": there are more ways to say yes than rules can list, and whether "k" agrees to
something depends on what stood before it. So words of both, how they stand to each other and how the agent goes on are marks,
each with one weight, and what both sentences mean adds its part (`scripts/train_assent.py` learns all of them).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import pairwise
from math import exp
from typing import Final, NamedTuple

from hindbrain.base.errors import EmbedderFailed
from hindbrain.reason.cues import language_of
from hindbrain.reason.forms import specific
from hindbrain.reason.offers import Offer, phrased, spoken
from hindbrain.reason.own_words import own
from hindbrain.reason.prose import Sentence

log = logging.getLogger("hindbrain.reason")

LIKELY: Final = 0.5
_WORD: Final = re.compile(r"[^\W_]+(?:'\w+)?|👍|✅|\+1")
_FIRST_END: Final = re.compile(r"(?<=[.!?;])\s|\n")
_READ: Final = 600  # letters of what the user said
_READ_AFTER: Final = 200  # and of what the agent says next
_LONG: Final = (1, 2, 3, 5, 8, 12, 20)
_REST: Final = (0, 3, 8, 20, 50)
_SENTENCE: Final = (3, 5, 8, 12, 16, 22, 30)
_SENTENCES: Final = (1, 2, 4, 8)
_TAKEN: Final = (1, 2, 3)
_LETTERS: Final = 4  # of a word that is taken up
_SHORT: Final = 5  # words of a short answer
_MOST: Final = 40  # sentences of a reply that are looked at, from its end
_FILE: Final = "assent.json"


class Heard(NamedTuple):
    """A sentence of the agent's reply with everything it is judged by."""

    sentence: Sentence
    number: int
    among: int  # sentences of the reply
    user: str  # what the user said to the reply
    after: str  # what the agent said then


def heard(reply: str, user: str, after: str) -> list[Heard]:
    """All that could be agreed to."""
    said = spoken(reply)
    own_words = own(user)[:_READ].strip()
    return [Heard(each, number, len(said), own_words, after[:_READ_AFTER]) for number, each in enumerate(said)][-_MOST:]


def assented(reply: str, user: str, after: str) -> Offer | None:
    """The sentence the user most likely agreed to, if it is likely enough."""
    every = heard(reply, user, after)
    if not _words(own(user)):
        return None  # nothing was said, or only quoted
    chances = [likely(marks(each), meant) for each, meant in zip(every, meanings(every), strict=True)]
    best = max(range(len(every)), key=chances.__getitem__, default=-1)
    return phrased(every[best].sentence) if best >= 0 and chances[best] >= LIKELY else None


def marks(each: Heard) -> frozenset[str]:
    """What is to be seen of the two and of what stands around them."""
    first, rest = parts(each.user)
    words, said, after = _words(first), _words(each.sentence.text), _words(each.after)
    return frozenset((
        *_of_answer(first, words, rest), *_of_sentence(each, said), *_together(each, words),
        *(f"after {word}" for word in after[:8]), f"after begins {after[0]}" if after else "after nothing",
        *_taken("user", said, _words(each.user)), *_taken("agent", said, after),
    ))  # fmt: skip


def parts(user: str) -> tuple[str, str]:
    """The first sentence, which answers, and what follows."""
    first, *rest = _FIRST_END.split(user, maxsplit=1) or [""]
    return first, rest[0] if rest else ""


def _of_answer(first: str, words: Sequence[str], rest: str) -> Iterator[str]:
    yield from (f"says {word}" for word in words[:12])
    yield from (f"says {word} {after}" for word, after in pairwise(words[:11]))
    if words:
        yield f"says {words[0]} first"
        yield f"says {words[-1]} last"
    yield from (f"says over {least} words" for least in _LONG if len(words) > least)
    follows = _words(rest)
    yield from (f"goes on over {least} words" for least in _REST if len(follows) > least)
    yield from (f"goes on {word}" for word in follows[:6])
    if first.endswith("?"):
        yield "asks"
    if "?" in rest:
        yield "goes on to ask"


def _of_sentence(each: Heard, said: Sequence[str]) -> Iterator[str]:
    text = each.sentence.text
    yield from (f"of {word}" for word in said)
    yield f"of {' '.join(said[:2])} first"
    yield from (f"of over {least} words" for least in _SENTENCE if len(said) > least)
    yield from (f"among over {least}" for least in _SENTENCES if each.among > least)
    signs = {
        "asks": text.endswith("?"), "last": each.number == each.among - 1, "first": each.number == 0, "only": each.among == 1,
        "specific": specific(text, language_of(text)), "number": re.search(r"\d", text) is not None,
    }  # fmt: skip
    yield from (f"of what {name}" for name, there in signs.items() if there)


def _together(each: Heard, words: Sequence[str]) -> Iterator[str]:
    if phrased(each.sentence).text != each.sentence.text:
        yield "proposes"
        yield f"proposes, {'short' if len(words) <= _SHORT else 'long'} answer"


def _taken(who: str, said: Sequence[str], by: Collection[str]) -> Iterator[str]:
    """How many of its words are taken up."""
    count = len({word for word in said if len(word) >= _LETTERS}.intersection(by))
    yield from (f"{who} takes up {least}" for least in _TAKEN if count >= least)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def likely(seen: Collection[str], meant: float) -> float:
    """How likely it was agreed to, from 0 to 1. meant: what the meanings say to that."""
    weights = _weights().marks
    return 1 / (1 + exp(-weights["always"] - meant - sum(weights.get(mark, 0.0) for mark in sorted(seen))))


def meanings(every: Sequence[Heard]) -> list[float]:
    """How much the meaning of each sentence and of its answer speaks for it; nothing where there is no table of meanings."""
    from hindbrain.recall.static import Static  # numpy: only for those who read sessions

    if not every:
        return []
    try:
        table = Static.load()
    except EmbedderFailed as error:
        log.warning("what was agreed to is told without its meaning: %s", error.message)
        return [0.0] * len(every)
    weights = _weights()
    answer = float(table.documents([parts(every[0].user)[0]])[0] @ weights.answer)  # one for all sentences of a reply
    vectors = table.documents([each.sentence.text for each in every])
    return [round(float(vector @ weights.sentence) + answer, 4) for vector in vectors]


class _Weights(NamedTuple):
    marks: Mapping[str, float]
    sentence: Sequence[float]  # by dimension of its meaning
    answer: Sequence[float]


@cache
def _weights() -> _Weights:
    return _Weights(**json.loads(resources.files(__package__).joinpath(_FILE).read_text("utf-8")))
