"""Numbered SQL files -> a database of the newest shape, or a refusal that touches nothing.

Migrations only go forward, each in one transaction, each recorded with the SHA-256 of its SQL. Whoever comes second
waits for the lock and then finds the work done. Whether a file may be opened at all is connect's business.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from hindbrain.base.errors import LedgerError, MigrationChanged, SchemaTooNew

# "Hbrn": tells our files from other SQLite databases.
APPLICATION_ID: Final = 0x4862726E


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


@cache
def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order."""
    return read_migrations(files("hindbrain.ledger") / "migrations")


def read_migrations(folder: Traversable) -> tuple[Migration, ...]:
    """The numbered files of a folder, in order."""
    found = []
    for file in folder.iterdir():
        if file.name.endswith(".sql"):
            number, _, name = file.name.removesuffix(".sql").partition("_")
            found.append(Migration(int(number), name, file.read_text("utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.number))


def is_fresh(connection: sqlite3.Connection) -> bool:
    """Whether nothing was ever put into this database."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return int(tables) == 0


def applied(connection: sqlite3.Connection) -> dict[int, str]:
    """Checksums of the migrations that ran, by number. Raises LedgerError for a database that is not a ledger."""
    if is_fresh(connection):
        return {}
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    if mark != APPLICATION_ID:
        raise LedgerError(
            f"not a ledger: the file is an SQLite database of another program (application id {mark:#x})",
            hint="move the file away; Hindbrain leaves it untouched",
        )
    return dict(connection.execute("SELECT number, checksum FROM migrations"))


def outstanding(done: Mapping[int, str], migrations: Sequence[Migration]) -> list[Migration]:
    """The migrations still to run. Raises SchemaTooNew or MigrationChanged when what ran is not what is shipped."""
    newest, ours = max(done, default=0), max((migration.number for migration in migrations), default=0)
    if newest > ours:
        raise SchemaTooNew(f"the ledger has schema {newest}, this version knows {ours}")
    for migration in migrations:
        found = done.get(migration.number)
        if found is not None and found != migration.checksum:
            raise MigrationChanged(
                f"migration {migration.number} ({migration.name}) was applied with checksum {found[:12]}, "
                f"this version ships {migration.checksum[:12]}"
            )
    return [migration for migration in migrations if migration.number not in done]


def apply(connection: sqlite3.Connection, migration: Migration, now_ms: int) -> None:
    """Run one migration inside the transaction the caller holds."""
    if migration.number == 1:
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for statement in statements(migration.sql):
        connection.execute(statement)
    connection.execute(
        "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (?, ?, ?, ?)",
        (migration.number, migration.name, migration.checksum, now_ms),
    )


def statements(sql: str) -> Iterator[str]:
    """Split SQL at its statement ends. `executescript` would commit the transaction we are in."""
    held = ""
    for line in sql.splitlines(keepends=True):
        held += line
        if sqlite3.complete_statement(held):
            yield held
            held = ""
    if held.strip() and not all(line.lstrip().startswith("--") or not line.strip() for line in held.splitlines()):
        raise LedgerError(f"a migration ends inside a statement: {held.strip()[:80]}")


def shape(connection: sqlite3.Connection) -> list[tuple[str, str, str]]:
    """Every table, index and trigger with its SQL, for comparing two schemas."""
    query = "SELECT type, name, coalesce(sql, '') FROM sqlite_master ORDER BY type, name"
    return [(kind, name, " ".join(sql.split())) for kind, name, sql in connection.execute(query)]
