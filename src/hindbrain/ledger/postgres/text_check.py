"""The full-text index -> where it differs from what the turns and memories say, and the index made anew.

Everything is worked out again from the texts: which terms a document has and how often, how many documents hold a term, how many
documents and words there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Final

from hindbrain.ledger.postgres import terms
from hindbrain.ledger.postgres.fulltext import PIECE, TextIndex, strong_terms

_PIECE: Final = {
    "turn": f"""
SELECT rowid, text, near, length, ids, counts FROM turns LEFT JOIN turn_terms ON turn_terms.number = turns.rowid
WHERE rowid > ? ORDER BY rowid LIMIT {PIECE}
""",
    "memory": f"""
SELECT id, text, '', length, ids, counts FROM memories LEFT JOIN memory_terms ON memory_terms.memory = memories.id
WHERE id > ? ORDER BY id LIMIT {PIECE}
""",
}
_FIRST: Final[dict[str, int | str]] = {"turn": -1, "memory": ""}
_EXTRA: Final = {
    "turn": "SELECT count(*) FROM turn_terms WHERE NOT EXISTS (SELECT 1 FROM turns WHERE rowid = number)",
    "memory": "SELECT count(*) FROM memory_terms WHERE NOT EXISTS (SELECT 1 FROM memories WHERE id = memory)",
}
_TERMS: Final = f"SELECT id, docs, memory_docs FROM terms WHERE id > ? ORDER BY id LIMIT {10 * PIECE}"
_TOTALS: Final = "SELECT docs, tokens, memory_docs, memory_tokens FROM text_totals"
_MEMORIES: Final = """
SELECT id, text FROM memories LEFT JOIN memory_terms ON memory_terms.memory = memories.id ORDER BY number NULLS LAST, id
"""


def differences(index: TextIndex) -> Iterator[str]:
    """What is wrong with the index, a sentence for each kind of thing; the caller holds a transaction that reads one moment."""
    held: dict[str, Counter[int]] = {}
    totals: list[int] = []
    for kind in ("turn", "memory"):
        found = _Documents(index, kind)
        if found.wrong:
            yield f"{found.wrong} {kind} entries of the full-text index do not say what the text says"
        (extra,) = index.execute(_EXTRA[kind]).fetchone()
        if extra:
            yield f"{extra} {kind} entries of the full-text index have no text"
        held[kind] = found.held
        totals += [found.documents, found.tokens]
    if miscounted := _miscounted(index, held["turn"], held["memory"]):
        yield f"{miscounted} terms of the full-text index are counted wrong"
    stored = index.execute(_TOTALS).fetchone() or (0, 0, 0, 0)
    if list(stored) != totals:
        yield f"the full-text index counts {list(stored)} documents and words, and there are {totals}"


class _Documents:
    """What the texts of one kind say, compared with their entries piece by piece."""

    def __init__(self, index: TextIndex, kind: str) -> None:
        self.wrong = self.documents = self.tokens = 0
        self.held: Counter[int] = Counter()  # documents that hold a term, by its id
        last = _FIRST[kind]
        while rows := index.execute(_PIECE[kind], (last,)).fetchall():
            last = rows[-1][0]
            self._compare(index, rows)

    def _compare(self, index: TextIndex, rows: Sequence[tuple[Any, ...]]) -> None:
        ids = {number for row in rows for number in row[4] or () if number > 0}
        names = dict(index.execute("SELECT id, term FROM terms WHERE id = ANY (?::integer[])", (list(ids),)).fetchall())
        for row, wanted in zip(rows, terms.count([(row[1], row[2]) for row in rows]), strict=True):
            self.documents += 1
            self.tokens += wanted.length
            if row[3] is None:
                self.wrong += 1
                continue
            plain = [number for number in row[4] if number > 0]
            self.held.update(plain)
            said = {names.get(number, ""): count for number, count in zip(plain, row[5], strict=False)}
            strong = sorted(names.get(-number, "") for number in row[4] if number < 0)
            right = (wanted.length, wanted.terms, sorted(strong_terms(wanted)), len(plain))
            self.wrong += (row[3], said, strong, len(row[5])) != right


def _miscounted(index: TextIndex, held: Counter[int], memory_held: Counter[int]) -> int:
    """Terms whose count is not that of the documents that hold them; one that none holds should not be there."""
    wrong, known, last = 0, 0, -(1 << 31)
    while rows := index.execute(_TERMS, (last,)).fetchall():
        last = rows[-1][0]
        known += sum(number in held or number in memory_held for number, *_ in rows)
        wrong += sum(
            (docs, memory_docs) != (held[number], memory_held[number]) or docs + memory_docs == 0
            for number, docs, memory_docs in rows
        )
    return wrong + len(held.keys() | memory_held.keys()) - known


def make_anew(index: TextIndex) -> None:
    """Make the index from the turns and memories; inside the caller's transaction, which nobody else writes beside."""
    memories = index.execute(_MEMORIES).fetchall()
    for table in ("turn_terms", "memory_terms", "terms", "text_totals"):
        index.execute(f"DELETE FROM {table}")
    index.index_turns_above(-1)
    index.index_memories(dict(memories))
