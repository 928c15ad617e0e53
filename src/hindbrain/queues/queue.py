"""Jobs told, claimed and finished -> rows that agree, whoever dies on the way.

A claim hands out a lease with a token. Everything a worker says about a job afterwards carries that token, so one that was
declared dead and comes back changes nothing. What a job did and that it is done commit together.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.errors import LedgerBusy, LedgerError, NotFound
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.merge import clean
from hindbrain.ledger.store import Ledger
from hindbrain.queues import statements
from hindbrain.queues.job import STATES, BadJob, Effect, Job, LeaseLost, NewJob, Reaped, State, error_text, verdict
from hindbrain.queues.rows import from_row, merged, read_payload, to_row

Done = TypeVar("Done")

MOST_CLAIMED: Final = 1_000
MOST_LISTED: Final = 100_000
_LARGEST_ID: Final = (1 << 63) - 1
_UNIQUE_VIOLATION: Final = "23505"
_TRIES: Final = 3


class Queue:
    """The jobs of one ledger. As many as wish may use the same ledger at once; one object serves one thread."""

    def __init__(
        self, ledger: Evidence, clock: Clock, *, lease_seconds: float = 120.0, chance: random.Random | None = None
    ) -> None:
        if not 0 < lease_seconds <= 86_400:
            raise BadJob(f"a lease cannot last {lease_seconds} seconds", hint="give more than 0 and at most a day")
        self._ledger = ledger
        self._clock = clock
        self._lease_ms = math.ceil(lease_seconds * 1000)
        self._chance = random.Random() if chance is None else chance
        self._sqlite = isinstance(ledger, Ledger)
        self._words = statements.statements(sqlite=self._sqlite)

    def enqueue(self, database: Database, jobs: Sequence[NewJob]) -> list[int]:
        """Tell jobs inside the caller's transaction; the ids of the live jobs, in the order given."""
        rows = [to_row(job) for job in jobs]
        if not rows:
            return []
        told = json.dumps(merged(rows), ensure_ascii=False)
        found = database.execute(self._words.enqueue, self._values(jobs=told)).fetchall()
        ids = {(kind, key): int(identifier) for identifier, kind, key in found}
        return [ids[row.kind, row.key] for row in rows]

    def add(self, jobs: Sequence[NewJob]) -> list[int]:
        """Tell jobs in a transaction of their own."""
        with self._ledger.transaction() as database:
            return self.enqueue(database, jobs)

    def claim(self, kind: str, limit: int, owner: str) -> list[Job]:
        """Up to `limit` jobs, or groups of jobs, in order of priority; never one that was running when a worker died."""
        _check_limit(limit, MOST_CLAIMED)
        return self._take(_claiming(self._words.claim, limit), owner, kind=clean(kind))

    def claim_suspect(self, kinds: Sequence[str], owner: str) -> list[Job]:
        """One job that was running when a worker died, perhaps with its group: to be run while nothing else runs."""
        return self._take(self._words.claim_suspect, owner, kinds=json.dumps([clean(kind) for kind in kinds]))

    def _take(self, statement: str, owner: str, **values: object) -> list[Job]:
        given = self._values(owner=clean(owner), lease_ms=self._lease_ms, **values)
        rows, _ = self._insisting(lambda: self._ledger.run_alone(statement, given))
        read = [(row, read_payload(row[4])) for row in rows]
        jobs = [from_row(row, payload) for row, payload in read if payload is not None]
        if len(jobs) < len(rows):
            self._put_aside([from_row(row, {}) for row, payload in read if payload is None], jobs)
        return sorted(jobs, key=lambda job: (-job.priority, job.id)) if len(jobs) > 1 else jobs

    def _put_aside(self, unreadable: list[Job], jobs: list[Job]) -> None:
        """Park claimed jobs whose payload cannot be read; should one have led its group, another of it does now."""
        error = "its payload cannot be read: it is not a JSON object"
        with self._ledger.transaction() as database:
            database.execute(self._words.park_unreadable, self._values(**self._held(unreadable), error=error))
            for identifier in {(job.kind, job.group): job.id for job in jobs if job.group}.values():
                database.execute(self._words.make_lead, {"id": identifier})

    def heartbeat(self, jobs: Sequence[Job]) -> set[int]:
        """Renew the leases; the ids of the jobs that are still ours."""
        if not jobs:
            return set()
        values = self._values(**self._held(jobs), lease_ms=self._lease_ms)
        return {int(identifier) for (identifier,) in self._ledger.run_alone(self._words.heartbeat, values)[0]}

    def finish(self, jobs: Sequence[Job], effect: Effect | None = None) -> None:
        """The jobs are done, and what they did commits with that: all of it, or LeaseLost and nothing."""
        statement, values = self._finishing(jobs)
        try:
            if effect is None:
                self._all_or_lost(jobs, self._ledger.run_alone(statement, values)[0])
                return
            # evidence is locked before jobs, here and everywhere: two orders would be a deadlock
            with self._ledger.writing() as database:
                self._all_or_lost(jobs, database.execute(statement, values).fetchall())
                effect(database)  # after the fence, and after the jobs' own keys are free for what follows them
        except LedgerError as error:
            if _sqlstate(error) == statements.NOT_ALL:
                raise _lost(jobs) from error
            raise

    def _finishing(self, jobs: Sequence[Job]) -> tuple[str, dict[str, object]]:
        if self._sqlite and len(jobs) == 1:
            return self._words.finish_one, self._values(id=jobs[0].id, token=jobs[0].token)
        return self._words.finish, self._values(**self._held(jobs), wanted=len({job.id for job in jobs}))

    def _all_or_lost(self, jobs: Sequence[Job], finished: list[Any]) -> None:
        """SQLite gives the jobs it changed, all or none of them; PostgreSQL has raised by now if it was not all."""
        if self._sqlite and len(finished) != len({job.id for job in jobs}):
            raise _lost(jobs)

    def fail(self, jobs: Sequence[Job], error: BaseException) -> None:
        """The jobs could not be done; the error says what becomes of them. All of them, or LeaseLost and nothing."""
        text, changed = error_text(error), 0
        with self._ledger.transaction() as database:
            for job in _once(jobs):
                state, attempts, delays, wait_ms = verdict(job, error, self._chance)
                values = self._values(
                    **self._held([job]), state=state, attempts=attempts, delays=delays, wait_ms=wait_ms, error=text
                )
                changed += database.execute(self._words.fail, values).rowcount
            if changed != len({job.id for job in jobs}):
                raise _lost(jobs)

    def release(self, jobs: Sequence[Job]) -> None:
        """Give jobs back untried, for whoever comes next. One that is no longer ours is left alone."""
        if jobs:
            with self._ledger.transaction() as database:
                database.execute(self._words.release, self._values(**self._held(jobs)))
                self._tell(database)

    def release_all(self) -> int:
        """Give back whatever runs: in a copy of a ledger, whose workers are elsewhere. How many."""
        return self._ledger.run_alone(self._words.release_all, self._values())[1]

    def promote(self) -> int:
        """Make ready what is due; how many."""
        return self._ledger.run_alone(self._words.promote, self._values())[1]

    def reap(self) -> Reaped:
        """Take back jobs whose lease ran out: their worker is taken for dead."""
        if self._sqlite:
            # The clock is looked at once the database is ours: a lease given while we waited for it would seem to lie too far
            # ahead, as after a reboot.
            with self._ledger.transaction() as database:
                rows = database.execute(self._words.reap, self._values()).fetchall()
        else:
            rows, _ = self._ledger.run_alone(self._words.reap, self._values())
        parked = sum(state == "parked" for (state,) in rows)
        return Reaped(ready=len(rows) - parked, parked=parked)

    def prune(self, keep_seconds: float) -> int:
        """Remove jobs that were done or cancelled longer ago than that; how many. Parked ones stay."""
        if not 0 <= keep_seconds <= 1e9:
            raise BadJob(f"jobs cannot be kept for {keep_seconds} seconds", hint="give a number of seconds, 0 or more")
        return self._ledger.run_alone(self._words.prune, self._values(keep_ms=math.ceil(keep_seconds * 1000)))[1]

    def next_due(self) -> float | None:
        """Seconds until there is something to promote or to reap; None when nothing waits or runs."""
        with self._ledger.reading() as database:
            row = database.execute(self._words.next_due, self._values()).fetchone()
        times = [max(int(each), 0) / 1000 for each in row if each is not None]
        return min(times, default=None)

    def counts(self) -> dict[tuple[str, str], int]:
        """How many jobs there are, by kind and state."""
        with self._ledger.reading() as database:
            return {(kind, state): int(count) for kind, state, count in database.execute(statements.COUNTS).fetchall()}

    def listing(self, *, state: State | None = None, kind: str | None = None, limit: int = 100) -> list[Job]:
        """Jobs, the newest first."""
        _check_limit(limit, MOST_LISTED)
        if state is not None and state not in STATES:
            raise BadJob(f"there is no state {state!r}", hint=f"give one of {', '.join(STATES)}")
        wanted = {name: value for name, value in (("state", state), ("kind", kind and clean(kind))) if value is not None}
        where = " AND ".join(f"{name} = :{name}" for name in wanted)
        query = f"{statements.SELECT}{' WHERE ' if where else ''}{where} ORDER BY id DESC LIMIT :limit"
        with self._ledger.reading() as database:
            return [_shown(row) for row in database.execute(query, {**wanted, "limit": limit}).fetchall()]

    def get(self, job_id: int) -> Job:
        """One job. Raises NotFound."""
        with self._ledger.reading() as database:
            _check_known(database, [job_id])
            return _shown(database.execute(f"{statements.SELECT} WHERE id = :id", {"id": job_id}).fetchone())

    def retry(self, ids: Sequence[int]) -> int:
        """Make parked and cancelled jobs ready as if never tried; how many. One whose like is live stays as it is."""
        return self._insisting(lambda: self._move(ids, self._words.retry))

    def cancel(self, ids: Sequence[int]) -> int:
        """Give up live and parked jobs; how many. Whoever runs one loses its lease."""
        return self._move(ids, self._words.cancel)

    def _move(self, ids: Sequence[int], statement: str) -> int:
        with self._ledger.transaction() as database:
            _check_known(database, ids)
            moved = database.execute(statement, self._values(ids=json.dumps(list(ids)))).rowcount
            self._tell(database)
            return moved

    def _values(self, **more: object) -> dict[str, object]:
        """Values of a statement, with the time. PostgreSQL has its own, which all machines share, unless a clock is handed in."""
        if not self._sqlite and isinstance(self._clock, SystemClock):
            return {"now": None, "tick": None, **more}
        return {"now": self._clock.now_ms(), "tick": int(self._clock.elapsed() * 1000), **more}

    def _held(self, jobs: Sequence[Job]) -> dict[str, object]:
        """Ids and tokens, for a statement."""
        pairs = [(job.id, job.token) for job in _once(jobs)]
        if self._sqlite:
            return {"held": "[" + ",".join(f"[{each},{token}]" for each, token in pairs) + "]"}
        # as PostgreSQL writes lists: the driver takes its time over one
        ids, tokens = (",".join(map(str, column)) for column in zip(*pairs, strict=True))
        return {"ids": f"{{{ids}}}", "tokens": f"{{{tokens}}}"}

    def _tell(self, database: Database) -> None:
        if not self._sqlite:
            database.execute(statements.TELL)

    def _insisting(self, work: Callable[[], Done]) -> Done:
        """Again when another transaction took the same group or key at the same moment: by now it can be seen."""
        for _ in range(_TRIES):
            try:
                return work()
            except LedgerError as error:
                if _sqlstate(error) != _UNIQUE_VIOLATION:
                    raise
        raise LedgerBusy("others take the same jobs at the same moment, again and again")


@cache
def _claiming(statement: str, limit: int) -> str:
    """The claim of so many; a worker asks for the same few numbers all its life."""
    return statement.format(limit=limit)


def _once(jobs: Sequence[Job]) -> list[Job]:
    """Each job once, in the order of ids: all transactions lock jobs in this order."""
    if not jobs:
        raise BadJob("there is no job to finish or fail", hint="hand in the jobs as claim gave them")
    return sorted({job.id: job for job in jobs}.values(), key=lambda job: job.id)


def _lost(jobs: Sequence[Job]) -> LeaseLost:
    ids = sorted({job.id for job in jobs})
    named = ", ".join(map(str, ids[:5])) + (" ..." if len(ids) > 5 else "")
    return LeaseLost(f"not all of {len(ids)} jobs are ours any more ({named}): nothing was changed")


def _sqlstate(error: LedgerError) -> str:
    """What PostgreSQL calls the error behind one of ours; "" on SQLite."""
    return getattr(error.__cause__, "sqlstate", None) or ""


def _shown(row: Any) -> Job:
    payload = read_payload(row[4])
    return from_row(row, {"unreadable": row[4][:200]} if payload is None else payload)


def _check_limit(limit: int, most: int) -> None:
    if type(limit) is not int or not 1 <= limit <= most:
        raise BadJob(f"the limit is not a number from 1 to {most}: {limit!r}", hint="nothing was changed")


def _check_known(database: Database, ids: Sequence[int]) -> None:
    possible = [each for each in ids if type(each) is int and 0 < each <= _LARGEST_ID]
    known = {int(row[0]) for row in database.execute(statements.KNOWN, {"ids": json.dumps(possible)}).fetchall()}
    unknown = [each for each in ids if type(each) is not int or each not in known]
    if unknown:
        raise NotFound(f"there is no job {', '.join(f'{each!r:.80}' for each in unknown[:5])}", hint="see `hindbrain jobs list`")
