"""A question -> the turns and memories that answer it, best first: the one search path of worker, library and command line.

1. Find what may answer: by words, by literal strings, by meaning (candidates.py).
2. Judge: a score is a sum of parts, each between 0 and 1 times its weight (judge.py, weights.py).
3. Of texts that say the same the newest stands for all (equals.py). The first fifty are compared word by word (compare.py).
4. Of statements about the same thing the newest comes first, unless the question asks for the past (newest.py).

Words always count; meaning and comparison add to them where there is an embedder. So no answer is empty while a word matches.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from hindbrain.ledger import fulltext
from hindbrain.recall import feedback, judge, rank
from hindbrain.recall.amendments import amendments
from hindbrain.recall.candidates import Candidate, Candidates
from hindbrain.recall.compare import compared
from hindbrain.recall.contradictions import marked
from hindbrain.recall.equals import equals_last, said_again
from hindbrain.recall.kept_as import kept_as
from hindbrain.recall.newest import newest_first
from hindbrain.recall.question import Question, understood
from hindbrain.recall.spans import spans_of
from hindbrain.recall.static import Static, weights_of
from hindbrain.recall.successors import current_first
from hindbrain.recall.told_changes import ToldChanges
from hindbrain.recall.weights import WEIGHTS
from hindbrain.recall.withheld import noted
from hindbrain.recall.words import spaced

if TYPE_CHECKING:
    from hindbrain.ledger.database import Database
    from hindbrain.recall.meaning import Meaning
    from hindbrain.recall.static import Floats

COMPARED: Final = 50
QUESTION_CHARS: Final = 4_000  # of a question, for its vector
WHOLE_CHARS: Final = 2_000  # of a text without passages, for comparing it

_TEXTS: Final = "SELECT id, text FROM turns WHERE rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"


class Finder:
    """Answers questions of one ledger. Raises EmbedderFailed where a question's vector cannot be had; one made without `meaning`
    answers by words alone."""

    def __init__(
        self, static: Static | None, meaning: Meaning | None, now_ms: Callable[[], int],
        weights: Mapping[str, float] = WEIGHTS,
    ) -> None:  # fmt: skip
        self._static = static
        self._meaning = meaning
        self._now_ms = now_ms
        self._weights = dict(weights)
        self._counts = fulltext.Counts()

    def search(
        self, database: Database, question: str, scope: rank.Scope, k: int, *, talk_only: bool = False
    ) -> list[rank.Found]:
        """The best fits, best first; never empty while a word matches inside the scope. The same question gives the same order.

        `talk_only` leaves out what tools said and were told.
        """
        asked = understood(question)
        if not asked.words or k < 1:
            return []
        counts = fulltext.holding(database, asked.words, self._counts)
        telling = self._telling(database, asked, counts)
        now = self._now_ms()
        vector = self._vector(asked, telling)
        found = Candidates(database, asked, scope, now, talk_only, counts).find(self._meaning, vector)
        if not found:
            return []
        parts = judge.parts_of(database, asked, found, spans_of(database, asked, scope, now))
        parts["reply"] = judge.replies(database, found, judge.weighted(parts, self._weights))
        order = _sorted(found, judge.weighted(parts, self._weights), range(len(found)))
        order, again, repeated = equals_last(found, order)
        first, rest = order[:COMPARED], order[COMPARED:] + ([] if talk_only else again)
        rest = rest[: max(0, min(k, rank.MAX_HITS) - len(first))]
        texts = _texts(database, [found[place] for place in first + rest])
        first = [place for place in first if found[place].id in texts]
        self._compare(asked, telling, found, parts, first, texts)
        first = _sorted(found, judge.weighted(parts, self._weights), first)
        told = {name: (self._weights[name] * part).round(6).tolist() for name, part in parts.items() if name in self._weights}
        rest = [place for place in rest if found[place].id in texts]
        hits = [self._hit(found[place], place, told, texts, repeated.get(place, ())) for place in first + rest]
        hits = self._used(database, hits[: len(first)], scope, now) + hits[len(first) :]
        later = amendments(database, question, hits, scope, self._static)
        newest = newest_first(question, hits, self._static, later, ToldChanges(database))
        ordered = current_first(database, question, newest, scope)
        best = ordered[: min(k, rank.MAX_HITS)]
        best = kept_as(database, marked(database, _descending(best), scope.before), scope.before)
        return best if talk_only else noted(database, best)  # a block leaves out what it must not tell

    def _used(self, database: Database, hits: list[rank.Found], scope: rank.Scope, now: int) -> list[rank.Found]:
        """What was told and then used rises a little, what was not sinks, and age takes a little."""
        if self._weights.get("use"):
            feedback.weigh(database, hits, now, scope.before)
            hits.sort(key=lambda hit: (-hit.score, -hit.at, hit.id))
        return hits

    def _telling(self, database: Database, asked: Question, counts: Sequence[int]) -> Floats | None:
        """How much each token counts: by how few turns hold the word here. A name that everyone has is no news."""
        static = self._static
        if static is None:
            return None
        (turns,) = database.execute("SELECT max(rowid) FROM turns").fetchone()
        weights = weights_of(np.minimum(np.array(counts, np.int64), turns or 0), turns or 0)
        telling = static.usual.copy()
        for word, weight in zip(asked.words, weights.tolist(), strict=True):
            telling[static.tokens(word)] = weight
        return telling

    def _vector(self, asked: Question, telling: Floats | None) -> Floats | None:
        """The question's vector; None where there is no embedder. The table weighs words by how telling they are here."""
        if self._meaning is None:
            return None
        embedder = self._meaning.embedder
        if isinstance(embedder, Static):
            return embedder.question(spaced(asked.text[:QUESTION_CHARS]), telling)
        return embedder.question(asked.text[:QUESTION_CHARS])

    def _compare(
        self, asked: Question, telling: Floats | None, found: Sequence[Candidate], parts: judge.Parts, first: Sequence[int],
        whole: Mapping[str, str],
    ) -> None:  # fmt: skip
        """Add the part of the comparison word by word to the first ones, and move the passage that fits best to the front."""
        parts["tokens"] = np.zeros(len(found))
        if self._static is None or telling is None or not first or not self._weights.get("tokens"):
            return
        texts, owners = [], []
        for place in first:
            each = found[place]
            text = whole[each.id]
            spans = [(start, end) for _, start, end in each.passages] or [(0, WHOLE_CHARS)]
            texts += [text[start:end] for start, end in spans]
            owners += [(place, number) for number in range(len(spans))]
        fits = compared(self._static, spaced(asked.text[:QUESTION_CHARS]), telling, texts)
        weight, meaning = self._weights["tokens"], self._weights.get("meaning", 0.0)
        top = judge.full_likeness(found)
        best: dict[int, tuple[float, int, float]] = {}
        for (place, number), fit in zip(owners, fits.tolist(), strict=True):
            likeness = found[place].passages[number][0] / top if found[place].passages else 0.0
            best[place] = max(best.get(place, (-1.0, 0, 0.0)), (weight * fit + meaning * likeness, -number, fit))
        for place, (_, number, fit) in best.items():
            parts["tokens"][place] = fit
            passages = found[place].passages
            if passages and number:
                passages.insert(0, passages.pop(-number))
                parts["meaning"][place] = max(passages[0][0], 0.0) / top

    def _hit(
        self, each: Candidate, place: int, told: Mapping[str, Sequence[float]], texts: Mapping[str, str],
        same: Sequence[Candidate],
    ) -> rank.Found:
        parts = {name: value for name, values in told.items() if (value := values[place])}
        note = said_again(same)
        start, end = (each.passages[0][1], each.passages[0][2]) if each.passages else (0, 0)
        if each.chars - (end - start) <= 10:  # all of it, but for some space around it
            start = end = 0
        if not each.row:
            hit = rank.Found(
                each.id, each.kind, each.role, each.head, each.at, each.id, "", "", each.project, parts, start=start, end=end,
                valid_to=each.valid_to, superseded=each.ended, note=note,
            )  # fmt: skip
        else:
            hit = rank.Found(
                each.id, "turn", each.role, texts[each.id], each.at, each.key, each.agent, each.client, each.project, parts,
                each.session, start=start, end=end, superseded=each.ended, note=note,
            )  # fmt: skip
        hit.likeness = max(each.likeness, 0.0)
        return hit


def _descending(hits: list[rank.Found]) -> list[rank.Found]:
    """What only says again what stands further up, or was not compared word by word, has no better score than what it follows."""
    for before, hit in pairwise(hits):
        if hit.score > before.score:
            hit.parts["behind"] = before.score - hit.score
            hit.score = before.score
    return hits


def _sorted(found: Sequence[Candidate], total: judge.Numbers, places: Sequence[int]) -> list[int]:
    scores = total.tolist()
    return sorted(places, key=lambda place: (-scores[place], -found[place].at, found[place].id))


def _texts(database: Database, chosen: Sequence[Candidate]) -> dict[str, str]:
    """The whole texts of these, by id. Most are known: judging looks at the beginning, and few go on behind it."""
    known = {each.id: each.head for each in chosen if not each.row or each.chars <= len(each.head)}
    longer = [each.row for each in chosen if each.id not in known]
    return known | (dict(database.execute(_TEXTS, (json.dumps(longer),)).fetchall()) if longer else {})
