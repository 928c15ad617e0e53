"""What a user says in a session -> statements worth keeping, in the order they were said.

Each rests on one sentence or a part of one. What was said before counts: an assistant that was wrong, options it had offered, a
heading that rules follow. A few words that say little ("By layer.") are said together with what follows them, and what the next
sentence withdraws is not kept. What the cues found, and every sentence in which they found nothing, is then weighed
(weighing.py): what is likely enough to be worth keeping is kept, and so is what plainly lays down a rule (lasting.py).
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.clauses import Sentence, sentences
from hindbrain.reason.cues import COMMON, Cues, cues_of, language_of
from hindbrain.reason.forms import WORD, Context, orders, silent, specific
from hindbrain.reason.gate import GUESSED, is_technical
from hindbrain.reason.grounds import reason_behind, why_of
from hindbrain.reason.kinds import settled
from hindbrain.reason.lasting import SURE, forbids, is_one_step, lays_down
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.rivals import beside_it, instead_of
from hindbrain.reason.rounding import scope_of, standing_alone
from hindbrain.reason.trust import doubt, trust_of
from hindbrain.reason.units import Unit, bare_of, units_of
from hindbrain.reason.unmade import came_to_nothing
from hindbrain.reason.weighing import Place, kinds, likely, marks, meanings

_NEAR: Final = 120  # letters around a choice that may name what was not chosen
_MOST: Final = 280  # letters of what is said in two sentences
_EARLY: Final = 2  # sentences in which a turn says that the assistant is wrong
_OPENING: Final = 2_000  # letters of a session's first turn that say what it is for
_FEW: Final = 4  # words that say little by themselves
LIKELY: Final = 0.55  # how likely worth keeping a thing has to be
# a reason for a choice is mostly what something else is not, or is too much
_NEGATED: Final = re.compile(r"n't\b|\b(?:not|no|never|too|only|just|nicht|kein\w{0,2}|zu|nur|nie|nunca|demasiado|sin)\b")
_INTERJECTED: Final = re.compile(r"^(?:eh|hm+|m+h+|uh|um|oh|ah|well|ok|ya|äh|hä|ey|bah|ach|uy)[ ,.!?]+")


@dataclass(frozen=True, slots=True)
class Considered:
    """Something that may be worth keeping, and what is to be seen of it."""

    turn: Said
    unit: Unit
    words: str  # of the turn, those of the user's own
    context: Context
    seen: frozenset[str]

    @property
    def text(self) -> str:
        return " ".join(self.words[self.unit.start : self.unit.end].split())


def said(turns: Sequence[Said]) -> list[Statement]:
    """What the user said that is worth keeping, in the order it was said."""
    every = list(considered(turns))
    meant = meanings([each.text for each in every])
    kept = [each for each, means in zip(every, meant, strict=True) if _is_kept(each, likely(each.seen, means))]
    return [_statement(each.turn, _named(each), each.words, each.context) for each in kept]


def _is_kept(each: Considered, likelihood: float) -> bool:
    """What is plainly a rule, or likely enough worth keeping: neither one step of the work nor what never came about."""
    if lays_down(each.text) or forbids(each.text):
        return True
    return likelihood >= LIKELY and not is_one_step(each.text) and not came_to_nothing(each.text)


def _named(each: Considered) -> Unit:
    """As what most marks speak for; what the cues take it for is one of them. What is plainly a rule needs no marks."""
    if lays_down(each.text):
        return replace(each.unit, kind="instruction", confidence=max(each.unit.confidence, SURE))
    told = kinds(each.seen)
    best = max(told, key=lambda kind: told[kind])
    if forbids(each.text):
        best = best if best == "correction" else "instruction"
        return replace(each.unit, kind=best, confidence=max(each.unit.confidence, SURE))
    return replace(each.unit, kind=settled(best, told, each.text, each.context), confidence=each.unit.confidence or GUESSED)


def considered(turns: Sequence[Said]) -> Iterator[Considered]:
    """Everything the user said, as the cues take it, before it is weighed."""
    language = language_of(" ".join(turn.text[:400] for turn in turns if turn.role == "user"))
    reply, first, acted = "", True, False
    tools = any(turn.role.startswith("tool") for turn in turns)
    answers = _answers(turns)
    for turn in turns:
        if turn.role == "assistant":
            reply = turn.text
        acted = acted or turn.role in ("assistant", "tool_call")
        if turn.role != "user":
            continue
        words = own(turn.text)
        here = language_of(words.replace(BLANK, " "), language)
        opening = first and (tools or _wants_something(words, cues_of(here)))
        yield from _in_turn(turn, words, Context(cues_of(here), here, reply, acted, opening, answer=answers[turn.id]))
        reply, first, acted = "", False, False


def _answers(turns: Sequence[Said]) -> dict[str, str]:
    """By user's turn, what the assistant says next to it."""
    found: dict[str, str] = {}
    answer = ""
    for turn in reversed(turns):
        if turn.role == "assistant":
            answer = turn.text
        elif turn.role == "user":
            found[turn.id], answer = answer, ""
    return found


