"""Appends to a bare file and to the journal, in turn -> how much of the disk's own rate the journal keeps.

Both write the same framed lines of 2 kB, one at a time, each forced to the disk before the next: `os.write` and
`os.fdatasync` on one side, the journal's `append_to` on the other, segment rolls included. They take turns in short
blocks, each round beginning with another one, so that whatever else the machine does hits all of them, and the median
block counts. `append` is what a hook does: it also opens home and journal every time.

    python bench/journal.py [--appends 3000] [--place DIRECTORY]

The last line is JSON: raw_per_s, journal_per_s, ratio (journal to raw; the bar is 0.7), hook_per_s.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hindbrain.journal.append import append, append_to, open_journal
from hindbrain.journal.line import HOOK, frame

PAYLOAD_BYTES: Final = 2048
BLOCK: Final = 25
BAR: Final = 0.7


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--appends", type=int, default=3000, help="how many on each side")
    parser.add_argument("--place", default=None, help="a directory on the disk to measure (default: the temporary one)")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=told.place) as place:
        seconds = measure(Path(place), told.appends // BLOCK or 1)
    rates = {name: BLOCK / statistics.median(blocks) for name, blocks in seconds.items()}
    ratio = rates["journal"] / rates["raw"]
    for name, rate in rates.items():
        print(f"{name:8} {rate:8.0f} durable appends of {PAYLOAD_BYTES} bytes a second")
    print(f"ratio    {ratio:8.2f} (bar {BAR}: {'met' if ratio >= BAR else 'NOT met'})")
    print(json.dumps({
        "raw_per_s": round(rates["raw"], 1), "journal_per_s": round(rates["journal"], 1), "ratio": round(ratio, 3),
        "hook_per_s": round(rates["hook"], 1),
    }))  # fmt: skip
    return 0


def measure(place: Path, rounds: int) -> dict[str, list[float]]:
    """Seconds each side took for each of its blocks."""
    raw = os.open(place / "raw", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    journal = open_journal(os.fsencode(place / "kept"))
    home = os.fsencode(place / "hook")

    def append_raw(line: bytes) -> None:
        if os.write(raw, line) != len(line):
            raise OSError("a short write: is the disk full?")
        os.fdatasync(raw)

    sides: dict[str, Callable[[bytes], None]] = {
        "raw": append_raw,
        "journal": lambda line: append_to(journal, line),
        "hook": lambda line: append(home, line),
    }
    line = frame(HOOK, b"claude-code", time.time_ns(), random.Random(1).randbytes(PAYLOAD_BYTES // 2).hex().encode())
    for side in sides.values():
        side(line)  # whatever is made at the first call is not counted
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    names = list(sides)
    for _ in range(rounds):
        for name in names:
            seconds[name].append(_time(sides[name], line))
        names.append(names.pop(0))
    os.close(raw)
    os.close(journal)
    return seconds


def _time(side: Callable[[bytes], None], line: bytes) -> float:
    began = time.perf_counter()
    for _ in range(BLOCK):
        side(line)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
