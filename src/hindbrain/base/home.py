"""The data directory -> where each thing in it is.

    hook.py           the launcher agents run          lost, lost.unloaded   how many events could not be kept
    journal/          open segments                    worker.lock, .start   who serves this home, who starts it
    archive/          stored segments, compressed      wake                  a pipe: something new in the journal
    ledger.db         the SQLite ledger                damage/               copies of what was torn or damaged
    config.toml       settings                         log/                  the worker's log, crash reports
    machine           a random id of this home         sharing               how sharing with others stands
    backups/          where `hindbrain backup` writes unless told otherwise
    install/          what was changed in agents' settings, and those files as they were
    forgetting        a mark: a wish to forget is being carried out
    machine, .lock    this home's own id in a shared ledger
    sharing           how far the shared ledger has got, and what keeps it
    derived/          what can be made again from the ledger's rows: the signs of its vectors
    arrivals/         in which order memories came to be known here: ids
    teams/            conversations with backends that remember nothing
    inbox/, done/     text files a person drops to be remembered, and in done/ those that were
    wiki/             pages for people, made from the ledger; in wiki/.hindbrain/ what is known of them
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Home:
    """Paths only; nothing is touched by making one."""

    root: Path

    @property
    def journal(self) -> Path:
        return self.root / "journal"

    @property
    def archive(self) -> Path:
        return self.root / "archive"

    @property
    def ledger(self) -> Path:
        return self.root / "ledger.db"

    @property
    def damage(self) -> Path:
        return self.root / "damage"

    @property
    def worker_lock(self) -> Path:
        return self.root / "worker.lock"

    @property
    def worker_start(self) -> Path:
        return self.root / "worker.start"

    @property
    def wake(self) -> Path:
        return self.root / "wake"

    @property
    def log(self) -> Path:
        return self.root / "log"

    @property
    def backups(self) -> Path:
        return self.root / "backups"

    @property
    def install(self) -> Path:
        return self.root / "install"

    @property
    def forgetting(self) -> Path:
        return self.root / "forgetting"

    @property
    def machine(self) -> Path:
        return self.root / "machine"

    @property
    def sharing(self) -> Path:
        return self.root / "sharing"

    @property
    def derived(self) -> Path:
        return self.root / "derived"

    @property
    def inbox(self) -> Path:
        return self.root / "inbox"

    @property
    def arrivals(self) -> Path:
        return self.root / "arrivals"

    @property
    def teams(self) -> Path:
        return self.root / "teams"

    @property
    def wiki(self) -> Path:
        return self.root / "wiki"
