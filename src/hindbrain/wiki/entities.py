"""A statement's text -> what it speaks of: technologies, identifiers, names, phrases and nouns, each with how sure that is.

No model and no dictionary of the language: the shape of a word, its neighbours and three word lists (`lexicon`) decide. One
statement alone decides nothing: a mention is only evidence, and `worthy` weighs what all statements of a topic have gathered.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntFlag
from functools import lru_cache
from typing import Final

from hindbrain.wiki import lexicon

MOST_LETTERS: Final = 2_000  # of a statement; more is no statement
MOST_MENTIONS: Final = 40
_KEPT: Final = 50_000  # words of which it is known what they are; people use the same ones again and again


class Sign(IntFlag):
    """What speaks for a mention."""

    TECHNOLOGY = 1  # known by name
    CODE = 2  # shaped like an identifier, or written as code
    PROPER = 4  # written as a name
    PERSON = 8  # does what people do
    PHRASE = 16  # two words that stand together
    NOUN = 32  # has an article or the like
    TRADE = 64  # a common noun of the trade
    VERB = 128  # stands where a verb stands


@dataclass(frozen=True, slots=True)
class Mention:
    key: str  # the same for all forms of a word
    shown: str
    signs: Sign


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    bare: str
    first: bool  # begins a sentence
    tight: bool  # nothing but space between it and the one before


_CODE: Final = re.compile(r"`([^`\n]{1,200})`")
_TOKEN: Final = re.compile(r"[$@.~]?[^\W_](?:[\w$+#'’]|[./:@&-](?=\w))*(?:\(\))?|[$_]\w+")
_SENTENCE: Final = re.compile(r"[.!?:;…]\s|\n|[(\"“»]\s*$")
_LINK: Final = re.compile(r"https?://\S{1,300}")
_POSSESSIVE: Final = re.compile(r"['’]s?$")
_HUMP: Final = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]{2}|[A-Z][a-z]+[A-Z]")
_NUMBERED: Final = re.compile(r"[A-Za-z]{2,}[-_]?\d[\w.-]*")
_VERSION: Final = re.compile(r"v?\d[\w.,:/%-]*|[A-Za-z]{1,2}\d{1,4}", re.IGNORECASE)
_FILE: Final = re.compile(r"[\w$@~-]*(?:[./][\w$@-]+)+/?")
_ABBREVIATED: Final = re.compile(r"(?:[a-z]\.){1,3}[a-z]?", re.IGNORECASE)
_ENDINGS: Final = (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("ciones", "cion"), ("s", ""))
_BARE: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "’": "'"})


@lru_cache(maxsize=_KEPT)
def bare(word: str) -> str:
    """Lower case and no marks on letters."""
    word = word.lower()
    if word.isascii():
        return word
    taken_apart = unicodedata.normalize("NFKD", word.translate(_BARE))
    return unicodedata.normalize("NFC", "".join(part for part in taken_apart if not unicodedata.combining(part)))


@lru_cache(maxsize=_KEPT)
def stem(word: str) -> str:
    """The same for one and for many, and for the short form of a word. A key, not a word."""
    word = _one(word)
    return lexicon.SHORT_FOR.get(word, word)


@lru_cache(maxsize=_KEPT)
def _one(word: str) -> str:
    if len(word) > 3 and not word.endswith(("ss", "us", "is", "'s")):
        for ending, instead in _ENDINGS:
            if word.endswith(ending):
                return word[: -len(ending)] + instead
    return word


def language(words: Sequence[str]) -> str:
    """Whichever has most of its small words in it; English where none has."""
    return max(("en", "de", "es"), key=lambda name: sum(word in lexicon.LANGUAGES[name] for word in words))


def mentions(text: str) -> tuple[Mention, ...]:
    """What a statement speaks of, each key once, in order of appearance."""
    text = _LINK.sub(" ", text[:MOST_LETTERS])
    found: dict[str, Mention] = {}
    for each in (*_in_code(text), *_in_words(_CODE.sub(" \n", text))):
        before = found.get(each.key)
        found[each.key] = Mention(each.key, before.shown, before.signs | each.signs) if before else each
    return tuple(found.values())[:MOST_MENTIONS]


def _in_code(text: str) -> Iterator[Mention]:
    for code in _CODE.findall(text):
        words = code.split()
        for number, word in enumerate(words):
            word = word.strip("\"'.,:;").removesuffix("()").rstrip("/")
            known = lexicon.TECHNOLOGY.get(word.lower())
            if known is not None and word.lower() not in lexicon.SHELL:
                yield _technology(known)
            elif len(words) == 1 or (number == 0 and word not in lexicon.SHELL) or "_" in word:
                yield from _identifier(word)


def _identifier(word: str) -> Iterator[Mention]:
    telling = 2 < len(word) <= 60 and re.search(r"[^\W\d_]{2}", word) and not word.startswith("-") and "=" not in word
    if telling and re.fullmatch(r"[\w$@./:#-]+", word) and not _VERSION.fullmatch(word):
        signs = Sign.CODE | (Sign.PROPER if word[:1].isupper() else Sign(0))
        yield Mention(stem(bare(word.strip("/.:$"))) if word.isalpha() else bare(word.strip("/.:$")), word, signs)


def _technology(known: tuple[str, str]) -> Mention:
    return Mention("=" + known[0].lower(), known[0], Sign.TECHNOLOGY)


def _tokens(text: str) -> list[_Token]:
    found = []
    end = 0
    for match in _TOKEN.finditer(text):
        between = text[end : match.start()]
        word = match[0]
        first = end == 0 or (between != " " and _SENTENCE.search(between) is not None)
        whole = word if word.isalnum() else _POSSESSIVE.sub("", word)
        found.append(_Token(word, bare(whole), first, not first and between.strip(" ") == ""))
        end = match.end()
    return found


def _in_words(text: str) -> Iterator[Mention]:
    tokens = _tokens(text)
    german = language([token.text.lower() for token in tokens]) == "de"
    number = 0
    while number < len(tokens):
        named, length = _named(tokens, number)
        if named is not None:
            yield named
        else:
            yield from _word(tokens, number, german)
        # "redis cluster", "css nesting": a technology can be the first word of a phrase.
        yield from _phrase(tokens, number + length - 1, german)
        number += length


def _named(tokens: Sequence[_Token], number: int) -> tuple[Mention | None, int]:
    """A technology, of two words where it has two, and how many words that took."""
    token = tokens[number]
    if number + 1 < len(tokens) and tokens[number + 1].tight:
        pair = f"{token.bare} {tokens[number + 1].bare}"
        if pair in lexicon.PAIRS:
            return _technology(lexicon.TECHNOLOGY[pair]), 2
    form = _form(token.bare)
    if not form:
        return None, 1
    after = tokens[number + 1].text if number + 1 < len(tokens) and tokens[number + 1].tight else ""
    return _as_name(lexicon.TECHNOLOGY[form], token, after), 1


@lru_cache(maxsize=_KEPT)
def _form(word: str) -> str:
    """As which technology knows it: itself, its first half, or the one of many; "" where it is none."""
    if word in lexicon.TECHNOLOGY:
        return word
    known = (form for form in (word.split("-")[0], _one(word)) if form in lexicon.TECHNOLOGY and not _word_too(form))
    return next(known, "")


def _word_too(form: str) -> bool:
    return form in lexicon.WORDS_TOO or form in lexicon.SILENT or form in lexicon.VERBS


def _as_name(known: tuple[str, str], token: _Token, after: str) -> Mention | None:
    """Where it could be a word: only what is written as a name is one; the rest counts where others of the project are."""
    written = token.text[:1].isupper() and not token.first
    if not _word_too(token.bare) or written or _VERSION.fullmatch(after):
        return _technology(known)
    silent = token.bare in lexicon.SILENT or token.bare in lexicon.VERBS
    return None if silent else Mention("=" + known[0].lower(), known[0], Sign(0))


def _word(tokens: Sequence[_Token], number: int, german: bool) -> Iterator[Mention]:
    token = tokens[number]
    word = token.bare
    if word == token.text and (word in lexicon.SILENT or word in lexicon.VERBS):
        return
    text = _POSSESSIVE.sub("", token.text).removesuffix("()")
    if _shaped(text):
        yield Mention(bare(text.strip("/.:$@~")), text, Sign.CODE)
    elif re.fullmatch(r"[A-Z]{2,6}s?", text):
        if stem(word) not in lexicon.SHOUTED and len(text) > 2:
            yield Mention(stem(word), text.removesuffix("s"), Sign.CODE)
    elif _VERSION.fullmatch(text) or _silent(word) or not re.search(r"[^\W\d_]", word):
        return
    elif "-" in word:
        if word.rsplit("-", 1)[1] not in lexicon.QUALITIES and len(word) > 5:
            yield Mention(stem(word), text, Sign.PHRASE if not _silent(word.split("-")[0]) else Sign.NOUN)
    elif len(word) > 2 and word not in lexicon.HEADS and stem(word) not in lexicon.HEADS and "'" not in word:
        yield Mention(stem(word), text, _signs(tokens, number, german))


@lru_cache(maxsize=_KEPT)
def _shaped(text: str) -> bool:
    """Whether nobody writes a word so."""
    said = text.lower() in lexicon.SHOUTED or _VERSION.fullmatch(text) or not re.search(r"[^\W\d_]{2}", text)
    if said or not 3 <= len(text) <= 60:
        return False
    path = _FILE.fullmatch(text) is not None and not _ABBREVIATED.fullmatch(text) and re.search(r"\.\d|^\d", text) is None
    odd = "_" in text.strip("_") or bool(_HUMP.search(text)) or bool(_NUMBERED.fullmatch(text))
    return odd or (path and not _either(text))


def _either(text: str) -> bool:
    """`and/or`, `try/catch`, and the end of one sentence written against the next: two words, not one name."""
    parts = re.split(r"[./]", text)
    return all(part == "" or part.lower() in _OFTEN or part[:1].isupper() for part in parts) or (
        len(parts) == 2 and "/" in text and "." not in text and all(_silent(bare(part)) for part in parts))  # fmt: skip


_OFTEN: Final = frozenset("and or try catch he she his her etc yes no on off input output".split())  # noqa: SIM905


@lru_cache(maxsize=_KEPT)
def _silent(word: str) -> bool:
    """Whether a word says nothing of a topic: a small word, a verb in any form."""
    if word in lexicon.SILENT or word in lexicon.VERBS:
        return True
    for ending, instead in (("s", ""), ("es", ""), ("ed", ""), ("d", ""), ("ing", ""), ("ing", "e"), ("ies", "y"), ("ied", "y")):
        if word.endswith(ending) and word[: -len(ending)] + instead in lexicon.VERBS:
            return True
    doubled = re.fullmatch(r"(.*?)(.)\2(?:ed|ing)", word)  # dropped, planning
    return (word.endswith("ly") and len(word) > 4) or (doubled is not None and doubled[1] + doubled[2] in lexicon.VERBS)


_NOUN_BEFORE: Final = lexicon.ARTICLES | lexicon.PREPOSITIONS


def _signs(tokens: Sequence[_Token], number: int, german: bool) -> Sign:
    token = tokens[number]
    before = tokens[number - 1].bare if number and not token.first else ""
    after = tokens[number + 1].bare if number + 1 < len(tokens) and tokens[number + 1].tight else ""
    signs = Sign.TRADE if token.bare in lexicon.TRADE or stem(token.bare) in lexicon.TRADE else Sign(0)
    if token.text[:1].isupper() and not token.first and not german:
        signs |= Sign.PROPER
    person = after in lexicon.PERSON_AFTER or before in lexicon.PERSON_BEFORE or token.text.endswith("'s")
    if token.text[:1].isupper() and person:
        signs |= Sign.PERSON
    if german:
        signs |= Sign.NOUN if token.text[:1].isupper() and not token.first else Sign(0)
    elif before in _NOUN_BEFORE or after in lexicon.COPULAS or _one(token.bare) != token.bare:
        signs |= Sign.NOUN
    if before in lexicon.TO_DO or (token.first and after in lexicon.ARTICLES):
        signs |= Sign.VERB
    return signs


def _phrase(tokens: Sequence[_Token], number: int, german: bool) -> Iterator[Mention]:
    """Two nouns in a row, or in Spanish with `de` between."""
    rest = tokens[number + 1 : number + 3]
    if german or not rest or not rest[0].tight or not _part(tokens[number], head=False):
        return
    if rest[0].bare == "de" and len(rest) == 2 and rest[1].tight:
        if _part(rest[1], head=True) and _before(tokens, number) in lexicon.ARTICLES | {""}:
            yield _two(tokens[number], rest[1], " de ")
    elif _part(rest[0], head=True) and not _signs(tokens, number, german) & Sign.VERB:
        yield _two(tokens[number], rest[0], " ")


def _before(tokens: Sequence[_Token], number: int) -> str:
    return tokens[number - 1].bare if number and not tokens[number].first else ""


def _part(token: _Token, *, head: bool) -> bool:
    word = token.bare
    plain = word.isalpha() and len(word) > 2 and not _silent(word)
    return plain and (word not in lexicon.HEADS or head) and (not token.text[:1].isupper() or token.first or not head)


def _two(first: _Token, second: _Token, between: str) -> Mention:
    return Mention(f"{stem(first.bare)} {stem(second.bare)}", f"{first.text}{between}{second.text}", Sign.PHRASE)


def worthy(signs: Sequence[Sign], *, together: bool) -> bool:
    """Whether statements that mention it so, one sign each, are enough for a page of its own. `together`: two of them that
    have more in common than this word."""
    every = Sign(0)
    for sign in signs:
        every |= sign
    count = len(signs)
    nouns = sum(bool(sign & Sign.NOUN) for sign in signs)
    verbs = sum(bool(sign & Sign.VERB) for sign in signs)
    if every & Sign.PERSON and not every & (Sign.TECHNOLOGY | Sign.CODE):
        return count >= 3
    if every & (Sign.TECHNOLOGY | Sign.CODE | Sign.PHRASE):
        return count >= 2
    if every & Sign.PROPER:
        return count >= 3 and sum(bool(sign & Sign.PROPER) for sign in signs) * 2 >= count
    if every & Sign.TRADE:
        return (count >= 3 or (count == 2 and together)) and nouns >= verbs
    return count >= 3 and nouns * 2 >= count and verbs * 3 <= count


def rank(signs: Sign) -> int:
    """Of topics with the very same statements the one with the highest is shown."""
    order = (Sign.TECHNOLOGY, Sign.PHRASE, Sign.CODE, Sign.PROPER, Sign.TRADE)
    return next((len(order) - place for place, sign in enumerate(order) if signs & sign), 0)


def titled(shown: str, signs: Sign, key: str) -> str:
    """As a heading has it: names and code as they are written, anything else with a capital and not in its short form."""
    if signs & (Sign.TECHNOLOGY | Sign.PROPER) or (signs & Sign.CODE and not signs & (Sign.NOUN | Sign.TRADE)):
        return shown
    whole = key if _one(bare(shown)) in lexicon.SHORT_FOR else shown
    return whole[:1].upper() + whole[1:]
