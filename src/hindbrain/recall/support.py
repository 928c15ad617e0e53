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
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from hindbrain.recall.fitting import no_topic, stem, weak
from hindbrain.recall.said import words_before
from hindbrain.recall.words import STOP_WORDS, spaced

if TYPE_CHECKING:
    from hindbrain.recall.static import Static

# Of what a question speaks of, evidence must speak of so much.
FLOOR: Final = 0.45
# With less than this it is searched once more.
ENOUGH: Final = 0.8
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
UNHEARD: Final = 0.6
UNHEARD_KIND: Final = 0.8
ONE_KIND: Final = 0.6  # what a text counts that speaks of a part of the kind of answer, where nothing else is asked
OTHER: Final = 0.5  # what a text counts that speaks of another thing of the same kind
TELLING: Final = 4  # words of its own that a reply has at least: "yes, will do" is none
_LOOKED_AT: Final = 4_000
_BEGINNING: Final = 5  # letters that two forms of a word share at least
_LONG_BEGINNING: Final = 8

# What a question is built of, beside what it is about: how, how often, of what kind; and the same in German and Spanish.
_FRAME: Final = frozenset(
    """
    actually allowed anyone anything big called choose chose chosen day days decide decided discuss discussed done exist
    exists fast find go goes handle handled happen happened happens kind large leave left long made make may mention mentioned
    might name named names number often reason rule rules short slow small somebody something sort supposed time times type
    use used uses using usually want wanted went work works written
    aber als am an auf aus bei bitte da das dass dem den der des die diese du ein eine einem einen einer er es für gab gibt
    haben hat hatte ich ihr im in ist ja kann man mein mit muss nach nicht noch nutzen nutzt oder schon sein sich sie sind
    soll sollte sollen über um und uns unser unsere unter vom von vor wann war waren warum was weil welche welchem welchen
    welcher welches wem wen wenn wer werden wie wir wird wo wollen wurde wurden zu zum zur
    al como cómo con cual cuál cuales cuáles cuando cuándo de del dónde donde el ella en era es esta está están fue ha hay
    hemos la las le lo los más me mi no nos nuestra nuestro para pero por porque qué que quien quién se según si sin sobre son
    su sus tenemos tiene un una usa usamos usar y ya
    """.split()  # noqa: SIM905  # a list this long reads better as text
)
# The words right behind these name the kind of answer: "which message broker", "what port".
_AUX: Final = r"(?:do|does|did|is|was|are|were|of|for|should|will|have|has|must|can|nutzen|verwenden|usamos|de)"
_KIND: Final = re.compile(
    rf"\b(?:which|welche[nmrs]?)\s+(\w+)(?:\s+(\w+)(?=\s+{_AUX}\b))?"
    r"|\b(?:what(?:'s| is| was| are| were)?(?: the| our| my)?|qu[eé]|cu[aá]l(?:es)?(?: es| son)?(?: el| la)?)"
    rf"\s+(\w+)(?:\s+(\w+))?(?=\s+{_AUX}\b)",
    re.IGNORECASE,
)


