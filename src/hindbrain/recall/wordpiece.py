"""Text -> words and marks -> the numbers of WordPiece tokens, cut as BERT's uncased models cut.

A word is cut at the longest beginning that is a token, then at the longest of the rest. A word that cannot be cut to the end has
no token at all: data, and scripts the vocabulary does not know. Words are remembered, so a text costs little more than its
splitting.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import Final

MAX_CHARS: Final = 8_000  # of one text; what is longer is cut into passages before
MAX_TOKENS: Final = 512
MAX_WORD: Final = 100  # letters; a longer "word" is data
MAX_KNOWN: Final = 50_000  # words remembered, about 10 MB

_ASCII_PIECES: Final = re.compile(r"[a-z0-9]+|[!-/:-@\[-`{-~]")
_ASCII_ODD: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def pieces(text: str) -> list[str]:
    """Words and marks, in lower case and without accents."""
    text = text[:MAX_CHARS]
    if text.isascii() and not _ASCII_ODD.search(text):
        return _ASCII_PIECES.findall(text.lower())
    return unicodedata.normalize("NFD", text.lower()).translate(_LETTERS).split()


class _Letters(dict[int, str | None]):
    """What a letter becomes: nothing, a space, itself between spaces, or itself."""

    def __missing__(self, code: int) -> str | None:
        letter = chr(code)
        kind = unicodedata.category(letter)
        if letter in "\t\n\r" or kind == "Zs":
            found: str | None = " "
        elif code in (0, 0xFFFD) or kind in ("Cc", "Cf", "Cn", "Co", "Cs", "Mn"):
            found = None
        elif kind[0] == "P" or (code < 128 and not letter.isalnum()) or _is_ideograph(code):
            found = f" {letter} "
        else:
            found = letter
        self[code] = found
        return found


def _is_ideograph(code: int) -> bool:
    return (
        0x4E00 <= code <= 0x9FFF or 0x3400 <= code <= 0x4DBF or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2A6DF or 0x2A700 <= code <= 0x2CEAF or 0x2F800 <= code <= 0x2FA1F
    )  # fmt: skip


_LETTERS: Final = _Letters()


class WordPiece:
    """A vocabulary, and the cutting of texts with it."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self.vocabulary = vocabulary
        self._known = _Known(vocabulary)

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens; words without any are left out."""
        known = self._known
        return list(chain.from_iterable([known[word] for word in pieces(text)]))[:MAX_TOKENS]


class _Known(dict[str, tuple[int, ...]]):
    """The tokens of each word that was ever asked for."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._ids = {token: number for number, token in enumerate(vocabulary)}
        self._longest = max(map(len, vocabulary), default=0)

    def __missing__(self, word: str) -> tuple[int, ...]:
        if len(self) >= MAX_KNOWN:
            self.clear()  # the usual words are back at once
        self[word] = found = self._cut(word)
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD:
            return ()
        found = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                token = self._ids.get(mark + word[start:end])
                if token is not None:
                    break
            else:
                return ()
            found.append(token)
            start = end
        return tuple(found)
