"""What the wiki knows of its own files, kept in `.hindbrain/state.db`: the text a person last saw of each page, the text that is
about to be written, what a person settled, and what was compiled when.

A text is noted as pending, on the disk, before the first file is touched. So whatever a crash leaves in a file is either the base
or what was pending, and never looks like an edit of a person's.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, Self, cast

from hindbrain.base.errors import NotFound, StorageError
from hindbrain.base.files import open_private, sync_directory
from hindbrain.wiki.acts import Conflict
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.known import Made, Restore, Row, Taken, conflict_row, human_text, made_of, plain, row_of
from hindbrain.wiki.render import NOBODY, Human

VERSION: Final = 1
BUSY_SECONDS: Final = 10.0
FOLDED: Final = "-"  # stands for a version that is kept no longer
_SCHEMA: Final = """
CREATE TABLE pages (
  id TEXT PRIMARY KEY,
  type TEXT NOT NULL,
  title TEXT NOT NULL,
  path TEXT NOT NULL,
  base TEXT,                            -- what a person last saw; NULL: nothing
  pending TEXT,                         -- what is about to be written
  removing INTEGER NOT NULL DEFAULT 0,  -- the file is about to be taken away
  human TEXT NOT NULL DEFAULT '',       -- what a person settled, JSON
  left_out INTEGER NOT NULL DEFAULT 0,  -- a person deleted the page
  inputs TEXT NOT NULL DEFAULT '',      -- hash of what the base was rendered from; '': somebody else wrote it
  written_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE compiles (
  number INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  op TEXT NOT NULL,
  text TEXT NOT NULL,
  pages TEXT NOT NULL,                  -- ids, JSON
  paths TEXT NOT NULL,                  -- every file that changed, JSON
  finished INTEGER NOT NULL DEFAULT 0,
  version TEXT NOT NULL DEFAULT ''      -- in the history; '': not there yet
) STRICT;
CREATE TABLE versions (number INTEGER NOT NULL, path TEXT NOT NULL, text TEXT, PRIMARY KEY (number, path)) STRICT;
CREATE TABLE conflicts (
  page TEXT NOT NULL, memory TEXT NOT NULL, base TEXT NOT NULL, found TEXT NOT NULL, fresh TEXT NOT NULL,
  why TEXT NOT NULL,
  PRIMARY KEY (page, memory)
) STRICT;
CREATE TABLE touched (path TEXT PRIMARY KEY, page TEXT NOT NULL) STRICT;  -- by a person, and in no version yet
CREATE TABLE restores (path TEXT PRIMARY KEY, text TEXT, was TEXT, changed_ns INTEGER NOT NULL) STRICT;
"""
# Which pages this connection wrote to since it last read them. What others write changes the version of the data.
_WATCH: Final = """
CREATE TEMP TABLE stale (id TEXT NOT NULL);
CREATE TEMP TRIGGER made AFTER INSERT ON main.pages BEGIN INSERT INTO stale VALUES (new.id); END;
CREATE TEMP TRIGGER changed AFTER UPDATE ON main.pages BEGIN INSERT INTO stale VALUES (old.id), (new.id); END;
CREATE TEMP TRIGGER dropped AFTER DELETE ON main.pages BEGIN INSERT INTO stale VALUES (old.id); END;
"""
_TOUCHED: Final = "INSERT OR REPLACE INTO touched SELECT path, id FROM pages WHERE id = ?"
_ROW: Final = "id, type, title, path, base, pending, removing, human, left_out, inputs, written_at"


class StateUnusable(StorageError):
    """What the wiki knows of its files cannot be used"""

    default_hint = "move .hindbrain/state.db away and compile: pages are found again by their ids"


class State:
    """The database. One process writes, the one that holds the wiki's lock. Pages are read again only where they changed."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._rows: dict[str, Row] = {}
        self._version: object = None  # of the data that the rows are from

    @classmethod
    def open(cls, folder: Folder, *, look: bool = False) -> State:
        """The state of a wiki. `look` makes no file: of a wiki that has none it is empty, and nothing of it is kept."""
        path = folder.own / "state.db"
        if look and not path.exists():
            return cls(_set_up(sqlite3.connect(":memory:", isolation_level=None), path), path)
        folder.prepare()
        _claim(path)
        with _told(path):
            connection = sqlite3.connect(
                f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS, isolation_level=None,
                check_same_thread=False,
            )
        try:
            return cls(_set_up(connection, path), path)
        except BaseException:
            connection.close()
            raise

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of it or nothing, on the disk when it ends."""
        with _told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                self._version = None  # what was read meanwhile may never have been
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _all(self, query: str, values: Sequence[object] = ()) -> list[tuple[object, ...]]:
        with _told(self.path):
            return self._connection.execute(query, values).fetchall()

    # What is known

    def pages(self) -> list[Row]:
        """By id."""
        with _told(self.path):
            self._connection.execute("SAVEPOINT look")  # what is asked from here on is answered from one state of the data
            try:
                self._read_again()
            finally:
                self._connection.execute("RELEASE look")
        return [*self._rows.values()]

    def _read_again(self) -> None:
        was, self._version = self._version, None  # cut short, it begins anew
        (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        stale = {page for (page,) in self._all("SELECT id FROM stale")}
        if version != was or stale:
            kept = {page: row for page, row in self._rows.items() if page not in stale} if version == was else {}
            some = "WHERE id IN (SELECT id FROM stale)" if version == was else ""
            kept |= {row.id: row for row in map(row_of, self._all(f"SELECT {_ROW} FROM pages {some}"))}
            self._rows = dict(sorted(kept.items()))
            self._connection.execute("DELETE FROM stale")
        self._version = version

    def cut_short(self) -> list[Row]:
        """Pages that were about to be written or taken away when a compile ended early."""
        return [row for row in self.pages() if row.pending is not None or row.removing]

    def is_new(self) -> bool:
        """Whether no page was ever written."""
        return not self._all("SELECT 1 FROM pages LIMIT 1")

    def page(self, page_id: str) -> Row | None:
        rows = self._all(f"SELECT {_ROW} FROM pages WHERE id = ?", (page_id,))
        return row_of(rows[0]) if rows else None

    def base(self, page_id: str) -> str | None:
        row = self.page(page_id)
        return row.base if row is not None else None

    def human(self, page_id: str) -> Human:
        row = self.page(page_id)
        return row.human if row is not None else NOBODY

    def compiles(self, most: int = 500) -> list[Made]:
        """The newest first."""
        rows = self._all(
            "SELECT number, at, op, text, pages, paths, finished, version FROM compiles ORDER BY number DESC LIMIT ?", (most,)
        )
        return [made_of(row) for row in rows]

    def conflicts(self) -> list[Conflict]:
        rows = self._all("SELECT page, memory, base, found, fresh, why FROM conflicts ORDER BY page, memory")
        return [Conflict(*map(str, row)) for row in rows]

    def restores(self) -> list[Restore]:
        rows = self._all("SELECT path, text, was, changed_ns FROM restores ORDER BY path")
        return [Restore(*row) for row in rows]  # type: ignore[arg-type]

    def kept(self, number: int, path: str) -> str | None:
        """What a path said in a kept version."""
        rows = self._all("SELECT text FROM versions WHERE path = ? AND number <= ? ORDER BY number DESC LIMIT 1", (path, number))
        return cast("str | None", rows[0][0]) if rows else None

    def kept_numbers(self) -> list[int]:
        return [cast(int, number) for (number,) in self._all("SELECT DISTINCT number FROM versions ORDER BY number")]

    def touched(self) -> dict[str, str]:
        """The files that people changed since the last version: path -> page."""
        return {str(path): str(page) for path, page in self._all("SELECT path, page FROM touched ORDER BY path")}

    # What a person did

    def take(self, taken: Taken, now_ms: int) -> None:
        """What people did is known; their texts are what they last saw."""
        with self.transaction() as connection:
            connection.executemany(_TOUCHED, [(page,) for page in taken.pages()])
            for page in taken.landed:
                connection.execute("UPDATE pages SET base = pending, pending = NULL, written_at = ? WHERE id = ?", (now_ms, page))
            for page, path in taken.renamed.items():
                connection.execute("UPDATE pages SET path = ?, inputs = '' WHERE id = ?", (path, page))
            for page in taken.returned:
                connection.execute("UPDATE pages SET left_out = 0, inputs = '' WHERE id = ?", (page,))
            for page, text in taken.found.items():
                connection.execute(
                    "UPDATE pages SET base = ?, pending = NULL, removing = 0, inputs = '', written_at = ? WHERE id = ?",
                    (text, now_ms, page),
                )
            for page, human in taken.human.items():
                connection.execute("UPDATE pages SET human = ? WHERE id = ?", (human_text(human), page))
            for page in taken.removed:
                connection.execute(
                    "UPDATE pages SET left_out = 1, base = NULL, pending = NULL, removing = 0, inputs = '', written_at = ?"
                    " WHERE id = ?", (now_ms, page),
                )  # fmt: skip
            connection.executemany(_TOUCHED, [(page,) for page in taken.renamed])
            conflicts = [conflict_row(each) for each in taken.conflicts]
            connection.executemany("INSERT OR REPLACE INTO conflicts VALUES (?, ?, ?, ?, ?, ?)", conflicts)

    def adopt(self, rows: Iterable[Row]) -> None:
        """Pages that were found without being known."""
        with self.transaction() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO pages ({_ROW}) VALUES (?, ?, ?, ?, ?, NULL, 0, ?, 0, '', ?)",
                [(row.id, row.type, plain(row.title), row.path, row.base, human_text(row.human), row.written_at) for row in rows],
            )

    def restore(self, page: str) -> Row:
        """A page that a person had deleted comes back with the next compile. By id or path."""
        found = [row for row in self.pages() if page in (row.id, row.path, row.path.removesuffix(".md"), row.title)]
        gone = [row for row in found if row.left_out]
        if not gone:
            known = "it is there" if found else "there was none of that name"
            raise NotFound(f"no deleted page {page!r}: {known}", hint="`hindbrain wiki status` lists deleted pages")
        with self.transaction() as connection:
            connection.execute("UPDATE pages SET left_out = 0, inputs = '' WHERE id = ?", (gone[0].id,))
        return gone[0]

    def settle_conflicts(self, settled: Iterable[tuple[str, str]]) -> None:
        """These are no longer open: (path of the page, memory)."""
        with self.transaction() as connection:
            connection.executemany("DELETE FROM conflicts WHERE page = ? AND memory = ?", settled)

    # What is written

    def begin(self, rows: Iterable[Row], made: Made) -> None:
        """What is about to be written, before any file is touched. Stands also for a compile that was never finished."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM compiles WHERE finished = 0")
            connection.execute("DELETE FROM touched")
            for row in rows:
                connection.execute(
                    "INSERT INTO pages (id, type, title, path, pending, removing, inputs) VALUES (?, ?, ?, ?, ?, ?, ?)"
                    " ON CONFLICT (id) DO UPDATE SET type = excluded.type, title = excluded.title, path = excluded.path,"
                    " pending = excluded.pending, removing = excluded.removing, inputs = excluded.inputs",
                    (row.id, row.type, plain(row.title), row.path, row.pending, int(row.removing), row.inputs),
                )
            values = (made.number, made.at, made.op, made.text, json.dumps(made.pages), json.dumps(made.paths))
            connection.execute("INSERT INTO compiles (number, at, op, text, pages, paths) VALUES (?, ?, ?, ?, ?, ?)", values)

    def finish(self, made: Made, left: Iterable[str], kept: Mapping[str, str | None] | None) -> None:
        """Every file is on the disk, but for those that were left alone. `kept`: the version to keep here, path -> text."""
        with self.transaction() as connection:
            for path in left:
                connection.execute(
                    "UPDATE pages SET pending = NULL, removing = 0, inputs = ''"
                    " WHERE path = ? AND (pending IS NOT NULL OR removing)", (path,),
                )
            cut = self.cut_short()  # to look for them in the table would be to go through every text
            connection.executemany("DELETE FROM pages WHERE id = ?", [(row.id,) for row in cut if row.removing])
            connection.executemany(
                "UPDATE pages SET base = pending, pending = NULL, written_at = ? WHERE id = ?",
                [(made.at, row.id) for row in cut if not row.removing],
            )
            version = "" if kept is None else str(made.number)
            connection.execute("UPDATE compiles SET finished = 1, version = ? WHERE number = ?", (version, made.number))
            for path, text in (kept or {}).items():
                connection.execute("INSERT OR REPLACE INTO versions VALUES (?, ?, ?)", (made.number, path, text))

    def note(self, inputs: Mapping[str, str], gone: Iterable[str] = ()) -> None:
        """Pages whose inputs changed and whose text did not; and rows that no page and no file stands behind."""
        with self.transaction() as connection:
            connection.executemany("UPDATE pages SET inputs = ? WHERE id = ?", [(value, page) for page, value in inputs.items()])
            connection.executemany("DELETE FROM pages WHERE id = ? AND base IS NULL", [(page,) for page in gone])

    def versioned(self, numbers: Iterable[int], version: str) -> None:
        """These compiles are in the history."""
        with self.transaction() as connection:
            connection.executemany("UPDATE compiles SET version = ? WHERE number = ?", [(version, number) for number in numbers])

    def fold_kept(self, oldest: int) -> None:
        """Let what older versions say, and no later one, be said by this one; they go."""
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO versions SELECT ?, path, text FROM versions WHERE number < ? ORDER BY number DESC",
                (oldest, oldest),
            )
            connection.execute("DELETE FROM versions WHERE number < ?", (oldest,))
            connection.execute("UPDATE compiles SET version = ? WHERE number < ? AND version <> ''", (FOLDED, oldest))

    # After a crash, and undo

    def settle(self, landed: Mapping[str, int], dropped: Iterable[str], gone: Iterable[str]) -> None:
        """What a crash left: pages whose file has the pending text (and since when), those with the old, those gone."""
        with self.transaction() as connection:
            for page, at in landed.items():
                connection.execute("UPDATE pages SET base = pending, pending = NULL, written_at = ? WHERE id = ?", (at, page))
            for page in dropped:
                connection.execute("UPDATE pages SET pending = NULL, removing = 0, inputs = '' WHERE id = ?", (page,))
            connection.executemany("DELETE FROM pages WHERE id = ?", [(page,) for page in gone])

    def begin_restores(self, restores: Iterable[Restore]) -> None:
        with self.transaction() as connection:
            values = [(each.path, each.text, each.was, each.changed_ns) for each in restores]
            connection.executemany("INSERT OR REPLACE INTO restores VALUES (?, ?, ?, ?)", values)

    def finish_restores(self) -> None:
        with self.transaction() as connection:
            connection.execute("DELETE FROM restores")


def _set_up(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    with _told(path):
        # FULL: a commit that a power cut takes back would make our own text look like an edit.
        for setting in ("journal_mode = WAL", "synchronous = FULL", "fullfsync = ON", "temp_store = MEMORY",
                        "trusted_schema = OFF", "secure_delete = ON"):  # fmt: skip
            connection.execute(f"PRAGMA {setting}")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > VERSION:
            what = f"{path} was written by a newer Hindbrain: format {version}"
            raise StateUnusable(what, path=str(path), hint="upgrade Hindbrain")
        if version == 0:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {VERSION}; COMMIT")
        connection.executescript(_WATCH)
    return connection


def _claim(path: Path) -> None:
    """A plain file of ours; made when there is none."""
    there = path.exists()
    try:
        os.close(open_private(path, os.O_RDWR | os.O_CREAT))
    except FileNotFoundError as error:
        raise StateUnusable(f"{path} cannot be made: its folder is gone", path=str(path)) from error
    if not there:
        sync_directory(path.parent)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """SQLite's errors in our words."""
    try:
        yield
    except sqlite3.Error as error:
        raise StateUnusable(f"{path} cannot be used: {error}", path=str(path)) from error