def _in_turn(turn: Said, words: str, context: Context) -> Iterator[Considered]:
    every, found = sentences(words), _of_turn(words, context)
    starts, ends = [each.start for each in every], [each.end for each in every]
    held = {number for unit in found for number in range(bisect_right(ends, unit.start), bisect_left(starts, unit.end))}
    held |= {number - 1 for number, each in enumerate(every) if context.cues.has("withdrawn", each.text.lower())}
    rest = [Unit(each.start, each.end, "", 0.0) for number, each in enumerate(every) if each.mark != "?" and number not in held]
    for unit in sorted([*found, *rest], key=lambda unit: (unit.start, unit.end)):
        text, at = words[unit.start : unit.end], bisect_right(ends, unit.start)
        if at == len(every) or starts[at] >= unit.end or (not unit.kind and len(WORD.findall(text)) < _FEW - 1):
            continue
        place = Place(every, at, len(found) - bool(unit.kind))
        yield Considered(turn, unit, words, context, marks(text, unit.kind, unit.confidence, place, context))


def _wants_something(words: str, cues: Cues) -> bool:
    """Whether a session opens as most do: with something to be done, and only then what has to be known for it."""
    every = [each.text.strip() for each in sentences(words[:_OPENING])]
    return len(every) > _FEW or any(each.endswith("?") or orders(each.lower(), cues) for each in every)


def _of_turn(words: str, context: Context) -> list[Unit]:
    every = sentences(words)
    context.wrong = context.acted and any(_contradicts(each, context) for each in every[:_EARLY])
    context.first = True
    found: list[Unit] = []
    for number, sentence in enumerate(every):
        context.early = number < _EARLY and not context.reply.rstrip().endswith("?")
        began = context.first
        fresh = units_of(sentence, context)
        if context.cues.has("withdrawn", sentence.text.lower()) and found and sentence.start - found[-1].end <= _FEW:
            found.pop()  # "just kidding"
        last = found[-1] if found else None
        chose = last is not None and last.kind == "decision"
        told = [unit for unit in fresh if unit.confidence > GUESSED or (chose and unit.kind == "decision")]
        if last is not None and _belongs(last, sentence, told, words, context):
            last.end = max([sentence.end, *(unit.end for unit in fresh)])
        else:
            found += fresh
        context.wrong = context.wrong and not any(unit.kind == "correction" for unit in fresh)
        context.reversed = context.reversed and not fresh
        context.ruling = context.cues.has("heading", sentence.text.lower()) and not fresh
        context.first = began and _mere_sound(sentence, context.cues)
    return [unit for unit in found if not _says_nothing(unit, words, context)]


def _contradicts(sentence: Sentence, context: Context) -> bool:
    """Whether it says that the assistant is wrong. A bare "no" to a question does not."""
    found = context.cues.find("wrong", _INTERJECTED.sub("", sentence.text.lower()))
    return found is not None and not (context.reply.rstrip().endswith("?") and len(WORD.findall(found[0])) < 2)


