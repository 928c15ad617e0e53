"""What a person corrected -> all that says the same, and what rests on it, gives way to the correction too.

Whoever corrects a statement corrects it wherever it was said before in the same words, with the insights that rest on it; whoever
corrects an insight corrects what it was made of. Said anew it is another statement, and three sessions make another insight.
Which ones these are follows from what is stored, and is noted beside the correction (`alike` in the detail): when the statement
that was corrected is forgotten, or the correction, they stand again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from hindbrain.ledger import removal, verdicts
from hindbrain.ledger.database import Database

_SAID: Final = """
SELECT id, text, scope, project_id, valid_from, made_by, level FROM memories WHERE level IN ('observation', 'derived')
"""
_SUPPORTS: Final = """
SELECT links.memory_id, links.target_memory_id FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role = 'supports' AND memories.level = 'derived'
"""
_DETAILS: Final = "SELECT id, detail FROM memories WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
_WRITE: Final = "UPDATE memories SET detail = ? WHERE id = ?"
_DROP: Final = "DELETE FROM links WHERE role = 'supersedes' AND memory_id = ? AND target_memory_id = ?"


class Correction(NamedTuple):
    """What stands in the place of a memory, which one that is, and since when."""

    made: str
    target: str
    at: int


def spread(database: Database, corrections: Sequence[Correction], decided: Mapping[str, verdicts.Verdict]) -> None:
    """Let corrections take the place of what is like the memories they replace; these are all the corrections there are."""
    if not corrections:
        return
    said = _Said(database)
    direct = {each.target for each in corrections}  # what was said of a memory itself stands before what follows from another
    wanted: dict[str, set[str]] = {each.made: set() for each in corrections}
    pairs: list[verdicts.Preferred] = []
    for made, target, at in corrections:
        accepted = {each for each, (op, later) in decided.items() if op == "accept" and later >= at}
        alike = sorted(said.alike(target, at) - direct - accepted)
        wanted[made].update(alike)
        pairs += [(made, each, at) for each in alike]
    _note(database, wanted)
    if pairs:
        verdicts.replace(database, pairs)


class _Said:
    """All statements and insights, by their words and by what they rest on."""

    def __init__(self, database: Database) -> None:
        self._rows = {row[0]: row[1:] for row in database.execute(_SAID).fetchall()}
        self._in_words: dict[tuple[str, str, str | None], list[str]] = {}
        for identifier, row in self._rows.items():
            self._in_words.setdefault(_key(row), []).append(identifier)
        self._on: dict[str, set[str]] = {}  # memory -> the insights that rest on it
        self._under: dict[str, set[str]] = {}  # insight -> what it rests on
        for insight, support in database.execute(_SUPPORTS).fetchall():
            self._on.setdefault(support, set()).add(insight)
            self._under.setdefault(insight, set()).add(support)

    def alike(self, target: str, at: int) -> set[str]:
        """What was found by then and says what this memory says, or is what it was made of; and what rests on any of these."""
        if target not in self._rows:
            return set()
        same = {target, *self._in_words[_key(self._rows[target])], *self._under.get(target, ())}
        found = {target} | {each for each in same if each in self._rows and self._is_found(each, at)}
        waiting = set(found)
        while waiting:
            waiting = {insight for each in waiting for insight in self._on.get(each, ())} - found
            found |= waiting
        return found - {target}

    def _is_found(self, identifier: str, at: int) -> bool:
        *_, valid_from, made_by, _ = self._rows[identifier]
        return bool(made_by != "person" and valid_from <= at)


def _key(row: Sequence[Any]) -> tuple[str, str, str | None]:
    text, scope, project, *_ = row
    return verdicts.words(text), scope, project


def _note(database: Database, wanted: Mapping[str, Iterable[str]]) -> None:
    """Note beside corrections what gives way to them, and give back what no longer does."""
    changed: list[tuple[str, str]] = []
    dropped: list[tuple[str, str]] = []
    for made, text in database.execute(_DETAILS, (json.dumps(sorted(wanted)),)).fetchall():
        detail = json.loads(text)
        before, now = detail.pop("alike", []), sorted(wanted[made])
        if before != now:
            changed.append((removal.dumped({**detail, "alike": now} if now else detail), made))
            dropped += [(made, each) for each in before if each not in wanted[made]]
    if changed:
        database.executemany(_WRITE, changed)
    if dropped:
        database.executemany(_DROP, dropped)
        removal.settle(database, [each for _, each in dropped], again=True)
