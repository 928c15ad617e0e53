"""A throw-away home -> the promise shown: events sent by separate processes, a worker killed half-way, nothing missing.

Nothing of the user's is touched. The home is made in a temporary directory, the hook is the installed one, the worker a real
process, the kill a real SIGKILL; at the end all of it is gone.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import lock_holder
from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon
from hindbrain.serve.status import look

_WAIT_SECONDS: Final = 30.0
# put together here, so that no file of this package holds a text that looks like a key
SECRET: Final = "gh" + "p_" + "k9Zt" * 9

Say = Callable[[str], None]


def run(say: Say) -> None:
    """Show it; raises when anything is not as promised."""
    with tempfile.TemporaryDirectory(prefix="hindbrain-demo-") as scratch:
        home = Home(Path(scratch) / "home")
        hook = [*install_launcher(home.root), "claude-code"]
        say(f"home      {home.root}")
        say(f"hook      {' '.join(hook)}")
        try:
            _play(home, hook, say)
        finally:
            daemon.stop(home.root)
    say("done      the worker has left and the home is removed")


def _play(home: Home, hook: list[str], say: Say) -> None:
    calls = list(_calls())
    half = len(calls) // 2
    for call in calls[:half]:
        _fire(hook, home, call)
    pid = _until(lambda: lock_holder(home.worker_lock), "a worker to start")
    say(f"captured  {half} hook calls, each its own process; worker {pid} was started by the first")
    os.kill(pid, signal.SIGKILL)
    say(f"killed    worker {pid} with SIGKILL")
    for call in calls[half:]:
        _fire(hook, home, call)
    say(f"captured  {len(calls) - half} more while no worker was there")
    _until(lambda: _settled(home, len(calls), hook), "all lines to be stored")
    seen = look(home, SystemClock())
    stored = seen.stored
    say(f"stored    {stored.lines} lines: {stored.turns} turns in {stored.sessions} sessions; lost {seen.lost.count}")
    _show_search(home, say)
    _show_secret(home, say, seen.stored.redacted)


def _settled(home: Home, lines: int, hook: list[str]) -> int:
    if lock_holder(home.worker_lock) is None:  # the kill came too soon after a start for the hooks to start another
        from hindbrain.capture.start import start_worker

        start_worker(os.fsencode(home.root))
    seen = look(home, SystemClock())
    return seen.stored.lines if seen.stored.lines >= lines and seen.lag.lines == 0 else 0


def _calls() -> Iterator[dict[str, object]]:
    """What Claude Code sends in a short session."""
    base = {"session_id": "demo", "transcript_path": "/nonexistent/demo.jsonl", "cwd": "/nonexistent/shop"}
    yield {**base, "hook_event_name": "SessionStart", "source": "startup"}
    talk = [
        ("Use PostgreSQL for the orders service, not MySQL.", "I will use PostgreSQL and note the decision."),
        (f"The deploy token is {SECRET}, keep it to yourself.", "Understood, I will not repeat it."),
        ("Why does the login test fail?", "The fixture clock was in UTC while the cookie used local time; fixed."),
    ]
    for number, (prompt, reply) in enumerate(talk):
        turn = {**base, "prompt_id": f"prompt-{number}"}
        yield {**turn, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
        yield {
            **turn, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"tool-{number}",
            "tool_input": {"command": "pytest -q"}, "tool_response": {"stdout": f"{number} failed", "stderr": ""},
        }  # fmt: skip
        yield {**turn, "hook_event_name": "Stop", "last_assistant_message": reply}
    yield {**base, "hook_event_name": "SessionEnd", "reason": "other"}


def _fire(hook: list[str], home: Home, call: dict[str, object]) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
    ran = subprocess.run(hook, input=json.dumps(call).encode(), capture_output=True, env=environ, timeout=30, check=False)
    if ran.returncode or ran.stdout:
        raise HindbrainError(f"the hook ended with {ran.returncode} and printed {ran.stdout[:80]!r}")


def _until(ready: Callable[[], int | None], what: str) -> int:
    deadline = time.monotonic() + _WAIT_SECONDS
    while True:
        if found := ready():
            return found
        if time.monotonic() > deadline:
            raise HindbrainError(f"waited {_WAIT_SECONDS:g} s in vain for {what}")
        time.sleep(0.05)


def _show_search(home: Home, say: Say) -> None:
    with Ledger.open(home.ledger, SystemClock(), read_only=True) as ledger:
        hits = ledger.search("which database for orders", k=1)
    if not hits:
        raise HindbrainError("a stored turn was not found")
    say(f"search    'which database for orders' -> {hits[0].role}: {hits[0].text}")


def _show_secret(home: Home, say: Say, redacted: dict[str, int]) -> None:
    files = [path for path in home.root.rglob("*") if path.is_file()]
    holding = [path for path in files if SECRET.encode() in path.read_bytes()]
    if holding or not redacted:
        raise HindbrainError(f"the secret was found in {holding}" if holding else "the secret was not seen by any rule")
    say(f"secret    typed once, in none of {len(files)} files; removed by rule: {', '.join(redacted)}")
