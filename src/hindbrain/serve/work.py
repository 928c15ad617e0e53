"""Which jobs there are, who does them and where they are kept.

Jobs are kept in the shared database where there is one, else in the home's own ledger. A kind is a line in the table `kinds`;
what adds jobs of a kind calls Queue.enqueue inside the transaction that makes them necessary.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.ledger.database import Database, is_sqlite
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import ENOUGH_DELAYS, STATES, Effect, Job, NewJob
from hindbrain.queues.queue import MOST_LISTED, Queue
from hindbrain.queues.runner import Handler, Kind, Runner, Task
from hindbrain.reason import telling
from hindbrain.reason.likeness import Likeness
from hindbrain.reason.means import Means, Tell
from hindbrain.reason.model.asked import COMMANDS, ModelName
from hindbrain.serve import wiki_state
from hindbrain.serve.engines import Shared, shared_of
from hindbrain.serve.status import opened

if TYPE_CHECKING:
    from hindbrain.ledger.postgres.listen import Listener
    from hindbrain.reason.model.calls import Calls

log = logging.getLogger("hindbrain.jobs")

COMPILE: Final = "compile"
WIKI: Final = "home"  # the key: there is one wiki to a home
LEASE_SECONDS: Final = 120.0
STOP_SECONDS: Final = 5.0  # `daemon stop` waits 15 s in all
# A job that is due within this is worth staying for.
STAY_SECONDS: Final = 900.0
# A worker that is patient anyway stays for a dream as well, which waits for half an hour in which nobody works.
PATIENT_SECONDS: Final = 300.0
STAY_TO_DREAM_SECONDS: Final = 1_900.0
_LAST_LOOK_SECONDS: Final = 2.0
_LONGEST_STAY: Final = 60.0  # between two looks whether there is still something
_DAY: Final = 86_400.0
_TOLD_AT_ONCE: Final = 500
_REASONING_SECONDS: Final = 1_800.0  # a long session is many questions to a model

OpenLedger = Callable[[], Evidence]


def opener(config: Config, clock: Clock) -> OpenLedger:
    """How to open the ledger that keeps the jobs."""
    shared = shared_of(config, clock)
    home = Home(config.home)
    return (lambda: Ledger.open(home.ledger, clock)) if shared is None else shared.open


class Reasoning:
    """What the steps of a process share: the measure of likeness, and the models that are configured. Loaded when first used."""

    def __init__(self, clock: Clock, config: Config | None) -> None:
        self._clock = clock
        self._config = config
        self._likeness = Likeness()
        self._calls: Calls | None = None
        self._guard = threading.Lock()

    def means(self, ledger: Evidence, job: Job, check: Callable[[], None]) -> Means:
        tell, calls = Queue(ledger, self._clock).enqueue, self._models()
        if calls is None:
            return Means(self._clock, tell, self._likeness, check)
        from hindbrain.reason.model.calls import LedgerBook

        # The last try, or a model that has put us off for an hour: rules do it then, and nothing stays unread.
        last = job.attempts >= job.max_attempts or job.delays >= ENOUGH_DELAYS
        asked = bool(job.payload.get(telling.ASKED))
        book = LedgerBook(ledger, self._write)
        return Means(self._clock, tell, self._likeness, check, calls, book, last, asked, self._again(asked))

    def _again(self, asked: bool) -> float:
        """In how many seconds a model that may not be asked now may be."""
        from hindbrain.reason.model.budget import again_seconds

        assert self._config is not None
        return again_seconds(self._clock.now_ms(), night=self._config.model_night, asked=asked)

    def _models(self) -> Calls | None:
        if self._config is None or not self._config.model:
            return None
        from hindbrain.reason.model.reasoner import calls_of
        from hindbrain.serve.cap_state import capping
        from hindbrain.serve.model_state import noting

        with self._guard:
            if self._calls is None:
                told = noting(self._config, self._clock), capping(self._config, self._clock)
                self._calls = calls_of(self._config, self._clock, os.environ, *told)
            return self._calls

    def _write(self, event: Event) -> None:
        """Put a reply into the journal before anything is made of it."""
        assert self._config is not None
        recorder = Recorder(self._config.home)
        try:
            recorder.record([event], self._clock.now_ms())
        finally:
            recorder.close()


def kinds(open_ledger: OpenLedger, clock: Clock, keep_days: float, config: Config | None = None) -> dict[str, Kind]:
    """Every kind of job there is. Without a configuration no model is asked."""
    reasoning = Reasoning(clock, config)

    def stepping(step: Callable[[Evidence, Job, Means], Effect | None]) -> Handler:
        """A step of reasoning as a handler. Jobs of one session are one job: there is never more than one of a kind and key."""

        def handler(task: Task) -> Effect | None:
            with open_ledger() as ledger:
                effect = step(ledger, task.jobs[0], reasoning.means(ledger, task.jobs[0], task.check))
                return _told_to_the_wiki(effect, Queue(ledger, clock).enqueue, config)

        return handler

    def compiling(task: Task) -> Effect | None:
        from hindbrain.serve import wiki_job  # loaded where there is a wiki

        assert config is not None
        with open_ledger() as ledger:
            more = wiki_job.run(config, clock, task, reasoning.means(ledger, task.jobs[0], task.check))
            return None if config.is_shared else more  # this job lies in the home's own ledger, and the effect is for the other

    def housekeeping(task: Task) -> Effect:
        with open_ledger() as ledger:
            keep_house(ledger, clock, keep_days)
            return _catching_up(Queue(ledger, clock).enqueue, clock)

    own = {} if config is None else {COMPILE: Kind(compiling, timeout_seconds=_REASONING_SECONDS)}
    return own | {
        "housekeeping": Kind(housekeeping, daily=True, timeout_seconds=600.0),
        telling.EXTRACT: Kind(stepping(_extract), timeout_seconds=_REASONING_SECONDS),
        telling.REFLECT: Kind(stepping(_reflect), timeout_seconds=_REASONING_SECONDS),
        telling.DIGEST: Kind(stepping(_digest), timeout_seconds=_REASONING_SECONDS),
        telling.DREAM: Kind(stepping(_dream), timeout_seconds=_REASONING_SECONDS),
        telling.REREAD: Kind(stepping(lambda ledger, job, means: _catching_up(means.tell, clock))),
    }  # fmt: skip


def _told_to_the_wiki(effect: Effect | None, tell: Tell, config: Config | None) -> Effect | None:
    """The same effect, which also has the wiki compiled before it is too far behind. With a shared database the worker sees to
    that by itself when it has nothing else to do: the job would run on whichever machine comes first."""
    if effect is None or config is None or config.is_shared or not wiki_state.is_kept(config):
        return effect
    job, changed = NewJob(COMPILE, WIKI, delay_seconds=config.wiki_every_seconds), effect

    def both(database: Database) -> None:
        changed(database)
        tell(database, [job])

    return both


def _extract(ledger: Evidence, job: Job, means: Means) -> Effect | None:
    from hindbrain.reason import steps  # what reads a session is loaded when there is one to read

    at_once, times = bool(job.payload.get(telling.AT_ONCE)), telling.put_off(job.payload)
    return steps.extract_session(ledger, job.key, means, forced=job.forced, at_once=at_once, times=times)


def _reflect(ledger: Evidence, job: Job, means: Means) -> Effect | None:
    from hindbrain.reason import steps

    return steps.reflect_project(ledger, None if job.key == telling.GLOBAL else job.key, means)


def _digest(ledger: Evidence, job: Job, means: Means) -> Effect | None:
    from hindbrain.reason import steps

    return steps.digest_session(ledger, job.key, means, forced=job.forced, times=telling.put_off(job.payload))


def _dream(ledger: Evidence, job: Job, means: Means) -> Effect | None:
    from hindbrain.reason import dreaming

    return dreaming.dream_of(ledger, job.key, means, forced=job.forced)


def _catching_up(tell: Tell, clock: Clock) -> Effect:
    """Have sessions from before read, and let go of what can no longer be taken back."""

    def effect(database: Database) -> None:
        from hindbrain.reason import dreaming, steps

        told = steps.reread(database, tell)
        dreaming.let_go(database, clock.now_ms())
        if told:
            log.info("%d sessions that were stored before are to be read", told)

    return effect


def keep_house(ledger: Evidence, clock: Clock, keep_days: float) -> None:
    """What has to be done now and then so that nothing grows without end."""
    queue = Queue(ledger, clock)
    queue.reap()
    gone = queue.prune(keep_days * _DAY)
    if gone:
        log.info("%d finished jobs were removed", gone)
    with ledger.reading() as database:
        sqlite = is_sqlite(database)
    if sqlite:  # PostgreSQL does this by itself
        with ledger.transaction() as database:
            database.execute("PRAGMA optimize")


class Work:
    """The jobs' part of a worker: begun with start, ended with stop."""

    def __init__(
        self, config: Config, clock: Clock, *, kinds_of: Mapping[str, Kind] | None = None, lease_seconds: float = LEASE_SECONDS
    ) -> None:
        self._config = config
        self._clock = clock
        open_ledger = opener(config, clock)
        table = kinds(open_ledger, clock, config.keep_jobs_days, config) if kinds_of is None else dict(kinds_of)
        # What concerns this home's own files is kept in its own ledger: jobs in a shared one are anybody's.
        own = {COMPILE: table.pop(COMPILE)} if config.is_shared and COMPILE in table else {}
        self._runner = Runner(open_ledger, table, clock, lease_seconds=lease_seconds)
        self._runners = [self._runner]
        if own:
            self._runners.append(Runner(self._open_own, own, clock, lease_seconds=lease_seconds))
        self._open = open_ledger
        self._listener: Listener | None = None
        self._news = ""  # of the ledger, that the wiki was told of last

    def _open_own(self) -> Evidence:
        return Ledger.open(Home(self._config.home).ledger, self._clock)

    def start(self) -> None:
        self._tidy()
        for runner in self._runners:
            runner.start()
        if self._config.is_shared:
            from hindbrain.ledger.postgres.connect import Address
            from hindbrain.ledger.postgres.listen import Listener

            self._listener = Listener(Address(self._config.database, self._config.tenant), self._runner.wake)
            self._listener.start()

    def _tidy(self) -> None:
        """A worker that was killed could not end the command line agent that worked for it."""
        if any(ModelName.of(each).provider in COMMANDS for each in self._config.model):
            from hindbrain.reason.model import processes

            try:
                processes.end_left_behind()
            except OSError as error:
                log.warning("what a killed worker left is not ended: %s", error)

    def wake(self) -> None:
        """There may be new jobs."""
        self._runner.wake()

    def stop(self) -> None:
        """End what can be ended in time, give the rest back."""
        for runner in self._runners:
            runner.stop(STOP_SECONDS)
        if self._listener is not None:
            self._listener.close()

    def _busy(self) -> bool:
        return any(runner.busy() for runner in self._runners)

    def _next_due(self) -> float | None:
        return min((due for runner in self._runners if (due := runner.next_due()) is not None), default=None)

    def stay(self) -> float:
        """How long the worker should stay for the sake of its jobs before it asks again; 0 when there is nothing to stay for."""
        if self._busy():
            return 1.0
        due = self._next_due()
        patient = self._config.worker_idle_seconds >= PATIENT_SECONDS
        if due is None or due > (STAY_TO_DREAM_SECONDS if patient else STAY_SECONDS):
            return 0.0
        return min(max(due, 1.0), _LONGEST_STAY)

    def hurry(self) -> None:
        """Nobody has said anything for so long that the worker would leave: what waits for a pause waits no longer."""
        if self._busy():
            return
        try:
            if not self._hurried():
                self._hurry_wiki()
        except HindbrainError as error:
            log.info("jobs are not hurried: %s", error.message)

    def _hurried(self) -> bool:
        """Whether there were jobs that merely waited."""
        if self._next_due() is None:
            return False
        with self._open() as ledger:
            hurried = sum([hurry(Queue(ledger, self._clock), kind) for kind in (*telling.FOLLOWING, telling.DREAM)])
        if hurried:  # a runner that is woken for nothing says for a moment that something may be due, and nobody would leave
            self._runner.wake()
        return hurried > 0

    def _hurry_wiki(self) -> None:
        """A wiki that is behind is brought up to date before the worker leaves; once for each state of the ledger."""
        if not wiki_state.is_kept(self._config):
            return
        with self._open() as ledger:
            news = wiki_state.news(Home(self._config.home).wiki / wiki_state.OWN, ledger)
        if news and news != self._news:
            self._news = news
            with self._open_own() as own:
                Queue(own, self._clock).add([NewJob(COMPILE, WIKI)])
            self._runners[-1].wake()

    def anything_after_all(self) -> bool:
        """Look once more, now that nobody can wake us; True when there is something to stay for."""
        self._runner.wake()
        deadline = self._clock.elapsed() + _LAST_LOOK_SECONDS
        while self._next_due() == 0.0 and not self._busy() and self._clock.elapsed() < deadline:
            time.sleep(0.01)
        return self.stay() > 0


