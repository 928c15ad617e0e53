"""A wish to dream -> a job that is done at once, here or by the worker, and what it changed; and dreams taken back.

The work itself is that of the worker's own dreams (reason/dreaming.py). Only when is another matter: who asks for one need not
wait for twenty new memories, nor for half an hour in which nobody works.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError, NotFound
from hindbrain.base.home import Home
from hindbrain.ledger import reasoned
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Runner
from hindbrain.reason import telling
from hindbrain.reason.changes import Change, Contradict, Fade, Insight, Page, Reinforce, Supersede
from hindbrain.serve.scoping import Chosen
from hindbrain.serve.work import LEASE_SECONDS, kinds, opener

TIMEOUT: Final = 300.0
_AGAIN_SECONDS: Final = 0.05
_ENDED: Final = ("done", "parked", "cancelled")
_STANDING: Final = "SELECT id FROM memories WHERE held = '' AND superseded_by IS NULL AND valid_to IS NULL"
_USED: Final = "SELECT id, used_at FROM memories WHERE used_at IS NOT NULL"


class NotDreamt(HindbrainError):
    """A dream was not finished"""

    exit_code = 5
    default_hint = "see `hindbrain jobs list --kind dream`; nothing is half done"


@dataclass(frozen=True, slots=True)
class Dreamt:
    """A dream, or what one would be."""

    name: str
    at: int
    memories: int  # that were changed
    changes: list[str] = field(default_factory=list[str])  # in plain words; of a dream that is only thought of


def place(config: Config, choose: Callable[[Evidence | None], Chosen]) -> str | None:
    """The key of the dream of a project; None where nothing is stored of it."""
    if not _there(config):
        choose(None)
        return None
    with opener(config, SystemClock())() as ledger:
        chosen = choose(ledger)
    if chosen.everything:
        return telling.to_dream("dream").key
    return None if chosen.project is None else telling.to_dream("dream", chosen.project).key


def dreams(config: Config) -> list[Dreamt]:
    """Those that can be taken back, newest first."""
    if not _there(config):
        return []
    with opener(config, SystemClock())() as ledger, ledger.reading() as database:
        return [Dreamt(*row) for row in reasoned.dreams(database)]


def undo(config: Config, name: str) -> int:
    """Take back what a dream changed; how many memories that were. Raises NotFound."""
    if name not in {each.name for each in dreams(config)}:
        raise NotFound(f"there is no dream {name[:80]!r}", hint="see `hindbrain dream --list`")
    clock = SystemClock()
    with opener(config, clock)() as ledger, ledger.writing() as database:
        return reasoned.undo(database, name, clock.now_ms())


def run(config: Config, key: str | None) -> list[Dreamt]:
    """Have a dream dreamt now, and say what it changed; nothing where it changed nothing. Raises NotDreamt."""
    if key is None or not _there(config):
        return []
    clock = SystemClock()
    before = {each.name for each in dreams(config)}
    open_ledger = opener(config, clock)
    job = dataclasses.replace(telling.to_dream(*key.split(":", 1), delay_seconds=0.0), forced=True, priority=telling.SOON)
    with open_ledger() as ledger:
        (number,) = Queue(ledger, clock).add(telling.asked_for([job]))
    table = {telling.DREAM: kinds(open_ledger, clock, config.keep_jobs_days, config)[telling.DREAM]}
    deadline = clock.elapsed() + TIMEOUT
    while True:
        Runner(open_ledger, table, clock, lease_seconds=LEASE_SECONDS).run_all(max(0.0, deadline - clock.elapsed()))
        with open_ledger() as ledger:
            found = Queue(ledger, clock).get(number)
        if found.state in _ENDED:
            break
        if found.state == "waiting" and found.error:
            raise NotDreamt(f"the dream failed: {found.error}", hint="nothing was changed; the worker tries it again")
        if clock.elapsed() > deadline:
            raise NotDreamt(f"the dream was not finished within {TIMEOUT:.0f} s")
        time.sleep(_AGAIN_SECONDS)  # a worker is at it
    if found.state != "done":
        raise NotDreamt(f"the dream was {found.state}: {found.error or 'without a reason'}")
    return [each for each in dreams(config) if each.name not in before]


def would(config: Config, key: str | None) -> list[Dreamt]:
    """What a dream would change now; nothing is written."""
    from hindbrain.reason import dream
    from hindbrain.reason.likeness import Likeness

    if key is None or not _there(config):
        return []
    clock = SystemClock()
    depth, _, project = key.partition(":")
    with opener(config, clock)() as ledger, ledger.reading() as database:
        where = None if project == telling.GLOBAL else project
        known = _all(database) if depth == telling.DEEP else reasoned.current(database, where)
        used = {row[0]: int(row[1]) for row in database.execute(_USED).fetchall()}
    find = dream.deep if depth == telling.DEEP else dream.dream
    changes = find(known, clock.now_ms(), Likeness(), lambda: True, used)
    texts = {each.id: each.text for each in known}
    return [Dreamt(key, clock.now_ms(), len(changes), told(changes, texts))] if changes else []


def told(changes: Sequence[Change], texts: dict[str, str]) -> list[str]:
    """Each change in plain words."""
    return [_told(each, texts) for each in changes]


def _told(change: Change, texts: dict[str, str]) -> str:
    match change:
        case Supersede():
            return f"{change.old} goes into {change.new}, {change.reason}: {_line(texts.get(change.old, ''))}"
        case Fade():
            how = "no longer holds" if change.valid_to is not None else f"is trusted less, {change.confidence:.2f}"
            return f"{change.memory} was not confirmed or used for long and {how}: {_line(texts.get(change.memory, ''))}"
        case Insight():
            return f"said in {len(change.supports)} memories ({', '.join(change.supports)}): {_line(change.text)}"
        case Page():
            return f"the page {change.name} is written anew from {len(change.supports)} memories"
        case Reinforce():
            return f"{change.new} confirms {change.old}: {_line(texts.get(change.old, ''))}"
        case Contradict():
            return f"{change.one} contradicts {change.other}: {_line(change.text)}"


def _line(text: str) -> str:
    return " ".join(text[:800].split())[:160]


def _all(database: Database) -> list[reasoned.Known]:
    return list(reasoned.known(database, [row[0] for row in database.execute(_STANDING).fetchall()]).values())


def _there(config: Config) -> bool:
    """Whether there is a ledger to look into; none is made for a question."""
    return config.is_shared or Home(config.home).ledger.exists()
