"""Turns and memories <-> their vectors, whichever engine keeps them; and which of them still lack any.

Rows are the truth, and a vector is bytes here: what it means is known to whoever made it. Triggers note every new or changed
text as waiting, so nothing can be left out; a stamp tells whether the text that was embedded is still the one that stands.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from hindbrain.base.errors import LedgerError
from hindbrain.ledger.database import Database, foreign, is_sqlite

MODEL_KEY: Final = "embedder"
BITS_BYTES: Final = 32
FOREVER: Final = 1 << 62
# So much text is handed out at a time: a turn may be megabytes long.
MAX_LETTERS: Final = 4_000_000

_SET_MODEL: Final = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_WAITING_TURNS: Final = """
SELECT unembedded_turns.turn, unembedded_turns.stamp, turns.text
FROM unembedded_turns JOIN turns ON turns.rowid = unembedded_turns.turn
ORDER BY unembedded_turns.turn LIMIT ?
"""
_WAITING_MEMORIES: Final = """
SELECT unembedded_memories.memory, unembedded_memories.stamp, memories.text
FROM unembedded_memories JOIN memories ON memories.id = unembedded_memories.memory
ORDER BY memories.created_at, memories.id LIMIT ?
"""
# Of the items someone embedded: which still wait, with which stamp.
_STILL: Final = """
SELECT unembedded_{kind}.{column}, unembedded_{kind}.stamp
FROM unembedded_{kind} JOIN {kind} ON {kind}.{key} = unembedded_{kind}.{column}
WHERE unembedded_{kind}.{column} IN (SELECT {value} FROM json_each(?))
"""
_TURNS: Final = {"kind": "turns", "column": "turn", "key": "rowid", "value": "CAST(value AS BIGINT)"}
_MEMORIES: Final = {"kind": "memories", "column": "memory", "key": "id", "value": "value"}
_PUT: Final = """
INSERT INTO vectors (model, turn, memory, place, start, "end", vector) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_DROP: Final = "DELETE FROM vectors WHERE {column} IN (SELECT {value} FROM json_each(?))"
_DONE: Final = "DELETE FROM unembedded_{kind} WHERE {column} IN (SELECT {value} FROM json_each(?))"
_ROW: Final = 'SELECT id, turn, memory, start, "end", vector FROM vectors'
_ABOVE: Final = """
SELECT vectors.id, coalesce(turns.session_id, ''), coalesce(turns.at, memories.valid_from), vectors.vector
FROM vectors LEFT JOIN turns ON turns.rowid = vectors.turn LEFT JOIN memories ON memories.id = vectors.memory
WHERE vectors.id > ? AND vectors.model = ? AND length(vectors.vector) > 0 ORDER BY vectors.id LIMIT ?
"""
# Items that neither wait nor have vectors of the model.
_BARE: Final = """
FROM {kind} WHERE {talk} NOT EXISTS (SELECT 1 FROM unembedded_{kind} WHERE unembedded_{kind}.{column} = {kind}.{key})
AND NOT EXISTS (SELECT 1 FROM vectors WHERE vectors.{column} = {kind}.{key} AND vectors.model = ?)
"""
_TALK: Final = {"turns": "role IN ('user', 'assistant') AND", "memories": ""}
_LENGTHS: Final = """
SELECT model, length(vector), count(*) FROM vectors WHERE length(vector) > 0 GROUP BY model, length(vector) ORDER BY 1, 3 DESC, 2
"""
_BUG: Final = "this is a bug; report it"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item that needs vectors."""

    turn: int | None  # turns.rowid
    memory: str | None  # memories.id
    stamp: int
    text: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One passage of an item, embedded: letters of its text, the vector, and its signs for engines that search by them."""

    start: int
    end: int
    vector: bytes
    bits: bytes = b""


class Row(NamedTuple):
    """A stored vector."""

    id: int
    turn: int | None
    memory: str | None
    start: int
    end: int
    vector: bytes


class Placed(NamedTuple):
    """A stored vector and what a scope asks for."""

    id: int
    session: str  # sessions.id of its turn, "" for a memory
    at: int
    vector: bytes


