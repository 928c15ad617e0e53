"""The words of a choice -> what it names as not taken, or left behind.

"Instead of X" and "we dropped X" always name such a thing. A mere "not X", "no X" or "from X" does so only where X stands against
what was taken: "Kotlin, not Java", "in test/, not in src/", "from MySQL to PostgreSQL". "Because the team knows no Dart" says
something of the team, and turns nothing down.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason.cues import COMMON
from hindbrain.reason.families import tools
from hindbrain.reason.forms import WORD, Context
from hindbrain.reason.vocabulary import plain

# "not X" and "from X" name what is left behind only where X is a name; "instead of X" always does.
_WEAK: Final = ("no ", "not ", "from ", "over ", "kein", "nix ", "nicht ", "ohne ", "von ", "sin ", "nada ")
_FROM: Final = ("from ", "von ")
_JOINS: Final = (" and", " but", " und", " aber", " y", " pero")
_FEW: Final = 5  # words of a choice that says little by itself
_NAME: Final = r"([\w`@/.+äöüáéíóúñß-]+)"
_NO_LONGER: Final = re.compile(
    r"(?:no longer|ya no) ((?:use|uses|using|on|in|want|wants|need|needs|run|runs|usamos|usa) )?(?:the |our |el |la )?" + _NAME
)
_VERSION: Final = re.compile(r"(?!(?:on|in|at|to|by|of|as)\b)[A-Za-z][\w.+-]* v?\d[\w.]*")
_REPLACED_BY: Final = re.compile(
    _NAME + r" (?:is|are|was|were|gets?|got|been|being|be) (?:now |being )?(?:replaced|superseded) (?:by|with)\b"
)
_PLACED: Final = re.compile(
    r"(in|on|at|to|into|under|with|via|per|as|auf|im|mit|unter|nach|als|en|con|por|como) " + _NAME
)
_CLASS: Final = re.compile(
    r"(?:nightly|daily|weekly|hourly|old|whole|full|legacy|column|table|file|folder|service|package|library|field|flag|job)"
    r"(?: (?!(?:and|or|from|in|on|for|to|with|by|at|as|because|since|so|but|is|are|was|were)\b)[\w`@/.+-]+){1,3}", re.IGNORECASE,
)  # fmt: skip
_LEAVES: Final = re.compile(
    r"\b(?:mov\w+|switch\w*|migrat\w+|chang\w+|away|com(?:e|ing)|went|port\w*|umge\w+|umstell\w*|wechsel\w*|gewechselt|weg"
    r"|migrier\w*|umstieg|steig\w*|zieh\w*)\b"
)
_TO: Final = re.compile(r"(?: [\w`@/.+-]+){0,3} (?:to|over to|zu|auf|nach)\b")
_CHOOSES: Final = re.compile(
    r"\b(?:choose|chose|chosen|choosing|pick\w*|prefer\w*|favou?r\w*|take|took|taken|go(?:ing)? (?:with|for)|went|use|want|rather"
    r"|like)\b"
)
_BUT_RATHER: Final = re.compile(r",? (?:but|sondern|sino)\b")
_NOTHING: Final = """
    in on at by to of as any more longer just only that this it them there here today now yet sure need way one ones
    im am zu mehr so da dort hier heute jetzt noch nur mal en al por con más aquí allí hoy ahora hay quiero es
"""
_NO_NAME: Final = frozenset(_NOTHING.split())


def instead_of(text: str, context: Context) -> str:
    """What it names as not taken, or left behind."""
    low = text.lower()
    if len(low) != len(text):
        return ""
    passive = _REPLACED_BY.search(low)
    if passive:
        return _named(text[passive.start(1) : passive.end(1)])
    at = 0
    while found := context.cues.find("instead", low[at:]):
        start, opener = at + found.start(), found[0][: found.start(1) - found.start()]
        name = _turned_down(text, start, opener, (at + found.start(1), at + found.end(1)), context)
        if name:
            return name
        at = max(at + found.start(1), start + 1)
    return ""


def beside_it(text: str, name: str) -> str:
    """What the sentences beside a choice turn down, where both are for one thing or the choice is short."""
    mine, theirs = ({purpose for purpose, _ in tools(plain(each))} for each in (text, name))
    return name if mine & theirs or len(WORD.findall(text)) <= _FEW else ""


def _turned_down(text: str, start: int, opener: str, place: tuple[int, int], context: Context) -> str:
    """The name behind words that turn something down. place: where it stands."""
    low, (begin, end) = text.lower(), place
    used = _NO_LONGER.match(low, start)  # "no longer use X": the verb names nothing
    if used and not used[1] and text[used.start(2)].islower():
        return ""  # "no longer happen"
    if used or not opener.startswith(_WEAK):
        begin, end = used.span(2) if used else place
        more = _CLASS.match(text, begin) or _VERSION.match(text, begin)  # "the nightly full reindex", "iOS 15"
        return _named(text[begin : more.end() if more else end])
    placed = _PLACED.match(low, begin)
    if placed:  # "in test/, not in src/": both are named in the same way
        again = f" {placed[1]} " in f" {low[:start]}"
        return _named(text[placed.start(2) : placed.end(2)]) if again and _contrasts(low, start, placed.end(2), context) else ""
    name = _named(text[begin:end])
    known = not name.islower() or name.lower() in set(WORD.findall(context.reply.lower()))
    return name if name and known and _leaves(low, start, end, opener, context) else ""


def _leaves(low: str, start: int, end: int, opener: str, context: Context) -> bool:
    """Whether "from X", "over X" or "not X" leaves something behind here."""
    if opener.startswith(_FROM):
        return _LEAVES.search(low[:start]) is not None or _TO.match(low, end) is not None
    if opener.startswith("over "):
        return _CHOOSES.search(low[:start]) is not None
    return _contrasts(low, start, end, context)


def _contrasts(low: str, start: int, end: int, context: Context) -> bool:
    """Whether a "not X" stands against what is said before it or comes next, and is not said of something else."""
    before = low[:start].rstrip()
    apart = not before or before[-1] in ",;:.!?(–—-" or before.endswith(_JOINS)
    if not apart and not _BUT_RATHER.match(low, end):
        return False
    return context.cues.find("why", low[:start]) is None or before[-1:] in (",", ";")


def _named(name: str) -> str:
    """A name, or "" for a word that names nothing."""
    bare = name.strip("`.,: ")
    return "" if bare.lower() in COMMON or bare.lower() in _NO_NAME or len(bare) < 2 or bare.isdigit() else bare
