"""A decision or lesson in the agent's words -> how likely it is worth keeping, by a few learnt weights.

The user said yes, or something worked; whether it was a choice that lasts or the next step of the work ("convert it and upload"),
only the words themselves say. Most that is worth keeping says it at some length, with names and values; an answer that opens with
"Right," repeats what the user just told. `scripts/train_secondhand.py` learns the weights.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from importlib import resources
from math import exp
from typing import Final

from hindbrain.ledger.statement import Statement
from hindbrain.reason.cues import language_of
from hindbrain.reason.families import tools
from hindbrain.reason.forms import specific
from hindbrain.reason.shown import WORKED_WITH
from hindbrain.reason.vocabulary import plain

LIKELY: Final = 0.5
_LETTERS: Final = (40, 50, 60, 70, 80, 95, 110, 140)
_REPLYING: Final = re.compile(
    r"(?:right|agreed|fine|good|sure|yes|ok|okay|true|exactly|correct|understood|that's|that is|i see|reverted|genau|richtig|"
    r"stimmt|gut|klar|verstanden|vale|claro|exacto|bien|entendido)\b", re.IGNORECASE)  # fmt: skip
_FILE: Final = "secondhand.json"


def worth_keeping(statement: Statement) -> bool:
    """Whether enough speaks for it. What is of another kind is not weighed, nor is the choice of a well-known tool."""
    return not is_weighed(statement) or likely(marks(statement)) >= LIKELY


def is_weighed(statement: Statement) -> bool:
    return statement.kind == "lesson" or (statement.kind == "decision" and not tools(plain(statement.text)))


def marks(statement: Statement) -> frozenset[str]:
    """What is to be seen of it; each mark counts for its kind alone."""
    return frozenset(f"{statement.kind} {mark}".rstrip() for mark in ("", *_marks(statement)))


def _marks(statement: Statement) -> Iterator[str]:
    text = statement.text
    told = text if statement.trust == "tool" else statement.quote  # of what was only run, the quote is a command, however short
    yield from (f"over {least} letters" for least in _LETTERS if len(told) > least)
    yield f"sure {statement.confidence:.2f}"
    signs = {
        "specific": specific(text, language_of(text)), "number": re.search(r"\d", text) is not None, "why": bool(statement.why),
        "replying": _REPLYING.match(text) is not None, "asks": text.rstrip().endswith("?"),
    }  # fmt: skip
    yield from (name for name, there in signs.items() if there)
    if WORKED_WITH in text:
        yield f"shown to work, sure {statement.confidence:.2f}"


def likely(seen: Collection[str]) -> float:
    """How likely it is worth keeping, from 0 to 1."""
    weights = _weights()
    return 1 / (1 + exp(-weights["always"] - sum(weights.get(mark, 0.0) for mark in sorted(seen))))


@cache
def _weights() -> Mapping[str, float]:
    read: dict[str, float] = json.loads(resources.files(__package__).joinpath(_FILE).read_text("utf-8"))
    return read
