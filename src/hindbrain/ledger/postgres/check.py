"""A ledger on PostgreSQL -> what is wrong with it, each finding with its place and its repair.

The server looks after its own pages. What is asked here is what only we know: the schema against the one shipped, row security on
every table, what memories rest on, and the full-text index and the vectors against the texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from hindbrain.base.errors import HindbrainError
from hindbrain.ledger import schema, soundness, vectors
from hindbrain.ledger.check import REEMBED, REINDEX, REINSTALL, Problem
from hindbrain.ledger.postgres import text_check
from hindbrain.ledger.postgres.connect import ROLE, SCHEMA, Connection
from hindbrain.ledger.postgres.store import PostgresLedger

RESTORE: Final = "restore the database from a backup, or let every machine hand its journal on to a new one"

# A table that the role can read or write without a policy of ours in the way. The owner would pass them all.
_OPEN: Final = """
SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE nspname = :schema AND relkind IN ('r', 'p') AND NOT (
    relrowsecurity AND relowner <> to_regrole(:role)
    AND EXISTS (SELECT 1 FROM pg_policy WHERE polrelid = pg_class.oid AND to_regrole(:role) = ANY (polroles)))
ORDER BY relname
"""
_PLACE: Final = """
SELECT quote_ident(nspname), has_schema_privilege(:role, nspname, 'USAGE')
FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
"""
# On SQLite a reference sees to this.
_LONE: Final = """
SELECT (SELECT count(*) FROM unembedded_turns WHERE NOT EXISTS (SELECT 1 FROM turns WHERE turns.rowid = turn))
     + (SELECT count(*) FROM unembedded_memories WHERE NOT EXISTS (SELECT 1 FROM memories WHERE memories.id = memory))
"""
_ROLE: Final = "SELECT rolsuper OR rolbypassrls OR rolcanlogin FROM pg_roles WHERE rolname = :role"


def problems(ledger: PostgresLedger) -> list[Problem]:
    """Everything wrong with a ledger."""
    checks: list[Callable[[PostgresLedger, Connection], Iterator[Problem]]] = [
        _schema, _extension, _row_security, _memories, _index, _vectors,
    ]  # fmt: skip
    found: list[Problem] = []
    try:
        with ledger.reading() as database:
            for check in checks:
                found += check(ledger, database)
    except HindbrainError as error:
        what = f"a check could not be carried out: {error.message}"
        found.append(Problem(what, str(ledger.address), error.hint, repair="none"))
    return found


def _schema(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    done = dict(database.execute("SELECT number, checksum FROM migrations").fetchall())
    try:
        waiting = schema.outstanding(done, ledger.migrations)
    except HindbrainError as error:
        yield Problem(error.message, "table migrations", REINSTALL, repair="none")
        return
    for migration in waiting:
        yield Problem(f"migration {migration.number} has not run", "table migrations", "start the worker", repair="none")


def _extension(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    found = database.execute(_PLACE, {"role": ROLE}).fetchone()
    if found is None:
        yield Problem("the extension vector is not installed", str(ledger.address), "CREATE EXTENSION vector;", repair="none")
    elif not found[1]:
        what = f"it may not use the schema {found[0]}, in which the extension vector is"
        yield Problem(what, f"role {ROLE}", f"GRANT USAGE ON SCHEMA {found[0]} TO {ROLE};", repair="none")


def _row_security(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    for (name,) in database.execute(_OPEN, {"schema": SCHEMA, "role": ROLE}).fetchall():
        yield Problem("row security does not hold: tenants see each other", f"table {name}", RESTORE, repair="none")
    found = database.execute(_ROLE, {"role": ROLE}).fetchone()
    if found is None or found[0]:
        yield Problem("it may log in or pass row security", f"role {ROLE}", f"ALTER ROLE {ROLE} NOLOGIN NOBYPASSRLS NOSUPERUSER;",
                      repair="none")  # fmt: skip


def _memories(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    for what in soundness.differences(database):
        yield Problem(what, "table memories", RESTORE, repair="none")


def _index(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    for what in text_check.differences(database):
        yield Problem(what, "full-text index", REINDEX, repair="reindex")


def _vectors(ledger: PostgresLedger, database: Connection) -> Iterator[Problem]:
    for what in vectors.differences(database):
        yield Problem(what, "table vectors", REEMBED, repair="reindex")
    (lone,) = database.execute(_LONE).fetchone() or (0,)
    if lone:
        yield Problem(f"{lone} items wait for vectors and are not there", "table vectors", REEMBED, repair="reindex")


def repair_index(ledger: PostgresLedger) -> None:
    """Make the full-text index of this tenant anew from its turns and memories, and let what lacks vectors wait for them."""
    with ledger.writing() as database:
        text_check.make_anew(database)
        database.execute("DELETE FROM unembedded_turns WHERE NOT EXISTS (SELECT 1 FROM turns WHERE turns.rowid = turn)")
        database.execute("DELETE FROM unembedded_memories WHERE NOT EXISTS (SELECT 1 FROM memories WHERE memories.id = memory)")
        vectors.mend(database)
