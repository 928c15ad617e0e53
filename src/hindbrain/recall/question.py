"""A question -> what it asks for: its words, what must be found letter for letter, whom it names, and which way it looks.

Everything here is read off the wording alone, by patterns that are few and can be read. A pattern that is wrong about a question
moves some hits up or down; none of them can take a hit away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hindbrain.recall import cues
from hindbrain.recall.words import STOP_WORDS, spaced, words_of

MAX_CHARS: Final = 2_000  # of a question, for everything but its words
MAX_LITERALS: Final = 8
MAX_LITERAL_CHARS: Final = 120

_QUOTED: Final = re.compile(r"[\"“”`]([^\"“”`\n]{3,80})[\"“”`]|(?<!\w)['‘]([^'’\n]{3,80})['’](?!\w)")
_RUN: Final = re.compile(r"[\w~.,/:#\\-]+")
_NUMBER: Final = re.compile(r"\d[\d.,]*")
_INSIDE: Final = re.compile(r"\w[._:#/\\]{1,2}\w|[a-z][A-Z]")  # a path, a dotted or underscored name, camelCase
_SPEAKER: Final = re.compile(r"([^\W\d_][\w.'-]{1,30}(?: [^\W\d_][\w.'-]{1,30}){0,2}): ")
_WANTS_REPLY: Final = re.compile(
    r"\b(you (?:said|told|recommended|suggested|mentioned|gave|provided|listed|wrote|explained|proposed|described|shared|found)"
    r"|did you|(?:have|had) you|your (?:suggestion|answer|reply|list|recommendation|explanation|advice|summary|plan)s?|remind me"
    r"|(?:our|the) (?:previous|last|earlier) (?:chat|conversation|discussion|session)"
    r"|summar(?:y|ies|ise|ize)\w*|what (?:was|were|has been) (?:done|changed|fixed|implemented)"
    r"|what did we (?:do|change|fix|implement))\b"
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it is understood."""

    text: str
    words: list[str]
    exact: list[str]  # paths, identifiers, codes, quoted words, in lower case
    numbers: list[str]
    named: frozenset[str]  # every word, in lower case: a speaker's name may be among them
    wants_reply: bool  # asks for what an agent answered or did
    wants_past: bool  # asks for how things were

    @property
    def literals(self) -> list[str]:
        """All that is looked for letter for letter."""
        return [*self.exact, *self.numbers]


def understood(text: str) -> Question:
    """What a question asks for; any text is one."""
    looked_at = text[:MAX_CHARS]
    lower = looked_at.lower()
    exact, numbers = _literals(looked_at)
    named = frozenset(word for word in spaced(looked_at).split() if word not in STOP_WORDS)
    return Question(
        text, words_of(text), exact, numbers, named, bool(_WANTS_REPLY.search(lower)), cues.asks_for_past(looked_at)
    )


def _literals(text: str) -> tuple[list[str], list[str]]:
    """What must be found letter for letter, and the numbers of two digits and more."""
    exact = [one or other for one, other in _QUOTED.findall(text)]
    numbers = []
    for run in _RUN.findall(text):
        plain = run.strip(".,:-#")
        if _NUMBER.fullmatch(plain):
            numbers.append(plain)
        elif _is_exact(plain):
            exact.append(plain)
    return _distinct(exact), _distinct(numbers)


def _is_exact(run: str) -> bool:
    """Whether a run of letters is a path, an identifier, an error code, a version, a hash or a name in capitals."""
    if _INSIDE.search(run) or (run.startswith(("/", "~/")) and len(run) > 2):
        return True
    digits = any(letter.isdigit() for letter in run)
    # a short word in capitals is a word like others: the US, a TV, an API
    return (digits and any(letter.isalpha() for letter in run)) or (len(run) > 3 and run.isupper())


def _distinct(found: list[str]) -> list[str]:
    plain = [each.lower().strip(" .,:;-\0") for each in found]
    return [each for each in dict.fromkeys(plain) if 2 <= len(each) <= MAX_LITERAL_CHARS][:MAX_LITERALS]


def holds(text: str, literal: str) -> bool:
    """Whether a text in lower case holds a literal, not as a part of a longer word."""
    start = text.find(literal)
    while start >= 0:
        end = start + len(literal)
        if not (_joins(text[start - 1 : start], literal[0]) or _joins(literal[-1], text[end : end + 1])):
            return True
        start = text.find(literal, start + 1)
    return False


def _joins(before: str, behind: str) -> bool:
    return before.isalnum() and behind.isalnum()


def phrases(literals: list[str]) -> list[str]:
    """Literals as the index can look for them: what it takes for several words must follow each other there.

    One or two function words in quotes, as in ' and ', name nothing: half of all turns hold them.
    """
    plain = (spaced(each).split()[:12] for each in literals)
    telling = (words for words in plain if len(words) > 2 or not STOP_WORDS.issuperset(words))
    return list(dict.fromkeys(" ".join(words) for words in telling))


def speaker_of(text: str) -> frozenset[str]:
    """The words of the name a text begins with ("Maria Lopez: ..."), in lower case; none where it begins with no name."""
    beginning = text[:100]
    match = _SPEAKER.match(beginning) if ": " in beginning else None
    if match is None or not match.group(1)[0].isupper():
        return frozenset()
    return frozenset(match.group(1).lower().split())
