"""The signs of a vector -> the stored vectors whose signs differ least, by pgvector's index.

The index knows no scope: it hands out vectors in order of nearness, and whatever is outside is passed over. So a scope that holds
few vectors is looked through whole instead, which is exact; and so is one of which the index gave too little.
"""

from __future__ import annotations

import abc
from collections.abc import Sequence
from typing import Any, Final

from hindbrain.ledger.database import Rows

# A scope with no more turns or vectors than this is looked through whole.
FEW: Final = 20_000
# How many the index looks at together, and how many at most when others are passed over.
SEARCHED: Final = 400
MOST_SEARCHED: Final = 40_000
ENOUGH: Final = 4  # a fourth of what was asked for: those are the nearest already

_PUT: Final = """
INSERT INTO vectors (model, turn, memory, place, start, "end", vector, bits)
SELECT model, turn, memory, place, start, "end", vector, bits::bit(256)
FROM unnest(?::text[], ?::bigint[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::bytea[], ?::text[])
     WITH ORDINALITY AS given (model, turn, memory, place, start, "end", vector, bits, number)
ORDER BY number
"""
# What is held back, and what is a digest or a note of a contradiction, is not looked for: it would crowd out what is told.
_TOLD: Final = "memories.held = '' AND memories.level IN ('observation', 'derived')"
_INSIDE: Final = f"""
    (vectors.turn IS NOT NULL AND turns.at BETWEEN :after AND :before AND sessions.agent <> 'hindbrain' {{turns}})
 OR (vectors.memory IS NOT NULL AND memories.valid_from BETWEEN :after AND :before AND {_TOLD} {{memories}})
"""
_BY_INDEX: Final = """
SELECT vectors.id FROM vectors
LEFT JOIN turns ON turns.rowid = vectors.turn LEFT JOIN sessions ON sessions.id = turns.session_id
LEFT JOIN memories ON memories.id = vectors.memory
WHERE vectors.model = :model AND ({inside}) ORDER BY vectors.bits <~> CAST(:bits AS bit(256)) LIMIT :limit
"""
# The turns of the scope first, then their vectors. OFFSET 0: no index of nearness for what is few.
_WHOLE: Final = f"""
SELECT id FROM (
    SELECT vectors.id, vectors.bits <~> CAST(:bits AS bit(256)) AS apart
    FROM sessions JOIN turns ON turns.session_id = sessions.id JOIN vectors ON vectors.turn = turns.rowid
    WHERE vectors.model = :model AND turns.at BETWEEN :after AND :before AND sessions.agent <> 'hindbrain' {{turns}}
    UNION ALL
    SELECT vectors.id, vectors.bits <~> CAST(:bits AS bit(256))
    FROM memories JOIN vectors ON vectors.memory = memories.id
    WHERE vectors.model = :model AND memories.valid_from BETWEEN :after AND :before AND {_TOLD} {{memories}}
    OFFSET 0
) AS scope WHERE apart IS NOT NULL ORDER BY apart, id LIMIT :limit
"""
_FEW_TURNS: Final = """
SELECT count(*) FROM (
    SELECT 1 FROM sessions JOIN turns ON turns.session_id = sessions.id WHERE sessions.project_id = :project LIMIT :few
) AS found
"""
_FEW_VECTORS: Final = "SELECT count(*) FROM (SELECT 1 FROM vectors LIMIT :few) AS found"
# Until the transaction ends: the index goes on while what it hands out is outside the scope.
_SETTINGS: Final = """
SELECT set_config('hnsw.ef_search', :searched, true), set_config('hnsw.iterative_scan', 'relaxed_order', true),
       set_config('hnsw.max_scan_tuples', :most, true)
"""


class Nearest(abc.ABC):
    """The vector methods of Foreign; whoever has a connection brings `execute`."""

    @abc.abstractmethod
    def execute(self, sql: str, parameters: Any = (), /) -> Rows: ...

    def locking(self, held: str, kept: str) -> str:
        """The end of a SELECT that holds rows, and passes over those another holds; nothing in a transaction that only reads."""
        (read_only,) = self.execute("SELECT current_setting('transaction_read_only')").fetchone()
        return "" if read_only == "on" else f" FOR UPDATE OF {held} SKIP LOCKED FOR KEY SHARE OF {kept} SKIP LOCKED"

    def put_vectors(self, rows: Sequence[tuple[str, int | None, str | None, int, int, int, bytes, bytes]]) -> None:
        """Put vectors in: model, turn, memory, place, start, end, vector, signs."""
        *columns, bits = (list(column) for column in zip(*rows, strict=True))
        self.execute(_PUT, (*columns, [f"x{each.hex()}" if each else None for each in bits]))

    def nearest_vectors(
        self, model: str, bits: bytes, project: str | None, everything: bool, after: int, before: int, limit: int
    ) -> list[int]:
        """Ids of the vectors inside a scope whose signs differ least from these, best first."""
        turns, memories = _conditions(project, everything)
        values = {"model": model, "bits": f"x{bits.hex()}", "project": project, "after": after, "before": before, "limit": limit}
        if not self._is_small(project, everything):
            query = _BY_INDEX.format(inside=_INSIDE.format(turns=turns, memories=memories))
            found = self._by_index(query, values)
            if len(found) * ENOUGH >= limit:
                return found
        return [row[0] for row in self.execute(_WHOLE.format(turns=turns, memories=memories), values).fetchall()]

    def _is_small(self, project: str | None, everything: bool) -> bool:
        if not everything and project is None:
            return True  # what is global is memories alone
        query = _FEW_VECTORS if everything else _FEW_TURNS
        (counted,) = self.execute(query, {"project": project, "few": FEW + 1}).fetchone()
        return bool(counted <= FEW)

    def _by_index(self, query: str, values: dict[str, Any]) -> list[int]:
        self.execute(_SETTINGS, {"searched": str(SEARCHED), "most": str(MOST_SEARCHED)})
        return [row[0] for row in self.execute(query, values).fetchall()]


def _conditions(project: str | None, everything: bool) -> tuple[str, str]:
    """SQL that holds for turns and for memories of the scope."""
    if everything:
        return "", ""
    if project is None:
        return "AND 1 = 0", "AND memories.scope = 'global'"
    return "AND sessions.project_id = :project", "AND (memories.scope = 'global' OR memories.project_id = :project)"
