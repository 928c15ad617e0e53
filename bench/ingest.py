"""How fast the worker takes hook lines into the ledger, against SQLite inserting the same texts into a bare table.

100,000 lines as Claude Code's hooks leave them (prompts, tool calls with their results, replies; 1 to 2 KB) are put into a
real journal and drained through the worker's own code. The raw insert uses the same texts, batch size, WAL and
synchronous=FULL, but parses nothing, checks nothing and has no index. Rounds of both alternate, so that a noisy machine
disturbs both alike. The last line is one JSON object.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.journal.line import HOOK, frame
from hindbrain.ledger.ingest import BATCH_RECORDS
from hindbrain.ledger.store import Ledger
from hindbrain.serve.daemon import collect_rarely
from hindbrain.serve.drain import Drain

LINES = int(os.environ.get("LINES_TOTAL", "100000"))
ROUNDS = 10
SEGMENT_BYTES = 4 << 20
COLUMNS = "id, session_id, role, text, tool, at, key, origins, segment, start, near, detail"
START_NS = 1_790_000_000_000_000_000


def vocabulary(random_: random.Random) -> tuple[list[str], list[float]]:
    """20,000 words that occur as words do: the n-th about 1/n as often as the first."""
    syllables = [a + b for a, b in itertools.product("bcdfglmnprstvw", ("a", "e", "i", "o", "u", "an", "er", "in"))]
    made = ("".join(random_.choices(syllables, k=random_.choice((1, 2, 2, 3, 3, 4)))) for _ in range(40_000))
    words = list(dict.fromkeys(made))[:20_000]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    return words, weights


def payloads(random_: random.Random) -> Iterator[dict[str, object]]:
    """Hook payloads of many sessions: a prompt, a few tool calls, a reply, and again."""
    words, weights = vocabulary(random_)

    def prose(low: int, high: int) -> str:
        return " ".join(random_.choices(words, cum_weights=weights, k=random_.randint(low, high)))

    for turn in itertools.count():
        session, prompt = f"bench-session-{turn // 20}", f"prompt-{turn}"
        base: dict[str, object] = {"session_id": session, "cwd": f"/srv/code/app{turn // 20 % 7}", "prompt_id": prompt}
        yield base | {"hook_event_name": "UserPromptSubmit", "prompt": prose(120, 250)}
        for call in range(random_.randint(1, 5)):
            path = f"src/{random_.choice(words)}/{random_.choice(words)}.py"
            lines = "\n".join(f"{path}:{random_.randint(1, 900)}: {prose(6, 12)}" for _ in range(random_.randint(8, 16)))
            yield base | {
                "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": f"toolu_{turn}_{call}",
                "tool_input": {"command": f"grep -rn {random_.choice(words)} {path} | head"},
                "tool_response": {"stdout": lines, "stderr": "", "interrupted": False},
            }  # fmt: skip
        yield base | {"hook_event_name": "Stop", "last_assistant_message": prose(120, 250), "stop_hook_active": False}


def write_segments(journal: Path, lines: Iterator[dict[str, object]], first: int, count: int) -> int:
    """Segment files as hooks leave them, without the syncs; the bytes written."""
    total, file = 0, None
    for index, payload in enumerate(itertools.islice(lines, count), first):
        if file is None or file.tell() >= SEGMENT_BYTES:
            if file is not None:
                file.close()
            file = (journal / f"{index + 1:010d}-{START_NS + index:x}-1.log").open("wb")
        total += file.write(frame(HOOK, b"claude-code", START_NS + index * 1_000_000, json.dumps(payload).encode()))
    if file is not None:
        file.close()
    return total


def resident_mb() -> float:
    """Memory this process holds now; on macOS the most it ever held."""
    if sys.platform == "darwin":
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / (1 << 20)


class Bare:
    """A plain table filled with the very rows the ledger stored, in batches of the same size."""

    def __init__(self, path: Path, ledger: Path) -> None:
        self._ledger = ledger
        self._reached = 0
        self._target = sqlite3.connect(path, isolation_level=None)
        self._target.execute("PRAGMA journal_mode = WAL")
        self._target.execute("PRAGMA synchronous = FULL")
        self._target.execute(f"CREATE TABLE bare ({COLUMNS})")

    def insert_new(self) -> tuple[int, float]:
        """Insert what the ledger has gained; how many texts, and the seconds spent inserting."""
        source = sqlite3.connect(f"{self._ledger.absolute().as_uri()}?mode=ro", uri=True)
        count, seconds = 0, 0.0
        places = ", ".join("?" * (COLUMNS.count(",") + 1))
        texts = source.execute(f"SELECT rowid, {COLUMNS} FROM turns WHERE rowid > ? ORDER BY rowid", (self._reached,))
        while rows := texts.fetchmany(BATCH_RECORDS):
            self._reached = rows[-1][0]
            start = time.perf_counter()
            self._target.execute("BEGIN IMMEDIATE")
            self._target.executemany(f"INSERT INTO bare VALUES ({places})", [row[1:] for row in rows])
            self._target.execute("COMMIT")
            seconds += time.perf_counter() - start
            count += len(rows)
        source.close()
        return count, seconds


def measure(home: Home, bare: Bare) -> dict[str, float]:
    """Rounds of draining and of bare inserting, in turns."""
    lines, clock = payloads(random.Random(20)), SystemClock()
    drained = inserted = 0.0
    texts = 0
    collect_rarely()  # as the worker does
    with Ledger.open(home.ledger, clock) as ledger:
        work = Drain(home, ledger, clock, [])
        before = 0.0
        for number in range(ROUNDS):
            size = write_segments(home.journal, lines, number * LINES // ROUNDS, LINES // ROUNDS)
            start = time.perf_counter()
            work.run()
            took = time.perf_counter() - start
            before = before or resident_mb()  # once the caches are warm: what counts is that it does not grow from there
            count, raw = bare.insert_new()
            drained, inserted, texts = drained + took, inserted + raw, texts + count
            print(f"{size >> 20} MiB: {count} texts in {took:.2f} s, bare in {raw:.2f} s", flush=True)
        after = resident_mb()
        work.close()
        counts = ledger.counts()
    events = counts.turns + counts.events
    return {
        "events": events, "events_per_s": round(events / drained), "raw_insert_per_s": round(texts / inserted),
        "ratio": round((events / drained) / (texts / inserted), 3),
        "rss_mb_start": round(before, 1), "rss_mb_end": round(after, 1),
    }  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch:
        home = Home(Path(scratch) / "home")
        home.journal.mkdir(mode=0o700, parents=True)
        Ledger.open(home.ledger, SystemClock()).close()
        print(json.dumps(measure(home, Bare(Path(scratch) / "bare.db", home.ledger))))


if __name__ == "__main__":
    main()
