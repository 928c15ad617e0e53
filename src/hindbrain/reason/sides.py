"""Two statements, the newer and the older, side by side -> what they share and where they differ.

Nothing is decided here: relation.py does. Everything is worked out when it is asked for, how alike two texts are last of all.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from difflib import SequenceMatcher
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, Final, Protocol

from hindbrain.reason import wording
from hindbrain.reason.beside import Beside
from hindbrain.reason.families import tools
from hindbrain.reason.meeting import Meeting, meeting
from hindbrain.reason.values import NAME, ORDINARY, Reading, Value, read, stem
from hindbrain.reason.vocabulary import GENERIC, HOW_OFTEN, OPPOSED, SILENT, SORTS, plain

LEADING: Final = 2  # words that a clause begins with
CHOOSING: Final = ("decision", "correction", "instruction", "preference", "procedure")
SHORT: Final = 4  # words of a clause that says whose word it is: "as Dana told me"
Likeness = Callable[[str, str], float]


def _stems(sets: tuple[frozenset[str], ...]) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(map(stem, each)) for each in sets)


_CAPITAL: Final = re.compile(r"\b[A-ZÁÉÍÓÚÑÄÖÜ][^\W\d_]+")
_EVERYDAY: Final = SILENT | frozenset(map(stem, GENERIC))
_SORTS, _HOW_OFTEN, _OPPOSED = map(_stems, (SORTS, HOW_OFTEN, OPPOSED))


class Told(Protocol):
    """A statement, as far as it is compared."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def detail(self) -> Mapping[str, Any]: ...
    @property
    def valid_from(self) -> int: ...


