"""Two statements, the newer and the older -> what the newer does to it: supersedes, contradicts, reinforces, same, or nothing.

What they say of one thing is compared first: whether the newer ends what the older names, says no where it says yes, or has
another value in the same place. Only where nothing of this is found may they agree, and only then it counts how alike they sound.
What these rules say is weighed together with everything else that is to be seen of the two (relating.py). What a person said is
never superseded by what an agent or a tool said: that is a contradiction, for a person to look at.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import exp
from typing import Final, NamedTuple

from hindbrain.reason import accord, apart, predicate, relating, reversal, wording
from hindbrain.reason.sides import Likeness, Sides, Told, near
from hindbrain.reason.values import NAME, ORDINARY, read
from hindbrain.reason.vocabulary import plain

__all__ = ["Likeness", "Told", "Verdict", "outranks", "relation", "reverses", "says_change", "verdict"]

SETTLING: Final = ("decision", "correction")
PEOPLE: Final = ("user", "human_file", "import")
AT_ODDS: Final = ("supersedes", "contradicts")
AGREEING: Final = ("reinforces", "same")
PLAIN: Final = 0.75  # how sure it is at least where the newer says the opposite in almost the same words


class Verdict(NamedTuple):
    """What one statement does to another, and how likely that is by all that is to be seen of the two, from 0 to 1."""

    said: str
    sure: float


def relation(newer: Told, older: Told, likeness: Likeness) -> str:
    """What the newer statement does to the older one; "" where they have nothing to do with each other."""
    return verdict(newer, older, likeness).said


def verdict(newer: Told, older: Told, likeness: Likeness) -> Verdict:
    if plain(newer.text).split() == plain(older.text).split():
        return Verdict("same", 1.0)
    pair = Sides(newer, older, likeness)
    if not pair.compared:
        return Verdict("", 1.0)
    ruled = by_rules(pair)
    found = relating.weighed(seen(pair, ruled))
    likely = {name: 1 / sum(exp(other - weight) for other in found.values()) for name, weight in found.items()}
    said = _outvoted(pair, ruled, likely)
    if turned := _turned(pair):
        said = said if said in AT_ODDS else _which(pair)
        said = "supersedes" if reversal.insists(pair) and not pair.soft else said
    elif said in AT_ODDS and accord.of_one_mind(pair):
        return Verdict("reinforces", PLAIN)
    elif _both_hold(pair, said):
        return Verdict("", 1.0)
    sure = max(likely.get(said, 1.0), PLAIN if turned else 0.0)
    return Verdict("contradicts" if said == "supersedes" and not outranks(newer, older) else said, sure)


def _outvoted(pair: Sides, ruled: str, likely: Mapping[str, float]) -> str:
    """What the rules say, unless other signs say something else by more."""
    said = max(relating.RELATIONS, key=lambda name: likely[name])
    if (said == "reinforces" or ruled in AGREEING) and reversal.at_odds(pair):
        # a no for a yes, or a rival in its place, is no agreement, however much speaks for it
        ruled = "" if ruled in AGREEING else ruled
        said = ruled if said == "reinforces" else said
    if ruled == "same" or "lesson" in (pair.newer.kind, pair.older.kind) or wording.EXCEPTED.search(pair.new.text):
        return ruled
    if said == "contradicts" and reversal.denies_something_else(pair):
        return ""
    if said == "supersedes" and pair.older.kind == "task" and pair.telling < NAME:
        return ruled  # one everyday word in common does not say that a task is done
    return said


def _both_hold(pair: Sides, said: str) -> bool:
    """Whether what seems to be at odds is not: they are of two uses, parts or cases of what both name, or of two likings."""
    if said != "contradicts":
        return said == "supersedes" and apart.speaks_of_another(pair)
    if accord.likes_two_things(pair) or apart.is_special_case(pair):
        return True
    if pair.soft or pair.values_differ:
        return False
    turned_round = Sides(pair.older, pair.newer, pair.likeness)  # the older one may be of the other use
    return apart.ends_something_else(pair) or apart.moves_another(turned_round)


def reverses(newer: Told, older: Told) -> bool:
    """Whether the newer says the opposite of the older one in almost its words."""
    return _turned(Sides(newer, older, lambda one, other: 0.0))


def _turned(pair: Sides) -> bool:
    return reversal.reverses(pair) or (
        reversal.may_reverse(pair) and predicate.differs(pair) and not accord.of_one_mind(pair)
    )


def by_rules(pair: Sides) -> str:
    return _replaces(pair) or _agrees(pair)


def seen(pair: Sides, ruled: str) -> frozenset[str]:
    """The marks of two statements, for their weights."""
    return relating.marks(pair, ruled, (way.__name__.strip("_") for way in _MARKED if way(pair)))


def outranks(newer: Told, older: Told) -> bool:
    """Whether the newer may take the older one's place: it is as well founded, and it is newer."""
    if newer.valid_from <= older.valid_from:
        return False
    mine, other = (getattr(each, "trust", "user") for each in (newer, older))
    return mine in PEOPLE or other not in PEOPLE


