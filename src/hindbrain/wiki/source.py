"""The ledger -> what the pages are made of, in a fixed number of questions however much there is; and a token of all of it.

Whatever may be told is in it: what holds, and what was replaced or has ended, as history. What waits for a person's decision or
was rejected is not. A session's exchanges are what its user said first and whatever something was found in; sessions in which
people told us what to keep are no sittings, for what they said there stands on the pages as it is.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from hindbrain.ledger.database import Database
from hindbrain.ledger.joining import JOINED
from hindbrain.wiki.page import Fact, Material, Sitting, Source

OWN_AGENT: Final = "hindbrain"  # of sessions in which people tell us what to keep
WIKI: Final = "wiki"
SESSION_OF: Final = f"{WIKI} "  # such a session begins so where it was told by editing a page; the page's path follows
MOST_EXCHANGES: Final = 12  # of a session
MOST_LETTERS: Final = 1_000  # of a turn, to find its first line in

_FACTS: Final = f"""
SELECT id, level, kind, text, confidence, trust, scope, project_id, valid_from, valid_to, superseded_by, pinned, session_id,
       detail, CASE WHEN {JOINED} THEN 1 ELSE 0 END
FROM memories WHERE level IN ('observation', 'derived') AND held = '' ORDER BY valid_from, id
"""
_SOURCES: Final = """
SELECT links.memory_id, turns.id, turns.session_id, sessions.agent, sessions.client_id, turns.at, turns.role
FROM links JOIN turns ON turns.id = links.turn_id JOIN sessions ON sessions.id = turns.session_id
WHERE links.role = 'derived_from' ORDER BY links.memory_id, links.number
"""
_SUPPORTS: Final = """
SELECT memory_id, target_memory_id FROM links WHERE role = 'supports' AND target_memory_id IS NOT NULL ORDER BY memory_id, number
"""
# A contradiction that a person decided on is none any more: either one side replaced the other, or both are to stand.
_DISPUTES: Final = """
SELECT links.memory_id, links.target_memory_id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'contradicts' AND memories.level = 'contradiction' AND memories.held = '' AND memories.superseded_by IS NULL
  AND memories.valid_to IS NULL AND memories.detail NOT LIKE '%"acted":%'
ORDER BY links.memory_id, links.number
"""
_SESSIONS: Final = """
SELECT sessions.id, sessions.agent, sessions.project_id, sessions.started_at, sessions.last_at, sessions.detail,
       sessions.parent_id, (
    SELECT turns.id FROM turns WHERE turns.session_id = sessions.id AND turns.role = 'user' ORDER BY turns.at, turns.id LIMIT 1
)
FROM sessions WHERE sessions.agent <> ? ORDER BY sessions.started_at, sessions.id
"""
_EXCHANGES: Final = f"""
SELECT turns.session_id, turns.id, substr(turns.text, 1, {MOST_LETTERS}) FROM turns
WHERE turns.role = 'user' AND turns.id IN (SELECT value FROM json_each(?)) ORDER BY turns.session_id, turns.at, turns.id
"""
_DIGESTS: Final = """
SELECT session_id, level, text FROM memories
WHERE level IN ('digest_short', 'digest_long') AND session_id IS NOT NULL AND held = ''
"""
_SOUL: Final = """
SELECT id, text, detail FROM memories
WHERE level = 'digest_long' AND session_id IS NULL AND held = '' AND superseded_by IS NULL AND valid_to IS NULL
ORDER BY valid_from DESC, id DESC
"""
# What may change: the words of a memory never do, unless it is a digest.
_STATE: Final = (
    """
    SELECT id, kind, confidence, trust, scope, project_id, valid_from, valid_to, superseded_by, pinned, held, session_id, detail,
           CASE WHEN level IN ('digest_short', 'digest_long') THEN text ELSE '' END
    FROM memories ORDER BY id
    """,
    "SELECT count(*), max(created_at), max(joined) FROM links",
    "SELECT id, agent, project_id, started_at, last_at, parent_id, detail FROM sessions ORDER BY id",
    "SELECT id, name FROM projects ORDER BY id",
)  # fmt: skip


def material(database: Database) -> Material:
    """All there is to tell. The caller holds one consistent view."""
    rows = _as_they_hold(database.execute(_FACTS).fetchall())
    sources = _sources(database)
    disputes = _disputes(database, {row[0] for row in rows if row[9] is None and row[10] is None})
    facts = {row[0]: _fact(row, disputes.get(row[0], ()), sources.get(row[0], ())) for row in rows}
    projects = dict(database.execute("SELECT id, name FROM projects ORDER BY id").fetchall())
    pages = [row for row in database.execute(_SOUL).fetchall() if json.loads(row[2]).get("page") == "soul"]
    soul_id, soul = pages[0][:2] if pages else ("", "")
    return Material(facts, _sittings(database, rows, sources), projects, soul, soul_id)


def changed_token(database: Database) -> str:
    """Another one whenever the material may be another one."""
    whole = hashlib.blake2b(digest_size=16)
    for query in _STATE:
        for row in database.execute(query).fetchall():
            whole.update(repr(tuple(row)).encode("utf-8", "surrogatepass"))
        whole.update(b"\n")
    return whole.hexdigest()


def _as_they_hold(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    """What was joined into another that says the same holds as long as that one does, and is replaced by what replaced it."""
    ends = {row[0]: (row[9], row[10], row[14]) for row in rows}
    told = []
    for row in rows:
        until, newer, joined = row[9], row[10], row[14]
        while joined and newer in ends:
            until, newer, joined = ends[newer]
        told.append([*row[:9], until, newer, *row[11:14]])
    return told


def _fact(row: Sequence[Any], disputes: Iterable[str], sources: Iterable[Source]) -> Fact:
    *plain, pinned, _, detail = row
    told = json.loads(detail)
    said = str(told.get("why", "")), str(told.get("instead_of", ""))
    columns: list[Any] = [*plain, bool(pinned), *said, tuple(disputes), tuple(sources)]
    return Fact(*columns)


def _sources(database: Database) -> dict[str, tuple[Source, ...]]:
    """Where each memory was said; what was concluded from others was said where these were."""
    own: dict[str, list[Source]] = defaultdict(list)
    for memory, turn, session, agent, client, at, role in database.execute(_SOURCES).fetchall():
        own[memory].append(Source(turn, session, _shown(agent, client), at, role))
    below: dict[str, list[str]] = defaultdict(list)
    for memory, target in database.execute(_SUPPORTS).fetchall():
        below[memory].append(target)
    return {each: tuple(_gathered(each, own, below) if each in below else own[each]) for each in {**own, **below}}


def _gathered(memory: str, own: Mapping[str, Sequence[Source]], below: Mapping[str, Sequence[str]]) -> list[Source]:
    """A memory's own turns first, then those of what it rests on, oldest first; each once, whatever rests on what."""
    found = {source.turn: source for source in own.get(memory, ())}
    seen, waiting = {memory}, [*below.get(memory, ())]
    while waiting:
        each = waiting.pop()
        if each not in seen:
            seen.add(each)
            for source in own.get(each, ()):
                found.setdefault(source.turn, source)
            waiting += below.get(each, ())
    first = len({source.turn for source in own.get(memory, ())})
    sources = [*found.values()]
    return sources[:first] + sorted(sources[first:], key=lambda source: (source.at, source.turn))


