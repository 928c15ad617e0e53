"""How much the installed hook costs over starting the same interpreter with nothing to do.

The package is built and installed into an environment of its own, as users have it, and its worker runs. A prompt is also
answered from 10,000 stored turns: by the worker, and in a second home, where none may start, by the hook itself. Rounds are
interleaved, so a noisy machine disturbs all sides alike; the figures are ratios of medians within one run.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from pydoc_data.topics import topics
from typing import BinaryIO

ROOT = Path(__file__).resolve().parents[1]
INSTALL = """
import json, sys
from pathlib import Path
from hindbrain.capture.launcher import install_launcher
print(json.dumps(install_launcher(Path(sys.argv[1]))))
"""
FILL = """
import sys
from datetime import UTC, datetime, timedelta
from hindbrain import Memory
texts = sys.stdin.read().split("\\n")
start = datetime(2026, 1, 1, tzinfo=UTC)
with Memory.open(home=sys.argv[1]) as memory:
    for number, text in enumerate(texts):
        role = ("user", "assistant")[number % 2]
        memory.record(agent="claude-code", session=f"s{number // 40}", role=role, text=text, project="/home/dev/app",
                      key=str(number), at=start + timedelta(minutes=number))
    memory.settle(600)
"""
ROUNDS = int(os.environ.get("ROUNDS", "150"))
TURNS = int(os.environ.get("TURNS", "10000"))
QUESTIONS = 12


def payload(secret: bool) -> bytes:
    """2 KB as Claude Code sends after a tool call."""
    output = "src/app/server.py:41: handle() takes the request and returns a response\n" * 20
    if secret:
        output = output[:700] + "export GITHUB_TOKEN=" + "gh" + "p_" + "aB3dE6gH9j" * 4 + "\n" + output[700:]
    call = {
        "session_id": "0593e155-b28d-4d26-8770-a0270c1c0e4d",
        "transcript_path": "/home/dev/.claude/projects/-home-dev-app/x.jsonl",
        "cwd": "/home/dev/app", "prompt_id": "678992ce-6feb-4750-91db-3a7370c22217", "permission_mode": "default",
        "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": "grep -rn handle src | head -20"},
        "tool_response": {"stdout": output, "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False},
        "tool_use_id": "toolu_01AbCdEfGhIjKlMnOpQrStUv", "duration_ms": 38,
    }  # fmt: skip
    data = json.dumps(call).encode()
    while len(data) > 2048:
        call["tool_response"]["stdout"] = call["tool_response"]["stdout"][:-8]  # type: ignore[index]
        data = json.dumps(call).encode()
    return data


def talk(number: int) -> list[str]:
    """Turns in the words of Python's own manual, two to five sentences each; always the same for one Python."""
    choose = random.Random(20260101)
    manual = " ".join(" ".join(topics.values()).split())
    sentences = [each for each in manual.split(". ") if 30 < len(each) < 300]
    return [". ".join(choose.choices(sentences, k=choose.randint(2, 5))) for _ in range(number)]


def questions(texts: list[str]) -> list[str]:
    """Prompts of words that are neither rare nor common; each fits about a quarter of the turns, as in long conversations."""
    said = Counter(word for text in texts for word in set(re.findall("[a-z]{5,}", text.lower())))
    telling = sorted(word for word, count in said.items() if 0.003 < count / len(texts) < 0.012)
    choose = random.Random(20260102)
    return ["How do {} and {} of the {} go with {}, {} and {}?".format(*choose.sample(telling, 6)) for _ in range(QUESTIONS)]


def prompts(asked: list[str]) -> Callable[[int], bytes]:
    """Prompts in turn, each of a session of its own, so that nothing was told there before."""

    def prompt(number: int) -> bytes:
        path = f"/home/dev/.claude/projects/-home-dev-app/asks-{number}.jsonl"
        call = {
            "session_id": f"asks-{number}", "transcript_path": path, "cwd": "/home/dev/app", "permission_mode": "default",
            "hook_event_name": "UserPromptSubmit", "prompt": asked[number % len(asked)],
        }  # fmt: skip
        return json.dumps(call).encode()

    return prompt


def quiet(*argv: str) -> None:
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)


