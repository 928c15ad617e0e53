"""A text -> its language, and the cues of that language, compiled once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Final

from hindbrain.reason import cues_de, cues_en, cues_es

_LANGUAGES: Final = {"en": cues_en, "de": cues_de, "es": cues_es}
_WORDS: Final = {name: frozenset(module.WORDS.split()) for name, module in _LANGUAGES.items()}
COMMON: Final = frozenset().union(*_WORDS.values())  # words that tell nothing but the language
_MOST: Final = 4_000  # letters of a text that tell its language
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[a-z]+)?")
_KNOWN, _SHORT = 20_000, 500  # answers that are kept, of texts no longer than this
_ANCHORED: Final = frozenset({"filler", "soft", "question", "ack", "order"})  # looked for at the beginning alone


class Cues:
    """What gives a sentence away, in one language."""

    def __init__(self, patterns: Mapping[str, str]) -> None:
        self.names = tuple(sorted(patterns))
        compiled = {name: re.compile(_edged(name, pattern)) for name, pattern in patterns.items()}
        self._look = {name: each.match if name in _ANCHORED else each.search for name, each in compiled.items()}
        # a clause is asked the same thing often
        self._known_any = lru_cache(_KNOWN)(self._one_of)
        self._known = lru_cache(_KNOWN)(lambda name, text: self._look[name](text) is not None)

    def has(self, name: str, text: str) -> bool:
        """Whether a cue is in a text of small letters; those of beginnings, at its beginning."""
        return self._known(name, text) if len(text) <= _SHORT else self.find(name, text) is not None

    def any(self, names: tuple[str, ...], text: str) -> bool:
        """Whether one of these cues is in the text."""
        return self._known_any(names, text) if len(text) <= _SHORT else self._one_of(names, text)

    def _one_of(self, names: tuple[str, ...], text: str) -> bool:
        return any(self.has(name, text) for name in names)

    def find(self, name: str, text: str) -> re.Match[str] | None:
        return self._look[name](text)


def _edged(name: str, pattern: str) -> str:
    """A word of a cue is a whole word, not the end of a path or of a compound: "dry-run" does not run."""
    return f"(?:{pattern})(?!\\w)" if name in _ANCHORED else pattern.replace(r"\b(?:", r"(?<![\w./`@-])(?:")


@cache
def cues_of(language: str) -> Cues:
    """Of a language that is known."""
    return Cues(_LANGUAGES[language].CUES)


def language_of(text: str, otherwise: str = "en") -> str:
    """By its commonest words; where they do not tell, as given."""
    said = {word.lower() for word in _WORD.findall(text[:_MOST])}
    counted = {name: len(said & words) for name, words in _WORDS.items()}
    best = max(counted, key=lambda name: (counted[name], name == otherwise))
    return best if counted[best] >= 2 and counted[best] > counted[otherwise] else otherwise