def model(database: Database) -> str:
    """The model whose vectors are in use, "" before the first."""
    row = database.execute("SELECT value FROM meta WHERE key = ?", (MODEL_KEY,)).fetchone()
    return "" if row is None else str(row[0])


def use_model(database: Database, name: str) -> bool:
    """Have vectors made by this model from now on, and let wait what has none of it; inside writing(). True if it was another."""
    if not name:
        raise LedgerError("a model for vectors has no name", hint=_BUG)
    if model(database) == name:
        return False
    database.execute(_SET_MODEL, (MODEL_KEY, name))
    _let_wait(database, name)
    return True


def waiting(database: Database, limit: int) -> list[Waiting]:
    """What needs vectors: memories, then the oldest turns. Fewer than the limit, but never none, where texts are very long.

    Where several workers share a ledger, a write transaction passes over what another one has in hand.
    """
    memories = database.execute(_WAITING_MEMORIES + _locking(database, _MEMORIES), (limit,)).fetchall()
    found = [Waiting(None, memory, stamp, text) for memory, stamp, text in memories]
    letters = sum(len(each.text) for each in found)
    if len(found) < limit:
        for turn, stamp, text in database.execute(_WAITING_TURNS + _locking(database, _TURNS), (limit - len(found),)):
            letters += len(text)
            if found and letters > MAX_LETTERS:
                break
            found.append(Waiting(turn, None, stamp, text))
    return found


def _locking(database: Database, names: Mapping[str, str]) -> str:
    return "" if is_sqlite(database) else foreign(database).locking(f"unembedded_{names['kind']}", names["kind"])


def store(database: Database, model: str, done: Sequence[tuple[Waiting, Sequence[Piece]]]) -> int:
    """Put vectors in place of all that the items had; inside a write transaction. Gives back for how many items.

    An item whose text has changed since, or that somebody else has embedded, is left as it is. So are all of them when another
    model has come into use.
    """
    if not _is_current(database, model):
        return 0
    turns = _still(database, {item.turn: item.stamp for item, _ in done if item.turn is not None}, _TURNS)
    memories = _still(database, {item.memory: item.stamp for item, _ in done if item.memory is not None}, _MEMORIES)
    kept = [(item, pieces) for item, pieces in done if item.turn in turns or item.memory in memories]
    for items, names in ((turns, _TURNS), (memories, _MEMORIES)):
        if items:
            named = json.dumps(list(items))
            database.execute(_DROP.format(**names), (named,))
            database.execute(_DONE.format(**names), (named,))
    _put(database, model, kept)
    return len(kept)


def _is_current(database: Database, name: str) -> bool:
    """Whether vectors of this model are wanted, and stay so until the transaction ends."""
    query = "SELECT value FROM meta WHERE key = ?" + ("" if is_sqlite(database) else " FOR SHARE")
    row = database.execute(query, (MODEL_KEY,)).fetchone()
    if row is None:
        raise LedgerError("vectors came before a model was named", hint=_BUG)
    return str(row[0]) == name


def _still(database: Database, stamps: Mapping[Any, int], names: Mapping[str, str]) -> set[Any]:
    """Of these items the ones that wait with the very stamp."""
    if not stamps:
        return set()
    rows = database.execute(_STILL.format(**names) + _locking(database, names), (json.dumps(list(stamps)),)).fetchall()
    return {key for key, stamp in rows if stamps[key] == stamp}


def _put(database: Database, model: str, done: Sequence[tuple[Waiting, Sequence[Piece]]]) -> None:
    """An item without passages gets an empty vector, or nobody could tell it from one that was left out."""
    rows = [
        (model, item.turn, item.memory, place, piece.start, piece.end, piece.vector, piece.bits)
        for item, pieces in done for place, piece in enumerate(pieces or [Piece(0, 0, b"")])
    ]  # fmt: skip
    for *_, bits in rows:
        if bits:
            _need_bits(bits)
    if is_sqlite(database):
        database.executemany(_PUT, [row[:-1] for row in rows])
    elif rows:
        foreign(database).put_vectors(rows)


