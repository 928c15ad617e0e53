"""What a model said -> statements, relations, digests and answers that hold, or a complaint it can be told.

Nothing is taken on the model's word. Ids must be among those it was offered; a quote must stand in the turn it names; a number
must stand in the evidence; kinds and lengths are bounded. Who vouches for a statement is worked out from the turns and never
asked: what the model makes of a tool's output stays a tool's, and a statement that would have it rule is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.ledger.memories import KINDS
from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.model.failures import WrongOutput
from hindbrain.reason.model.prompts import INSIGHT_KINDS, RELATIONS
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.trust import RULING, doubt, may_become, trust_of

MOST_STATEMENTS: Final = 40
MOST_EVIDENCE: Final = 8  # turns of one statement
TEXT_CHARS: Final = (8, 500)
QUOTE_CHARS: Final = (3, 1_000)
SHORT_CHARS: Final = (15, 600)
LONG_CHARS: Final = (15, 3_000)
SUPPORTED: Final = 0.6  # of a ruling statement's words must be the user's own

_ORDER: Final = ("tool", "import", "assistant", "human_file", "user")  # the least trusted first
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,_](?=\d{3}\b)")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")


def text_of(value: Json, name: str, least: int, most: int) -> str:
    """A text on its own, of a bounded length."""
    if not isinstance(value, str):
        raise WrongOutput(f"{name} is not text")
    lines = value.strip().splitlines() if name == "long" else [value]
    plain = "\n".join(" ".join(line.split()) for line in lines)
    if not least <= len(plain) <= most:
        raise WrongOutput(f"{name} has {len(plain)} characters, allowed are {least} to {most}")
    return plain


def list_of(said: Mapping[str, Json], name: str, most: int) -> list[dict[str, Json]]:
    """A list of objects, not too many."""
    found = said.get(name)
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise WrongOutput(f"{name} is not a list of objects")
    if len(found) > most:
        raise WrongOutput(f"{name} has {len(found)} entries, allowed are {most}")
    return [each for each in found if isinstance(each, dict)]


def ids_of(value: Json, offered: Mapping[str, object], name: str, least: int, most: int) -> list[str]:
    """Ids, each of them offered."""
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise WrongOutput(f"{name} is not a list of ids")
    found = list(dict.fromkeys(str(each) for each in value))
    if unknown := [each for each in found if each not in offered]:
        raise WrongOutput(f"{name} holds an id that is not in the input: {unknown[0][:40]}")
    if not least <= len(found) <= most:
        raise WrongOutput(f"{name} has {len(found)} ids, allowed are {least} to {most}")
    return found


def found_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, whatever the space between its words; the text's own letters count."""
    pattern = r"\s+".join(re.escape(word) for word in quote.split())
    match = re.search(pattern, text) if pattern else None
    return None if match is None else match.span()


def foreign_number(text: str, evidence: str, *, counts: bool = False) -> str:
    """A number in a text that is nowhere in the evidence; "" for none. counts: small whole ones may be the model's own."""
    held = {match[0] for match in _NUMBER.finditer(_THOUSANDS.sub("", evidence))}
    for number in (match[0] for match in _NUMBER.finditer(_THOUSANDS.sub("", text))):
        if number not in held and not (counts and number.isdigit() and int(number[:4]) <= 20):
            return number
    return ""


@dataclass(frozen=True, slots=True)
class Offered:
    """The turns of a question by the names they were given in it."""

    turns: Mapping[str, Said]

    def statements(self, said: Mapping[str, Json]) -> list[Statement]:
        """All of them. Raises WrongOutput if one does not hold; one that may not become what it says is left out."""
        found: dict[str, Statement] = {}
        for each in list_of(said, "statements", MOST_STATEMENTS):
            statement = self._statement(each)
            if statement is not None:
                found.setdefault(statement.id, statement)
        return list(found.values())

    def _statement(self, each: Mapping[str, Json]) -> Statement | None:
        kind = each.get("kind")
        if kind not in KINDS or kind == "insight":
            raise WrongOutput(f"kind is not one of those allowed: {str(kind)[:40]}")
        text = text_of(each.get("text"), "text", *TEXT_CHARS)
        names = ids_of(each.get("turns"), self.turns, "turns", 1, MOST_EVIDENCE)
        turns = [self.turns[name] for name in names]
        start, end = self._quoted(each.get("quote"), turns[0], names[0])
        if missing := foreign_number(text, "\n".join(turn.text for turn in turns)):
            raise WrongOutput(f"the text holds a number that is not in its turns: {missing[:40]}")
        first = _vouched(turns[0], start, end)
        trust = min((first, *(trust_of(turn.role, turn.trust) for turn in turns[1:])), key=_ORDER.index)
        if str(kind) in RULING and trust != first and _supported(text, own(turns[0].text)):
            turns, trust = turns[:1], first  # the rule is in the first turn; the others only say what it is about
        if not may_become(str(kind), trust):
            return None
        quote = turns[0].text[start:end]
        whose = trust in ("user", "human_file")
        return Statement(
            str(kind), text, tuple(turn.id for turn in turns), quote, self._confidence(each.get("confidence", 0.7), trust), trust,
            "global" if each.get("scope") == "global" and str(kind) in RULING and whose else "project",
            _optional(each, "why"), _optional(each, "instead_of"), doubt(text, own=whose) or doubt(quote, own=whose),
        )  # fmt: skip

    def _quoted(self, quote: Json, turn: Said, name: str) -> tuple[int, int]:
        plain = text_of(quote, "quote", *QUOTE_CHARS)
        span = found_quote(plain, turn.text)
        if span is None:
            raise WrongOutput(f"the quote does not stand in turn {name}: {plain[:60]}")
        return span

    def _confidence(self, value: Json, trust: str) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
            raise WrongOutput("confidence is not a number from 0 to 1")
        return round(min(max(float(value), 0.3), 0.6 if trust == "tool" else 0.95), 3)