def _shown(agent: str, client: str) -> str:
    """Who it was said to: an agent, the command line, or a page of this wiki."""
    return WIKI if agent == OWN_AGENT and client.startswith(SESSION_OF) else agent


def _disputes(database: Database, standing: set[str]) -> dict[str, tuple[str, ...]]:
    """What stands -> what contradicts it and stands as well."""
    sides: dict[str, list[str]] = defaultdict(list)
    for contradiction, side in database.execute(_DISPUTES).fetchall():
        sides[contradiction].append(side)
    found: dict[str, set[str]] = defaultdict(set)
    for both in sides.values():
        if standing.issuperset(both):
            for side in both:
                found[side].update(other for other in both if other != side)
    return {side: tuple(sorted(others)) for side, others in found.items()}


def _sittings(
    database: Database, rows: Sequence[Sequence[Any]], sources: Mapping[str, Sequence[Source]]
) -> dict[str, Sitting]:
    """The sessions people had with agents. One that an agent started is told of where something was found in it."""
    facts: dict[str, list[str]] = defaultdict(list)
    evidence: dict[str, list[str]] = defaultdict(list)
    for row in rows:
        if row[12] is not None:
            facts[row[12]].append(row[0])
            evidence[row[12]] += [source.turn for source in sources.get(row[0], ()) if source.role == "user"]
    sessions = [row for row in database.execute(_SESSIONS, (OWN_AGENT,)).fetchall()
                if row[0] in facts or (row[7] is not None and row[6] is None)]  # fmt: skip
    exchanges = _exchanges(database, {row[0]: [*filter(None, (row[7],)), *evidence.get(row[0], ())] for row in sessions})
    digests = {(session, level): text for session, level, text in database.execute(_DIGESTS).fetchall()}
    return {row[0]: _sitting(row, digests, exchanges.get(row[0], ()), facts.get(row[0], ())) for row in sessions}


def _exchanges(database: Database, wanted: Mapping[str, Sequence[str]]) -> dict[str, tuple[tuple[str, str], ...]]:
    """The first line of each of these turns, in the order they were said."""
    turns = sorted({turn for each in wanted.values() for turn in [*dict.fromkeys(each)][:MOST_EXCHANGES]})
    found: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for session, turn, text in database.execute(_EXCHANGES, (json.dumps(turns),)).fetchall():
        if line := next((line.strip() for line in text.splitlines() if line.strip()), ""):
            found[session].append((turn, line))
    return {session: tuple(lines) for session, lines in found.items()}


def _sitting(
    row: Sequence[Any], digests: Mapping[tuple[str, str], str], exchanges: Iterable[tuple[str, str]], facts: Iterable[str]
) -> Sitting:
    identifier, agent, project, began, ended, detail, _, _ = row
    told = json.loads(detail)
    branches = [told[name] for name in ("branch", "gitBranch") if name in told]  # [when it was told, which]
    branch = str(max(branches)[1]) if branches else ""
    short, long = (digests.get((identifier, level), "") for level in ("digest_short", "digest_long"))
    return Sitting(identifier, agent, project, branch, began, max(began, ended), short, long, tuple(exchanges), tuple(facts))
