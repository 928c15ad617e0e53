"""JSON values of any type -> values an Event may hold.

A client's field may be missing, null, a number where a name was promised or a dictionary where a sentence was. Nothing
here raises: each function gives the best value of the wanted type, and the caller decides what its absence means.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from math import isfinite
from typing import Final

from hindbrain.capture.event import Json, bounded, stable_id, storable

MAX_ID_CHARS: Final = 200
MAX_DETAIL_CHARS: Final = 4_096
_MAX_PATH_CHARS: Final = 4_096
_PRUNED_DEPTH: Final = 40
_PRUNED_INT_BITS: Final = 256
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def fields(value: Json | Mapping[str, Json]) -> Mapping[str, Json]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def words(value: Json) -> str:
    """The text, or nothing."""
    return value if isinstance(value, str) else ""


def kept(text: str) -> str:
    """A text as an Event stores it. Cut first: making 50 MB storable only to drop it would double the memory."""
    return storable(bounded(text))


def place(value: Json) -> str:
    """A path or folder name as text; one that no system could open is cut."""
    return storable(words(value)[:_MAX_PATH_CHARS])


def name(value: Json) -> str:
    """An id or a name, short enough for a key. A whole number is taken as its digits; a long text keeps a digest."""
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= 64:
        return str(value)
    text = storable(words(value)).strip()
    if len(text) <= MAX_ID_CHARS:
        return text
    return stable_id(text[:120], text)


def compact(value: Json | Mapping[str, Json]) -> str:
    """The value as JSON without spaces, readable for people and search (no ASCII escapes)."""
    try:
        return _dumped(value)
    except (RecursionError, ValueError, TypeError):
        # Nested beyond the encoder's stack, or a number with more digits than Python prints: keep all but that.
        return _dumped(_pruned(value, _PRUNED_DEPTH))


def _dumped(value: Json | Mapping[str, Json]) -> str:
    plain = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _pruned(value: Json | Mapping[str, Json], depth: int) -> Json:
    if isinstance(value, int) and value.bit_length() > _PRUNED_INT_BITS:
        return "[a very long number]"
    if isinstance(value, (Mapping, list)) and depth == 0:
        return "[nested too deeply]"
    if isinstance(value, Mapping):
        return {key: _pruned(inner, depth - 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_pruned(inner, depth - 1) for inner in value]
    return value


def text_of(value: Json) -> str:
    """A text as it is, nothing as nothing, everything else as JSON."""
    if value is None or value == "":
        return ""
    return value if isinstance(value, str) else compact(value)


def short(**detail: Json) -> dict[str, Json]:
    """Details worth storing: no empty ones, texts cut to a few lines, other scalars as they are, the rest as JSON."""
    return {key: _short(value) for key, value in detail.items() if value is not None and value not in ("", [], {})}


def _short(value: Json) -> Json:
    if isinstance(value, bool):
        return value
    if (isinstance(value, int) and value.bit_length() <= 64) or (isinstance(value, float) and isfinite(value)):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [storable(bounded(words(item), 200)) for item in value[:50]]
    return storable(bounded(text_of(value), MAX_DETAIL_CHARS))


def millis(value: Json) -> int | None:
    """Milliseconds since 1970 of an ISO time, UTC if it names no zone; None for anything else."""
    if not isinstance(value, str) or len(value) > 40:
        return None
    try:
        moment = datetime.fromisoformat(value)
        since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    except (ValueError, OverflowError):
        return None
    return since // timedelta(milliseconds=1) if since >= timedelta(0) else None
