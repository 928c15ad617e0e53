"""A home with the hook installed, and what a user can do with it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve import status

Found = TypeVar("Found")


def until(ready: Callable[[], Found | None], what: str, seconds: float = 90.0) -> Found:
    """What `ready` gives once it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := ready():
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds:g} s in vain for {what}")


@dataclass(frozen=True)
class Installed:
    """A home with the hook installed, and the commands a user has."""

    home: Home
    hook: list[str]
    environ: Mapping[str, str]

    def fire(self, payload: Mapping[str, object] | bytes, agent: str = "claude-code") -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        argv = [*self.hook, agent]
        ran = subprocess.run(argv, input=data, capture_output=True, env=dict(self.environ), timeout=60, check=False)
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", "hindbrain", "--home", str(self.home.root), *arguments]
        return subprocess.run(argv, capture_output=True, text=True, env=dict(self.environ), timeout=120, check=False)

    def look(self) -> status.Status:
        return status.look(self.home, SystemClock())

    def settled(self, lines: int) -> status.Status:
        """The status once at least `lines` lines are stored and none waits."""

        def ready() -> status.Status | None:
            seen = self.look()
            return seen if seen.stored.lines >= lines and seen.lag.lines == 0 else None

        return until(ready, f"{lines} lines to be stored")


def prompt(session: str, number: int, text: str, **more: object) -> dict[str, object]:
    """A UserPromptSubmit payload."""
    return {
        "session_id": session, "transcript_path": f"/nonexistent/{session}.jsonl", "cwd": "/nonexistent/project",
        "hook_event_name": "UserPromptSubmit", "prompt_id": f"p{number}", "prompt": text, **more,
    }  # fmt: skip
