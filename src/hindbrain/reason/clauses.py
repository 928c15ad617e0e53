"""A user's turn -> sentences, and sentences -> clauses, each with its place in the turn.

People who type to an agent use commas for full stops and leave capitals out. A sentence ends at a mark followed by a space, at
a line break, or at a semicolon; a clause begins after a comma, a colon or a conjunction where something new is said. Places are
kept so that quotes are exact.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hindbrain.reason.own_words import BLANK

MOST: Final = 600  # letters of a sentence; a longer one is no sentence that people say
_ENDS: Final = re.compile(r"[.!?…]+[)\"'”“»`*_]{0,2}(?=\s|$)|[\n;\x00]|\s[–—-]{1,2}\s|\s(?=\(?\d\)\s)")
_ABBREVIATED: Final = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|z\.b|d\.h|u\.a|p\.ej|p\. ?ej|etc|vs|ca|bzw|usw|ggf|evtl|inkl|bspw|approx|resp|nr|no|st|dr|mr|mrs"
    r"|ms|sr|sra|prof|min|max|ej|incl|cf|[a-z])\.$",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"(?:^|\s)\d{1,2}\.$")
_BULLET: Final = re.compile(r"\s*(?:[-*•–]|\d{1,2}[.)]|\([a-z\d]\))\s+")
_COMMAS: Final = re.compile(r",?\s(?:and|but|so|und|aber|also|y|pero|así que)\s|,\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A stretch of a turn."""

    start: int
    text: str
    mark: str  # what ended it: ".", "?", "!", "\n" …
    listed: bool = False  # a line of a list

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def part(self, start: int, end: int) -> Sentence:
        """A piece of it, blank space at its ends left out."""
        text = self.text[start:end]
        lead = len(text) - len(text.lstrip(" \t,:"))
        return Sentence(self.start + start + lead, text.strip(" \t,:"), self.mark if end >= len(self.text) else ",", self.listed)


def sentences(text: str) -> list[Sentence]:
    """In order. What is blanked, empty or longer than a sentence is left out."""
    found: list[Sentence] = []
    at = 0
    for end in [*_ENDS.finditer(text), None]:
        stop = len(text) if end is None else end.start()
        if end is not None and stop - at < MOST and _goes_on(text, at, end):
            continue
        piece = text[at:stop]
        mark = "" if end is None else end[0].strip(" ")[:1] or "\n"
        bullet = _BULLET.match(piece[:20])
        lead = bullet.end() if bullet else len(piece) - len(piece.lstrip())
        bare = piece[lead:].strip().strip(BLANK)
        if 1 < len(bare) <= MOST:
            place = at + piece.find(bare, lead)
            question = "?" if end is not None and "?" in end[0] else mark
            found.append(Sentence(place, bare, question, bullet is not None))
        at = stop if end is None else end.end()
    return found


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the mark belongs to a word: an abbreviation, an ordinal, a dash between two numbers."""
    if end[0][0] in ".…" and end[0].strip(".") == "" and len(end[0]) == 1:
        before = text[max(start, end.start() - 8) : end.end()]
        ordinal = _ORDINAL.search(before) is not None and text[end.end() : end.end() + 2].strip().isalpha()
        return ordinal or _ABBREVIATED.search(before) is not None
    return end[0][0] in " \t" and not end[0].isspace()  # a dash inside of a sentence; a space stands before "2)"


def pieces(sentence: Sentence) -> list[tuple[str, Sentence]]:
    """What stands between commas and conjunctions, each with the conjunction before it; not inside of code or brackets."""
    found, at, joint = [], 0, ""
    code = bracket = place = 0
    for mark in _COMMAS.finditer(sentence.text):
        between = sentence.text[place : mark.start()]
        code, bracket, place = code + between.count("`"), bracket + between.count("(") - between.count(")"), mark.start()
        if code % 2 or bracket > 0:
            continue
        found.append((joint, sentence.part(at, mark.start())))
        at, joint = mark.end(), mark[0].strip(" ,").lower()
    found.append((joint, sentence.part(at, len(sentence.text))))
    return [(word, each) for word, each in found if each.text]
