"""What reasoning made in one ledger -> the same in another, whichever engines keep them.

The journal does not hold it, so it does not come with the lines. What is there already stays as it is, what rests on turns that
are not there (or were forgotten there) is left behind: doing it again changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hindbrain.ledger import fulltext, removal
from hindbrain.ledger.database import Database

_MEMORY: Final = (
    "id", "level", "kind", "text", "confidence", "trust", "observer", "subject", "scope", "project_id", "valid_from", "valid_to",
    "superseded_by", "pinned", "created_at", "detail", "evidence", "held", "made_by", "session_id", "reflected",
)  # fmt: skip
_LINK: Final = ("memory_id", "number", "role", "turn_id", "target_memory_id", "created_at", "sure", "joined")
_READING: Final = ("session_id", "read_to", "made_by", "at", "digested_at", "digested_memories", "digested_tokens")
_CHANGE: Final = ("dream", "at", "memory_id", "before")
_CHUNK: Final = 500


@dataclass(frozen=True, slots=True)
class Carried:
    """How many memories came, and how many the other ledger had made already, perhaps to go on from there."""

    new: int
    known: int


def carry(here: Database, there: Database) -> Carried:
    """Bring over what was found and made. The caller holds a transaction of each."""
    removal.defer(there)
    found = {row[0]: row for row in here.execute(_select("memories", _MEMORY, "made_by <> 'person' ORDER BY id")).fetchall()}
    links: dict[str, list[Sequence[Any]]] = {each: [] for each in found}
    for row in here.execute(_select("links", _LINK, "1 = 1 ORDER BY memory_id, number")).fetchall():
        links.setdefault(row[0], []).append(row)
    banned = _present(there, "forgotten", "id", found)
    known = _present(there, "memories", "id", [*links, *(row[4] for rows in links.values() for row in rows if row[4])])
    turns = _present(there, "turns", "id", [row[3] for rows in links.values() for row in rows if row[3]])
    fit = _fitting({each: links[each] for each in found if each not in known and each not in banned}, known, turns)
    rows = [found[each] for each in fit]
    project = _MEMORY.index("project_id")
    projects = _present(there, "projects", "id", [row[project] for row in rows if row[project]])
    rows = [row for row in rows if row[project] is None or row[project] in projects]
    successor, everything = _MEMORY.index("superseded_by"), known | {row[0] for row in rows}
    whole = [(*row[:successor], row[successor] if row[successor] in everything else None, *row[successor + 1 :]) for row in rows]
    there.executemany(_insert("memories", _MEMORY), whole)
    ties = [link for row in rows for link in links[row[0]] if _holds(link, everything, turns)]
    there.executemany(_insert("links", _LINK), ties)
    fulltext.put_memories(there, {row[0]: row[3] for row in rows})
    _carry_rest(here, there, links, everything, known, turns)
    return Carried(len(rows), len(known & found.keys()))


def _carry_rest(
    here: Database, there: Database, links: dict[str, list[Sequence[Any]]], everything: set[str], known: set[str], turns: set[str]
) -> None:
    """What ties memories that were there already to those that came, how far sessions were read, what dreams changed."""
    ties = [link for each in sorted(known) for link in links.get(each, ()) if link[4] and _holds(link, everything, turns)]
    removal.link_all(there, [removal.Tie(link[0], link[2], None, link[4], link[5], link[6], bool(link[7])) for link in ties])
    removal.settle(there, {link[4] for link in ties})
    compared = here.execute("SELECT id FROM memories WHERE reflected = 1 AND made_by = 'person' ORDER BY id").fetchall()
    there.executemany("UPDATE memories SET reflected = 1 WHERE id = ?", compared)
    sessions = here.execute(_select("readings", _READING, "1 = 1 ORDER BY session_id")).fetchall()
    stored = _present(there, "sessions", "id", [row[0] for row in sessions])
    there.executemany(_insert("readings", _READING), [row for row in sessions if row[0] in stored])
    changed = here.execute(_select("changes", _CHANGE, "1 = 1 ORDER BY id")).fetchall()
    there.executemany(_insert("changes", _CHANGE), [row for row in changed if row[2] in everything])
    produced = here.execute("SELECT produced, key FROM calls WHERE produced <> '[]' ORDER BY key").fetchall()
    there.executemany("UPDATE calls SET produced = ? WHERE key = ? AND produced = '[]'", produced)


def _fitting(links: dict[str, list[Sequence[Any]]], known: set[str], turns: set[str]) -> list[str]:
    """The memories of which all evidence is there or comes along."""
    fit = set(links)
    while True:
        lacking = {
            each for each in fit
            for link in links[each] if link[2] not in ("supersedes", "reinforces") and not _holds(link, known | fit, turns)
        }  # fmt: skip
        if not lacking:
            return sorted(fit)
        fit -= lacking


def _holds(link: Sequence[Any], memories: set[str], turns: set[str]) -> bool:
    return link[3] in turns if link[3] is not None else link[4] in memories


def _present(database: Database, table: str, column: str, values: Sequence[str] | dict[str, Any]) -> set[str]:
    """Of these values the ones a table has."""
    query = f"SELECT {column} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
    return {row[0] for chunk in _chunks(sorted(set(values))) for row in database.execute(query, (json.dumps(chunk),)).fetchall()}


def _chunks(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def _select(table: str, columns: Sequence[str], where: str) -> str:
    return f"SELECT {', '.join(columns)} FROM {table} WHERE {where}"


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))}) ON CONFLICT DO NOTHING"
