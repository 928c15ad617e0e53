"""A home -> what a worker holds that has nothing to do there: a real process, by what the kernel says of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hindbrain import Memory


def worker_mb(home: Path, embedder: str) -> float:
    """What an idle worker holds: started, given a turn to take in, left alone until nothing waits."""
    environ = {**os.environ, "HINDBRAIN_EMBEDDER": embedder}
    program = [sys.executable, "-m", "hindbrain", "--home", str(home)]

    def run(*words: str) -> str:
        ran = subprocess.run([*program, *words], env=environ, capture_output=True, text=True, check=True)
        return ran.stdout

    run("daemon", "start")
    try:
        with Memory.open(home=home) as memory:
            memory.record(agent="bench", session="idle", role="user", text=f"one more, for {embedder}", project="bench")
            memory.settle_here()
        told: dict[str, Any] = {}
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            told = json.loads(run("status", "--json"))
            if embedder == "none" or not (told.get("embedding") or {}).get("waiting"):
                break
        time.sleep(2)  # not waiting for anything: idle is what is measured
        pid = told["worker"]["pid"] if isinstance(told.get("worker"), dict) else told["worker_pid"]
        line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS:"))
        return round(int(line.split()[1]) / 1024, 1)
    finally:
        run("daemon", "stop")


def idle_workers(home: Path) -> dict[str, float]:
    return {"idle_worker_mb": worker_mb(home, "static"), "idle_worker_mb_without_embedder": worker_mb(home, "none")}
