"""A hook whose system calls fail never says a yes that is not true: the event is kept, counted, or said to be lost (P2, P3)."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from tests.crash.agent import Agent, payload, worker_or_none
from tests.crash.history import Ended
from tests.crash.strace import Fault, calls, first_numbers, with_fault

pytestmark = pytest.mark.strace
ERRORS = ["EIO", "ENOSPC", "EDQUOT", "EMFILE", "EROFS", "EACCES", "EINTR"]
CALLS = ["write", "fdatasync", "fsync", "openat", "mkdirat", "renameat", "fchmod", "flock", "newfstatat", "getdents64"]


def faults(errors: list[str]) -> list[ParameterSet]:
    """Each error once, and from then on; but a call that is interrupted is tried again, for ever if need be."""
    once = [pytest.param(error, False, id=f"{error} once") for error in errors]
    return once + [pytest.param(error, True, id=f"{error} from then on") for error in errors if error != "EINTR"]


def stdin_read(line: str) -> bool:
    return " read(0," in line


def first_calls(agent: Agent, log: Path) -> dict[str, int]:
    with worker_or_none(agent.home):
        return first_numbers(calls(agent.argv, payload("dry"), agent.environ, log), stdin_read)


def hurt(agent: Agent, fault: Fault, log: Path) -> bool:
    """One call with a fault, then an ordinary one, which must be kept; whether the fault fired."""
    key = str(fault)
    before = agent.losses()
    ran = agent.call(key, payload(key), with_fault(fault, log))
    ended = agent.history.operations[-1].ended
    if fault.onward:
        assert ended is Ended.ACKNOWLEDGED or agent.losses() > before or ran.stderr, key
    else:
        assert agent.losses() - before == (1 if ended is Ended.REPORTED else 0), key
    agent.call(f"after {key}", payload(f"after {key}"))
    assert agent.history.operations[-1].ended is Ended.ACKNOWLEDGED, key
    return ran.injected


@pytest.mark.parametrize(("error", "onward"), faults(ERRORS))
def test_a_call_that_fails_in_a_used_home_is_never_taken_for_success(
    agent: Agent, error: str, onward: bool, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    first = first_calls(agent, log)
    agent.history.add("dry", payload("dry"), Ended.ACKNOWLEDGED)
    fired = 0
    with worker_or_none(agent.home):
        for name in set(CALLS) & set(first):
            for number in itertools.count(first[name]):
                if not hurt(agent, Fault(name, f"error={error}", number, onward), log):
                    break
                fired += 1
    assert fired >= 10
    assert agent.problems() == []


@pytest.mark.parametrize(("error", "onward"), faults(["EIO", "ENOSPC", "EACCES", "EINTR"]))
def test_a_call_that_fails_in_a_new_home_is_never_taken_for_success(
    tmp_path: Path, hook: list[str], error: str, onward: bool
) -> None:
    log = tmp_path / "log"
    first = first_calls(Agent(tmp_path, hook, "probe"), log)
    assert {"mkdirat", "renameat", "fchmod", "fsync"} <= set(first)
    fired = 0
    for name in set(CALLS) & set(first):
        for number in itertools.count(first[name]):
            agent = Agent(tmp_path, hook, f"{name}-{number}")
            with worker_or_none(agent.home):
                again = hurt(agent, Fault(name, f"error={error}", number, onward), log)
            assert agent.problems() == [], (name, number)
            if not again:
                break
            fired += 1
    assert fired >= 15


@pytest.mark.slow
@pytest.mark.parametrize("call", ["write", "fdatasync", "flock"])
def test_a_call_that_is_interrupted_for_ever_ends_at_the_hard_stop(agent: Agent, call: str, tmp_path: Path) -> None:
    first = first_calls(agent, tmp_path / "log")
    agent.history.add("dry", payload("dry"), Ended.ACKNOWLEDGED)
    with worker_or_none(agent.home):
        fault = Fault(call, "error=EINTR", first[call], onward=True)
        ran = agent.call("stuck", payload("stuck"), with_fault(fault, tmp_path / "log"))
        assert ran.injected
        agent.call("after", payload("after"))
    assert agent.history.operations[-2].ended is Ended.REPORTED
    assert agent.problems() == []


# What a failing sync leaves behind


def modes(agent: Agent) -> list[int]:
    return [path.stat().st_mode & 0o777 for path in sorted((agent.home / "journal").iterdir())]


def test_a_segment_whose_sync_failed_is_sealed_and_never_used_again(agent: Agent, tmp_path: Path) -> None:
    fault = Fault("fdatasync", "error=EIO", 1)
    with worker_or_none(agent.home):
        agent.call("before", payload("before"))
        agent.call("failed", payload("failed"), with_fault(fault, tmp_path / "log"))
        sealed, newer = sorted((agent.home / "journal").iterdir())
        assert modes(agent) == [0o400, 0o600]
        assert b"|failed|" in newer.read_bytes()
        size = sealed.stat().st_size
        for number in range(3):
            agent.call(f"later-{number}", payload(f"later-{number}"))
        assert sealed.stat().st_size == size, "a later hook wrote to the sealed file"
        assert len(modes(agent)) == 2
    assert [each.ended for each in agent.history.operations] == [Ended.ACKNOWLEDGED] * 5
    assert agent.problems() == []


@pytest.mark.parametrize("failing", [2, 3])
def test_each_failed_sync_seals_one_more_segment(agent: Agent, tmp_path: Path, failing: int) -> None:
    fault = Fault("fdatasync", "error=EIO", 1, last=failing)
    with worker_or_none(agent.home):
        agent.call("first", payload("first"))
        agent.call("hard", payload("hard"), with_fault(fault, tmp_path / "log"))
        agent.call("later", payload("later"))
    assert modes(agent) == [0o400] * failing + [0o600]
    assert agent.losses() == 0
    assert agent.problems() == []


def test_a_sync_that_always_fails_is_a_counted_loss(agent: Agent, tmp_path: Path) -> None:
    with worker_or_none(agent.home):
        agent.call("lost", payload("lost"), with_fault(Fault("fdatasync", "error=EIO", 1, onward=True), tmp_path / "log"))
        assert agent.losses() == 1
        assert set(modes(agent)) == {0o400}
        agent.call("later", payload("later"))
    assert [each.ended for each in agent.history.operations] == [Ended.REPORTED, Ended.ACKNOWLEDGED]
    assert agent.problems() == []

