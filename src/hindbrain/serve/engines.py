"""A configuration -> the ledgers it names: this home's own, and one in PostgreSQL that several machines share.

The home's own ledger is always there and is written first. The shared one may be away at any time: whoever asks gets it
when it answers, else the home's own together with the reason. The driver is loaded only where a shared ledger is named.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import LedgerError, LedgerNotReady, StorageError
from hindbrain.base.files import Lock, ensure_private_dir, read_private, replace_file
from hindbrain.base.home import Home
from hindbrain.base.settings import mask_database
from hindbrain.ledger.check import Problem
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.status import opened

CONNECT_SECONDS: Final = 5.0
# A person waits for the answer, and there is another ledger to ask.
ASKED_SECONDS: Final = 3.0
STATEMENT_SECONDS: Final = 30.0
_MACHINE: Final = re.compile(r"[0-9a-f]{16}")

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, repr=False)
class Shared:
    """The ledger a home shares with others: how to open it, and what to call it."""

    url: str
    tenant: str
    home: Home
    clock: Clock

    @property
    def name(self) -> str:
        """The database without its password, and whose part of it."""
        return f"{mask_database(self.url)} ({self.tenant})"

    def open(
        self, *, read_only: bool = False, connect_seconds: float = CONNECT_SECONDS,
        statement_seconds: float = STATEMENT_SECONDS, pool_size: int = 2,
    ) -> Evidence:  # fmt: skip
        """The ledger itself. Raises LedgerError when it does not answer or cannot be used."""
        from hindbrain.ledger.postgres.store import PostgresLedger  # loads the driver

        return PostgresLedger.open(
            self.url, self.clock, tenant=self.tenant, machine=known_machine(self.home), read_only=read_only,
            connect_seconds=connect_seconds, statement_seconds=statement_seconds, pool_size=pool_size,
        )  # fmt: skip

    def open_to_ask(self) -> Evidence:
        """For one question of a person: read only, and not waited for long."""
        return self.open(read_only=True, connect_seconds=ASKED_SECONDS, statement_seconds=ASKED_SECONDS * 3)


def shared_of(config: Config, clock: Clock) -> Shared | None:
    """The shared ledger a configuration names; None for a home that keeps to itself."""
    return Shared(config.database, config.tenant, Home(config.home), clock) if config.is_shared else None


def shared_problems(ledger: Evidence) -> list[Problem]:
    """What is wrong with a shared ledger."""
    from hindbrain.ledger.postgres.check import problems
    from hindbrain.ledger.postgres.store import PostgresLedger

    return problems(ledger) if isinstance(ledger, PostgresLedger) else []


def machine_id(home: Home) -> str:
    """What tells this home's folders from those of equal name on other machines; random, made once."""
    if known := known_machine(home):
        return known
    ensure_private_dir(home.root)
    with Lock(home.machine.with_name("machine.lock")):
        if not known_machine(home):  # nobody was quicker
            replace_file(home.machine, f"{secrets.token_hex(8)}\n".encode())
    return known_machine(home)


def known_machine(home: Home) -> str:
    """The same, "" before it was made. Raises StorageError for a file that holds no id of ours."""
    data = read_private(home.machine, limit=1 << 10)
    if data is None:
        return ""
    text = data.decode("ascii", "replace").strip()
    if not _MACHINE.fullmatch(text):
        raise StorageError(
            f"{home.machine} does not hold a machine id", path=str(home.machine), hint="restore it from a backup, or remove it"
        )
    return text


def asked(
    shared: Shared | None, home: Home, clock: Clock, question: Callable[[Evidence | None], Answer], *, ready: bool = True,
    fall_back: Callable[[str], None] = lambda why: None,
) -> Answer:  # fmt: skip
    """What the shared ledger answers, else this home's own, after `fall_back` was told why the shared one did not.

    `ready` says that the shared ledger has this home's memories; before that the home's own knows more.
    """
    if shared is not None:
        try:
            if not ready:
                raise LedgerNotReady("it has not got this machine's memories yet")
            with shared.open_to_ask() as ledger:
                return question(ledger)
        except LedgerError as error:
            fall_back(error.message)
    own = opened(home, clock)
    if own is None:
        return question(None)
    with own:
        return question(own)
