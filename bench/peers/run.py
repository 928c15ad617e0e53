"""Hindbrain, three other memories and plain full-text search on the same data in one run -> quality, speed and size.

Environments are made first (bench/peers/environments.py); the measurement then runs without a network: in a network namespace
that has nothing but loopback, where the system allows one. All of them embed with the same table, the peers over loopback.
Contenders take turns store by store, each in a new process, so a noisy machine disturbs all alike. The table goes into
docs/benchmarks.md; the last line printed is one JSON object.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from bench.conversations import DATA, Question, Store, count, missing, store  # noqa: E402
from bench.peers import hooks, report  # noqa: E402
from bench.peers.environments import PEERS, Peer, prepare  # noqa: E402
from bench.scoring import Scores, judge, new_scores, per_cent  # noqa: E402

DISK = "/var/tmp"  # kept over a restart by definition, so never a file system in memory
BATCH = 500
INSIDE = "HINDBRAIN_BENCH_WITHOUT_NETWORK"


class Failed(Exception):
    """A contender could not do what it was asked to."""


@dataclass
class Result:
    """What was measured of one contender."""

    trouble: str = ""
    scores: dict[str, Scores] = field(default_factory=dict)
    ingest_seconds: float = 0.0
    ingested: int = 0
    query_ms: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    disk_mb: float = 0.0
    hook: dict[str, dict[str, float]] | str = "none"

    def figures(self) -> dict[str, Any]:
        if self.trouble:
            return {"not_measured": self.trouble}
        return {
            **{name: per_cent(scores, ("r10", "ndcg10") if name == "locomo" else ("all5", "ndcg10"))
               for name, scores in self.scores.items()},
            "ingest_per_s": round(self.ingested / self.ingest_seconds),
            "query_ms_p50": round(statistics.median(self.query_ms), 2),
            "query_ms_p95": round(sorted(self.query_ms)[int(len(self.query_ms) * 0.95)], 2), "memory_mb": round(self.peak_mb),
            "disk_mb": round(self.disk_mb, 1), "hook": self.hook,
        }  # fmt: skip


class Process:
    """A contender at work in a folder."""

    def __init__(self, peer: Peer, folder: Path, url: str) -> None:
        environ = {
            "PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1",
            "ANONYMIZED_TELEMETRY": "0", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        self._log = (folder.parent / f"{folder.name}.log").open("w+", encoding="utf-8")
        self._process = subprocess.Popen(
            peer.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, text=True, env=environ, cwd=folder
        )
        self.ask({"do": "open", "folder": str(folder), "url": url})

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            self._log.seek(0)
            raise Failed(f"ended with {self._process.wait()}: {self._log.read()[-300:].strip()}")
        told: dict[str, Any] = json.loads(line)
        if "error" in told:
            raise Failed(str(told["error"])[:300])
        return told

    def end(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        try:
            self._process.wait(60)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._log.close()


def size_mb(folder: Path) -> float:
    """Room on the disk, as `du` counts it."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / (1 << 20)


def try_store(peer: Peer, result: Result, name: str, kept: Store, asked: list[Question], folder: Path, url: str) -> None:
    """Fill a new store and ask; speed and size are those of the largest store, POOL."""
    folder.mkdir()
    process = Process(peer, folder, url)
    try:
        turns = [
            {"session": turn.session, "key": turn.key, "role": turn.role, "text": turn.text, "at": turn.at.isoformat()}
            for turn in kept.turns
        ]
        told = process.ask({"do": "add", "turns": turns})
        if name == "pool":
            result.ingest_seconds, result.ingested = told["seconds"], len(turns)
        scores = result.scores.setdefault(name, new_scores())
        for number, question in enumerate(asked):
            k = 50 if name == "locomo" else 100
            told = process.ask({"do": "search", "question": question.text, "k": k})
            judge(scores, name, question, told["found"])
            if name == "pool" and number:  # the first opens what there is to open
                result.query_ms.append(1000 * told["seconds"])
        if name == "pool":
            result.peak_mb = told["peak_mb"]
        process.ask({"do": "close"})
        if name == "pool":
            result.disk_mb = size_mb(folder)
    finally:
        process.end()
        shutil.rmtree(folder, ignore_errors=True)


def stores(limit: int) -> Iterator[tuple[str, Store, list[Question]]]:
    """Two conversations of LoCoMo, some questions of R48, all of POOL; a limit is one of questions per set."""
    pooled = store("pool", 0)
    yield "pool", pooled, pooled.questions[: limit or None]
    for number in range(2):
        kept = store("locomo", number)
        yield "locomo", kept, kept.questions[: limit or None]
    every = max(1, count("r48") // min(limit or 40, 40))
    for number in range(0, count("r48"), every):
        kept = store("r48", number)
        yield "r48", kept, kept.questions


@contextmanager
def embeddings() -> Iterator[str]:
    """The shared embedder; its address."""
    command = [sys.executable, str(ROOT / "bench" / "peers" / "embeddings.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
        server.communicate()  # closes its input, which ends it


def measure(results: dict[str, Result], limit: int, rounds: int) -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-peers-", dir=DISK) as scratch, embeddings() as url:
        for number, (name, kept, asked) in enumerate(stores(limit)):
            print(f"{name}: {len(kept.turns)} turns, {len(asked)} questions", file=sys.stderr, flush=True)
            for peer in PEERS:
                result = results[peer.name]
                if result.trouble:
                    continue
                try:
                    try_store(peer, result, name, kept, asked, Path(scratch) / f"{peer.driver}-{number}", url)
                except Failed as error:
                    result.trouble = f"failed on {name}: {error}"
                    print(f"{peer.name}: {result.trouble}", file=sys.stderr, flush=True)
        for peer in PEERS:
            if not results[peer.name].trouble:
                results[peer.name].hook = hooks.measure(peer, Path(scratch) / f"hook-{peer.driver}", rounds, url)


def without_network() -> str:
    """Run this program again where there is no network; how it went if that cannot be had."""
    inner = 'ip link set lo up && exec "$0" "$@"'
    command = ["unshare", "--map-root-user", "--net", "sh", "-c", inner, sys.executable, *sys.argv]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return "there is no unshare or no ip here"
    if subprocess.run([*command[:5], "ip link set lo up"], capture_output=True).returncode:
        return "the system allows no network namespace"
    os.execvpe(command[0], command, {**os.environ, INSIDE: "1"})


def main() -> None:
    parser = argparse.ArgumentParser(description="Hindbrain next to other memories.")
    parser.add_argument("--limit", type=int, default=int(os.environ.get("LIMIT", "0")), help="questions per set: a quick look")
    parser.add_argument("--rounds", type=int, default=40, help="calls of each hook")
    parser.add_argument("--no-table", action="store_true", help="leave docs/benchmarks.md as it is")
    args = parser.parse_args()
    if absent := missing():
        print(f"nothing was measured: {' and '.join(absent)} not found in {DATA}", file=sys.stderr)
        print(json.dumps({"not_run": f"{' and '.join(absent)} not found"}))
        return
    results = {peer.name: Result(prepare(peer)) for peer in PEERS}
    if INSIDE not in os.environ:
        print(f"not cut off from the network: {without_network()}", file=sys.stderr)
    measure(results, args.limit, args.rounds)
    figures = {name: result.figures() for name, result in results.items()}
    turns = max((result.ingested for result in results.values()), default=0)
    if not args.no_table and not args.limit:
        report.write("peers", report.peers_table(figures, turns))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
