"""Turns that are no longer told word for word -> one line that says what they were about.

A running line: each turn that goes leaves its most telling sentence, and when these get too long the least telling goes, so
the line never grows with the conversation and a number or a name said long ago outlasts the small talk since. Rules alone; the
same turns give the same line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, cast

from hindbrain.converse.turns import ROLES, NotAConversation, Role, Turn
from hindbrain.recall.words import words_of

MAX_CHARS: Final = 600
GIST_CHARS: Final = 100
_LOOKED_AT: Final = 4_000
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
# Numbers, paths, names in code, capitals inside a sentence: what somebody will ask for later.
_TELLING: Final = re.compile(r"\d+|[\w-]+[/_.][\w-]+|`[^`]+`|(?<=[\w,] )[A-Z]\w+|\b[A-Z]{2,}\b")


@dataclass(frozen=True, slots=True)
class Gist:
    """What one turn leaves behind, and how telling it is."""

    role: Role
    text: str
    weight: int


@dataclass(frozen=True, slots=True)
class Digest:
    """How many turns went, and the most telling of what they said, oldest first."""

    turns: int = 0
    gists: tuple[Gist, ...] = ()

    def after(self, turn: Turn) -> Digest:
        """The digest when one more turn has gone."""
        gist = gist_of(turn)
        return Digest(self.turns + 1, _bounded((*self.gists, gist) if gist is not None else self.gists, MAX_CHARS))

    def line(self, fits: Callable[[str], bool] = lambda line: True) -> str:
        """The line, with as much as fits; "" when there is nothing to say or no room to say it."""
        if not self.turns:
            return ""
        left_out = f"Earlier: {self.turns} {'turn is' if self.turns == 1 else 'turns are'} not repeated here"
        gists = self.gists
        while True:
            line = "; ".join([left_out, *(f'{gist.role} said "{gist.text}"' for gist in gists)]) + "\n"
            if fits(line):
                return line
            if not gists:
                return ""
            gists = _without_least(gists)

    def as_data(self) -> dict[str, object]:
        return {
            "turns": self.turns,
            "said": [{"role": gist.role, "text": gist.text, "weight": gist.weight} for gist in self.gists],
        }


def from_data(data: object) -> Digest:
    """The digest that JSON tells of; without one, that of no turns."""
    if data is None:
        return Digest()
    if not isinstance(data, Mapping) or not isinstance(data.get("said"), list):
        raise NotAConversation("the digest is not one")
    turns = data.get("turns")
    if not isinstance(turns, int) or isinstance(turns, bool) or turns < 0:
        raise NotAConversation(f"the digest is of {turns!r:.40} turns")
    return Digest(turns, _bounded(tuple(_gist(each) for each in data["said"]), MAX_CHARS))


def _gist(data: object) -> Gist:
    if isinstance(data, Mapping):
        role, text, weight = (data.get(name) for name in ("role", "text", "weight"))
        if role in ROLES and isinstance(text, str) and isinstance(weight, int):
            return Gist(cast(Role, role), _one_line(text), weight)
    raise NotAConversation("the digest holds something that nobody said")


def gist_of(turn: Turn) -> Gist | None:
    """The most telling sentence of a turn, the first of several; None when it says nothing."""
    best: Gist | None = None
    for sentence in _SENTENCE.split(turn.text[:_LOOKED_AT]):
        text = _one_line(sentence)
        if not any(letter.isalnum() for letter in text):
            continue
        weight = min(len(words_of(text)), 8) + 3 * min(len(_TELLING.findall(text)), 6)
        if best is None or weight > best.weight:
            best = Gist(turn.role, text, weight)
    return best


def _one_line(text: str) -> str:
    """On one line, without the quotes that end it."""
    text = " ".join(text[: GIST_CHARS * 8].split()).replace('"', "'")
    return text if len(text) <= GIST_CHARS else text[: GIST_CHARS - 1].rstrip() + "…"


def _bounded(gists: tuple[Gist, ...], chars: int) -> tuple[Gist, ...]:
    while sum(len(gist.text) for gist in gists) > chars:
        gists = _without_least(gists)
    return gists


def _without_least(gists: tuple[Gist, ...]) -> tuple[Gist, ...]:
    """All but the least telling, the oldest of several."""
    least = min(range(len(gists)), key=lambda index: gists[index].weight)
    return gists[:least] + gists[least + 1 :]
