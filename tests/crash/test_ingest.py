"""Storing killed or failing at any of its system calls: done again, every event is there once, and cursor and rows agree (P4).

The program under test takes a journal of twenty events into a ledger, as the worker does, with the same code.
"""

from __future__ import annotations

import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.journal.read import read_segment, segments
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain
from tests.crash.strace import Fault, calls, first_numbers, run_with, sweep

pytestmark = pytest.mark.strace

EVENTS = 20
# what storing does to files; the rest of its calls only look
WRITING = ("openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink")
ERRORS = {
    "openat": ("EMFILE", "EACCES"), "pwrite64": ("EIO", "ENOSPC"), "fdatasync": ("EIO", "ENOSPC"),
    "fsync": ("EIO",), "write": ("EIO", "ENOSPC"),
}  # fmt: skip
STORE = """
import sys
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain
home = Home(Path(sys.argv[1]))
try:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        drain = Drain(home, ledger, SystemClock(), [], follows=False)
        done = drain.run()
        drain.close()
    print("stored", done.records)
except (HindbrainError, OSError) as error:
    print("error", type(error).__name__, error)
    sys.exit(4)
"""
ENVIRON = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "src"}


def events() -> list[Event]:
    return [
        Event(
            kind="turn", agent="claude-code", session=f"s{number % 3}", at=1_790_000_000_000 + number, key=f"k{number}",
            origin="api", role="user" if number % 2 else "assistant", text=f"statement {number} about topic {number % 5}",
        )
        for number in range(EVENTS)
    ]  # fmt: skip


@pytest.fixture(scope="module")
def full_journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("whole") / "home"
    recorder = Recorder(home)
    recorder.record(events(), 1_790_000_000_000)
    recorder.close()
    return home


def argv(home: Path) -> list[str]:
    return [sys.executable, "-c", STORE, str(home)]


def content(home: Path) -> dict[str, str]:
    """Store what is left to be stored, as the next worker does; what the ledger then says."""
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger:
        drain = Drain(Home(home), ledger, SystemClock(), [], follows=False)
        drain.run()
        drain.close()
        return fingerprint(ledger)


def sound(home: Path, wanted: dict[str, str], what: str) -> None:
    """Whatever happened: what was committed is sound, and going on completes it without doubling anything."""
    path = Home(home).ledger
    if path.exists() and path.stat().st_size:
        with closing(sqlite3.connect(path)) as found, found:
            assert found.execute("PRAGMA integrity_check").fetchall() == [("ok",)], what
            if found.execute("SELECT count(*) FROM sqlite_master WHERE name = 'cursors'").fetchone()[0]:
                (turns,) = found.execute("SELECT count(*) FROM turns").fetchone()
                (offset,) = found.execute("SELECT coalesce(max(offset), 0) FROM cursors").fetchone()
                (segment,) = segments(Home(home).journal)
                passed = sum(item.end <= offset for item in read_segment(segment))
                assert turns == passed, f"{what}: {turns} turns, the cursor is behind {passed} lines"
        found.close()
    assert content(home) == wanted, what


@pytest.fixture(scope="module")
def wanted(full_journal: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("wanted") / "home"
    shutil.copytree(full_journal, home)
    return content(home)


@pytest.fixture(scope="module")
def first(full_journal: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """The number of the first call of each name that belongs to storing."""
    scratch = tmp_path_factory.mktemp("dry")
    shutil.copytree(full_journal, scratch / "home")
    lines = calls(argv(scratch / "home"), b"", ENVIRON, scratch / "log")
    return first_numbers(lines, lambda line: "ledger.db" in line)


def run_swept(full_journal: Path, tmp_path: Path, call: str, effect: str, number: int, wanted: dict[str, str]) -> int:
    def faulted(fault: Fault) -> bool:
        home = tmp_path / f"{fault.call}-{fault.number}"
        shutil.copytree(full_journal, home)
        ran = run_with(fault, argv(home), b"", ENVIRON, tmp_path / "log")
        if ran.injected:
            assert ran.code != 0 or ran.stdout.startswith(b"stored"), f"{fault}: {ran}"
            sound(home, wanted, str(fault))
        shutil.rmtree(home)
        return ran.injected

    return sweep(call, effect, number, faulted, limit=400)


@pytest.mark.slow
@pytest.mark.parametrize("call", WRITING)
def test_storing_killed_at_any_call_and_done_again_has_each_event_once(
    full_journal: Path, tmp_path: Path, first: dict[str, int], wanted: dict[str, str], call: str
) -> None:
    if call not in first:
        pytest.skip(f"storing makes no {call} call here")
    assert run_swept(full_journal, tmp_path, call, "signal=KILL", first[call], wanted) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("call", "error"), [(call, error) for call, errors in ERRORS.items() for error in errors])
def test_storing_whose_calls_fail_never_claims_what_is_not_there(
    full_journal: Path, tmp_path: Path, first: dict[str, int], wanted: dict[str, str], call: str, error: str
) -> None:
    if call not in first:
        pytest.skip(f"storing makes no {call} call here")
    run_swept(full_journal, tmp_path, call, f"error={error}", first[call], wanted)


def test_the_check_notices_a_ledger_whose_cursor_is_ahead_of_its_rows(
    full_journal: Path, tmp_path: Path, wanted: dict[str, str]
) -> None:
    home = tmp_path / "home"
    shutil.copytree(full_journal, home)
    content(home)
    with closing(sqlite3.connect(Home(home).ledger)) as changed, changed:
        changed.execute("PRAGMA foreign_keys = OFF")
        changed.execute("DELETE FROM turns WHERE rowid = (SELECT max(rowid) FROM turns)")
    changed.close()
    with pytest.raises(AssertionError):
        sound(home, wanted, "control")
