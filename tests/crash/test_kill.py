"""A hook killed at any of its system calls loses nothing it acknowledged and spoils nothing for the next (P1, P2)."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

import hindbrain
from hindbrain.journal.append import append
from hindbrain.journal.line import HOOK, frame
from tests.crash.agent import Agent, payload, stored, token, worker_or_none
from tests.crash.history import Ended, History, read_journal
from tests.crash.strace import Fault, Ran, calls, first_numbers, run_with, sweep, with_fault

pytestmark = pytest.mark.strace
KILL = "signal=KILL"
# calls that end the process anyway or cannot be told apart from the one before
IGNORED = {"exit_group", "rt_sigreturn"}


def journal_opened(home: Path) -> str:
    return f'openat(AT_FDCWD, "{home}"'


def swept(agent: Agent, mark: str, size: int, secret: bytes, log: Path) -> int:
    """Kill at every call behind the mark, an ordinary append after each; how many kills there were."""
    first = first_numbers(calls(agent.argv, payload("dry", size, secret), agent.environ, log), lambda line: mark in line)
    dry = payload("dry", size, secret)
    agent.history.add("dry", stored(dry) if secret else dry, Ended.ACKNOWLEDGED)
    kills = 0

    def killed(fault: Fault) -> bool:
        key = f"{fault.call}-{fault.number}"
        data = payload(key, size, secret)
        ran = agent.call(key, data, with_fault(fault, log), expected=stored(data) if secret else data)
        next_key, next_data = f"after-{key}", payload(f"after-{key}")
        append(os.fsencode(agent.home), frame(HOOK, b"claude-code", 1, next_data))
        agent.history.add(next_key, next_data, Ended.ACKNOWLEDGED)
        return ran.code < 0

    for name, number in first.items():
        if name not in IGNORED:
            kills += sweep(name, KILL, number, killed)
    return kills


@pytest.mark.parametrize("secret", [b"", token()], ids=["plain", "secret"])
@pytest.mark.parametrize("size", [200, 2_000, 200_000])
def test_a_hook_killed_at_any_call_loses_nothing_acknowledged(agent: Agent, size: int, secret: bytes, tmp_path: Path) -> None:
    with worker_or_none(agent.home):
        # with a secret the rules are loaded first, by hundreds of calls before anything of ours is touched
        mark = journal_opened(agent.home) if secret else " read(0,"
        kills = swept(agent, mark, size, secret, tmp_path / "log")
    assert kills >= 15
    assert agent.history.count(Ended.CUT_OFF) == kills
    assert agent.problems() == []
    if secret:
        assert not [path for path in agent.home.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_a_first_hook_killed_at_any_call_leaves_a_journal_that_works(tmp_path: Path, hook: list[str]) -> None:
    probe = Agent(tmp_path, hook, "probe")
    with worker_or_none(probe.home):
        first = first_numbers(calls(probe.argv, payload("dry"), probe.environ, tmp_path / "log"), lambda line: " read(0," in line)
    kills = 0
    for name, number in first.items():
        if name in IGNORED:
            continue
        for at in range(number, number + 200):
            agent = Agent(tmp_path, hook, f"{name}-{at}")
            fault = Fault(name, KILL, at)
            with worker_or_none(agent.home):
                ran = agent.call("first", payload("first"), with_fault(fault, tmp_path / "log"))
                agent.call("next", payload("next"))
            assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED, str(fault)
            assert agent.problems() == [], str(fault)
            if ran.code == 0:
                break
            kills += 1
    assert kills >= 25


def test_an_append_killed_while_it_makes_its_home_can_be_done_again(tmp_path: Path) -> None:
    package = Path(hindbrain.__file__).parent.parent
    code = (
        f"import sys; sys.path.append({str(package)!r}); from hindbrain.journal.append import append\n"
        "append(sys.argv[1].encode(), bytes.fromhex(sys.argv[2]))"
    )

    def argv(home: Path, data: bytes) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", code, str(home), frame(HOOK, b"claude-code", 1, data).hex()]

    def run(home: Path, fault: Fault | None, data: bytes) -> Ran:
        environ: Mapping[str, str] = {}
        return run_with(fault or Fault("write", KILL, 10_000), argv(home, data), b"", environ, tmp_path / "log")

    probe = tmp_path / "probe" / "a" / "home"
    first = first_numbers(calls(argv(probe, b"|dry|"), b"", {}, tmp_path / "log"), lambda line: journal_opened(probe) in line)
    assert {"fsync", "fdatasync"} <= set(first) and {"mkdir", "mkdirat"} & set(first)
    kills = 0
    for name, number in first.items():
        if name in IGNORED:
            continue
        for at in range(number, number + 200):
            home, history = tmp_path / f"{name}-{at}" / "a" / "home", History()
            ran = run(home, Fault(name, KILL, at), b"|first|")
            history.add("first", b"|first|", Ended.CUT_OFF if ran.code else Ended.ACKNOWLEDGED)
            again = run(home, None, b"|again|")
            history.add("again", b"|again|", Ended.ACKNOWLEDGED)
            assert again.code == 0, again.stderr
            assert history.problems(read_journal(home)) == [], (name, at)
            if ran.code == 0:
                break
            kills += 1
    assert kills >= 20
