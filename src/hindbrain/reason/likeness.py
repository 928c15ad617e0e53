"""Two texts -> how alike they mean, from 0 to 1, by the table that comes with the package.

Loaded with the first question and shared by all of a process. Of each text the vector is kept for a while: reflection asks for
the same ones again and again. Where the table cannot be had, texts are only as alike as their words.
"""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from hindbrain.base.errors import EmbedderFailed

if TYPE_CHECKING:
    from hindbrain.recall.static import Floats, Static

log = logging.getLogger("hindbrain.reason")

MOST_KEPT: Final = 4_096


class Likeness:
    """Callable; any thread may use it."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._static: Static | None = None
        self._failed = False
        self._kept: OrderedDict[str, Floats] = OrderedDict()

    def __call__(self, one: str, other: str) -> float:
        with self._guard:
            if not self._load():
                return by_words(one, other)
            return min(1.0, max(0.0, float(self._vector(one) @ self._vector(other))))

    def _load(self) -> bool:
        if self._static is None and not self._failed:
            from hindbrain.recall.static import Static  # numpy: only for those who compare

            try:
                self._static = Static.load()
            except EmbedderFailed as error:
                self._failed = True
                log.warning("memories are compared by their words alone: %s", error.message)
        return self._static is not None

    def _vector(self, text: str) -> Floats:
        assert self._static is not None
        found = self._kept.pop(text, None)
        if found is None:
            found = self._static.documents([text])[0]
        self._kept[text] = found
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found


def by_words(one: str, other: str) -> float:
    """The share of words that two texts have in common."""
    mine, others = (set(text.casefold().split()) for text in (one, other))
    return len(mine & others) / max(1, len(mine | others))
