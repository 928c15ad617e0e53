"""A question and a text -> how much of what the question speaks of the text speaks of too.

The ranking says what fits best, and something always does. Whether it may be called an answer is another question: here every
telling word of the question looks for itself in the text, as the same word, a form of it, or one that the table takes for nearly
the same. What the question is about counts most; words that only say what kind of answer is wanted ("which database", "how
often", "the name of") are seldom said in the answer and count little. What is missing is told by name, so that a person can see
how far the evidence goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from hindbrain.recall.fitting import no_topic, stem, weak
from hindbrain.recall.said import words_before
from hindbrain.recall.words import STOP_WORDS, spaced

if TYPE_CHECKING:
    from hindbrain.recall.static import Static

# Of what a question speaks of, evidence must speak of so much.
FLOOR: Final = 0.45
# What may be the first of two steps to an answer.
STEP: Final = 0.3
MAX_WORDS: Final = 24  # of a question
MAX_TEXT_WORDS: Final = 600
NEARLY: Final = 0.45  # likeness of two words from which on one may stand for the other
SAME: Final = 0.75
ORDINARY: Final = 6.0  # how telling a word is where there is no table to say it
MOST: Final = 9.0
RARE: Final = 7.5  # a word that names something
WEAK: Final = 0.3
KIND: Final = 0.5
OTHER: Final = 0.5  # what a text counts that speaks of another thing of the same kind
TELLING: Final = 4  # words of its own that a reply has at least: "yes, will do" is none
_LOOKED_AT: Final = 4_000
_BEGINNING: Final = 5  # letters that two forms of a word share at least

# What a question is built of, beside what it is about: how, how often, of what kind; and the same in German and Spanish.
_FRAME: Final = frozenset(
    """
    actually allowed anyone anything called day days decide decided discuss discussed exist exists find happen happened happens
    kind long mention mentioned name named names number often reason rule rules something somebody sort supposed time times type
    use used uses using usually
    aber als am an auf aus bei bitte da das dass dem den der des die diese du ein eine einem einen einer er es für gab gibt haben hat
    hatte ich ihr im in ist ja kann man mein mit muss nach nicht noch nutzen nutzt oder schon sein sich sie sind soll sollte sollen
    über um und uns unser unsere unter vom von vor wann war waren warum was weil welche welchem welchen welcher welches wem wen wenn
    wer werden wie wir wird wo wollen wurde wurden zu zum zur
    al como cómo con cual cuál cuales cuáles cuando cuándo de del dónde donde el ella en era es esta está están fue ha hay hemos la
    las le lo los más me mi no nos nuestra nuestro para pero por porque qué que quien quién se según si sin sobre son su sus tenemos
    tiene un una usa usamos usar y ya
    """.split()  # noqa: SIM905  # a list this long reads better as text
)
# The words right behind these name the kind of answer: "which message broker", "what port".
_KIND: Final = re.compile(
    r"\b(?:which|what(?:'s| is| was| are| were)?(?: the| our| my)?|welche[nmrs]?|qu[eé]|cu[aá]l(?:es)?(?: es| son)?(?: el| la)?)"
    r"\s+(\w+)(?:\s+(\w+))?(?=\s+(?:do|does|did|is|was|are|were|of|for|should|will|have|has|must|can|nutzen|verwenden|usamos|de)\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    word: str
    weight: float
    beside_next: bool = False  # stands right before the next word of the question that counts


@dataclass(frozen=True, slots=True)
class Support:
    """How far a text goes."""

    share: float  # of the question's weight, from 0 to 1
    missing: tuple[str, ...]  # telling words of the question that it does not speak of


def asked_words(question: str, static: Static | None) -> list[Word]:
    """The words that say what a question is about, each with how much it counts; every word where none does."""
    kinds = {word for match in _KIND.findall(question[:2_000].lower()) for word in match if word}
    every = list(dict.fromkeys(spaced(question).split()))
    telling = [word for word in every if word not in STOP_WORDS and not no_topic(word)][:MAX_WORDS]
    ahead = {one for one, other in pairwise(spaced(question).split()) if other in telling}
    found = []
    for word in telling:
        factor = WEAK if word in _FRAME or weak(word) else KIND if word in kinds else 1.0
        found.append(Word(word, factor * telling_of(word, static), factor == 1.0 and word in ahead))
    return found


def telling_of(word: str, static: Static | None) -> float:
    """How telling a word is in ordinary talk: its idf, as the table knows it."""
    if static is None:
        return ORDINARY
    known = static.tokens(word)
    return min(MOST, max((float(static.usual[token]) ** 2 for token in known), default=MOST))


def support(asked: Sequence[Word], text: str, static: Static | None) -> Support:
    """How much of the words the text speaks of."""
    total = sum(each.weight for each in asked)
    if not total:
        return Support(0.0, ())
    said = list(dict.fromkeys(spaced(text).split()))[:MAX_TEXT_WORDS]
    covered = [_covered(each.word, said, static) for each in asked]
    share = sum(each.weight * part for each, part in zip(asked, covered, strict=True)) / total
    if _of_another(asked, covered, text):
        share *= OTHER
    missing = [
        each.word for each, part in zip(asked, covered, strict=True) if part < 0.5 and each.word not in _FRAME and not weak(each.word)
    ]
    return Support(round(share, 6), tuple(missing))


def tells(text: str, asked: Iterable[Word]) -> bool:
    """Whether a text says something beside the words of the question."""
    known = STOP_WORDS | {each.word for each in asked}
    return len({word for word in spaced(text).split() if word not in known and not no_topic(word)}) >= TELLING


def _of_another(asked: Sequence[Word], covered: Sequence[float], text: str) -> bool:
    """Whether the text speaks of another thing of the same kind: of the billing module, where the search module is asked for."""
    before = words_before(text[:_LOOKED_AT])
    for (one, part), (other, other_part) in pairwise(zip(asked, covered, strict=True)):
        if part < 0.5 and other_part == 1.0 and one.beside_next and before.get(stem(other.word)):
            return True
    return False


def names_in(text: str, asked: Iterable[Word], static: Static | None, most: int = 3) -> list[str]:
    """The rarest words of a text that the question does not say: what to look for next."""
    known = {stem(each.word) for each in asked}
    words = [word for word in dict.fromkeys(spaced(text).split()) if len(word) > 2 and word not in STOP_WORDS and word not in _FRAME]
    rare = [word for word in words if stem(word) not in known and not weak(word) and telling_of(word, static) >= RARE]
    return sorted(rare, key=lambda word: -telling_of(word, static))[:most]


def _covered(word: str, said: Sequence[str], static: Static | None) -> float:
    if any(_is_form(word, each) for each in said):
        return 1.0
    if static is None:
        return 0.0
    near = max((_likeness(static, word, each) for each in said if each not in STOP_WORDS), default=0.0)
    return max(0.0, min(0.9, (near - NEARLY) / (SAME - NEARLY)))


@lru_cache(65_536)
def _likeness(static: Static, one: str, other: str) -> float:
    vectors = static.documents([one, other])
    return float(vectors[0] @ vectors[1])


def _is_form(one: str, other: str) -> bool:
    """Whether two words are forms of one: retry and retried, commit and committing, licence and license."""
    if one == other or _plain(one) == _plain(other):
        return True
    longer = max(len(one), len(other))
    both = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return both >= _BEGINNING and both >= 0.6 * longer


def _plain(word: str) -> str:
    found = stem(word)
    if len(found) > 3 and found[-1] == found[-2]:
        return found[:-1]
    return f"{found[:-1]}y" if found.endswith("i") else found
