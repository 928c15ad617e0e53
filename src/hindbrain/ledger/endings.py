"""What people said is done, or is not -> until when memories hold; or again as it was found.

`done` ends a memory at the moment it was said, `undone` lets it hold, whatever had ended it. How it stood before is kept beside
the word (`done` in the detail: since when, None while it holds; and until when it held before), so that a word that is forgotten
leaves no trace. What was replaced by another stays replaced: `removal.settle` weighs the word where nothing replaces it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hindbrain.ledger import removal
from hindbrain.ledger.database import Database

_CONCERNED: Final = """
SELECT id, made_by, valid_from, valid_to, superseded_by, detail FROM memories
WHERE id IN (SELECT value FROM json_each(?)) OR detail LIKE '%"done":%' ORDER BY id
"""
_WRITE: Final = "UPDATE memories SET valid_to = ?, detail = ? WHERE id = ?"


def apply(database: Database, ends: Mapping[str, int | None]) -> None:
    """Let memories end, or hold, as people said; these are all their words there are."""
    changed: list[tuple[int | None, str, str]] = []
    ended: list[str] = []
    held: list[str] = []
    for identifier, made_by, valid_from, valid_to, superseded_by, text in database.execute(
        _CONCERNED, (json.dumps(sorted(ends)),)
    ).fetchall():
        detail = json.loads(text)
        noted = detail.pop("done", None)
        before = _before(noted, made_by, superseded_by, valid_to)
        wanted = [ends[identifier], before] if identifier in ends else None
        if wanted == noted:
            continue
        until = before if wanted is None else wanted[0]
        if wanted is not None:
            detail["done"] = wanted
        shown = valid_to if superseded_by is not None else None if until is None else max(until, valid_from)
        changed.append((shown, removal.dumped(detail), identifier))
        (held if shown is None else ended).append(identifier)
    if changed:
        database.executemany(_WRITE, changed)
        removal.settle(database, ended)
        removal.settle(database, held, again=True)


def _before(noted: list[Any] | None, made_by: str, superseded_by: str | None, valid_to: int | None) -> int | None:
    """Until when it held before anybody said anything. What a person had kept, and what was replaced, held without an end."""
    if noted is not None:
        return None if noted[1] is None else int(noted[1])
    return valid_to if made_by != "person" and superseded_by is None else None
