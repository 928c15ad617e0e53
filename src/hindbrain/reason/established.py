"""Turns -> lasting facts and procedures the agent established in clear words: few, and never what was just done.

Where something lives, who alone calls it, what a repository enforces; and how something is done, where the user asked how and
the answer is a command. What the user puts right in the next message is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.causes import is_sure
from hindbrain.reason.own_words import own
from hindbrain.reason.prose import Sentence, plain, sentences
from hindbrain.reason.runs import shows_failure

_CONFIDENCE: Final = 0.6
_LONGEST: Final = 240
_MOST_PER_TURN: Final = 2
_PLACE: Final = (
    r"(?:the (?:tables?|files?|module|folder|directory|package|schema) |der |dem |den |la |el )?(?:`[^`\n]{2,120}`|"
    r"[\w.-]{1,60}/[\w./-]{1,100})"
)
_FACT: Final = re.compile(
    rf"\b(?:lives?|resides?|sits?) (?:in|under|at) {_PLACE}|\b(?:is|are) (?:defined|implemented|configured|declared|stored|"
    rf"kept|generated) (?:in|by|from|under) {_PLACE}|"
    r"\b(?:is|are) only (?:called|used|imported|read|written|set|run|triggered|reachable) (?:from|by|in|through|via)\b|"
    r"\bthe only caller\b|"
    r"\b[Ii]n this (?:repo(?:sitory)?|project|codebase|setup)\b[, ]|"
    rf"\b(?:liegt|liegen|steht|stehen|wohnt) (?:in|unter|bei) {_PLACE}|\bwird nur (?:von|in|aus) [^.\n]{{2,80}}(?:aufgerufen|"
    rf"benutzt|verwendet|gelesen)|\bin diesem (?:repo|projekt)\b|"
    rf"\b(?:vive|está definid[oa]|se define|se guarda|están?) en {_PLACE}|\bs[oó]lo se (?:llama|usa|lee|importa) (?:desde|"
    rf"en)\b|\ben este (?:repo|proyecto)\b",
    re.IGNORECASE)  # fmt: skip
_DONE: Final = re.compile(
    r"\b(?:I've|I have|I (?:put|added|moved|wrote|made|created|set|fixed|found|left)|now (?:lives?|in)|is now|are now|moved to|"
    r"added|there'?s no|jetzt|nun|ich habe|habe ich|he (?:puesto|movido|añadido|creado)|"
    r"ahora|ya está|done|created|updated|for now|in place|committed|ready|noted|apuntado|notiert|documented|"
    r"TODO)\b", re.IGNORECASE)  # fmt: skip
_HOW: Final = re.compile(
    r"\b(?:how (?:do|can|would|should|does one) (?:i|we|you|one|people)\b|how to\b|what'?s the (?:command|way|procedure)|"
    r"what do i (?:run|type)|"
    r"wie (?:starte|mache|baue|führe|kann|lasse|deploye|komme|geht|bekomme|kriege)\w* (?:ich|wir|man|das|der)|welche[rs]? befehl|"
    r"cómo (?:se |lo |la |puedo |hago |arranco |lanzo |ejecuto )\w*|qué comando)\b[^.\n]{0,120}\?", re.IGNORECASE)  # fmt: skip
_RUNS: Final = re.compile(r"`(?P<command>[a-z./][\w./@-]{1,60}(?: [^`\n]{1,200}))`")
_PURPOSE: Final = re.compile(
    r"(?:to \w{2,20}\b[^,:.\n]{0,60}[,:] |(?:um|zum|beim|für) [^,:.\n]{2,60}[,:] |para \w{2,20}[^,:.\n]{0,60}[,:] |"
    r"the (?:steps|procedure|flow|order)[^:\n]{0,40}: )",
    re.IGNORECASE)  # fmt: skip
_STEP: Final = re.compile(r"\b(?:then|afterwards|finally|dann|danach|anschließend|zuletzt|luego|después|"
                          r"y al final)\b", re.IGNORECASE)
_WRONG: Final = re.compile(r"^\W{0,3}(?:no|nope|nah|wrong|not|that'?s (?:not|wrong|old)|isn'?t|nein|nee|falsch|stimmt nicht|"
                           r"das ist (?:falsch|veraltet)|incorrecto|eso no)\b|"
                           r"\b(?:is|are|that's|ist|está) (?:wrong|outdated|stale|old|obsolete|veraltet|falsch|mal|"
                           r"obsoleto)\b", re.IGNORECASE)  # fmt: skip


def established(turns: Sequence[Said]) -> Iterator[tuple[int, Statement]]:
    """Each with the number of the turn that states it."""
    asked, failed = -1, False  # what is said right after a failure is about the failure
    following = _next_user(turns)
    for number, turn in enumerate(turns):
        if turn.role == "user":
            asked = number
        if turn.role == "tool_result":
            failed = turn.error or shows_failure(turn.text)
        if turn.role != "assistant" or _WRONG.search(following[number][:300]):
            continue
        said = sentences(turn.text)
        for sentence in [each for each in said if not failed and _is_fact(each.text)][:_MOST_PER_TURN]:
            yield number, Statement("fact", plain(sentence.text), (turn.id,), sentence.text, _CONFIDENCE, "assistant")
        for sentence in [each for each in said if _is_steps(each.text)][:_MOST_PER_TURN]:
            yield number, Statement("procedure", plain(sentence.text), (turn.id,), sentence.text, _CONFIDENCE, "assistant")
        if asked >= 0 and (how := _asked_how(turns[asked])):
            yield from ((number, statement) for statement in _procedure(turns[asked], turn, how, said))
            asked = -1


def _next_user(turns: Sequence[Said]) -> list[str]:
    """Of each turn, the words the user says next."""
    words, found = "", [""] * len(turns)
    for number in range(len(turns) - 1, -1, -1):
        found[number] = words
        if turns[number].role == "user":
            words = turns[number].text
    return found


def reports(text: str) -> bool:
    """Whether a sentence tells what was done or noted."""
    return _DONE.search(text) is not None


def _is_fact(text: str) -> bool:
    return len(text) <= _LONGEST and _FACT.search(text) is not None and is_sure(text) and not reports(text)


def _is_steps(text: str) -> bool:
    """Whether a sentence says how something is done: its purpose first, then at least two steps, one of them a command."""
    if len(text) > _LONGEST or "`" not in text or not _PURPOSE.match(text):
        return False
    return _STEP.search(text) is not None and is_sure(text) and not reports(text)


def _asked_how(user: Said) -> str:
    found = _HOW.search(own(user.text[:2_000]))
    return plain(found.group()) if found else ""


def _procedure(user: Said, agent: Said, how: str, said: list[Sentence]) -> list[Statement]:
    """The first sentence of the answer that holds a command to run, under the words of the question."""
    for sentence in said[:3]:
        text = sentence.text
        if _RUNS.search(text) and is_sure(text) and not reports(text) and len(text) <= _LONGEST:
            return [Statement("procedure", f"{how} {plain(text)}", (agent.id, user.id), text, _CONFIDENCE, "assistant")]
    return []
