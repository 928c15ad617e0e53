"""What happened -> the jobs of reasoning that are to follow: their names, keys and delays, in one place.

A session is read when it pauses, and at once when it ends or is compacted. Jobs of one session share its id as key and group, so
there is never more than one of a kind, and whatever is told again strengthens it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final

from hindbrain.capture.event import Json
from hindbrain.queues.job import NewJob

EXTRACT: Final = "extract"
REFLECT: Final = "reflect"
DIGEST: Final = "digest"
DREAM: Final = "dream"
REREAD: Final = "reread"
# What follows from what was recorded, and is done before a caller who settles is answered.
FOLLOWING: Final = (EXTRACT, REFLECT, DIGEST)

PAUSE_SECONDS: Final = 90.0
GLOBAL: Final = "global"
DEEP: Final = "deep"
NAP: Final = "nap"
AFTER_SECONDS: Final = 30.0  # a dream comes when reading and comparing are over
GATHER_SECONDS: Final = 10.0  # sessions are read one after the other: what they say is compared once
HURRIED_SECONDS: Final = 2.0
SOON: Final = 1  # before what merely waits its turn
LATER: Final = -1  # after whatever is new

# In a payload:
AT_ONCE: Final = "at_once"  # do not wait for a pause
ASKED: Final = "asked"  # a person wants it, at night too
# done by rules at night or at a cap, and to be done by the model when it may be asked; for how many times this was put off
MORNING: Final = "morning"
MOST_MORNINGS: Final = 3


def to_read(sessions: Iterable[str], ended: Iterable[str] = ()) -> list[NewJob]:
    """Sessions with something new; those that ended are not waited for."""
    over = sorted(set(ended))
    jobs = [NewJob(EXTRACT, each, group=each, priority=SOON, forced=True) for each in over]
    waiting = sorted(set(sessions).difference(over))
    return jobs + [NewJob(EXTRACT, each, group=each, delay_seconds=PAUSE_SECONDS) for each in waiting]


def to_reread(sessions: Iterable[str]) -> list[NewJob]:
    """Sessions from before, or read by older rules: nobody waits for them."""
    return [NewJob(EXTRACT, each, {AT_ONCE: True}, group=each, priority=LATER) for each in sessions]


def to_read_by_model(session: str, seconds: float, times: int = 0) -> list[NewJob]:
    """A session that rules have read is read once more, by the model, after so many seconds; not without end."""
    if times >= MOST_MORNINGS:
        return []
    given: dict[str, Json] = {AT_ONCE: True, MORNING: times + 1}
    return [NewJob(EXTRACT, session, given, group=session, priority=LATER, delay_seconds=seconds)]


def to_digest_by_model(session: str, seconds: float, times: int = 0) -> list[NewJob]:
    """The same for what a session is told in short, when it was read."""
    if times >= MOST_MORNINGS:
        return []
    wait = seconds + AFTER_SECONDS
    return [NewJob(DIGEST, session, {MORNING: times + 1}, group=session, priority=LATER, delay_seconds=wait, forced=True)]


def put_off(payload: Mapping[str, Json]) -> int:
    """How many times a job was left for when the model may be asked."""
    times = payload.get(MORNING)
    return int(times) if isinstance(times, int) else 0


def asked_for(jobs: Iterable[NewJob]) -> list[NewJob]:
    """These jobs, as a person wants them."""
    return [replace(job, payload={**job.payload, ASKED: True}) for job in jobs]


def to_reflect(project: str | None, priority: int = 0) -> NewJob:
    """What is new in a project, or holds everywhere, is to be compared with what stands."""
    wait = HURRIED_SECONDS if priority >= SOON else GATHER_SECONDS
    return NewJob(REFLECT, project or GLOBAL, priority=priority, delay_seconds=wait)


def to_digest(session: str, *, forced: bool = False, priority: int = 0) -> NewJob:
    return NewJob(DIGEST, session, group=session, priority=priority, forced=forced)


def to_dream(depth: str, project: str | None = None, *, delay_seconds: float = AFTER_SECONDS) -> NewJob:
    """A nap or a dream of a project, or a deep dream of everything; one at a time."""
    key = DEEP if depth == DEEP else f"{depth}:{project or GLOBAL}"
    # no group: jobs of one group are handled as one, and each of these is a dream of its own
    return NewJob(DREAM, key, priority=LATER, delay_seconds=delay_seconds)
