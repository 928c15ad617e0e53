"""A name -> the ranking with a part taken away, as long as a block of code lasts; the library is used as it is otherwise.

A part is one of the weights, or one of the steps: neighbours (the words of the turns around), newest first, the embedder (what is
left when there is none).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from hindbrain.recall import rank, search
from hindbrain.recall.search import Finder
from hindbrain.recall.weights import WEIGHTS

EVERYTHING = "everything"
WORDS_ALONE = "words and neighbours alone"
STEPS = ("neighbours", "newest first", "embedder")


def variants() -> tuple[str, ...]:
    """Everything, then everything without each part."""
    return (EVERYTHING, *(f"without {part}" for part in (*WEIGHTS, *STEPS)), WORDS_ALONE)


@contextmanager
def variant(name: str) -> Iterator[None]:
    """Rank that way. Raises ValueError for a part that there is not."""
    part = name.removeprefix("without ")
    if name == EVERYTHING:
        yield
    elif name == WORDS_ALONE:
        with _weighted({each: 0.0 for each in WEIGHTS if each != "words"}), _unsorted():
            yield
    elif part in WEIGHTS:
        with _weighted({part: 0.0}):
            yield
    elif part == "neighbours":
        with patch.object(rank, "NEAR_WEIGHT", 0.0):
            yield
    elif part == "newest first":
        with _unsorted():
            yield
    elif part == "embedder":
        with _instead(_meaning=None, _static=None):
            yield
    else:
        raise ValueError(f"there is no part {part!r}; there are {', '.join((*WEIGHTS, *STEPS))}")


def _weighted(changed: dict[str, float]) -> Any:
    return _instead(_weights={**WEIGHTS, **changed})


def _unsorted() -> Any:
    return patch.object(search, "newest_first", lambda question, hits, *_: hits)


@contextmanager
def _instead(**attributes: object) -> Iterator[None]:
    """Every search is made by a finder that differs in these."""
    usual = Finder.search

    def changed(self: Finder, *args: Any, **named: Any) -> list[rank.Found]:
        before = {name: getattr(self, name) for name in attributes}
        vars(self).update(attributes)
        try:
            return usual(self, *args, **named)
        finally:
            vars(self).update(before)

    with patch.object(Finder, "search", changed):
        yield
