"""How a try ended -> what becomes of the job; with the words for it: jobs, states, failures.

Pure: no clock, no database, no chance but the one handed in. The states and legal moves are drawn next to the table
(ledger/migrations/0005_jobs.sql).
"""

from __future__ import annotations

import math
import random
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, get_args

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Json
from hindbrain.ledger.database import Database
from hindbrain.ledger.merge import clean

State = Literal["waiting", "ready", "running", "done", "parked", "cancelled"]
STATES: Final[tuple[State, ...]] = get_args(State)
LIVE: Final[tuple[State, ...]] = ("waiting", "ready", "running")

# What is done in the transaction that finishes a job.
Effect = Callable[[Database], None]

ERROR_CHARS: Final = 2_000
MOST_CRASHES: Final = 3  # workers a job may take with it
MOST_DELAYS: Final = 100  # how often a job may be told to come later
FIRST_DELAY: Final = 5.0  # seconds that somebody who has too much to do is left alone at least, doubled each time
LONGEST_LEAST_DELAY: Final = 300.0
ENOUGH_DELAYS: Final = 17  # after which a job was put off for about an hour in all: whoever can do it otherwise, does
LONGEST_DELAY: Final = 366 * 86_400.0
FIRST_BACKOFF: Final = 2.0
LONGEST_BACKOFF: Final = 3_600.0


class BadJob(UsageError):
    """A job cannot be stored as given"""

    default_hint = "nothing was stored; correct the job and add it again"


class LeaseLost(HindbrainError):
    """The job is no longer ours: its lease ran out or it was cancelled, and nothing was changed"""

    default_hint = "nothing to do: whoever holds the job now finishes it"


class JobFailed(HindbrainError):
    """The job could not be done"""

    default_hint = "see `hindbrain jobs show ID`"


class Retry(JobFailed):
    """The job could not be done this time"""


class BackOff(JobFailed):
    """The job is to come later"""

    def __init__(self, message: str = "", *, seconds: float, hint: str = "", rising: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.seconds = seconds
        self.rising = rising  # each wait is longer than the last, however short the one that was asked for


class Park(JobFailed):
    """The job cannot be done, and trying again would not help"""


@dataclass(frozen=True, slots=True)
class NewJob:
    """What a caller wants done. A live job of the same kind and key is the same job: it is strengthened, not doubled."""

    kind: str
    key: str
    payload: Mapping[str, Json] = field(default_factory=dict)
    priority: int = 0
    group: str = ""
    delay_seconds: float = 0.0
    forced: bool = False
    max_attempts: int = 5


class Job(NamedTuple):  # of which a worker makes more than of anything else: a frozen dataclass takes ten times as long
    """A stored job as it stood when it was read."""

    id: int
    kind: str
    key: str
    group: str
    payload: Mapping[str, Json]
    priority: int
    forced: bool
    state: State
    attempts: int
    crashes: int
    max_attempts: int
    token: int  # counts claims: the fence
    owner: str
    run_after_ms: int
    enqueued_ms: int
    changed_ms: int
    error: str
    delays: int = 0


@dataclass(frozen=True, slots=True)
class Reaped:
    """What became of jobs whose lease ran out."""

    ready: int = 0
    parked: int = 0


class Verdict(NamedTuple):
    """What becomes of a job whose try failed."""

    state: State
    attempts: int
    delays: int
    wait_ms: int


def verdict(job: Job, error: BaseException, chance: random.Random) -> Verdict:
    """A typed failure says what is to happen; any other error means: try again."""
    if isinstance(error, Park):
        return Verdict("parked", job.attempts, job.delays, 0)
    if isinstance(error, BackOff):  # the try is given back, but not without end
        if job.delays >= MOST_DELAYS:
            return Verdict("parked", job.attempts, job.delays, 0)
        seconds = error.seconds if math.isfinite(error.seconds) else LONGEST_DELAY
        least = least_delay(job.delays) if error.rising else 0.0
        seconds = min(max(seconds, least), LONGEST_DELAY)
        counted = max(1, round(seconds / LONGEST_LEAST_DELAY)) if error.rising else 1  # so that delays tell of the time too
        return Verdict("waiting", max(job.attempts - 1, 0), min(job.delays + counted, MOST_DELAYS), math.ceil(1000 * seconds))
    if job.attempts >= job.max_attempts:
        return Verdict("parked", job.attempts, job.delays, 0)
    return Verdict("waiting", job.attempts, job.delays, math.ceil(1000 * backoff_seconds(job.attempts, chance)))


def least_delay(delays: int) -> float:
    """How long somebody is left alone who said so many times that it is too much: doubling, up to some minutes."""
    return min(FIRST_DELAY * 2.0 ** min(delays, 30), LONGEST_LEAST_DELAY)


def backoff_seconds(attempts: int, chance: random.Random) -> float:
    """How long to wait after so many tries: doubling, capped, anywhere between half and all of it."""
    whole = min(FIRST_BACKOFF * 2.0 ** min(max(attempts - 1, 0), 30), LONGEST_BACKOFF)
    return whole * chance.uniform(0.5, 1.0)


def error_text(error: BaseException) -> str:
    """What to keep of an error: one bounded text without secrets, storable anywhere."""
    said = error.message if isinstance(error, HindbrainError) else "".join(traceback.format_exception_only(error)).strip()
    text, _ = redact_text(said)
    return clean(text)[:ERROR_CHARS]
