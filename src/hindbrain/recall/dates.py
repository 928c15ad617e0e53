"""A question -> the stretches of time it names, given the last moment the ledger knows.

"Last week" counts back from the newest turn in reach, not from the clock: a project that was left alone for a year still
answers. A month without a year is the latest one that is not in the future. What is told is told after it happened, so a stretch
fades out over the days behind it (`nearness`). Times are milliseconds since 1970, UTC.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

Stretch = tuple[int, int]  # from, until; both included

DAY_MS: Final = 86_400_000
FADING_DAYS: Final = 10
EVENT_DAYS: Final = 60  # how far "before the release" reaches
_MAX_CHARS: Final = 2_000

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "couple of": 2, "a couple of": 2, "few": 3, "a few": 3,
}  # fmt: skip
_DAYS: Final = {"day": 1, "week": 7, "month": 30, "year": 365}
_MONTH: Final = "|".join([*_MONTHS, *(month[:3] for month in _MONTHS), "sept"])
_COUNT: Final = r"(\d{1,3}|" + "|".join(sorted(_NUMBERS, key=len, reverse=True)) + ")"
_UNIT: Final = "(day|week|month|year)"

_ISO: Final = re.compile(r"\b(\d{4})[-/](\d{1,2})(?:[-/](\d{1,2}))?\b")
_DAY_MONTH: Final = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\b\.?,?(?: (\d{{4}})\b)?")
_MONTH_YEAR: Final = re.compile(rf"\b({_MONTH})\b\.?,?(?: of)? (\d{{4}})\b")
_MONTH_DAY: Final = re.compile(rf"\b({_MONTH})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?")
_IN_MONTH: Final = re.compile(
    rf"\b(?:in|during|since|until|by|last|this|of|early|late|mid) (?:early |late |mid-?)?({_MONTH})\b"
)
_YEAR: Final = re.compile(r"\b(?:in|during|since|of) ((?:19|20)\d\d)\b")
_AGO: Final = re.compile(rf"\b{_COUNT} {_UNIT}s? ago\b")
_LAST_SOME: Final = re.compile(rf"\b(?:last|past) {_COUNT} {_UNIT}s?\b")
_LAST: Final = re.compile(r"\b(last|past|this) (week|month|year)\b")
_WEEKDAY: Final = re.compile(rf"\b(?:on|last|this) ({'|'.join(_WEEKDAYS)})\b")
_NEAR_DAY: Final = re.compile(r"\b(today|yesterday|this morning|last night)\b")
_EVENT: Final = re.compile(
    r"\b(before|after|since|until|during|around) (?:the |our |my |we |i |that |last |v?[\d.]+ )*(?:\w+ )?"
    r"((?:releas|launch|migrat|deploy|rollout|upgrad|rewrit|refactor|outage|incident|merg|demo|meeting|freeze|conference|wedding"
    r"|holiday|vacation|trip|move|audit|review|interview|exam)\w*)"
)


def stretches(question: str, last: Callable[[], int]) -> list[Stretch]:
    """Every stretch of time named; nothing for a question that names none. `last` is asked only where it is needed."""
    text = question[:_MAX_CHARS].lower()
    if not _MAY_NAME_TIME.search(text):
        return []
    newest = _moment(last())
    found: list[Stretch] = []
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            found += [_milliseconds(*span) for span in read(match, newest)]
        text = pattern.sub(" ", text)  # a day is not also read as its month
    return found


def event_of(question: str) -> tuple[str, str] | None:
    """How a question places itself by an event, and the beginning of the event's word: ("before", "releas")."""
    match = _EVENT.search(question[:_MAX_CHARS].lower())
    return (match.group(1), match.group(2)) if match else None


def around_event(how: str, at: int) -> Stretch:
    """The time before, after or around a moment."""
    reach = EVENT_DAYS * DAY_MS
    if how in ("before", "until"):
        return at - reach, at
    if how in ("after", "since"):
        return at, at + reach
    return at - 3 * DAY_MS, at + 3 * DAY_MS