_SENTENCE: Final = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+(?:[.!?\n]+|$)[\"')`*]*")
# What is done, rather than what it is done with: "did we drop Redis", "how is a release made".
_DONE: Final = re.compile(
    r"\b(?:do|does|did|should|can|could|may|must|will|would|shall)\s+(?:we|i|you|they|one)\s+(\w+)"
    r"|^\W*(?:what|who)\s+(\w+(?:s|ed))\s"
    r"|^\W*(?:how|where|when|why)\b.*\b(?:is|are|was|were|be|been)\b.*?\s(\w+(?:ed|en|ne|de|lt|wn|nt|pt))"
    r"(?:\s+(?:in|on|by|to|from|for|with|at|through|before|after|out|up)\b.*)?\W*$"
)


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a question."""

    word: str
    weight: float
    kind: bool = False  # it says what kind of answer is wanted
    beside_next: bool = False  # stands right before the next word of the question that counts
    unheard: float = 1.0  # what a text counts that does not speak of it: less where nobody ever said the word


@dataclass(frozen=True, slots=True)
class Support:
    """How far a text goes."""

    share: float  # of the question's weight, from 0 to 1
    missing: tuple[str, ...]  # telling words of the question that it does not speak of


def asked_words(question: str, static: Static | None) -> list[Word]:
    """The words that say what a question is about, each with how much it counts; every word where none does."""
    start = question[:2_000].lower()
    kinds = {word for match in [*_KIND.findall(start), *_DONE.findall(start)] for word in match if word}
    every = list(dict.fromkeys(spaced(question).split()))
    telling = [word for word in every if word not in STOP_WORDS and not no_topic(word)][:MAX_WORDS]
    ahead = {one for one, other in pairwise(spaced(question).split()) if other in telling}
    found = []
    for word in telling:
        factor = WEAK if _of_the_frame(word) else KIND if word in kinds else 1.0
        found.append(Word(word, factor * telling_of(word, static), factor == KIND, factor == 1.0 and word in ahead))
    return found


def _of_the_frame(word: str) -> bool:
    """Whether a word belongs to how something is asked rather than to what is asked."""
    return word in _FRAME or weak(word)


def unheard_of(asked: Sequence[Word], counts: Sequence[int]) -> list[Word]:
    """The same words; one that is said nowhere at all weighs on whatever does not speak of it. `counts`: how often each is."""
    return [
        each if count or _of_the_frame(each.word) else replace(each, unheard=UNHEARD_KIND if each.kind else UNHEARD)
        for each, count in zip(asked, counts, strict=True)
    ]  # fmt: skip


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
    covered = _covered([each.word for each in asked], said, static)
    share = sum(each.weight * part for each, part in zip(asked, covered, strict=True)) / total
    kinds = [part for each, part in zip(asked, covered, strict=True) if each.kind]
    if kinds and kinds[0] == 1.0 and all(each.kind or _of_the_frame(each.word) for each in asked):
        # "which payment provider do we use": nothing but the kind of answer is named; what is told of payments may answer it
        missing = [each.word for each, part in zip(asked, covered, strict=True) if each.kind and part < 0.5]
        return Support(1.0 if min(kinds) == 1.0 else ONE_KIND, tuple(missing))
    if _of_another(asked, covered, text):
        share *= OTHER
    for each, part in zip(asked, covered, strict=True):
        share *= each.unheard if part < 0.5 else 1.0
    missing = [each.word for each, part in zip(asked, covered, strict=True) if part < 0.5 and not _of_the_frame(each.word)]
    return Support(round(share, 6), tuple(missing))


def tells(text: str, asked: Iterable[Word]) -> bool:
    """Whether a text says something beside the words of the question."""
    known = STOP_WORDS | {each.word for each in asked}
    return len({word for word in spaced(text).split() if word not in known and not no_topic(word)}) >= TELLING


def told_in(text: str) -> str:
    """A text without the questions in it; "" where nothing is told beside them."""
    if "?" not in text:
        return text
    sentences = [each for each in _SENTENCE.findall(text) if not each.rstrip(" \"')`*\n").endswith("?")]
    return " ".join(sentences) if any(len(each.split()) >= TELLING for each in sentences) else ""


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
    words = [word for word in dict.fromkeys(spaced(text).split()) if len(word) > 2 and word not in STOP_WORDS]
    rare = [word for word in words if stem(word) not in known and not _of_the_frame(word) and telling_of(word, static) >= RARE]
    return sorted(rare, key=lambda word: -telling_of(word, static))[:most]


def _covered(asked: Sequence[str], said: Sequence[str], static: Static | None) -> list[float]:
    """How far each word is spoken of: 1 for one that is said, less for one that something near it stands for."""
    found = [1.0 if any(_is_form(word, each) for each in said) else 0.0 for word in asked]
    if static is None:
        return found
    # a word that the table has in pieces only is like whatever shares a piece with it
    left = [place for place, part in enumerate(found) if not part and len(static.tokens(asked[place])) == 1]
    telling = [word for word in said if word not in STOP_WORDS and len(static.tokens(word)) == 1]
    if not left or not telling:
        return found
    near = (static.documents([asked[place] for place in left]) @ static.documents(telling).T).max(axis=1)
    for place, likeness in zip(left, near.tolist(), strict=True):
        found[place] = max(0.0, min(0.9, (likeness - NEARLY) / (SAME - NEARLY)))
    return found


def _is_form(one: str, other: str) -> bool:
    """Whether two words are forms of one: retry and retried, commit and committing, licence and license."""
    if one == other or _plain(one) == _plain(other):
        return True
    longer = max(len(one), len(other))
    both = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return both >= _LONG_BEGINNING or (both >= _BEGINNING and both >= 0.7 * longer)


def _plain(word: str) -> str:
    found = stem(word)
    if len(found) > 3 and found[-1] == found[-2]:
        return found[:-1]
    return f"{found[:-1]}y" if found.endswith("i") else found
