"""How much longer a headless prompt of the real Claude Code takes when Hindbrain is installed.

The same user, project and scripted model twice over, once with the hooks and once without; rounds are interleaved, so a noisy
machine disturbs both sides alike. A prompt makes one tool call, as a short errand does, so a session runs five hooks. `ratio` is
that of the medians with a model that takes half a second for each of its two answers, quicker than any real one; the bar is
1.10. `instant_ratio` is the same with a model that answers at once, where even five hooks that do nothing are felt.
"""

from __future__ import annotations

import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the client's harness belongs to its tests

from hindbrain.base.home import Home  # noqa: E402
from hindbrain.serve import daemon  # noqa: E402
from tests.clients.anthropic_server import AnthropicServer  # noqa: E402
from tests.clients.claude import Claude  # noqa: E402
from tests.clients.loopback import loopback, missing  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "12"))
WARM_UP = 2
PROMPTS = {"": "SLOW:0.5\nRUN:echo one\nSLOW:0.5\nSAY:done", "instant_": "RUN:echo one\nSAY:done"}


def program() -> str:
    """The pinned client, fetched if need be."""
    told = subprocess.run([ROOT / "scripts" / "clients"], check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(line.split(" ", 1) for line in told.splitlines())["claude-code"]


@contextlib.contextmanager
def user(name: str, binary: str, scratch: Path) -> Iterator[Claude]:
    """A user of their own, with a model to talk to."""
    with loopback() as network:
        server = AnthropicServer(network.listening)
        where = scratch / name
        try:
            yield Claude(binary, network, server, where / "user", where / "project", Home(where / "data")).prepare()
        finally:
            server.close()


def once(claude: Claude, prompt: str) -> float:
    """Seconds from start to end of one prompt."""
    start = time.perf_counter()
    ran = claude.prompt(prompt)
    taken = time.perf_counter() - start
    if (ran.returncode, ran.stdout, ran.stderr) != (0, "done\n", ""):
        raise SystemExit(f"the client ended with {ran.returncode}: {ran.stdout!r} {ran.stderr!r}")
    return taken


def main() -> None:
    if reason := missing():
        raise SystemExit(f"not run: {reason}")
    binary = program()
    names = ("plain", "hindbrain")
    times: dict[str, list[float]] = {kind + name: [] for kind in PROMPTS for name in names}
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch, contextlib.ExitStack() as stack:
        users = {name: stack.enter_context(user(name, binary, Path(scratch))) for name in names}
        users["hindbrain"].hindbrain("install", "claude-code")
        stack.callback(daemon.stop, users["hindbrain"].home.root)
        for number in range(WARM_UP + ROUNDS):
            for kind, prompt in PROMPTS.items():
                for name in sorted(names, reverse=bool(number % 2)):  # each goes first as often as the other
                    taken = once(users[name], prompt)
                    if number >= WARM_UP:
                        times[kind + name].append(taken)
    median = {name: statistics.median(values) for name, values in times.items()}
    print(json.dumps({
        "plain_s": round(median["plain"], 3), "hindbrain_s": round(median["hindbrain"], 3),
        "ratio": round(median["hindbrain"] / median["plain"], 3),
        "instant_ratio": round(median["instant_hindbrain"] / median["instant_plain"], 3), "n": ROUNDS,
    }))  # fmt: skip


if __name__ == "__main__":
    main()
