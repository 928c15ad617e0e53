"""A question -> the evidence that answers it, or that nothing does.

1. Search, as `hindbrain search` does.
2. Keep what speaks of what the question speaks of (recall/support.py). A turn that only asks is no evidence, nor is one in which
   something is quarantined (recall/withheld.py); a reply is looked at together with what it replies to.
3. Where that is too little, search once more: with the names the best of it brings up, or without words nobody ever said. What is
   found so may be the second step: "orders are kept in PostgreSQL", "PostgreSQL listens on 5433".
4. Still too little: not known. Nothing is made up, and no model is asked to.

Saying the answer in one sentence is a model's part (`in_words`); it may only cite what was found here. Without one the evidence
stands for itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from hindbrain.base.errors import EmbedderFailed, UsageError
from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall import cues, joined, rank
from hindbrain.recall.excerpt import excerpt
from hindbrain.recall.fitting import alike, stem
from hindbrain.recall.support import ENOUGH, FLOOR, STEP, Word, asked_words, names_in, support, tells, told_in, unheard_of
from hindbrain.recall.withheld import tellable, unrepeated
from hindbrain.recall.words import spaced

if TYPE_CHECKING:
    from hindbrain.recall.static import Static

LOOKED_AT: Final = 20
SPARE: Final = 20  # hits that are asked for beside them, as some may be withheld
MOST: Final = 5  # pieces of evidence
OFFERED: Final = 0.2  # what goes so far may be shown to a model, which sees what words alone do not
MOST_OFFERED: Final = 8
_BEHIND: Final = 0.3  # what goes so much less far than the best is not shown
_ASKS: Final = 0.6  # what a turn counts that asks rather than tells
_REPLY: Final = 0.9  # what a reply counts of what it was asked, and of what was only said before it
_BESIDE: Final = 0.5
_TOOLS: Final = ("tool_call", "tool_result")
_TOOL: Final = 0.8
_OVER: Final = 0.3
_KEPT: Final = 0.2  # by how much a turn comes earlier that something was worth keeping in

# What a reply replies to.
_ASKED_BEFORE: Final = """
SELECT reply.id, (
    SELECT other.text FROM turns AS other
    WHERE other.session_id = reply.session_id AND other.role = 'user' AND other.at <= reply.at
      AND (other.at, other.id) < (reply.at, reply.id)
    ORDER BY other.at DESC, other.id DESC LIMIT 1
)
FROM turns AS reply WHERE reply.id IN (SELECT value FROM json_each(?)) AND reply.role = 'assistant'
"""

# What of these turns a memory was found in that may be told.
_KEPT_IN: Final = """
SELECT DISTINCT links.turn_id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.turn_id IN (SELECT value FROM json_each(?)) AND links.role = 'derived_from' AND memories.level = 'observation'
  AND memories.held = '' AND memories.superseded_by IS NULL AND memories.valid_to IS NULL
