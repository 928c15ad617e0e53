"""A clause in its context -> what is done by saying it: a rule, a liking, something put right, a choice, a task, a way, a fact;
or nothing to keep.

The first that fits decides, the plainest cues first. What asks, wonders, withdraws or tells of another place or time is never
kept.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.cues import Cues
from hindbrain.reason.forms import (
    SPECIFIC,
    WORD,
    Context,
    contracted,
    loose,
    offered,
    orders,
    silent,
    specific,
    unquoted,
    verbless,
)
from hindbrain.reason.gate import GUESSED
from hindbrain.reason.guesses import fragment, other_value, postponed, says_how_it_is

# the more specific first: of two that fit, this one is kept
STRENGTH: Final = ("procedure", "task", "preference", "instruction", "correction", "decision", "lesson", "fact", "")


def kind_of(text: str, lead: str, context: Context) -> tuple[str, float]:
    """The kind of what is said, and how sure that is. lead: the words that were cut from its front."""
    low = unquoted(text.lower())
    kind, sure = _kind(text, low, lead, context)
    short = contracted(low) if sure <= GUESSED and context.language == "en" else low
    if short != low and _may_change(low, context):
        shorter, surer = _kind(text, short, lead, context)
        return (shorter, surer) if surer > sure else (kind, sure)
    return kind, sure


def _may_change(low: str, context: Context) -> bool:
    """Whether it was not kept out for what it asks or leaves open."""
    return not silent(low, context.cues) and not loose(low, context.cues)


def _kind(text: str, low: str, lead: str, context: Context) -> tuple[str, float]:
    cues = context.cues
    if silent(low, cues):
        return "", 0.0
    if _procedure(low, cues):
        return "procedure", 0.8
    if loose(low, cues):
        return "", 0.0
    for kind, confidence, fits in _TESTS:
        if fits(text, low, lead, context):
            return kind, confidence
    return "", 0.0


def _procedure(low: str, cues: Cues) -> bool:
    many = low.count(", ") + low.count("->") + low.count("→")
    if not many or cues.has("polite", low):
        return False
    joined = many + sum(low.count(each) for each in (" and ", " und ", " y "))
    if cues.has("procedure", low) and (cues.has("step", low) or "`" in low or (joined >= 2 and not cues.has("past", low))):
        return True
    tail = low.partition(": ")[2]
    return tail.count(", ") >= 2 and (cues.has("step", tail) or tail.count("`") >= 4) and not cues.has("prefer", low)


def _by_command(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    return "`" in low and cues.has("by_command", low) and not orders(low, cues) and not cues.has("momentary", low)


def _task(text: str, low: str, lead: str, context: Context) -> bool:
    return context.cues.has("task", low) or (context.cues.has("due", low) and context.cues.has("owed", low) and not context.asks)


def _instruction(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    if cues.has("others", low):
        return False
    words = len(WORD.findall(low))
    if cues.has("past", low) and not orders(low, cues) and not cues.has("ban", low):
        return False
    if cues.has("ban", low) and context.head:
        return True
    if cues.has("standing", low):  # who does what from now on is how it is
        return not cues.has("role", low) or orders(low, cues) or _STRICT.search(low) is not None
    if words > 2 and (cues.has("reminds", lead) or cues.has("heading", lead)):
        return True
    if cues.has("each", low) and not orders(low, cues) and not context.opening:
        return not cues.has("weak_subject", low) or cues.has("decide", low)
    if cues.has("solely", low) and context.acted and context.begins and verbless(low, cues):
        return True
    # "commits in English please": no verb, a manner, a wish
    wished = cues.has("polite", low) and cues.has("manner", low) and words > 2 and not cues.has("weak_subject", low)
    return wished and not orders(low, cues) and not cues.has("fact", low) and not context.opening


def _preference(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    return cues.has("prefer", low) and not cues.has("wants", low) and not cues.has("others", low)


def _correction(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    least = 2 if cues.has("puts", low) and (lead or orders(low, cues)) else 3 if specific(text, context.language) else 4
    if not context.acted or len(WORD.findall(low)) < least:
        return False
    contradicts = context.wrong or cues.has("wrong_in", low) or (context.early and cues.has("wrong", low))
    contradicts = contradicts or other_value(text, low, context)
    return contradicts and not cues.has("ack", low)


def _decision(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    if cues.has("others", low):
        return False
    if context.reversed and len(WORD.findall(low)) > 1:
        return True
    if cues.has("decide", low) or cues.has("it_is", low) or (context.reply and context.head and cues.has("picks", low)):
        return True
    bare = verbless(low, cues)
    if bare and context.acted and context.begins and (cues.has("everywhere", low) or cues.has("without", low)):
        return True
    return (cues.has("then", low) and bare) or _laid_down(low, context) or _answer(low, lead, context)


def _laid_down(low: str, context: Context) -> bool:
    """What something shall be like, as a list: "exit codes like grep: 0 match, 1 no match, 2 error"."""
    head, _, tail = low.partition(": ")
    return not context.opening and tail.count(", ") >= 2 and 0 < len(WORD.findall(head)) <= 5 and verbless(low, context.cues)


def _answer(low: str, lead: str, context: Context) -> bool:
    """A few words without a verb that name something the assistant had offered."""
    if not context.reply or len(low) > 60 or not (context.first or context.cues.has("concludes", lead)):
        return False
    if not verbless(low, context.cues):
        return False
    return offered(low, context)


def _fact(text: str, low: str, lead: str, context: Context) -> bool:
    cues = context.cues
    if cues.has("introduces", low):
        return True
    if orders(low, cues) or cues.any(("momentary", "others", "ack"), low) or len(WORD.findall(low)) < 4:
        return False
    if cues.has("role", low) and (not cues.has("past", low) or cues.has("changed", low)):
        return True
    if not cues.has("fact", low):
        return False
    told, changed = cues.has("info", lead), cues.has("changed", low)
    if not told and (cues.has("weak_subject", low) or cues.has("felt", low) or (cues.has("past", low) and not changed)):
        return False
    if context.opening and context.early and not told:
        return len(SPECIFIC.findall(text)) > 1 and (changed or text.count(",") + text.count("+") > 1)
    return told or specific(text, context.language)


_STRICT: Final = re.compile(
    r"n't\b|\b(?:always|never|must|only|no|not|nobody|every|each|before|without|immer|nie|niemals|muss|müssen|darf|dürfen|nur|kein\w{0,2}"
    r"|nicht|jede\w?|siempre|nunca|sólo|solo|debe\w?|cada|sin)\b"
)
_TESTS: Final = (
    ("task", 0.75, _task), ("preference", 0.8, _preference), ("instruction", 0.85, _instruction),
    ("correction", 0.8, _correction), ("decision", 0.75, _decision), ("procedure", 0.6, _by_command), ("fact", 0.6, _fact),
    ("task", 0.6, postponed), ("decision", GUESSED, fragment), ("fact", GUESSED, says_how_it_is),
)  # fmt: skip
