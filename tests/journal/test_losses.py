"""What could not be kept is counted exactly, wherever there is a place left to count it (P3)."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hindbrain.journal import losses

COUNT = """
import os, sys
from hindbrain.journal import losses
print("ready", flush=True)
sys.stdin.readline()
for _ in range(int(sys.argv[2])):
    assert losses.count(os.fsencode(sys.argv[1]), "enospc", {})
"""


def test_a_home_without_losses_says_none(tmp_path: Path) -> None:
    found = losses.read(os.fsencode(tmp_path), {})
    assert (found.count, found.last_ns, found.reason) == (0, 0, "")
    losses.prepare(os.fsencode(tmp_path))
    assert losses.read(os.fsencode(tmp_path), {}).count == 0
    assert (tmp_path / "lost").stat().st_size == 512


def test_the_last_reason_and_its_time_are_told(tmp_path: Path) -> None:
    home, before = os.fsencode(tmp_path), time.time_ns()
    for reason in ("eio", "enospc"):
        assert losses.count(home, reason, {})
    found = losses.read(home, {})
    assert (found.count, found.reason) == (2, "enospc")
    assert before <= found.last_ns <= time.time_ns()
    losses.prepare(home)
    assert losses.read(home, {}).count == 2, "preparing again forgets nothing"


@pytest.mark.parametrize(("reason", "shown"), [("", ""), ("x" * 500, "x" * 64), ("ä\n7", "?"), ("a b", "a")])
def test_any_reason_leaves_a_counter_that_can_be_read(tmp_path: Path, reason: str, shown: str) -> None:
    for _ in range(3):
        assert losses.count(os.fsencode(tmp_path), reason, {})
    found = losses.read(os.fsencode(tmp_path), {})
    assert (found.count, found.reason) == (3, shown)
    assert (tmp_path / "lost").stat().st_size == 512


def test_a_hundred_counts_at_once_are_exact(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", COUNT, str(tmp_path), "10"]
    processes = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(10)]
    for process in processes:
        assert process.stdout and process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=60)
        assert process.returncode == 0
    assert losses.read(os.fsencode(tmp_path), {}).count == 100


def test_counts_go_to_the_next_place_and_are_added_up(tmp_path: Path) -> None:
    home, runtime, user = (tmp_path / name for name in ("home", "runtime", "user"))
    for path in (runtime, user):
        path.mkdir()
    environ = {b"XDG_RUNTIME_DIR": os.fsencode(runtime), b"HOME": os.fsencode(user)}
    assert losses.count(os.fsencode(home), "first", environ)  # there is no home
    home.mkdir()
    assert losses.count(os.fsencode(home), "second", environ)
    assert losses.read(os.fsencode(home), environ).count == 2
    assert [len(list(path.iterdir())) for path in (home, runtime, user)] == [1, 1, 0]
    other = losses.read(os.fsencode(tmp_path / "other"), environ)
    assert other.count == 0, "a count for one home is not shown for another"


def test_a_count_that_finds_no_place_says_so(tmp_path: Path) -> None:
    (tmp_path / "lost").mkdir()
    assert not losses.count(os.fsencode(tmp_path), "eio", {})
    assert not losses.count(os.fsencode(tmp_path), "eio", {b"HOME": os.fsencode(tmp_path / "nowhere")})
    assert losses.read(os.fsencode(tmp_path), {}).count == 0


@pytest.mark.parametrize("garbage", [b"", b"\x00" * 512, b"-5 -5", b"abc def", b"9" * 600, "٣ ٣".encode()])
def test_a_counter_full_of_garbage_begins_again(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "lost").write_bytes(garbage)
    losses.read(os.fsencode(tmp_path), {})
    assert losses.count(os.fsencode(tmp_path), "eio", {})
    assert losses.read(os.fsencode(tmp_path), {}).reason == "eio"


@pytest.mark.parametrize("kind", ["directory", "pipe", "link", "loop"])
def test_what_is_no_counter_is_not_read(tmp_path: Path, kind: str) -> None:
    for name in ("lost", "lost.unloaded"):
        path = tmp_path / name
        if kind == "directory":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to("/etc/passwd" if kind == "link" else path)
    assert losses.read(os.fsencode(tmp_path), {}).count == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="not run: needs root to mount a small file system")
def test_a_prepared_counter_counts_on_a_full_disk(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(disk)], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip(f"not run: cannot mount: {mounted.stderr.decode().strip()}")
    try:
        losses.prepare(os.fsencode(disk))
        with contextlib.suppress(OSError):
            (disk / "filler").write_bytes(bytes(1 << 20))
        assert all(losses.count(os.fsencode(disk), "enospc", {}) for _ in range(3))
        assert losses.read(os.fsencode(disk), {}).count == 3
    finally:
        subprocess.run(["umount", str(disk)], check=True)
