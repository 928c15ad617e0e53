"""The words of a choice or a rule and what follows them -> the reason they give.

Behind "because" stands the reason, without what is turned down at its end; behind "that's why" stands what follows from it. What
goes on behind a mere comma is a reason mostly, unless it tells the new state of things ("…, they're in Redis now"), a
consequence, a concession or the next thing.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.clauses import sentences
from hindbrain.reason.forms import WORD, Context, orders, silent, specific
from hindbrain.reason.gate import is_technical

_FEWEST: Final = 3  # words of a reason
_BEHIND: Final = 300  # letters behind a choice that may give its reason
# What begins so is the next thing, and no reason for the last one.
_ANOTHER: Final = re.compile(r"(?:and|also|plus|btw|by the way|oh|und|auch|außerdem|übrigens|y|además|también|por cierto)\b")
_THEREFORE: Final = re.compile(r"that['’]s why|deshalb|darum|por eso")
_ELSE: Final = re.compile(r"otherwise|sonst|si no|que si no")  # says the reverse without its first word
_SUBJECT: Final = re.compile(r"(?:da|as|pues) \w+$")  # takes the subject of the reason with it
_OF: Final = ("due to", "thanks to", "wegen", "debido a")  # one word behind them is enough
_LEADING_OF: Final = re.compile(r"(?:of|wegen|de|del)\s+", re.IGNORECASE)
_TURNED_DOWN: Final = re.compile(
    r"\s*[,;]\s+(?:and |und |y )?(?:not|instead of|rather than|nicht|statt|anstatt|no|en vez de|en lugar de) "
    r"(?!(?:because|since|weil|wegen|porque)\b)[\w`@/.+äöüáéíóúñß-]+(?: [\w`@/.+äöüáéíóúñß-]+){0,2}\.?$", re.IGNORECASE,
)  # fmt: skip
_GOES_ON: Final = re.compile(
    r"(?:so+|and|but|or|although|though|even if|please|also|then|therefore|hence|und|aber|oder|auch wenn|obwohl|bitte|dann|y|pero"
    r"|aunque|así que|por favor)\b(?! (?:it|they|that|nobody|no one|there|das|es|niemand|nadie|no)\b)"
)
_NOW_SO: Final = re.compile(
    r"(?:it|that|they|those|these|we|i|everything|all|es|das|sie|die|der|wir|alles|eso|ahora|está|están|son|usamos|todo)"
    r"(?:['’]\w+)?\b"
)
_THERE: Final = re.compile(r"\b(?:there|here|instead|dort|hier|stattdessen|allí|aquí|ahí)\b")
_DENIED: Final = re.compile(
    r"n['’]t\b|\b(?:not|no longer|never|no|dropped|left|stopped|nicht|kein\w{0,2}|nie|ya no|dejamos|quitamos)\b"
)


def why_of(kind: str, text: str, context: Context) -> str:
    """The reason it gives, in its own words: beside "because", else behind the first comma."""
    low = text.lower()
    found = context.cues.find("why", low)
    reason = _beside(text, found) if found is not None and len(low) == len(text) else ""
    if reason or kind != "decision":
        return reason
    head, _, tail = text.partition(", ")
    small = tail.lower()
    if len(WORD.findall(head)) < 2 or len(WORD.findall(tail)) < _FEWEST or not context.cues.has("fact", small):
        return ""
    return "" if context.cues.has("decide", small) or _is_another(head, tail, context) else _bare(tail)[0]


def reason_behind(words: str, context: Context) -> str:
    """The sentence that follows a choice, where it says how something is: people give reasons so."""
    for sentence in sentences(words[:_BEHIND])[:1]:
        low = sentence.text.lower()
        states = context.cues.has("fact", low) and not orders(low, context.cues) and not context.cues.has("ack", low)
        if sentence.mark != "?" and not silent(low, context.cues) and states and not _ANOTHER.match(low):
            return " ".join(sentence.text.split())
    return ""


def _beside(text: str, found: re.Match[str]) -> str:
    """What stands behind a "because", or before a "that's why"."""
    word = found[0]
    if _THEREFORE.fullmatch(word):
        before = text[: found.start()].strip(" ,.:;")
        return before if len(WORD.findall(before)) >= _FEWEST else ""
    if _ELSE.fullmatch(word):
        return text[found.start() :].strip(" ,.:") if len(WORD.findall(text[found.end() :])) >= _FEWEST - 1 else ""
    takes = _SUBJECT.match(word) is not None
    reason, of = _bare(text[found.start() + len(word.split()[0]) if takes else found.end() :])
    fewest = _FEWEST if takes else 1 if of or word in _OF else _FEWEST - 1
    return reason if len(WORD.findall(reason)) >= fewest else ""


def _bare(text: str) -> tuple[str, bool]:
    """A reason without the "of" of "because of" and what is turned down behind it; and whether there was an "of"."""
    said = text.strip(" ,.:")
    of = _LEADING_OF.match(said)
    said = said[of.end() :] if of else said
    return _TURNED_DOWN.sub("", said, count=1).strip(" ,.:"), of is not None


def _is_another(head: str, tail: str, context: Context) -> bool:
    """Whether what stands behind the comma is the new state of things, a consequence or the next thing."""
    low = tail.lower()
    if _GOES_ON.match(low) or orders(low, context.cues):
        return True
    of_it, denied = _NOW_SO.match(low) is not None, _DENIED.search(head.lower()) is not None
    if (of_it and _THERE.search(low)) or ((of_it or denied) and context.cues.has("changed", low)):
        return True
    # "it isn't TypeScript any more, it's plain Python": what is not so, and what is instead
    return of_it and denied and (specific(tail, context.language) or is_technical(tail))
