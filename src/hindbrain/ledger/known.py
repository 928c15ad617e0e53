"""Rows of memories -> what reasoning knows: what stands, what was not reflected on yet, what a person has to look at."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hindbrain.ledger.database import Database
from hindbrain.ledger.joining import JOINED

LOW_CONFIDENCE: Final = 0.5  # below it a person is asked
RULE_CONFIDENCE: Final = 0.6  # the same for what every session would be told; recall.rank has it too, as the hook loads no more

_COLUMNS: Final = f"""
id, level, kind, text, confidence, trust, scope, project_id, session_id, valid_from, valid_to, superseded_by, held, made_by,
reflected, pinned, detail, CASE WHEN superseded_by IS NULL THEN 0 WHEN {JOINED} THEN 1 ELSE 0 END
"""
_STANDING: Final = "held = '' AND superseded_by IS NULL AND valid_to IS NULL AND level IN ('observation', 'derived')"


@dataclass(frozen=True, slots=True)
class Known:
    """A memory as reasoning sees it."""

    id: str
    level: str
    kind: str
    text: str
    confidence: float
    trust: str
    scope: str
    project_id: str | None
    session_id: str | None
    valid_from: int
    valid_to: int | None
    superseded_by: str | None
    held: str
    made_by: str
    reflected: bool
    pinned: bool
    detail: Mapping[str, Any] = field(default_factory=dict[str, Any])
    joined: bool = False  # what took its place says the same and stands for it

    @property
    def stands(self) -> bool:
        """Whether it may be told today."""
        return not self.held and self.superseded_by is None and self.valid_to is None


def known(database: Database, ids: Iterable[str]) -> dict[str, Known]:
    """These memories, as far as they are there."""
    query = f"SELECT {_COLUMNS} FROM memories WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
    return {each.id: each for each in _read(database, query, (json.dumps(list(ids)),))}


def current(database: Database, project_id: str | None) -> list[Known]:
    """What stands in a project and everywhere, observations and insights, oldest first; without a project what is global."""
    where = "(project_id = ? OR scope = 'global')" if project_id is not None else "scope = 'global'"
    query = f"SELECT {_COLUMNS} FROM memories WHERE {_STANDING} AND {where} ORDER BY valid_from, id"
    return _read(database, query, () if project_id is None else (project_id,))


def unreflected(database: Database, project_id: str | None) -> list[Known]:
    """Of a project's own observations those that were not compared with the others yet, oldest first; without one the global."""
    own = "project_id = ?" if project_id is not None else "scope = 'global'"
    query = f"""SELECT {_COLUMNS} FROM memories
                WHERE reflected = 0 AND level = 'observation' AND {_STANDING} AND {own} ORDER BY valid_from, id"""  # fmt: skip
    return _read(database, query, () if project_id is None else (project_id,))


def uncompared(database: Database) -> list[str | None]:
    """The projects with observations that were not compared with the others yet; None for what holds everywhere."""
    query = f"""SELECT DISTINCT CASE WHEN scope = 'global' THEN '' ELSE project_id END FROM memories
                WHERE reflected = 0 AND level = 'observation' AND {_STANDING}"""  # fmt: skip
    return [each or None for each in sorted({row[0] or "" for row in database.execute(query).fetchall()})]


def of_session(database: Database, session_id: str) -> list[Known]:
    """What was found in a session and may be told, oldest first."""
    where = "session_id = ? AND held = '' AND level = 'observation'"
    return _read(database, f"SELECT {_COLUMNS} FROM memories WHERE {where} ORDER BY valid_from, id", (session_id,))


def review(database: Database) -> list[Known]:
    """What a person has to decide on and has not: quarantined, contradictory, of low confidence, rules that are not sure enough
    to be told to every session; newest first."""
    query = f"""
        SELECT {_COLUMNS} FROM memories
        WHERE superseded_by IS NULL AND valid_to IS NULL AND made_by <> 'person' AND (
            held = 'quarantine'
            OR (held = '' AND level = 'contradiction')
            OR (held = '' AND level IN ('observation', 'derived') AND (
                confidence < ? OR (confidence < ? AND pinned = 0 AND kind IN ('instruction', 'preference', 'correction'))
            ))
        ) ORDER BY valid_from DESC, id"""
    return [each for each in _read(database, query, (LOW_CONFIDENCE, RULE_CONFIDENCE)) if "acted" not in each.detail]


def _read(database: Database, query: str, values: Sequence[Any]) -> list[Known]:
    return [_known(row) for row in database.execute(query, values).fetchall()]


def _known(row: Sequence[Any]) -> Known:
    *plain, reflected, pinned, detail, joined = row
    columns: list[Any] = [*plain, bool(reflected), bool(pinned), json.loads(detail), bool(joined)]
    return Known(*columns)
