"""Candidates -> the parts of their scores, each between 0 and 1: what a weight is given to.

What has a scale of its own (BM25, likeness, sums over a session) is divided by its largest value among the candidates, all of
which are inside the scope: what other projects hold changes no order here.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from hindbrain.recall.candidates import Candidate
from hindbrain.recall.dates import Stretch, nearness
from hindbrain.recall.question import Question, holds, speaker_of

if TYPE_CHECKING:
    from hindbrain.ledger.database import Database

Numbers = NDArray[np.float64]
Parts = dict[str, Numbers]

LONG_REPLY_CHARS: Final = 600
LIKE: Final = 0.4  # two texts that are about the same reach this
NUMBER_COUNTS: Final = 0.5  # a number may stand in any text; a path or an error code does not
SESSION_ITEMS: Final = 8
SESSION_REPLY: Final = 0.2  # what a long reply counts for its session: it holds a little of everything
_TALK: Final = ("user", "assistant")

# What was said next, of turns given by row number.
_NEXT: Final = """
SELECT before.rowid, (
    SELECT other.rowid FROM turns AS other
    WHERE other.session_id = before.session_id AND other.role IN ('user', 'assistant')
      AND other.at >= before.at AND (other.at, other.id) > (before.at, before.id)
    ORDER BY other.at, other.id LIMIT 1
)
FROM turns AS before WHERE before.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
"""


def parts_of(database: Database, question: Question, found: Sequence[Candidate], spans: Sequence[Stretch]) -> Parts:
    """Every part but the replies and the comparison word by word, which build on these."""
    long = numbers(each.role == "assistant" and each.chars > LONG_REPLY_CHARS for each in found)
    tool = numbers(each.kind == "turn" and each.role not in _TALK for each in found)
    likeness = numbers(each.likeness for each in found)
    words, meaning = _words(question, found), likeness / full_likeness(found)
    counts = (1 - (1 - SESSION_REPLY) * long) * (1 - tool)
    exact, literal = _literals(question, found)
    parts = {
        "words": words,
        "meaning": meaning,
        "session": _by_session(found, counts * words),
        "session_meaning": _by_session(found, counts * meaning),
        "speaker": numbers(bool(question.named & speaker_of(each.head)) for each in found),
        "question": numbers(each.asks for each in found),
        "literal": literal,
        "date": numbers(nearness(each.at, spans) for each in found) if spans else np.zeros(len(found)),
        # a reply or an output that holds the very path or code that is asked for is what is wanted
        "long_reply": long * (0.0 if question.wants_reply else 1.0) * (1 - 0.5 * exact),
        "tool": tool * (1 - exact),
        "memory": numbers(each.kind != "turn" for each in found),
        "superseded": numbers(each.ended and not question.wants_past for each in found),
    }
    return parts


def _words(question: Question, found: Sequence[Candidate]) -> Numbers:
    """BM25, turns and memories by their own scale: the scores of two indexes cannot be compared.

    The best memory may still fit far worse than the best turn, so memories count as much less as the best of them holds fewer of
    the question's words.
    """
    scores = numbers(each.words for each in found)
    memory = numbers(each.kind != "turn" for each in found) > 0
    if not memory.any() or memory.all():
        return largest_is_1(scores)
    best = [int(np.argmax(np.where(which, scores, -1.0))) for which in (memory, ~memory)]
    held = [_held(question.words, found[place].head) for place in best]
    worse = min(1.0, held[0] / held[1]) if held[1] else 1.0
    return np.where(memory, worse * largest_is_1(np.where(memory, scores, 0.0)), largest_is_1(np.where(memory, 0.0, scores)))


def _held(words: Sequence[str], text: str) -> int:
    """How many of the words a text holds, near enough: by their beginnings."""
    lower = text.lower()
    return sum(word[: max(4, len(word) - 2)] in lower for word in words)


def _literals(question: Question, found: Sequence[Candidate]) -> tuple[Numbers, Numbers]:
    """The share of what must be found letter for letter that each holds; and the same with numbers, which say half as much."""
    if not question.literals:
        return np.zeros(len(found)), np.zeros(len(found))
    heads = [each.head.lower() for each in found]
    exact, number = (
        numbers(sum(holds(head, each) for each in looked_for) / len(looked_for) if looked_for else 0.0 for head in heads)
        for looked_for in (question.exact, question.numbers)
    )
    return exact, np.maximum(exact, NUMBER_COUNTS * number)


def _by_session(found: Sequence[Candidate], part: Numbers) -> Numbers:
    """The session's best turn, half its second, a third of its third ...; a memory is a session of its own."""
    total: dict[str, float] = defaultdict(float)
    seen: dict[str, int] = defaultdict(int)
    values = part.tolist()
    for place in np.argsort(-part, kind="stable").tolist():
        session = found[place].session
        seen[session] += 1
        if seen[session] <= SESSION_ITEMS:
            total[session] += values[place] / seen[session]
    # the best turn alone makes 1 where something fits at all; where nothing does, no session is made to
    return numbers(total[each.session] for each in found) / max(1.0, max(total.values(), default=0.0))


def full_likeness(found: Sequence[Candidate]) -> float:
    """The likeness that counts as 1: the largest there is, but not one that means nothing."""
    return max(LIKE, max((each.passages[0][0] for each in found if each.passages), default=0.0))


def replies(database: Database, found: Sequence[Candidate], total: Numbers) -> Numbers:
    """How well the question fits that a short turn answers: the turn before it, if another asked it."""
    place = {each.row: number for number, each in enumerate(found) if each.row}
    fits = np.zeros(len(found))
    pairs = _asked_and_answered(found)
    if pairs:
        for asked, answered in database.execute(_NEXT, (json.dumps(list(pairs)),)).fetchall():
            if pairs[asked] == answered:
                fits[place[answered]] = total[place[asked]]
    return largest_is_1(np.maximum(fits, 0.0))


def _asked_and_answered(found: Sequence[Candidate]) -> dict[int, int]:
    """Turns that ask, each with the next candidate of its session where another role is short enough to be the answer."""
    by_session: dict[str, list[Candidate]] = defaultdict(list)
    for each in found:
        if each.row and each.role in _TALK:
            by_session[each.session].append(each)
    pairs = {}
    for turns in by_session.values():
        turns.sort(key=lambda each: (each.at, each.id))
        for asked, answered in pairwise(turns):
            if asked.asks and asked.role != answered.role and answered.chars <= LONG_REPLY_CHARS:
                pairs[asked.row] = answered.row
    return pairs


def weighted(parts: Parts, weights: dict[str, float]) -> Numbers:
    """The sum of the parts, rounded so that no engine's last digit decides an order."""
    total: Numbers = np.sum([weights.get(name, 0.0) * part for name, part in parts.items()], axis=0)
    return total.round(9)


def largest_is_1(values: Numbers) -> Numbers:
    """The values divided by the largest of them."""
    top = float(values.max()) if len(values) else 0.0
    return values / top if top > 0 else values


def numbers(values: Iterable[float | bool]) -> Numbers:
    """An array of what a loop yields."""
    return np.array(list(values), np.float64)
