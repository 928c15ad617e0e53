"""A home in a temporary directory -> hook calls as an agent makes them, each judged and recorded.

The hook is the installed one: the launcher that `install_launcher` wrote, run by its own command line with the payload on
stdin. It is installed once; HINDBRAIN_HOME gives each test a home of its own. Nothing is kept from a real worker's way: the
test holds the read end of the wake pipe, which is all that a hook can see of one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from hindbrain.capture.launcher import install_launcher
from hindbrain.journal import losses
from tests.crash.history import Ended, History, Kept, read_journal
from tests.crash.strace import Ran, run_plain

NOT_COUNTED: Final = b"could not be counted"
Run = Callable[[list[str], bytes, Mapping[str, str]], Ran]


def payload(key: str, size: int = 200, secret: bytes = b"") -> bytes:
    """What an agent sends after a tool call, of about this size, with a key by which the history knows it."""
    text = {"session_id": "s-1", "hook_event_name": "PostToolUse", "tool_name": "Bash", "note": f"|{key}|", "tool_response": ""}
    room = size - len(json.dumps(text)) - len(secret)
    words = "the quick brown fox jumps over the lazy dog " * (max(room, 0) // 44 + 1)
    text["tool_response"] = words[: max(room, 0)] + secret.decode()
    return json.dumps(text).encode()


def token() -> bytes:
    """A secret by the look of it; put together here, so that no scanner takes this file for a leak."""
    return b"gh" + b"p_" + b"aB3dE6gH9j" * 3 + b"xYzXyZ"


def stored(data: bytes) -> bytes:
    """What the journal holds of a payload in which there is a secret."""
    from hindbrain.base.redact import redact

    return redact(data).data


class Agent:
    """Calls the hook and keeps the history of what came of it."""

    def __init__(self, root: Path, installed: list[str], name: str = "home") -> None:
        self.home = root / name
        self.user = root / f"{name}-user"
        self.user.mkdir(mode=0o700, exist_ok=True)
        self.argv = [*installed, "claude-code"]
        self.environ = {"PATH": "/usr/bin:/bin", "HOME": str(self.user), "HINDBRAIN_HOME": str(self.home)}
        self.history = History()

    def prepare(self) -> Agent:
        """A home as the installer leaves it."""
        self.home.mkdir(mode=0o700)
        losses.prepare(os.fsencode(self.home))
        return self

    def losses(self) -> int:
        environ = {os.fsencode(name): os.fsencode(value) for name, value in self.environ.items()}
        return losses.read(os.fsencode(self.home), environ).count

    def call(self, key: str, data: bytes, run: Run = run_plain, *, expected: bytes | None = None) -> Ran:
        """One hook call; what it answered goes into the history. `expected`: what is stored, where that differs."""
        before = self.losses()
        ran = run(self.argv, data, self.environ)
        self.history.add(key, data if expected is None else expected, judged(ran, self.losses() - before))
        return ran

    def kept(self) -> Kept:
        return read_journal(self.home)

    def problems(self) -> list[str]:
        return self.history.problems(self.kept())


def judged(ran: Ran, counted: int) -> Ended:
    """What a call's end says about its event; fails where the agent would have noticed anything."""
    if ran.code < 0:
        return Ended.CUT_OFF
    if ran.code != 0 or ran.stdout:
        raise AssertionError(f"the agent notices: code {ran.code}, stdout {ran.stdout[:200]!r}, stderr {ran.stderr[-2000:]!r}")
    return Ended.REPORTED if counted > 0 or NOT_COUNTED in ran.stderr else Ended.ACKNOWLEDGED


@cache
def installed(where: Path) -> list[str]:
    """The hook's command line, installed once per test run."""
    return install_launcher(where)


@contextlib.contextmanager
def no_worker_started(home: Path) -> Iterator[None]:
    """No worker, and none is started: the test holds the lock of the one who is starting it."""
    stamp = os.open(home / "worker.start", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(stamp, fcntl.LOCK_EX)
    try:
        yield
    finally:
        os.close(stamp)


@contextlib.contextmanager
def worker_or_none(home: Path) -> Iterator[None]:
    """A live worker, and none started by a call that fails to see it."""
    with worker_seen(home), no_worker_started(home):
        yield


@contextlib.contextmanager
def worker_seen(home: Path) -> Iterator[int]:
    """What a hook sees of a live worker: a pipe that somebody reads. Hands over the read end."""
    home.mkdir(mode=0o700, exist_ok=True)
    os.mkfifo(home / "wake", 0o600)
    reader = os.open(home / "wake", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        yield reader
    finally:
        os.close(reader)
        with contextlib.suppress(FileNotFoundError):
            (home / "wake").unlink()
