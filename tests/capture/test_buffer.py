"""The journal as a buffer per agent and session: start, append, status, recover after a crash, clear once stored."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import UsageError
from hindbrain.capture.buffer import TYPES, Buffer
from hindbrain.journal.append import SEGMENT_BYTES
from hindbrain.journal.read import archives, segment_name, segments


def test_what_is_appended_is_told_per_agent_and_session(tmp_path: Path) -> None:
    clock = ManualClock()
    buffer = Buffer(tmp_path, clock=clock)
    buffer.start("claude-code", "s1")
    clock.advance(1)
    buffer.append("claude-code", "s1", "decision", "use Postgres", detail={"rationale": "joins"})
    buffer.append("claude-code", "s2", "turn", "hello", role="user")
    buffer.append("codex", "s1", "command", "make test")
    found = {(each.agent, each.session): (each.entries, dict(each.types)) for each in buffer.status()}
    assert found == {
        ("claude-code", "s1"): (2, {"session_start": 1, "decision": 1}),
        ("claude-code", "s2"): (1, {"turn": 1}),
        ("codex", "s1"): (1, {"command": 1}),
    }
    assert buffer.sessions() == sorted(found)
    assert [each.session for each in buffer.status(agent="codex")] == ["s1"]
    assert (buffer.has("codex", "s1"), buffer.has("codex", "s2")) == (True, False)
    buffer.close()


def test_every_type_of_a_sessions_context_can_be_kept_and_recovered(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    for kind in TYPES:
        buffer.append("a", "s", kind, f"a {kind}", role="user" if kind == "turn" else None)
    assert [(event.kind, event.text) for event in buffer.recover()] == [(kind, f"a {kind}") for kind in TYPES]
    buffer.close()


APPEND = """
import os, sys
from pathlib import Path
from hindbrain.capture.buffer import Buffer
buffer = Buffer(Path(sys.argv[1]))
for number in range(1000):
    buffer.append("a", "s", "insight", f"number {number}", key=str(number))
    os.write(1, b"%d\\n" % number)
"""


def test_everything_acknowledged_is_recovered_after_a_crash(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", APPEND, str(tmp_path / "home")], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        acknowledged = [process.stdout.readline() for _ in range(25)]
        os.kill(process.pid, signal.SIGKILL)
        acknowledged += process.stdout.readlines()
    told = [int(line) for line in acknowledged if line.endswith(b"\n")]
    buffer = Buffer(tmp_path / "home")
    found = [int(event.key) for event in buffer.recover("a", "s")]
    buffer.close()
    assert len(told) >= 25
    assert set(told) <= set(found)
    assert found == list(range(len(found)))


def test_clear_takes_away_what_is_stored_and_nothing_else(tmp_path: Path) -> None:
    marks: dict[str, int] = {}
    buffer = Buffer(tmp_path, stored=lambda: marks)
    piece = "x" * 190_000
    for number in range(3 * SEGMENT_BYTES // len(piece)):
        buffer.append("a", "s", "custom", piece, key=str(number))
    paths = segments(tmp_path / "journal")
    assert len(paths) >= 3
    assert buffer.clear() == []
    marks[segment_name(paths[0])] = paths[0].stat().st_size
    waiting = sum(each.entries for each in buffer.status())
    assert buffer.clear() == [segment_name(paths[0])]
    assert [segment_name(path) for path in archives(tmp_path / "archive")] == [segment_name(paths[0])]
    assert sum(each.entries for each in buffer.status()) == waiting
    buffer.close()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/abs", "a\nb", "", "ü" * 300, "nul\x00", "\ud800", "con", "."])
def test_names_from_outside_never_become_file_names(tmp_path: Path, name: str) -> None:
    home = tmp_path / "deep" / "home"
    buffer = Buffer(home)
    buffer.append(name, name, "custom", "text", key="k")
    assert [event.text for event in buffer.recover()] == ["text"]
    buffer.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["deep"]
    assert sorted(path.name for path in home.iterdir()) == ["journal"]
    assert len(segments(home / "journal")) == 1


def test_what_is_no_entry_is_refused_with_a_hint(tmp_path: Path) -> None:
    buffer = Buffer(tmp_path)
    with pytest.raises(UsageError, match="not a type"):
        buffer.append("a", "s", "place", "x")
    with pytest.raises(UsageError, match="role"):
        buffer.append("a", "s", "turn", "x")
    with pytest.raises(UsageError, match="role"):
        buffer.append("a", "s", "decision", "x", role="user")
    assert list(buffer.recover()) == []
    buffer.close()
