"""What a model said -> statements, relations, digests and answers that hold, or a complaint it can be told.

Nothing is taken on the model's word. Ids must be among those it was offered; a quote must stand in the turn it names; a number
must stand in the evidence; kinds and lengths are bounded. Who vouches for a statement is worked out from the turns and never
asked: what the model makes of a tool's output stays a tool's, and a statement that would have it rule is left out. What is to be
the user's word has to be said in the user's own words, whatever is quoted beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.ledger.memories import KINDS
from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.model.answers import unfounded
from hindbrain.reason.model.failures import WrongOutput
from hindbrain.reason.model.prompts import INSIGHT_KINDS, RELATIONS
from hindbrain.reason.model.spoken import WHOSE, Spoken, words_of
from hindbrain.reason.model.unsaid import SUPPORTED, taken_over, unsaid
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.trust import RULING, doubt, may_become, trust_of

MOST_STATEMENTS: Final = 40
MOST_EVIDENCE: Final = 8  # turns of one statement
TEXT_CHARS: Final = (8, 500)
QUOTE_CHARS: Final = (3, 1_000)
SHORT_CHARS: Final = (15, 600)
LONG_CHARS: Final = (15, 3_000)
RULES: Final = RULING | {"correction"}  # what is told as a standing rule, whatever the question
INSIGHT: Final = 0.5  # of an insight's words must be those of what supports it; a preference is said as a rule is

_ORDER: Final = ("tool", "import", "assistant", "human_file", "user")  # the least trusted first
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_THOUSANDS: Final = re.compile(r"(?<=\d)[,_](?=\d{3}\b)")


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
        spoken = Spoken(self.turns.values())
        for each in list_of(said, "statements", MOST_STATEMENTS):
            statement = self._statement(each, spoken)
            if statement is not None:
                found.setdefault(statement.id, statement)
        return list(found.values())

    def _statement(self, each: Mapping[str, Json], spoken: Spoken) -> Statement | None:
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
        if str(kind) in RULES and trust != first and not unsaid(text, words_of(turns[0])):
            turns, trust = turns[:1], first  # the rule is in the first turn; the others only say what it is about
        if trust in WHOSE:
            turns, trust = _said_by(str(kind), text, turns, trust, spoken)
        if not may_become(str(kind), trust) or (kind in RULES and trust not in WHOSE):
            return None
        quote = turns[0].text[start:end]
        whose = trust in WHOSE
        return Statement(
            str(kind), text, tuple(turn.id for turn in turns), quote, self._confidence(each.get("confidence", 0.7), trust), trust,
            "global" if each.get("scope") == "global" and str(kind) in RULING and whose else "project",
            _beside(each, "why", turns, spoken), _beside(each, "instead_of", turns, spoken),
            doubt(text, own=whose) or doubt(quote, own=whose),
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


def _said_by(kind: str, text: str, turns: list[Said], trust: str, spoken: Spoken) -> tuple[list[Said], str]:
    """What a statement of the user's turns rests on, and whose word that is: the user's only as far as the user said it."""
    said = spoken.by_user(turns)
    if missing := _missing(text, said):
        answered = spoken.answered(turns[0])
        if kind not in RULES and answered is not None and not _missing(text, f"{said}\n{answered.text}"):
            return [*turns, answered], "assistant"
        if not _missing(text, "\n".join(turn.text for turn in turns)):
            return turns, "tool"  # it is in what the user pasted
    elif kind in RULES:
        missing = taken_over(text, said, spoken.by_others)
    if not missing:
        return turns, trust
    raise WrongOutput(f"the text says what the user does not say in its turns: {missing[:40]}")


def _beside(each: Mapping[str, Json], name: str, turns: Sequence[Said], spoken: Spoken) -> str:
    """A reason, or what was before: nothing where it is not in the turns and the talk around them, or cannot be told."""
    value = each.get(name)
    text = text_of(value, name, 0, TEXT_CHARS[1]) if value is not None else ""
    return "" if doubt(text, own=False) or _missing(text, spoken.around(turns)) else text


def _missing(text: str, words: str, least: float = SUPPORTED) -> str:
    """A number, a name or a word of a text that these words do not hold; "" where they support it."""
    return foreign_number(text, words) or unsaid(text, words, least)


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
        if value := unsaid(text, "\n".join(words for _, words, _ in held), SUPPORTED if kind == "preference" else INSIGHT):
            raise WrongOutput(f"the text says what none of its supports says: {value[:40]}")
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
    """The answer, each sentence one that its evidence says; none where the evidence holds none. offered: id and text by name."""
    known = said.get("known")
    if not isinstance(known, bool):
        raise WrongOutput("known is neither true nor false")
    if not known:
        return []
    found = []
    for text, held in _citing(said, offered, 1_000):
        if complaint := unfounded(text, [words for _, words in held], question):
            raise WrongOutput(complaint)
        found.append(Cited(text, tuple(identifier for identifier, _ in held)))
    if not found:
        raise WrongOutput("known is true and there is no sentence")
    return found


def introduction(said: Mapping[str, Json], offered: Mapping[str, tuple[str, str]], title: str) -> list[Cited]:
    """The sentences that introduce a page; one that cannot be told spoils the reply."""
    found = []
    for text, held in _citing(said, offered, 500):
        if value := foreign_number(text, "\n".join([title, *(words for _, words in held)])):
            raise WrongOutput(f"a sentence holds a number that is not in what it cites: {value[:40]}")
        if reason := doubt(text, own=False):
            raise WrongOutput(f"a sentence cannot be told: {reason}")
        found.append(Cited(text, tuple(identifier for identifier, _ in held)))
    return found


def _citing(
    said: Mapping[str, Json], offered: Mapping[str, tuple[str, str]], most: int
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Sentences, each with what it cites of what was offered."""
    for each in list_of(said, "sentences", 10):
        text = text_of(each.get("text"), "text", 1, most)
        yield text, [offered[name] for name in ids_of(each.get("cites"), offered, "cites", 1, 20)]
