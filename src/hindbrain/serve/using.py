"""Turns taken in -> which of the things a session was told it used: quoted, its file touched, its command run.

A step of the worker after each pass. It goes on from the last turn it looked at, and a thing told to a session is marked as used
once, in the statement that also counts it: however often a turn is looked at, nothing is counted twice. What a person says and
what a tool prints is no use of anything; what the assistant says, and does, is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall.words import spaced

QUOTED_WORDS: Final = 6  # in a row
MIN_WORDS: Final = 3  # a shorter statement is not known by its words
MIN_COMMAND: Final = 2
CHUNK: Final = 500
MAX_ITEMS: Final = 400  # of one session; it is told a few dozen
_CURSOR: Final = "uses"

_TURNS: Final = """
SELECT turns.rowid, turns.session_id, turns.role, turns.text, turns.at FROM turns
WHERE turns.rowid > ? AND turns.role IN ('assistant', 'tool_call')
  AND EXISTS (SELECT 1 FROM injections WHERE injections.session_id = turns.session_id AND injections.used_at IS NULL)
ORDER BY turns.rowid LIMIT ?
"""
_TRACES: Final = """
SELECT turn, kind, value FROM traces
WHERE turn IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) AND kind IN ('file', 'command')
"""
_TOLD: Final = """
SELECT injections.session_id, injections.item_id, injections.at, coalesce(turns.text, memories.text)
FROM injections LEFT JOIN turns ON turns.id = injections.item_id LEFT JOIN memories ON memories.id = injections.item_id
WHERE injections.session_id IN (SELECT value FROM json_each(?)) AND injections.used_at IS NULL
ORDER BY injections.session_id, injections.at DESC, injections.item_id
"""
_USED: Final = "UPDATE injections SET used_at = ? WHERE session_id = ? AND item_id = ? AND used_at IS NULL"
_COUNTED: Final = """
UPDATE memories SET use_count = use_count + 1, used_at = CASE WHEN used_at > :at THEN used_at ELSE :at END WHERE id = :id
"""
_MOVED: Final = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"

_PATH: Final = re.compile(r"[\w.~-]*(?:/[\w.@~-]+)+|[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]\w{0,9}")
_CODE: Final = re.compile(r"`([^`\n]{3,200})`")


@dataclass(slots=True)
class Item:
    """Something a session was told, and what a use of it looks like."""

    id: str
    at: int
    text: str
    words: str = ""
    runs: list[str] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    commands: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.words = f" {spaced(self.text)} "
        words = self.words.split()
        if len(words) >= MIN_WORDS:
            length = min(QUOTED_WORDS, len(words))
            self.runs = [f" {' '.join(words[start : start + length])} " for start in range(len(words) - length + 1)]
        self.paths = {path.lstrip("./~") for path in _PATH.findall(self.text[:20_000])} - {""}
        self.commands = [f" {spaced(code)} " for code in _CODE.findall(self.text[:20_000])]

    def quoted(self, words: str) -> bool:
        """Whether a text, as its words between spaces, says so many words of this in a row."""
        return any(run in words for run in self.runs)

    def touched(self, path: str) -> bool:
        """Whether a file stands in it, by its whole path or the end of it."""
        return any(path == each or path.endswith(f"/{each}") or each.endswith(f"/{path}") for each in self.paths)

    def ran(self, command: str) -> bool:
        """Whether a command stands in it, or it holds code that the command runs."""
        said = f" {spaced(command)} "
        if len(said.split()) >= MIN_COMMAND and said in self.words:
            return True
        return any(code in said for code in self.commands if len(code.split()) >= MIN_COMMAND)


def note_uses(ledger: Evidence, limit: int = CHUNK) -> int:
    """Look at what was taken in since the last time; how many things that sessions were told turned out to be used."""
    used = 0
    while True:
        with ledger.reading() as database:
            since, newest = _cursor(database), _newest(database)
            turns = database.execute(_TURNS, (since, limit)).fetchall() if newest > since else []
            found = _uses(database, turns) if turns else []
        if newest <= since:
            return used
        with ledger.writing() as database:
            used += _mark(database, found)
            database.execute(_MOVED, (_CURSOR, str(turns[-1][0] if len(turns) == limit else newest)))


def _cursor(database: Database) -> int:
    row = database.execute("SELECT value FROM meta WHERE key = ?", (_CURSOR,)).fetchone()
    return int(row[0]) if row is not None and str(row[0]).isdecimal() else 0


def _newest(database: Database) -> int:
    row = database.execute("SELECT max(rowid) FROM turns").fetchone()
    return int(row[0] or 0)


def _uses(database: Database, turns: list[tuple[Any, ...]]) -> list[tuple[int, str, str]]:
    """Time, session and item of each use in these turns."""
    told = _told(database, {turn[1] for turn in turns})
    traces = _traces(database, [turn[0] for turn in turns])
    found: list[tuple[int, str, str]] = []
    for row, session, _, text, at in turns:
        words = f" {spaced(text)} "
        for item in list(told.get(session, ())):
            if item.at < at and _is_use(item, words, traces.get(row, ())):
                found.append((at, session, item.id))
                told[session].remove(item)
    return found


def _is_use(item: Item, words: str, traces: Iterable[tuple[str, str]]) -> bool:
    return item.quoted(words) or any(item.touched(value) if kind == "file" else item.ran(value) for kind, value in traces)


def _told(database: Database, sessions: Iterable[str]) -> dict[str, list[Item]]:
    """What is not known to be used of what these sessions were told; what is forgotten has no text any more."""
    found: dict[str, list[Item]] = {}
    for session, item, at, text in database.execute(_TOLD, (json.dumps(sorted(sessions)),)).fetchall():
        items = found.setdefault(session, [])
        if text is not None and len(items) < MAX_ITEMS:
            items.append(Item(item, at, text))
    return found


def _traces(database: Database, rows: list[int]) -> dict[int, list[tuple[str, str]]]:
    found: dict[int, list[tuple[str, str]]] = {}
    for turn, kind, value in database.execute(_TRACES, (json.dumps(rows),)).fetchall():
        found.setdefault(turn, []).append((kind, value))
    return found


def _mark(database: Database, found: list[tuple[int, str, str]]) -> int:
    marked = 0
    for at, session, item in found:
        values: tuple[Any, ...] = (at, session, item)
        if database.execute(_USED, values).rowcount == 1:  # nobody was quicker
            database.execute(_COUNTED, {"at": at, "id": item})
            marked += 1
    return marked
