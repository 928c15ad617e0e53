"""How much the installed hook costs over starting the same interpreter with nothing to do.

The package is built and installed into an environment of its own, as users have it, and its worker runs. Rounds are
interleaved, so a noisy machine disturbs both sides alike; the figures are ratios of medians within one run.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTALL = """
import sys
from pathlib import Path
from hindbrain.capture.launcher import install_launcher
print("\\n".join(install_launcher(Path(sys.argv[1]))))
"""
ROUNDS = int(os.environ.get("ROUNDS", "150"))


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


def quiet(*argv: str) -> None:
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT)


def install(where: Path) -> str:
    """A wheel of this tree in an environment of its own; its python."""
    python = str(where / "venv" / "bin" / "python")
    quiet(sys.executable, "-m", "venv", str(where / "venv"))
    quiet(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(where), ".")
    quiet(python, "-m", "pip", "install", "-q", "-c", "constraints.txt", str(next(where.glob("*.whl"))))
    return python


def once(argv: list[str], data: bytes) -> float:
    """Milliseconds from start to exit of one process that is handed `data`."""
    reader, writer = os.pipe()
    os.write(writer, data)
    os.close(writer)
    actions = [(os.POSIX_SPAWN_DUP2, reader, 0), (os.POSIX_SPAWN_CLOSE, reader)]
    environ = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/")}
    start = time.perf_counter()
    pid = os.posix_spawn(argv[0], argv, environ, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    taken = time.perf_counter() - start
    os.close(reader)
    if status:
        raise SystemExit(f"{argv} ended with {status}")
    return taken * 1000


def p95(values: list[float]) -> float:
    return sorted(values)[int(len(values) * 0.95)]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch:
        home, python = Path(scratch) / "home", install(Path(scratch))
        command = [python, "-I", "-m", "hindbrain", "--home", str(home)]
        told = subprocess.run([python, "-I", "-c", INSTALL, str(home)], check=True, capture_output=True, text=True)
        hook = told.stdout.splitlines()
        quiet(*command, "daemon", "start")
        cases = {
            "bare": ([python, "-I", "-S", "-c", "pass"], payload(False)),
            "append": ([*hook, "claude-code"], payload(False)),
            "secret": ([*hook, "claude-code"], payload(True)),
        }
        times: dict[str, list[float]] = {name: [] for name in cases}
        try:
            for number in range(ROUNDS + 5):
                for name, (argv, data) in cases.items():
                    taken = once(argv, data)
                    if number >= 5:  # the first rounds warm the caches
                        times[name].append(taken)
        finally:
            quiet(*command, "daemon", "stop")
    median = {name: statistics.median(values) for name, values in times.items()}
    print(json.dumps({
        "bare_ms": round(median["bare"], 2), "append_ms": round(median["append"], 2),
        "append_ratio": round(median["append"] / median["bare"], 3),
        "append_p95_ratio": round(p95(times["append"]) / p95(times["bare"]), 3),
        "append_secret_ratio": round(median["secret"] / median["bare"], 3), "n": ROUNDS,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
