"""Words -> the turns and memories that fit best, each with the parts of its score.

One search path, always lexical: BM25 over a turn's own words, plus those of its neighbours at 0.3 (an answer is often
said in words the question does not share with it, but does with the turn before), plus 0.3 of how well the whole
session fits. All three are divided by their largest value, so a score is comparable within one answer and its parts can
be shown.

A search stays inside one project unless it is told otherwise; memories of global scope are in every project by intent.
Imported by the hook when no worker answers: built-ins only.
"""

from hindbrain.recall.contradictions import marked
from hindbrain.recall.withheld import beside, noted
from hindbrain.recall.words import match_expression, words_of

TYPE_CHECKING = False  # as type checkers read it; importing `typing` costs the hook a third of its time
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from hindbrain.ledger.database import Database

NEAR_WEIGHT = 0.3
SESSION_WEIGHT = 0.3
# How many of a session's turns make its score, and what each further one counts.
SESSION_TURNS = 8
MAX_CANDIDATES = 400
TALK_CANDIDATES = 120  # for a block, which holds a few dozen lines at most
BLOCK_ENOUGH = 40  # distinct ones; with so many, looking at every match again finds nothing better
MAX_HITS = 1000
# How many turns are given a score: it is what a search by words spends its time on. What only very common words speak for is
# hardly ever among the best: of the first ten of 100,000 turns 98 in 100 are found, in a fifth of the time.
MOST_SCORED = 1_200
LEAST_SCORED = 300

_BEST = "SELECT rowid, -bm25(turns_fts, 1.0, ?) AS score FROM turns_fts WHERE turns_fts MATCH ? ORDER BY score DESC LIMIT ?"
_SCORES = "SELECT rowid, -bm25(turns_fts, 1.0, ?) FROM turns_fts WHERE turns_fts MATCH ? ORDER BY rowid"
_COUNT = "SELECT count(*) FROM turns_fts WHERE turns_fts MATCH ?"
# The same inside one project: the score is only worked out for its turns. The + has the matches looked at, not every turn of it.
_BEST_INSIDE = """
SELECT rowid, -bm25(turns_fts, 1.0, ?) AS score FROM turns_fts
WHERE turns_fts MATCH ? AND +rowid IN (
    SELECT turns.rowid FROM sessions CROSS JOIN turns WHERE turns.session_id = sessions.id AND sessions.project_id = ?
)
ORDER BY score DESC
"""
# What a person had us keep is a turn too, as evidence. The memory stands for it: a corrected statement is not to be found twice.
# CROSS: in this order and no other; SQLite does not know that the list is short.
_TURNS = """
SELECT turns.id, turns.session_id, turns.role, turns.text, turns.at, turns.key, sessions.agent, sessions.client_id,
       sessions.project_id, turns.rowid
FROM turns CROSS JOIN sessions
WHERE turns.rowid IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND sessions.id = turns.session_id
  AND turns.at BETWEEN ? AND ? AND sessions.agent <> 'hindbrain' {project} {roles}
"""
_BEST_MEMORIES = """
SELECT id, -bm25(memories_fts) AS score FROM memories_fts WHERE memories_fts MATCH ? ORDER BY score DESC LIMIT ?
"""
_MEMORIES = """
SELECT memories.id, memories.kind, memories.text, memories.created_at, memories.project_id, memories.trust,
       CASE WHEN {alone} THEN 1 ELSE 0 END
FROM memories
WHERE memories.id IN (SELECT value FROM json_each(?)) AND memories.valid_from BETWEEN ? AND ?
  AND (memories.valid_to IS NULL OR memories.valid_to > ?) AND {told} {project}
"""
# What may be told at all: not what waits for a person or was rejected, and neither digests nor notes of contradictions.
TOLD = "memories.held = '' AND memories.level IN ('observation', 'derived')"
# What a search finds: an insight says again what was said, and the turns that say it are found themselves. One that holds
# everywhere may rest on other projects alone, whose turns are not.
SEARCHED = """
memories.held = '' AND (memories.level = 'observation' OR (memories.level = 'derived' AND memories.scope = 'global'))
"""
# What a person had us keep stands for itself. What was found is told by the turns that say it, as far as they are in the project:
# what holds everywhere and was said elsewhere stands for itself too, and never the turns.
_KEPT = "(memories.session_id IS NULL AND memories.level = 'observation')"
_SAID_ELSEWHERE = """
(memories.scope = 'global' AND memories.trust <> 'tool' AND NOT EXISTS (
    SELECT 1 FROM sessions WHERE sessions.id = memories.session_id AND sessions.project_id = ?
) AND NOT EXISTS (
    SELECT 1 FROM links JOIN memories AS own ON own.id = links.target_memory_id
    WHERE links.memory_id = memories.id AND links.role = 'supports' AND own.project_id = ?
))
"""
# A turn in which something was quarantined is told to nobody: what else was found in it may stand for itself (withheld.py).
_BESIDE_BARRED = """
EXISTS (
    SELECT 1 FROM links JOIN links AS theirs ON theirs.turn_id = links.turn_id
    JOIN memories AS barred ON barred.id = theirs.memory_id AND barred.held <> ''
    WHERE links.memory_id = memories.id
)
"""
_STANDING = """
SELECT memories.id, memories.kind, memories.text, memories.created_at, memories.project_id, memories.trust,
       turns.key, turns.session_id
FROM memories
LEFT JOIN links ON memories.made_by <> 'person' AND links.memory_id = memories.id AND links.number = memories.evidence
LEFT JOIN turns ON turns.id = links.turn_id
WHERE valid_from <= ? AND (valid_to > ? OR (valid_to IS NULL AND superseded_by IS NULL)) AND {told} {project}
  AND (pinned = 1 OR (kind IN ('instruction', 'preference', 'correction') AND confidence >= {sure}))
ORDER BY pinned DESC, CASE WHEN made_by = 'person' THEN 0 WHEN kind = 'instruction' THEN 1 ELSE 2 END, valid_from DESC,
         memories.id
LIMIT ?
"""

