"""A hook that may answer: the event is kept first, then the best source answers in time, in the one form or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
import subprocess
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.hook import STOP_SECONDS
from hindbrain.capture.launcher import install_launcher
from hindbrain.journal.read import Record, read_segment, segments
from hindbrain.serve import answer
from hindbrain.serve.asking import Asking
from tests.crash.agent import no_worker_started
from tests.recall.homes import Said, context_of, payload, tell

QUESTION = "which colour has the marmoset cage"
FACT = "the marmoset cage is turquoise, a fine colour"


class Agent:
    """Calls the installed hook with an event as an agent does; no worker is started by it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.argv = install_launcher(home)
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent)}

    def call(self, event: str, data: dict[str, str] | bytes, *argv: str) -> bytes:
        """What the hook printed. It never fails, and what it was handed is in the journal."""
        raw = data if isinstance(data, bytes) else json.dumps(data).encode()
        with no_worker_started(self.home):
            ran = subprocess.run(
                [*self.argv, *(argv or ("claude-code", event))], input=raw, capture_output=True, env=self.environ, timeout=60,
                check=False,
            )  # fmt: skip
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert raw in self.kept()
        return ran.stdout

    def prompted(self, session: str = "asks") -> str:
        call = payload("UserPromptSubmit", "/p/one", QUESTION, session=session)
        return context_of(self.call("UserPromptSubmit", call), "UserPromptSubmit")

    def started(self, cwd: str = "/p/one") -> str:
        return context_of(self.call("SessionStart", payload("SessionStart", cwd)), "SessionStart")

    def kept(self) -> list[bytes]:
        """The payloads in the journal."""
        items = [item for path in segments(self.home / "journal") for item in read_segment(path)]
        return [item.line.payload for item in items if isinstance(item, Record)]


@pytest.fixture
def agent(home: Path) -> Agent:
    """An agent in whose home something was said."""
    with Memory.open(home=home) as memory:
        tell(memory, [FACT, Said("unrelated", session="s2")])
    return Agent(home)


@contextlib.contextmanager
def answering(home: Path) -> Iterator[Asking]:
    """The worker's own part that answers."""
    asking = Asking(Home(home), SystemClock())
    assert asking.open()
    asking.start()
    try:
        yield asking
    finally:
        asking.close()


