"""A hundred hooks at the same moment: every line whole, none lost, none counted as lost that is there (P1, P3)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

import pytest

from hindbrain.journal.read import segments
from tests.crash.agent import Agent, judged, no_worker_started, payload, worker_seen
from tests.crash.strace import Ran

ROUNDS = int(os.environ.get("HOOK_ROUNDS", "20"))


def at_once(agent: Agent, number: int, size: int, tag: str) -> None:
    """Start so many hooks without waiting for any, each with its payload ready to be read."""
    before = agent.losses()
    running = []
    for each in range(number):
        data = payload(f"{tag}-{each}", size)
        with tempfile.TemporaryFile(dir=agent.user) as file:
            file.write(data)
            file.seek(0)
            process = subprocess.Popen(agent.argv, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=agent.environ)
        running.append((f"{tag}-{each}", data, process))
    for key, data, process in running:
        out, err = process.communicate(timeout=120)
        agent.history.add(key, data, judged(Ran(process.returncode, out, err), 0))
    assert agent.losses() == before


def all_there(agent: Agent, number: int) -> None:
    kept = agent.kept()
    assert agent.history.problems(kept, repeats=False) == []
    assert len(kept.records) == number
    assert kept.damages == []


def test_a_hundred_hooks_at_once_are_all_kept(agent: Agent) -> None:
    with worker_seen(agent.home):
        at_once(agent, 100, 40_000, "r")
    all_there(agent, 100)


def test_large_events_at_once_are_all_kept_over_many_segments(agent: Agent) -> None:
    with worker_seen(agent.home):
        at_once(agent, 12, 1_000_000, "r")
    all_there(agent, 12)
    assert len(segments(agent.home / "journal")) >= 2


def test_hooks_at_once_in_a_new_home_are_all_kept(tmp_path: Path, hook: list[str]) -> None:
    agent = Agent(tmp_path, hook)
    with worker_seen(agent.home):
        at_once(agent, 30, 500, "r")
    all_there(agent, 30)


def test_hooks_at_once_without_a_worker_are_all_kept(agent: Agent) -> None:
    with no_worker_started(agent.home):
        at_once(agent, 30, 40_000, "r")
    all_there(agent, 30)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("size", [40_000, 1_000_000])
def test_a_hundred_hooks_at_once_over_many_rounds(agent: Agent, size: int) -> None:
    rounds = ROUNDS if size < 100_000 else max(1, ROUNDS // 5)
    with worker_seen(agent.home):
        for number in range(rounds):
            at_once(agent, 100, size, f"r{number}")
    all_there(agent, 100 * rounds)
