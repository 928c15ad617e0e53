"""A question -> the turns and memories that may answer it, each with what judging it needs to know.

Looked for in three ways: by words, by what must be there letter for letter, and by meaning. Each way finds some hundreds; what
none of them finds is not ranked. All facts of all turns come from one statement, and those of all memories from another, and both
hold the scope: whatever an index says, nothing from outside gets in.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from hindbrain.recall import joined, rank, withheld
from hindbrain.recall.question import Question, phrases

if TYPE_CHECKING:
    from hindbrain.ledger.database import Database
    from hindbrain.recall.meaning import Meaning, Near
    from hindbrain.recall.static import Floats

BY_WORDS: Final = 150
BY_MEANING: Final = 100
BY_LITERALS: Final = 60
MEMORIES: Final = 100
ENOUGH: Final = 100  # different ones; with fewer of them inside the scope all that match are looked through
CHUNK: Final = 1_000
MOST_EQUAL: Final = 3_000  # a prompt that was given every day is not looked through for ever
# Less like the question than this is like it by chance: such a passage is no reason to find something.
LEAST_LIKENESS: Final = 0.2
PASSAGES: Final = 3  # of one turn, that are compared word by word
HEAD_CHARS: Final = 700  # of a turn's text, for judging it
LITERAL_CHARS: Final = 20_000  # the same where something must be found in it letter for letter

_TURNS: Final = """
SELECT turns.rowid, turns.id, turns.session_id, turns.role, turns.at, length(turns.text), substr(turns.text, 1, {chars}),
       CASE WHEN length(turns.text) > {chars} THEN substr(turns.text, length(turns.text) - 1) END,
       turns.key, sessions.agent, sessions.client_id, sessions.project_id, (
           SELECT max(CASE WHEN memories.held = '' AND (memories.valid_to IS NULL OR memories.valid_to > ?) THEN 1 ELSE -1 END)
           FROM links JOIN memories ON memories.id = links.memory_id
           WHERE links.turn_id = turns.id AND links.role IN ('derived_from', 'supports') AND memories.held IN ('', 'rejected')
       )
FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.at BETWEEN ? AND ? AND sessions.agent <> 'hindbrain' {project} {roles}
"""
_MEMORIES: Final = """
SELECT memories.id, memories.kind, memories.trust, memories.created_at, memories.text, memories.project_id, memories.valid_to, (
           SELECT turns.rowid FROM links JOIN turns ON turns.id = links.turn_id
           WHERE links.memory_id = memories.id AND links.number = memories.evidence AND memories.session_id IS NOT NULL
       ), CASE WHEN {alone} THEN 1 ELSE 0 END
FROM memories
WHERE memories.id IN (SELECT value FROM json_each(?)) AND memories.valid_from BETWEEN ? AND ?
  AND (memories.valid_to IS NULL OR memories.valid_to > ?) AND {told} {project}
