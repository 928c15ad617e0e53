"""Numbered SQL files -> a database of the newest shape, or a refusal that touches nothing.

As on SQLite: forward only, each migration in one transaction, each recorded with the SHA-256 of its SQL. All of them run under
one advisory lock of the database, so of many processes that open it at once one migrates and the others find the work done. The
role that programs work under and the extension come first; where the login role may not make them, the hint is the SQL for
whoever may.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Final

from psycopg import errors, sql

from hindbrain.base.errors import LedgerError, LedgerNotReady
from hindbrain.ledger.postgres.connect import ROLE, SCHEMA, Address, Session
from hindbrain.ledger.postgres.failures import takes_no_writes
from hindbrain.ledger.schema import Migration, outstanding, read_migrations

# The first half of every advisory lock of ours: "Hbrn".
LOCK_CLASS: Final = 0x4862726E
_MIGRATING: Final = 1
MIGRATING_SECONDS: Final = 120.0
OLDEST_VECTOR: Final = (0, 8)

_STATE: Final = """
SELECT pg_backend_pid(), pg_is_in_recovery() OR current_setting('transaction_read_only') = 'on', current_user, current_database(),
       (SELECT pg_get_userbyid(nspowner) FROM pg_namespace WHERE nspname = %(schema)s),
       EXISTS (SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
               WHERE nspname = %(schema)s AND relname = 'migrations'),
       (SELECT count(*) FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        WHERE nspname = %(schema)s AND relkind = 'r'),
       EXISTS (SELECT 1 FROM pg_roles WHERE rolname = %(role)s),
       (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
       EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'vector')
