"""Words -> the documents that fit them best, by the full-text index on PostgreSQL.

A word becomes the term FTS5 would look for, and what the index knows of it. One that FTS5 takes for several terms is a phrase:
they must follow each other, which is seen in the texts.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Final

from hindbrain.ledger.database import Rows
from hindbrain.ledger.postgres import bm25, terms
from hindbrain.ledger.postgres.bm25 import Question, Word
from hindbrain.ledger.postgres.narrowing import Narrowing, Scores, best_of
from hindbrain.ledger.postgres.terms import OWN

PIECE: Final = 2_000

_KNOWN: Final = """
SELECT NULL, {docs}, {tokens} FROM text_totals UNION ALL SELECT term, id, {docs} FROM terms WHERE term = ANY (?::text[])
"""
_COUNTS: Final = "SELECT number, length, counted FROM text_counts(?, ?::integer[], ?::bigint[])"
_HOLDING: Final = "SELECT number FROM text_holding(?, ?::integer[])"
_TEXTS: Final = {
    "turn": "SELECT rowid, text, near FROM turns WHERE rowid = ANY (?::bigint[])",
    "memory": "SELECT number, text, '' FROM memory_terms JOIN memories ON memories.id = memory WHERE number = ANY (?::bigint[])",
}
_MEMORIES: Final = "SELECT number, memory FROM memory_terms WHERE number = ANY (?::bigint[])"
_THESE_TURNS: Final = """
SELECT turns.id, turns.rowid, turn_terms.length, turn_terms.ids, turn_terms.counts
FROM turns JOIN turn_terms ON turn_terms.number = turns.rowid WHERE turns.id = ANY (?::text[])
"""


_TURNS_INSIDE: Final = """
SELECT turns.rowid, turns.rowid, turn_terms.length, turn_terms.ids, turn_terms.counts
FROM sessions JOIN turns ON turns.session_id = sessions.id JOIN turn_terms ON turn_terms.number = turns.rowid
WHERE sessions.project_id = ? AND (turn_terms.ids && ?::integer[] OR turns.rowid = ANY (?::bigint[]))
"""


class Searching(abc.ABC):
    """The part of the index that answers; whoever has a connection brings `execute`."""

    @abc.abstractmethod
    def execute(self, sql: str, parameters: Any = (), /) -> Rows: ...

    def best_turns(
        self, words: Sequence[str], near_weight: float, limit: int, rarer: Sequence[str] | None = None
    ) -> list[tuple[int, float]]:
        """Row numbers and scores of the turns that hold any of the words, best first; limit -1 for all.

        `rarer`: of the words those of which a turn must hold one.
        """
        question = self._question("turn", words)
        if rarer is None or len(rarer) == len(words) or question.has_phrases:
            return self._best("turn", question, near_weight, limit)
        search = Narrowing(self, "turn", question, near_weight, limit)
        search.look(any_of=[word.id for word in self._question("turn", rarer).words])
        return search.found

    def best_memories(self, words: Sequence[str], limit: int) -> list[tuple[str, float]]:
        """Ids and scores of the memories that hold any of the words, best first; limit -1 for all."""
        found = self._best("memory", self._question("memory", words), 1.0, limit)
        names = dict(self.execute(_MEMORIES, ([number for number, _ in found],)).fetchall()) if found else {}
        return [(names[number], score) for number, score in found]

    def score_turns(self, words: Sequence[str], near_weight: float, identifiers: Sequence[str]) -> list[tuple[str, float]]:
        """Ids and scores of those of these turns that hold any of the words."""
        question = self._question("turn", words)
        rows = self.execute(_THESE_TURNS, (list(identifiers),)).fetchall() if question.words else []
        return _scored(rows, question, near_weight)

    def turns_holding(self, words: Sequence[str]) -> list[int]:
        """In how many turns each of the words stands, its own or its neighbours'."""
        asked = terms.in_order(words)
        names = list({each[0] for each in asked if len(each) == 1})
        rows = self.execute(_KNOWN.format(docs="docs", tokens="tokens"), (names,)).fetchall() if names else []
        docs = {term: held for term, _, held in rows if term is not None}
        return [
            docs.get(each[0], 0) if len(each) == 1 else self._phrase_docs(word) for word, each in zip(words, asked, strict=True)
        ]  # fmt: skip

    def _phrase_docs(self, word: str) -> int:
        found = self._question("turn", [word]).words
        return found[0].docs if found else 0

    def turns_inside(self, words: Sequence[str], near_weight: float, project: str) -> list[tuple[int, float]]:
        """Row numbers and scores of all turns of a project that hold any of the words. The index does not know projects, so
        this is for when the best of all are of others: a project's turns are few beside all turns."""
        question = self._question("turn", words)
        plain = [word.id for word in question.words if word.holding is None]
        held = list({number for word in question.words for number in word.holding or ()})
        rows = self.execute(_TURNS_INSIDE, (project, plain, held)).fetchall() if question.words else []
        return _scored(rows, question, near_weight)

    def _question(self, kind: str, words: Sequence[str]) -> Question:
        """What the index knows of the words. One that FTS5 takes for several must be there as they follow each other."""
        asked = [each for each in terms.in_order(words) if each]
        names = ("docs", "tokens") if kind == "turn" else ("memory_docs", "memory_tokens")
        wanted = list({term for each in asked for term in each})
        rows = self.execute(_KNOWN.format(docs=names[0], tokens=names[1]), (wanted,)).fetchall() if wanted else []
        total, tokens = next(((row[1], row[2]) for row in rows if row[0] is None), (0, 0))
        known = {term: (number, docs) for term, number, docs in rows if term is not None and docs}
        found = []
        for each in asked:
            if not all(term in known for term in each):
                continue
            if len(each) == 1:
                number, docs = known[each[0]]
                found.append(Word(bm25.idf(total, docs), docs, number))
            elif holding := self._holding(kind, each, [known[term][0] for term in each]):
                found.append(Word(bm25.idf(total, len(holding)), len(holding), 0, holding))
        return Question(found, tokens / total if total else 0.0)

    def _holding(self, kind: str, phrase: Sequence[str], ids: Sequence[int]) -> dict[int, int]:
        """The documents in which terms follow each other, with how often. The index has no places, so it is seen in the texts."""
        numbers = [row[0] for row in self.execute(_HOLDING, (kind, list(set(ids)))).fetchall()]
        found = {}
        for start in range(0, len(numbers), PIECE):
            rows = self.execute(_TEXTS[kind], (numbers[start : start + PIECE],)).fetchall()
            own, near = (terms.in_order([row[column] for row in rows]) for column in (1, 2))
            for row, before, beside in zip(rows, own, near, strict=True):
                if count := OWN * bm25.occurrences(before, phrase) + bm25.occurrences(beside, phrase):
                    found[row[0]] = count
        return found

    def _best(self, kind: str, question: Question, near_weight: float, limit: int) -> Scores:
        if not question.words or limit == 0:
            return []
        if question.has_phrases:
            return self._best_with_phrases(kind, question, near_weight, limit)
        search = Narrowing(self, kind, question, near_weight, limit)
        if limit < 0:
            search.look(any_of=[word.id for word in question.words])
        else:
            search.narrow()
        return search.found

    def _best_with_phrases(self, kind: str, question: Question, near_weight: float, limit: int) -> Scores:
        plain = [word.id for word in question.words if word.holding is None]
        numbers = list({number for word in question.words for number in word.holding or ()})
        found = []
        for number, length, counted in self.execute(_COUNTS, (kind, plain, numbers)).fetchall():
            left = iter(counted)
            asked = [_count(word, number, 0 if word.holding is not None else next(left)) for word in question.words]
            found.append((number, bm25.score(question, near_weight, length, asked)))
        return best_of(found, limit)


def _scored(rows: Sequence[Any], question: Question, near_weight: float) -> list[tuple[Any, float]]:
    """Of documents (a name, number, length, term ids, counts) those that hold any of the words, with their scores."""
    found = []
    for name, number, length, ids, counts in rows:
        held = dict(zip(ids, counts, strict=False))  # behind them stand those it is strong in, without counts
        asked = [_count(word, number, held.get(word.id, 0)) for word in question.words]
        if any(asked):
            found.append((name, bm25.score(question, near_weight, length, asked)))
    return found


def _count(word: Word, number: int, counted: int) -> int:
    return counted if word.holding is None else word.holding.get(number, 0)
