"""A home's own ledger -> the same in a shared one, and a comparison row by row that says so.

What is sent is what sharing would send: the journal and its archives, from where the shared ledger's cursors stand. Cut off,
it goes on there. What reasoning made of it is not in the journal and is carried over after it. Then each row of this home is
looked up in the shared ledger. Where other machines told of the same thing, the times and places they added may stand there;
and a session remembers when it began and ended although what was said then is forgotten. There only what cannot differ is
compared.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerNotReady, NotFound
from hindbrain.base.home import Home
from hindbrain.journal.read import Record
from hindbrain.ledger import carry
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import SEGMENT_PREFIX
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain, Drained
from hindbrain.serve.engines import Shared
from hindbrain.serve.forgetting import finish
from hindbrain.serve.sharing import between, positions

_CHUNK: Final = 1000


@dataclass(frozen=True, slots=True)
class Table:
    """What is compared of a table: the first `keys` columns find a row, the first `sure` cannot differ, the rest may."""

    columns: tuple[str, ...]
    keys: int
    sure: int
    source: str = ""  # where the rows come from, if not simply from the table of that name
    of_machine: bool = False  # rows of this machine alone
    derived: bool = False  # they follow from another row, which another machine may have told in other words

    def query(self, name: str, where: str) -> str:
        columns = ", ".join(f'"{column}"' if column == "end" else column for column in self.columns)
        return f"SELECT {columns} FROM {self.source or name} {where}"


_TURN: Final = ("text", "tool", "at", "origins", "segment", "start", "source_path", "source_start", "source_end", "detail")
TABLES: Final[dict[str, Table]] = {
    "projects": Table(("id", "identity", "name", "remote", "common_dir", "created_at"), 1, 3),
    "project_aliases": Table(("identity", "project_id"), 1, 2),
    "places": Table(("cwd", "identity", "project_id", "remote", "common_dir", "branch", "at"), 1, 7, of_machine=True),
    "sessions": Table(
        ("id", "agent", "client_id", "project_id", "cwd", "cwd_at", "parent_id", "started_at", "last_at", "ended_at",
         "end_reason", "model", "model_at", "detail"), 1, 3,
    ),
    "turns": Table(("id", "session_id", "role", "key", *_TURN, "near"), 1, 4),
    "events": Table(("id", "session_id", "kind", "role", "key", *_TURN), 1, 5),
    "traces": Table(
        ("turns.id", "number", "kind", "action", "value"), 2, 1, source="traces JOIN turns ON turns.rowid = traces.turn",
        derived=True,
    ),
    "memories": Table(
        ("id", "level", "kind", "text", "made_by", "session_id", "scope", "trust", "confidence", "project_id", "valid_from",
         "valid_to", "superseded_by", "pinned", "held", "reflected", "detail"), 1, 4,
    ),
    "links": Table(("memory_id", "number", "role", "turn_id", "target_memory_id"), 2, 2),
    "readings": Table(("session_id", "read_to", "made_by", "at", "digested_at", "digested_memories", "digested_tokens"), 1, 1),
    "calls": Table(
        ("key", "id", "at", "provider", "model", "kind", "project_id", "input_tokens", "output_tokens", "cost_micros", "reply",
         "sessions", "produced"), 1, 2,
    ),
    "changes": Table(("dream", "memory_id", "at", "before"), 2, 2),
    "damage": Table(("segment", "start", "end", "kind", "reason"), 2, 5),
    "redactions": Table(("segment", "start", "rule", "count"), 3, 4),
    "forgotten": Table(("id", "at"), 1, 1),
}  # fmt: skip
_REASONED: Final = ("memories", "links", "readings", "calls", "changes")


@dataclass(frozen=True, slots=True)
class Compared:
    """One table of this home against the shared ledger."""

    table: str
    here: int
    there: int
    merged: int  # other machines told of the same and added to it, or part of it is forgotten
    differing: tuple[str, ...]  # keys of rows that are missing or say something else
    sum_here: str
    sum_there: str

    @property
    def equal(self) -> bool:
        return not self.differing and self.here == self.there and self.sum_here == self.sum_there


@dataclass(frozen=True, slots=True)
class Waiting:
    """What a migration would send."""

    segments: int
    lines: int
    bytes: int


def settled(home: Home, clock: Clock) -> None:
    """Take in what the journal holds, wishes to forget included; the caller holds the worker's lock."""
    with Ledger.open(home.ledger, clock) as ledger:
        if home.forgetting.exists():
            finish(home, ledger, clock, keeps_jobs=False)
        drain = Drain(home, ledger, clock, [], follows=False, keeps_jobs=False)
        try:
            drain.replay_archives(Drained())
            drain.run()
        finally:
            drain.close()


