"""Whatever is put into the hook's stdin or arguments: exit 0, nothing printed, the bytes kept or counted (P2, P3)."""

from __future__ import annotations

import os
import subprocess

import pytest

from hindbrain.capture.hook import KEEP_BYTES
from hindbrain.journal.line import Line
from hindbrain.journal.read import Record, read_segment, segments
from tests.crash.agent import NOT_COUNTED, Agent, payload, stored, token, worker_seen
from tests.crash.strace import Ran, run_plain

SECONDS = 30


def lines_of(agent: Agent) -> list[Line]:
    found = []
    for path in segments(agent.home / "journal"):
        for item in read_segment(path, final=True):
            assert isinstance(item, Record)
            found.append(item.line)
    return found


def given(agent: Agent, data: bytes, argv: list[str | bytes] | None = None, **environ: str) -> Ran:
    with worker_seen(agent.home):
        ran = run_plain(argv or agent.argv, data, agent.environ | environ)  # type: ignore[arg-type]
    assert (ran.code, ran.stdout) == (0, b"")
    return ran


def kept(agent: Agent, data: bytes) -> Line:
    """The one line that came of it."""
    given(agent, data)
    [line] = lines_of(agent)
    assert agent.losses() == 0
    return line


NESTED = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
ODD = {
    "nothing": b"", "one newline": b"\n", "not JSON": b"hello there", "a number": b"17", "null": b"null", "a list": b"[1, 2]",
    "wrong types": b'{"session_id": 7, "hook_event_name": ["x"], "tool_input": "y"}',
    "half an object": b'{"session_id": "s", "to',
    "deep nesting": NESTED, "lone surrogates": b'{"prompt": "\\ud800 \\udfff"}',
    "NUL bytes": b'{"prompt": "a\x00b"}\x00\x00',
    "invalid UTF-8": b'{"prompt": "\xff\xfe\xc3"}', "a byte order mark": b'\xef\xbb\xbf{"prompt": "x"}',
    "CR": b'{"prompt":\r"x"}',
    "newlines inside": b'{\n "prompt": "x"\n,\n "y": "100%0A"}', "what a line looks like": b"x\nH1 00000000 4 hook a 1 - \n\nH1 ",
    "an unknown event": b'{"hook_event_name": "NeverHeardOf", "session_id": "../../etc"}',
    "a huge integer": b'{"n": ' + b"9" * 9000 + b"}",
    "paths": b'{"transcript_path": "/proc/self/mem", "cwd": "/dev/zero", "session_id": "a/../../b"}',
    "duplicate keys": b'{"a": 1, "a": 2}', "NaN": b'{"a": NaN}', "control characters": bytes(range(32)) + b"\x7f\x9b[2J",
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_any_input_is_kept_as_it_came(agent: Agent, name: str) -> None:
    line = kept(agent, ODD[name])
    assert line.payload == ODD[name].rstrip(b"\r\n")
    assert line.meta.keys() <= {"v", "d"}
    assert line.agent == "claude-code"


def test_a_payload_far_too_large_is_kept_in_part_and_says_so(agent: Agent) -> None:
    head = b'{"session_id": "s-1", "tool_response": "'
    tail = b'", "hook_event_name": "PostToolUse", "tool_use_id": "toolu_01xyz"}'
    data = head + b"some words here " * (60 * (1 << 20) // 16) + tail
    line = kept(agent, data)
    assert KEEP_BYTES - 4096 <= len(line.payload) <= KEEP_BYTES
    assert data.startswith(line.payload)
    if "slow" not in line.meta:  # a machine too busy to hand over 60 MB in time stops earlier, and says that instead
        assert line.meta == {"v": "2", "cut": str(len(data) - len(line.payload)), "t": "toolu_01xyz", "e": "PostToolUse"}


def test_a_large_payload_is_not_cut_inside_a_secret(agent: Agent) -> None:
    for before in (5, 20, 39):
        data = (b'{"x": "' + b"word " * KEEP_BYTES)[: KEEP_BYTES - before - 1] + b" " + token() + b' and more"}' + b" " * 5000
        given(agent, data)
    assert len(lines_of(agent)) == 3
    for line in lines_of(agent):
        assert token()[:10] not in line.payload


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_payload_of_exactly_the_limit_is_whole(agent: Agent, end: bytes) -> None:
    data = b'"' + b"x" * (KEEP_BYTES - 2) + b'"'
    line = kept(agent, data + end)
    assert (line.payload, line.meta) == (data, {"v": "2"})


@pytest.mark.parametrize("size", [KEEP_BYTES + 1, KEEP_BYTES + 65536, 2 * KEEP_BYTES])
def test_a_payload_just_over_the_limit_says_that_it_was_cut(agent: Agent, size: int) -> None:
    data = b'{"x": "' + b"x" * (size - 9) + b'"}'
    line = kept(agent, data)
    assert line.payload == data[: len(line.payload)]
    assert line.meta == {"v": "2", "cut": str(size - len(line.payload))}


AGENTS = {
    "a way out": b"../../x", "very long": b"a" * 10_000, "a newline": b"claude\ncode", "spaces and signs": b"a b&c=d%e",
    "odd bytes": b"\xff\xfe\x01\x7f", "empty": b"", "a dash": b"-", "an option": b"--help",
}  # fmt: skip


@pytest.mark.parametrize("name", AGENTS)
def test_any_agent_name_is_text_and_nothing_else(agent: Agent, name: str) -> None:
    before = {path for path in agent.home.parent.rglob("*") if agent.home not in path.parents}
    argv: list[str | bytes] = [*agent.argv[:-1], AGENTS[name]]
    given(agent, b'{"a": 1}', argv)
    [line] = lines_of(agent)
    assert line.agent == AGENTS[name][:64].decode("utf-8", "replace")
    assert line.payload == b'{"a": 1}'
    assert {path for path in agent.home.parent.rglob("*") if agent.home not in path.parents} == before


def test_a_call_without_an_agent_name_is_kept(agent: Agent) -> None:
    given(agent, b"{}", list(agent.argv[:-1]))
    assert [line.agent for line in lines_of(agent)] == ["unknown"]


@pytest.mark.parametrize("data", [b"", b'{"prompt": "complete"}', b'{"prompt": "not compl', b'{"prompt": "a ' + token()[:20]])
def test_stdin_that_never_closes_does_not_hold_the_agent(agent: Agent, data: bytes) -> None:
    with worker_seen(agent.home):
        pipe = subprocess.PIPE
        process = subprocess.Popen(agent.argv, stdin=pipe, stdout=pipe, stderr=pipe, env=agent.environ)
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(data)
        process.stdin.flush()
        assert process.wait(SECONDS) == 0
        said = process.stdout.read(), process.stderr.read()
        process.stdin.close()
        process.stdout.close()
        process.stderr.close()
    assert said == (b"", b"")
    [line] = lines_of(agent)
    assert line.meta == {"v": "2", "slow": "1"}
    # a word that is not at its end yet may be half a secret, which no rule knows
    whole = data if data.endswith(b"}") or not data else data[: max(data.rfind(b'"'), data.rfind(b" "))]
    assert line.payload == whole
    assert agent.losses() == 0


def test_a_secret_never_reaches_the_disk(agent: Agent) -> None:
    data = payload("s", 3000, b" token " + token())
    given(agent, data)
    [line] = lines_of(agent)
    assert line.payload == stored(data) != data
    assert "r" in line.meta
    assert not [path for path in agent.home.rglob("*") if path.is_file() and token() in path.read_bytes()]


def test_the_folder_of_settings_goes_along(agent: Agent) -> None:
    given(agent, b"{}", CLAUDE_CONFIG_DIR="/home/ada/my settings\n")
    assert [line.meta for line in lines_of(agent)] == [{"v": "2", "d": "/home/ada/my settings\n"}]


def test_a_process_that_we_started_ourselves_is_not_observed(agent: Agent) -> None:
    given(agent, b'{"prompt": "x"}', HINDBRAIN_GUARD="worker")
    assert not (agent.home / "journal").exists()
    assert agent.losses() == 0


def test_stdin_that_cannot_be_read_is_a_counted_loss(agent: Agent) -> None:
    unreadable = os.open(os.devnull, os.O_WRONLY)
    with worker_seen(agent.home):
        done = subprocess.run(agent.argv, stdin=unreadable, capture_output=True, env=agent.environ, timeout=SECONDS, check=False)
    os.close(unreadable)
    assert (done.returncode, done.stdout) == (0, b"")
    assert agent.losses() == 1 and NOT_COUNTED not in done.stderr
