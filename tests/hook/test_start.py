"""A hook that finds no worker starts one: once, detached, with nothing of the agent's own.

The interpreter that is started is a stand-in here: a script that writes down what it was given and stays until its input,
a pipe of the test, comes to its end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import hindbrain
from tests.crash.agent import Agent, payload, worker_seen
from tests.crash.history import Ended

PACKAGE = str(Path(hindbrain.__file__).parent.parent)
STAND_IN = """#!{python} -IS
import json, os, sys, time
me = {{"argv": sys.argv[1:], "environ": dict(os.environ), "session": os.getsid(0) == os.getpid(),
      "open": sorted(int(n) for n in os.listdir("/dev/fd")), "zero": os.readlink("/dev/fd/0")}}
with open({where!r} + f"/{{os.getpid()}}.tmp", "w") as out:
    json.dump(me, out)
os.rename({where!r} + f"/{{os.getpid()}}.tmp", {where!r} + f"/{{os.getpid()}}.json")
time.sleep(60)
"""
START = f"""
import sys
sys.path.append({PACKAGE!r})
from hindbrain.capture.start import start_worker
sys.executable = sys.argv[1]
sys.stdin.readline()
print(start_worker(sys.argv[2].encode()))
"""


@pytest.fixture
def stand_in(tmp_path: Path) -> Iterator[Path]:
    """A script to be started in place of the interpreter; those that were are ended by their pid."""
    where = tmp_path / "started"
    where.mkdir()
    script = tmp_path / "stand-in"
    script.write_text(STAND_IN.format(python=os.path.realpath(sys.executable), where=str(where)))
    script.chmod(0o700)
    yield script
    for path in where.glob("*.json"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(path.stem), signal.SIGKILL)


def started(script: Path, number: int) -> list[dict[str, object]]:
    """What the stand-ins wrote down, once there are so many of them."""
    deadline = time.monotonic() + 30
    where = script.parent / "started"
    while len(found := list(where.glob("*.json"))) < number:
        assert time.monotonic() < deadline, "the worker was not started"
        time.sleep(0.01)
    return [json.loads(path.read_text()) for path in found]


def starter(script: Path, home: Path, environ: dict[str, str] | None = None, **more: object) -> subprocess.Popen[str]:
    argv = [sys.executable, "-I", "-S", "-c", START, str(script), str(home)]
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ, **more)  # type: ignore[call-overload, no-any-return]


def test_of_fifty_hooks_that_find_no_worker_one_starts_it(tmp_path: Path, stand_in: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    processes = [starter(stand_in, home) for _ in range(50)]
    for process in processes:  # all are up and wait; now they go at once
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    said = [process.communicate(timeout=60)[0].strip() for process in processes]
    assert sorted(said) == ["False"] * 49 + ["True"]
    assert len(started(stand_in, 1)) == 1


def test_a_worker_gets_a_session_of_its_own_and_nothing_of_the_agents(tmp_path: Path, stand_in: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    environ = {"PATH": "/usr/bin:/bin", "HOME": "/home/ada", "XDG_DATA_HOME": "/d", "ANTHROPIC_API_KEY": "k", "CLAUDECODE": "1"}
    reader, writer = os.pipe()
    process = starter(stand_in, home, environ, pass_fds=[writer])
    os.close(writer)
    assert process.communicate("go\n", timeout=60)[0].strip() == "True"
    [worker] = started(stand_in, 1)
    assert worker["argv"] == ["-I", "-m", "hindbrain", "--home", str(home), "daemon", "run", "--on-demand"]
    assert worker["session"] is True and worker["zero"] == os.devnull
    given = worker["environ"]
    assert isinstance(given, dict)
    assert given.pop("LC_CTYPE", "C.UTF-8") == "C.UTF-8"  # set by the interpreter itself
    assert given == {"PATH": "/usr/bin:/bin", "HOME": "/home/ada", "XDG_DATA_HOME": "/d", "HINDBRAIN_GUARD": "worker"}
    os.set_blocking(reader, False)
    assert os.read(reader, 1) == b"", "a pipe of the agent's has come to its end, though the worker lives"
    os.close(reader)
    assert worker["open"] == [0, 1, 2, 3]  # the last is the list itself


def test_a_worker_that_cannot_be_started_costs_no_event(agent: Agent, hook: list[str]) -> None:
    (agent.home / "worker.start").mkdir()
    agent.call("a", payload("a"))
    assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
    assert agent.problems() == []


def test_a_live_worker_is_told_by_one_byte(agent: Agent) -> None:
    with worker_seen(agent.home) as reader:
        agent.call("a", payload("a"))
        agent.call("b", payload("b"))
        assert os.read(reader, 100) == b"\n\n"
    assert not (agent.home / "worker.start").exists()


def test_a_pipe_that_is_full_costs_no_event_and_no_wait(agent: Agent) -> None:
    with worker_seen(agent.home) as reader:
        writer = os.open(agent.home / "wake", os.O_WRONLY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"\n" * 4096)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writer, b"\n")
        agent.call("a", payload("a"))
        os.close(writer)
        assert reader
    assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
    assert agent.problems() == []
    assert not (agent.home / "worker.start").exists()


def test_an_ordinary_call_loads_nothing_the_interpreter_has_not_loaded_but_two_small_modules(agent: Agent) -> None:
    def loaded(argv: list[str]) -> set[str]:
        done = subprocess.run(argv, input=b'{"a": 1}', env=agent.environ, capture_output=True, check=True)
        return {line.split(b"|")[-1].strip().decode() for line in done.stderr.splitlines() if line.startswith(b"import time:")}

    with worker_seen(agent.home):
        python, rest = agent.argv[0], agent.argv[1:]
        extra = loaded([python, "-X", "importtime", *rest]) - loaded([python, "-X", "importtime", "-I", "-S", "-c", "pass"])
    assert {name for name in extra if not name.startswith("hindbrain")} <= {"fcntl", "zlib", "errno"}
    assert "hindbrain.journal.losses" not in extra and "hindbrain.base.redact" not in extra
