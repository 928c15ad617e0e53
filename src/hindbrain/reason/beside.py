"""Two statements with what was said beside each in its turn -> how much that tells of whether they are about one thing.

People name a thing and say in the next sentence what becomes of it: of "40 rows are a lot on a phone. Make it 25" the second half
is kept, and what it takes the place of stands beside it. Such words are told to nobody; they say what a statement is about,
and whether whoever said it was sure: "Ada says it is port 81. I had another one in mind."
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Final, Protocol

from hindbrain.reason.values import ORDINARY, Reading, read

NEAR: Final = 150  # characters before a statement that may be read with it as one
_SENTENCE: Final = re.compile(r"(?<=[.!?;:\n])\s+")


class Told(Protocol):
    """A statement, as far as it is read here."""

    @property
    def text(self) -> str: ...
    @property
    def detail(self) -> Mapping[str, Any]: ...


def said_beside(told: Told) -> tuple[str, str]:
    """What its turn says before it and after it."""
    return str(told.detail.get("before") or ""), str(told.detail.get("after") or "")


class Beside:
    """The newer one's turn against the older statement; everything is worked out when it is asked for."""

    def __init__(self, newer: Told, older: Told, likeness: Callable[[str, str], float]) -> None:
        self.newer, self.older = newer, older
        self.before, self.after = said_beside(newer)
        self.whole = f"{self.before} . {self.after}".strip(" .")
        self.likeness = likeness

    @cached_property
    def reading(self) -> Reading | None:
        return read(self.whole) if self.whole else None

    @cached_property
    def _both(self) -> dict[str, float]:
        """The older one's words that stand beside the newer one."""
        if self.reading is None:
            return {}
        mine, other = self.reading.keys, read(self.older.text).keys
        return {key: max(weight, other[key]) for key, weight in mine.items() if key in other}

    @cached_property
    def telling(self) -> float:
        """How telling the older one's words are that stand beside the newer one and not in it."""
        said = read(self.newer.text).keys
        return sum(weight for key, weight in self._both.items() if weight >= ORDINARY and key not in said)

    @cached_property
    def over(self) -> float:
        """Of all these words, how telling those are that are said to be over."""
        over: frozenset[str] = frozenset() if self.reading is None else self.reading.over
        return sum(weight for key, weight in self._both.items() if key in over)

    @cached_property
    def valued(self) -> bool:
        """Whether a value of the older one stands there that the newer one does not say."""
        if self.reading is None:
            return False
        readings = read(self.newer.text), self.reading, read(self.older.text)
        said, mine, other = ({value.what for value in each.values} for each in readings)
        return bool(mine & other - said)

    @property
    def tied(self) -> bool:
        """Whether there is enough to look at the two at all."""
        return self.telling >= ORDINARY or self.valued

    @cached_property
    def alike(self) -> float:
        """How alike the older one is to what stands beside the newer one."""
        return 0.0 if self.reading is None else self.likeness(self.whole, self.older.text)

    @cached_property
    def led(self) -> float:
        """And to the newer one with what leads to it."""
        return self.likeness(f"{self.before[-NEAR:]} {self.newer.text}".strip(), self.older.text)

    @cached_property
    def turns(self) -> float:
        """How alike the two are with all that is said beside each."""
        before, after = said_beside(self.older)
        mine, other = ((self.before, self.newer.text, self.after), (before, self.older.text, after))
        return self.likeness(" ".join(each for each in mine if each), " ".join(each for each in other if each))

    @cached_property
    def nearest(self) -> tuple[str, str]:
        """The last sentence before the newer one and the first one after it."""
        before = [each for each in _SENTENCE.split(self.before) if each][-1:]
        after = [each for each in _SENTENCE.split(self.after.strip(" .;,")) if each][:1]
        return "".join(before), "".join(after)
