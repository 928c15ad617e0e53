"""A user's directory with the real Claude Code in it -> prompts sent, and what Hindbrain made of them.

The client has a home, a project and a network of its own, a key that is none, and a scripted model at the other end of its
connection. Everything else is as a user has it: hooks come from `hindbrain install`, the worker starts by itself, the ledger
is read from the disk.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import LedgerNotReady
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.ledger.query import Session, Turn
from hindbrain.ledger.store import Ledger
from hindbrain.serve.status import Status, look, opened
from tests.clients.anthropic_server import AnthropicServer
from tests.clients.loopback import Loopback
from tests.clients.terminal import Terminal
from tests.serve.installed import until

# Looks like a key and is none; the client wants to see one before it talks to anybody.
KEY: Final = "sk-ant-" + "not-a-key-at-all-000"
TOOLS: Final = "Bash,Read,Agent,Task"
BOTH: Final = frozenset({"hook", "transcript"})
HOOK: Final = frozenset({"hook"})
TRANSCRIPT: Final = frozenset({"transcript"})
Said = tuple[str, str, frozenset[str]]  # role, text, who told of it


@dataclass(frozen=True)
class Claude:
    """One user with one project."""

    program: str
    network: Loopback
    server: AnthropicServer
    user: Path
    project: Path
    home: Home

    @property
    def environ(self) -> dict[str, str]:
        """All the client is given; nothing of the environment the tests run in."""
        return {
            "HOME": str(self.user), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm-256color",
            "ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.network.port}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_TMPDIR": str(self.user / "tmp"),
        }  # fmt: skip

    @property
    def settings(self) -> Path:
        return self.user / ".claude" / "settings.json"

    def prepare(self) -> Claude:
        """The directories, and the answers to what an interactive client asks a new user."""
        for folder in (self.settings.parent, self.project, self.user / "tmp"):
            folder.mkdir(parents=True, exist_ok=True)
        known = {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        told = {
            "hasCompletedOnboarding": True, "theme": "dark", "projects": {str(self.project): known},
            "customApiKeyResponses": {"approved": [KEY[-20:]], "rejected": []},
        }  # fmt: skip
        (self.user / ".claude.json").write_text(json.dumps(told))
        return self

    def hindbrain(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of ours, which must succeed."""
        argv = [sys.executable, "-m", "hindbrain", "--home", str(self.home.root), *arguments]
        environ = {name: self.environ[name] for name in ("HOME", "PATH", "LANG")}
        ran = subprocess.run(argv, capture_output=True, text=True, env=environ, cwd=self.project, timeout=120, check=False)
        assert ran.returncode == 0, f"{arguments}: exit code {ran.returncode}\n{ran.stderr}"
        return ran

    def argv(self, *arguments: str) -> list[str]:
        return [*self.network.enter, self.program, "--allowedTools", TOOLS, *arguments]

    def prompt(self, text: str, *options: str) -> subprocess.CompletedProcess[str]:
        """One headless prompt, from start to end."""
        return subprocess.run(
            self.argv(*options, "-p", "--", text), capture_output=True, text=True, env=self.environ, cwd=self.project,
            stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip

    def ask(self, text: str, *options: str) -> str:
        """One headless prompt that goes as a user expects it: an answer, and not a word about hooks. Its session's id."""
        ran = self.prompt(text, *options, "--output-format", "json")
        assert (ran.returncode, ran.stderr) == (0, "")
        answer = json.loads(ran.stdout)
        assert answer["subtype"] == "success", answer
        return str(answer["session_id"])

    @contextlib.contextmanager
    def running(self, text: str, *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """A headless client that is not waited for; ended with the block at the latest."""
        null = subprocess.DEVNULL
        process = subprocess.Popen(
            self.argv(*options, "-p", "--", text), env=self.environ, cwd=self.project, stdin=null, stdout=null, stderr=null
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait(10)

    @contextlib.contextmanager
    def interactive(self, *options: str) -> Iterator[Terminal]:
        """The client as a person sees it, once it is ready for the first key."""
        terminal = Terminal(self.argv(*options), self.environ, self.project)
        try:
            terminal.until_shown("/effort")
            terminal.settle()
            yield terminal
        finally:
            terminal.close()

    # What came of it.

    def ledger(self) -> Ledger | None:
        """The ledger, once the first worker has made it."""
        try:
            return opened(self.home, SystemClock())
        except LedgerNotReady:
            return None

    def look(self) -> Status:
        return look(self.home, SystemClock())

    def turns(self, session: str) -> list[Turn]:
        ledger = self.ledger()
        if ledger is None:
            return []
        with ledger:
            return ledger.turns_of(session_id("claude-code", session))

    def sessions(self) -> list[Session]:
        ledger = self.ledger()
        if ledger is None:
            return []
        with ledger:
            return ledger.sessions(1000)

    def events(self, session: str, kind: str) -> list[dict[str, Any]]:
        """What was told of a session that is no turn, oldest first."""
        ledger = self.ledger()
        if ledger is None:
            return []
        query = "SELECT text, detail, origins FROM events WHERE session_id = ? AND kind = ? ORDER BY at, id"
        with ledger:
            rows = ledger.connection.execute(query, (session_id("claude-code", session), kind)).fetchall()
        return [{"text": text, **json.loads(detail)} for text, detail, _ in rows]

    def said(self, session: str) -> list[Said]:
        return [(turn.role, turn.text, turn.origins) for turn in self.turns(session)]

    def until_said(self, session: str, wanted: list[Said]) -> list[Turn]:
        """The session's turns once they are the wanted ones, in that order; a turn too many is an error too."""
        try:
            until(lambda: self.followed(session) and self.said(session) == wanted, "the turns")
        except AssertionError:
            found = "\n".join(difflib.ndiff(list(map(str, wanted)), list(map(str, self.said(session)))))
            followed = f"transcript read to its end: {self.followed(session)}"
            raise AssertionError(f"what the ledger has is not what was said; {followed}\n{found}") from None
        return self.turns(session)

    def followed(self, session: str) -> bool:
        """Whether the session's transcript has been read to its end, so that nothing more can come from there."""
        ledger, path = self.ledger(), self.transcript(session)
        if ledger is None or not path.exists():
            return False
        with ledger:
            cursor = ledger.cursor(f"transcript:{path}")
        return isinstance(cursor, dict) and cursor.get("offset") == path.stat().st_size

    def transcript(self, session: str) -> Path:
        """Where the client keeps a session; by its name, because the folder's name is the client's own business."""
        return next(iter((self.user / ".claude" / "projects").glob(f"*/{session}.jsonl")), self.user / "no-transcript-yet")


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, list):
        for each in value:
            yield from strings(each)


def line_of(turn: Turn) -> dict[str, Any]:
    """The transcript line a turn says it comes from: the bytes, taken as they are."""
    assert turn.source is not None
    path, start, end = turn.source
    with open(path, "rb") as file:
        file.seek(start)
        data = file.read(end - start)
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    line = json.loads(data)
    assert isinstance(line, dict)
    return line


def kill_worker(home: Home) -> None:
    """End the worker that the client's hooks started as a power cut would."""
    from hindbrain.base.files import lock_holder

    if pid := lock_holder(home.worker_lock):
        os.kill(pid, 9)
        until(lambda: lock_holder(home.worker_lock) is None, "the worker's end")