def install(where: Path) -> str:
    """A wheel of this tree in an environment of its own; its python."""
    python = str(where / "venv" / "bin" / "python")
    quiet(sys.executable, "-m", "venv", str(where / "venv"))
    quiet(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(where), ".")
    quiet(python, "-m", "pip", "install", "-q", "-c", "constraints.txt", str(next(where.glob("*.whl"))))
    return python


def once(argv: list[str], data: bytes, out: int) -> float:
    """Milliseconds from start to exit of one process that is handed `data` and prints to `out`."""
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    actions = [(os.POSIX_SPAWN_DUP2, reader, 0), (os.POSIX_SPAWN_CLOSE, reader), (os.POSIX_SPAWN_DUP2, out, 1)]
    environ = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    taken = time.perf_counter() - start
    os.close(reader)
    if status:
        raise SystemExit(f"{argv} ended with {status}")
    return taken * 1000


class Case:
    """One kind of call, and how long each of them took."""

    def __init__(self, argv: list[str], data: Callable[[int], bytes], answered: bool = False) -> None:
        self.argv = argv
        self.data = data
        self.answered = answered
        self.times: list[float] = []
        self.median = self.p95 = 0.0

    def call(self, number: int, out: BinaryIO) -> float:
        out.truncate(0)
        out.seek(0)
        taken = once(self.argv, self.data(number), out.fileno())
        if bool(os.fstat(out.fileno()).st_size) is not self.answered:
            raise SystemExit(f"{self.argv} {'said nothing' if self.answered else 'said something'}")
        return taken

    def sum_up(self) -> None:
        self.median = statistics.median(self.times)
        self.p95 = sorted(self.times)[int(len(self.times) * 0.95)]


def prepared(python: str, home: Path, texts: list[str]) -> list[str]:
    """A home that holds the talk, and the command of the hook installed in it."""
    told = subprocess.run([python, "-I", "-c", INSTALL, str(home)], check=True, capture_output=True, text=True)
    subprocess.run([python, "-I", "-c", FILL, str(home)], check=True, input="\n".join(texts), text=True)
    command: list[str] = json.loads(told.stdout)
    return command


@contextmanager
def no_worker(home: Path) -> Iterator[None]:
    """No worker is started there: the lock of whoever is starting one is held."""
    with (home / "worker.start").open("ab") as stamp:
        fcntl.flock(stamp, fcntl.LOCK_EX)
        yield


def measure(cases: dict[str, Case], scratch: Path) -> None:
    with (scratch / "said").open("w+b") as out:
        for number in range(ROUNDS + 5):
            for case in cases.values():
                taken = case.call(number, out)
                if number >= 5:  # the first rounds warm the caches
                    case.times.append(taken)
    for case in cases.values():
        case.sum_up()


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as name:
        scratch = Path(name)
        home, alone, python = scratch / "home", scratch / "alone", install(scratch)
        texts = talk(TURNS)
        hook, hook_alone, prompt = prepared(python, home, texts), prepared(python, alone, texts), prompts(questions(texts))
        command = [python, "-I", "-m", "hindbrain", "--home", str(home), "daemon"]
        cases = {
            "bare": Case([python, "-I", "-S", "-c", "pass"], lambda number: payload(False)),
            "append": Case([*hook, "claude-code"], lambda number: payload(False)),
            "secret": Case([*hook, "claude-code"], lambda number: payload(True)),
            "daemon": Case([*hook, "claude-code", "UserPromptSubmit"], prompt, answered=True),
            "cold": Case([*hook_alone, "claude-code", "UserPromptSubmit"], prompt, answered=True),
        }
        quiet(*command, "start")
        try:
            with no_worker(alone):
                measure(cases, scratch)
        finally:
            quiet(*command, "stop")
    bare = cases["bare"]
    ratio = {name: round(case.median / bare.median, 3) for name, case in cases.items()}
    print(json.dumps({
        "bare_ms": round(bare.median, 2), "append_ms": round(cases["append"].median, 2), "append_ratio": ratio["append"],
        "append_p95_ratio": round(cases["append"].p95 / bare.p95, 3), "append_secret_ratio": ratio["secret"],
        "inject_daemon_ratio": ratio["daemon"], "inject_cold_ratio": ratio["cold"], "n": ROUNDS,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
