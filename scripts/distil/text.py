"""LongMemEval's development half -> the pieces of text the table is trained on.

Only what was said is taken: no question, no answer, no label. The file is under the MIT licence (README.md beside this); LoCoMo
and other sets whose licence does not allow it are not read.

Pieces are what will be looked for and looked through: sentences, and passages of about the length that gets a vector. They are
cut here, not by the program's own rules, so that another rule there does not make another table.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

PASSAGE_CHARS: Final = 400
MIN_WORDS: Final = 3
# A reply says in two thousand letters what a person says in two hundred; without a limit the table would learn replies alone.
REPLY_SENTENCES: Final = 24_000
REPLY_PASSAGES: Final = 4_000

_MARKUP: Final = re.compile(r"[*#`|>_]{1,}|^\s*(?:[-+•]|\d+[.)])\s+", re.MULTILINE)
_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


def pieces(path: Path, seed: int) -> list[str]:
    """Distinct pieces in a fixed order for a seed."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        data: list[dict[str, Any]] = json.load(file)
    said = sorted({
        (turn["role"], turn["content"].strip())
        for asked in data for session in asked["haystack_sessions"] for turn in session if turn["content"].strip()
    })  # fmt: skip
    own = [text for role, text in said if role == "user"]
    replies = [_plain(text) for role, text in said if role != "user"]
    chosen = random.Random(seed)
    found = _distinct(sentence for text in own for sentence in sentences(text))
    found += _distinct(passage for text in own for passage in passages(text))
    found += _some(chosen, _distinct(sentence for text in replies for sentence in sentences(text)), REPLY_SENTENCES)
    found += _some(chosen, _distinct(passage for text in replies for passage in passages(text)), REPLY_PASSAGES)
    return _distinct(found)


def sentences(text: str) -> list[str]:
    """The sentences of a text, long ones cut, crumbs left out."""
    cut = (part for sentence in _END.split(text) for part in passages(sentence))
    return [part for part in cut if len(part.split()) >= MIN_WORDS]


def passages(text: str, limit: int = PASSAGE_CHARS) -> list[str]:
    """A text in pieces of at most `limit` letters, cut between sentences where there is a place, else between words."""
    found: list[str] = []
    held = ""
    for sentence in _END.split(text):
        for part in _cut(sentence.strip(), limit):
            if held and len(held) + 1 + len(part) > limit:
                found.append(held)
                held = ""
            held = f"{held} {part}".strip()
    return [*found, held] if held else found


def _cut(text: str, limit: int) -> list[str]:
    found = []
    while len(text) > limit:
        at = text.rfind(" ", limit // 2, limit)
        at = at if at > 0 else limit
        found.append(text[:at].strip())
        text = text[at:].strip()
    return [*found, text] if text else found


def _plain(text: str) -> str:
    return _MARKUP.sub(" ", text)


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(" ".join(text.split()) for text in texts))


def _some(chosen: random.Random, texts: list[str], limit: int) -> list[str]:
    return texts if len(texts) <= limit else chosen.sample(texts, limit)
