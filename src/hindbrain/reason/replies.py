"""A user's reply to a proposal -> yes, a pick among what was offered, or neither (English, German, Spanish).

Only the first words count: they answer, what follows goes on. A question, a refusal or a "but" agrees to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hindbrain.reason.causes import any_of
from hindbrain.reason.own_words import BLANK, own

_HEAD: Final = 240  # letters of a reply that can be its answer
_YES: Final = re.compile(
    r"(?:(?:ok(?:ay|i|ie)?|k|oh|ah|haha|lol|hm+|um|well|right|alright|great|cool|nice|good|oh well|so|na|nun|gut|super|schön|"
    r"bueno|pues|venga|ah[ií] va|"
    r"fair enough|thanks|thx|danke|gracias)[,.!:;)\s-]+){0,3}"
    r"(?P<yes>y(?:es+|eah?|ep|up|ess)\b|sure\b|agreed?\b|i agree|deal\b|done deal|(?:that |it |this )?(?:sounds?|"
    r"looks?) (?:very |really |pretty |quite )?"
    r"(?:good|great|right|fine|reasonable|sane|sensible|like a plan|perfect|ok)|(?:that |it |this )?(?:makes|make) (?:total |"
    r"perfect |a lot of )?sense|"
    r"(?:please )?(?:go|go ahead|go for (?:it|that)|do (?:it|that|so|the|this|exactly)|proceed|ship it|make it so)\b|"
    r"let'?s (?:do|go with|take|use|have) (?:that|it|this|so|exactly|your|the)\b|"
    r"works for me|fine (?:by|with) me|i'?m (?:fine|ok|happy) with|i(?:'d| would)? (?:like|love) (?:that|it|this)|love (?:it|"
    r"that)|\+1|👍|✅|perfect\b|exactly\b|"
    r"(?:that'?s|that is|exactly) (?:what i|how i|fine|good|it|perfect|the one|exactly)|good (?:idea|plan|call|point)|"
    r"absolutely|definitely|"
    r"ja\b|jap?\b|jo\b|jep\b|jawohl|passt\b|klingt (?:\w+ )?(?:gut|vernünftig|sinnvoll|plausibel|prima|nach)|mach(?:en wir|"
    r"e?n?)? (?:das |es |mal |bitte )?(?:so|das|es)\b|so machen|"
    r"einverstanden|genau\b|gerne?\b|finde? ich (?:auch )?gut|gute idee|nehmen wir|bin dabei|leg los|abgemacht|perfekt\b|"
    r"in ordnung|geht klar|stimme zu|"
    r"s[ií]\b(?! (?:eso|no|hay|es que))|vale\b|dale\b|perfecto\b|de acuerdo|hecho\b|adelante\b|me (?:gusta|parece (?:bien|"
    r"perfecto|genial)|cuadra|vale|convence)|suena bien|"
    r"hazlo|as[ií] (?:mismo|lo|está bien|vale)|claro\b|eso es|genial\b|buena idea|tira\b|trato hecho|conforme|ok(?:ay)?\b|"
    r"great\b|fine\b|good\b|cool\b|nice\b|alright\b|gut\b|super\b|bueno\b)",
    re.IGNORECASE)  # fmt: skip
_WEAK: Final = re.compile(r"(?:ok(?:ay)?|great|fine|good|cool|nice|alright|gut|super|bueno|perfect|perfecto|perfekt|genial|"
                          r"vale|passt|genau|exactly|claro|hecho)$", re.IGNORECASE)
_NO: Final = re.compile(
    r"\b(?:no|nope|nah|not|don'?t|never|neither|none|but|however|except|rather|instead|wait|stop|hold on|hmm+|later|yet|unless|"
    r"maybe|let me think|think about|not sure|dunno|although|"
    r"nein|nee|nicht|kein\w*|aber|lieber|stattdessen|warte|stopp|später|außer|vielleicht|überleg\w*|keine ahnung|"
    r"tampoco|pero|mejor|espera|para nada|todavía|quizás?|luego|salvo|ni idea|me lo pienso)\b|\?",
    re.IGNORECASE)  # fmt: skip
_LEADING_NO: Final = re.compile(r"(?:no|nope|nah|nein|nee)\b[,.!: ]{1,3}", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[\n!;?]|\.(?:\s|$)")
_CLAUSE_END: Final = re.compile(r",|\s[–-]\s|:\s")
_LIKE_THAT: Final = re.compile(r"\b(?:like that|that way|as you say|exactly (?:so|that|like)|do (?:that|it)|"
                               r"mach(?:en wir)? (?:das |es )?(?:so|das)|genau so|so machen|as[ií]|hazlo|adelante|leg los|"
                               r"mach(?:en wir)?(?:'s| es)?|go(?: ahead| for it)?[.!]*$|love it)(?=\W|$)", re.IGNORECASE)
_PLACES: Final = (
    ("first", "1st", "former", "erste", "ersteres", "primera", "primero", "primer", "number one", "one", "a", "1"),
    ("second", "2nd", "latter", "zweite", "letztere", "letzteres", "segunda", "segundo", "number two", "two", "b", "2"),
    ("third", "3rd", "dritte", "tercera", "tercero", "tercer", "number three", "three", "c", "3"),
    ("fourth", "4th", "vierte", "cuarta", "cuarto", "four", "d", "4"),
    ("fifth", "5th", "fünfte", "quinta", "quinto", "five", "e", "5"),
)
_PLACE_OF: Final = {word: place for place, words in enumerate(_PLACES) for word in words}
_ORDINAL: Final = (
    r"first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|former|latter|last|(?:erst|zweit|dritt|viert|fünft)e[snr]?|letztere?s?|"
    r"primer[ao]?|segund[ao]|tercer[ao]?|cuart[ao]|quint[ao]|últim[ao]"
)
_NOUN: Final = r"one|option|variante?|approach|choice|way|idea|opción|vorschlag|weg|lösung"
_ENDED: Final = (
    r"(?= ?(?:$|[,.!;:)]| (?:it is|is|sounds?|looks|then|please|pls|bitte|for|because|since|with|dann|klingt|gefällt|passt|ist|"
    r"weil|me|parece|suena|por|porque|y|and|und)\b))"
)
_PICK: Final = any_of(
    rf"(?:^|[,.] )(?:(?:yes|yeah|ok|ja|sí|then|dann|rather)[, ]+)?(?P<first>{_ORDINAL})(?: (?:{_NOUN}))?{_ENDED}",
    rf"\b(?:the|die|der|das|den|dem|la|el|lo|your)\s+(?P<ordinal>{_ORDINAL})(?: (?:{_NOUN}))?{_ENDED}",
    r"\b(?:option|variante?|number|nr\.?|nummer|plan|opción|approach|lösung|no\.)\s?[#(]?(?P<named>[a-e]|[1-5])\b",
    r"^(?:(?:ok(?:ay)?|yes|yeah|ja|sí|si|dann|let'?s|then|pues|venga)[, ]+){0,3}(?:(?:go|do|take|use|i'?ll take|i'?d take|nimm|"
    r"nehmen wir|vamos|tira|i vote|let'?s do)"
    rf"(?: (?:with|for|con|mit))? )?\(?(?P<bare>[a-e]|[1-5])\)?{_ENDED}(?! (?:and|y|und)\b)",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """How a user answered."""

    yes: bool = False
    strong: bool = False  # more than a friendly noise
    like_that: bool = False  # agrees to a way of doing something
    pick: int | None = None  # place of what was chosen among what was offered, -1 for the last
    rest: str = ""  # what follows the pick or, in its own clause, the yes


_NOTHING: Final = Reply()


def reply(text: str) -> Reply:
    """How this message answers what stands before it."""
    head = own(text[:4 * _HEAD]).replace(BLANK, " ").strip()[:_HEAD]
    first = _SENTENCE_END.split(head, maxsplit=1)[0]
    if head[len(first):len(first) + 1] == "?":
        return _NOTHING
    chosen = _LEADING_NO.sub("", first, count=1)
    found = _PICK.search(chosen)
    place = _place(found) if found else None
    yes = _YES.match(first)
    if found and place is not None and not _NO.search(chosen):
        return Reply(yes=True, strong=True, pick=place, rest=chosen[found.end():].strip(" ,.!:()"))
    if not yes or _NO.search(first[yes.end():]):
        return _NOTHING
    like_that = _LIKE_THAT.search(first) is not None
    strong = like_that or not _WEAK.match(yes.group("yes").strip())
    if not strong and "?" in head:
        return _NOTHING
    clause = _CLAUSE_END.split(first[yes.end():].lstrip(" ,.!:"), maxsplit=1)[0]
    return Reply(yes=True, strong=strong, like_that=like_that, rest=clause.strip(" ,.!"))


def _place(found: re.Match[str]) -> int | None:
    word = next(value for value in found.groupdict().values() if value).lower()
    if word in ("last", "último", "última"):
        return -1
    return next((place for form, place in _PLACE_OF.items() if word == form or _is_form(word, form)), None)


def _is_form(word: str, form: str) -> bool:
    """The same ordinal with another ending."""
    return len(form) > 4 and word.startswith(form[:-1])
