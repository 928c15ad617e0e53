"""A kind of job and its handler -> one call of that handler, in a thread of its own, with what came of it.

A handler reads what it needs, works, and hands back an effect: what is to be written in the transaction that finishes the jobs.
It never touches the queue itself, so a handler that is late, killed or out of its mind can change nothing.
"""

from __future__ import annotations

import logging
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerBusy
from hindbrain.queues.job import Effect, Job, JobFailed, Retry

log = logging.getLogger("hindbrain.jobs")

_MINUTE: Final = 60.0


class Stopped(HindbrainError):
    """The handler was asked to stop and did"""

    default_hint = "nothing to do: the job goes back and is run again"


@dataclass(frozen=True, slots=True)
class Task:
    """What a handler is given: jobs of one kind and one group, to be dealt with together."""

    jobs: Sequence[Job]
    deadline: float  # on Clock.elapsed(); after it nobody waits for the result any more
    stopping: threading.Event  # the worker is leaving, or the jobs are no longer ours

    @property
    def payloads(self) -> list[Mapping[str, Any]]:
        """What the jobs were given."""
        return [job.payload for job in self.jobs]

    def check(self) -> None:
        """For a long handler, now and then: raises Stopped when going on is of no use."""
        if self.stopping.is_set():
            raise Stopped


Handler = Callable[[Task], Effect | None]


@dataclass(frozen=True, slots=True)
class Kind:
    """How jobs of one kind are run."""

    handler: Handler
    concurrency: int = 1  # calls at once
    timeout_seconds: float = 300.0  # of one call
    per_minute: float | None = None  # calls begun
    batch: int = 1  # jobs without a group that one call gets at most; they are finished or fail together
    daily: bool = False  # comes by itself, once a day

    def __post_init__(self) -> None:
        if min(self.concurrency, self.batch) < 1 or min(self.timeout_seconds, self.per_minute or 1.0) <= 0:
            raise ValueError(f"limits of a kind have to be above 0: {self}")


class Bucket:
    """At most so many calls a minute, spread out: what was not used is kept for a second, not longer."""

    def __init__(self, per_minute: float | None, now: float) -> None:
        self._per_second = None if per_minute is None else per_minute / _MINUTE
        self._room = 1.0 if self._per_second is None else max(1.0, self._per_second)
        self._filled, self._at = self._room, now

    def available(self, now: float, wanted: int) -> int:
        """How many of the calls wanted may begin now."""
        if self._per_second is None:
            return wanted
        self._filled = min(self._room, self._filled + (now - self._at) * self._per_second)
        self._at = now
        return min(wanted, int(self._filled + 1e-9))

    def take(self) -> None:
        """A call begins."""
        self._filled -= 0.0 if self._per_second is None else 1.0

    def wait(self, now: float) -> float:
        """Seconds until the next call may begin."""
        if self._per_second is None or self.available(now, 1):
            return 0.0
        return (1.0 - self._filled) / self._per_second


State = Literal["claimed", "running", "ended"]


class Call:
    """Jobs that were claimed for one call of a handler, until their end has been written down."""

    def __init__(self, kind: Kind, jobs: Sequence[Job], clock: Clock, ended: Callable[[Call], None]) -> None:
        self.kind = kind
        self.jobs = list(jobs)
        self.state: State = "claimed"
        self.task = Task(self.jobs, clock.elapsed() + kind.timeout_seconds, threading.Event())
        self.effect: Effect | None = None
        self.error: BaseException | None = None
        self.thread: threading.Thread | None = None
        self._clock = clock
        self._ended = ended
        self._guard = threading.Lock()

    @property
    def name(self) -> str:
        """For the log: ids say enough, a key may say too much."""
        ids = [str(job.id) for job in self.jobs[:5]]
        return f"{self.jobs[0].kind} {', '.join(ids)}{'' if len(self.jobs) <= 5 else f' and {len(self.jobs) - 5} more'}"

    def start(self) -> None:
        """Call the handler in a thread of its own; it does not keep the process from ending."""
        self.state = "running"
        self.task = Task(self.jobs, self._clock.elapsed() + self.kind.timeout_seconds, self.task.stopping)
        self.thread = threading.Thread(target=self._run, name=f"job {self.jobs[0].id}", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        effect: Effect | None = None
        error: BaseException | None = None
        try:
            effect = self.kind.handler(self.task)
            given: object = effect  # a handler without types may give back anything
            if given is not None and not callable(given):
                error = Retry(f"the handler of {self.jobs[0].kind} gave back {type(given).__name__}, not an effect")
        except BaseException as raised:  # noqa: BLE001  # a thread's boundary: whatever a handler does is the end of one call only
            error = raised if isinstance(raised, JobFailed | Stopped) else unexpected(raised, self.name)
        with self._guard:
            if self.state == "running":  # not given up meanwhile
                self.effect, self.error, self.state = effect, error, "ended"
        self._ended(self)

    def give_up(self, error: BaseException) -> None:
        """Wait no longer: the call failed, whatever its thread still does."""
        with self._guard:
            if self.state != "ended":
                self.effect, self.error, self.state = None, error, "ended"
        self.task.stopping.set()

    @property
    def overdue(self) -> bool:
        return self.state == "running" and self._clock.elapsed() >= self.task.deadline


def unexpected(error: BaseException, name: str) -> Retry:
    """What a failure nobody foresaw means: try again, and say what it was. Where it was is in the log."""
    busy = isinstance(error, LedgerBusy)  # a database that is away or at work for others: where that was noticed is no news
    log.warning("job %s failed: %s", name, type(error).__name__, exc_info=None if busy else error)
    if isinstance(error, HindbrainError):
        return Retry(f"{type(error).__name__}: {error.message}", hint=error.hint)
    return Retry(traceback.format_exception_only(error)[-1].strip(), hint="the worker's log says where")
