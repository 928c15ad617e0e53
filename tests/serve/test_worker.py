"""The worker: started by the hook, one per home, killed without loss, gone when idle."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import StorageError
from hindbrain.base.files import Lock, lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon
from tests.serve.installed import Installed, prompt, until


def test_a_hook_call_becomes_a_searchable_turn_without_anybody_starting_anything(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "use the blue-green rollout for billing"))
    seen = installed.settled(1)
    assert (seen.stored.turns, seen.stored.sessions, seen.lost.count) == (1, 1, 0)
    with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
        hits = ledger.search("rollout billing")
    assert [hit.text for hit in hits] == ["use the blue-green rollout for billing"]


def test_a_worker_killed_at_any_time_loses_nothing(installed: Installed) -> None:
    for number in range(12):
        installed.fire(prompt("s1", number, f"statement number {number}"))
        if number % 4 == 3:
            os.kill(until(lambda: lock_holder(installed.home.worker_lock), "a worker"), signal.SIGKILL)
            until(lambda: lock_holder(installed.home.worker_lock) is None, "the lock to be free")
            installed.cli("daemon", "start")
    installed.settled(12)
    with Ledger.open(installed.home.ledger, SystemClock(), read_only=True) as ledger:
        turns = ledger.turns_of(session_id("claude-code", "s1"))
    assert [turn.text for turn in turns] == [f"statement number {number}" for number in range(12)]


def test_a_second_worker_says_who_runs_and_exits_3(installed: Installed) -> None:
    assert installed.cli("daemon", "start").returncode == 0
    pid = lock_holder(installed.home.worker_lock)
    second = installed.cli("daemon", "run")
    assert second.returncode == 3
    assert f"pid {pid}" in second.stderr
    assert lock_holder(installed.home.worker_lock) == pid


def test_stop_ends_it_and_says_so_and_stop_again_is_no_error(installed: Installed) -> None:
    installed.cli("daemon", "start")
    pid = lock_holder(installed.home.worker_lock)
    first, second = installed.cli("daemon", "stop"), installed.cli("daemon", "stop")
    assert (first.returncode, second.returncode) == (0, 0)
    assert f"worker {pid} has left" in first.stderr
    assert "no worker serves" in second.stderr


def test_stop_waits_for_one_that_has_not_said_yet_who_it_is(tmp_path: Path) -> None:
    with Lock(Home(tmp_path).worker_lock) as held:
        with pytest.raises(StorageError, match="has not said who it is"):
            daemon.stop(tmp_path, timeout=0.05)
        with ThreadPoolExecutor(1) as pool:
            stopped = pool.submit(daemon.stop, tmp_path)
            until(stopped.running, "somebody to ask")
            held.release()  # it only looked
            assert stopped.result() is None


def test_it_leaves_when_idle_and_the_next_hook_starts_another(installed: Installed) -> None:
    (installed.home.root / "config.toml").write_text("[worker]\nidle_seconds = 1\n")
    (installed.home.root / "config.toml").chmod(0o600)
    installed.fire(prompt("s1", 1, "first"))
    installed.settled(1)
    until(lambda: lock_holder(installed.home.worker_lock) is None, "the worker to leave")
    installed.fire(prompt("s1", 2, "second"))
    assert installed.settled(2).stored.turns == 2


def test_one_that_came_up_and_was_killed_is_replaced_by_the_very_next_hook(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "first"))
    installed.settled(1)
    until(lambda: installed.home.worker_start.read_bytes() == b"", "the worker to say that it is up")
    os.utime(installed.home.worker_start)  # a machine so fast that the start was this very moment
    pid = lock_holder(installed.home.worker_lock)
    assert pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: lock_holder(installed.home.worker_lock) is None, "its end")
    installed.fire(prompt("s1", 2, "second"))
    assert installed.settled(2).stored.turns == 2


def open_files(pid: int) -> Iterator[str]:
    """What a process has open; it goes on opening and closing files while we look."""
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            yield os.readlink(link)


def test_the_worker_has_no_child_no_port_and_none_of_the_agents_variables(installed: Installed) -> None:
    environ = {**installed.environ, "ANTHROPIC_API_KEY": "not-for-the-worker", "CLAUDECODE": "1"}
    subprocess.run([*installed.hook, "claude-code"], input=json.dumps(prompt("s1", 1, "hello")).encode(), env=environ, check=True)
    pid = until(lambda: lock_holder(installed.home.worker_lock), "a worker")
    installed.settled(1)
    if not sys.platform.startswith("linux"):
        pytest.skip("not run: /proc is needed to look at the worker")
    values = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    assert b"HINDBRAIN_GUARD=worker" in values
    assert [value for value in values if value.startswith((b"ANTHROPIC", b"CLAUDE"))] == []
    assert os.getsid(pid) == pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    inodes = {target[8:-1] for target in open_files(pid) if target.startswith("socket:")}
    ports = [
        line for kind in ("tcp", "tcp6", "udp", "udp6") for line in Path(f"/proc/{pid}/net/{kind}").read_text().splitlines()[1:]
        if line.split()[9] in inodes
    ]  # fmt: skip
    assert (children, ports) == ([], [])


def test_a_plain_file_in_place_of_the_pipe_is_put_aside(installed: Installed) -> None:
    installed.home.wake.write_text("from a copied home")
    installed.fire(prompt("s1", 1, "hello"))
    installed.settled(1)
    assert installed.home.wake.is_fifo()
    assert [path.read_text() for path in installed.home.root.glob("wake.replaced-*")] == ["from a copied home"]


@pytest.mark.slow
def test_of_many_workers_started_at_once_one_runs_and_the_others_exit_3(installed: Installed) -> None:
    for _ in range(12):
        argv = [sys.executable, "-m", "hindbrain", "--home", str(installed.home.root), "daemon", "run"]
        started = [subprocess.Popen(argv, env=dict(installed.environ), stderr=subprocess.PIPE, text=True) for _ in range(9)]
        winner = until(lambda: lock_holder(installed.home.worker_lock), "a worker")
        codes = {process.pid: process.wait(60) for process in started if process.pid != winner}
        assert set(codes.values()) == {3} and len(codes) == 8
        os.kill(winner, signal.SIGKILL)
        for process in started:
            process.wait(60)
            if process.stderr is not None:
                process.stderr.close()


def test_a_hook_inside_a_process_of_ours_captures_nothing(installed: Installed) -> None:
    environ = {**installed.environ, "HINDBRAIN_GUARD": "worker"}
    ran = subprocess.run([*installed.hook, "claude-code"], input=b"{}", env=environ, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert installed.look().captured == 0
