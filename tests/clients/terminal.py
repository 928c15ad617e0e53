"""A program that wants a terminal -> its screen as text, and keys typed into it.

What the program draws is kept as it came; `shown` takes the control sequences out, which is enough to wait for words. The
program gets a session of its own with the pty as its terminal, and whoever waits always waits for something it shows.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

_CONTROL: Final = re.compile(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]|[\x00-\x09\x0b-\x1f]")
ENTER: Final = b"\r"


class Terminal:
    """One program on one pty."""

    def __init__(self, argv: list[str], environ: Mapping[str, str], cwd: Path) -> None:
        self._ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self.process = subprocess.Popen(
            argv, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(environ), cwd=cwd, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        self.raw = b""

    def shown(self, since: int = 0) -> str:
        """What has been drawn since the mark, without colours and without spaces: a drawn line has gaps of its own."""
        return re.sub(r"\s+", "", _CONTROL.sub(b"", self.raw[since:]).decode("utf-8", "replace"))

    def mark(self) -> int:
        """Where the drawing stands now."""
        return len(self.raw)

    def _draw(self, seconds: float) -> bool:
        """Take in what is drawn within so many seconds; False when nothing was, or the program has gone."""
        if not select.select([self._ours], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self._ours, 1 << 16)
        except OSError:  # the other end is closed: the program has ended
            data = b""
        self.raw += data
        return bool(data)

    def until(self, ready: Callable[[], object], what: str, seconds: float = 60.0) -> None:
        """Draw until it is so."""
        deadline = time.monotonic() + seconds
        while not ready():
            if time.monotonic() > deadline or (not self._draw(0.05) and self.process.poll() is not None):
                raise AssertionError(f"{what}: not seen; the terminal ends with {self.shown()[-1500:]!r}")

    def until_shown(self, words: str, since: int = 0) -> None:
        wanted = re.sub(r"\s+", "", words)
        self.until(lambda: wanted in self.shown(since), words)

    def settle(self, quiet: float = 0.5, at_most: float = 3.0) -> None:
        """Draw until nothing is drawn for a while; not for ever, because a busy program keeps drawing that it is busy."""
        deadline = time.monotonic() + at_most
        while time.monotonic() < deadline and self._draw(quiet):
            pass

    def type(self, text: str) -> None:
        """Type a line and send it, once the editor shows it; keys that come together would be taken for pasted text."""
        since = self.mark()
        self.press(text.encode())
        self.until_shown(text[-20:], since)
        self.settle(0.1)
        self.press(ENTER)

    def press(self, keys: bytes) -> None:
        os.write(self._ours, keys)

    def close(self) -> int:
        """Wait for the end, or make one; the exit code."""
        with contextlib.suppress(AssertionError):
            if self._ours >= 0:
                self.until(lambda: self.process.poll() is not None, "the end", 20)
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        code = self.process.wait(10)
        if self._ours >= 0:
            os.close(self._ours)
            self._ours = -1
        return code
