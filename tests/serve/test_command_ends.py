"""A command line agent works as the model, and whoever asked it ends: nothing of it is left running or lying about."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.queues.queue import Queue
from hindbrain.serve.memory import Memory
from tests.reason.model.test_command import LINUX, gone
from tests.serve.installed import Installed, until
from tests.serve.test_reasoning import CHOSEN, modelled, tell

# Starts a child that does not end either, says who they are, and works on.
AGENT = f"""#!{sys.executable} -IS
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
sys.stdin.buffer.read()
child = os.fork()
if child:
    with open(here + "/new", "w") as file: json.dump([os.getpid(), child, os.getcwd()], file)
    os.rename(here + "/new", here + "/ran")
time.sleep(600)
"""
SLOW = {"MODEL": "claude-cli:haiku", "MODEL_URL": "", "MODEL_KEY": "", "MODEL_TIMEOUT": "500"}


@pytest.fixture
def agent(installed: Installed, tmp_path: Path) -> Iterator[tuple[Installed, Path]]:
    """A home whose model is an agent that works without end; and where that one says who it is."""
    place = tmp_path / "bin"
    place.mkdir()
    (place / "claude").write_text(AGENT)
    (place / "claude").chmod(0o700)
    given = {f"HINDBRAIN_{name}": value for name, value in {**SLOW, "MODEL_NIGHT": "true"}.items() if value}
    environ = {**installed.environ, **given, "PATH": f"{place}:{installed.environ['PATH']}", "TMPDIR": str(tmp_path)}
    yield Installed(installed.home, installed.hook, environ), place / "ran"
    if (place / "ran").exists():  # a test that failed leaves them
        for pid in json.loads((place / "ran").read_text())[:2]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def at_work(ran: Path) -> tuple[int, int, str]:
    pid, child, folder = json.loads(until(lambda: ran.read_text() if ran.exists() else None, "the agent to be at work", 60))
    return pid, child, folder


def nothing_left(pid: int, child: int, folder: str) -> bool:
    return gone(pid) and gone(child) and not os.path.exists(folder)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_question_that_is_called_off_leaves_nothing_running(agent: tuple[Installed, Path], number: signal.Signals) -> None:
    here, ran = agent
    assert here.cli("remember", "billing is owned by Ada", "--global").returncode == 0
    argv = [sys.executable, "-m", "hindbrain", "--home", str(here.home.root), "ask", "who owns billing?", "--all-projects"]
    with subprocess.Popen(argv, env=dict(here.environ), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as asking:
        left = at_work(ran)
        asking.send_signal(number)
        _, said = asking.communicate(timeout=60)
    assert asking.returncode == 128 + number
    assert b"Traceback" not in said
    assert nothing_left(*left)


SETTLING = """
import sys
from hindbrain import Memory
with Memory.open(home=sys.argv[1]) as memory: memory.settle(400)
"""


def test_a_program_that_is_interrupted_while_jobs_run_in_it_leaves_nothing_running(agent: tuple[Installed, Path]) -> None:
    here, ran = agent
    a_session(here.home)
    argv = [sys.executable, "-c", SETTLING, str(here.home.root)]
    with subprocess.Popen(argv, env=dict(here.environ), stderr=subprocess.PIPE) as settling:
        left = at_work(ran)
        settling.send_signal(signal.SIGINT)
        _, said = settling.communicate(timeout=60)
    assert said.rstrip().endswith(b"KeyboardInterrupt")
    assert nothing_left(*left)
    assert job(here.home) == ("ready", 0, "")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_where_no_agent_works_a_signal_ends_a_command_as_ever(number: signal.Signals) -> None:
    program = "import signal; from hindbrain.serve.ending import on_signals; on_signals(); print(1, flush=True); signal.pause()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as waiting:
        assert waiting.stdout is not None and waiting.stdout.readline() == b"1\n"
        waiting.send_signal(number)
        assert waiting.wait(60) == -number


def a_session(home: Home) -> None:
    """One that ended, and that a model is to read."""
    with Memory(home.root, config=modelled(home.root, "", **SLOW)) as memory:
        tell(memory, "s1", CHOSEN)
        memory.settle_here()
    hurried(home)


def hurried(home: Home) -> None:
    """Have its job run at once."""
    with Ledger.open(home.ledger, SystemClock()) as ledger, ledger.writing() as database:
        database.execute("UPDATE jobs SET state = 'ready', run_after_ms = 0 WHERE kind = 'extract' AND state = 'waiting'")


def job(home: Home) -> tuple[Any, ...]:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        (found,) = Queue(ledger, SystemClock()).listing(kind="extract")
    return found.state, found.attempts, found.error


def test_a_worker_that_is_stopped_ends_the_agent_and_gives_its_job_back(agent: tuple[Installed, Path]) -> None:
    here, ran = agent
    a_session(here.home)
    assert here.cli("daemon", "start").returncode == 0
    left = at_work(ran)
    assert here.cli("daemon", "stop").returncode == 0
    assert nothing_left(*left)
    assert job(here.home) == ("ready", 0, "")


@LINUX
def test_what_a_killed_worker_left_is_ended_by_the_next(agent: tuple[Installed, Path]) -> None:
    here, ran = agent
    a_session(here.home)
    assert here.cli("daemon", "start").returncode == 0
    left = at_work(ran)
    worker = lock_holder(here.home.worker_lock)
    assert worker
    os.kill(worker, signal.SIGKILL)
    until(lambda: lock_holder(here.home.worker_lock) is None, "the lock to be free")
    assert os.path.exists(left[2])
    assert here.cli("daemon", "start").returncode == 0
    assert gone(left[0]) and gone(left[1])
    until(lambda: not os.path.exists(left[2]), "the folder to go")
    assert here.cli("daemon", "stop").returncode == 0
