"""Two statements -> the clauses of both in which they speak of one thing, and how near these clauses are.

People hang reasons and asides on what they say: "we support iOS 15, decided that with Teun over lunch" says something of iOS and
nothing of Teun. What the two share counts for more where it stands in one clause of each, and where that clause says that
something changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise, product
from typing import Final, NamedTuple

from hindbrain.reason import wording
from hindbrain.reason.values import Reading, stem

LEAST_WEIGHT: Final = 0.1


class Meeting(NamedTuple):
    """The clause of each that share most."""

    alike: float
    cover: float  # how much of the shorter one is shared
    places: tuple[int, int]  # how many words stand before the first shared one, in the newer and in the older
    changes: bool  # the newer clause says that something is another way than before
    values: int  # in how many of both there is a number


class _Clause(NamedTuple):
    number: int
    text: str
    words: list[str]


def meeting(new: Reading, old: Reading, shared: Mapping[str, float], likeness: Callable[[str, str], float]) -> Meeting | None:
    """Where they meet; None where no clause of one shares a word with one of the other."""
    found = [(mine, other) for mine, other in product(_clauses(new), _clauses(old)) if _both(mine, other, shared)]
    if not found:
        return None
    mine, other = max(found, key=lambda pair: (_both(pair[0], pair[1], shared), -pair[0].number, -pair[1].number))
    words = {*mine.words} & {*other.words} & shared.keys()
    least = min(sum(reading.keys.get(word, 0.0) for word in {*clause.words}) for clause, reading in ((mine, new), (other, old)))
    return Meeting(
        likeness(mine.text, other.text), _both(mine, other, shared) / max(LEAST_WEIGHT, least),
        (min(map(mine.words.index, words)), min(map(other.words.index, words))),
        bool(wording.CHANGE.search(mine.text) or wording.MOVED.search(mine.text)),
        sum(any(letter.isdigit() for letter in each.text) for each in (mine, other)),
    )  # fmt: skip


def _clauses(reading: Reading) -> Iterator[_Clause]:
    for number, (start, end) in enumerate(pairwise(reading.cuts)):
        yield _Clause(number, reading.text[start:end], [stem(word) for word, clause in reading.tokens if clause == number])


def _both(mine: _Clause, other: _Clause, shared: Mapping[str, float]) -> float:
    """How telling the words are that two clauses share."""
    return sum(shared[word] for word in sorted({*mine.words} & {*other.words} & shared.keys()))
