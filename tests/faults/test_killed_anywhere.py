"""A segment's end and a backup, killed at any of their system calls: the state before or after, and done again it is complete."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

import hindbrain
from hindbrain.base.home import Home
from hindbrain.journal.append import SEGMENT_BYTES, append
from hindbrain.journal.line import HOOK, frame
from hindbrain.journal.read import Record, read_segment, segments
from hindbrain.serve import backup
from hindbrain.serve.backup import BadBackup
from tests.crash.strace import Fault, Ran, calls, first_numbers, run_with
from tests.faults.homes import CLOCK, content_of, full_history, store, turn, write

pytestmark = [pytest.mark.strace, pytest.mark.slow]

PACKAGE: Final = str(Path(hindbrain.__file__).parent.parent)
# calls that only end the process
IGNORED: Final = {"exit_group", "rt_sigreturn"}
ROLL: Final = f"""
import sys; sys.path.append({PACKAGE!r})
from hindbrain.journal.append import append
sys.stdin.read()
append(sys.argv[1].encode(), bytes.fromhex(sys.argv[2]))
"""
BACK_UP: Final = f"""
import sys; sys.path.append({PACKAGE!r})
from pathlib import Path
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve.backup import create
sys.stdin.read()
create(Home(Path(sys.argv[1])), Path(sys.argv[2]), SystemClock(), lambda name: None)
"""
CHANGING: Final = {
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "unlink", "unlinkat", "rename", "renameat", "mkdir",
    "rmdir", "fchmod", "flock", "link", "linkat",
}  # fmt: skip


def killed_everywhere(argv: list[str], log: Path, names: set[str], case: Callable[[Callable[[], Ran], str], None],
                      prepare: Callable[[], None]) -> int:  # fmt: skip
    """Kill at each call of these names, from the first behind stdin on; how many kills there were."""
    prepare()
    first = first_numbers(calls(argv, b"", os.environ, log), lambda line: " read(0," in line)
    kills = 0
    for name in sorted(names & set(first) - IGNORED):
        for number in range(first[name], first[name] + 400):
            prepare()
            ran: list[Ran] = []

            def run(fault: Fault = Fault(name, "signal=KILL", number), ran: list[Ran] = ran) -> Ran:  # noqa: B008
                ran.append(run_with(fault, argv, b"", os.environ, log))
                return ran[0]

            case(run, f"{name} {number}")
            if ran[0].code == 0:
                break
            kills += 1
    return kills


def payloads(home: Path) -> Counter[bytes]:
    """Every line of the journal, and how often; fails for damage."""
    found: Counter[bytes] = Counter()
    for path in segments(home / "journal"):
        for item in read_segment(path, final=True):
            assert isinstance(item, Record), item
            found[item.line.payload] += 1
    return found


def test_the_end_of_a_segment_killed_at_any_call_loses_nothing_and_lines_go_on(tmp_path: Path) -> None:
    home, full = tmp_path / "home", tmp_path / "full"
    big = b"x" * SEGMENT_BYTES
    append(bytes(full), frame(HOOK, b"a", 1, big))
    argv = [sys.executable, "-I", "-S", "-c", ROLL, str(home), frame(HOOK, b"a", 2, b"first behind").hex()]

    def prepare() -> None:
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(full, home)

    def case(run: Callable[[], Ran], what: str) -> None:
        acknowledged = run().code == 0
        between = payloads(home)
        assert between[big] == 1 and between[b"first behind"] in ((1,) if acknowledged else (0, 1)), what
        append(bytes(home), frame(HOOK, b"a", 3, b"next"))
        assert payloads(home) == between + Counter([b"next"]), what
        assert len(segments(home / "journal")) <= 3, what

    names = CHANGING | {"close", "getdents64", "newfstatat", "fstat"}
    assert killed_everywhere(argv, tmp_path / "log", names, case, prepare) >= 8


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home(tmp_path_factory.mktemp("filled") / "home")
    write(home, full_history(60))
    store(home)
    write(home, [turn(900)], new_segment=True)
    store(home, archive=True)
    return home


def whole_or_absent(target: Path, what: str) -> bool:
    """Whether there is a backup; one that is there is sound."""
    if not target.exists():
        return False
    files, _ = backup.verify(target, lambda name: None)
    assert files == 3, what
    return True


def test_a_backup_killed_at_any_call_is_whole_or_absent_and_the_home_is_as_it_was(filled: Home, tmp_path: Path) -> None:
    wanted, target = content_of(filled.ledger), tmp_path / "out" / "b.tar.gz"
    target.parent.mkdir()
    argv = [sys.executable, "-c", BACK_UP, str(filled.root), str(target)]

    def prepare() -> None:
        target.unlink(missing_ok=True)

    def case(run: Callable[[], Ran], what: str) -> None:
        if run().code == 0:
            assert whole_or_absent(target, what)
        whole_or_absent(target, what)
        backup.create(filled, target, CLOCK, lambda name: None)
        assert whole_or_absent(target, what)
        assert content_of(filled.ledger) == wanted, what

    # which page of the copy was being written makes no difference
    assert killed_everywhere(argv, tmp_path / "log", CHANGING - {"openat", "pwrite64"}, case, prepare) >= 10
    other = Home(tmp_path / "restored")
    backup.restore(target, other, CLOCK, lambda name: None)
    assert content_of(other.ledger) == wanted


def test_the_check_notices_half_a_backup(filled: Home, tmp_path: Path) -> None:
    target = tmp_path / "b.tar.gz"
    backup.create(filled, target, CLOCK, lambda name: None)
    target.write_bytes(target.read_bytes()[:-200])
    with pytest.raises(BadBackup):
        whole_or_absent(target, "control")


def test_the_check_notices_a_line_written_twice(tmp_path: Path) -> None:
    for _ in range(2):
        append(bytes(tmp_path / "home"), frame(HOOK, b"a", 2, b"first behind"))
    assert payloads(tmp_path / "home")[b"first behind"] not in (0, 1)
