"""Two statements side by side, and what the rules say of them -> how much speaks for each relation, by learnt weights.

The rules know what may be said of two statements; how much a sign counts where several are seen, they do not. "12 for the
listing" after "5 for the listing" replaces it or speaks of another list, and a shared word, a number, the kinds of both and a
"then" each say a little about which. So the verdict of the rules is one mark among others, every mark has a weight for each
relation, and the relation for which they add up to the most is told (`scripts/train_relating.py` learns all of them).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.beside import Beside
from hindbrain.reason.meeting import Meeting
from hindbrain.reason.sides import Sides
from hindbrain.reason.values import NAME, ORDINARY, Value, read

RELATIONS: Final = ("supersedes", "contradicts", "reinforces", "")
_SIGNS: Final = (
    "changes", "soft", "again", "released", "given_up", "two_things", "two_places", "two_counted", "one_subject", "one_topic",
    "own_words", "opposed", "hands", "rivals", "outgrown",
)  # fmt: skip
_DEGREES: Final = {
    "telling": (0.3, ORDINARY, NAME, 1.2, 1.6, 2.2, 3.0), "cover": (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9),
    "alike": (0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.7, 0.8), "ended": (0.1, ORDINARY, NAME),
    "flipped": (0.1, ORDINARY, NAME, 1.2),
}  # fmt: skip
_TOGETHER: Final = {"telling": (ORDINARY, NAME), "alike": (0.2, 0.3, 0.4, 0.5, 0.6)}
_MEETING: Final = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_BESIDE: Final = {
    "telling": (0.3, ORDINARY, NAME, 1.6), "over": (0.2, ORDINARY, NAME), "valued": (1,), "alike": (0.15, 0.25, 0.35, 0.45, 0.55),
    "led": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7), "turns": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
}  # fmt: skip
_PARALLEL: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
_FAR: Final = 4  # words
_LENGTHS: Final = (4, 8, 14, 22)  # words
_CUES: Final = {name.lower(): found for name, found in vars(wording).items() if isinstance(found, re.Pattern)}
_REJECTED: Final = re.compile(r"\b(?:too|zu|demasiad[oa]s?|enough|tight|knapp|off|not|nicht|no)\b")
_FILE: Final = "relating.json"


def marks(pair: Sides, ruled: str, ways: Iterable[str]) -> frozenset[str]:
    """What is to be seen of two statements. ruled: what the rules say; ways: in which ways they find them at odds."""
    return frozenset((
        *_of_kinds(pair, ruled), *(f"way {way}" for way in ways), *_of_signs(pair), *_of_values(pair), *_of_words(pair),
        *_of_meeting(pair.meeting), *_of_beside(pair),
    ))  # fmt: skip


def _of_kinds(pair: Sides, ruled: str) -> Iterator[str]:
    new, old = pair.newer.kind, pair.older.kind
    yield from (f"rule {ruled or 'none'}", f"rule {ruled or 'none'} {new}", f"new {new}", f"old {old}", f"{new} after {old}")
    if new == old:
        yield "one kind"
        yield from (f"one kind {each}" for each in _degrees(pair, _TOGETHER))


def _of_signs(pair: Sides) -> Iterator[str]:
    signs = [name for name in _SIGNS if getattr(pair, name)]
    yield from signs
    yield from (f"{pair.newer.kind} {name}" for name in signs if name in ("changes", "soft", "again"))
    yield from _degrees(pair, _DEGREES)
    if pair.changes:
        yield from (f"changes {each}" for each in _degrees(pair, _TOGETHER))
    apart = [sum(key not in pair.shared for key in each.keys) for each in (pair.new, pair.old)]
    if max(apart) <= 1 and min(apart) > 0 and not pair.changes:
        yield "one word apart"
    for step in (step for step in _PARALLEL if pair.parallel + 1e-9 >= step):
        yield f"parallel {step}"
        yield f"parallel {step}, words of {pair.alone}"
        if not pair.changes:
            yield f"parallel {step}, words of {pair.alone}, nothing changes"
    denies = [bool(each.denied) for each in (pair.new, pair.old)]
    yield from (f"{name} denies" for name, there in zip(("new", "old"), denies, strict=True) if there)
    yield f"{sum(denies)} of both deny"


def _of_meeting(met: Meeting | None) -> Iterator[str]:
    if met is None:
        yield "meet nowhere"
        return
    alike = [step for step in _MEETING if met.alike + 1e-9 >= step]
    yield from (f"meet {step}" for step in alike)
    yield from (f"meet in {step}" for step in (0.2, 0.35, 0.5, 0.7, 0.9) if met.cover + 1e-9 >= step)
    for sign in (*(("changing",) if met.changes else ()), f"{met.values} values"):
        yield f"meet {sign}"
        yield from (f"meet {sign} {step}" for step in alike if sign != "0 values")
    for side, place in zip(("new", "old"), met.places, strict=True):
        yield f"meet at {min(place, _FAR)} in the {side}"


def _of_beside(pair: Sides) -> Iterator[str]:
    """What the newer one's turn says beside it: of the older one, and of how sure it is."""
    degrees = [*_degrees(pair.beside, _BESIDE)]
    yield from (f"beside {each}" for each in degrees)
    if pair.changes:
        yield from (f"changes, beside {each}" for each in degrees)
    for place, sentence in zip(("before", "after"), pair.beside.nearest, strict=True):
        if sentence:
            reading = read(sentence)
            yield from (f"{place} {name}" for name in _cues_in(reading.text))
            yield from (f"word beside {word}" for word, _ in reading.tokens)