"""


@dataclass(slots=True)
class Candidate:
    """A turn or a memory that may be an answer."""

    id: str
    row: int  # of a turn; 0 for a memory
    kind: str  # "turn", or the kind of memory
    session: str  # a memory stands for itself
    role: str
    at: int
    chars: int
    head: str  # the beginning of its text; of a memory all of it
    asks: bool
    ended: bool = False  # no longer holds, or all that was found in it was replaced, has ended or was rejected
    words: float = 0.0  # BM25
    passages: list[tuple[float, int, int]] = field(default_factory=list[tuple[float, int, int]])  # likeness, from, to; best first
    project: str | None = None
    valid_to: int | None = None
    said_in: int = 0  # of a memory that was found in a session: the row of the turn that says it
    alone: bool = False  # of a memory: it was kept, or holds everywhere and was said elsewhere, so no turn here tells it
    key: str = ""  # of a turn, with its session's agent and name
    agent: str = ""
    client: str = ""

    @property
    def likeness(self) -> float:
        """How like the question its best passage is; 0 where it has none."""
        return max(self.passages[0][0], 0.0) if self.passages else 0.0


class Candidates:
    """Looks for what may answer one question."""

    def __init__(
        self, database: Database, question: Question, scope: rank.Scope, now: int, talk_only: bool, counts: Sequence[int]
    ) -> None:
        self._database = database
        self._question = question
        self._scope = scope
        self._then = min(scope.before, now)  # what ended later still stood
        self._talk_only = talk_only
        self._counts = counts  # in how many turns each of the question's words stands
        self._read: dict[int, Candidate | None] = {}  # turns that were looked up, by row; None for one outside the scope

    def find(self, meaning: Meaning | None, vector: Floats | None) -> list[Candidate]:
        """All of them, in no order."""
        near: Sequence[Near] = ()
        if meaning is not None and vector is not None:
            near = meaning.nearest(self._database, vector, self._scope, BY_MEANING, self._inside)
        near = [each for each in near if each.likeness >= LEAST_LIKENESS]
        memories = self._memories(near)
        # what was found in a session is told by the turn that says it: one answer, in the words that were said
        said_in = [each.said_in for each in memories if each.said_in]
        found = self._turns(near, said_in) + self._for_themselves(memories)
        if meaning is not None and vector is not None:
            self._liken(found, near, meaning, vector)
        return found

    def _for_themselves(self, memories: Sequence[Candidate]) -> list[Candidate]:
        """Those that no turn tells which may be told: kept, said elsewhere, or found beside something that was quarantined."""
        apart = withheld.beside(self._database, [each.id for each in memories])
        return [each for each in memories if apart.get(each.id, each.alone)]

    def _turns(self, near: Sequence[Near], said_in: Sequence[int]) -> list[Candidate]:
        words = self._question.words
        looked_at = BY_WORDS if self._scope.everything else BY_WORDS * 3 // 2  # some are of other projects
        best = rank.best_turns(self._database, words, looked_at, self._counts)
        others = [each.turn for each in near if each.turn is not None] + self._holding_literals() + list(said_in)
        turns = self._facts(best, others)
        if len(best) == looked_at and _distinct(turns) < ENOUGH:
            # too many of the best are of other projects, or say the same: look again, further down
            every = sorted(rank.every_turn(self._database, words, self._scope), key=lambda each: (-each[1], each[0]))
            turns = self._facts([], others)
            for start in range(0, len(every), CHUNK):
                turns += self._facts(every[start : start + CHUNK], ())
                if _distinct(turns) >= ENOUGH or len(turns) > MOST_EQUAL:
                    break
        turns = list({each.row: each for each in turns}.values())  # one found again has its score the second time
        turns.sort(key=lambda each: (-each.words, each.id))
        first, rest = _room_for_others(turns) if _distinct(turns[:BY_WORDS]) < ENOUGH else (turns[:BY_WORDS], turns[BY_WORDS:])
        wanted = set(others)
        return first + [each for each in rest if each.row in wanted]

    def _holding_literals(self) -> list[int]:
        """Turns that hold what must be found letter for letter, even where common words crowd them out."""
        looked_for = phrases(self._question.literals)
        if not looked_for:
            return []
        best = rank.best_turns(self._database, looked_for, 2 * BY_LITERALS)
        if len(best) == 2 * BY_LITERALS and not self._scope.everything:
            every = rank.every_turn(self._database, looked_for, self._scope)
            best = sorted(every, key=lambda each: (-each[1], each[0]))[:BY_LITERALS]
        return [row for row, _ in best]

    def _facts(self, best: Sequence[tuple[int, float]], others: Iterable[int]) -> list[Candidate]:
        """Of these turns the ones inside the scope, each with its score."""
        scores = dict(best)
        found = self._inside(dict.fromkeys([*scores, *others]))
        for row, each in found.items():
            each.words = scores.get(row, 0.0)
        return list(found.values())

    def _inside(self, rows: Iterable[int]) -> dict[int, Candidate]:
        """Of these turns the ones inside the scope, by row; each is read once, however often it is found."""
        wanted = list(rows)
        new = [row for row in wanted if row not in self._read]
        if new:
            condition, values = self._scope.condition("turns")
            roles = "AND turns.role IN ('user', 'assistant')" if self._talk_only else ""
            chars = LITERAL_CHARS if self._question.literals else HEAD_CHARS
            query = _TURNS.format(project=condition, roles=roles, chars=chars)
            limits = (self._then, json.dumps(new), self._scope.after, self._scope.before, *values)
            self._read.update(dict.fromkeys(new))
            self._read.update((row[0], _turn(row)) for row in self._database.execute(query, limits).fetchall())
            self._let_joined_hold(new)
        return {row: each for row in wanted if (each := self._read[row]) is not None}

    def _let_joined_hold(self, rows: Iterable[int]) -> None:
        """What was only made one with others that say the same is not over."""
        ended = {each.id: each for row in rows if (each := self._read[row]) is not None and each.ended}
        for turn in joined.holding(self._database, ended, self._then) if ended else ():
            ended[turn].ended = False

    def _memories(self, near: Sequence[Near]) -> list[Candidate]:
        best = rank.best_memories(self._database, self._question.words, MEMORIES)
        others = [each.memory for each in near if each.memory is not None]
        found = self._memory_facts(best, others)
        if len(best) == MEMORIES > sum(each.words > 0 for each in found):  # the best are of other projects, or hold no more
            found = self._memory_facts(rank.best_memories(self._database, self._question.words, -1), others)
        found.sort(key=lambda each: (-each.words, each.id))
        kept, wanted = found[:MEMORIES], set(others)
        return kept + [each for each in found[MEMORIES:] if each.id in wanted]

    def _memory_facts(self, best: Sequence[tuple[str, float]], others: Iterable[str]) -> list[Candidate]:
        """Of these memories the ones in the scope that stood at its end; where the past is asked for, those before them too."""
        scores = dict(best)
        named = list(dict.fromkeys([*scores, *others]))
        if not named:
            return []
        condition, values = self._scope.condition("memories")
        ended_after = -rank.FOREVER if self._question.wants_past else self._scope.before
        alone, projects = self._scope.alone()
        query = _MEMORIES.format(alone=alone, project=condition, told=rank.SEARCHED)
        limits = (*projects, json.dumps(named), self._scope.after, self._scope.before, ended_after)
        rows = self._database.execute(query, (*limits, *values)).fetchall()
        return [self._memory(row, scores.get(row[0], 0.0)) for row in rows]

    def _memory(self, row: Sequence[Any], score: float) -> Candidate:
        identifier, kind, trust, at, text, project, valid_to, said_in, alone = row
        ended = valid_to is not None and valid_to <= self._then
        if not ended and self._scope.before < rank.FOREVER:
            valid_to = None  # as things stood, nobody knew that it would end
        return Candidate(
            identifier, 0, kind, identifier, trust, at, len(text), text, False, ended, score, [], project, valid_to,
            said_in or 0, bool(alone),
        )  # fmt: skip

    def _liken(self, found: Sequence[Candidate], near: Sequence[Near], meaning: Meaning, vector: Floats) -> None:
        """Give every candidate the likeness of its best passages. Those found by meaning have theirs already."""
        by_item = {each.row or each.id: each for each in found}
        known = {each.turn or each.memory for each in near}
        turns = [each.row for each in found if each.row and each.row not in known and each.role in ("user", "assistant")]
        memories = [each.id for each in found if not each.row and each.id not in known]
        others = meaning.of(self._database, vector, turns, memories) if turns or memories else []
        for part in (near, others):
            for each in part:
                candidate = by_item.get(each.turn or each.memory or 0)
                if candidate is not None and len(candidate.passages) < PASSAGES:
                    candidate.passages.append((each.likeness, each.start, each.end))


def _turn(row: Sequence[Any]) -> Candidate:
    number, identifier, session, role, at, chars, head, end, key, agent, client, project, standing = row
    return Candidate(
        identifier, number, "turn", session, role, at, chars, head, _asks(head[-2:] if end is None else end), standing == -1,
        project=project, key=key, agent=agent, client=client,
    )  # fmt: skip


def _distinct(turns: Sequence[Candidate]) -> int:
    return len({each.head for each in turns if each.words > 0})


def _room_for_others(turns: Sequence[Candidate]) -> tuple[list[Candidate], list[Candidate]]:
    """Of turns, best first: the best of as many different ones as are looked at, with the newest of those that say the same; and
    the rest. Otherwise a prompt that is given every day would leave room for nothing but itself."""
    best = list({each.head: each for each in reversed(turns)}.values())[::-1][:BY_WORDS]
    heads, rows = {each.head for each in best}, {each.row for each in best}
    again = sorted((each for each in turns if each.head in heads and each.row not in rows), key=lambda each: (-each.at, each.id))
    rows.update(each.row for each in again[:BY_WORDS])
    return [each for each in turns if each.row in rows], [each for each in turns if each.row not in rows]


def _asks(end: str) -> bool:
    return end.rstrip().endswith(("?", "？"))
