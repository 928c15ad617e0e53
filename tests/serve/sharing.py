"""Machines that share a ledger: each with a home, a configuration and a worker of its own."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from hindbrain.serve import cli, daemon
from hindbrain.serve.engines import Shared, shared_of
from hindbrain.serve.memory import Memory
from tests.serve.installed import Installed

# What a home's own ledger and a shared one that has nothing else say alike; transcripts' cursors stay at home.
SAME = ("projects", "project_aliases", "places", "sessions", "turns", "events", "traces", "damage", "redactions")


@dataclass(frozen=True)
class Machine:
    """One home whose configuration names a shared database."""

    home: Home
    url: str
    tenant: str = "main"

    @property
    def shared(self) -> Shared:
        found = shared_of(load(str(self.home.root), {"database": self.url, "tenant": self.tenant}), SystemClock())
        assert found is not None
        return found

    def memory(self) -> Memory:
        return Memory(self.home.root, shared=self.shared)

    def tell(self, *texts: str, session: str = "s1", project: str = "shop") -> list[str]:
        """Record some turns of a session, and settle."""
        with self.memory() as memory:
            ids = [
                memory.record(agent="claude-code", session=session, role="user", text=text, project=project) for text in texts
            ]
            memory.settle()
        return ids

    def found(self, words: str, project: str | None = None) -> list[str]:
        """What a search gives, and from the shared ledger."""
        with self.memory() as memory:
            texts = [hit.text for hit in memory.search(words, project=project)]
            assert memory.answered_by == "shared"
        return texts

    def local(self) -> Ledger:
        return Ledger.open(self.home.ledger, SystemClock(), read_only=True)

    def own(self) -> dict[str, str]:
        with self.local() as ledger:
            return alike(ledger)

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command, run in this process as if in one of its own."""
        out, err = io.StringIO(), io.StringIO()
        with self._variables(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = cli.run(["--home", str(self.home.root), *arguments])
        return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())

    @contextlib.contextmanager
    def _variables(self) -> Iterator[None]:
        before = dict(os.environ)
        os.environ.update(self.environ)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)

    @property
    def environ(self) -> dict[str, str]:
        user = self.home.root.parent / "user"
        values = {"PATH": os.environ["PATH"], "HOME": str(user), "LANG": "C.UTF-8"}
        return values | {"HINDBRAIN_DATABASE": self.url, "HINDBRAIN_TENANT": self.tenant}

    def one(self, *arguments: str) -> Any:
        """The JSON of a command that must work."""
        ran = self.cli(*arguments, "--json")
        assert ran.returncode == 0, ran
        return json.loads(ran.stdout)

    def installed(self) -> Installed:
        """The hook as an agent runs it; its worker knows of the database by a variable."""
        (self.home.root.parent / "user").mkdir(exist_ok=True)
        return Installed(self.home, install_launcher(self.home.root), self.environ)

    def log(self) -> str:
        path = self.home.log / "worker.log"
        return path.read_text() if path.exists() else ""


@contextmanager
def machine(folder: Path, url: str, tenant: str = "main") -> Iterator[Machine]:
    """A machine whose worker, if one was started, is gone afterwards."""
    made = Machine(Home(folder / "home"), url, tenant)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield made
    finally:
        if made.home.root.exists():
            daemon.stop(made.home.root)


@contextmanager
def shared_ledger(url: str, tenant: str = "main") -> Iterator[Evidence]:
    with PostgresLedger.open(url, SystemClock(), tenant=tenant) as ledger:
        yield ledger


def alike(ledger: Evidence) -> dict[str, str]:
    found = fingerprint(ledger)
    return {table: found[table] for table in SAME}


def there(url: str, tenant: str = "main") -> dict[str, str]:
    with shared_ledger(url, tenant) as ledger:
        return alike(ledger)
