"""A peer -> what its hook costs the agent: wall time of one call over that of starting the same interpreter with nothing to do.

Hindbrain's is called with a worker running, for an event that is written down and for a prompt that is answered. MemPalace's is
its stop hook with a short transcript, when there is nothing to save yet. memsearch's package has no hook; its plugin calls the
program, so its search command stands for it. mem0 has neither.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from bench.hook import payload, prepared, prompts, questions, quiet, talk
from bench.peers.environments import Peer

TURNS = 2_000


@dataclass(frozen=True)
class Call:
    """One way to call a hook."""

    what: str
    argv: list[str]
    stdin: list[bytes]
    env: dict[str, str]


def wall_ms(call: Call, number: int) -> float:
    env = {"PATH": "/usr/bin:/bin", "HOME": os.environ.get("HOME", "/"), **call.env}
    start = time.perf_counter()
    ran = subprocess.run(call.argv, input=call.stdin[number % len(call.stdin)], capture_output=True, env=env)
    taken = 1000 * (time.perf_counter() - start)
    if ran.returncode:
        raise RuntimeError(f"{call.argv[0]} ended with {ran.returncode}: {ran.stderr.decode(errors='replace')[-300:]}")
    return taken


def compare(python: str, calls: list[Call], rounds: int) -> dict[str, dict[str, float]]:
    """Bare interpreter and calls in turns."""
    bare = Call("bare", [python, "-I", "-S", "-c", "pass"], [b""], {})
    times: dict[str, list[float]] = {call.what: [] for call in (bare, *calls)}
    for number in range(rounds + 2):
        for call in (bare, *calls):
            taken = wall_ms(call, number)
            if number >= 2:
                times[call.what].append(taken)
    floor = statistics.median(times["bare"])
    return {
        call.what: {"ms": round(middle := statistics.median(times[call.what]), 1), "ratio": round(middle / floor, 2)}
        for call in calls
    }  # fmt: skip


def hindbrain(peer: Peer, folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    home, texts = folder / "home", talk(TURNS)
    hook = prepared(peer.python, home, texts)
    ask = prompts(questions(texts))
    worker = [peer.python, "-I", "-m", "hindbrain", "--home", str(home), "daemon"]
    quiet(*worker, "start")
    try:
        asked = [ask(number) for number in range(rounds + 2)]
        calls = [
            Call("event written down", [*hook, "claude-code"], [payload(False)], {}),
            Call("prompt answered", [*hook, "claude-code", "UserPromptSubmit"], asked, {}),
        ]
        return compare(peer.python, calls, rounds)
    finally:
        quiet(*worker, "stop")


def mempalace(peer: Peer, folder: Path, rounds: int) -> dict[str, dict[str, float]]:
    (folder / ".mempalace").mkdir()
    transcript = folder / "talk.jsonl"
    lines = [{"type": "user", "message": {"role": "user", "content": f"line {number}"}} for number in range(5)]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    told = {"session_id": "bench", "transcript_path": str(transcript), "stop_hook_active": False, "cwd": str(folder)}
    argv = [str(peer.environment / "bin" / "mempalace"), "hook", "run", "--hook", "stop", "--harness", "claude-code"]
    call = Call("stop hook", argv, [json.dumps(told).encode()], {"HOME": str(folder), "MEMPALACE_BACKEND": "sqlite_exact"})
    return compare(peer.python, [call], rounds)


def memsearch(peer: Peer, folder: Path, rounds: int, url: str) -> dict[str, dict[str, float]]:
    notes = folder / "notes.md"
    notes.write_text("".join(f"## {number}\n{text}\n\n" for number, text in enumerate(talk(200))), "utf-8")
    program, env = str(peer.environment / "bin" / "memsearch"), {"HOME": str(folder)}
    model = ["--provider", "openai", "--model", "shared", "--base-url", url, "--api-key", "none"]
    place = ["--milvus-uri", str(folder / "milvus.db")]
    subprocess.run(
        [program, "index", str(notes), *model, *place], check=True, capture_output=True,
        env={"PATH": "/usr/bin:/bin", **env},
    )  # fmt: skip
    call = Call("search command", [program, "search", "how do classes work", "-k", "3", *model, *place], [b""], env)
    return compare(peer.python, [call], rounds)


def measure(peer: Peer, folder: Path, rounds: int, url: str) -> dict[str, dict[str, float]] | str:
    """By way of calling the hook: milliseconds and the ratio; or why there is nothing to measure."""
    folder.mkdir(parents=True)
    try:
        match peer.name:
            case "Hindbrain":
                return hindbrain(peer, folder, rounds)
            case "MemPalace":
                return mempalace(peer, folder, rounds)
            case "memsearch":
                return memsearch(peer, folder, max(3, rounds // 4), url)
            case _:
                return "none"
    except (RuntimeError, subprocess.CalledProcessError) as error:
        print(f"{peer.name}: {error}", file=sys.stderr)
        return f"failed: {str(error)[:200]}"
