"""The worker's socket: only this user reaches it, and no question, however made, ends or blocks the worker."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import stat
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.hook import wake
from hindbrain.capture.launcher import install_launcher
from hindbrain.journal import losses
from hindbrain.journal.read import Record, archives, read_archive, read_segment, segments
from hindbrain.serve import daemon
from hindbrain.serve.asking import Asking
from tests.crash.agent import no_worker_started
from tests.recall.homes import context_of, payload, tell
from tests.serve.installed import until

QUESTION = "which colour has the marmoset cage"
FACT = "the marmoset cage is turquoise, a fine colour"


@pytest.fixture
def filled(home: Path) -> Path:
    with Memory.open(home=home) as memory:
        tell(memory, [FACT])
    return home


@pytest.fixture
def asking(filled: Path) -> Iterator[Asking]:
    asking = Asking(Home(filled), SystemClock())
    assert asking.open()
    asking.start()
    yield asking
    asking.close()


def _connected(peer: socket.socket, home: Path) -> bool:
    try:
        peer.connect(os.fsencode(home / "ask"))
    except BlockingIOError:  # as many as may wait are waiting; a hook asks the ledger then
        return False
    return True


def asked(home: Path, data: bytes, *, end: bool = False) -> bytes:
    """What the socket says to these bytes; "" when it hangs up."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.settimeout(30)
        until(lambda: _connected(peer, home), "a place in the queue")
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            peer.sendall(data)
            if end:
                peer.shutdown(socket.SHUT_WR)
        found = b""
        with contextlib.suppress(ConnectionResetError):
            while piece := peer.recv(65536):
                found += piece
        return found


def question(session: str, event: str = "UserPromptSubmit") -> bytes:
    body = json.dumps(payload(event, "/p/one", QUESTION, session=session)).encode()
    return b"%s %d\n%s" % (event.encode(), len(body), body)


def answers(home: Path, session: str) -> bool:
    said = asked(home, question(session))
    return said.endswith(b"\n") and FACT in context_of(said[:-1], "UserPromptSubmit")


