"""An address -> a session of one tenant, and the ledger's SQL -> PostgreSQL's.

The SQL of this stage is written once, in the words SQLite has. What differs is mechanical and done here, once per text:
placeholders, and the tenant that every key begins with. A session is held by row security under a role that owns nothing, so
a forgotten condition finds the rows of its own tenant and no others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, TypeVar

import psycopg
from psycopg import errors
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from hindbrain.base.errors import LedgerError
from hindbrain.base.settings import mask_database
from hindbrain.ledger.postgres.failures import NoAnswer, translating
from hindbrain.ledger.postgres.fulltext import TextIndex
from hindbrain.ledger.postgres.nearest import Nearest

ROLE: Final = "hindbrain_tenant"
SCHEMA: Final = "hindbrain"
OLDEST_SERVER: Final = 140_000
# How much longer than the server's own limit we wait for it: it may be stopped, or the network gone without a word.
PATIENCE_SECONDS: Final = 5.0
IDLE_SECONDS: Final = 60.0

_Result = TypeVar("_Result")

# Quoted text and comments stay as they are, so do casts; the rest is what the two engines write differently.
_CAST_NUMBERS: Final = "SELECT CAST(value AS BIGINT) FROM json_each("
_NUMBERS: Final = "SELECT value FROM json_numbers("
_PARTS: Final = re.compile(
    r"""'(?:[^']|'')*' | "(?:[^"]|"")*" | --[^\n]* | /\*.*?\*/ | :: | (?P<value>\?) | :(?P<name>[A-Za-z_]\w*)
      | % | (?P<conflict>\bON\s+CONFLICT\s*)\((?P<target>[^()]*)\)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
# Columns whose text may be longer than an index entry: their unique indexes hold key_of() it.
_LONG: Final = frozenset({"identity", "cwd", "source"})
# A text and a whole number have one type each: what a statement means must not depend on the values it is given.
_ADAPTERS: Final = AdaptersMap(psycopg.adapters)
_ADAPTERS.register_dumper(str, StrDumper)
_ADAPTERS.register_dumper(int, Int8Dumper)

# The extension may live in a schema of its own; nothing else is looked for outside of ours.
_BEGIN_SESSION: Final = """
SELECT set_config('role', %(role)s, false), set_config('hindbrain.tenant', %(tenant)s, false),
       set_config('hindbrain.machine', %(machine)s, false),
       set_config('statement_timeout', %(statement_ms)s, false), set_config('lock_timeout', %(lock_ms)s, false),
       set_config('idle_in_transaction_session_timeout', %(idle_ms)s, false),
       set_config('search_path', coalesce((
           SELECT format('%%I, %%I, pg_temp', %(schema)s, nspname)
           FROM pg_extension JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'
       ), %(schema)s || ', pg_temp'), false)
"""


@dataclass(frozen=True, slots=True)
class Address:
    """Where the database is, whose rows a session works on, and how long anything may take."""

    url: str = field(repr=False)  # it holds the password
    tenant: str = "main"
    machine: str = ""
    connect_seconds: float = 5.0
    statement_seconds: float = 30.0

    def __str__(self) -> str:
        return mask_database(self.url)


class Session(psycopg.Connection[tuple[Any, ...]]):
    """The driver's connection, except that no wait is without end."""

    limit_seconds: float = 60.0

    def wait(self, gen: PQGen[_Result], interval: float = 0.1, timeout: float | None = None) -> _Result:
        try:
            return super().wait(gen, interval, self.limit_seconds if timeout is None else timeout)
        except errors._WaitTimeout as error:
            self.pgconn.finish()  # an answer may still come, and would be taken for another question's
            raise NoAnswer(f"no answer within {self.limit_seconds:.0f} s") from error


def connect(address: Address) -> Session:
    """A session of the login role, in which nothing has been set but time limits."""
    limit = address.statement_seconds + PATIENCE_SECONDS
    if not _is_readable(address.url):
        raise LedgerError(
            "the address of the database cannot be read: it is not a postgresql:// URL that PostgreSQL's library understands",
            hint="write special characters of a password as %XX: postgresql://user:p%40ss@host:5432/name",
        )
    with translating(address.url):
        session = Session.connect(
            address.url, autocommit=True, context=_Context(), connect_timeout=max(2, round(address.connect_seconds)),
            application_name="hindbrain", keepalives_idle=10, keepalives_interval=5, keepalives_count=3,
            tcp_user_timeout=round(limit * 1000), client_encoding="UTF8",
        )  # fmt: skip
    session.limit_seconds = limit
    if session.info.server_version < OLDEST_SERVER:
        found = session.info.server_version
        session.close()
        raise LedgerError(
            f"the ledger {address} is kept by PostgreSQL {found // 10_000}: {OLDEST_SERVER // 10_000} or newer is needed",
            hint="upgrade the server, or name another one in the setting `database` (HINDBRAIN_DATABASE)",
        )
    return session


def _is_readable(url: str) -> bool:
    """Asked beforehand: what libpq cannot read it repeats in its message, and that may be the password."""
    try:
        found = psycopg.conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return False
    return all(port.isdecimal() or not port for port in str(found.get("port", "")).split(","))


class _Context:
    """What the driver takes adapters from."""

    adapters = _ADAPTERS
    connection = None


def begin_session(session: Session, address: Address) -> None:
    """Make the login role's session one of the tenant: from here on row security holds it.

    This guards against a mistake of ours, not against a person: who can send SQL of his own can name another tenant. Tenants who
    do not trust each other need databases of their own.
    """
    statement_ms = round(address.statement_seconds * 1000)
    session.execute(_BEGIN_SESSION, {
        "role": ROLE, "schema": SCHEMA, "tenant": address.tenant, "machine": address.machine, "statement_ms": str(statement_ms),
        "lock_ms": str(statement_ms * 4 // 5), "idle_ms": str(round(IDLE_SECONDS * 1000)),
    })  # fmt: skip


@cache
def to_postgres(sql: str) -> str:
    """The ledger's SQL as the driver wants it; numbers of a list come out of it as such, or no index can be used."""
    return _PARTS.sub(_rewritten, sql.replace(_CAST_NUMBERS, _NUMBERS))


def _rewritten(part: re.Match[str]) -> str:
    if part["value"]:
        return "%s"
    if part["name"]:
        return f"%({part['name']})s"
    if part["conflict"]:
        columns = [column.strip() for column in part["target"].split(",")]
        keys = [f"key_of({column})" if column in _LONG else column for column in columns]
        return f"{part['conflict']}(tenant, {', '.join(keys)})"
    return part[0].replace("%", "%%")  # the driver looks for its placeholders inside quotes too


class Connection(TextIndex, Nearest):
    """A session that speaks the ledger's SQL; the caller holds its transaction."""

    raw: Session

    def __init__(self, raw: Session) -> None:
        self.raw = raw

    def execute(self, sql: str, parameters: Any = (), /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run one statement."""
        return self.raw.execute(to_postgres(sql), parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run one statement for many values, without waiting for each answer."""
        cursor = self.raw.cursor()
        if rows := list(parameters):  # the driver would ask the server even for none
            cursor.executemany(to_postgres(sql), rows)
        return cursor

    def defer_constraints(self) -> None:
        """Check references when the transaction commits, not before."""
        self.raw.execute("SET CONSTRAINTS ALL DEFERRED")
