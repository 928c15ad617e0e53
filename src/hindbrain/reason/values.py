"""A statement -> what can be compared of it: its telling words, its values, and clause by clause what it denies, ends or allows.

Two statements are first compared by what they say of one thing (another number, another name, a no for a yes), and only then
by how alike they sound: "never use X" sounds almost like "use X".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from hindbrain.reason import wording
from hindbrain.reason.vocabulary import (
    GENERIC,
    MONTHS,
    NUMERALS,
    OF,
    OFTEN,
    SHORT_FOR,
    SILENT,
    UNTIL,
    WEEKDAYS,
    plain,
    seconds_in,
)

STEM: Final = 6  # letters that forms of a word share: Postgres and PostgreSQL, deploy and deployment
COMPOUND: Final = 10  # letters of a word that may be made of two
NEAR: Final = 5  # words between a name and what says that it is over
BESIDE: Final = 3  # words between a name and what says that it was given up
SUBJECT_WORDS: Final = 6
MAX_CHARS: Final = 2_000
NAME, ORDINARY, COMMON = 1.0, 0.6, 0.2  # how much a shared word says that two statements are about one thing

_TOKEN: Final = re.compile(r"#?[\w@+][\w'@:+/.#-]*[\w+]|[\w]|\.[a-z]\w*(?:\.\w+)*")
_CLAUSE: Final = re.compile(
    r"\s(?=(?:than|over|statt|als|antes que|en vez de|instead of|rather than)\s)|[,;:.!?()\[\]\n\"]+(?=\s|$)"
    r"|\s(?:and|but|so|und|aber|sondern|y|pero|sino)\s|\s-+\s|,"
)
_VERSION: Final = re.compile(r"v?\d+(?:\.\d+)+(?:\.x)?")
_CLOCK: Final = re.compile(r"([01]?\d|2[0-4])(?::([0-5]\d)(am|pm|h)?|(am|pm))")
_SERIES: Final = re.compile(r"([a-z][a-z\d_.-]*?)(?:[-_]?\d{1,2}|\d{3}|[-_](?:x{0,3}[sml]|[a-z]))")  # node-03, utf-8, pool_xl
_NUMBER: Final = re.compile(r"([-+]?\d(?:[\d.,']*\d)?)(k|m|x|%|s|ms|gb|mb|kb|min|h|d|st|nd|rd|th|px|khz)?[.,']*")
_RATE: Final = re.compile(r"(?<=\d)/[a-z]+")  # 200/s
_ADDRESS: Final = re.compile(r"[a-z][\w.-]*:\d{2,5}|[\w.+-]+@[\w-]+\.[\w.]+|#[\da-f]{3,8}")
_DAY: Final = re.compile(rf"(?<=\b\d)\.(?= (?:{'|'.join(MONTHS)})\b)|(?<=\b\d\d)\.(?= (?:{'|'.join(MONTHS)})\b)")  # 1. Juli
_PART: Final = re.compile(r"[^\W_]+")
_ENDINGS: Final = {  # and how many letters have to be left
    "ations": 3, "ation": 3, "iones": 3, "ion": 3, "ings": 3, "ing": 3, "edly": 3, "ies": 3, "ed": 3, "es": 3, "en": 5, "s": 3,
    "ly": 3, "e": 3, "y": 3, "n": 5,
}  # fmt: skip
_ALONE: Final = re.compile(r"(?:no|nope|never|nein|nie|nunca|jamas|please no|bitte nicht)\W*")
_ARTICLES: Final = frozenset(
    ("one", "a", "an", "al", "por", "by", "cada", "every", "each", "jede", "jeden", "jeder", "single", "ein", "eine", "einen",
     "einer", "einem", "eines", "un", "una", "uno")
)  # fmt: skip
_NAMED: Final = ("weekday", "series", "month")  # values that are words as well
_WHOLE: Final = ("full", "whole", "ganze", "ganzen", "ganzes", "volle", "vollen", "entero", "entera")  # a full month
_SHORT_UNITS: Final = ("s", "h")
_WORDS_TOO: Final = ("one", "ein", "uno")  # numbers that are as often no number


class Word(NamedTuple):
    """A telling word where it stands."""

    key: str
    weight: float
    clause: int
    place: int  # among all words, in order
    shown: str  # as it is written, in plain letters


class Value(NamedTuple):
    """A number with what it counts, a time, a version, an address: what may stand where another stood."""

    type: str  # number, time, date, version, address, flag
    what: str
    unit: str
    clause: int
    by: str = ""  # the word right before it


@dataclass(frozen=True, slots=True)
class Reading:
    """What one statement says, as far as it is compared."""

    text: str  # in plain letters
    cuts: tuple[int, ...]  # where its clauses begin, and the end
    words: tuple[Word, ...]
    tokens: tuple[tuple[str, int], ...]  # every word as it is written, with its clause
    values: tuple[Value, ...]
    keys: dict[str, float]  # the telling words, each with its weight
    over: frozenset[str]  # keys of words and numbers that it says are over, or not so
    ended: frozenset[str]  # of these the ones that it says were given up
    denied: frozenset[int]  # clauses that say no
    allowed: frozenset[int]
    bound: frozenset[int]  # clauses that hold under a condition: yes and no side by side
    subject: frozenset[str]  # telling words before the first verb of being: what something is said of
    sorts: frozenset[tuple[str, str]]  # a thing, and the word that says which sort of it is meant
    beginnings: dict[str, str]  # of long words what they begin with, which may be a word: Stagingserver, staging; and their key

    def clauses(self, key: str) -> set[int]:
        """Where a word stands."""
        return {word.clause for word in self.words if word.key == key}


@lru_cache(65_536)
def stem(word: str) -> str:
    """Enough of a word to see its other forms, in three languages."""
    word = SHORT_FOR.get(word, word)
    if not word.isalpha():
        return word
    if len(word) > 3:
        ending = next((each for each, left in _ENDINGS.items() if word.endswith(each) and len(word) - len(each) >= left), "")
        word = word.removesuffix(ending)
        if len(word) > 3 and word[-1] == word[-2]:
            word = word[:-1]  # log, logged
    return word[:STEM]


_GENERIC_STEMS: Final = frozenset(stem(word) for word in GENERIC if len(word) > 4)


@lru_cache(16_384)
def read(text: str) -> Reading:
    """What a statement says. Never fails, whatever the text."""
    text = text[:MAX_CHARS]
    folded = _DAY.sub(" ", plain(text))
    cuts = [0, *(match.end() for match in _CLAUSE.finditer(folded)), len(folded)]
    parts = [folded[start:end] for start, end in pairwise(cuts)]
    found = _Found(text, folded)
    for clause, (start, end) in enumerate(pairwise(cuts)):
        found.take(clause, start, end)
    words, values = tuple(found.words), tuple(value for value in found.values if value.unit or value.what != "1")
    denied, allowed, bound = _said(parts)
    return Reading(
        folded, tuple(cuts), words, tuple(found.tokens), values, {word.key: word.weight for word in words},
        _near(parts, found, wording.OVER, NEAR), _near(parts, found, wording.ENDED, BESIDE), denied, allowed, bound,
        _subject(parts[0] if parts else "", words), _sorts(words, found.tokens), _beginnings(words),
    )  # fmt: skip


class _Found:
    """Words and values as they are met, clause by clause."""

    def __init__(self, text: str, folded: str) -> None:
        self.text, self.folded = text, folded
        self.words: list[Word] = []
        self.values: list[Value] = []
        self.tokens: list[tuple[str, int]] = []
        self.firsts: list[int] = []  # how many words stand before each clause
        # From places in the folded text back to the letters as they were typed.
        self._origin: Sequence[int] = range(len(text) + 1)
        if len(folded) != len(text):
            self._origin = [*(number for number, letter in enumerate(text) for _ in plain(letter)), len(text)]

    def take(self, clause: int, start: int, end: int) -> None:
        self.firsts.append(len(self.tokens))
        counted: Value | None = None
        before = ""
        for match in _TOKEN.finditer(self.folded, start, end):
            token = match.group().strip("'.:/-#") or match.group()
            self.tokens.append((token, clause))
            dated = counted is not None and counted.type == "number" and token in MONTHS  # the 30th of April
            value = None if dated else _value(match.group(), token, clause, before)
            if value is not None:
                counted = _counted(value, before) if before in MONTHS else value
                self.values.append(counted._replace(by="" if before in SILENT else stem(before)))
                counted = self.values[-1]
                counted = None if value.type in _NAMED else counted
            elif token not in SILENT or token in _SHORT_UNITS:
                if counted is not None:
                    self.values[-1] = _counted(counted, token)
                elif before in _ARTICLES and seconds_in(token):
                    self.values.append(_counted(Value("number", "1", "", clause), token))
                counted = None
            elif token not in OF:
                counted = None  # "below 2 for this release": two of what is not said
            if value is None or value.type in _NAMED or token in _WORDS_TOO or token in OFTEN:
                self._add(token, match.start(), match.end(), clause)
            before = before if token in _WHOLE else token

    def _add(self, token: str, start: int, end: int, clause: int) -> None:
        """The words of a token: an identifier as a whole, and the parts of a compound."""
        shown = self.text[self._origin[start] : self._origin[end - 1] + 1]
        name = _is_name(shown, self._begins(start))
        token = token.split("'")[0]  # what follows is a form of a verb, or says whose it is
        parts = _PART.findall(token)
        place = len(self.tokens)
        if len(parts) > 1:
            self.words.append(Word(token, NAME, clause, place, token))
            if "/" in token:
                self.words.append(Word(token.rsplit("/", 1)[1], NAME, clause, place, token))
        for part in parts:
            if part not in SILENT and len(part) > (1 if len(parts) == 1 else 2) and not part.isdigit():
                weight = _weight(part, name) if len(parts) == 1 else min(_weight(part, name), ORDINARY)
                self.words.append(Word(stem(part), weight, clause, place, part))

    def _begins(self, start: int) -> bool:
        before = self.folded[:start].rstrip(" \"'`(")
        return not before or before[-1] in ".!?:"


def _is_name(shown: str, first: bool) -> bool:
    """Whether a word looks like the name of something, rather than a word of the language."""
    return (any(letter.isdigit() or letter in "_/.@+:#" for letter in shown) or any(letter.isupper() for letter in shown[1:])
            or (shown[:1].isupper() and not first))  # fmt: skip


def _weight(word: str, name: bool) -> float:
    if word in GENERIC or stem(word) in _GENERIC_STEMS:
        return COMMON
    return NAME if name else ORDINARY


def _value(written: str, token: str, clause: int, before: str) -> Value | None:
    if token in NUMERALS:
        return Value("number", str(NUMERALS[token]), "", clause)
    if token in OFTEN:
        return Value("time", f"{OFTEN[token]:g}", "time", clause)
    if token in WEEKDAYS:
        return Value("weekday", str(WEEKDAYS[token]), "weekday", clause)
    if token in MONTHS and before in UNTIL:
        return Value("month", str(MONTHS[token]), "month", clause)
    if clock := _CLOCK.fullmatch(token):
        hour = int(clock[1]) % 12 + 12 if "pm" in (clock[3], clock[4]) else int(clock[1])
        return Value("clock", str(hour * 60 + int(clock[2] or 0)), "clock", clause)
    if _VERSION.fullmatch(token):
        return Value("version", token.removeprefix("v"), "", clause)
    if number := _NUMBER.fullmatch(_RATE.sub("", token)):
        found = Value("number", number[1], "", clause)
        return _counted(found, number[2]) if number[2] else found
    if _ADDRESS.fullmatch(written):
        return Value("address", written, "", clause)
    if token in ("true", "false"):
        return Value("flag", token, "", clause)
    series = _SERIES.fullmatch(token)
    return Value("series", token, series[1], clause) if series else None


def _counted(value: Value, unit: str) -> Value:
    """A number with what it counts; times are told in seconds, so that an hour is another value than ten minutes."""
    if unit in MONTHS and value.type == "number":
        return value._replace(type="date", what=f"{MONTHS[unit]}-{value.what}", unit="date")
    seconds = seconds_in(unit)
    if unit in ("uhr", "oclock") and value.type == "number" and value.what.isascii() and value.what.isdigit():
        return value._replace(type="clock", what=str(int(value.what[:3]) * 60), unit="clock")
    if seconds and value.type == "number" and value.what.isascii() and value.what.isdigit():
        return value._replace(type="time", what=f"{int(value.what[:12]) * seconds:g}", unit="time")
    return value._replace(unit=stem(unit))


def _near(parts: list[str], found: _Found, cue: re.Pattern[str], most: int) -> frozenset[str]:
    """The keys of words that stand near a cue, and the numbers in its clause."""
    keys: set[str] = set()
    for clause, part in enumerate(parts):
        spans = [(len(part[: match.start()].split()), len(part[: match.end()].split())) for match in cue.finditer(part)]
        if not spans:
            continue
        base = found.firsts[clause]
        whole = {word.place: word.key for word in found.words if "_" in word.key or "-" in word.key}  # pg_dump ends, not pg
        keys |= {word.key for word in found.words if word.clause == clause and whole.get(word.place, word.key) == word.key
                 and any(left - most <= word.place - base <= right + most for left, right in spans)}  # fmt: skip
        keys |= {value.what for value in found.values if value.clause == clause}
    return frozenset(keys)


def _said(parts: list[str]) -> tuple[frozenset[int], frozenset[int], frozenset[int]]:
    """The clauses that deny, that allow, and that hold under a condition."""
    denied, allowed, bound = (
        {clause for clause, part in enumerate(parts) if cue.search(part)} for cue in (wording.NOT, wording.MAY, wording.ONLY)
    )
    for clause, part in enumerate(parts):
        # "without a worker, a beat and a Redis": a short piece of a list has the no of the piece before it
        short = len(part.split()) <= 3 and clause - 1 in denied and parts[clause - 1].rstrip()[-1:] not in ".!?;:"
        if short and clause not in allowed:
            denied.add(clause)
    for clause, part in enumerate(parts[1:], 1):
        if _ALONE.fullmatch(part.strip()):
            denied.add(clause - 1)  # "barrel files? no."
    # "you may, without asking anybody": the no is of the asking
    denied -= {clause for clause in allowed & denied if wording.UNASKED.search(parts[clause])}
    return frozenset(denied), frozenset(allowed), frozenset(bound)


def _subject(first: str, words: tuple[Word, ...]) -> frozenset[str]:
    """The telling words before the verb that says what something is, has or does, where that comes early; none otherwise."""
    verb = wording.IS.search(first)
    before = len(_TOKEN.findall(first[: verb.start()])) if verb else 0
    if before > SUBJECT_WORDS:
        return frozenset()
    return frozenset(word.key for word in words if word.place <= before and word.weight >= ORDINARY)


def _sorts(words: tuple[Word, ...], tokens: list[tuple[str, int]]) -> frozenset[tuple[str, str]]:
    """Which sort of a thing is meant: by the word right before it, or behind it after "for" or "of"; the thing first."""
    at = {word.place: word for word in reversed(words)}
    found = set()
    for place, word in at.items():
        before = at.get(place - 1)
        if before and before.clause == word.clause and before.weight >= ORDINARY:
            found.add((word.key, before.key))
        if place < len(tokens) and tokens[place][0] in OF:
            near = (at[each] for each in range(place + 2, place + 5) if each in at)
            behind = next((each for each in near if each.weight >= ORDINARY), None)
            if behind and behind.clause == word.clause:
                found.add((f"{word.key} of", behind.key))
    return frozenset(found)


def _beginnings(words: tuple[Word, ...]) -> dict[str, str]:
    return {stem(word.shown[:7]): word.key for word in words if len(word.shown) >= COMPOUND and word.shown.isalpha()}
