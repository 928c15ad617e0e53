"""A ledger -> what is wrong with it, each finding with its place and its repair.

Recomputes what is stored instead of trusting it: SQLite's own structure, the links between tables, the full-text indexes and
the vectors against turns and memories, the schema against the one shipped, the cursors against journal and archives. What no
check can see is a letter changed inside a text: only the journal knows what it was, and a rebuild brings it back.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hindbrain.base.errors import HindbrainError
from hindbrain.journal.read import archives, read_archive, segment_name, segments
from hindbrain.ledger import schema, soundness, vectors
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.store import Ledger

REBUILD: Final = "run `hindbrain doctor --repair`: the ledger is rebuilt from the journal and its archives"
REINDEX: Final = "run `hindbrain doctor --repair`: the full-text index is made anew from the turns"
REEMBED: Final = "run `hindbrain doctor --repair`: what lacks vectors is embedded anew"
REINSTALL: Final = "install the released package again, then run `hindbrain doctor --repair`"

_TEXT_TABLES: Final = ("projects", "project_aliases", "places", "sessions", "turns", "events", "traces", "cursors", "damage",
                       "redactions", "memories", "links", "injections", "forgotten", "meta", "unembedded_memories", "readings",
                       "calls", "changes")  # fmt: skip
_JSON: Final = (("sessions", "detail"), ("turns", "detail"), ("events", "detail"), ("memories", "detail"),
                ("cursors", "position"), ("calls", "sessions"), ("calls", "produced"))  # fmt: skip

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


def problems(ledger: Ledger, journal: Path | None = None, archive: Path | None = None) -> list[Problem]:
    """Everything wrong with a ledger; with the directories of journal and archives its cursors are checked too."""
    checks: list[Callable[[Ledger], Iterator[Problem]]] = [
        _structure, _references, _schema, _texts, _index, _memory_index, _memories, _vectors,
    ]  # fmt: skip
    found = [problem for check in checks for problem in _guarded(check, ledger)]
    if journal is not None:
        found += _guarded(lambda checked: _cursors(checked, journal), ledger)
    if archive is not None:
        found += _guarded(lambda checked: _archived(checked, archive), ledger)
    return found


def _guarded(check: Callable[[Ledger], Iterator[Problem]], ledger: Ledger) -> list[Problem]:
    """A check that cannot be carried out is itself a finding."""
    found: list[Problem] = []
    try:
        for problem in check(ledger):
            found.append(problem)
    except (sqlite3.Error, UnicodeDecodeError, HindbrainError) as error:  # of a name that is no text SQLite cannot even complain
        found.append(Problem(f"a check could not be carried out: {error}", str(ledger.path), REBUILD))
    return found


def _structure(ledger: Ledger) -> Iterator[Problem]:
    for (told,) in ledger.connection.execute("PRAGMA integrity_check(20)").fetchall():
        if told != "ok":
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
    own = ("turns_fts_", "memories_fts_", "sqlite_stat")
    return {f"{kind} {name}": sql for kind, name, sql in schema.shape(connection) if not name.startswith(own)}


def _texts(ledger: Ledger) -> Iterator[Problem]:
    """SQLite hands over any bytes as a text, and any text as JSON; whoever asks for that row would fail."""
    for table in sorted(_TEXT_TABLES):
        try:
            for _ in ledger.connection.execute(f"SELECT * FROM {table}"):
                pass
        except sqlite3.OperationalError as error:
            yield Problem(f"a row cannot be read: {str(error)[:80]}", f"table {table}", REBUILD)
    for table, column in _JSON:
        (bad,) = ledger.connection.execute(f"SELECT count(*) FROM {table} WHERE NOT json_valid({column})").fetchone()
        if bad:
            yield Problem(f"{bad} rows hold something else than JSON in {column}", f"table {table}", REBUILD)


def _index(ledger: Ledger) -> Iterator[Problem]:
    """Turns that the index lacks can be put in. Where both say something else, nobody knows which is right but the journal."""
    try:
        missing, extra = _index_gaps(ledger.connection)
        what = f"{missing} turns are not in the index, {extra} entries have no turn"
        if missing and not extra:
            yield Problem(what, "turns_fts", REINDEX, repair="reindex")
        elif extra:
            yield Problem(what, "turns_fts", REBUILD)
        elif not ledger.read_only:  # the command is written like an insert, so it needs a connection that may write
            ledger.connection.execute("INSERT INTO turns_fts (turns_fts, rank) VALUES ('integrity-check', 1)")
    except sqlite3.DatabaseError as error:
        yield Problem(f"the full-text index is not sound: {error}", "turns_fts", REBUILD)


def _memory_index(ledger: Ledger) -> Iterator[Problem]:
    """This index keeps the texts itself, so they are compared as well."""
    differing = """
        SELECT (SELECT count(*) FROM (SELECT id, text FROM memories EXCEPT SELECT c0, c1 FROM memories_fts_content))
             + (SELECT count(*) FROM (SELECT c0, c1 FROM memories_fts_content EXCEPT SELECT id, text FROM memories))
    """
    try:
        (differs,) = ledger.connection.execute(differing).fetchone()
        if differs:
            yield Problem(f"memories and their full-text index differ in {differs} places", "memories_fts", REBUILD)
        elif not ledger.read_only:
            ledger.connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('integrity-check')")
    except sqlite3.DatabaseError as error:
        yield Problem(f"the full-text index is not sound: {error}", "memories_fts", REBUILD)


def _memories(ledger: Ledger) -> Iterator[Problem]:
    for what in soundness.differences(ledger.connection):
        yield Problem(what, "table memories", REBUILD)


def _index_gaps(connection: sqlite3.Connection) -> tuple[int, int]:
    missing = "SELECT count(*) FROM turns WHERE rowid NOT IN (SELECT id FROM turns_fts_docsize)"
    extra = "SELECT count(*) FROM turns_fts_docsize WHERE id NOT IN (SELECT rowid FROM turns)"
    return int(connection.execute(missing).fetchone()[0]), int(connection.execute(extra).fetchone()[0])


def _vectors(ledger: Ledger) -> Iterator[Problem]:
    for what in vectors.differences(ledger.connection):
        yield Problem(what, "table vectors", REEMBED, repair="reindex")


def _cursors(ledger: Ledger, journal: Path) -> Iterator[Problem]:
    """A cursor behind the end of its segment means that the journal is not the one this ledger was filled from."""
    for path in segments(journal):
        offset = ledger.cursor(segment_source(segment_name(path)))
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            continue  # named or archived since it was listed
        if isinstance(offset, int) and offset > size:
            yield Problem(f"read to byte {offset}, but the segment has {size}", str(path), REBUILD)


def _archived(ledger: Ledger, archive: Path) -> Iterator[Problem]:
    """Only what was wholly stored is archived, and nobody reads an archive again: a cursor before its end means lost commits."""
    for path in archives(archive):
        offset = ledger.cursor(segment_source(segment_name(path)))
        end = max((item.end for item in read_archive(path)), default=0)
        if (offset if isinstance(offset, int) else 0) < end:
            yield Problem(f"read to byte {offset or 0}, but the archive goes to {end}", str(path), REBUILD)


def repair_index(ledger: Ledger) -> None:
    """Make the full-text index anew from the turns, and let what lacks vectors wait for them."""
    with ledger.writing() as connection:
        connection.execute("INSERT INTO turns_fts (turns_fts) VALUES ('rebuild')")
        vectors.mend(connection)
