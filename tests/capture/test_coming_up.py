"""When a hook starts a worker and when it leaves that to one that is coming up."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.files import lock_holder
from hindbrain.capture.start import start_worker
from hindbrain.serve import daemon

SECOND_NS = 1_000_000_000


def started_before(home: Path, pid: int, age_ns: int) -> None:
    """The mark a hook leaves that started this process so long ago."""
    home.mkdir(mode=0o700, exist_ok=True)
    stamp = home / "worker.start"
    stamp.write_bytes(b"%-20d\n" % pid)
    stamp.chmod(0o600)
    when = time.time_ns() - age_ns
    os.utime(stamp, ns=(when, when))


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its stdin is closed."""
    with subprocess.Popen([sys.executable, "-I", "-S", "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_a_worker_that_is_coming_up_is_left_to_it(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    started_before(tmp_path / "home", sleeper.pid, 2 * SECOND_NS)
    assert start_worker(os.fsencode(tmp_path / "home")) is False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="not run: this system does not tell")
def test_a_worker_that_died_and_was_not_collected_is_replaced(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """As in a container whose first process collects nobody: the dead worker still has a pid that can be signalled."""
    home = tmp_path / "home"
    sleeper.kill()
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)  # dead from here on, and still there
    os.kill(sleeper.pid, 0)
    started_before(home, sleeper.pid, 2 * SECOND_NS)
    assert start_worker(os.fsencode(home)) is True
    deadline = time.monotonic() + 30
    while not lock_holder(home / "worker.lock") and time.monotonic() < deadline:
        time.sleep(0.02)
    assert daemon.stop(home) is not None


def test_a_worker_that_died_at_once_is_not_started_by_every_call(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    sleeper.kill()
    sleeper.wait(30)
    started_before(tmp_path / "home", sleeper.pid, SECOND_NS // 10)
    assert start_worker(os.fsencode(tmp_path / "home")) is False
