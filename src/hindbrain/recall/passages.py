"""Text -> where its passages and sentences begin and end, as places in the text, so that nothing is copied or changed.

A passage is what gets a vector: the whole of a short text, otherwise pieces of about four hundred letters that end where a
sentence does, or between words where no sentence ends. Hostile text (megabytes without a space, nothing but line ends) costs time
in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

Span = tuple[int, int]

WHOLE_CHARS: Final = 500
PASSAGE_CHARS: Final = 400
MAX_PASSAGES: Final = 200
MAX_SENTENCES: Final = 1_000
MIN_WORDS: Final = 3
MIN_CHARS: Final = 6

# Between two sentences: space behind a mark that ends one, line ends, and nothing at all in scripts without spaces.
_END: Final = re.compile(r"(?<=[.!?])\s+|\n\s*|(?<=[。！？])")
_SOLID: Final = re.compile(r"\S")


def passages(text: str) -> list[Span]:
    """The passages of a text, in order and without overlap; none for a text without letters."""
    start, end = _trimmed(text, 0, len(text))
    if end - start <= WHOLE_CHARS:
        return [(start, end)] if start < end else []
    found: list[Span] = []
    for start, end in _parts(text):
        if found and end - found[-1][0] <= PASSAGE_CHARS:
            found[-1] = (found[-1][0], end)
        elif len(found) < MAX_PASSAGES:
            found.append((start, end))
        else:
            return found
    if len(found) > 1 and found[-1][1] - found[-2][0] <= WHOLE_CHARS:
        last = found.pop()  # a crumb at the end goes with what it closes
        found[-1] = (found[-1][0], last[1])
    return found


def sentences(text: str) -> list[Span]:
    """The sentences of a text, long ones cut, crumbs left out."""
    return [(start, end) for start, end in islice(_parts(text), MAX_SENTENCES) if _tells(text[start:end])]


def _parts(text: str) -> Iterator[Span]:
    """Sentences, those longer than a passage cut between words."""
    place = 0
    for mark in _END.finditer(text):
        yield from _cut(text, place, mark.start())
        place = mark.end()
    yield from _cut(text, place, len(text))


def _cut(text: str, start: int, end: int) -> Iterator[Span]:
    start, end = _trimmed(text, start, end)
    while end - start > PASSAGE_CHARS:
        at = text.rfind(" ", start + PASSAGE_CHARS // 2, start + PASSAGE_CHARS)
        at = at if at > 0 else start + PASSAGE_CHARS
        yield _trimmed(text, start, at)
        solid = _SOLID.search(text, at, end)
        start = solid.start() if solid else end
    if start < end:
        yield start, end


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    end = start + len(piece.rstrip())
    return min(end, start + len(piece) - len(piece.lstrip())), end


def _tells(piece: str) -> bool:
    """Whether a sentence says something by itself. Scripts without spaces have no words to count."""
    return len(piece.split(maxsplit=MIN_WORDS)) >= MIN_WORDS or (len(piece) >= MIN_CHARS and not piece.isascii())
