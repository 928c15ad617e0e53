"""What a model wrote, and the words it should rest on -> what of it was not said there, or nothing.

A quote proves that a turn was read, not that the text beside it says what the turn says. So the text itself is held against the
words: every name in it (of a package, a tool, a file, an address, a command, a person) has to stand there, and most of its other
words in one of their forms. A rule may be said in other words than the user's; it may not bring in what others said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from hindbrain.reason.families import tools
from hindbrain.reason.own_words import BLANK
from hindbrain.reason.values import stem as cut
from hindbrain.reason.vocabulary import GENERIC, SILENT, plain

SUPPORTED: Final = 0.6  # of the telling words of a text must be among those it rests on
MOST_FOREIGN: Final = 4  # words of the model's own, however long the text
MOST_CHARS: Final = 100_000

_WORD: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W\d_\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_CODE: Final = re.compile(r"`+([^`\n]{1,200})`+")
_PIECE: Final = re.compile(r"[^\s,;!?()\[\]{}\"“”„«»`–—…]+")
_PARTED: Final = re.compile(r"[^\W\d_]{2,}(?:[-/'’][^\W\d_]{1,})+")  # read-only, tabs/spaces, user's: words, if these are said
_MARKED: Final = re.compile(r"[^\W_][^\w\s'’]+\w|\w_\w|^[-.~$@#%/\\|&<>=*+]+\w|[|&<>=*$~\\]|[^\W\d_]\d|\d[^\W\d_]{3,}")
_AMOUNT: Final = re.compile(r"[-+~<>=]*\d[\d.,:_/-]*(?:st|nd|rd|th|[a-z%]{1,3})?", re.IGNORECASE)  # looked at as a number
_ABBREVIATED: Final = frozenset(("e.g", "i.e", "z.b", "d.h", "p.ej", "vs"))
_END: Final = re.compile(r"[.!?;:]+\s+|\n")
_SENTENCE: Final = re.compile(r"(?:^|[.!?:;]\s+|\n\s*)[\"'“„«(*-]*\s*")
_CUT: Final = re.compile(r"\d+|[^\W\d_]+|[^\w\s]|_")
_GERMAN: Final = re.compile(r"\b(?:der|das|den|dem|und|nicht|ist|sind|wir|ein|eine|einen|statt|immer|nie|keine|für|wird)\b")
_SHORT: Final = ((re.compile(r"\bPRs?\b"), " pull request "), (re.compile(r"\bMRs?\b"), " merge request "))
# With these a model tells whose wish it is and how strong, whatever words the user had for that.
_TOLD: Final = frozenset(cut(cut(word)) for word in """
    user users wants want prefer prefers preferred preference like likes dislike dislikes hate hates love loves favour favours
    favor favors asked asks request requested requires require required avoid avoids ensure ensures expect expects expected
    insist insists instruct instructs instruction never always must should during whenever wherever every everywhere regarding
    refrain allowed forbidden use used uses using keep keeps make makes made instead rather project repo team
    nutzer benutzer bevorzugt bevorzuge moechte vermeiden vermeide immer niemals usuario
    prefiere quiere desea evitar evita siempre nunca
""".split())  # noqa: SIM905


def unsaid(text: str, words: str, least: float = SUPPORTED) -> str:
    """What a text says and these words do not: a name, or the first of too many words; "" where they support it."""
    text, words = _read(text), _read(words)
    return next(_foreign_names(text, words), "") or _too_many(text, words, least)


def taken_over(text: str, words: str, others: str) -> str:
    """A telling word of a text that is not in these words and is in what others said; "" for none."""
    held, theirs = _stems(_read(words)), _stems(_read(others))
    own = (word for word in _telling(_read(text)) if word not in GENERIC)
    return next((word for word in own if stem(word) not in held and stem(word) in theirs), "")


def foreign_names(text: str, words: str) -> Iterator[str]:
    """Names in a text that do not stand in these words."""
    yield from _foreign_names(_read(text), _read(words))


def telling(text: str) -> list[str]:
    """The words of a text that tell something, each once, in plain letters."""
    return _telling(_read(text))


def said_stems(words: str) -> frozenset[str]:
    """What the forms of all these words have in common, each."""
    return _stems(_read(words))


def stem(word: str) -> str:
    """What the forms of a word have in common: cut twice, since what is cut once may end like another form."""
    return cut(cut(word))


def _read(text: str) -> str:
    text = text[:MOST_CHARS].replace(BLANK, " ")
    for short, whole in _SHORT:
        text = short.sub(whole, text)
    return text


def _too_many(text: str, words: str, least: float) -> str:
    """The first word that is not said, where it is so of too many: in one of the sentences, or in all of them."""
    held, count = _stems(words), 0
    for sentence in _END.split(text):
        asked = _telling(sentence)
        foreign = [word for word in asked if stem(word) not in held]
        count += len(foreign)
        if foreign and (len(asked) - len(foreign) < least * len(asked) or count > MOST_FOREIGN):
            return foreign[0]
    return ""


def _telling(text: str) -> list[str]:
    """The words of a text that tell something, each once."""
    found = dict.fromkeys(_WORD.findall(plain(text)))
    return [word for word in found if word not in SILENT and stem(word) not in _TOLD]


@lru_cache(64)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(plain(text)))


def _foreign_names(text: str, words: str) -> Iterator[str]:
    """Names in a text that do not stand in these words."""
    low, held, german = plain(words), _stems(words), _GERMAN.search(text) is not None
    yield from (code[1] for code in _CODE.finditer(text) if not _stands(plain(code[1]), low))
    for piece, begins in _pieces(text):
        if _PARTED.fullmatch(piece):
            if not all(stem(part) in held for part in _telling(piece)):
                yield piece
        elif _MARKED.search(piece):
            if not _AMOUNT.fullmatch(piece) and not _stands(plain(piece), low):
                yield piece
        elif _capital(piece, begins, german) and not all(stem(word) in held for word in _telling(piece)):
            yield piece
    known = {name for _, name in tools(low)}
    yield from sorted(name for _, name in tools(plain(text)) if name not in known and name not in GENERIC)


def _pieces(text: str) -> Iterator[tuple[str, bool]]:
    """What stands between spaces, without the marks of its sentence, and whether a sentence begins with it."""
    begins = {found.end() for found in _SENTENCE.finditer(text)}
    for found in _PIECE.finditer(text):
        piece = found[0].rstrip(".:'’*").lstrip("'’*")
        if any(map(str.isalnum, piece)) and piece.lower() not in _ABBREVIATED:
            yield piece, found.start() in begins


def _capital(piece: str, begins: bool, german: bool) -> bool:
    """Whether its capitals say that it is a name: one inside of a sentence, unless all nouns have one; two anywhere."""
    return any(letter.isupper() for letter in piece[1:]) or (piece[0].isupper() and not begins and not german)


def _stands(name: str, words: str) -> bool:
    """Whether a name stands in the words as it is written, except for space between its parts."""
    parts = _CUT.findall(name)
    pattern = r"(?<![^\W_])" + r"\s*".join(re.escape(part) for part in parts) + r"(?![^\W_])"
    return not parts or re.search(pattern, words) is not None