"""

Search = Callable[[str], list[rank.Found]]
Finding = Callable[[Database, str, rank.Scope, int], list[rank.Found]]


@dataclass(frozen=True, slots=True)
class Proof:
    """A turn or memory, and how far it goes."""

    found: rank.Found
    text: str  # the stretch of it that matters
    share: float
    missing: tuple[str, ...]
    asks: bool = False  # rather than tells


@dataclass(frozen=True, slots=True)
class Weighed:
    """What was found for a question."""

    question: str
    known: bool
    evidence: tuple[Proof, ...]  # what answers; where nothing does, what comes nearest
    refined: str  # what was searched for the second time, "" where once was enough
    share: float
    missing: tuple[str, ...]
    offered: tuple[Proof, ...] = ()  # what a model may cite: more than the evidence, where that alone does not answer


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer, and the turns and memories it rests on."""

    text: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a question gets. Not known: `evidence` holds what comes nearest, and is no answer."""

    question: str
    known: bool
    sentences: tuple[Sentence, ...]  # a model's; none without one
    evidence: tuple[Proof, ...]
    missing: tuple[str, ...]  # what is asked and not spoken of
    refined: str
    made_by: str  # "evidence", or "model:NAME/1"
    without_model: str  # why a model that could have been asked was not, or what it said was not used

    @property
    def text(self) -> str:
        """In one piece, for reading."""
        if not self.known:
            return "I do not know."
        said = [f"{' '.join(each.text.split())} [{', '.join(each.ids)}]" for each in self.sentences]
        return " ".join(said) or "\n".join(_line(each) for each in self.evidence)


def _line(proof: Proof) -> str:
    """A piece of evidence as it is read: a statement that was replaced is not to be taken for what holds."""
    said = f"[{proof.found.id}] {' '.join(proof.text.split())}"
    return f"{said} (no longer holds)" if proof.found.superseded else said


def by_evidence(weighed: Weighed, why: str = "") -> Answer:
    """The evidence for itself."""
    return Answer(
        weighed.question, weighed.known, (), weighed.evidence, weighed.missing, weighed.refined, "evidence", why
    )


def in_words(weighed: Weighed, sentences: Sequence[Sentence], made_by: str) -> Answer:
    """What a model made of the evidence; only what it cites is shown. No sentences: it found no answer in it."""
    cited = {each for sentence in sentences for each in sentence.ids}
    kept = tuple(each for each in weighed.offered if each.found.id in cited)
    if not sentences:
        return replace(by_evidence(weighed), known=False, made_by=made_by)
    return Answer(weighed.question, True, tuple(sentences), kept, (), weighed.refined, made_by, "")


def nothing(question: str) -> Weighed:
    """Where nothing is stored."""
    return Weighed(question, False, (), "", 0.0, ())


def until(as_of: int | None) -> int:
    """The last moment that counts."""
    return rank.FOREVER if as_of is None else as_of


def look(ledger: Evidence, question: str, scope: rank.Scope, search: Finding) -> Weighed:
    """The evidence a ledger holds for an answer, inside a scope."""
    static = table()
    with ledger.reading() as database:
        return weigh(database, question, lambda words: _told(database, search(database, words, scope, LOOKED_AT + SPARE)), static)


def _told(database: Database, found: list[rank.Found]) -> list[rank.Found]:
    return unrepeated(database, tellable(database, found))[:LOOKED_AT]


def weigh(database: Database, question: str, search: Search, static: Static | None) -> Weighed:
    """The evidence for an answer."""
    if not question.strip():
        raise UsageError("there is nothing to ask", hint="give a question")
    words = asked_words(question, static)
    if not words:
        return Weighed(question, False, (), "", 0.0, ())
    asked = unheard_of(words, fulltext.holding(database, [each.word for each in words]))
    looking = _Looking(database, question, asked, static)
    first = looking.proofs(search(question))
    if _best(_telling(first)) >= ENOUGH:
        return looking.told(first, "")
    again = looking.next_question(first)
    if not again:
        return looking.told(first, "")
    found = [each for each in search(again) if each.id not in {known.found.id for known in first}]
    return looking.told(looking.joined(first, looking.proofs(found)), again)


def table() -> Static | None:
    """The table that knows which words are alike; None where it cannot be loaded, and words are compared letter by letter."""
    from hindbrain.recall.static import Static

    try:
        return Static.load()
    except EmbedderFailed:
        return None


class _Looking:
    """One question, and what is looked at for it."""

    def __init__(self, database: Database, question: str, asked: list[Word], static: Static | None) -> None:
        self._database = database
        self._question = question
        self._asked = asked
        self._static = static
        self._stems = {stem(each.word) for each in asked}
        self._past = cues.asks_for_past(question)
        self._kept: set[str] = set()  # turns that a memory which stands was found in

    def proofs(self, found: Sequence[rank.Found]) -> list[Proof]:
        """Each hit with how far it goes, in the order they were found."""
        turns = json.dumps([each.id for each in found if each.kind == "turn"])
        before = dict(self._database.execute(_ASKED_BEFORE, (turns,)).fetchall())
        self._kept |= {row[0] for row in self._database.execute(_KEPT_IN, (turns,)).fetchall()}
        self._kept |= joined.holding(self._database, json.loads(turns), rank.FOREVER)
        same = spaced(self._question)
        return [self._proof(each, before.get(each.id) or "") for each in found if spaced(each.text) != same]

    def _proof(self, found: rank.Found, before: str) -> Proof:
        said = excerpt(found.text, found.start, found.end, self._stems)
        told = told_in(said) if found.kind == "turn" else said
        own = support(self._asked, told or said, self._static)
        share, missing = own.share, own.missing
        if before and tells(said, self._asked):
            both = support(self._asked, f"{before[:2_000]}\n{said}", self._static)
            if both.share > own.share:
                share, missing = own.share + (both.share - own.share) * (_REPLY if "?" in before else _BESIDE), both.missing
        share *= (1.0 if told else _ASKS) * (_TOOL if found.role in _TOOLS else 1.0)
        return Proof(found, said, round(share, 6), missing, not told)

    def next_question(self, proofs: Sequence[Proof]) -> str:
        """What to search for instead; "" where there is nothing else to search for."""
        best = max(proofs, key=lambda each: each.share, default=None)
        if best is not None and best.share >= STEP and (names := names_in(best.text, self._asked, self._static)):
            return " ".join([*best.missing, *names])
        held = fulltext.holding(self._database, [each.word for each in self._asked])
        words = [each.word for each, count in zip(self._asked, held, strict=True) if count]
        return " ".join(words) if 0 < len(words) < len(self._asked) else ""

    def joined(self, first: Sequence[Proof], second: Sequence[Proof]) -> list[Proof]:
        """What was found at once and later; a later one may be the second step of the best of the first."""
        step = max(_telling(first), key=lambda each: each.share, default=None)
        if step is None or step.share < STEP:
            return [*first, *second]
        names = set(names_in(step.text, self._asked, self._static))
        for each in _telling([*second, *(other for other in first if other is not step)]):
            both = support(self._asked, f"{step.text}\n{each.text}", self._static)
            if names & set(spaced(each.text).split()) and both.share > max(step.share, each.share) and both.share >= FLOOR:
                pair = [replace(proof, share=both.share, missing=both.missing) for proof in (step, each)]
                taken = {proof.found.id for proof in pair}
                return [*pair, *(other for other in [*first, *second] if other.found.id not in taken)]
        return [*first, *second]

    def told(self, proofs: Sequence[Proof], refined: str) -> Weighed:
        """The best of it, each thing once; no memory that no longer holds beside what does, unless the past is asked for.

        What only asks makes nothing known; where nothing is, it may be what comes nearest.
        """
        known = _best(_telling(proofs)) >= FLOOR
        looked_at = _telling(proofs) if known else proofs
        best = _best(looked_at)
        least = max(FLOOR, best - _BEHIND) if known else best - 0.1
        chosen = [each for each in looked_at if each.share > 0 and each.share + self._worth(each) >= least]
        chosen = _telling(chosen) or chosen
        if not self._past:
            chosen = [each for each in chosen if not each.found.superseded or each.found.kind == "turn"] or chosen
        chosen.sort(key=self._place)
        chosen = _once(chosen)[: MOST if known else 1]
        every = tuple(each.word for each in self._asked)
        missing = min((each.missing for each in chosen if each.share == best), key=len, default=every)
        offered = chosen if known else _once([each for each in _telling(proofs) if each.share >= OFFERED])[:MOST_OFFERED]
        return Weighed(self._question, known, tuple(chosen), refined, best, missing, tuple(offered))

    def _place(self, proof: Proof) -> float:
        """What goes further comes earlier, and what was worth keeping before what was only said."""
        over = _OVER if proof.found.superseded and not self._past else 0.0  # of a turn perhaps only something in it
        return -round(proof.share + self._worth(proof) - over, 1)

    def _worth(self, proof: Proof) -> float:
        return _KEPT if proof.found.kind != "turn" or proof.found.id in self._kept else 0.0


def _once(proofs: Sequence[Proof]) -> list[Proof]:
    """Of those that say the same the first: a memory stands for the turn it was found in."""
    kept: list[tuple[frozenset[str], Proof]] = []
    for each in proofs:
        words = frozenset(spaced(each.text).split())
        if not any(alike(words, known) for known, _ in kept):
            kept.append((words, each))
    return [each for _, each in kept]


def _telling(proofs: Sequence[Proof]) -> list[Proof]:
    """Those that tell something, rather than ask."""
    return [each for each in proofs if not each.asks]


def _best(proofs: Sequence[Proof]) -> float:
    return max((each.share for each in proofs), default=0.0)
