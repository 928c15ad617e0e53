"""Candidates in order -> those that say something of their own, and those that only say it again.

What is asked every day would otherwise fill an answer with itself. Equal is what has the same words, but for letters' case,
space and the mark at its end; of a long text the beginning and the length decide.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from hindbrain.recall.block import day_of
from hindbrain.recall.candidates import Candidate

COUNTED: Final = 100  # of what is said more often not every one is looked at
SAME_CHARS: Final = 160  # texts that begin alike for so long, and are equally long, are the same

_ENDS: Final = " .!?"


def equals_last(
    found: Sequence[Candidate], order: Sequence[int]
) -> tuple[list[int], list[int], dict[int, list[Candidate]]]:
    """Of those that say the same the newest, where the best of them stood; the others; and by the newest's place all of them."""
    keys = [_roughly(found[place]) for place in order]
    seen = Counter(keys)
    groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for place, key in zip(order, keys, strict=True):
        # the first word tells most texts apart, and costs less than all of them
        groups[key if seen[key] == 1 else (*key, _plain(found[place].head[:SAME_CHARS]))].append(place)
    kept = [max(places, key=lambda place: (found[place].at, found[place].id)) for places in groups.values()]
    alone = set(kept)
    grouped = zip(kept, groups.values(), strict=True)
    repeated = {newest: [found[place] for place in places] for newest, places in grouped if len(places) > 1}
    return kept, [place for place in order if place not in alone], repeated


def _roughly(each: Candidate) -> tuple[object, ...]:
    """What is equal in equals: the first word, who said it, and how long it is where it is long."""
    first = each.head[:SAME_CHARS].split(None, 1)
    return each.kind, each.role, each.chars if each.chars > SAME_CHARS else 0, _plain(first[0]) if first else ""


def _plain(text: str) -> str:
    return " ".join(text.lower().split()).rstrip(_ENDS)


def said_again(same: Sequence[Candidate]) -> str:
    """How often something was said, in plain words; "" for once."""
    if not same:
        return ""
    first = day_of(min(each.at for each in same))
    if len(same) > COUNTED:
        return f"said more than {COUNTED} times, on {first} or earlier for the first time"
    return f"said {len(same)} times, first on {first}"
