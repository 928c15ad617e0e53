"""Two statements that are said to agree -> whether one may stand for the other.

That one speaks for another is enough to trust it more, and not enough to tell it in its place: "never edit files under vendor/"
speaks for "never edit generated files by hand", and told in another project's name it is a rule that nobody gave. So what becomes
one statement says the same of the same, pair by pair: most telling words of each are in the other, and at most one of both has
any of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hindbrain.reason.reversal import about, at_odds, values_of
from hindbrain.reason.sides import Sides, Told
from hindbrain.reason.values import ORDINARY, read
from hindbrain.reason.vocabulary import plain

MOST: Final = 0.6  # of what each says, the other says too


def says_the_same(one: Told, other: Told) -> bool:
    """Whether either may stand for both."""
    if plain(one.text).split() == plain(other.text).split():
        return True
    mine, others = (about(read(each.text)) for each in (one, other))
    shared = sum(max(weight, others[key]) for key, weight in mine.items() if key in others)
    if not shared or any(shared < MOST * sum(words.values()) for words in (mine, others)):
        return False
    own = [any(weight >= ORDINARY and key not in second for key, weight in first.items())
           for first, second in ((mine, others), (others, mine))]  # fmt: skip
    numbers = [values_of(read(each.text)) for each in (one, other)]
    if all(own) or not (numbers[0] <= numbers[1] or numbers[1] <= numbers[0]):
        return False
    newer, older = (one, other) if one.valid_from >= other.valid_from else (other, one)
    return not at_odds(Sides(newer, older, lambda first, second: 0.0))


def in_the_same_words(group: Iterable[Told]) -> bool:
    """Whether all say the same telling words and values, and nothing besides."""
    return len({(frozenset(about(reading)), values_of(reading)) for reading in (read(each.text) for each in group)}) == 1
