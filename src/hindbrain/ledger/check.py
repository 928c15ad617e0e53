"""A ledger -> what is wrong with it, each finding with its place and its repair.

Recomputes what is stored instead of trusting it: SQLite's own structure, the links between tables, the full-text index
against the turns, the schema against the one shipped, the cursors against the journal.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hindbrain.base.errors import HindbrainError
from hindbrain.journal.read import segment_name, segments
from hindbrain.ledger import schema
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.store import Ledger

REBUILD: Final = "run `hindbrain doctor --repair`: the ledger is rebuilt from the journal and its archives"
REINDEX: Final = "run `hindbrain doctor --repair`: the full-text index is made anew from the turns"
REINSTALL: Final = "install the released package again, then run `hindbrain doctor --repair`"

Repair = Literal["rebuild", "reindex", "none"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something found wrong. error: answers may be wrong or incomplete; warning: they are right, but look into it."""

    what: str
    where: str
    hint: str
    severity: Literal["error", "warning"] = "error"
    repair: Repair = "rebuild"

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def problems(ledger: Ledger, journal: Path | None = None) -> list[Problem]:
    """Everything wrong with a ledger; with the journal's directory its cursors are checked too."""
    checks: list[Callable[[Ledger], Iterator[Problem]]] = [_structure, _references, _schema, _index]
    found = [problem for check in checks for problem in _guarded(check, ledger)]
    if journal is not None:
        found += _guarded(lambda checked: _cursors(checked, journal), ledger)
    return found


def _guarded(check: Callable[[Ledger], Iterator[Problem]], ledger: Ledger) -> list[Problem]:
    """A check that cannot be carried out is itself a finding."""
    found: list[Problem] = []
    try:
        for problem in check(ledger):
            found.append(problem)
    except (sqlite3.Error, HindbrainError) as error:
        found.append(Problem(f"a check could not be carried out: {error}", str(ledger.path), REBUILD))
    return found


def _structure(ledger: Ledger) -> Iterator[Problem]:
    for (told,) in ledger.connection.execute("PRAGMA integrity_check(20)").fetchall():
        if told != "ok":
            # newer SQLite looks into full-text tables too
            if "turns_fts" in str(told):
                yield Problem(str(told), str(ledger.path), REINDEX, repair="reindex")
            else:
                yield Problem(str(told), str(ledger.path), REBUILD)


def _references(ledger: Ledger) -> Iterator[Problem]:
    for table, _, target, _ in ledger.connection.execute("PRAGMA foreign_key_check").fetchmany(20):
        yield Problem(f"a row refers to a row of {target} that is not there", f"table {table}", REBUILD)


def _schema(ledger: Ledger) -> Iterator[Problem]:
    try:
        schema.outstanding(schema.applied(ledger.connection), ledger.migrations)
    except HindbrainError as error:
        yield Problem(error.message, "table migrations", REINSTALL, repair="none")
        return
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for migration in ledger.migrations:
            schema.apply(fresh, migration, 0)
        wanted, found = _shape(fresh), _shape(ledger.connection)
    for name in sorted(wanted.keys() | found.keys()):
        if wanted.get(name) != found.get(name):
            state = "is missing" if name not in found else "was added" if name not in wanted else "differs"
            yield Problem(f"{state}, compared with the schema this version ships", name, REBUILD)


def _shape(connection: sqlite3.Connection) -> dict[str, str]:
    """By name; the tables inside the full-text index and SQLite's statistics are SQLite's own affair."""
    own = ("turns_fts_", "sqlite_stat")
    return {f"{kind} {name}": sql for kind, name, sql in schema.shape(connection) if not name.startswith(own)}


def _index(ledger: Ledger) -> Iterator[Problem]:
    try:
        missing, extra = _index_gaps(ledger.connection)
        if missing or extra:
            what = f"{missing} turns are not in the index, {extra} entries have no turn"
            yield Problem(what, "turns_fts", REINDEX, repair="reindex")
        elif not ledger.read_only:  # the command is written like an insert, so it needs a connection that may write
            ledger.connection.execute("INSERT INTO turns_fts (turns_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        yield Problem(f"the full-text index is not sound: {error}", "turns_fts", REINDEX, repair="reindex")


def _index_gaps(connection: sqlite3.Connection) -> tuple[int, int]:
    missing = "SELECT count(*) FROM turns WHERE rowid NOT IN (SELECT id FROM turns_fts_docsize)"
    extra = "SELECT count(*) FROM turns_fts_docsize WHERE id NOT IN (SELECT rowid FROM turns)"
    return int(connection.execute(missing).fetchone()[0]), int(connection.execute(extra).fetchone()[0])


def _cursors(ledger: Ledger, journal: Path) -> Iterator[Problem]:
    """A cursor behind the end of its segment means that the journal is not the one this ledger was filled from."""
    for path in segments(journal):
        offset = ledger.cursor(segment_source(segment_name(path)))
        size = path.stat().st_size
        if isinstance(offset, int) and offset > size:
            yield Problem(f"read to byte {offset}, but the segment has {size}", str(path), REBUILD)


def repair_index(ledger: Ledger) -> None:
    """Make the full-text index anew from the turns."""
    with ledger.writing() as connection:
        connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('rebuild')")
