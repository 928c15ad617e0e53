"""A memory -> why it stands: its links, the memories behind them, and in the end the turns and where those are written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from hindbrain.base.errors import NotFound
from hindbrain.ledger.database import Database
from hindbrain.ledger.known import Known, known

DEEPEST: Final = 12

_TURNS: Final = """
SELECT links.role, turns.id, turns.session_id, turns.role, turns.text, turns.at, turns.segment, turns.start,
       coalesce(json_extract(turns.detail, '$.page'), ''), turns.source_path, turns.source_start, turns.source_end
FROM links JOIN turns ON turns.id = links.turn_id WHERE links.memory_id = ? ORDER BY links.number
"""
_BELOW: Final = """
SELECT role, target_memory_id FROM links WHERE memory_id = ? AND target_memory_id IS NOT NULL ORDER BY number
"""


@dataclass(frozen=True, slots=True)
class Ground:
    """A turn that a memory rests on, and where it is written."""

    link: str  # the role of the link
    turn_id: str
    session_id: str
    role: str
    text: str
    at: int
    segment: str  # of the journal
    start: int
    page: str  # of the wiki, where a person wrote it there; "" elsewhere
    source: tuple[str, int, int] | None  # the transcript's line, where one was read


@dataclass(frozen=True, slots=True)
class Lineage:
    """A memory and what it rests on. `link` is the role of the link that led here, "" for the memory that was asked for."""

    link: str
    memory: Known
    turns: list[Ground] = field(default_factory=list[Ground])
    below: list[Lineage] = field(default_factory=list["Lineage"])

    def grounds(self) -> Iterator[Ground]:
        """All turns, those of the memory itself first; what it replaced or contradicts is no ground for it."""
        yield from self.turns
        for each in self.below:
            if self.memory.level == "contradiction" or each.link not in ("supersedes", "contradicts"):
                yield from each.grounds()


def why(database: Database, memory_id: str) -> Lineage:
    """Why a memory stands, down to the turns; raises NotFound."""
    return _lineage(database, "", memory_id, ())


def _lineage(database: Database, role: str, memory_id: str, above: tuple[str, ...]) -> Lineage:
    found = known(database, [memory_id]).get(memory_id)
    if found is None:
        raise NotFound(f"there is no memory {memory_id}")
    turns = [_ground(row) for row in database.execute(_TURNS, (memory_id,)).fetchall()]
    path = (*above, memory_id)
    below = []
    if len(path) < DEEPEST:
        rows = database.execute(_BELOW, (memory_id,)).fetchall()
        below = [_lineage(database, link, target, path) for link, target in rows if target not in path]
    return Lineage(role, found, turns, below)


def _ground(row: Sequence[Any]) -> Ground:
    *told, path, start, end = row
    columns: list[Any] = [*told, None if path is None else (path, start, end)]
    return Ground(*columns)
