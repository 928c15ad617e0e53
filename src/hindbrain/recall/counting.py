"""Text -> how many tokens a model will count, closely: for the worker and the library, which can afford a list of words.

Tokenizers cut a text into words, numbers and runs of punctuation first, and most words of ordinary talk are one token in each
of them. The list (whole_words.txt, made by scripts/whole_words.py) has the words that are one token both in cl100k and in
o200k. A word that is on it costs one token; what is not is charged by the estimate of `tokens`, which errs to the high side.
So does the sum, by a few per cent of talk.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Final

from hindbrain.recall.tokens import tokens_in

log = logging.getLogger("hindbrain.recall")

BEHIND: Final = 1
INSIDE: Final = 2
WORDS: Final = Path(__file__).with_name("whole_words.txt")
# As tokenizers cut a text without spaces: the ending of a contraction, a word with the one mark before it (a space takes that
# place, and then the mark stands alone), a word, at most three digits, a run of marks, all else.
_MARK: Final = r"[!-/:-@\[-`{-~]"
_REST: Final = rf"(?P<word>[a-z]+)|(?P<number>[0-9]{{1,3}})|(?P<marks>{_MARK}+)|."
_ENDING: Final = r"(?P<ending>'(?:[sdmt]|ll|ve|re)(?![a-z]))"
_FLAGS: Final = re.ASCII | re.DOTALL | re.IGNORECASE
_BEHIND: Final = re.compile(rf"{_ENDING}|(?P<glued>(?<=[a-z0-9]){_MARK}[a-z]+)|{_REST}", _FLAGS)
_START: Final = re.compile(rf"{_ENDING}|(?P<glued>(?:^|(?<=[a-z0-9])){_MARK}[a-z]+)|{_REST}", _FLAGS)
# A line's end goes with one of these before it, where a word or number is before that.
_MARKS: Final = (".", "?", "!", "…", ")", ":")
_MAX_KNOWN: Final = 20_000
_MAX_WORD: Final = 40


class Counter:
    """Counts tokens. `whole` says of each word on the list where it is one token: BEHIND a space, INSIDE for anywhere else."""

    def __init__(self, whole: Mapping[str, int]) -> None:
        self._whole = whole
        self._known: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        """At least as many tokens as common tokenizers count in a text of some length, and few more."""
        count = 0
        if text.endswith("\n"):
            text = text[:-1]
            count = 0 if text.endswith(_MARKS) and text[-2:-1].isalnum() else 1
        first, *others = text.split(" ")
        count += self._pieces(first, False) if first else 0
        whole = self._whole.get
        for word in others:
            count += 1 if whole(word, 0) & BEHIND else self._cost(word)
        return count

    def _cost(self, word: str) -> int:
        """The same word is asked for again and again."""
        cost = self._known.get(word)
        if cost is None:
            cost = self._pieces(word, True)
            if len(self._known) < _MAX_KNOWN and len(word) <= _MAX_WORD:
                self._known[word] = cost
        return cost

    def _pieces(self, text: str, behind: bool) -> int:
        """The tokens of a text without spaces, behind one or not; of nothing at all, which stands between two spaces, one."""
        if not text:
            return 1
        count = 0
        for match in (_BEHIND if behind else _START).finditer(text):
            piece, first = match.group(), behind and match.start() == 0
            match match.lastgroup:
                case "ending":
                    count += 1
                case "word":
                    count += self._word(piece, BEHIND if first else INSIDE)
                case "glued":
                    count += 1 if self._whole.get(piece, 0) & INSIDE else 1 + self._word(piece[1:], INSIDE)
                case "number":
                    count += 2 if first else 1  # a space does not go with a number
                case "marks":
                    count += 1 if self._whole.get(piece, 0) & INSIDE else len(piece)
                case _:
                    count += tokens_in(piece)
        return count


    def _word(self, word: str, place: int) -> int:
        """One if it is whole there, else two at least."""
        return 1 if self._whole.get(word, 0) & place else max(2, tokens_in(word), -(-len(word) // 3))


@lru_cache(maxsize=1)
def counter() -> Counter:
    """The counter of this process. A line's first letter says where its word is whole: b behind a space, i inside, + both."""
    return Counter(_read(WORDS))


def _read(path: Path) -> dict[str, int]:
    """The list; without it every word is charged by its letters, and a block holds less than it might."""
    places = {"b": BEHIND, "i": INSIDE, "+": BEHIND | INSIDE}
    try:
        with path.open(encoding="ascii") as lines:
            return {line[1:].rstrip("\n"): places[line[0]] for line in lines}
    except (OSError, ValueError, LookupError) as error:
        log.warning("tokens are counted by letters: %s cannot be read: %s", path, error)
        return {}