def run_due(
    open_ledger: OpenLedger, clock: Clock, timeout: float, *, keep_days: float = 14.0, config: Config | None = None
) -> bool:
    """Have everything done that is to be done now: here, and by whoever else is at it. False when it took too long.

    What follows from what was recorded is not waited for: it is due at once. Sessions are all read before they are compared, and
    compared before they are told in short, so that each is done once.
    """
    table = kinds(open_ledger, clock, keep_days, config)
    deadline = clock.elapsed() + timeout
    stages: list[Mapping[str, Kind]] = [*({name: table[name]} for name in telling.FOLLOWING), table]
    while _anything_live(open_ledger, clock, table):
        for stage in stages:
            while _anything_live(open_ledger, clock, stage):
                left = deadline - clock.elapsed()
                if left <= 0 or not Runner(open_ledger, stage, clock, lease_seconds=LEASE_SECONDS).run_all(left):
                    return False
                time.sleep(0.02)  # what is left is being done by a worker
    return True


def _anything_live(open_ledger: OpenLedger, clock: Clock, table: Mapping[str, Kind]) -> bool:
    """Whether jobs of these kinds are to be done now; those that follow from what was recorded wait no longer."""
    with open_ledger() as ledger:
        queue = Queue(ledger, clock)
        queue.promote()
        for kind in telling.FOLLOWING:
            if kind in table:
                hurry(queue, kind)
        return any(kind in table and state in ("ready", "running") for kind, state in queue.counts())


def hurry(queue: Queue, kind: str) -> int:
    """Have jobs done that merely wait for more to come; how many. What failed keeps its backoff, and what is for another time of
    the day or of the night its time."""
    listed = queue.listing(state="waiting", kind=kind, limit=MOST_LISTED)
    timed = (job for job in listed if job.key != telling.DEEP and telling.MORNING not in job.payload)
    waiting = [job for job in timed if not job.attempts and not job.delays]
    for start in range(0, len(waiting), _TOLD_AT_ONCE):
        queue.add([
            NewJob(kind, job.key, {**job.payload, telling.AT_ONCE: True}, job.priority, job.group, forced=job.forced)
            for job in waiting[start : start + _TOLD_AT_ONCE]
        ])  # fmt: skip
    return len(waiting)


def counted(home: Home, shared: Shared | None, clock: Clock) -> dict[str, int]:
    """How many jobs are in each state. Raises LedgerError when the database that keeps them does not answer."""
    ledger = opened(home, clock) if shared is None else shared.open_to_ask()
    totals: dict[str, int] = dict.fromkeys(STATES, 0)
    if ledger is not None:
        with ledger:
            for (_, state), count in Queue(ledger, clock).counts().items():
                totals[state] += count
    return totals
