"""Many memories -> for one statement the few that may be about the same thing, without comparing it with all.

An index from words to memories: those that share the most telling words come first. Words that a tenth of all memories hold tell
nothing and are not followed, so that the work for one statement does not grow with the number of memories.
"""

from __future__ import annotations

import heapq
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from hindbrain.reason.beside import said_beside
from hindbrain.reason.changes import Standing
from hindbrain.reason.families import tools
from hindbrain.reason.values import stem
from hindbrain.reason.vocabulary import NUMERALS, SILENT, plain

PARTNERS: Final = 24  # that a statement is compared with
COMMON: Final = 10  # a word that one of so many memories holds tells nothing
FEW: Final = 60  # so many may always hold it
MAX_CHARS: Final = 2_000
BESIDE: Final = 0.5  # how much a word counts that stands beside one of the two

_WORD: Final = re.compile(r"v?\d+(?:\.\d+)+|\w+")


@lru_cache(16_384)
def words(text: str) -> frozenset[str]:
    """What a statement is found by: its words, a number behind its name, the first part of a version, what a tool is for."""
    found = {f"for {purpose}" for purpose, _ in tools(plain(text[:MAX_CHARS]))}
    for word in _WORD.findall(plain(text[:MAX_CHARS])):
        if word in NUMERALS:
            found.add(str(NUMERALS[word]))
        elif "." in word:
            found |= {word, word.removeprefix("v").split(".")[0] + "."}
        elif word not in SILENT:
            found |= {stem(part) for part in word.split("_") if part}
    return frozenset(found)


def _words_of(memory: Standing) -> tuple[frozenset[str], frozenset[str]]:
    """Of the memory itself, and of what is said beside it alone."""
    own = words(f"{memory.text} {memory.detail.get('instead_of') or ''}")
    before, after = said_beside(memory)
    return own, words(f"{before} {after}") - own if before or after else frozenset()


class Partners:
    """The index. A memory is added once; memories are asked for by a statement."""

    def __init__(self, memories: Iterable[Standing] = ()) -> None:
        self._holding: dict[str, list[int]] = defaultdict(list)
        self._beside: dict[str, list[int]] = defaultdict(list)  # who has a word beside it, in its turn
        self._memories: list[Standing] = []
        for memory in memories:
            self.add(memory)

    def add(self, memory: Standing) -> None:
        number = len(self._memories)
        self._memories.append(memory)
        own, near = _words_of(memory)
        for index, said in ((self._holding, own), (self._beside, near)):
            for word in said:
                index[word].append(number)

    def of(self, memory: Standing) -> Sequence[Standing]:
        """Those that share most with it, at most PARTNERS; itself left out."""
        most = max(FEW, len(self._memories) // COMMON)
        scores: dict[int, float] = defaultdict(float)
        own, near = _words_of(memory)
        for said, index, share in ((own, self._holding, 1.0), (near, self._holding, BESIDE), (own, self._beside, BESIDE)):
            for word in sorted(said):
                holding = index.get(word, ())
                if len(holding) <= most:
                    # squared: one rare word says more than three that many hold
                    telling = share * math.log(1 + len(self._memories) / max(1, len(holding))) ** 2
                    for number in holding:
                        scores[number] += telling
        least = heapq.nlargest(PARTNERS + 1, scores.values())[-1:]  # all that reach it are ordered by id where they are equal
        best = [(-score, self._memories[number].id, number) for number, score in scores.items() if [score] >= least]
        found = (self._memories[number] for _, identifier, number in sorted(best) if identifier != memory.id)
        return list(itertools.islice(found, PARTNERS))
