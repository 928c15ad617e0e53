"""Two statements that seem to be at odds -> whether they are of one mind, or of two things: what both forbid, ask for, or like.

"Never force push" and "force pushing is forbidden here" are two ways to say no; "short" and "concise" are on one side; and who
likes small commits may like detailed commit messages. It is looked at word by word, after the learnt weights.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.reversal import LIGHT
from hindbrain.reason.sides import Sides
from hindbrain.reason.values import ORDINARY, Reading, stem

_NO: Final = re.compile(
    r"(?<![\w-])(?:never|no|not|don't|dont|forbidden|banned|prohibited|nie|niemals|nicht|kein\w*|verboten|nunca|jamas"
    r"|prohibid\w+)(?![\w-])"
)
_DENIED: Final = re.compile(r"\b(?:is|are|ist|sind) (?:not|nicht) \w+")  # "is not allowed" is no change
_WAYS_TO_FORBID: Final = frozenset(map(stem, (
    "forbidden", "banned", "prohibited", "allowed", "permitted", "verboten", "erlaubt", "prohibido", "prohibida", "permitido",
    "hagas", "hacer", "machen", "do",
)))  # fmt: skip
_BRIEF: Final = """
    short terse concise brief kurz kurze kurzen knapp knappe knappen corto cortos corta cortas breve breves conciso concisas
"""
_AT_LENGTH: Final = """
    long verbose full detailed lang lange langen ausfuehrlich ausfuehrliche largo largos larga largas detallado
    detallada detalladas
"""
_SIDES: Final = (frozenset(_BRIEF.split()), frozenset(_AT_LENGTH.split()))
_LIKING: Final = frozenset(map(stem, ("gusta", "gustan", "mag", "love")))
_LIKES: Final = re.compile(r"^(?:i|ich|yo)? ?(?:really )?(?:prefer|like|love|bevorzuge|mag|prefiero|me gustan?)\b")
_LESS: Final = re.compile(r"\b(?:than|over|instead|rather|als|statt|lieber|que|antes|en vez)\b")


def of_one_mind(pair: Sides) -> bool:
    """Whether both say the same: no to one thing, or one side of long and short."""
    if pair.values_differ or pair.rivals or wording.CHANGE.search(_DENIED.sub(" ", pair.new.text)):
        return False
    return _both_forbid(pair) or _both_on_one_side(pair)


def likes_two_things(pair: Sides) -> bool:
    """Whether each tells of liking another thing: what one likes is only mentioned by the other."""
    if pair.values_differ or pair.rivals or pair.changes or pair.opposed or pair.flipped:
        return False
    if not all(_LIKES.search(each.text) and not _LESS.search(each.text) for each in (pair.new, pair.old)):
        return False
    mine, other = (_last(each) for each in (pair.new, pair.old))
    return mine != other and bool(mine and other) and not (mine in pair.old.keys and other in pair.new.keys)


def _both_forbid(pair: Sides) -> bool:
    if any(len(_NO.findall(each.text)) != 1 or each.bound for each in (pair.new, pair.old)):
        return False
    mine, other = (_about(each) - _WAYS_TO_FORBID for each in (pair.new, pair.old))
    return mine == other and any(pair.shared.get(key, 0.0) >= ORDINARY for key in mine)


def _both_on_one_side(pair: Sides) -> bool:
    if any(_NO.search(each.text) or _LESS.search(each.text) for each in (pair.new, pair.old)):
        return False
    words = [{word for word, _ in each.tokens} for each in (pair.new, pair.old)]
    sides = [[number for number, side in enumerate(_SIDES) if side & said] for said in words]
    if sides[0] != sides[1] or len(sides[0]) != 1:
        return False
    left = frozenset(map(stem, _SIDES[sides[0][0]]))
    return _about(pair.new) - left == _about(pair.old) - left


def _about(reading: Reading) -> frozenset[str]:
    return frozenset(key for key in reading.keys if key not in LIGHT and key not in _LIKING and "-" not in key)


def _last(reading: Reading) -> str:
    """The last word of its first clause that names something: of "detailed commit messages" the messages."""
    said = [word.key for word in reading.words if word.clause == 0 and word.weight >= ORDINARY and word.key not in LIGHT]
    return said[-1] if len(said) > 1 or len(reading.words) > 1 else ""
