"""The time of day and what is new -> a nap, a dream or a deep dream, as an effect that can be taken back.

A nap follows a session that ended, a dream twenty new memories of a project, a deep dream half an hour in which nobody worked,
once a day. How many memories are new is counted in the transaction that adds them, and set back by the dream that looked at them.
A dream is bounded in memories and in time: what was found until then is written, and the rest is found by the next one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Final

from hindbrain.ledger import reasoned
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.reasoned import Known
from hindbrain.queues.job import Effect, NewJob, Park
from hindbrain.reason import dream, telling
from hindbrain.reason.applying import apply
from hindbrain.reason.changes import Change
from hindbrain.reason.means import Means

SECONDS: Final = {"nap": 10.0, "dream": 30.0, "deep": 120.0}
KEPT_MS: Final = 30 * dream.DAY_MS  # for so long a dream can be taken back

_NEW: Final = "memories since the last dream:"
_DEEP: Final = "last deep dream"
_SET: Final = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_EVERYTHING: Final = "SELECT id FROM memories WHERE held = '' AND superseded_by IS NULL AND valid_to IS NULL"
_LAST: Final = "SELECT coalesce(max(last_at), 0) FROM sessions WHERE last_at <= ?"  # a clock gone wild keeps nobody awake
_USED: Final = "SELECT id, used_at FROM memories WHERE used_at IS NOT NULL"


def after_reading(database: Database, project: str | None, new: int, now_ms: int, *, ended: bool) -> list[NewJob]:
    """Count what a session added, and say which dream that calls for."""
    name = _NEW + (project or telling.GLOBAL)
    count = _number(database, name) + new
    if new:
        database.execute(_SET, (name, str(count)))
    depth = dream.due(count, 0, 0, ended=ended)
    jobs = [telling.to_dream(depth, project)] if depth else []
    if count and now_ms - _number(database, _DEEP) >= dream.DEEP_EVERY_MS:
        jobs.append(telling.to_dream(telling.DEEP, delay_seconds=dream.IDLE_MS / 1000))
    return jobs


def dream_of(ledger: Evidence, key: str, means: Means, *, forced: bool = False) -> Effect | None:
    """Carry out the dream that a job's key names; None when it is not the time for it and nobody asked for it."""
    if key == telling.DEEP:
        return _deep(ledger, means, forced)
    depth, _, project = key.partition(":")
    if depth == telling.DEEP or depth not in SECONDS or not project:
        raise Park(f"there is no dream called {key!r:.80}")
    place = None if project == telling.GLOBAL else project
    with ledger.reading() as database:
        known = reasoned.current(database, place)
        used = _used(database)
        counted = _number(database, _NEW + project)
    now, check = means.clock.now_ms(), _in_time(means, SECONDS[depth])
    if depth == telling.NAP:
        return _writing(key, dream.nap(known, now, means.likeness, check), now)
    changes = dream.dream(known, now, means.likeness, check, used)

    def effect(database: Database) -> None:
        apply(database, changes, now, dream=_name(key, now))
        left = max(0, _number(database, _NEW + project) - counted)  # what came meanwhile counts for the next
        database.execute(_SET, (_NEW + project, str(left)))

    return effect


def _deep(ledger: Evidence, means: Means, forced: bool) -> Effect | None:
    now = means.clock.now_ms()
    with ledger.reading() as database:
        idle = now - int(database.execute(_LAST, (now,)).fetchone()[0])
        since = now - _number(database, _DEEP)
        is_time = forced or dream.due(0, idle, since) == telling.DEEP
        known = _everything(database) if is_time else []
        used = _used(database) if is_time else {}
    if is_time:
        changes = dream.deep(known, now, means.likeness, _in_time(means, SECONDS[telling.DEEP]), used)
        return _writing(telling.DEEP, changes, now, (_DEEP, str(now)))
    if since < dream.DEEP_EVERY_MS:
        return None
    later = [telling.to_dream(telling.DEEP, delay_seconds=(dream.IDLE_MS - idle) / 1000)]

    def again(database: Database) -> None:
        means.tell(database, later)

    return again


def _everything(database: Database) -> Sequence[Known]:
    return list(reasoned.known(database, [row[0] for row in database.execute(_EVERYTHING).fetchall()]).values())


def _used(database: Database) -> dict[str, int]:
    return {row[0]: int(row[1]) for row in database.execute(_USED).fetchall()}


def _writing(key: str, changes: Sequence[Change], now: int, note: tuple[str, str] | None = None) -> Effect | None:
    if not changes and note is None:
        return None

    def effect(database: Database) -> None:
        apply(database, changes, now, dream=_name(key, now))
        if note is not None:
            database.execute(_SET, note)

    return effect


def _name(key: str, now_ms: int) -> str:
    """What a dream is called when it is to be taken back."""
    return f"{key}@{time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime(now_ms / 1000))}"


def _in_time(means: Means, seconds: float) -> Callable[[], bool]:
    """Says whether there is time left; raises when the worker is leaving."""
    until = means.clock.elapsed() + seconds

    def check() -> bool:
        means.check()
        return means.clock.elapsed() < until

    return check


def _number(database: Database, key: str) -> int:
    row = database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return int(row[0]) if row is not None and str(row[0]).isdigit() else 0


def let_go(database: Database, now_ms: int) -> None:
    """Notes of dreams that lie too far back to be taken back."""
    database.execute("DELETE FROM changes WHERE at < ?", (now_ms - KEPT_MS,))
