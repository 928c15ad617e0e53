"""Topics with their statements -> which topics are near each other, and which two are so often spoken of together that this is a
topic of its own.

Kept from plan to plan: only what touches a changed topic is worked out again, and the outcome is the one that working out
everything would give.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Final

MOST_RELATED: Final = 12
_TOPICS_OF_ONE: Final = 8  # of a statement's topics: how many may be brought together by it
_CONNECTED: Final = 3  # statements that speak of both
_APART: Final = 0.6  # two topics of which more than this is common need no page between them

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Never changed; `updated` gives another."""

    own: Mapping[str, tuple[str, ...]]  # topic -> facts
    sizes: Mapping[str, int]  # of the topic itself, without what its facts replaced
    spots: dict[str, tuple[str, ...]]  # fact -> topics, sorted
    shared: dict[str, dict[str, int]]  # topic -> topic -> facts they have in common
    nearest: dict[str, list[str]]
    near: dict[str, list[str]]  # those of the nearest to which it is one of the nearest itself
    ties: dict[Pair, tuple[str, ...]]  # two topics that are spoken of together, and where
    tied: dict[str, list[Pair]]

    def updated(self, own: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int]) -> tuple[Neighbours, set[str]]:
        """With these topics; and the topics whose facts, neighbours or ties are others now."""
        every = own.keys() | self.own.keys()
        changed = {key for key in every if own.get(key) != self.own.get(key) or sizes.get(key) != self.sizes.get(key)}
        spots, shared = dict(self.spots), dict(self.shared)
        counted = self._recount(own, changed, spots, shared)
        nearest = dict(self.nearest)
        for key in counted:
            nearest.pop(key, None)
            if shared.get(key):
                ranked = sorted((-count, other) for other, count in shared[key].items())
                nearest[key] = [other for _, other in ranked[:MOST_RELATED]]
        near, moved = self._mutual(nearest, counted)
        ties, tied, retied = self._tied(own, sizes, shared, changed | counted)
        return Neighbours(own, sizes, spots, shared, nearest, near, ties, tied), (changed | moved | retied) & own.keys()

    def _recount(self, own: Mapping[str, tuple[str, ...]], changed: Iterable[str], spots: dict[str, tuple[str, ...]],
                 shared: dict[str, dict[str, int]]) -> set[str]:  # fmt: skip
        """Moves facts between topics; gives the topics that have other counts now."""
        came: dict[str, set[str]] = defaultdict(set)
        went: dict[str, set[str]] = defaultdict(set)
        for key in changed:
            now, was = set(own.get(key, ())), set(self.own.get(key, ()))
            for fact in now - was:
                came[fact].add(key)
            for fact in was - now:
                went[fact].add(key)
        counted: set[str] = set()
        for fact in came.keys() | went.keys():
            old = spots.pop(fact, ())
            new = tuple(sorted((set(old) - went.get(fact, set())) | came.get(fact, set())))
            if new:
                spots[fact] = new
            before, after = set(_pairs(old)), set(_pairs(new))
            for step, pairs in ((1, after - before), (-1, before - after)):
                for one, other in pairs:
                    _count(shared, counted, one, other, step)
                    _count(shared, counted, other, one, step)
        return counted

    def _mutual(self, nearest: Mapping[str, list[str]], counted: set[str]) -> tuple[dict[str, list[str]], set[str]]:
        reach = {other for key in counted for other in (*self.nearest.get(key, ()), *nearest.get(key, ()))} | counted
        near = dict(self.near)
        moved = set()
        for key in reach:
            near.pop(key, None)
            if found := [other for other in nearest.get(key, ()) if key in nearest[other]]:
                near[key] = found
            if near.get(key) != self.near.get(key):
                moved.add(key)
        return near, moved

    def _tied(self, own: Mapping[str, tuple[str, ...]], sizes: Mapping[str, int], shared: Mapping[str, Mapping[str, int]],
              changed: Iterable[str]) -> tuple[dict[Pair, tuple[str, ...]], dict[str, list[Pair]], set[str]]:  # fmt: skip
        again = {_pair(key, other) for key in changed for other in (*self.shared.get(key, ()), *shared.get(key, ()))}
        ties = dict(self.ties)
        touched: set[str] = set()
        for pair in again:
            was = ties.pop(pair, None)
            count = shared.get(pair[0], {}).get(pair[1], 0)
            if count >= _CONNECTED and _apart(pair, count, sizes):
                there = set(own[pair[1]])
                ties[pair] = tuple(fact for fact in own[pair[0]] if fact in there)
            if (was is None) != (pair not in ties):
                touched.update(pair)
        if not touched:
            return ties, self.tied, touched
        tied: dict[str, list[Pair]] = defaultdict(list)
        for pair in sorted(ties):
            for key in pair:
                tied[key].append(pair)
        return ties, dict(tied), touched


NONE: Final = Neighbours({}, {}, {}, {}, {}, {}, {}, {})


def _count(shared: dict[str, dict[str, int]], counted: set[str], one: str, other: str, step: int) -> None:
    if one not in counted:  # of the plan before: it stays as it is
        shared[one] = dict(shared.get(one, {}))
        counted.add(one)
    shared[one][other] = shared[one].get(other, 0) + step
    if shared[one][other] == 0:
        del shared[one][other]


def _pair(one: str, other: str) -> Pair:
    return (one, other) if one < other else (other, one)


def _pairs(keys: tuple[str, ...]) -> Iterable[Pair]:
    return combinations(keys[:_TOPICS_OF_ONE], 2)


def _apart(pair: Pair, common: int, sizes: Mapping[str, int]) -> bool:
    """Whether they are two things, not one that is called so and so."""
    first, second = (set(key.rpartition("|")[2].lstrip("=").split(" ")) for key in pair)
    return common < _APART * (sizes[pair[0]] + sizes[pair[1]] - common) and not first <= second and not second <= first
