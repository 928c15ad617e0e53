"""The power-cut suite judged: with a sync taken away it must see a loss, or its green means nothing.

Each control is the product's own code, unchanged, with one system call skipped by strace, or rows in a bare SQLite
table with a weaker setting. The first loss ends it; one that loses nothing in all its rounds fails the build.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Final

import pytest

from tests.powercut import judges
from tests.powercut.disk import KINDS, Disk
from tests.powercut.rounds import Case, Command, base_seed, planned_seeds, play, rerun_line
from tests.powercut.writing import program

pytestmark = [pytest.mark.powercut, pytest.mark.strace]

ROUNDS: Final = 12


def _skipping(call: str) -> list[str]:
    """A tracer that answers a system call with success and does not let it happen."""
    return ["strace", "-f", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:retval=0"]


def _hooks_without_fdatasync(disk: Disk, place: Path, seed: int) -> list[str]:
    outside = place / "outside"
    outside.mkdir()
    return program("hooks", disk.root, seed, outside, *_skipping("fdatasync"))


def _without(call: str, name: str, *arguments: object) -> Command:
    return lambda disk, place, seed: [*_skipping(call), *program(name, disk.root, seed, *arguments)]


def _pages_without_directory_fsync(disk: Disk, place: Path, seed: int) -> list[str]:
    # Any later sync carries an earlier rename along, so the machine must be quiet for the loss to show.
    return [*_skipping("fsync"), "-P", str(disk.root / "pages"), *program("pages", disk.root, seed, "quiet")]


def _rows(level: str) -> Command:
    return lambda disk, place, seed: program("rows", disk.root, seed, level)


CONTROLS: Final = (
    Case("hooks-without-fdatasync", _hooks_without_fdatasync, judges.hooks, acks=(2, 6)),
    Case("pages-without-fsync", _without("fsync", "pages", "busy"), judges.pages, acks=(8, 60)),
    Case("pages-without-directory-fsync", _pages_without_directory_fsync, judges.pages, acks=(2, 10), moment=0.02),
    Case("archive-without-fsync", _without("fsync", "archive"), judges.archive, acks=(4, 20)),
    Case("ledger-without-fdatasync", _without("fdatasync", "ledger"), judges.ledger, acks=(10, 60)),
    Case("backup-without-fsync", _without("fsync", "backup"), judges.backup, acks=(4, 12)),
    Case("wiki-without-fsync", _without("fsync", "wiki", "kept"), judges.wiki, acks=(2, 12), moment=0.1),
    Case("rows-with-synchronous-normal", _rows("NORMAL"), judges.rows, acks=(5, 200)),
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_a_sync_that_is_skipped_is_seen_as_a_loss(control: Case, kind: str, tmp_path: Path) -> None:
    seeds = planned_seeds(control.name, kind, ROUNDS)
    if seeds is None:
        pytest.skip("not run: POWERCUT_CASE asks for another case")
    for number, seed in enumerate(seeds):
        outcome = play(control, kind, seed, tmp_path / f"round-{number}")
        print(f"{control.name}/{kind}/{seed}: {outcome.acks} acknowledged, {len(outcome.broken)} promises broken")
        if outcome.broken:
            return
    pytest.fail(f"{ROUNDS} cuts and no loss seen: the suite could not tell; {rerun_line(control.name, kind, seed)}")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_rows_with_synchronous_full_are_all_there(kind: str, tmp_path: Path) -> None:
    case = Case("rows-with-synchronous-full", _rows("FULL"), judges.rows, acks=(5, 200))
    seed = random.Random(f"{base_seed()}/{kind}").getrandbits(32)
    outcome = play(case, kind, seed, tmp_path / "round")
    assert not outcome.broken, "\n".join([*outcome.broken[:20], rerun_line(case.name, kind, seed)])
