"""Wrong hooks and wrong journals, put before the same judges: each must be found out, or the judges prove nothing."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hindbrain.journal.line import HOOK, frame
from tests.crash.agent import Agent, judged, payload, worker_seen
from tests.crash.history import Ended, History, Kept
from tests.crash.strace import Fault, Ran, first_numbers, sweep, with_fault

BEGIN = "import os, sys\nsys.path.append(sys.argv[1])\nfrom hindbrain.journal.line import HOOK, frame\n"
WRITE = BEGIN + """
journal = os.environ["HINDBRAIN_HOME"] + "/journal"
data = sys.stdin.buffer.read()
try:
    os.makedirs(journal, exist_ok=True)
    file = os.open(journal + "/0000000001-1-1.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    {write}
except OSError:
    pass  # the agent must not notice
"""
LINE = "frame(HOOK, b'claude-code', 1, data)"
WRONG = {
    "exits 0 after a failed write": f"os.write(file, {LINE})",
    "never looks at the count": f"os.write(file, {LINE}[:-20])",
    "writes nothing": "pass",
}
NOISY = {"prints": "print('kept')", "fails": "sys.exit(2)", "dies of an exception": "1 / 0"}


def wrong(agent: Agent, tmp_path: Path, source: str) -> Agent:
    import hindbrain

    script = tmp_path / "wrong.py"
    script.write_text(source)
    agent.argv = [sys.executable, "-I", "-S", str(script), str(Path(hindbrain.__file__).parent.parent)]
    return agent


@pytest.mark.parametrize("name", WRONG)
def test_a_hook_that_says_yes_without_keeping_is_found_out(agent: Agent, tmp_path: Path, name: str) -> None:
    wrong(agent, tmp_path, WRITE.format(write=WRONG[name]))
    if name == "exits 0 after a failed write":
        (agent.home / "journal").write_bytes(b"in the way")
    agent.call("a", payload("a"))
    if name == "exits 0 after a failed write":
        (agent.home / "journal").unlink()
    assert "acknowledged but gone: a" in agent.problems()


def test_a_right_hook_is_not_accused(agent: Agent, tmp_path: Path) -> None:
    wrong(agent, tmp_path, WRITE.format(write=WRONG["exits 0 after a failed write"]))
    agent.call("a", payload("a"))
    assert agent.problems() == []


@pytest.mark.parametrize("name", NOISY)
def test_a_hook_the_agent_would_notice_is_found_out(agent: Agent, tmp_path: Path, name: str) -> None:
    wrong(agent, tmp_path, BEGIN + NOISY[name])
    with pytest.raises(AssertionError, match="the agent notices"):
        agent.call("a", payload("a"))


def test_the_history_knows_lost_changed_strange_and_repeated_records() -> None:
    history = History()
    for key in ("a", "b", "c"):
        history.add(key, key.encode(), Ended.ACKNOWLEDGED)
    history.add("d", b"d", Ended.CUT_OFF)
    history.add("e", b"e", Ended.REPORTED)
    whole = [("a", b"a"), ("b", b"b"), ("c", b"c")]
    assert history.problems(Kept(whole)) == []
    assert history.problems(Kept([*whole, ("d", b"d"), ("e", b"e")])) == []
    assert history.problems(Kept(whole[:2])) == ["acknowledged but gone: c"]
    assert history.problems(Kept([*whole[:2], ("c", b"x")])) == ["there with other content: c"]
    assert history.problems(Kept([*whole, ("z", b"z")])) == ["there but never asked for: z"]
    assert history.problems(Kept([*whole, ("a", b"a")])) == []
    assert history.problems(Kept([*whole, ("a", b"a")]), repeats=False) == ["there 2 times: a"]


def test_a_loss_that_is_only_said_counts_as_told_and_silence_does_not() -> None:
    said = Ran(0, b"", b"hindbrain: an event was not kept and could not be counted: eio\n")
    assert judged(said, 0) is Ended.REPORTED
    assert judged(Ran(0, b"", b""), 1) is Ended.REPORTED
    assert judged(Ran(0, b"", b""), 0) is Ended.ACKNOWLEDGED
    assert judged(Ran(-9, b"", b""), 0) is Ended.CUT_OFF


@pytest.mark.strace
def test_the_kill_sweep_finds_a_hook_whose_torn_line_swallows_the_next(agent: Agent, tmp_path: Path) -> None:
    """Written in two pieces, and without the newline that every line begins with."""
    two = f"line = {LINE}[1:]; os.write(file, line[:30]); os.write(file, line[30:])"
    wrong(agent, tmp_path, WRITE.format(write=two))

    def killed(fault: Fault) -> bool:
        ran = agent.call(str(fault), payload(str(fault)), with_fault(fault, tmp_path / "log"))
        agent.call(f"after {fault}", payload(f"after {fault}"))
        return ran.code < 0

    assert sweep("write", "signal=KILL", 1, killed) == 2
    assert any(problem.startswith("acknowledged but gone: after") for problem in agent.problems())


@pytest.mark.strace
def test_the_error_sweep_finds_a_hook_that_does_not_look_at_its_sync(agent: Agent, tmp_path: Path) -> None:
    careless = f"os.write(file, {LINE})\n    try:\n        os.fdatasync(file)\n    except OSError:\n        os.ftruncate(file, 0)"
    wrong(agent, tmp_path, WRITE.format(write=careless))
    fault = Fault("fdatasync", "error=EIO", 1)
    with worker_seen(agent.home):
        ran = agent.call("a", payload("a"), with_fault(fault, tmp_path / "log"))
    assert ran.injected
    assert agent.problems() == ["acknowledged but gone: a"]


def test_a_sweep_that_passes_no_mark_is_an_error() -> None:
    with pytest.raises(AssertionError, match="would test nothing"):
        first_numbers(["1 openat(AT_FDCWD, x) = 3", "1 close(3) = 0"], lambda line: "read(0" in line)


def test_frames_of_the_wrong_hooks_are_those_of_the_journal() -> None:
    assert frame(HOOK, b"claude-code", 1, b"x").count(b"\n") == 2
