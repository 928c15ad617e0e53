"""A peer's package and version -> a Python environment that holds it, in a cache outside the clone.

Each is made once. One that cannot be made is reported with the reason and left out of the measurement.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hindbrain-peers"
HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Peer:
    """Something to be measured; without a package it runs in this environment."""

    name: str
    driver: str
    package: str = ""
    version: str = ""

    @property
    def environment(self) -> Path:
        return CACHE / f"{self.package}-{self.version}"

    @property
    def python(self) -> str:
        return str(self.environment / "bin" / "python") if self.package else sys.executable

    @property
    def command(self) -> list[str]:
        return [self.python, str(HERE / self.driver)]


PEERS = (
    Peer("Hindbrain", "with_hindbrain.py"),
    Peer("mem0", "with_mem0.py", "mem0ai", "2.2.1"),
    Peer("MemPalace", "with_mempalace.py", "mempalace", "3.11.0"),
    Peer("memsearch", "with_memsearch.py", "memsearch", "0.4.23"),
    Peer("plain FTS5", "with_fts5.py"),
)


def prepare(peer: Peer) -> str:
    """Make its environment unless it is there; why it could not be made, "" if it could."""
    done = peer.environment / ".complete"
    if not peer.package or done.exists():
        return ""
    print(f"installing {peer.package} {peer.version} in {peer.environment}", file=sys.stderr, flush=True)
    shutil.rmtree(peer.environment, ignore_errors=True)
    peer.environment.parent.mkdir(parents=True, exist_ok=True)
    for step in (
        [sys.executable, "-m", "venv", str(peer.environment)],
        [peer.python, "-m", "pip", "install", "--quiet", f"{peer.package}=={peer.version}"],
    ):
        ran = subprocess.run(step, capture_output=True, text=True, errors="replace")
        if ran.returncode:
            last = next((line for line in reversed(ran.stderr.splitlines()) if line.strip()), f"status {ran.returncode}")
            return f"cannot be installed: {last.strip()}"
    done.touch()
    return ""
