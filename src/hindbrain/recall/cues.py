"""Words -> whether a question asks for how things are or how they were, and whether a statement says that something changed.

Lists of English words, and no more than that: they decide between statements that speak of one thing, and find none.
"""

from __future__ import annotations

import re
from typing import Final

_PAST: Final = re.compile(
    r"\b(first|earlier|previous|previously|initial|initially|original|originally|before|ago|between|prior|old|older|oldest"
    r"|order (?:of|in which)|in (?:what|which) order|used to|formerly|back then|at the time|in the past|history|changed from)\b"
)
# Of these, the ones that ask for an earlier state; the others may count days or ask for an order.
_FORMER: Final = re.compile(
    r"\b(earlier|previous|previously|initial|initially|original|originally|before|old|older|at first|used to|formerly|back then"
    r"|in the past|changed from)\b"
)
_PRESENT: Final = re.compile(
    r"\b(now|current|currently|today|latest|still|these days|at the moment|most recent|most recently|nowadays)\b"
)
_EVENT: Final = re.compile(r"\b(did|was|were|had|has)\b|\bwhen (?!do|does|is|are|will)")
# A question that names a time asks for what was said of it, whatever came later.
_DATED: Final = re.compile(
    r"\b(january|february|march|april|june|july|august|september|october|november|december|(?:19|20)\d\d|yesterday"
    r"|last (?:week|weekend|month|year|night|summer|winter|spring|autumn|fall)|in may)\b"
)
_CHANGE: Final = re.compile(
    r"\b(instead|stop (?:\w+ing)|from (?:now|today) on|from today|no longer|not? any ?more|no more|any longer|after all|actually"
    r"|on second thought|scratch (?:that|the)|never ?mind|forget (?:that|what|about)"
    r"|chang(?:e|ed|es|ing) (?:[\w'-]+ ){0,6}to|switch(?:ed|es|ing)?|replac(?:e|ed|es|ing)|renam(?:e|ed|es|ing)"
    r"|migrat(?:e|ed|es|ing)|convert(?:ed|ing|s)?|port(?:ed|ing)|drop(?:ped|ping|s)?|mov(?:e|ed|es|ing) (?:[\w'-]+ ){0,5}to"
    r"|revert(?:ed|ing|s)?|roll(?:ed|ing)? back|back to"
    r"|(?:is|are|was|were) (?:gone|out|retired|decommissioned|deleted|deprecated)|retir(?:e|ed|es|ing)|get rid of|got rid of"
    r"|remov(?:e|ed|es|ing)|delet(?:e|ed|es|ing)|lower(?:ed|s|ing)|rais(?:e|ed|es|ing)|bump(?:ed|s|ing)?"
    r"|increas(?:e|ed|es|ing)|decreas(?:e|ed|es|ing)|reduc(?:e|ed|es|ing)|doubl(?:e|ed|es|ing)|halv(?:e|ed|es|ing)"
    r"|turn(?:ed)? (?:off|on)|swap(?:ped|s|ping)?|supersed(?:e|ed|es)|updat(?:e|ed|es|ing)|as of|goes up|go up|is now"
    r"|are now)\b"
)
# What says that something is over; near a name it says that this very thing is.
_OVER: Final = re.compile(
    r"\b(instead of|rather than|not|no longer|no more|any ?more|without|drop(?:ped|ping|s)?|replac(?:e|ed|es|ing)|retired?"
    r"|renam(?:e|ed|es)|is gone|are gone|is out|switched off|turned off|away from|rid of|remov(?:e|ed|es|ing)"
    r"|delet(?:e|ed|es|ing)|decommissioned|deprecated|abandon(?:ed)?|revert(?:ed)?|scratch|disabled?|ditch(?:ed)?|from"
    r"|too \w+|unmaintained|stop)\b"
)
_NEAR_CHARS: Final = 25


def asks_for_past(question: str) -> bool:
    """Whether a question is about how things were, not how they are."""
    lower = question.lower()
    return bool(_PAST.search(lower)) and not _PRESENT.search(lower)


def asks_for_former(question: str) -> bool:
    """Whether it asks for an earlier state of something, rather than for the first of several events, or days since one."""
    return asks_for_past(question) and bool(_FORMER.search(question.lower()))


def asks_for_event(question: str) -> bool:
    """Whether it asks for something that happened, which what happened later does not change."""
    lower = question.lower()
    return bool(_EVENT.search(lower)) and not _PRESENT.search(lower)


def names_a_time(question: str) -> bool:
    """Whether it asks for what was said of a given time."""
    return _DATED.search(question.lower()) is not None


def says_change(text: str) -> bool:
    """Whether a statement says that something is another way than before."""
    return _CHANGE.search(text.lower()) is not None


def says_over(text: str, start: int = 0, end: int | None = None) -> bool:
    """Whether a statement says that something is over; with places, near these."""
    lower = text.lower()
    if end is not None:
        lower = lower[max(0, start - _NEAR_CHARS) : end + _NEAR_CHARS]
    return _OVER.search(lower) is not None
