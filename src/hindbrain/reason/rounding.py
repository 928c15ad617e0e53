"""The words of a statement and what stood before them -> a text that stands by itself, and where it holds.

Nothing of what was said is changed or shortened: a subject that only the context gives is put in front. Reasons (grounds.py) and
alternatives (rivals.py) are copied out of the words.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.clauses import sentences
from hindbrain.reason.forms import Context, silent
from hindbrain.reason.holding import holds_everywhere
from hindbrain.reason.values import ORDINARY, read

_TAIL: Final = 300  # letters before a statement that may name what its pronoun means
_THING: Final = re.compile(r"`[^`\n]{2,60}`|\b[A-Za-z]\w{1,40}[/_.@-]\w[\w/.@-]{0,60}")
_PERSON: Final = re.compile(r"(?<=[a-z,:] )[A-Z][\w-]{1,40}")
_TAKES_UP: Final = re.compile(r"\b(?:it|that|them|those|these|this|das|es|dies\w{0,2}|eso|esto|lo(?! (?:de|que)))\b", re.I)
_HE: Final = ("he", "she", "er ", "sie ", "él", "ella")


def standing_alone(text: str, before: str, context: Context) -> str:
    """With what its pronoun means in front, where the words before it or the assistant's last ones name it."""
    if not context.cues.has("pronoun", text.lower()):
        return text if _names_something(text) else _led(text, before, context)
    kind = _PERSON if text.lower().startswith(_HE) else _THING
    for source in (before[-_TAIL:], context.reply[-_TAIL:]):
        names = kind.findall(source)
        if names:
            name = names[-1].strip("`.,:/-")
            return text if name.lower() in text.lower() else f"{name}: {text}"
    return text


def _names_something(text: str) -> bool:
    """Whether it says what it is about, or takes up nothing: "make it 25" does neither."""
    return not _TAKES_UP.search(text) or any(each.weight >= ORDINARY for each in read(text).words)


def _led(text: str, before: str, context: Context) -> str:
    """With the sentence right before it: "40 rows are a lot on a phone. Make it 25"."""
    for sentence in sentences(before[-_TAIL:])[-1:]:
        low = sentence.text.lower()
        said = any(each.weight >= ORDINARY for each in read(sentence.text).words)
        if said and sentence.mark != "?" and not silent(low, context.cues) and not context.cues.has("ack", low):
            return f"{' '.join(sentence.text.split()).rstrip(' .,;:')}. {text}"
    return text


def scope_of(kind: str, text: str) -> str:
    """Everywhere for how a person wants to be talked to, or what they say so of; here for the rest."""
    return "global" if holds_everywhere(kind, text) else "project"
