"""Two statements side by side -> whether they are one sentence up to the one thing it says: another host, port, owner, liking.

"The staging host is stage2.acme.test" and the same with stage3 share all signs of agreement, and lines of a list share them too:
"src/a.py is generated", "src/b.py is generated". So it is looked at where the two differ, word by word: at the end, behind a verb
of being, in a value of which a thing has one; in who is in charge; or, of two likings, in one word and its opposite.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.sides import Sides
from hindbrain.reason.values import NAME, ORDINARY, Reading, stem
from hindbrain.reason.vocabulary import OPPOSED

# They say that something is so now, not what it is.
_ASIDE: Final = ("now", "actually", "no", "nope", "sorry", "please", "jetzt", "nun", "nein", "doch", "bitte", "ahora", "ya")
_ONE: Final = re.compile(
    r"(?:is|lives?|sits?|runs?|listens?|points?|resides?|ist|liegt|liegen|laeuft|laufen|heisst|lautet|lauscht|zeigt|es|esta|vive"
    r"|viven|corre|corren|escucha|se llama|apunta)"
)
_BEHIND: Final = re.compile(rf"\b{_ONE.pattern}(?: (?:called|named|at|on|in|under|to|port|auf|unter|in|bei|en|a|puerto))*$")
_ANY_OF: Final = re.compile(r"^(?:an?|one|some|another|any|ein|eine|un|una|otr[oa])\b")
_ONLY: Final = re.compile(
    r"\b(?:default|main|primary|current|standard|aktuelle\w*|haupt\w*|predeterminad[oa]|principal|actual)\b"
)
_VALUE: Final = re.compile(r"[\d./_@:]")  # in a word: a number, a host, a path, a name of the code
_CHARGE: Final = re.compile(
    r"^(?:owns|leads|maintains|looks after|is (?:in charge of|responsible for|the (?:owner|lead|maintainer) of)|kuemmert sich um"
    r"|ist (?:zustaendig|verantwortlich) fuer|verantwortet|betreut|leitet|lleva|se encarga de"
    r"|es (?:el |la )?(?:responsable|duen[oa]) de|mantiene)\b"
)
_LIKES: Final = re.compile(r"^(?:(?:i|ich|yo) )?(?:prefer|like|bevorzuge|mag|prefiero|me gustan?)\b")
_FORMS: Final = (
    "hell helle hellen helles dunkel dunkle dunklen dunkles", "claro clara claros claras oscuro oscura oscuros oscuras",
)  # fmt: skip
_OPPOSITES: Final = tuple(frozenset(map(stem, each)) for each in (*OPPOSED, *(forms.split() for forms in _FORMS)))


def differs(pair: Sides) -> bool:
    """Whether one of both says of a thing what cannot be said of it beside what the other says."""
    if pair.new.denied or pair.old.denied:
        return False
    mine, other = (_said(each) for each in (pair.new, pair.old))
    at = next((place for place, (one, two) in enumerate(zip(mine, other, strict=False)) if one != two), None)
    if at is None:
        return False
    return _is_other_value(pair, mine, other, at) or _is_other_hand(pair, mine, other) or _is_opposite(pair, mine, other, at)


def _said(reading: Reading) -> list[str]:
    return [token for token, _ in reading.tokens if token not in _ASIDE]


def _is_other_value(pair: Sides, mine: list[str], other: list[str], at: int) -> bool:
    """The same up to the last word, which is what the thing is."""
    if at != len(mine) - 1 or at != len(other) - 1:
        return False
    before = " ".join(mine[:at])
    behind = _BEHIND.search(before)
    if behind is None or _ANY_OF.search(before):
        return False
    if not any(pair.shared.get(stem(word), 0.0) for word in before[: behind.start()].split()):
        return False  # "it is 8080": of what is not said
    values = [word for word in (mine[at], other[at]) if _VALUE.search(word)]
    if len(values) == 2:
        return True
    named = all(_weight(reading, said[at]) >= NAME for reading, said in ((pair.new, mine), (pair.old, other)))
    direct = _ONE.fullmatch(mine[at - 1]) is not None and not values
    return direct and (named or _ONLY.search(before) is not None)


def _is_other_hand(pair: Sides, mine: list[str], other: list[str]) -> bool:
    """The same but for the first word, who is in charge."""
    people = mine[0] != other[0] and mine[0].isalpha() and other[0].isalpha()
    return people and mine[1:] == other[1:] and _CHARGE.search(" ".join(mine[1:])) is not None and pair.telling >= ORDINARY


def _is_opposite(pair: Sides, mine: list[str], other: list[str], at: int) -> bool:
    """Two likings, the same but for one word and its opposite."""
    liked = pair.newer.kind == pair.older.kind == "preference" or _LIKES.search(" ".join(mine[:at])) is not None
    if not liked or mine[at + 1 :] != other[at + 1 :]:
        return False
    both = {stem(mine[at]), stem(other[at])}
    return len(both) == 2 and any(both <= each for each in _OPPOSITES)


def _weight(reading: Reading, word: str) -> float:
    return reading.keys.get(stem(word), 0.0)