def _vouched(turn: Said, start: int, end: int) -> str:
    """Who said a stretch of a turn: what a user pasted was not said by the user."""
    trust = trust_of(turn.role, turn.trust)
    if turn.role == "user" and trust == "user" and BLANK in own(turn.text)[start:end]:
        return "tool"
    return trust


def _supported(text: str, words: str) -> bool:
    """Whether most of what a statement says is said in these words."""
    held = {word[:5] for word in _WORD.findall(words.lower())}
    asked = [word[:5] for word in _WORD.findall(text.lower())]
    return bool(asked) and sum(word in held for word in asked) >= SUPPORTED * len(asked)


def _optional(each: Mapping[str, Json], name: str) -> str:
    value = each.get(name)
    return text_of(value, name, 0, TEXT_CHARS[1]) if value is not None else ""


def relations(said: Mapping[str, Json], offered: Sequence[str]) -> dict[str, str]:
    """What the newer of each pair does to the older, every pair once."""
    found: dict[str, str] = {}
    for each in list_of(said, "pairs", len(offered)):
        name, relation = each.get("id"), each.get("relation")
        if not isinstance(name, str) or name not in offered or name in found:
            raise WrongOutput(f"id is not in the input, or stands twice: {str(name)[:40]}")
        if relation not in RELATIONS:
            raise WrongOutput(f"relation is not one of those allowed: {str(relation)[:40]}")
        found[name] = "" if relation == "none" else str(relation)
    if missing := [name for name in offered if name not in found]:
        raise WrongOutput(f"the reply leaves out the pair {missing[0]}")
    return found


def digest(said: Mapping[str, Json], evidence: str) -> tuple[str, str]:
    """Short and long."""
    short, long = text_of(said.get("short"), "short", *SHORT_CHARS), text_of(said.get("long"), "long", *LONG_CHARS)
    for name, text in (("short", short), ("long", long)):
        if value := foreign_number(text, evidence, counts=True):
            raise WrongOutput(f"{name} holds a number that is not in the input: {value[:40]}")
        if reason := doubt(text, own=False):
            raise WrongOutput(f"{name} cannot be told: {reason}")
    return short, long


@dataclass(frozen=True, slots=True)
class Found:
    """An insight, with the ids of what supports it."""

    kind: str
    text: str
    supports: tuple[str, ...]


def insights(said: Mapping[str, Json], offered: Mapping[str, tuple[str, str, str]]) -> list[Found]:
    """offered: id, text and trust by name. One that would rule by what a tool said, or cannot be told, is left out."""
    found = []
    for each in list_of(said, "insights", 10):
        kind = each.get("kind")
        if kind not in INSIGHT_KINDS:
            raise WrongOutput(f"kind is not one of those allowed: {str(kind)[:40]}")
        text = text_of(each.get("text"), "text", *TEXT_CHARS)
        held = [offered[name] for name in ids_of(each.get("supports"), offered, "supports", 3, 50)]
        if value := foreign_number(text, "\n".join(words for _, words, _ in held), counts=True):
            raise WrongOutput(f"the text holds a number that none of its supports holds: {value[:40]}")
        trust = min((trust for _, _, trust in held), key=_ORDER.index)
        if not doubt(text, own=False) and (kind != "preference" or trust == "user"):
            found.append(Found(str(kind), text, tuple(identifier for identifier, _, _ in held)))
    return found


@dataclass(frozen=True, slots=True)
class Cited:
    """A sentence and the ids it rests on."""

    text: str
    ids: tuple[str, ...]


def sentences(said: Mapping[str, Json], offered: Mapping[str, tuple[str, str]], question: str) -> list[Cited]:
    """The answer; none where the evidence holds none. offered: id and text by name."""
    known = said.get("known")
    if not isinstance(known, bool):
        raise WrongOutput("known is neither true nor false")
    found = _cited(said, offered, question, 1_000, counts=True)
    if known and not found:
        raise WrongOutput("known is true and there is no sentence")
    return found if known else []


def introduction(said: Mapping[str, Json], offered: Mapping[str, tuple[str, str]], title: str) -> list[Cited]:
    """The sentences that introduce a page; one that cannot be told spoils the reply."""
    found = _cited(said, offered, title, 500, counts=False)
    for each in found:
        if reason := doubt(each.text, own=False):
            raise WrongOutput(f"a sentence cannot be told: {reason}")
    return found


def _cited(
    said: Mapping[str, Json], offered: Mapping[str, tuple[str, str]], about: str, most: int, *, counts: bool
) -> list[Cited]:
    """Sentences, each with ids that were offered and without a number that is in none of them."""
    found = []
    for each in list_of(said, "sentences", 10):
        text = text_of(each.get("text"), "text", 1, most)
        held = [offered[name] for name in ids_of(each.get("cites"), offered, "cites", 1, 20)]
        if value := foreign_number(text, "\n".join([about, *(words for _, words in held)]), counts=counts):
            raise WrongOutput(f"a sentence holds a number that is not in what it cites: {value[:40]}")
        found.append(Cited(text, tuple(identifier for identifier, _ in held)))
    return found