def waiting(home: Home, local: Evidence, shared: Shared) -> Waiting:
    """What the shared ledger lacks of this home. Nothing is written; a database without tables lacks everything."""
    own = positions(local)
    try:
        with shared.open(read_only=True) as there:
            reached = positions(there, own)
    except LedgerNotReady:
        reached = {}
    behind = {segment: (reached.get(segment, 0), end) for segment, end in own.items() if reached.get(segment, 0) < end}
    lines = 0
    for segment, (start, end) in behind.items():
        with contextlib.suppress(NotFound):  # a segment that is gone: the comparison will tell
            lines += sum(isinstance(item, Record) for item in between(home, segment, start, end))
    return Waiting(len(behind), lines, sum(end - start for start, end in behind.values()))


def carry_over(local: Evidence, there: Evidence) -> carry.Carried:
    """Bring what reasoning made to the shared ledger, after the lines."""
    with local.reading() as here, there.writing() as other:
        return carry.carry(here, other)


def compare(
    local: Evidence, there: Evidence, machine: str, step: Callable[[str], None], *, made_there: bool = False
) -> list[Compared]:
    """Every table, row by row. `made_there`: the shared ledger reasons by itself, and may have gone on from what is here."""
    alone = _is_alone(local, there)
    forgot = _count(local, "forgotten", TABLES["forgotten"], "") > 0
    found = []
    for name, table in TABLES.items():
        step(name)
        own = alone and not (made_there and name in _REASONED)
        found.append(_compared(name, table, local, there, machine, own, strict=own and not (name == "sessions" and forgot)))
    return found


def _is_alone(local: Evidence, there: Evidence) -> bool:
    """Whether the shared ledger has nothing but this home's lines; then nobody can have added to a row."""
    query = f"SELECT count(*) FROM cursors WHERE substr(source, 1, {len(SEGMENT_PREFIX)}) = '{SEGMENT_PREFIX}'"
    with there.reading() as connection:
        (known,) = connection.execute(query).fetchone()
    return bool(known == len(positions(local)))


def _compared(
    name: str, table: Table, local: Evidence, there: Evidence, machine: str, alone: bool, *, strict: bool
) -> Compared:
    here_sum, there_sum = hashlib.sha256(), hashlib.sha256()
    here = found = merged = 0
    differing: list[str] = []
    for chunk in _chunks(_rows(local, name, table, "")):
        matches = {row[: table.keys]: row for row in _matching(there, name, table, machine, chunk)}
        for row in chunk:
            here += 1
            other = matches.get(row[: table.keys], row[: table.keys] if table.derived and not strict else None)
            found += other is not None
            if other is not None and other != row and not strict:
                merged, row, other = merged + 1, row[: table.sure], other[: table.sure]
            if other != row:
                differing.append(" ".join(map(str, row[: table.keys])))
            here_sum.update(repr(row).encode("utf-8", "surrogatepass"))
            there_sum.update(repr(other).encode("utf-8", "surrogatepass"))
    if alone:
        found = _count(there, name, table, machine)
    return Compared(name, here, found, merged, tuple(differing), here_sum.hexdigest(), there_sum.hexdigest())


def _chunks(rows: Iterable[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    rows = iter(rows)
    while chunk := list(itertools.islice(rows, _CHUNK)):
        yield chunk


def _rows(ledger: Evidence, name: str, table: Table, machine: str) -> Iterator[tuple[Any, ...]]:
    """All rows in the order of their keys; nobody writes meanwhile."""
    order = ", ".join(table.columns[: table.keys])
    where, values = ("WHERE machine = ?", (machine,)) if table.of_machine else ("", ())
    with ledger.reading() as connection:
        for row in connection.execute(f"{table.query(name, where)} ORDER BY {order}", values):
            yield tuple(row)


def _matching(ledger: Evidence, name: str, table: Table, machine: str, chunk: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    wanted = json.dumps(sorted({row[0] for row in chunk}))
    where, values = f"WHERE {table.columns[0]} IN (SELECT value FROM json_each(?))", [wanted]
    if table.of_machine:
        where, values = f"{where} AND machine = ?", [wanted, machine]
    with ledger.reading() as connection:
        return [tuple(row) for row in connection.execute(table.query(name, where), values).fetchall()]


def _count(ledger: Evidence, name: str, table: Table, machine: str) -> int:
    where, values = ("WHERE machine = ?", (machine,)) if table.of_machine else ("", ())
    with ledger.reading() as connection:
        return int(connection.execute(f"SELECT count(*) FROM {table.source or name} {where}", values).fetchone()[0])
