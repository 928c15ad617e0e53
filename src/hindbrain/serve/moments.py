"""Milliseconds -> ISO text in UTC, and a date somebody typed -> milliseconds."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from hindbrain.base.errors import UsageError

_DAY: Final = re.compile(r"\d{4}-?\d{2}-?\d{2}", re.ASCII)


def when(at: int) -> str:
    """To the second, for looking closer and for programs."""
    moment = _moment(at)
    return f"{at} ms" if moment is None else moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def minute(at: int) -> str:
    """To the minute, for lists."""
    moment = _moment(at)
    return f"{at} ms" if moment is None else moment.strftime("%Y-%m-%dT%H:%MZ")


def day(at: int) -> str:
    """The day alone."""
    moment = _moment(at)
    return f"{at} ms" if moment is None else moment.strftime("%Y-%m-%d")


def _moment(at: int) -> datetime | None:
    """None for a time no calendar has: an agent's clock may have gone wild, and what it said is stored all the same."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    except OverflowError:
        return None


def typed(text: str, *, end_of_day: bool = False) -> int:
    """The milliseconds of an ISO date or time; without a zone it is UTC. A day alone is its beginning, or its end."""
    plain = text.strip()
    try:
        moment = datetime.fromisoformat(plain)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        at = (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    except (ValueError, OverflowError) as error:
        raise UsageError(f"{text[:80]!r} is not a date", hint="write 2026-11-15 or 2026-11-15T14:30Z") from error
    return at + 86_400_000 - 1 if end_of_day and _DAY.fullmatch(plain) else at