def nearness(at: int, spans: Sequence[Stretch]) -> float:
    """1 inside a stretch, falling to 0 within the days behind it."""
    best = 0.0
    for start, end in spans:
        if start <= at <= end:
            return 1.0
        if at > end:
            best = max(best, 1 - (at - end) / DAY_MS / FADING_DAYS)
    return best


_Span = tuple[datetime, datetime]
_Match = re.Match[str]


def _day(year: int, month: int, day: int, newest: datetime) -> Iterator[_Span]:
    """A day, or a whole month where the day is 0; nothing where there is no such day."""
    if not 1 <= month <= 12:
        return
    if not year:
        year = newest.year - (month > newest.month)
    if 1 <= year <= 9998 and day <= monthrange(year, month)[1]:
        start = datetime(year, month, day or 1, tzinfo=UTC)
        yield start, start + timedelta(days=1 if day else monthrange(year, month)[1], milliseconds=-1)


def _year(match: _Match, newest: datetime) -> Iterator[_Span]:
    start = datetime(int(match.group(1)), 1, 1, tzinfo=UTC)
    yield start, start.replace(year=start.year + 1) - timedelta(milliseconds=1)


def _ago(match: _Match, newest: datetime) -> Iterator[_Span]:
    length = _DAYS[match.group(2)]
    middle = newest - timedelta(days=_number(match.group(1)) * length)
    slack = timedelta(days=max(1, length // 2))
    yield middle - slack, middle + slack


def _last_some(match: _Match, newest: datetime) -> Iterator[_Span]:
    yield newest - timedelta(days=_number(match.group(1)) * _DAYS[match.group(2)]), newest


def _last(match: _Match, newest: datetime) -> Iterator[_Span]:
    # the last week is the one before this one, or the seven days until now: both count
    length = timedelta(days=_DAYS[match.group(2)])
    yield newest - (2 * length if match.group(1) == "last" else length), newest


def _weekday(match: _Match, newest: datetime) -> Iterator[_Span]:
    back = (newest.weekday() - _WEEKDAYS.index(match.group(1))) % 7
    start = (newest - timedelta(days=back)).replace(hour=0, minute=0, second=0, microsecond=0)
    yield start, start + timedelta(days=1, milliseconds=-1)


def _near_day(match: _Match, newest: datetime) -> Iterator[_Span]:
    yield newest - timedelta(days=1 if match.group(1) in ("today", "this morning") else 2), newest


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[_Match, datetime], Iterator[_Span]]], ...]] = (
    (_ISO, lambda match, newest: _day(int(match[1]), int(match[2]), int(match[3] or 0), newest)),
    (_DAY_MONTH, lambda match, newest: _day(int(match[3] or 0), _month(match[2]), int(match[1]), newest)),
    (_MONTH_YEAR, lambda match, newest: _day(int(match[2]), _month(match[1]), 0, newest)),
    (_MONTH_DAY, lambda match, newest: _day(int(match[3] or 0), _month(match[1]), int(match[2]), newest)),
    (_IN_MONTH, lambda match, newest: _day(0, _month(match[1]), 0, newest)),
    (_YEAR, _year),
    (_AGO, _ago),
    (_LAST_SOME, _last_some),
    (_LAST, _last),
    (_WEEKDAY, _weekday),
    (_NEAR_DAY, _near_day),
)
_MAY_NAME_TIME: Final = re.compile("|".join(f"(?:{pattern.pattern})" for pattern, _ in _READERS))


def _month(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name[:3]))


def _number(word: str) -> int:
    return _NUMBERS.get(word) or int(word)


def _moment(at: int) -> datetime:
    """A time in milliseconds as a date, within the years that can be counted in."""
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=min(max(at, -20_000_000_000_000), 200_000_000_000_000))


def _milliseconds(start: datetime, end: datetime) -> Stretch:
    first = datetime(1970, 1, 1, tzinfo=UTC)
    return (start - first) // timedelta(milliseconds=1), (end - first) // timedelta(milliseconds=1)