@contextlib.contextmanager
def listener(home: Path, reply: Callable[[socket.socket], None]) -> Iterator[None]:
    """Something else on the worker's socket."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(os.fsencode(home / "ask"))
    server.listen(8)
    held: list[socket.socket] = []

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                peer, _ = server.accept()
                held.append(peer)
                with contextlib.suppress(OSError):
                    reply(peer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)
        server.close()
        for peer in held:
            peer.close()
        thread.join(timeout=10)
        (home / "ask").unlink(missing_ok=True)


def saying(data: bytes) -> Callable[[socket.socket], None]:
    """Answer with these bytes, whatever was asked, and end."""

    def reply(peer: socket.socket) -> None:
        peer.settimeout(5)
        with contextlib.suppress(OSError):
            peer.recv(65536)
            peer.sendall(data)
        peer.close()

    return reply


def test_the_answer_has_the_one_form_the_agent_takes(agent: Agent) -> None:
    said = agent.call("UserPromptSubmit", payload("UserPromptSubmit", "/p/one", QUESTION))
    shape = json.loads(said)
    assert list(shape) == ["hookSpecificOutput"]
    assert list(shape["hookSpecificOutput"]) == ["hookEventName", "additionalContext"]
    assert shape["hookSpecificOutput"]["hookEventName"] == "UserPromptSubmit"
    assert FACT in shape["hookSpecificOutput"]["additionalContext"]


@pytest.mark.parametrize("argv", [
    ("claude-code",), ("claude-code", "PostToolUse"), ("claude-code", "Stop"), ("claude-code", ""),
    ("claude-code", "sessionstart"),
    ("claude-code", "SessionStart "), ("codex", "UserPromptSubmit"), ("", "SessionStart"), ("claude-code", "\x01"),
    ("claude-code", "PreToolUse", "UserPromptSubmit"),
])  # fmt: skip
def test_nothing_is_printed_at_any_other_event_or_for_another_agent(agent: Agent, argv: tuple[str, ...]) -> None:
    assert agent.call("", payload("UserPromptSubmit", "/p/one", QUESTION), *argv) == b""


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "SubagentStart"])
@pytest.mark.parametrize("data", [
    b"", b"{", b"null", b"[]", b'"text"', b"{}", b"\xff\xfe", b"{" * 5000,
    b'{"cwd": 5, "prompt": ["marmoset cage"], "session_id": {}}',
    b'{"cwd":"/p/one","session_id":"\\ud800","prompt":"marmoset \\ud800 cage colour"}', b'{"prompt":"unfinished', b'{"cwd":"\\',
], ids=lambda data: ascii(data)[:20])  # fmt: skip
def test_a_payload_that_is_none_is_kept_and_answered_in_the_form_or_not(agent: Agent, event: str, data: bytes) -> None:
    raw = data.rstrip(b"\r\n")
    context_of(agent.call(event, raw), event)


def test_the_worker_is_asked_first(agent: Agent) -> None:
    with answering(agent.home) as asking:
        assert FACT in agent.prompted()
        assert asking.told.get(timeout=10)[1]  # it was this worker that told it


def test_without_a_worker_the_ledger_is_asked(agent: Agent) -> None:
    assert not (agent.home / "ask").exists()
    assert FACT in agent.prompted()


def test_without_a_ledger_a_session_start_gets_the_block_prepared_last(agent: Agent) -> None:
    with answering(agent.home):
        said = agent.started()
    (agent.home / "ledger.db").unlink()
    assert FACT in said and agent.started() == said
    assert agent.started("/p/elsewhere") == ""
    assert agent.prompted() == ""


def test_without_anything_there_is_silence(home: Path) -> None:
    agent = Agent(home)
    assert agent.started() == "" and agent.prompted() == ""


def garbage(ledger: Path) -> None:
    ledger.write_bytes(os.urandom(8192))


def cut_off(ledger: Path) -> None:
    os.truncate(ledger, 5000)


def empty(ledger: Path) -> None:
    ledger.write_bytes(b"")


def pipe(ledger: Path) -> None:
    ledger.unlink()
    os.mkfifo(ledger)


def folder(ledger: Path) -> None:
    ledger.unlink()
    ledger.mkdir()


def another_schema(ledger: Path) -> None:
    ledger.unlink()
    connection = sqlite3.connect(ledger)
    connection.execute("CREATE TABLE turns (x)")
    connection.close()


@pytest.mark.parametrize("spoil", [garbage, cut_off, empty, pipe, folder, another_schema])
def test_a_spoiled_ledger_costs_the_answer_and_nothing_else(agent: Agent, spoil: Callable[[Path], None]) -> None:
    spoil(agent.home / "ledger.db")
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (agent.home / name).unlink(missing_ok=True)
    assert agent.prompted() == "" and agent.started() == ""


@pytest.mark.parametrize("plant", ["pipe", "file", "folder", "dangling link", "dead socket"])
def test_something_else_in_the_sockets_place_leads_to_the_ledger(agent: Agent, plant: str) -> None:
    path = agent.home / "ask"
    match plant:
        case "pipe":
            os.mkfifo(path)
        case "file":
            path.write_text("hello\n")
        case "folder":
            path.mkdir()
        case "dangling link":
            path.symlink_to("nowhere")
        case "dead socket":
            server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            server.bind(os.fsencode(path))
            server.close()
    assert FACT in agent.prompted()


GOOD = answer.shaped("UserPromptSubmit", "block")
REPLIES = {
    "never": lambda peer: None, "closes": lambda peer: peer.close(), "half": saying(GOOD[:40]), "without its end": saying(GOOD),
    "garbage": saying(os.urandom(5000) + b"\n"), "text": saying(b"hello agent\n"),
    "another form": saying(b'{"continue":false}\n'),
    "another event": saying(answer.shaped("SessionStart", "block") + b"\n"), "two answers": saying(GOOD + GOOD + b"\n"),
    "more behind": saying(GOOD[:-2] + b',"decision":"block"}}\n'), "ten megabytes": saying(b"x" * (10 << 20) + b"\n"),
    "a large answer": saying(answer.shaped("UserPromptSubmit", "x" * (10 << 20)) + b"\n"),
    "a control character": saying(GOOD.replace(b"block", b"bl\nck") + b"\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLIES)
def test_a_worker_that_answers_badly_or_not_at_all_leads_to_the_ledger(agent: Agent, name: str) -> None:
    with listener(agent.home, REPLIES[name]):
        said = agent.prompted()
    assert FACT in said


def test_the_check_would_notice_a_listener_nobody_asks(agent: Agent) -> None:
    with listener(agent.home, saying(GOOD + b"\n")):
        assert agent.prompted() == "block"
    with listener(agent.home, saying(b"\n")):
        assert agent.prompted() == ""


def test_a_worker_that_never_ends_its_answer_is_waited_for_no_longer(agent: Agent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked in this process with a long deadline, the hook waits it out and no longer: then the ledger answers."""
    monkeypatch.setattr(answer, "DEADLINE_SECONDS", 1.5)
    call = json.dumps(payload("UserPromptSubmit", "/p/one", QUESTION)).encode()

    def drips(peer: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                peer.sendall(b"x")
                time.sleep(0.01)  # the peer under test is a slow one; nothing is waited for here

    with listener(agent.home, drips):
        began = time.monotonic()
        said = answer.answer(os.fsencode(agent.home), "claude-code", "UserPromptSubmit", call)
        assert time.monotonic() - began >= 1.5
    assert FACT in context_of(said, "UserPromptSubmit")


def test_all_sources_together_are_waited_for_less_than_the_hook_may_take() -> None:
    assert answer.DEADLINE_SECONDS + answer._LEDGER_SECONDS < STOP_SECONDS


SHAPED = answer.shaped("SessionStart", "block")


@pytest.mark.parametrize("data", [
    b"", b"garbage", bytes(range(256)), b"/p/one\0garbage", b"/p/one\0" + SHAPED[:-1], b"/p/two\0" + SHAPED, SHAPED,
    b"/p/one\0" + SHAPED + b"x",
    b"/p/one\0" + answer.shaped("UserPromptSubmit", "x"), b"/p/one\0" + SHAPED.replace(b"block", b"bl\xffck"),
    b"/p/one\0" + b"x" * (1 << 20),
], ids=lambda data: ascii(data)[:24])  # fmt: skip
def test_a_hostile_prepared_block_is_not_printed(home: Path, data: bytes) -> None:
    agent = Agent(home)
    prepared = home / "prepared" / f"{zlib.crc32(b'/p/one'):08x}"
    prepared.parent.mkdir(mode=0o700)
    prepared.write_bytes(data)
    assert agent.started() == ""
    prepared.write_bytes(b"/p/one\0" + SHAPED)  # the control: a good one is
    assert agent.started() == "block"


@pytest.mark.parametrize("plant", ["pipe", "link", "folder"])
def test_something_else_in_a_prepared_blocks_place_is_not_read(home: Path, plant: str) -> None:
    agent = Agent(home)
    prepared = home / "prepared" / f"{zlib.crc32(b'/p/one'):08x}"
    prepared.parent.mkdir(mode=0o700)
    if plant == "pipe":
        os.mkfifo(prepared)
    elif plant == "folder":
        prepared.mkdir()
    else:
        (home / "victim").write_bytes(b"/p/one\0" + SHAPED)
        prepared.symlink_to(home / "victim")
    assert agent.started() == ""


def test_an_answer_module_that_cannot_be_loaded_costs_nothing_but_the_answer(agent: Agent, tmp_path: Path) -> None:
    launcher = agent.home / "hook.py"
    launcher.write_text(launcher.read_text().replace("hindbrain.serve.answer", "hindbrain.serve.no_such_module"))
    assert agent.prompted() == ""


def test_a_closed_stdout_costs_nothing_but_the_answer(agent: Agent) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    data = json.dumps(payload("UserPromptSubmit", "/p/one", QUESTION)).encode()
    try:
        with no_worker_started(agent.home):
            ran = subprocess.run(
                [*agent.argv, "claude-code", "UserPromptSubmit"], input=data, stdout=writer, stderr=subprocess.PIPE,
                env=agent.environ,
                timeout=60, check=False,
            )  # fmt: skip
    finally:
        os.close(writer)
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert data in agent.kept()