def _replaces(pair: Sides) -> str:
    """Whether the two cannot both hold, and which of both holds: "supersedes", "contradicts" or ""."""
    newer, older = pair.newer, pair.older
    if older.kind == "task":
        return _closes(pair)
    if newer.kind == "task":
        return ""
    if "lesson" in (newer.kind, older.kind):
        mended = older.kind == "lesson" != newer.kind and wording.MENDED.search(pair.new.text) and pair.telling >= NAME
        return "supersedes" if mended else ""
    return _which(pair) if _against(pair) else ""


def _against(pair: Sides) -> bool:
    """Whether the newer one ends, denies or sets otherwise what the older one says."""
    turned = pair.changes and (pair.ended >= ORDINARY or pair.values_differ or pair.released)
    insists = pair.telling >= 1.2 and any(new.unit and new.unit == old.unit for new, old in pair.values_differ)
    apart = wording.ONCE.search(pair.new.text) or wording.EXCEPTED.search(pair.new.text)
    if apart or (pair.again and not turned and not insists):
        return False
    ways = (_ends, _denies, _sets_otherwise, _weighs, _rivals, _hands_over)
    return any(way(pair) for way in ways)


def _ends(pair: Sides) -> bool:
    """It says of what the older one names that this is over."""
    if pair.given_up or pair.ended >= NAME:
        return pair.changes or (pair.telling >= 1.2 and not pair.two_things)
    if pair.ended >= ORDINARY and pair.changes:
        return pair.telling >= 1.2 or (pair.cover >= 0.3 and pair.alike >= 0.4)
    if pair.ended >= ORDINARY and pair.telling >= 1.2 and pair.newer.kind in ("decision", "correction"):
        return not pair.two_things
    if pair.ended >= ORDINARY and pair.telling >= 1.2 and pair.newer.kind == pair.older.kind and pair.alike >= 0.5:
        return not pair.two_things and not pair.flipped
    named = {value.what for value in pair.new.values}
    # many things happen on a Thursday: that the newer one names the day of the older one says little
    near_enough = pair.telling >= ORDINARY or pair.alike >= 0.4
    former = (old for _, old in pair.values_differ if old.what in named)
    return pair.changes and any(near_enough or old.type not in ("weekday", "clock", "month") for old in former)


def _rivals(pair: Sides) -> bool:
    """It names another tool for the same purpose."""
    if not pair.rivals or pair.two_places or wording.ADDED.search(pair.new.text):
        return False
    if any(new.type == "series" for new, _ in pair.values_differ):
        return False  # of two tables, each may have a store of its own
    chosen = pair.newer.kind in SETTLING and pair.older.kind in (*SETTLING, "fact", "procedure")
    if pair.changes or pair.ended >= NAME:
        return (chosen and pair.older.kind in SETTLING) or pair.telling >= ORDINARY
    if pair.two_things:
        return False
    return pair.telling >= ORDINARY and (chosen or pair.soft or (pair.newer.kind == pair.older.kind and pair.cover >= 0.3))


