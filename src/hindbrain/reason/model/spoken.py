"""The turns of a question -> whose words stand in them and beside them: the user's own, those of the talk around, and others'.

What a user pasted is not the user's. A statement of a turn may name what the user said in the turn before ("never run it there"),
and what only the assistant's turn before says is agreed to at most: the assistant's word, not the user's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Final

from hindbrain.ledger.statement import Said
from hindbrain.reason.model.chunks import seen
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.trust import trust_of

WHOSE: Final = ("user", "human_file")  # whose word a rule may be
_TALK: Final = (*WHOSE, "assistant")


class Spoken:
    """Turns in their order."""

    def __init__(self, turns: Iterable[Said]) -> None:
        self.turns = list(turns)

    def by_user(self, turns: Sequence[Said]) -> str:
        """The user's own words in these turns, and in the user's turn before the first of them."""
        before = [turn for turn in self._until(turns[0]) if _trust(turn) in WHOSE][-1:]
        return "\n".join(words_of(turn) for turn in (*before, *turns) if _trust(turn) in WHOSE)

    def answered(self, turn: Said) -> Said | None:
        """The assistant's turn that a turn follows, where no other talk stands between them."""
        talk = [each for each in self._until(turn) if each.role in ("user", "assistant")]
        return talk[-1] if talk and _trust(talk[-1]) == "assistant" else None

    def around(self, turns: Sequence[Said]) -> str:
        """What these turns say, and what was said in the talk right before and right after each."""
        talk = [turn for turn in self.turns if turn in turns or (turn.role in ("user", "assistant") and _trust(turn) in _TALK)]
        near = {place + step for place, turn in enumerate(talk) if turn in turns for step in (-1, 0, 1)}
        return "\n".join(words_of(turn) for place, turn in enumerate(talk) if place in near)

    @cached_property
    def by_others(self) -> str:
        """What tools, pages and imported texts say, and what users pasted, as far as a model is shown it."""
        return "\n".join(_pasted(turn) if _trust(turn) == "user" else seen(turn) for turn in self.turns
                         if _trust(turn) not in ("assistant", "human_file"))  # fmt: skip

    def _until(self, turn: Said) -> list[Said]:
        return self.turns[: self.turns.index(turn)]


def words_of(turn: Said) -> str:
    """What whoever is said to speak said: of a user's turn, the user's own words."""
    return own(turn.text) if _trust(turn) == "user" else turn.text


def _trust(turn: Said) -> str:
    return trust_of(turn.role, turn.trust)


def _pasted(turn: Said) -> str:
    return "".join(letter if word == BLANK else " " for letter, word in zip(turn.text, own(turn.text), strict=True))
