"""A job as its caller tells it -> a row any database can hold; a row -> a job.

What cannot be stored, or would come back as something else, is refused here, before anything is written.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from hindbrain.capture.event import Json
from hindbrain.ledger.merge import clean
from hindbrain.queues.job import LONGEST_DELAY, BadJob, Job, NewJob

PAYLOAD_BYTES: Final = 64 << 10
PAYLOAD_DEPTH: Final = 64  # far below what any parser takes, however deep its caller stands
# An index entry of PostgreSQL holds 2,704 bytes; tenant, kind and key share one.
KIND_BYTES: Final = 100
KEY_BYTES: Final = 1_000
MOST_PRIORITY: Final = 1 << 31
MOST_ATTEMPTS: Final = 1_000


class Row(NamedTuple):
    """A new job as the database takes it."""

    kind: str
    key: str
    group_key: str
    payload: str
    priority: int
    forced: int
    delay_ms: int
    max_attempts: int


def to_row(job: NewJob) -> Row:
    """Check a job and put it into the form it is stored in. Raises BadJob."""
    name = f"job {job.kind!r:.80} {job.key!r:.80}"
    _check_text(f"{name}: its kind", job.kind, KIND_BYTES)
    _check_text(f"{name}: its key", job.key, KEY_BYTES)
    _check_text(f"{name}: its group", job.group, KEY_BYTES)
    if not job.kind:
        raise BadJob(f"{name}: its kind is empty")
    _check_number(f"{name}: its priority", job.priority, -MOST_PRIORITY, MOST_PRIORITY - 1)
    _check_number(f"{name}: its number of attempts", job.max_attempts, 1, MOST_ATTEMPTS)
    _check_number(f"{name}: its delay", job.delay_seconds, 0, LONGEST_DELAY)
    return Row(
        job.kind, job.key, job.group, payload_text(name, job.payload), job.priority, int(job.forced),
        math.ceil(job.delay_seconds * 1000), job.max_attempts,
    )  # fmt: skip


def _check_text(what: str, text: object, most_bytes: int) -> None:
    if not isinstance(text, str):
        raise BadJob(f"{what} is not a text but {type(text).__name__}")
    if clean(text) != text:
        raise BadJob(f"{what} holds a character no database can store")
    if len(text.encode()) > most_bytes:
        raise BadJob(f"{what} is too long: {len(text.encode())} bytes, {most_bytes} are allowed")


def _check_number(what: str, number: float, least: float, most: float) -> None:
    allowed = (int, float) if type(most) is float else (int,)
    if type(number) not in allowed or not least <= number <= most:
        raise BadJob(f"{what} is not a number from {least:g} to {most:g}: {number!r:.80}")


def payload_text(name: str, payload: Mapping[str, Json]) -> str:
    """A payload as JSON in ASCII: whatever its strings hold, any database can store it. Raises BadJob."""
    if not isinstance(payload, Mapping):
        raise BadJob(f"{name}: its payload is not an object but {type(payload).__name__}")
    try:
        text = json.dumps(dict(payload), allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadJob(f"{name}: its payload is not JSON: {error}") from error
    if len(text) > PAYLOAD_BYTES:
        raise BadJob(f"{name}: its payload is too large: {len(text)} bytes, {PAYLOAD_BYTES} are allowed")
    _check_json(name, dict(payload), PAYLOAD_DEPTH)
    return text


def _check_json(name: str, value: object, depth: int) -> None:
    """Refuse what would come back as something else (number keys, tuples) or from too deep."""
    if depth < 0:
        raise BadJob(f"{name}: its payload is nested more than {PAYLOAD_DEPTH} deep")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise BadJob(f"{name}: its payload has a key that is not a text")
        children: Iterable[object] = value.values()
    elif isinstance(value, tuple):
        raise BadJob(f"{name}: its payload is not JSON: it holds a tuple")
    else:
        children = value if isinstance(value, list) else ()
    for child in children:
        _check_json(name, child, depth - 1)


def read_payload(text: str) -> dict[str, Json] | None:
    """A stored payload; None when it cannot be read."""
    if text == "{}":
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def merged(rows: Iterable[Row]) -> list[Row]:
    """Rows of one kind and key become one, by the rules a duplicate is stored by."""
    found: dict[tuple[str, str], Row] = {}
    for row in rows:
        first = found.get((row.kind, row.key))
        found[row.kind, row.key] = row if first is None else row._replace(
            group_key=first.group_key, priority=max(first.priority, row.priority), forced=first.forced | row.forced,
            delay_ms=min(first.delay_ms, row.delay_ms), max_attempts=first.max_attempts,
        )  # fmt: skip
    return list(found.values())


def from_row(row: Any, payload: Mapping[str, Json]) -> Job:
    """A row of statements.COLUMNS, and its payload read -> a job."""
    identifier, kind, key, group, _, priority, forced = row[:7]
    return Job(identifier, kind, key, group, payload, priority, bool(forced), *row[7:])
