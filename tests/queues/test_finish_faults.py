"""Finishing a job killed at any system call, or on a disk that fails at any write: the state before or the state after.

The job's effect writes a row and tells a follow-up job. All of it is there with the job done, or nothing with the job still
running; done again, it is there once.
"""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import LeaseLost, NewJob
from hindbrain.queues.queue import Queue
from tests.crash.strace import Fault, calls, first_numbers, run_with, sweep
from tests.ledger.faulty import Fault as DiskFault
from tests.ledger.faulty import FaultyDisk, open_on
from tests.queues.finishing import MARK, effect, finish, finish_on

Found = tuple[list[tuple[str, str]], list[str]]
ROOT = Path(__file__).resolve().parents[2]
BEFORE: Found = ([("a", "running"), ("b", "running")], [])
AFTER: Found = ([("a", "done"), ("b", "done"), ("a", "ready"), ("next", "ready")], ["effect"])
# what an interpreter does to give its memory back when all is done
_LEAVING = {"munmap", "brk", "madvise", "exit_group", "rt_sigaction", "futex"}
ENVIRON = {"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.fixture(scope="module")
def claimed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger and two claimed jobs."""
    folder = tmp_path_factory.mktemp("claimed")
    with Ledger.open(folder / "ledger.db", ManualClock()) as ledger:
        queue = Queue(ledger, ManualClock())
        queue.add([NewJob("k", "a"), NewJob("k", "b")])
        (folder / "claimed").write_text(json.dumps([job._asdict() for job in queue.claim("k", 2, "me")]))
    return folder


def found_in(folder: Path) -> Found:
    """What plain SQLite finds."""
    with contextlib.closing(sqlite3.connect(folder / "ledger.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        jobs = database.execute("SELECT key, state FROM jobs ORDER BY id").fetchall()
        return jobs, [key for (key,) in database.execute("SELECT key FROM meta WHERE key = 'effect'")]


def whole_or_nothing(folder: Path, *, acknowledged: bool, what: str) -> None:
    found = found_in(folder)
    assert found in (BEFORE, AFTER), what
    assert found == AFTER or not acknowledged, f"{what}: it was said to be done"
    if found == BEFORE:
        finish(folder)
    else:
        with pytest.raises(LeaseLost):
            finish(folder)
    assert found_in(folder) == AFTER, what


def argv(folder: Path) -> list[str]:
    return [sys.executable, "-m", "tests.queues.finishing", str(folder)]


@pytest.mark.strace
@pytest.mark.slow
def test_finishing_killed_at_any_system_call_is_whole_or_nothing(claimed: Path, tmp_path: Path) -> None:
    shutil.copytree(claimed, tmp_path / "dry")
    first = first_numbers(calls(argv(tmp_path / "dry"), b"", ENVIRON, tmp_path / "log"), lambda line: MARK in line)
    assert {"pwrite64", "fdatasync", "fcntl"} <= set(first)
    outcomes = {"before": 0, "after": 0}

    def killed(fault: Fault) -> bool:
        folder = tmp_path / "killed"
        shutil.copytree(claimed, folder)
        ran = run_with(fault, argv(folder), b"", ENVIRON, tmp_path / "log")
        if ran.injected:
            outcomes["before" if found_in(folder) == BEFORE else "after"] += 1
            whole_or_nothing(folder, acknowledged=ran.code == 0, what=str(fault))
        shutil.rmtree(folder)
        return ran.injected

    ours = sorted(set(first) - _LEAVING)
    assert sum(sweep(call, "signal=KILL", first[call], killed, limit=400) for call in ours) >= 30
    assert outcomes["before"] and outcomes["after"], f"the sweep passed the moment of commit: {outcomes}"


def finish_on_faulty(disk: FaultyDisk, folder: Path, at: int, fault: DiskFault) -> bool:
    disk.arm(-1, fault)
    ledger = open_on(disk, folder / "ledger.db", ManualClock())
    disk.arm(at, fault)
    try:
        finish_on(ledger, folder)
        return True
    except LedgerError:
        return False
    finally:
        with contextlib.suppress(LedgerError):
            ledger.close()


def faults(claimed: Path, tmp_path: Path, step: int) -> int:
    disk, cases = FaultyDisk(), 0
    shutil.copytree(claimed, tmp_path / "whole")
    assert finish_on_faulty(disk, tmp_path / "whole", -1, "error")
    writes = disk.calls
    for fault in ("error", "full", "half"):
        refused = 0
        for at in range(0, writes, step):
            shutil.copytree(claimed, tmp_path / "faulty")
            done = finish_on_faulty(disk, tmp_path / "faulty", at, fault)
            refused += not done
            whole_or_nothing(tmp_path / "faulty", acknowledged=done, what=f"{fault} at {at}")
            shutil.rmtree(tmp_path / "faulty")
            cases += 1
        assert refused, f"no {fault} was ever noticed: the faults do not reach SQLite"
    return cases


def test_finishing_on_a_disk_that_fails_is_whole_or_nothing(claimed: Path, tmp_path: Path) -> None:
    assert faults(claimed, tmp_path, step=4) >= 9


@pytest.mark.slow
def test_finishing_on_a_disk_that_fails_at_every_write_and_sync_is_whole_or_nothing(claimed: Path, tmp_path: Path) -> None:
    assert faults(claimed, tmp_path, step=1) >= 30


def test_control_a_finish_that_commits_its_effect_by_itself_is_noticed(claimed: Path, tmp_path: Path) -> None:
    """The check can fail: an effect in a transaction of its own is there while the jobs still run."""
    folder = shutil.copytree(claimed, tmp_path / "control")
    with Ledger.open(folder / "ledger.db", ManualClock()) as ledger:
        with ledger.writing() as database:
            effect(Queue(ledger, ManualClock()), database)
    with pytest.raises(AssertionError):
        whole_or_nothing(folder, acknowledged=False, what="control")
