"""What stands behind the words of a statement -> what it says: the reason and what was not taken, and what nobody can change.

A tail is made by `text.tailed`: brackets that begin with one of a few labels. A person may have written around it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.wiki.text import folded

_BRACKETS: Final = re.compile(r"\((?:because: |instead of: |project: |\d{4}-\d\d-\d\d to ).*\)")
_LABEL: Final = re.compile(r"(?:^|; )(?:(because|instead of|project): |(?=\d{4}-\d\d-\d\d to ))")
_DETAIL: Final[Mapping[str, str]] = {"because": "why", "instead of": "instead_of"}


def made(tail: str) -> str:
    """The brackets, without what a person wrote around them."""
    found = _BRACKETS.search(tail)
    return found[0] if found is not None else ""


def free(tail: str) -> str:
    """What a person wrote around the brackets."""
    return folded(_BRACKETS.sub(" ", tail, count=1))


def fixed(tail: str) -> dict[str, str]:
    """The parts that follow from the memory: its project, its dates."""
    return {name: words for name, words in _parts(tail).items() if name not in _DETAIL}


def said(tail: str) -> dict[str, Json]:
    """The reason and what was not taken, by the names memories have for them."""
    return {_DETAIL[name]: words for name, words in _parts(tail).items() if name in _DETAIL}


def _parts(tail: str) -> dict[str, str]:
    """What the brackets say, by label."""
    inner = made(tail)[1:-1]
    starts = [*_LABEL.finditer(inner)]
    ends = [*(found.start() for found in starts[1:]), len(inner)]
    return {found[1] or "dates": folded(inner[found.end() : end]) for found, end in zip(starts, ends, strict=False)}
