"""What a model wrote -> the one JSON object in it, read strictly.

Models put JSON into fences or between sentences. The object is taken out; but what is in it is not guessed at: a name given
twice, a number that is none, or an object that breaks off make it wrong. Two objects are wrong too, since either may be meant.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, NoReturn

from hindbrain.capture.event import Json
from hindbrain.reason.model.failures import WrongOutput

MAX_CHARS: Final = 100_000  # of a reply's text; the longest we ask for has a tenth of it
_OPENING: Final = re.compile(r'\{\s*["}]')  # a brace in a sentence is no object


def take(text: str) -> dict[str, Json]:
    """The object. Raises WrongOutput with a sentence the model can be told."""
    plain = text.removeprefix("\ufeff").strip()
    if not plain:
        raise WrongOutput("the reply is empty")
    if len(plain) > MAX_CHARS:
        raise WrongOutput(f"the reply is too long: {len(plain)} characters")
    opening = _OPENING.search(plain)
    if opening is None:
        raise WrongOutput("the reply holds no JSON object")
    try:
        value, end = _DECODER.raw_decode(plain, opening.start())
    except (ValueError, RecursionError) as error:
        raise WrongOutput(f"the reply is not valid JSON: {_said(error)}") from None
    if _OPENING.search(plain, end):
        raise WrongOutput("the reply holds more than one JSON object")
    found: dict[str, Json] = value
    return found


class _Lenient(ValueError):
    """JSON that a lenient reader would take."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _Lenient("a name stands twice in one object")
    return found


def _no_number(text: str) -> NoReturn:
    raise _Lenient(f"{text} is no number")


def _whole(text: str) -> int:
    if len(text) > 18:
        raise _Lenient("a number is too large")
    return int(text)


def _fraction(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _Lenient("a number is too large")
    return number


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_once, parse_constant=_no_number, parse_int=_whole, parse_float=_fraction
)


def _said(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos}"
    return str(error) if isinstance(error, _Lenient) else "nested too deeply"
