"""Turns of a session -> each turn's neighbours, as text to be searched beside its own.

A reply often answers in words the question does not repeat, and the turns before have them. What counts as a neighbour is
talk: what people and agents said, not what tools were told. Only the beginning of a neighbour is kept, so a long reply
does not drown what stands next to it. The column is derived: it follows from the turns, whatever order they came in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from hindbrain.ledger import fulltext
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import Piece

ROLES: Final = ("user", "assistant")
NEAR_CHARS: Final = 600
REACH: Final = 2
# Nearest first, the one before ahead of the one after. Migration 0006 says the same in SQL.
BESIDE: Final = (-1, 1, -2, 2)

_TALK: Final = f"""
SELECT rowid, substr(text, 1, {NEAR_CHARS}), near FROM turns
WHERE session_id = ? AND role IN ('user', 'assistant') AND
"""
_BEFORE: Final = f"{_TALK} at < ? ORDER BY at DESC, id DESC LIMIT {2 * REACH}"
_WITHIN: Final = f"{_TALK} at BETWEEN ? AND ? ORDER BY at, id"
_AFTER: Final = f"{_TALK} at > ? ORDER BY at, id LIMIT {2 * REACH}"
_SET: Final = "UPDATE turns SET near = ? WHERE rowid = ?"


def among(pieces: Iterable[Piece]) -> dict[str, str]:
    """The neighbours that new turns have in each other, by id: nearly all there are, so that little is written a second time."""
    talk: dict[str | None, list[tuple[int, str, str]]] = {}
    for piece in pieces:
        if piece.role in ROLES and piece.content is not None:
            talk.setdefault(piece.session_id, []).append((piece.at, piece.id, piece.content.text[:NEAR_CHARS]))
    found = {}
    for turns in talk.values():
        turns.sort()
        texts = [text for _, _, text in turns]
        for number, (_, identifier, _) in enumerate(turns):
            found[identifier] = _beside(texts, number)
    return found


def _beside(texts: Sequence[str], number: int) -> str:
    return "\n".join([texts[number + step] for step in BESIDE if 0 <= number + step < len(texts)])


def place(connection: Database, spans: Mapping[str, tuple[int, int]], indexed_to: int | None = None) -> None:
    """Set the neighbours of all turns in these stretches of time and of the ones beside them, and index them so.

    Turns with a row number above `indexed_to` are not in the index yet: all of these are put in too.
    """
    changed = [each for session, (low, high) in spans.items() for each in _changed(connection, session, low, high)]
    known = {row: near for row, near, _ in changed if indexed_to is None or row <= indexed_to}
    fulltext.change(
        connection, known, lambda: connection.executemany(_SET, [(near, row) for row, _, near in changed]), indexed_to
    )


def _changed(connection: Database, session: str, low: int, high: int) -> Iterator[tuple[int, str, str]]:
    """The turns in a stretch of a session and beside it whose neighbours are not the ones noted: row number, noted, right."""
    before = connection.execute(_BEFORE, (session, low)).fetchall()[::-1]
    within = connection.execute(_WITHIN, (session, low, high)).fetchall()
    after = connection.execute(_AFTER, (session, high)).fetchall()
    chain = [*before, *within, *after]
    texts = [text for _, text, _ in chain]
    # the outer ones before (and after) the stretch are only there as neighbours of the inner ones
    first, last = max(0, len(before) - REACH), len(chain) - max(0, len(after) - REACH)
    for number in range(first, last):
        row, _, known = chain[number]
        near = _beside(texts, number)
        if near != known:
            yield row, known, near
