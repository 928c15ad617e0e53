"""Real agents, one process a prompt, through `hindbrain talk`: they forget everything, and are told what matters."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain import MemoryManager
from tests.clients.claude import Claude, strings
from tests.clients.gemini_server import GeminiServer, said_by_user
from tests.clients.loopback import Loopback, loopback
from tests.serve.installed import until

pytestmark = pytest.mark.clients

EARLY = "Our staging database listens on port 5433, remember that."
ASKED = "Which port does the staging database listen on?"
PROMPTS = [EARLY, *(f"Rename the helper in file number {n} to helper_{n}." for n in range(2, 10)), ASKED]
# Looks like a key and is none.
KEY = "not-a-key-at-all-000"


class Gemini:
    """One user with one project, a client and a model at the other end of the loopback device."""

    def __init__(self, program: str, network: Loopback, place: Path) -> None:
        self._network = network
        self._program = program
        self.user, self.project, self.home = place / "user", place / "project", place / "data"
        self.held, self.answer = threading.Event(), threading.Event()
        self.server = GeminiServer(network.listening, self._reply)
        (self.user / ".gemini").mkdir(parents=True)
        self.project.mkdir()
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": False},
            "privacy": {"usageStatisticsEnabled": False}, "telemetry": {"enabled": False},
        }  # fmt: skip
        (self.user / ".gemini" / "settings.json").write_text(json.dumps(settings))

    def _reply(self, prompt: str) -> str | int:
        last = prompt.rstrip("\n").split("\n")[-1]
        if "HOLD" in last:
            self.held.set()
            self.answer.wait(60)
        return 400 if "FAIL" in last else f"Done with: {last[-40:]}"

    def argv(self, prompt: str, *options: str) -> list[str]:
        ours = [sys.executable, "-m", "hindbrain", "--home", str(self.home), "talk", "--team", "crew", "--agent", "ada"]
        return [*self._network.enter, *ours, "--", shutil.which("node") or "node", self._program, *options, "-p", prompt]

    @property
    def environ(self) -> dict[str, str]:
        return {
            "HOME": str(self.user), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "TERM": "xterm-256color", "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": f"http://127.0.0.1:{self._network.port}", "GEMINI_CLI_TRUST_WORKSPACE": "true",
        }  # fmt: skip

    def talk(self, prompt: str, *options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.argv(prompt, *options), capture_output=True, text=True, env=self.environ, cwd=self.project,
            stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip

    def kept(self) -> list[str]:
        """All that was said, in order."""
        memory = MemoryManager(self.home / "teams").load("crew", "ada")
        if memory is None or memory.kept is None:
            return []
        return [turn.text for turn in (*memory.kept.turns(), *memory.turns)]


@pytest.fixture
def gemini(programs: dict[str, str], tmp_path: Path) -> Iterator[Gemini]:
    with loopback() as network:
        made = Gemini(programs["gemini-cli"], network, tmp_path)
        try:
            yield made
        finally:
            made.answer.set()
            made.server.close()


def test_the_tenth_process_is_told_the_first_turn_although_five_are_kept_and_a_kill_between_loses_nothing(gemini: Gemini) -> None:
    said: list[str] = []
    for number, prompt in enumerate(PROMPTS, 1):
        ran = gemini.talk(prompt)
        assert (ran.returncode, ran.stdout) == (0, f"Done with: {prompt[-40:]}\n"), ran.stderr
        said += [prompt, f"Done with: {prompt[-40:]}"]
        if number == 4:
            killed(gemini)
    assert gemini.kept() == said
    memory = MemoryManager(gemini.home / "teams").load("crew", "ada")
    assert memory is not None
    assert [turn.text for turn in memory.turns] == said[-5:]
    tenth = said_by_user(gemini.server.requests[-1])
    assert tenth.endswith(f"</hindbrain-memory>\n\n{ASKED}")
    told = tenth[tenth.index("[Conversation Context]\n") : tenth.index("</hindbrain-memory>")].split("\n")
    assert f"User: {EARLY}" in told
    # Of the twenty turns so far those are told that were kept, those that are asked about, and a line about the rest.
    assert told[-6:-1] == [f"{who}: {text}" for who, text in zip(["Assistant", "User"] * 3, said[13:18], strict=False)]
    assert told[1].startswith("Earlier: 13 turns are not repeated here; ")
    assert len(gemini.server.requests) == 11  # one process, one question
    assert len("\n".join(told)) <= 4000


def killed(gemini: Gemini) -> None:
    """A prompt whose process is killed while the model is still thinking."""
    null = subprocess.DEVNULL
    process = subprocess.Popen(
        gemini.argv("HOLD on for a moment"), env=gemini.environ, cwd=gemini.project, stdin=null, stdout=null, stderr=null,
        start_new_session=True,
    )  # fmt: skip
    try:
        assert gemini.held.wait(60)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)
        gemini.answer.set()


def test_a_prompt_that_the_model_refuses_is_not_recorded_and_its_own_session_is_not_told_twice(gemini: Gemini) -> None:
    ran = gemini.talk("FAIL at this")
    assert (ran.returncode, ran.stdout) == (8, "")
    assert gemini.kept() == []
    assert gemini.talk("I am called Grace.").returncode == 0
    resumed = gemini.talk("What am I called?", "--resume", "latest")
    assert (resumed.returncode, resumed.stdout) == (0, "Done with: What am I called?\n"), resumed.stderr
    last = gemini.server.requests[-1]
    assert "[Conversation Context]" not in json.dumps(last)
    assert json.dumps(last).count("I am called Grace.") >= 1  # the client remembers it by itself
    assert gemini.kept()[0::2] == ["I am called Grace.", "What am I called?"]


def test_claude_code_is_told_in_a_fence_and_its_own_hooks_do_not_take_that_in_again(claude: Claude) -> None:
    ours = [sys.executable, "-m", "hindbrain", "--home", str(claude.home.root), "talk", "--team", "crew", "--agent", "ada", "--"]
    for prompt, reply in (("SAY:the port is 5433", "the port is 5433"), ("SAY:as before", "as before")):
        ran = subprocess.run(
            [*claude.network.enter, *ours, claude.program, "-p", prompt], capture_output=True, text=True, env=claude.environ,
            cwd=claude.project, stdin=subprocess.DEVNULL, timeout=120, check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{reply}\n", "")
    told = [text for text in strings(claude.server.requests) if text.rstrip().endswith("SAY:as before") and "[Conv" in text]
    context = "[Conversation Context]\nUser: SAY:the port is 5433\nAssistant: the port is 5433\n</hindbrain-memory>\n"
    assert [context in text for text in told[:1]] == [True]

    def said() -> list[list[str]]:
        """Of each session, what the user said in it."""
        sessions = [each.client_id for each in claude.sessions()]
        return sorted([turn.text.strip() for turn in claude.turns(each) if turn.role == "user"] for each in sessions)

    wanted = [["SAY:as before"], ["SAY:the port is 5433"]]
    until(lambda: all(map(claude.followed, (each.client_id for each in claude.sessions()))) and said() == wanted, "the prompts")