# What is found with less is told as a rule once a person has accepted it; until then it waits for review (ledger/known.py).
RULE_CONFIDENCE = 0.6
FOREVER = 1 << 62


class Scope:
    """What may be found: one project (and what is global), or everything; and until when."""

    __slots__ = ("after", "before", "everything", "project")

    def __init__(self, project: str | None, *, everything: bool = False, after: int = -FOREVER, before: int = FOREVER) -> None:
        self.project = project
        self.everything = everything
        self.after = after
        self.before = before

    def condition(self, table: str) -> tuple[str, list[str]]:
        """SQL that holds for rows of this scope, and its values."""
        if self.everything:
            return "", []
        if table == "memories":
            if self.project is None:
                return "AND memories.scope = 'global'", []
            return "AND (memories.scope = 'global' OR memories.project_id = ?)", [self.project]
        if self.project is None:
            return "AND 1 = 0", []
        return "AND sessions.project_id = ?", [self.project]

    def alone(self) -> tuple[str, list[str]]:
        """SQL that holds for memories which are not told by a turn of this scope, and its values."""
        if self.everything:
            return _KEPT, []
        return f"({_KEPT} OR {_SAID_ELSEWHERE})", [self.project or ""] * 2


class Found:
    """A turn or a memory that fits, and why."""

    __slots__ = (
        "agent", "at", "disputed", "end", "found", "id", "key", "kind", "likeness", "note", "parts", "project", "role", "score",
        "session", "session_id", "start", "superseded", "text", "valid_to",
    )  # fmt: skip

    def __init__(
        self, id: str, kind: str, role: str, text: str, at: int, key: str, agent: str, session: str, project: str | None,
        parts: dict[str, float], session_id: str = "", start: int = 0, end: int = 0, valid_to: int | None = None,
        superseded: bool = False, note: str = "",
    ) -> None:  # fmt: skip
        self.id = id
        self.kind = kind  # "turn", or the kind of memory
        self.role = role  # who said a turn; how far a memory is trusted
        self.text = text
        self.at = at
        self.key = key
        self.agent = agent
        self.session = session  # as the client calls it
        self.session_id = session_id  # as the ledger does
        self.project = project
        self.parts = parts  # what each part of the ranking gives it, weighted
        self.score = sum(parts.values())
        self.start = start  # the passage that fits best, in letters; 0, 0 for the whole text
        self.end = end
        self.valid_to = valid_to  # of a memory: until when it held, None while it does
        self.superseded = superseded
        self.likeness = 0.0  # of its best passage and the question, from 0 to 1; 0 where only words were compared
        self.found = False  # a memory that nobody told us to keep: it was found in what was said
        self.disputed = ""  # which memory contradicts it, in plain words; the note says so too
        self.note = note  # in plain words what else is to be said of it: "said 3 times, last on 2026-03-01"


