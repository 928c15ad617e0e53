"""A writer process on a disk -> the list of what it was told is safe, kept on another file system.

The writer says each acknowledged operation as one line of JSON on its standard output. The parent writes the line down
and syncs it before it counts. Only what was read before the cut counts: the kernel lives on after it, where a real
machine would be off, and a sync that is under way just then may return as if it had been done (seen with bare write and
fdatasync on ext4 and xfs). The writer runs in a process namespace of its own, so everything it started ends with it,
also a worker that a hook detached.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

Ack = list[Any]  # what was done, then whatever identifies it

_START_SECONDS: Final = 120.0
_NAMESPACE: Final = ("unshare", "--pid", "--fork", "--kill-child", "--")
_PROGRAMS: Final = Path(__file__).with_name("writers.py")


def program(name: str, *arguments: object) -> list[str]:
    """The command line of a program in writers.py."""
    return [sys.executable, "-I", str(_PROGRAMS), name, *map(str, arguments)]


class Writing:
    """A running writer and what it has said so far."""

    def __init__(self, command: Sequence[str], notes: Path) -> None:
        self.acks: list[Ack] = []
        self._held = b""
        self._ended = False
        self._complaints = notes.with_suffix(".stderr")
        self._notes = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        with self._complaints.open("wb") as stderr:
            self._process = subprocess.Popen(
                [*_NAMESPACE, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr
            )
        assert self._process.stdout is not None
        self._out = self._process.stdout.fileno()
        os.set_blocking(self._out, False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._out, selectors.EVENT_READ)

    def wait_for(self, count: int) -> None:
        """Read until the writer has had `count` operations acknowledged."""
        deadline = time.monotonic() + _START_SECONDS
        while len(self.acks) < count and not self._ended and time.monotonic() < deadline:
            self._read(deadline)
        if len(self.acks) < count:
            raise AssertionError(f"the writer did {len(self.acks)} of {count} operations: {self._said_last()}")

    def listen(self, seconds: float) -> None:
        """Go on reading for a while, to the end of what has been said: the moment of the cut comes when it comes."""
        deadline = time.monotonic() + seconds
        while not self._ended and time.monotonic() < deadline:
            self._read(deadline)
        if not self._ended:
            self._read(deadline)  # one block holds whatever fits into a pipe

    def end(self) -> None:
        """End the writer and all it started, as the cut would. What it had still to say does not count.

        The first process of a namespace is gone only when all others in it are, and `unshare` waits for it: after this
        nobody is left to write to the mount point.
        """
        for pid in _children(self._process.pid) or [self._process.pid]:
            with contextlib.suppress(ProcessLookupError):  # it ended by itself
                os.kill(pid, signal.SIGKILL)
        self._process.wait()

    def _said_last(self) -> str:
        return self._complaints.read_text("utf-8", "replace")[-4000:]

    def _read(self, deadline: float) -> None:
        """Take what the writer has said, waiting for it until the deadline."""
        if not self._selector.select(max(0.0, deadline - time.monotonic())):
            return
        block = os.read(self._out, 1 << 20)
        self._ended = not block
        *lines, self._held = (self._held + block).split(b"\n")
        if lines:
            os.write(self._notes, b"".join(line + b"\n" for line in lines))
            os.fsync(self._notes)
            self.acks += [json.loads(line) for line in lines]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._selector.close()
        assert self._process.stdout is not None
        self._process.stdout.close()
        os.close(self._notes)


def _children(pid: int) -> list[int]:
    try:
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []
