"""A sentence -> the things it says, each with its kind and its place.

A sentence is cut into what stands between its commas. Parts that do the same belong together, and so does a part that does
nothing by itself; where another thing is done behind a conjunction, another unit begins. What comes after "but" stands for
itself, unless it takes back or limits what stands before it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from hindbrain.reason.clauses import Sentence, pieces
from hindbrain.reason.cues import Cues
from hindbrain.reason.forms import WORD, Context, loose, silent, specific
from hindbrain.reason.gate import GUESSED
from hindbrain.reason.guesses import names_alone
from hindbrain.reason.speech import kind_of
from hindbrain.reason.unmade import is_close, limits, takes_back

_LEAST: Final = 6  # letters of a statement
_HEAD: Final = 12  # words before a colon that only say what follows
_FEW: Final = 4  # words that say little by themselves
_GAP: Final = re.compile(r"[\s,.:;!…–—-]+")
_REMIND: Final = re.compile(r"\b(?:remind me|recordarme|recuérd[ae]me)\b", re.IGNORECASE)
_BUT: Final = ("but", "aber", "pero")


@dataclass(slots=True)
class Unit:
    """A stretch of a turn that says one thing."""

    start: int
    end: int
    kind: str
    confidence: float


def units_of(sentence: Sentence, context: Context) -> list[Unit]:
    """What a sentence says; where it says nothing, what it says behind a colon: "I ought to have mentioned it: we left npm"."""
    found = _units(sentence, context)
    colon = sentence.text.rfind(": ")
    if found or colon < 0 or sentence.mark == "?" or len(WORD.findall(sentence.text[colon:])) <= _FEW:
        return found
    if context.cues.any(("others", "elsewhere", "withdrawn"), sentence.text[:colon].lower()):
        return found
    return _units(sentence.part(colon + 2, len(sentence.text)), context)


def _units(sentence: Sentence, context: Context) -> list[Unit]:
    """What a sentence says, cut where it goes on to something else."""
    asked = _REMIND.search(sentence.text) if sentence.mark == "?" else None
    if asked:  # "would you remind me …?" is no question
        sentence = Sentence(sentence.start + asked.start(), sentence.text[asked.start() :], ".", sentence.listed)
    lead, bare = bare_of(sentence, context.cues)
    context.asks = sentence.mark in ("?", "!") or sentence.text.endswith(":")
    lead = f"{lead} rules" if context.ruling else lead
    found: list[Unit] = []
    stretch: list[tuple[str, Sentence]] = []
    for joint, part in [*_stated(sentence, pieces(bare), context.cues), ("but", None)]:
        if joint in _BUT and stretch:
            _put(found, _stretch(bare, stretch, "" if found else lead, context), stretch, sentence)
            stretch, context.first = [], False
        if part is not None:
            stretch.append((joint, part))
    return found


def _put(found: list[Unit], fresh: list[Unit], stretch: list[tuple[str, Sentence]], sentence: Sentence) -> None:
    """What is said behind a "but", by itself or, where it only says how far the last thing is so, together with that."""
    last, (joint, part) = (found[-1] if found else None), stretch[0]
    if last is not None and joint in _BUT and (takes_back(f"{joint} {part.text}") or not _says_of_itself(fresh)):
        between = sentence.text[last.end - sentence.start : part.start - sentence.start]
        begun = sentence.text[last.start - sentence.start : last.end - sentence.start]
        if not between.lower().strip(" ,").removesuffix(joint) and (limits(part.text) or is_close(begun)):
            last.end = stretch[-1][1].end if is_close(begun) else part.end
            return
    found += fresh


def _says_of_itself(units: list[Unit]) -> bool:
    return any(unit.confidence > GUESSED for unit in units)


def _stated(sentence: Sentence, parts: list[tuple[str, Sentence]], cues: Cues) -> list[tuple[str, Sentence]]:
    """The parts before the question or the request that a sentence ends with."""
    for number, (_, part) in enumerate(parts):
        low = part.text.lower()
        if cues.has("question", low) and (sentence.mark == "?" or cues.has("ask", low)):
            return parts[:number]
    return [] if sentence.mark == "?" else parts


def _stretch(bare: Sentence, parts: list[tuple[str, Sentence]], lead: str, context: Context) -> list[Unit]:
    """What is said up to a "but"."""
    cues = context.cues
    text = _between(bare, parts)
    if len(text) < _LEAST or silent(text.lower(), cues):
        return []
    context.begins = context.head = True
    kind, confidence = kind_of(text, lead, context)
    if kind == "procedure":
        return [Unit(parts[0][1].start, parts[-1][1].end, kind, confidence)]
    if cues.has("others", text.lower()):
        return []
    before = (context.wrong, context.reversed)
    kept = [each for each in _firm(bare, parts, context) if not _accuses(each[1], context)]
    if not kept:
        return []
    if len(kept) < len(parts) or before != (context.wrong, context.reversed):
        kind, confidence = kind_of(_between(bare, kept), lead, context)
    if len(kept) == 1:  # there is nothing to group, and asking once more would tell the same
        return [Unit(kept[0][1].start, kept[0][1].end, kind, confidence)] if kind else []
    units = _grouped(kept, lead, context)
    plain = units[0].kind in ("", "fact") or (units[0].confidence <= GUESSED < confidence and kind != "fact")
    if len(units) == 1 and kind and plain:
        units[0].kind, units[0].confidence = kind, confidence
    return [unit for unit in units if unit.kind]


def _between(bare: Sentence, parts: list[tuple[str, Sentence]]) -> str:
    return bare.text[parts[0][1].start - bare.start : parts[-1][1].end - bare.start]


def _firm(bare: Sentence, parts: list[tuple[str, Sentence]], context: Context) -> list[tuple[str, Sentence]]:
    """The parts up to a conjunction behind which something is only wondered about, or from there on. A mere name is firm."""
    cues = context.cues
    runs: list[list[tuple[str, Sentence]]] = []
    for joint, part in parts:
        if joint or not runs:
            runs.append([])
        runs[-1].append((joint, part))
    firm: list[list[tuple[str, Sentence]]] = []
    if len(runs[0]) > 1 and names_alone(runs[0][0][1].text, context) and loose(_between(bare, runs[0]).lower(), cues):
        runs[:1] = [runs[0][:1], runs[0][1:]]
    for run in runs:
        if not loose(_between(bare, run).lower(), cues):
            firm.append(run)
        elif firm:
            break
    return [part for run in firm for part in run]


def _accuses(part: Sentence, context: Context) -> bool:
    """Whether it only says that somebody was wrong, the assistant or the user; then what is right comes next."""
    low = part.text.lower()
    if context.cues.has("reverses", low):
        context.reversed, context.wrong = True, False
        return len(WORD.findall(low)) < 2 * _FEW
    if context.acted and context.cues.has("omits", low):
        return True
    if not context.acted or not context.cues.has("accuses", low):
        return False
    context.wrong = True
    return True


def _grouped(parts: list[tuple[str, Sentence]], lead: str, context: Context) -> list[Unit]:
    """Parts that belong together. A new thing begins behind a conjunction; what merely goes on stays where it is."""
    first = parts[0][1]
    units = [Unit(first.start, first.start, "", 0.0)]
    for number, (joint, part) in enumerate(parts):
        context.begins, context.head = not number, not number or bool(joint)
        kind, sure = kind_of(part.text, "" if number else lead, context)
        last = units[-1]
        known = last.kind if last.confidence > GUESSED or kind == "task" else ""
        both = last.kind == kind == "fact" and min(sure, last.confidence) > GUESSED and part.start - last.end > len(joint) + 2
        if joint and both and _own_fact(part.text, context) and _own_fact(parts[number - 1][1].text, context):
            units.append(last := Unit(part.start, part.end, "", 0.0))
            known = ""
        elif joint and len(WORD.findall(part.text)) > 3 and _apart(known, kind, part.text.lower(), lead, context.cues):
            units.append(last := Unit(part.start, part.end, "", 0.0))
        last.end = part.end
        if not last.kind or (known in ("", "fact") and sure > GUESSED and (known or kind != "fact" or last.kind == "fact")):
            last.kind, last.confidence = kind, sure
    return units


def _own_fact(text: str, context: Context) -> bool:
    """Whether it says enough to be a fact of its own: it names something, and what it is said of."""
    weak = context.cues.any(("pronoun", "weak_subject"), text.lower())
    return not weak and len(WORD.findall(text)) > _FEW and specific(text, context.language)


def _apart(before: str, kind: str, low: str, lead: str, cues: Cues) -> bool:
    """Whether a part says another thing, and can stand by itself."""
    if not before or before == "correction" or cues.has("pronoun", low):
        return False
    if before == "instruction" and cues.has("heading", lead) and cues.has("fact", low):
        return True  # the next of several rules
    return kind not in ("", "fact", "correction", before)


def bare_of(sentence: Sentence, cues: Cues) -> tuple[str, Sentence]:
    """The words that only lead in, and the rest."""
    at, text = 0, sentence.text
    low = text.lower()
    while True:
        found = cues.find("filler", low[at:])
        gap = _GAP.match(low, at + found.end()) if found else None
        if found is None or gap is None or gap.end() >= len(text):
            break
        if not gap[0].strip() and not cues.has("soft", low[at:]):
            break
        at = gap.end()
    head, colon, tail = low[at:].partition(": ")
    if colon and len(tail) > _LEAST and len(WORD.findall(head)) < _HEAD and cues.has("heading", head):
        at += len(head) + len(colon)
    return low[:at], sentence.part(at, len(text))
