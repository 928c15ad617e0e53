"""A hook that is given next to nothing to work with still ends with 0, and the event is kept or counted (P2, P3)."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from functools import partial

import pytest

from tests.crash.agent import Agent, judged, payload, token, worker_or_none
from tests.crash.history import Ended
from tests.crash.strace import Ran, run_plain
from tests.crash.stranger import needs_root, stranger, without_processes

LIMITS = {
    "32 descriptors": (resource.RLIMIT_NOFILE, 32), "256 MB of address space": (resource.RLIMIT_AS, 256 << 20),
    "no core files": (resource.RLIMIT_CORE, 0), "a small stack": (resource.RLIMIT_STACK, 512 << 10),
    "64 MB of data": (resource.RLIMIT_DATA, 64 << 20), "no locked memory": (resource.RLIMIT_MEMLOCK, 0),
}  # fmt: skip


def under(kind: int, value: int, *given: object) -> Ran:
    return run_plain(*given, preexec_fn=partial(resource.setrlimit, kind, (value, value)))  # type: ignore[arg-type]


@pytest.mark.parametrize("secret", [b"", token()], ids=["plain", "secret"])
@pytest.mark.parametrize("limit", LIMITS)
def test_little_of_one_thing_is_enough(agent: Agent, limit: str, secret: bytes) -> None:
    with worker_or_none(agent.home):
        agent.call("a", payload("a", 2000, secret), partial(under, *LIMITS[limit]))
    assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
    assert [key for key, _ in agent.kept().records] == ["a"]


@pytest.mark.parametrize("descriptors", range(3, 14))
def test_any_number_of_descriptors_is_enough_to_keep_or_to_tell(agent: Agent, descriptors: int) -> None:
    with worker_or_none(agent.home):
        ran = under(resource.RLIMIT_NOFILE, descriptors, agent.argv, payload("a"), agent.environ)
    if ran.code != 0 and b"hook.py" not in ran.stderr and b"hindbrain" not in ran.stderr:
        pytest.skip("the interpreter itself does not come up")
    if descriptors <= 5 and ran.code != 0:
        pytest.skip("the interpreter cannot open the launcher")
    agent.history.add("a", payload("a"), judged(ran, agent.losses()))
    assert agent.problems() == []


@pytest.mark.parametrize("megabytes", [24, 32, 48, 64, 96, 128])
def test_a_large_event_in_little_memory_is_kept_or_told(agent: Agent, megabytes: int) -> None:
    data = payload("a", 900_000)
    with worker_or_none(agent.home):
        ran = under(resource.RLIMIT_AS, megabytes << 20, agent.argv, data, agent.environ)
    if ran.code != 0 and b"hindbrain" not in ran.stderr:
        pytest.skip("the interpreter itself does not come up")
    agent.history.add("a", data, judged(ran, agent.losses()))
    assert agent.problems() == []


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1), (1, 2), (0, 2), (0, 1, 2)], ids=str)
def test_standard_streams_that_are_closed_hurt_nothing(agent: Agent, closed: tuple[int, ...]) -> None:
    def close() -> None:
        for descriptor in closed:
            os.close(descriptor)

    with worker_or_none(agent.home):
        ran = run_plain(agent.argv, payload("a"), agent.environ, preexec_fn=close)
        agent.history.add("a", payload("a"), judged(ran, agent.losses()))
        agent.call("b", payload("b"))
    first = Ended.REPORTED if 0 in closed else Ended.ACKNOWLEDGED
    assert [each.ended for each in agent.history.operations] == [first, Ended.ACKNOWLEDGED]
    assert agent.problems() == []


@pytest.mark.parametrize("stream", [1, 2])
def test_a_pipe_that_is_full_on_an_output_does_not_hold_the_hook(agent: Agent, stream: int) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    with contextlib.suppress(BlockingIOError):
        while True:
            os.write(writer, bytes(4096))
    os.set_blocking(writer, True)
    outputs = {"stdout": writer if stream == 1 else subprocess.DEVNULL, "stderr": writer if stream == 2 else subprocess.DEVNULL}
    with worker_or_none(agent.home):
        done = subprocess.run(agent.argv, input=payload("a"), env=agent.environ, timeout=30, check=False, **outputs)  # type: ignore[call-overload]
    os.close(reader)
    os.close(writer)
    assert done.returncode == 0
    assert [key for key, _ in agent.kept().records] == ["a"]


@needs_root
def test_a_user_who_may_start_no_process_loses_no_event(hook: list[str]) -> None:
    """The hook starts nothing but the worker, and does without."""
    with stranger(hook) as agent:
        agent.call("a", payload("a"), without_processes)
        assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED
        assert agent.problems() == []