def search(connection: "Database", question: str, scope: Scope, k: int, *, talk_only: bool = False) -> list[Found]:
    """The best fits, best first; never empty while a word matches inside the scope. The same question gives the same order.

    `talk_only` leaves out what tools said and were told.
    """
    words = words_of(question)
    if not words or k < 1:
        return []
    candidates = TALK_CANDIDATES if talk_only else MAX_CANDIDATES
    found = _turns(connection, words, scope, candidates, talk_only) + _memories(connection, words, scope)
    found.sort(key=lambda each: (-each.score, -each.at, each.id))
    best = marked(connection, found[: min(k, MAX_HITS)], scope.before)
    return best if talk_only else noted(connection, best)


def best_turns(
    connection: "Database", words: list[str], limit: int, counts: "Sequence[int] | None" = None
) -> "list[tuple[int, float]]":
    """Row numbers and scores of the turns that hold any of the words, best first; limit -1 for all.

    `counts`: in how many turns each word stands, where that is known already. In a large ledger a turn must hold one of the
    rarer words; its score is that of all of them.
    """
    rarer = words if limit < 0 else _rarer(connection, words, counts)
    if hasattr(connection, "best_turns"):  # an engine without bm25() brings its own
        return connection.best_turns(words, NEAR_WEIGHT, limit, rarer)  # type: ignore[no-any-return]
    if len(rarer) == len(words):
        return connection.execute(_BEST, (NEAR_WEIGHT, match_expression(words), limit)).fetchall()
    rare = match_expression(rarer)
    others = match_expression([word for word in words if word not in rarer])
    # by the rarer words alone, and where there are others as well by all of them
    scores = dict(connection.execute(_SCORES, (NEAR_WEIGHT, rare)).fetchall())
    scores.update(connection.execute(_SCORES, (NEAR_WEIGHT, f"({others}) AND ({rare})")).fetchall())
    # equals stay in the order of their row numbers
    return [(row, scores[row]) for row in sorted(scores, key=scores.__getitem__, reverse=True)[:limit]]


def _rarer(connection: "Database", words: list[str], counts: "Sequence[int] | None") -> list[str]:
    """The rarest words that some thousand turns hold. Scoring is what a search by words spends its time on."""
    (last,) = connection.execute("SELECT max(rowid) FROM turns").fetchone()
    if (last or 0) <= MOST_SCORED:
        return words
    if counts is None:
        counts = _counts(connection, words)
    kept: list[str] = []
    rows = 0
    for count, _, word in sorted(zip(counts, range(len(words)), words)):  # noqa: B905  # one count for each word
        if rows >= LEAST_SCORED and rows + count > MOST_SCORED:
            break
        kept.append(word)
        rows += count
    return kept


def _counts(connection: "Database", words: list[str]) -> "Sequence[int]":
    if hasattr(connection, "turns_holding"):
        return connection.turns_holding(words)  # type: ignore[no-any-return]
    return [connection.execute(_COUNT, (match_expression([word]),)).fetchone()[0] for word in words]


def every_turn(connection: "Database", words: list[str], scope: Scope) -> "list[tuple[int, float]]":
    """The same for all turns that hold any of the words, of the scope's project if it has one."""
    if scope.everything or scope.project is None:
        return best_turns(connection, words, -1)
    if hasattr(connection, "turns_inside"):
        return connection.turns_inside(words, NEAR_WEIGHT, scope.project)  # type: ignore[no-any-return]
    return connection.execute(_BEST_INSIDE, (NEAR_WEIGHT, match_expression(words), scope.project)).fetchall()


def best_memories(connection: "Database", words: list[str], limit: int) -> "list[tuple[str, float]]":
    """Ids and scores of the memories that hold any of the words, best first; limit -1 for all."""
    if hasattr(connection, "best_memories"):
        return connection.best_memories(words, limit)  # type: ignore[no-any-return]
    return connection.execute(_BEST_MEMORIES, (match_expression(words), limit)).fetchall()


