"""A clause without a cue -> a choice, a fact, a task or something put right, by its form alone.

In a session of work nearly everything a user states is about the work. A few words without a verb that name something choose it;
a sentence in the present tense says how something is; an order that is not for now is left to do.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.forms import WORD, Context, offered, orders, specific, verbless
from hindbrain.reason.gate import is_technical

# begins what goes with something else, or says what comes next in the talk
_LEANS: Final = re.compile(
    r"(?:(?:only|just|but|and|or|erst|nur|aber|und|solo|pero|y) )?(?:if|when|once|unless|until|till|because|since|as|so|while"
    r"|than|one|some|same|like|yet|next|now|today|again|falls|wenn|sobald|weil|bis|solange|als|damit|jetzt|heute|nächste\w?|nein|noch"
    r"|si|cuando|porque|hasta|mientras|que|ahora|hoy|lo de|la de|he|hundreds|a lot|lots)\b"
)
_FEWEST: Final = 4  # words that say how something is
_FRAGMENT: Final = 7  # words of a choice that has no verb
_NUMBER: Final = re.compile(r"\d+")


def fragment(text: str, low: str, lead: str, context: Context) -> bool:
    """A few words without a verb, at the beginning of a sentence, that name something: people who type little choose so."""
    cues, head = context.cues, text.partition(",")[0]
    small, words = head.lower(), len(WORD.findall(head))
    if context.opening or context.asks or not context.begins or words > _FRAGMENT or not verbless(small, cues):
        return False
    if cues.any(("others", "momentary", "heading"), low) or _LEANS.match(low) or "://" in head:
        return False
    if specific(head, context.language) or is_technical(head) or offered(small, context):
        return True
    return context.acted and words > 2 and cues.any(("manner", "changed"), small)


def names_alone(text: str, context: Context) -> bool:
    """Whether it is no more than a name the assistant had put forward."""
    low = text.lower()
    return bool(context.reply) and len(WORD.findall(low)) <= 3 and verbless(low, context.cues) and offered(low, context)


def postponed(text: str, low: str, lead: str, context: Context) -> bool:
    """An order that is not for now."""
    return context.cues.has("later", low) and orders(low, context.cues)


def says_how_it_is(text: str, low: str, lead: str, context: Context) -> bool:
    """Something is said of something of the project, in the present tense: how it is, unless it is said of this moment."""
    cues, words = context.cues, len(WORD.findall(low))
    if context.opening or context.asks or words < _FEWEST or " " not in low or orders(low, cues) or _LEANS.match(low):
        return False
    if cues.any(("momentary", "others", "ack", "weak_subject", "felt"), low):
        return False
    if (cues.has("past", low) and not cues.has("changed", low)) or 2 * len(_NUMBER.findall(low)) > words:
        return False  # told, or a row of numbers
    return specific(text, context.language) or is_technical(text) or (cues.has("fact", low) and words > _FRAGMENT)


def other_value(text: str, low: str, context: Context) -> bool:
    """Whether a few words put another number in the place of the one the assistant just took, having asked nothing."""
    head, reply = text.partition(",")[0], context.reply
    if not reply or not context.first or "?" in reply or len(WORD.findall(head)) > 4 or not verbless(head.lower(), context.cues):
        return False
    numbers, told = set(_NUMBER.findall(head)), set(_NUMBER.findall(reply))
    return bool(numbers and told) and numbers.isdisjoint(told)
