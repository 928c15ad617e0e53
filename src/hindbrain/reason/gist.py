"""Pieces of a session -> the few that say most of it in little room.

A word weighs more the more turns speak of it, and more when the user does; names and values weigh more than plain words.
Pieces are taken one by one, always the one that adds most weight for its length; what has been said adds nothing a second
time.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.ledger.statement import Said
from hindbrain.reason.vocabulary import GENERIC, SILENT

_WORD: Final = re.compile(r"[^\W_][\w.+-]{0,60}[^\W_]|\d")
_DULL: Final = SILENT | GENERIC
_SEEN: Final = 20_000  # letters of a turn whose words are weighed
_POOL: Final = 400  # pieces that are compared again and again; the rest could add little
_NEW: Final = 0.34  # share of its words that a piece has to add
_SHORT: Final = 24  # letters that any piece costs on top of its own


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that could be said about the session."""

    label: str
    text: str
    order: int
    worth: float = 1.0


def words(text: str) -> set[str]:
    """The telling words of a text, in lower case."""
    return {found.group().lower() for found in _WORD.finditer(text)} - _DULL


def weights(turns: Sequence[Said]) -> dict[str, float]:
    """How much each word of the conversation weighs."""
    spoken: Counter[str] = Counter()
    asked: set[str] = set()
    for turn in turns:
        if turn.role != "tool_result":
            here = words(turn.text[:_SEEN])
            spoken.update(here)
            asked |= here if turn.role == "user" else set()
    return {word: (1 + math.log(count)) * (1.6 if word in asked else 1.0) * _nature(word) for word, count in spoken.items()}


def _nature(word: str) -> float:
    """Names and values say more than plain words; short words say little."""
    if any(letter.isdigit() for letter in word) or any(sign in word for sign in "_.-"):
        return 1.3
    return 0.6 if len(word) < 4 else 1.0


def choose(pieces: Iterable[Piece], weight: dict[str, float], room: int) -> list[Piece]:
    """The pieces that say most within this many letters, in their own order."""
    known = [(piece, words(piece.text)) for piece in pieces]
    pool = sorted(known, key=lambda pair: -_gain(pair[0], pair[1], weight, set()))[:_POOL]
    chosen: list[Piece] = []
    said: set[str] = set()
    while pool:
        fitting = [pair for pair in pool if len(pair[0].text) + 2 <= room]
        gains = [(_gain(piece, its_words, weight, said), -piece.order, place) for place, (piece, its_words) in enumerate(fitting)]
        most, _, place = max(gains, default=(0.0, 0, 0))
        if most <= 0:
            break
        piece, its_words = fitting[place]
        chosen.append(piece)
        said |= its_words
        room -= len(piece.text) + 2
        pool = [pair for pair in fitting if pair[0] is not piece]
    return sorted(chosen, key=lambda piece: piece.order)


def _gain(piece: Piece, its_words: set[str], weight: dict[str, float], said: set[str]) -> float:
    """Nothing for what mostly says again what has been said."""
    new = its_words - said
    if len(new) < _NEW * len(its_words):
        return 0.0
    # fsum: a set has another order in every process, and the sum must not depend on it
    return piece.worth * math.fsum(weight.get(word, 0.5) for word in new) / (len(piece.text) + _SHORT)