def _hands_over(pair: Sides) -> bool:
    """It names another person in charge of the same."""
    if not pair.hands or pair.two_places or wording.ADDED.search(pair.new.text) or pair.telling < ORDINARY:
        return False
    return pair.changes or pair.soft or (pair.cover >= 0.4 and pair.alike >= 0.4)


def _weighs(pair: Sides) -> bool:
    """It is a view or hearsay on what the older one settles."""
    if wording.REPORTED.search(pair.new.text) and pair.soft:
        least = 0.2 if pair.telling >= NAME or pair.newer.kind == pair.older.kind else 0.35
        return pair.telling >= ORDINARY and not pair.two_things and pair.alike >= least
    counted = any(new.unit and new.unit == old.unit for new, old in pair.values_differ)
    if pair.soft and counted and pair.alike >= 0.4 and not pair.two_things and pair.newer.kind == pair.older.kind == "fact":
        return True
    if pair.soft and pair.newer.kind == pair.older.kind == "fact" and _other_names(pair):
        return pair.cover >= 0.25 and pair.alike >= 0.4
    view = pair.newer.kind == pair.older.kind == "preference" and wording.WEIGHED.search(pair.new.text)
    return bool(view) and pair.telling >= ORDINARY and pair.alike >= 0.4


def _denies(pair: Sides) -> bool:
    """One says no where the other says yes."""
    if pair.released and pair.changes:
        return True
    if _optional(pair):
        return pair.telling >= 1.2 and pair.alike >= 0.4 and not pair.two_places
    if pair.flipped < ORDINARY or (pair.two_things and not pair.changes):
        return False
    if pair.telling >= 1.2 or pair.cover >= 0.5 or (pair.changes and pair.flipped >= NAME):
        return True
    views = pair.newer.kind == pair.older.kind == "preference"
    return pair.alike >= (0.4 if pair.soft or pair.changes or views else 0.5)


def _optional(pair: Sides) -> bool:
    """It leaves open what the older one asks for."""
    open_now, before = (wording.OPTIONAL.search(each.text) for each in (pair.new, pair.old))
    return pair.older.kind == "instruction" and open_now is not None and before is None


def _sets_otherwise(pair: Sides) -> bool:
    """It has another value in the same place."""
    if pair.opposed and not pair.two_places and pair.telling >= ORDINARY and pair.alike >= 0.3:
        return True
    if pair.newer.kind == pair.older.kind == "procedure" and pair.changes and not pair.two_places:
        return pair.telling >= NAME and pair.alike >= 0.4
    if pair.two_things:
        return False
    return _has_other_value(pair) or _has_other_name(pair)


def _has_other_value(pair: Sides) -> bool:
    if pair.values_differ:
        if pair.telling >= 1.0 or (pair.telling >= ORDINARY and (pair.changes or pair.alike >= 0.55)):
            return True
        if pair.changes and any(new.type == "version" and near(new.what, old.what) for new, old in pair.values_differ):
            return True
        if pair.alike >= 0.45 and any(new.type == "time" for new, _ in pair.values_differ):
            return True
        if pair.alike >= 0.3 and any(new.type == "series" for new, _ in pair.values_differ):
            return True
        settled = pair.newer.kind in SETTLING and pair.older.kind in (*SETTLING, "fact")
        if settled and pair.telling >= ORDINARY and any(
            (new.unit and new.unit == old.unit) or "version" in (new.type, old.type) for new, old in pair.values_differ
        ):
            return True
    return False