def _degrees(pair: Sides | Beside, steps: Mapping[str, Sequence[float]]) -> Iterator[str]:
    for name, least in steps.items():
        found = float(getattr(pair, name)) + 1e-9
        yield from (f"{name} {step}" for step in least if found >= step)


def _of_values(pair: Sides) -> Iterator[str]:
    """Numbers, days, versions: which of them are in both, and which took another's place."""
    mine, other = ({value.what for value in each.values} for each in (pair.new, pair.old))
    kept, own = mine & other, mine - other
    signs = {
        "values differ": bool(pair.values_differ), "value kept": bool(kept), "value kept and another": bool(kept and own),
        "value given up": bool(kept and own and _REJECTED.search(pair.new.text)), "value over": bool(kept & pair.new.over),
        "value in the new alone": bool(mine and not other), "value in the old alone": bool(other and not mine),
        "two counts of one unit": any(_recounted(new, old) for new in pair.new.values for old in pair.old.values),
    }  # fmt: skip
    yield from (name for name, there in signs.items() if there)
    yield from (f"differs {new.type}" for new, _ in pair.values_differ)
    if not kept:
        types = {value.type for value in pair.old.values}
        yield from (f"both name a {value.type}" for value in pair.new.values if value.type in types)


def _recounted(new: Value, old: Value) -> bool:
    return new.unit == old.unit != "" and new.what != old.what


def _of_words(pair: Sides) -> Iterator[str]:
    for side, reading in (("new", pair.new), ("old", pair.old)):
        yield from (f"{side} {name}" for name in _cues_in(reading.text))
        yield from (f"{side} over {least} words" for least in _LENGTHS if len(reading.tokens) > least)
    said = [word for word, _ in pair.new.tokens]
    yield from (f"word {word}" for word in said)
    if said:
        yield f"word {said[0]} first"
    if pair.newer.text.rstrip(' "”»').endswith("?"):
        yield "asks"


@lru_cache(4_096)
def _cues_in(text: str) -> tuple[str, ...]:
    return tuple(name for name, cue in _CUES.items() if cue.search(text))


def weighed(seen: Collection[str]) -> dict[str, float]:
    """How much speaks for each relation."""
    rows = _rows()
    found = [rows[mark] for mark in ("always", *sorted(seen)) if mark in rows]
    return {name: round(sum(row[place] for row in found), 6) for place, name in enumerate(RELATIONS)}


@cache
def _rows() -> Mapping[str, Sequence[float]]:
    """By mark, what it says to each relation."""
    read: dict[str, list[float]] = json.loads(resources.files(__package__).joinpath(_FILE).read_text("utf-8"))
    return read
