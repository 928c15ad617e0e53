"""Turns of a session -> the statements worth keeping, found without a model.

Three readers look at the same turns: the rules at what the user says, `agreed` at proposals the user said yes to, `lessons` at
errors and what fixed them. Where two of them found the same words, the more specific kind stands. What rests on the agent's words
is weighed (secondhand.py), unless the user picked it from several. Text that no person said, and what nobody made a statement of,
is looked through for orders to assistants alone: those are set aside for a person to see.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.agreed import agreed
from hindbrain.reason.forms import WORD
from hindbrain.reason.gate import passed
from hindbrain.reason.lessons import lessons
from hindbrain.reason.quarantine import set_aside
from hindbrain.reason.replies import reply
from hindbrain.reason.rules import said
from hindbrain.reason.secondhand import worth_keeping
from hindbrain.reason.speech import STRENGTH
from hindbrain.reason.trust import doubt, may_become

RULES: Final = "rules/1"
_SHORT_YES: Final = 8  # words: "the first one, please" says no more than what was agreed to


def extract(turns: Sequence[Said], *, working: bool = False) -> list[Statement]:
    """What was said in these turns worth keeping, in the order it was said. working: to an agent that works in a folder."""
    order = {turn.id: number for number, turn in enumerate(turns)}
    texts = {turn.id: turn.text for turn in turns}
    kept = [each for each, secondhand in found_in(turns, working=working) if not secondhand or worth_keeping(each)]
    every = *kept, *set_aside(turns, kept)
    return sorted(every, key=lambda each: (order[each.turns[0]], texts[each.turns[0]].find(each.quote)))


def found_in(turns: Sequence[Said], *, working: bool = False) -> list[tuple[Statement, bool]]:
    """What all readers found, each with whether it is in the agent's words and still to be weighed."""
    of_agent = [*agreed(turns), *lessons(turns)]
    agreeing = {turn for each in of_agent if each.kind == "decision" for turn in each.turns[1:]}
    own = [each for each in said(turns) if not (each.kind == "decision" and each.turns[0] in agreeing and _short(each))]
    # That a command failed and then worked is told as what happened, in our words: no tool's text becomes a lesson.
    found = [_judged(each) for each in (*own, *of_agent) if may_become(each.kind, each.trust) or each.kind == "lesson"]
    texts = {turn.id: turn.text for turn in turns}
    secondhand = {each.id for each in of_agent if each.kind != "decision" or reply(texts[each.turns[-1]]).pick is None}
    return [(each, each.id in secondhand) for each in passed(_once(found, texts), turns, working=working)]


def _short(statement: Statement) -> bool:
    return len(WORD.findall(statement.text)) <= _SHORT_YES


def _judged(statement: Statement) -> Statement:
    """With the reason to look at it first, where there is one."""
    reason = statement.quarantine or doubt(statement.text, own=statement.trust in ("user", "human_file"))
    return replace(statement, quarantine=reason) if reason != statement.quarantine else statement


def _once(found: Iterable[Statement], texts: dict[str, str]) -> list[Statement]:
    """Without doubles: of two that rest on the same words, the more specific one."""
    kept: dict[str, list[tuple[int, int, Statement]]] = {}
    for each in sorted(found, key=lambda each: (STRENGTH.index(each.kind) if each.kind in STRENGTH else 0, -len(each.quote))):
        start = texts[each.turns[0]].find(each.quote)
        end = start + len(each.quote)
        here = kept.setdefault(each.turns[0], [])
        if all(end <= other_start or start >= other_end for other_start, other_end, _ in here):
            here.append((start, end, each))
    unique = {each.id: each for here in kept.values() for _, _, each in here}
    leads = {(each.turns[0], _lead(each)) for each in unique.values()}
    return [each for each in unique.values() if (each.turns[0], each.text) not in leads]


def _lead(statement: Statement) -> str:
    """The sentence that is put in front of it to say what it is about: nothing to be kept by itself."""
    own = f". {' '.join(statement.quote.split())}"
    return statement.text.removesuffix(own) if statement.text.endswith(own) else ""