def test_only_the_user_can_reach_the_socket(asking: Asking, home: Path) -> None:
    found = (home / "ask").lstat()
    assert stat.S_ISSOCK(found.st_mode) and stat.S_IMODE(found.st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_a_socket_left_by_a_killed_worker_is_replaced_and_taken_away_in_the_end(filled: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(os.fsencode(filled / "ask"))
    asking = Asking(Home(filled), SystemClock())
    assert asking.open()
    asking.start()
    assert answers(filled, "x")
    asking.close()
    assert not (filled / "ask").exists() and not asking.is_alive()


def test_a_home_with_a_long_path_does_without_a_socket(tmp_path: Path) -> None:
    home = tmp_path / ("long" * 40)
    with Memory.open(home=home) as memory:
        tell(memory, [FACT])
    asking = Asking(Home(home), SystemClock())
    assert not asking.open()
    asking.close()


HOSTILE = {
    "nothing": b"", "a line end": b"\n", "another event": b"PostToolUse 2\n{}", "no event": b" 2\n{}",
    "no size": b"SessionStart\n{}",
    "a negative size": b"SessionStart -5\n{}", "a huge size": b"SessionStart 99999999999\n{}",
    "an endless size": b"SessionStart " + b"9" * 5000 + b"\n",
    "half a question": question("x")[:60], "half a head": b"SessionSt", "no JSON": b"SessionStart 4\nabcd",
    "a list": b"SessionStart 2\n[]",
    "deep nesting": b"SessionStart 200000\n" + b"[" * 200_000, "deep objects": b'SessionStart 600000\n' + b'{"a":' * 120_000,
    "a head without end": b"A" * 100_000, "zeros": b"\x00" * 1000, "other bytes": bytes(range(256)) * 8,
    "bad UTF-8": b'SessionStart 13\n{"cwd":"\xff\xfe"}',
    "other digits": "SessionStart ²\n{}".encode(), "a large question": b"UserPromptSubmit 2097152\n" + b" " * 2_097_152,
    "surrogates": b'UserPromptSubmit 44\n{"cwd":"\\ud800","session_id":"\\udfff","x":1 }',
    "wrong types": b'UserPromptSubmit 40\n{"cwd":[1],"session_id":{},"prompt":12345}',
    "a NUL in a path": b'SessionStart 24\n{"cwd":"/p/one\\u0000/../"}',
    "more than announced": b"SessionStart 2\n{}" + b"x" * 70_000,
    "a path as long as a book": b"SessionStart 300010\n" + b'{"cwd":"' + b"/a" * 150_000 + b'"}',
}  # fmt: skip


def test_no_question_ends_the_worker(asking: Asking, home: Path) -> None:
    for name, data in HOSTILE.items():
        asked(home, data, end=True)
        assert asking.is_alive(), name
        assert answers(home, name), name


def test_a_peer_that_never_ends_its_question_is_hung_up_on(asking: Asking, home: Path) -> None:
    """It goes on sending a byte now and then, so that only the time for the whole question can end it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        peer.connect(os.fsencode(home / "ask"))
        peer.sendall(b"SessionStart 1000000\n{")

        def hung_up() -> bool:
            try:
                peer.sendall(b" ")
            except OSError:
                return True
            return False

        until(hung_up, "the worker to give up")
    assert answers(home, "after")


def test_a_hundred_peers_at_once_are_served_and_the_worker_lives(asking: Asking, home: Path) -> None:
    names, found = list(HOSTILE), dict[int, bool]()

    def one(number: int) -> None:
        if number % 2:
            found[number] = asked(home, HOSTILE[names[number % len(names)]], end=True) is not None
        else:
            found[number] = answers(home, f"session {number}")

    threads = [threading.Thread(target=one, args=(number,)) for number in range(100)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert all(found.get(number, False) for number in range(100))
    assert asking.is_alive() and answers(home, "after all")


def test_a_worker_that_can_answer_no_more_takes_its_socket_away(asking: Asking, home: Path) -> None:
    """Hooks would otherwise wait out the deadline at every call for an answer that cannot come."""
    with Memory.open(home=home) as memory:
        memory.settle()
    os.truncate(home / "ledger.db", 0)
    with open(home / "ledger.db", "wb") as ledger:
        ledger.write(b"garbage " * 10_000)
    for name in ("ledger.db-wal", "ledger.db-shm"):
        (home / name).unlink(missing_ok=True)

    def gone() -> bool:
        with contextlib.suppress(OSError):
            asked(home, question("x"))
        return not (home / "ask").exists() and not asking.is_alive()

    until(gone, "the socket to go")


def fired(home: Path, number: int, event: str = "UserPromptSubmit") -> list[tuple[bytes, bytes]]:
    """So many hooks at the same moment, each with a session of its own: what each was handed and what it printed."""
    argv = [*install_launcher(home), "claude-code", event]
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(home.parent)}
    running = []
    for each in range(number):
        data = json.dumps(payload(event, "/p/one", QUESTION, session=f"at once {each}")).encode()
        with tempfile.TemporaryFile(dir=home.parent) as file:
            file.write(data)
            file.seek(0)
            process = subprocess.Popen(argv, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)
            running.append((data, process))
    found = []
    for data, process in running:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, err) == (0, b"")
        found.append((data, out))
    return found


def kept(home: Path) -> set[bytes]:
    items = [item for path in archives(home / "archive") for item in read_archive(path)]
    items += [item for path in segments(home / "journal") for item in read_segment(path)]
    return {item.line.payload for item in items if isinstance(item, Record)}


def all_kept_and_answered_well(home: Path, found: list[tuple[bytes, bytes]], event: str = "UserPromptSubmit") -> int:
    """How many were told something; fails if an event is missing or an answer is not of the one form."""
    texts = [context_of(out, event) for _, out in found]
    assert {data for data, _ in found} <= kept(home)
    assert losses.read(os.fsencode(home), {}).count == 0
    assert all(text == "" or "marmoset cage" in text for text in texts)
    return sum(text != "" for text in texts)


def test_a_hundred_hooks_at_once_without_a_worker(filled: Path) -> None:
    with no_worker_started(filled):
        found = fired(filled, 100)
    assert all_kept_and_answered_well(filled, found) > 0


@pytest.fixture
def worker(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """A real worker, started as a hook starts it; the home fixture stops it."""
    monkeypatch.setenv("HOME", str(tmp_path))
    wake(os.fsencode(filled))
    pid = until(lambda: lock_holder(Home(filled).worker_lock), "a worker")
    until(lambda: _is_listening(filled), "its socket")
    return pid


def _is_listening(home: Path) -> bool:
    """The file is there a moment before anybody listens."""
    not_yet = FileNotFoundError, ConnectionRefusedError
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer, contextlib.suppress(*not_yet):
        peer.connect(os.fsencode(home / "ask"))
        return True
    return False


def test_a_hundred_hooks_at_once_with_a_worker(filled: Path, worker: int) -> None:
    found = fired(filled, 100)
    assert all_kept_and_answered_well(filled, found) > 0
    assert lock_holder(Home(filled).worker_lock) == worker
    assert answers(filled, "after all")


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("up", [True, False])
def test_a_hundred_hooks_at_once_many_times_over(filled: Path, request: pytest.FixtureRequest, up: bool) -> None:
    if up:
        request.getfixturevalue("worker")
    with contextlib.nullcontext() if up else no_worker_started(filled):
        for _ in range(5):
            all_kept_and_answered_well(filled, fired(filled, 100))


@pytest.mark.parametrize("name", list(HOSTILE)[::6])
def test_the_real_worker_survives_a_hostile_question(filled: Path, worker: int, name: str) -> None:
    asked(filled, HOSTILE[name], end=True)
    assert answers(filled, "x")
    assert lock_holder(Home(filled).worker_lock) == worker


def test_a_worker_that_leaves_takes_its_socket_along(filled: Path, worker: int) -> None:
    assert daemon.stop(filled) == worker
    assert not (filled / "ask").exists()