"""
# Migrations name what the extension brings, and it may live in a schema of its own.
_SEARCH_PATH: Final = """
SELECT set_config('search_path', (
    SELECT format('%%I, %%I, pg_temp', %(schema)s::text, nspname)
    FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
), false)
"""


@dataclass(frozen=True, slots=True)
class State:
    """What a login role finds in a database."""

    process: int  # of the server that answers
    takes_no_writes: bool
    user: str
    database: str
    owner: str | None  # of our schema, None when it is not there
    has_migrations: bool
    tables: int
    has_role: bool
    vector: str | None  # the version of the extension, None when it is not there
    can_have_vector: bool


@cache
def shipped() -> tuple[Migration, ...]:
    """The migrations of this version, in order."""
    return read_migrations(files("hindbrain.ledger.postgres") / "migrations")


def look(session: Session) -> State:
    """How the database stands, without changing anything."""
    row = session.execute(_STATE, {"schema": SCHEMA, "role": ROLE}).fetchone()
    assert row is not None  # a SELECT without FROM has one row
    return State(*row)


def applied(session: Session, state: State, address: Address) -> dict[int, str]:
    """Checksums of the migrations that ran, by number. Raises LedgerError for a schema that is not ours."""
    if state.has_migrations:
        _need_role(session, state, address)
        with session.transaction():
            session.execute(f"SET LOCAL ROLE {ROLE}")
            return dict(session.execute(f"SELECT number, checksum FROM {SCHEMA}.migrations").fetchall())
    if state.tables:
        raise LedgerError(
            f"not a ledger: the schema {SCHEMA} of {address} holds tables of another program",
            hint="name another database in the setting `database` (HINDBRAIN_DATABASE)",
        )
    return {}


def _need_role(session: Session, state: State, address: Address) -> None:
    """The role that the program works under: the tables of an existing ledger are granted to it."""
    if not state.has_role:
        raise LedgerError(
            f"the ledger {address} has lost its role {ROLE}: the database was restored on a server without it",
            hint=f"have the administrator run CREATE ROLE {ROLE} NOLOGIN; on the server and restore the database again",
        )
    try:
        with session.transaction(force_rollback=True):  # only tried
            session.execute(f"SET LOCAL ROLE {ROLE}")
    except errors.InsufficientPrivilege:
        wanted = sql.SQL("GRANT {} TO {}").format(sql.Identifier(ROLE), sql.Identifier(state.user))
        _grant_role(session, state, address, wanted)


def bring_up(session: Session, address: Address, migrations: Sequence[Migration], now_ms: int, *, read_only: bool) -> list[int]:
    """Run what is outstanding; gives back the numbers. A refusal has changed nothing."""
    state = look(session)
    if state.process != session.info.backend_pid:
        raise LedgerError(
            f"the ledger {address} is behind a connection pooler, where what is set for one tenant's session may reach another's",
            hint="name the database server itself in the setting `database` (HINDBRAIN_DATABASE)",
        )
    waiting = outstanding(applied(session, state, address), migrations)
    if not waiting:
        if state.takes_no_writes and not read_only:
            raise takes_no_writes(str(address))
        return []
    if read_only:
        fresh = waiting[0] == migrations[0]
        raise LedgerNotReady(f"the ledger {address} waits for migration {waiting[0].number}", fresh=fresh)
    if state.takes_no_writes:
        raise takes_no_writes(str(address))
    return _migrate(session, address, migrations, now_ms)


def _migrate(session: Session, address: Address, migrations: Sequence[Migration], now_ms: int) -> list[int]:
    limit = str(round(MIGRATING_SECONDS * 1000))
    session.limit_seconds = 2 * MIGRATING_SECONDS
    session.execute("SELECT set_config('lock_timeout', %s, false), set_config('statement_timeout', %s, false)", (limit, limit))
    session.execute("SELECT pg_advisory_lock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING))
    try:
        state = look(session)  # another process may have been quicker
        waiting = outstanding(applied(session, state, address), migrations)
        _become_owner(session, state, address, waiting)
        for migration in waiting:
            with session.transaction():
                session.execute(migration.sql, prepare=False)
                session.execute(
                    "INSERT INTO migrations (number, name, checksum, applied_at) VALUES (%s, %s, %s, %s)",
                    (migration.number, migration.name, migration.checksum, now_ms),
                )
        return [migration.number for migration in waiting]
    finally:
        if not session.broken:
            session.execute("RESET ROLE")
            session.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", (LOCK_CLASS, _MIGRATING))


def _become_owner(session: Session, state: State, address: Address, waiting: Sequence[Migration]) -> None:
    """Make what the first migration stands on, and act as the owner of the schema: all it holds is to have one owner."""
    if not waiting:
        return
    with session.transaction():  # a refusal takes back what was made before it
        _make_role(session, state, address)
        _make_extension(session, state, address)
        if state.owner is None:
            _make_schema(session, state, address)
        elif state.owner != state.user:
            _act_as(session, state.owner, state, address, waiting[0])
        session.execute(_SEARCH_PATH, {"schema": SCHEMA})


def _act_as(session: Session, owner: str, state: State, address: Address, waiting: Migration) -> None:
    try:
        session.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(owner)))
    except errors.InsufficientPrivilege as error:
        raise LedgerNotReady(
            f"the ledger {address} waits for migration {waiting.number}, and the user {state.user} may not run it",
            hint=f"run `hindbrain doctor` once with the database address of the user {owner}",
        ) from error


def _make_role(session: Session, state: State, address: Address) -> None:
    wanted = sql.SQL("GRANT {} TO {}").format(sql.Identifier(ROLE), sql.Identifier(state.user))
    try:
        if not state.has_role:
            with session.transaction():
                session.execute(f"CREATE ROLE {ROLE} NOLOGIN")
    except (errors.DuplicateObject, errors.UniqueViolation):
        pass  # made for another database of the same server, this very moment
    except errors.InsufficientPrivilege as error:
        raise LedgerError(
            f"the ledger {address} needs the role {ROLE}, and the user {state.user} may not make it",
            hint=f"have the administrator of the database run: CREATE ROLE {ROLE} NOLOGIN; {wanted.as_string(session)};",
        ) from error
    _need_role(session, replace(state, has_role=True), address)


def _grant_role(session: Session, state: State, address: Address, wanted: sql.Composed) -> None:
    try:
        session.execute(wanted)
    except errors.InsufficientPrivilege as error:
        raise LedgerError(
            f"the ledger {address} is worked on as the role {ROLE}, which the user {state.user} does not have",
            hint=f"have the administrator of the database run: {wanted.as_string(session)};",
        ) from error


def _make_extension(session: Session, state: State, address: Address) -> None:
    if state.vector is not None:
        _need_version(state.vector, address)
        return
    if not state.can_have_vector:
        raise LedgerError(
            f"the extension vector is not installed on the server of {address}",
            hint="install pgvector there (Debian: postgresql-<version>-pgvector; macOS: brew install pgvector), "
            "then have the administrator run in the database: CREATE EXTENSION vector;",
        )
    try:
        session.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except errors.InsufficientPrivilege as error:
        raise LedgerError(
            f"the extension vector is not installed in {address}, and the user {state.user} may not install it",
            hint="have the administrator of the database run in it: CREATE EXTENSION vector;",
        ) from error


def _need_version(found: str, address: Address) -> None:
    """An index that goes on while what it finds is outside the scope came with this version."""
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_VECTOR:
        oldest = ".".join(map(str, OLDEST_VECTOR))
        raise LedgerError(
            f"the extension vector of {address} has version {found}: {oldest} or newer is needed",
            hint="install a newer pgvector on the server, then have the administrator run: ALTER EXTENSION vector UPDATE;",
        )


def _make_schema(session: Session, state: State, address: Address) -> None:
    try:
        session.execute(f"CREATE SCHEMA {SCHEMA}")
    except errors.InsufficientPrivilege as error:
        names = sql.Identifier(state.database), sql.Identifier(state.user)
        grant = sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(*names).as_string(session)
        raise LedgerError(
            f"the user {state.user} may not make the schema {SCHEMA} in {address}",
            hint=f"have the administrator of the database run: {grant};",
        ) from error