def _turns(connection: "Database", words: list[str], scope: Scope, candidates: int, talk_only: bool) -> list[Found]:
    # scores are cheap, rows are not: only so many are fetched at first
    best = best_turns(connection, words, candidates * 3 // 2)
    rows = _inside(connection, best, scope, talk_only)[:candidates]
    enough = BLOCK_ENOUGH if talk_only else candidates
    if len(best) == candidates * 3 // 2 and len(rows) < enough:  # too many of the best are of other projects, or equal
        best = every_turn(connection, words, scope)
        rows = _inside(connection, best, scope, talk_only)[:candidates]
    if not rows:
        return []
    first = rows[0][9] or 1.0
    sessions = _session_scores(rows)
    top = max(sessions.values()) or 1.0
    return [
        Found(row[0], "turn", row[2], row[3], row[4], row[5], row[6], row[7], row[8],
              {"words": row[9] / first, "session": SESSION_WEIGHT * sessions[row[1]] / top}, row[1])
        for row in rows
    ]  # fmt: skip


def _inside(
    connection: "Database", best: "list[tuple[int, float]]", scope: Scope, talk_only: bool
) -> "list[tuple[Any, ...]]":
    """Of these turns the ones in the scope, best first, each with its score at the end.

    A block tells the same words once, so of talk the best of equals stands for all: a prompt that is given every day must not
    leave room for nothing else.
    """
    condition, values = scope.condition("turns")
    roles = "AND turns.role IN ('user', 'assistant')" if talk_only else ""
    scores = dict(best)
    looked_at = f"[{','.join(map(str, scores))}]"
    query = _TURNS.format(project=condition, roles=roles)
    rows = connection.execute(query, (looked_at, scope.after, scope.before, *values)).fetchall()
    scored = [(*row[:9], scores[row[9]]) for row in rows]
    scored.sort(key=lambda row: (-row[9], row[0]))
    return list({row[3]: row for row in reversed(scored)}.values())[::-1] if talk_only else scored


def _session_scores(rows: "list[tuple[Any, ...]]") -> dict[str, float]:
    """How well each session fits: its best turn, half of its second, a third of its third ..."""
    scores: dict[str, float] = {}
    seen: dict[str, int] = {}
    for row in rows:  # best first
        rank = seen.get(row[1], 0)
        seen[row[1]] = rank + 1
        if rank < SESSION_TURNS:
            scores[row[1]] = scores.get(row[1], 0.0) + float(row[9]) / (rank + 1)
    return scores


def _memories(connection: "Database", words: list[str], scope: Scope) -> list[Found]:
    """What stands as of the scope's end: superseded statements are found only by asking for the time they held."""
    best = best_memories(connection, words, MAX_CANDIDATES)
    rows = _standing_then(connection, best, scope)
    if len(best) == MAX_CANDIDATES > len(rows):  # the best are of other projects, or hold no more
        rows = _standing_then(connection, best_memories(connection, words, -1), scope)[:MAX_CANDIDATES]
    first = (rows[0][7] or 1.0) if rows else 1.0
    # a statement worth keeping stands a little before a turn that fits as well
    return [
        Found(row[0], row[1], row[5], row[2], row[3], row[0], "", "", row[4],
              {"words": row[7] / first, "memory": SESSION_WEIGHT})
        for row in rows
    ]  # fmt: skip


def _standing_then(connection: "Database", best: "list[tuple[str, float]]", scope: Scope) -> "list[tuple[Any, ...]]":
    """Of these memories the ones in the scope that stood at its end, best first, each with its score at the end."""
    condition, values = scope.condition("memories")
    scores = dict(best)
    looked_at = "[" + ",".join(f'"{each}"' for each in scores) + "]"  # ids are plain letters and digits
    alone, projects = scope.alone()
    told = f"{SEARCHED} AND ({alone} OR {_BESIDE_BARRED})"
    query = _MEMORIES.format(alone=alone, project=condition, told=told)
    limits = (*projects, looked_at, scope.after, scope.before, scope.before, *projects, *values)
    rows = connection.execute(query, limits).fetchall()
    apart = beside(connection, [row[0] for row in rows])
    scored = [(*row, scores[row[0]]) for row in rows if apart.get(row[0], bool(row[6]))]
    scored.sort(key=lambda row: (-row[7], row[0]))
    return scored


def standing(connection: "Database", scope: Scope, limit: int = 40) -> list[Found]:
    """Rules that hold whatever the question, at the scope's end: pinned, instructions, preferences, corrections; newest first."""
    condition, values = scope.condition("memories")
    query = _STANDING.format(project=condition, told=TOLD, sure=RULE_CONFIDENCE)
    rows = connection.execute(query, (scope.before, scope.before, *values, limit)).fetchall()
    return marked(connection, [_rule(*row) for row in rows], scope.before)


def _rule(
    id: str, kind: str, text: str, at: int, project: str | None, trust: str, key: str | None, session: str | None
) -> Found:
    rule = Found(id, kind, trust, text, at, key or id, "", "", project, {}, session or "")
    rule.found = session is not None
    return rule