def _has_other_name(pair: Sides) -> bool:
    """What it says of the same thing is something else, though neither is a number; and not that on top of it."""
    if wording.ADDED.search(pair.new.text) and not pair.released:
        return False
    least = 0.25 if pair.soft or pair.telling >= NAME else 0.38
    if pair.one_subject and pair.alike >= least and (pair.soft or pair.changes):
        return True
    if pair.one_subject and pair.alike >= 0.5 and pair.newer.kind == "decision" and pair.own_words:
        return True
    if pair.one_topic and pair.changes and pair.alike >= 0.3 and pair.newer.kind == pair.older.kind:
        return True
    if pair.changes:
        if pair.telling >= ORDINARY and pair.cover >= 0.3 and _other_names(pair) and wording.MOVED.search(pair.new.text):
            return True
        needed = 0.5 if pair.telling < NAME else 0.4 if pair.telling < 1.6 else 0.36
        return pair.telling >= ORDINARY and pair.alike >= needed
    return _other_names(pair) and pair.telling >= 1.2 and pair.cover >= 0.4 and pair.alike >= 0.45


def _other_names(pair: Sides) -> bool:
    """Whether each names something that the other does not."""
    return all(
        any(word.weight >= NAME and word.key not in other.keys for word in mine.words)
        for mine, other in ((pair.new, pair.old), (pair.old, pair.new))
    )


def _which(pair: Sides) -> str:
    """Of two that cannot both hold: whether the newer is meant to take the older one's place."""
    ordered = pair.newer.kind in ("decision", "instruction", "correction") and wording.ORDERED.search(pair.new.text)
    if pair.soft and not ordered:
        return "contradicts"
    if pair.changes:
        return "supersedes"
    if pair.newer.kind in ("fact", "preference"):
        return "contradicts"
    if pair.newer.kind == "instruction" and pair.released:
        return "supersedes"
    against = pair.flipped >= ORDINARY or pair.opposed or _optional(pair)
    if pair.newer.kind == "instruction" and (pair.older.kind == "preference" or against):
        return "contradicts"
    return "supersedes"


def _closes(pair: Sides) -> str:
    """Whether the newer one says that the older one, a task, is done or is another by now."""
    if pair.newer.kind == "task":
        return "supersedes" if pair.telling >= 1.2 and (pair.changes or pair.again or _postpones(pair)) else ""
    if pair.changes and pair.flipped >= 1.2:
        return "supersedes"  # it will not be done
    if pair.two_things and pair.newer.kind != "task" and not pair.changes:
        return ""
    if wording.CLOSED.search(pair.new.text):
        return "supersedes" if pair.telling >= NAME or (pair.telling >= ORDINARY and pair.alike >= 0.25) else ""
    done = wording.DONE.search(pair.new.text.replace("'s ", " is "))
    return "supersedes" if done and pair.telling >= ORDINARY and (pair.telling >= NAME or pair.alike >= 0.45) else ""


def _postpones(pair: Sides) -> bool:
    return any(new.type in ("month", "date", "weekday") for new, _ in pair.values_differ)


def _agrees(pair: Sides) -> str:
    """Whether they say the same of one thing, in almost the same words or in others."""
    if (pair.two_places if pair.again else pair.two_things) or pair.values_differ or pair.opposed or pair.flipped >= ORDINARY:
        return ""
    if pair.cover >= 0.9 and pair.alike >= 0.9:
        return "same"
    kinds = {pair.newer.kind, pair.older.kind}
    if "task" in kinds or "lesson" in kinds:
        return "reinforces" if len(kinds) == 1 and pair.cover >= 0.7 and pair.alike >= 0.75 else ""
    if pair.again and pair.telling >= ORDINARY and pair.cover >= 0.25:
        return "reinforces"
    if pair.cover >= 0.6 and pair.alike >= (0.75 if pair.own_words else 0.6):
        return "reinforces"
    return ""


_MARKED: Final = (_ends, _denies, _sets_otherwise, _weighs, _rivals, _hands_over, _has_other_value, _has_other_name, _other_names,
                  _optional, _agrees)  # fmt: skip


def says_change(told: Told) -> bool:
    """Whether a statement says that something is another way than before."""
    return wording.CHANGE.search(read(told.text).text) is not None or bool(told.detail.get("instead_of"))