def counts(database: Database) -> tuple[int, int]:
    """How many vectors of the current model there are, and how many items wait."""
    by_kind = "SELECT count(*) FROM vectors WHERE {column} IS NOT NULL AND model = ?"
    name = model(database)
    made = sum(_count(database, by_kind.format(**names), name) for names in (_TURNS, _MEMORIES))
    empty = _count(database, "SELECT count(*) FROM vectors WHERE length(vector) = 0 AND model = ?", name)
    return made - empty, sum(_count(database, f"SELECT count(*) FROM unembedded_{kind}") for kind in ("turns", "memories"))


def _count(database: Database, query: str, *values: object) -> int:
    (count,) = database.execute(query, values).fetchone()
    return int(count)


def above(database: Database, model: str, last: int, limit: int) -> list[Placed]:
    """The vectors with a larger id, in order of ids. With one writer at a time, as SQLite has, no smaller one comes later."""
    return [Placed(*row) for row in database.execute(_ABOVE, (last, model, limit)).fetchall()]


def fetch(database: Database, ids: Sequence[int]) -> list[Row]:
    """Those of these vectors that still exist, in order of ids."""
    query = f"{_ROW} WHERE id IN (SELECT CAST(value AS BIGINT) FROM json_each(?)) ORDER BY id"
    return [Row(*row) for row in database.execute(query, (json.dumps(list(ids)),)).fetchall()]


def of_items(database: Database, model: str, turns: Sequence[int], memories: Sequence[str]) -> list[Row]:
    """All vectors of these items, in order of ids."""
    found = []
    for items, names in ((turns, _TURNS), (memories, _MEMORIES)):
        if items:
            query = f"{_ROW} WHERE {names['column']} IN (SELECT {names['value']} FROM json_each(?)) AND model = ?"
            found += database.execute(f"{query} AND length(vector) > 0", (json.dumps(list(items)), model)).fetchall()
    return [Row(*row) for row in sorted(found)]


def nearest(
    database: Database, model: str, bits: bytes, limit: int, *, project: str | None, everything: bool = False,
    after: int = -FOREVER, before: int = FOREVER,
) -> list[int]:  # fmt: skip
    """The ids of vectors whose signs differ least from these, inside the scope, best first. For engines with an index for it.

    A scope is one project and what is global, or everything; without a project what is global alone.
    """
    _need_bits(bits)
    if is_sqlite(database):
        raise LedgerError("SQLite has no index of vectors: it was asked for the nearest", hint=_BUG)
    return foreign(database).nearest_vectors(model, bits, project, everything, after, before, limit) if limit > 0 else []


def _need_bits(bits: bytes) -> None:
    if len(bits) != BITS_BYTES:
        raise LedgerError(f"the signs of a vector are {BITS_BYTES} bytes: {len(bits)} were given", hint=_BUG)


def differences(database: Database) -> Iterator[str]:
    """What is wrong with the vectors, a sentence for each kind of thing."""
    name = model(database)
    for names in (_TURNS, _MEMORIES):
        if bare := _count(database, f"SELECT count(*) {_bare(names)}", name):
            yield f"{bare} {names['kind']} neither have vectors nor wait for them"
    if odd := sum(count for _, _, count in _odd(database)):
        yield f"{odd} vectors are not as long as most of their model"


def mend(database: Database) -> None:
    """Let everything wait that lacks vectors of the current model or has some of a wrong length; inside writing()."""
    for name, length, _ in _odd(database):
        database.execute("DELETE FROM vectors WHERE model = ? AND length(vector) = ?", (name, length))
    _let_wait(database, model(database))


def _let_wait(database: Database, name: str) -> None:
    for names in (_TURNS, _MEMORIES):
        kind, column, key = names["kind"], names["column"], names["key"]
        database.execute(f"INSERT INTO unembedded_{kind} ({column}) SELECT {key} {_bare(names)} ORDER BY {key}", (name,))


def _bare(names: Mapping[str, str]) -> str:
    return _BARE.format(**names, talk=_TALK[names["kind"]])


def _odd(database: Database) -> list[tuple[str, int, int]]:
    """Lengths that are not the most common one of their model, with how many vectors have them."""
    seen: set[str] = set()
    odd = []
    for name, length, count in database.execute(_LENGTHS).fetchall():
        if name in seen:
            odd.append((name, length, count))
        seen.add(name)
    return odd