def _mere_sound(sentence: Sentence, cues: Cues) -> bool:
    """Whether it is no more than an "ok" or "ouch"."""
    low = sentence.text.lower()
    return len(WORD.findall(low)) < _FEW and (cues.has("filler", low) or cues.has("ack", low))


def _says_nothing(unit: Unit, words: str, context: Context) -> bool:
    """A choice of a few words that names nothing the assistant had named, a mere "it isn't", a mere name."""
    text = words[unit.start : unit.end]
    count, named = len(WORD.findall(text)), specific(text, context.language)
    if unit.kind == "decision":
        return not named and count <= 3 and not _names(text, context)
    if unit.kind == "correction":
        low = text.lower()
        return not named and count <= 2 * _FEW and context.cues.has("pronoun", low) and not context.cues.has("wrong_in", low)
    return unit.kind == "fact" and count < _FEW


def _belongs(last: Unit, sentence: Sentence, fresh: list[Unit], words: str, context: Context) -> bool:
    """Whether a sentence says the rest of what a few words began, or says the same choice again in more words."""
    begun, low = words[last.start : last.end], bare_of(sentence, context.cues)[1].text.lower()
    if sentence.start - last.end > _FEW or sentence.mark == "?" or silent(low, context.cues) or context.cues.has("ack", low):
        return False
    if words[last.end : sentence.start].strip() == ";":
        if last.kind in ("instruction", "decision", "correction") and fresh:
            return True
        if last.kind in ("correction", "fact", "decision") and all(unit.kind in ("fact", last.kind) for unit in fresh):
            return True
    if last.kind == "task" and [unit.kind for unit in fresh] == ["task"] and not specific(sentence.text, context.language):
        return len(WORD.findall(low)) <= 3 * _FEW  # "I'd be glad if you brought that up"
    if any(unit.kind not in ("fact", last.kind) for unit in fresh) or last.kind in ("task", "preference", "procedure"):
        return False
    again = last.kind in ("decision", "correction") and [unit.kind for unit in fresh] == [last.kind]
    if again and _telling(begun) & _telling(low) and len(begun) + len(low) < _MOST:
        return True
    if last.kind == "instruction":
        return bool(fresh) and context.cues.has("rest", low)
    if last.kind == "decision" and [unit.kind for unit in fresh] == ["fact"]:
        reason = not specific(sentence.text, context.language) or _NEGATED.search(low) is not None
        return reason and not context.cues.has("role", low) and not context.cues.has("changed", low) and len(begun) < _MOST // 2
    if (last.kind == "fact" and not fresh) or (fresh and _names(begun, context)):
        return False
    return len(WORD.findall(begun)) <= (_FEW if specific(begun, context.language) else _FEW + 1)


def _names(text: str, context: Context) -> bool:
    """Whether a few words say by themselves what is meant: a name, or what the assistant had named."""
    return specific(text, context.language) or is_technical(text) or bool(_telling(text) & _telling(context.reply))


def _telling(text: str) -> set[str]:
    return {word for word in WORD.findall(text.lower()) if len(word) > 2 and word not in COMMON}


def _statement(turn: Said, unit: Unit, words: str, context: Context) -> Statement:
    quote = turn.text[unit.start : unit.end]
    text = " ".join(quote.split())
    why = why_of(unit.kind, text, context) if unit.kind in ("decision", "instruction") else ""
    other = instead_of(text, context) if unit.kind in ("decision", "correction") else ""
    if unit.kind == "decision":
        why = why or reason_behind(words[unit.end :].lstrip(" .,;!"), context)
        around = f"{words[max(0, unit.start - _NEAR) : unit.start]} {words[unit.end : unit.end + _NEAR]}"
        other = other or beside_it(text, instead_of(around, context))
    return Statement(
        kind=unit.kind, text=standing_alone(text, words[: unit.start], context), turns=(turn.id,), quote=quote,
        confidence=unit.confidence, trust=trust_of(turn.role, turn.trust), scope=scope_of(unit.kind, text),
        why=why, instead_of=other, quarantine=doubt(text, own=True),
    )  # fmt: skip
