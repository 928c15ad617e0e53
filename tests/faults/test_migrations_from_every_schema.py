"""Every schema the program ever had becomes the newest with all its rows: by one process, by ten at once, and after any kill."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.ledger import schema, vectors
from hindbrain.ledger.check import problems
from hindbrain.ledger.schema import shipped
from hindbrain.ledger.store import Ledger
from tests.crash.strace import Fault, calls, first_numbers, run_with, sweep
from tests.faults.homes import CLOCK
from tests.faults.old_ledgers import NEWEST, SEGMENT, TURNS, make

OPEN = """
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.ledger.store import Ledger
sys.stdin.readline()
with Ledger.open(Path(sys.argv[1]), SystemClock(), busy_ms=60_000) as ledger:
    print(ledger.counts().turns, flush=True)
"""
WRITING = ("openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "rename")
OLD = range(1, NEWEST + 1)


def shape_of(path: Path) -> list[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        return schema.shape(connection)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[str, str, str]]:
    """The schema of a ledger made today."""
    path = tmp_path_factory.mktemp("fresh") / "ledger.db"
    Ledger.open(path, CLOCK).close()
    return shape_of(path)


def is_whole(path: Path, number: int, fresh: list[tuple[str, str, str]]) -> None:
    """The newest schema, every row of the old one, and nothing that a check would find."""
    with Ledger.open(path, CLOCK) as ledger:
        assert problems(ledger) == []
        assert [hit.turn_id for hit in ledger.search("word7")][:1] == ["e_7"]
        near = "\n".join(f"word{each} said long ago" for each in (6, 8, 5, 9)) if number < 6 else ""  # newer rows bring their own
        assert ledger.connection.execute("SELECT near FROM turns WHERE id = 'e_7'").fetchone() == (near,)
        with ledger.reading() as database:
            waiting = TURNS + (1 if number >= 2 else 0)
            assert vectors.counts(database) == ((1, waiting - 1) if number >= 6 else (0, waiting))
        counts = ledger.counts()
        assert (counts.turns, counts.sessions, counts.projects, counts.torn) == (TURNS, 1, 1, 1)
        assert counts.memories == (1 if number >= 2 else 0)
        assert ledger.place("/shop") == ("git:host/shop", "p_1", 5)
        assert ledger.cursor(f"segment:{SEGMENT}") == 9999
        assert ledger.connection.execute("SELECT machine FROM sessions").fetchall() == [("",)]
        assert ledger.connection.execute("SELECT value FROM traces").fetchall() == [("/shop/a.py",)]
        assert ledger.connection.execute("SELECT count(*) FROM jobs").fetchone() == (1 if number >= 5 else 0,)
        assert ledger.connection.execute("SELECT count(*) FROM forgotten").fetchone() == (1 if number >= 2 else 0,)
        numbers = [row[0] for row in ledger.connection.execute("SELECT number FROM migrations ORDER BY number")]
        assert numbers == list(OLD)
    assert shape_of(path) == fresh


@pytest.mark.parametrize("number", OLD)
def test_a_ledger_of_any_age_becomes_one_of_today(tmp_path: Path, number: int, fresh: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "ledger.db"
    make(path, number)
    is_whole(path, number, fresh)
    copies = [file.name for file in tmp_path.iterdir() if ".before-" in file.name]
    assert copies == ([] if number == NEWEST else [f"ledger.db.before-{number + 1:04d}"])


def test_the_check_notices_a_migration_that_drops_rows(tmp_path: Path, fresh: list[tuple[str, str, str]]) -> None:
    path = tmp_path / "ledger.db"
    make(path, 3)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("DELETE FROM places")
    with pytest.raises(AssertionError):
        is_whole(path, 3, fresh)


def at_once(path: Path, processes: int) -> list[tuple[str, str]]:
    command = [sys.executable, "-c", OPEN, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    started = [subprocess.Popen(command, text=True, env=os.environ, **pipes) for _ in range(processes)]  # type: ignore[call-overload]
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate(timeout=120) for process in started]


@pytest.mark.slow
@pytest.mark.parametrize(("number", "processes"), [*((number, 2) for number in OLD), (1, 10), (NEWEST - 1, 10)])
def test_processes_that_meet_an_old_ledger_at_once_all_find_it_migrated(
    tmp_path: Path, number: int, processes: int, fresh: list[tuple[str, str, str]]
) -> None:
    path = tmp_path / "ledger.db"
    make(path, number)
    assert at_once(path, processes) == [(f"{TURNS}\n", "")] * processes
    is_whole(path, number, fresh)


def before_or_after(path: Path) -> None:
    """Some of the migrations in order, each whole: the schema is the one that those alone make."""
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        numbers = [row[0] for row in connection.execute("SELECT number FROM migrations ORDER BY number")]
        found = schema.shape(connection)
    assert numbers == list(range(1, len(numbers) + 1))
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as alone:
        for migration in shipped()[: len(numbers)]:
            schema.apply(alone, migration, 0)
        assert found == schema.shape(alone)


@pytest.mark.strace
@pytest.mark.slow
@pytest.mark.parametrize(("number", "call"), [
    *((1, call) for call in WRITING if call != "pwrite64"), *((3, call) for call in WRITING),
])  # fmt: skip
def test_a_migration_killed_at_any_call_leaves_whole_steps_and_can_be_done_again(
    tmp_path: Path, number: int, call: str, fresh: list[tuple[str, str, str]]
) -> None:
    make(tmp_path / "old.db", number)

    def argv(path: Path) -> list[str]:
        return [sys.executable, "-c", OPEN, str(path)]

    shutil.copyfile(tmp_path / "old.db", tmp_path / "dry.db")
    (tmp_path / "dry.db").chmod(0o600)
    first = first_numbers(calls(argv(tmp_path / "dry.db"), b"\n", os.environ, tmp_path / "log"), lambda line: "dry.db" in line)
    if call not in first:
        pytest.skip(f"migrating makes no {call} call here")

    def killed(fault: Fault) -> bool:
        folder = tmp_path / f"{fault.call}-{fault.number}"
        folder.mkdir()
        path = folder / "ledger.db"
        shutil.copyfile(tmp_path / "old.db", path)
        path.chmod(0o600)
        ran = run_with(fault, argv(path), b"\n", os.environ, tmp_path / "log")
        if ran.code:
            before_or_after(path)
        is_whole(path, number, fresh)
        assert [file.name for file in folder.iterdir() if file.name.endswith(".part")] == [], fault
        shutil.rmtree(folder)
        return ran.code != 0

    assert sweep(call, "signal=KILL", first[call], killed, limit=400) >= 1
