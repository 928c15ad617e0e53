"""A case, a kind of file system and a seed -> one power cut, and which promises it broke.

The seed decides what is written and after how much of it the power goes; the scheduler and the disk decide the rest, so
a seed repeats the plan of a round, not its every microsecond.

    POWERCUT_ROUNDS=700                 cuts in all, spread over the cases (50 unless told)
    POWERCUT_SEED=17                    where the seeds of all rounds come from
    POWERCUT_CASE=journal/xfs/3141592   one case with one seed, POWERCUT_ROUNDS times (once unless told)
"""

from __future__ import annotations

import os
import random
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from hindbrain.base.errors import HindbrainError
from hindbrain.journal.append import NotKept
from tests.powercut.disk import Disk, new_disk
from tests.powercut.writing import Ack, Writing

Command = Callable[[Disk, Path, int], list[str]]
# What is on the disk after the cut, what was acknowledged, the seed -> the promises that do not hold
Check = Callable[[Path, list[Ack], int], list[str]]


@dataclass(frozen=True, slots=True)
class Case:
    """Something that is at work when the power goes."""

    name: str
    command: Command
    check: Check
    acks: tuple[int, int]  # the power goes after so many operations, least and most
    moment: float = 0.03  # and up to this many seconds later


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one cut did."""

    broken: list[str]
    acks: int
    seed: int


def play(case: Case, kind: str, seed: int, place: Path) -> Outcome:
    """One round on a fresh disk."""
    chance = random.Random(f"plan {seed}")
    place.mkdir()
    with new_disk(place / "disk", kind) as disk:
        with Writing(case.command(disk, place, seed), place / "acknowledged") as writing:
            writing.wait_for(chance.randint(*case.acks))
            writing.listen(chance.uniform(0.0, case.moment))
            disk.cut()
            writing.end()
        disk.come_back()
        return Outcome(_judged(case, disk.root, writing.acks, seed), len(writing.acks), seed)


def _judged(case: Case, root: Path, acks: list[Ack], seed: int) -> list[str]:
    try:
        return case.check(root, acks, seed)
    except (HindbrainError, NotKept, OSError, sqlite3.Error) as error:
        return [f"what the cut left cannot be used: {type(error).__name__}: {error}"]


def rounds_in_all(environ: Mapping[str, str] = os.environ) -> int:
    return int(environ.get("POWERCUT_ROUNDS", "50"))


def planned_seeds(case: str, kind: str, rounds: int, environ: Mapping[str, str] = os.environ) -> Iterator[int] | None:
    """The seeds to play for a case, one a round; None when another case was asked for."""
    if asked := environ.get("POWERCUT_CASE"):
        name, asked_kind, seed = asked.rsplit("/", 2)
        if (name, asked_kind) != (case, kind):
            return None
        return iter([int(seed)] * int(environ.get("POWERCUT_ROUNDS", "1")))
    chance = random.Random(f"{base_seed(environ)}/{case}/{kind}")
    return iter([chance.getrandbits(32) for _ in range(rounds)])


def base_seed(environ: Mapping[str, str] = os.environ) -> int:
    """Chosen anew for each run unless told; the same for all cases of a run."""
    told = environ.get("POWERCUT_SEED")
    return int(told) if told else _chosen()


@cache
def _chosen() -> int:
    return random.SystemRandom().getrandbits(32)


def rerun_line(case: str, kind: str, seed: int) -> str:
    return f"rerun: POWERCUT_CASE={case}/{kind}/{seed} python -m pytest -m powercut -s"