class Sides:
    """Two statements side by side; everything is worked out when it is asked for."""

    def __init__(self, newer: Told, older: Told, likeness: Likeness) -> None:
        self.newer, self.older = newer, older
        self.new, self.old = read(newer.text), read(older.text)
        self.likeness = cache(likeness)  # the same two texts are asked for where nothing is said beside them

    @cached_property
    def alike(self) -> float:
        return self.likeness(self.newer.text, self.older.text)

    @cached_property
    def shared(self) -> dict[str, float]:
        """The words that both say, with how telling each is."""
        mine, other = self.new.keys, self.old.keys
        found = {key: max(weight, other[key]) for key, weight in mine.items() if key in other}
        for reading, keys in ((self.old, mine), (self.new, other)):
            begun = {begin for begin, key in reading.beginnings.items() if begin in keys and key not in found}
            found |= dict.fromkeys(begun - found.keys(), ORDINARY)
        return found

    @cached_property
    def telling(self) -> float:
        return sum(weight for weight in self.shared.values() if weight >= ORDINARY)

    @cached_property
    def cover(self) -> float:
        """How much of the shorter one the other says too."""
        least = min(sum(each.keys.values()) for each in (self.new, self.old))
        return sum(self.shared.values()) / least if least else 0.0

    @cached_property
    def meeting(self) -> Meeting | None:
        """The clauses in which they speak of one thing."""
        return meeting(self.new, self.old, self.shared, self.likeness)

    @cached_property
    def beside(self) -> Beside:
        """What the newer one's turn says beside it."""
        return Beside(self.newer, self.older, self.likeness)

    @property
    def compared(self) -> bool:
        """Whether they have anything in common that could be looked at."""
        return bool(self.shared or self.values_differ or self.ended or self.rivals) or self.beside.tied

    @cached_property
    def own_words(self) -> bool:
        """Whether each has telling words that the other does not have."""
        return all(
            any(weight >= ORDINARY and key not in self.shared for key, weight in each.keys.items())
            for each in (self.new, self.old)
        )

    @cached_property
    def parallel(self) -> float:
        """How much of both is the same words in the same order, as in the lines of a list."""
        mine, other = ([stem(word) for word, _ in each.tokens] for each in (self.new, self.old))
        return SequenceMatcher(None, mine, other, autojunk=False).ratio()

    @cached_property
    def alone(self) -> str:
        """Which of both has a telling word that the other does not have, numbers left out."""
        found = [
            any(weight >= ORDINARY and key not in self.shared and not key[0].isdigit() for key, weight in each.keys.items())
            for each in (self.new, self.old)
        ]  # fmt: skip
        return {(True, True): "both", (True, False): "new", (False, True): "old", (False, False): "none"}[found[0], found[1]]

    @cached_property
    def changes(self) -> bool:
        """Whether the newer one says that something is another way than before."""
        text = self.new.text
        return bool(wording.CHANGE.search(text) or wording.MOVED.search(text) or self.outgrown)

    @cached_property
    def outgrown(self) -> set[str]:
        """What the older one names and a clause of the newer one begins with, to tell what was wrong: "sqlite locked up"."""
        if self.newer.kind not in CHOOSING or len({clause for _, clause in self.new.tokens}) < 2:
            return set()
        other = {key for key, weight in self.old.keys.items() if weight >= ORDINARY} | {value.what for value in self.old.values}
        found: set[str] = set()
        for clause, (start, end) in enumerate(pairwise(self.new.cuts)):
            told = [word for word, where in self.new.tokens if where == clause]
            begins = {stem(word): word for word in told[:LEADING] if stem(word) in other}
            if not begins:
                continue
            said = self.new.text[start:end].partition([*begins.values()][-1])[2]
            first = {key for key in begins if min(self.new.clauses(key), default=0) == clause > 0}
            named = any(self.old.keys.get(key, 0.0) >= NAME for key in first)
            if wording.PAST.search(said) or (named and len(said.split()) > 1 and not self.again):
                found |= begins.keys()
        return found

    @cached_property
    def soft(self) -> bool:
        """Whether the newer one is a view or hearsay rather than how it has to be."""
        if wording.BINDING.search(self.new.text):
            return False
        return any(self._of_this(*found.span()) for found in wording.SOFT.finditer(self.new.text))

    def _of_this(self, start: int, end: int) -> bool:
        """Whether a cue in the newer one is of what both speak of: not where it stands in the middle of another clause."""
        cuts = self.new.cuts
        clause = bisect_right(cuts, start) - 1
        first, last = cuts[clause], cuts[clause + 1]
        said = self.new.text[first:last].split()
        if not self.new.text[first:start].strip() or len(said) <= SHORT:
            return True
        spoken = {word.clause for word in self.new.words if self.shared.get(word.key, 0.0) >= ORDINARY}
        spoken |= {new.clause for new, _ in self.values_differ}
        return not spoken or clause in spoken

    @cached_property
    def again(self) -> bool:
        """Whether the newer one says that it was said before and still holds."""
        return wording.AGAIN.search(self.new.text) is not None

    @cached_property
    def two_places(self) -> bool:
        """Whether they speak of two of a kind that everybody tells apart: of staging and of production."""
        mine, other = ({stem(word) for word, _ in each.tokens} for each in (self.new, self.old))
        sorts = _SORTS if self.changes else (*_SORTS, *_HOW_OFTEN)
        return any(mine & sort and other & sort and not mine & other & sort for sort in sorts)

    @cached_property
    def two_counted(self) -> bool:
        """Whether their values are of two things: right before each stands a word that the other does not say, or a number."""
        pairs = self.values_differ
        labels = {new.what for new, old in pairs if new.by and new.by == old.by and new.type == "number"}
        if labels and any(new.what not in labels and new.unit == old.unit != "" for new, old in pairs):
            return True  # sample 14 at 77 K, sample 15 at 90 K
        mine, other = self.new.keys, self.old.keys
        return bool(pairs) and self.telling < 1.2 and all(
            mine.get(new.by, 0.0) >= ORDINARY > other.get(new.by, 0.0)
            and other.get(old.by, 0.0) >= ORDINARY > mine.get(old.by, 0.0)
            for new, old in pairs
        )

    @cached_property
    def one_topic(self) -> bool:
        """Whether both begin with the same telling word."""
        first = [next((word.key for word in each.words if word.weight >= ORDINARY), "") for each in (self.new, self.old)]
        return first[0] == first[1] != ""

    @cached_property
    def two_things(self) -> bool:
        """Whether they speak of two things: two places, two sorts of tokens, or two subjects that have no word in common."""
        if self.two_places or self.two_counted:
            return True
        for thing in {thing for thing, _ in self.new.sorts} & {thing for thing, _ in self.old.sorts}:
            here, there = ({sort for named, sort in each.sorts if named == thing} for each in (self.new, self.old))
            if any(here & pair and there & pair for pair in _OPPOSED):
                continue
            if not here & there and not here & self.old.keys.keys() and not there & self.new.keys.keys():
                return True
        mine, other = self.new.subject, self.old.subject
        apart = not mine & self.old.keys.keys() and not other & self.new.keys.keys()
        return bool(mine and other) and apart and not self.changes

    @cached_property
    def opposed(self) -> bool:
        """Whether they say opposite things of what they share: leading and trailing, English and German."""
        mine, other = (self._beside(reading) for reading in (self.new, self.old))
        return any(mine & pair and other & pair and not mine & other & pair for pair in _OPPOSED)

    def _beside(self, reading: Reading) -> set[str]:
        """The words in the clauses of what both say."""
        clauses = {word.clause for word in reading.words if self.shared.get(word.key, 0.0) >= ORDINARY}
        return {stem(word) for word, clause in reading.tokens if clause in clauses}

    @cached_property
    def ended(self) -> float:
        """How telling the words are that the newer one says are over and the older one does not."""
        given_up = {word.key for word in read(str(self.newer.detail.get("instead_of") or "")).words}
        over = {key: weight for key, weight in self.shared.items() if key in self.new.over}
        over |= {key: self.shared[key] for key in self.outgrown if key in self.shared}
        over |= {key: NAME for key in given_up if self.old.keys.get(key, 0.0) >= ORDINARY}
        return sum(weight for key, weight in over.items() if weight >= ORDINARY and key not in self.old.over)

    @cached_property
    def one_subject(self) -> bool:
        """Whether both say what the same thing is."""
        mine, other = self.new.subject, self.old.subject
        return bool(mine and other) and (mine <= other or other <= mine)

    @cached_property
    def given_up(self) -> bool:
        """Whether the newer one says that something the older one names was in use and is no more."""
        ended = self.new.ended - self.old.over
        return any(weight >= ORDINARY and key in ended for key, weight in self.shared.items())

    @cached_property
    def released(self) -> bool:
        """Whether the newer one allows what the older one forbids or keeps for some."""
        return any(
            weight >= ORDINARY and self.new.clauses(key) & self.new.allowed - self.new.denied
            and self.old.clauses(key) & (self.old.denied | self.old.bound) for key, weight in self.shared.items()
        )  # fmt: skip

    @cached_property
    def flipped(self) -> float:
        """How telling the shared words are of which one says no and the other yes."""
        found = 0.0
        for key, weight in self.shared.items():
            signs = [sign(reading, key) for reading in (self.new, self.old)]
            if weight >= ORDINARY and signs[0] * signs[1] < 0:
                found += weight
        return found

    @cached_property
    def rivals(self) -> set[tuple[str, str]]:
        """Tools of which the newer one names one where the older one names another for the same."""
        mine, other = tools(self.new.text), tools(self.old.text)
        settled = self.changes or self.newer.kind in ("decision", "correction")
        left = other if settled else other - mine
        chosen = {(family, new) for family, new in mine - other if stem(new) not in self.new.over}
        return {(new, old) for family, new in chosen for same, old in left if family == same}

    @cached_property
    def hands(self) -> bool:
        """Whether both say who is in charge of something, and name two people."""
        if not all(wording.IN_CHARGE.search(each.text) for each in (self.new, self.old)):
            return False
        mine, other = ({stem(plain(word)) for word in _CAPITAL.findall(each.text)} for each in (self.newer, self.older))
        return bool(mine - self.old.keys.keys() - _EVERYDAY) and bool(other - self.new.keys.keys() - _EVERYDAY)

    @cached_property
    def values_differ(self) -> list[tuple[Value, Value]]:
        """Values of one sort that stand in one and not in the other, or are told in the newer as what was before."""
        mine, other = ({value.what for value in each.values} for each in (self.new, self.old))
        former = {what for what in mine & other if self.changes or what in self.new.over}
        return [
            (new, old) for new in self.new.values for old in self.old.values
            if _comparable(new, old) and new.what not in other
            and (old.what in former or (old.what not in mine and _one_sort(new, old)))
        ]  # fmt: skip


def _comparable(new: Value, old: Value) -> bool:
    """Whether one may stand where the other stood: two of a type, or a version and a bare number."""
    return new.type == old.type or ({new.type, old.type} == {"number", "version"} and not new.unit and not old.unit)


def _one_sort(new: Value, old: Value) -> bool:
    if "version" in (new.type, old.type):
        return True
    if new.unit and old.unit:
        return new.unit == old.unit
    return new.type == "flag" or abs(len(new.what) - len(old.what)) <= 1


def sign(reading: Reading, key: str) -> int:
    """Whether a statement says yes to a word, or no; 0 where it says both, or neither."""
    signs = {0 if clause in reading.bound else -1 if clause in reading.denied else 1 for clause in reading.clauses(key)}
    return signs.pop() if len(signs) == 1 else 0


def near(one: str, other: str) -> bool:
    """Whether two versions may be of one thing."""
    mine, others = one.split("."), other.split(".")
    return len(mine) == len(others) and mine[0] == others[0]
