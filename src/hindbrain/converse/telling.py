"""Turns and a budget -> the lines a backend is told, newest chosen first, printed in the order of time.

A line begins with who spoke, and only lines of ours begin at the left edge: whatever follows a line break in a turn is
indented, and what looks like a speaker there is quoted, so no turn can speak for somebody else.

A turn that could never be told whole is shortened, with a mark in the place of what is left out. One that merely does not fit
any more ends the choice: what is told is the end of the conversation without holes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import islice
from typing import Final

from hindbrain.converse.turns import ConversationConfig, Turn
from hindbrain.recall.tokens import tokens_in

HEADER: Final = "[Conversation Context]\n"
SPEAKERS: Final = {"user": "User", "assistant": "Assistant"}
# A shortened turn with fewer letters than this says nothing; the newest is told all the same.
LEAST_CHARS: Final = 40
# Below this the mark would take more room than what it stands for.
_MARKED_CHARS: Final = 120

_SPEAKER: Final = re.compile(
    r"\W*(?:user|assistant|system|human|model|earlier|conversation context)\b(?=\W{0,6}?[:\]])", re.IGNORECASE
)


class Budget:
    """What may still be said, in characters and, where asked for, in tokens."""

    def __init__(self, config: ConversationConfig) -> None:
        self.chars = config.budget_chars
        self.tokens = config.budget_tokens

    def fits(self, text: str) -> bool:
        return len(text) <= self.chars and (self.tokens is None or tokens_in(text) <= self.tokens)

    def take(self, text: str) -> bool:
        """Use it up for this text; False, and nothing used, when it does not fit."""
        if not self.fits(text):
            return False
        self.chars -= len(text)
        if self.tokens is not None:
            self.tokens -= tokens_in(text)
        return True

    def share(self, part: int, whole: int = 1) -> Budget:
        """A part of what is left, to be used before the rest; what is not needed of it stays."""
        shared = Budget(ConversationConfig(budget_chars=self.chars * part // whole))
        shared.tokens = None if self.tokens is None else self.tokens * part // whole
        return shared


def line_of(turn: Turn, text: str | None = None) -> str:
    """A turn as it is told; of another text than its own where that is too long."""
    return f"{SPEAKERS[turn.role]}: {_indented(turn.text if text is None else text)}\n"


def _indented(text: str) -> str:
    first, *others = text.splitlines() or [""]
    return "\n".join([first, *(_quoted(line) for line in others)])


def _quoted(line: str) -> str:
    """A line after the first; one that looks as if somebody else began to speak is marked as said by this one."""
    if line and _SPEAKER.match(unicodedata.normalize("NFKC", line[:200])):
        return f"  > {line}"
    return f"  {line}"


def chosen(turns: Sequence[Turn], budget: Budget) -> list[str]:
    """The lines of the newest turns that fit, in the order of time; of the newest always something, if there is any room."""
    whole = budget.share(1)
    lines: list[str] = []
    for index in range(len(turns) - 1, -1, -1):
        turn, newest = turns[index], not lines
        line = _told_whole(turn, budget)
        if line is None and (newest or _told_whole(turn, whole) is None):
            line = _shortened(turn, _room(turns[:index], budget), 1 if newest else LEAST_CHARS)
            line = line or (_shortened(turn, budget, 1) if newest else None)
        if line is None or not budget.take(line):
            break
        lines.append(line)
    return lines[::-1]


def fitting_line(turn: Turn, room: Budget, least: int) -> str | None:
    """The line, whole if that fits, else with as much of the turn as does; None below so many letters."""
    return _told_whole(turn, room) or _shortened(turn, room, least)


def _told_whole(turn: Turn, budget: Budget) -> str | None:
    """The line, if all of it fits; a text that is longer by itself is not laid out."""
    if len(turn.text) > budget.chars:
        return None
    line = line_of(turn)
    return line if budget.fits(line) else None


def _room(older: Sequence[Turn], budget: Budget) -> Budget:
    """What a turn that has to be shortened may take: half of what is left, and what the older ones do not need of the rest."""
    rest = budget.share(1, 2)
    room = Budget(ConversationConfig(budget_chars=budget.chars - rest.chars))
    room.tokens = None if budget.tokens is None or rest.tokens is None else budget.tokens - rest.tokens
    for turn in islice(reversed(older), rest.chars):  # none takes less than a character
        line = _told_whole(turn, rest)
        if line is None or not rest.take(line):
            break
    else:
        room.chars += rest.chars
        if room.tokens is not None and rest.tokens is not None:
            room.tokens += rest.tokens
    return room


def _shortened(turn: Turn, room: Budget, least: int) -> str | None:
    """The line with as many letters of the turn as fit, if that is at least so many."""
    lowest, highest = least, min(len(turn.text), room.chars)
    best = None
    while lowest <= highest:
        middle = (lowest + highest) // 2
        line = line_of(turn, shortened(turn.text, middle))
        if room.fits(line):
            best, lowest = line, middle + 1
        else:
            highest = middle - 1
    return best


def shortened(text: str, kept: int) -> str:
    """So many letters of a text: its beginning, and of a longer one its end as well, with a mark between them."""
    if kept >= len(text):
        return text
    if kept < _MARKED_CHARS:
        return text[:kept] + "…"
    end = kept // 3
    return f"{text[: kept - end]} [… {len(text) - kept} characters left out …] {text[len(text) - end :]}"
