"""A shared ledger -> whether it answers, what it is, and what this home still has to tell it."""

from __future__ import annotations

from dataclasses import dataclass

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerError, LedgerNotReady
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve import shared_state
from hindbrain.serve.engines import Shared, known_machine
from hindbrain.serve.shared_state import Behind
from hindbrain.serve.sharing import positions
from hindbrain.serve.status import opened


@dataclass(frozen=True, slots=True)
class SharedStatus:
    """One look at it."""

    database: str
    machine: str
    answers: bool
    server: str
    schema: int | None
    complete: bool  # it has had everything of this home at least once
    behind: Behind
    error: str
    hint: str

    def as_data(self) -> dict[str, object]:
        """The same for programs."""
        return {
            "database": self.database, "machine": self.machine, "answers": self.answers, "server": self.server or None,
            "schema": self.schema, "complete": self.complete,
            "lag": {"lines": self.behind.lines, "oldest_seconds": self.behind.oldest_seconds},
            "last_error": self.error or None, "hint": self.hint or None,
        }  # fmt: skip

    def __str__(self) -> str:
        if not self.answers:
            said = f"{self.database} does not answer: {self.error}"
        else:
            said = f"{self.database}, {self.server}, schema {self.schema}"
            said += f"; last error: {self.error}" if self.error else ""
        if not self.behind.lines:
            return f"{said}; nothing waits"
        age = "" if self.behind.oldest_seconds is None else f", oldest {self.behind.oldest_seconds:.0f} s"
        return f"{said}; {self.behind.lines} lines wait{age}"


def look_shared(shared: Shared, clock: Clock) -> SharedStatus:
    """Ask it, and ask the home's own ledger what it lacks. A database that is away is no error here."""
    state = shared_state.read(shared.home, shared.name)
    server, schema, error, hint = "", None, state.error, state.hint
    try:
        with shared.open_to_ask() as ledger:
            server, schema = described(ledger)
            state = shared_state.with_reached(state, positions(ledger, _own(shared, clock)))
        answers = True
    except LedgerNotReady as failure:  # the worker, which would have made it ready, knows better what is in the way
        answers, error, hint = True, error or failure.message, hint or failure.hint
    except LedgerError as failure:
        answers, error, hint = False, failure.message, failure.hint
    behind = _behind(shared, state, clock)
    machine = known_machine(shared.home)
    return SharedStatus(shared.name, machine, answers, server, schema, state.complete, behind, error, hint)


def described(ledger: Evidence) -> tuple[str, int | None]:
    """The server in words, and the number of its last migration."""
    with ledger.reading() as connection:
        (version,) = connection.execute("SELECT current_setting('server_version')").fetchone()
        (schema,) = connection.execute("SELECT max(number) FROM migrations").fetchone()
    return f"PostgreSQL {str(version).split()[0]}", None if schema is None else int(schema)


def _own(shared: Shared, clock: Clock) -> dict[str, int]:
    local = opened(shared.home, clock)
    if local is None:
        return {}
    with local:
        return positions(local)


def _behind(shared: Shared, state: shared_state.State, clock: Clock) -> Behind:
    local = opened(shared.home, clock)
    if local is None:
        return Behind(0, None)
    with local:
        return shared_state.behind(shared.home, state, local, clock)
