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
from hindbrain.serve.drain import Drain

LINES = int(os.environ.get("LINES_TOTAL", "100000"))
SEGMENT_BYTES = 4 << 20
START_NS = 1_790_000_000_000_000_000


def vocabulary(random_: random.Random) -> tuple[list[str], list[float]]:
    """20,000 words that occur as words do: the n-th about 1/n as often as the first."""
    syllables = [a + b for a, b in itertools.product("bcdfglmnprstvw", ("a", "e", "i", "o", "u", "an", "er", "in"))]
    words = list({"".join(random_.choices(syllables, k=random_.choice((1, 2, 2, 3, 3, 4)))) for _ in range(40_000)})[:20_000]
    weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(words))))
    return words, weights


def payloads(random_: random.Random) -> Iterator[dict[str, object]]:
    """Hook payloads of many sessions: a prompt, a few tool calls, a reply, and again."""
    words, weights = vocabulary(random_)

    def prose(low: int, high: int) -> str:
        return " ".join(random_.choices(words, cum_weights=weights, k=random_.randint(low, high)))

    for turn in itertools.count():
        session, prompt = f"bench-session-{turn // 20}", f"prompt-{turn}"
        base = {"session_id": session, "cwd": f"/srv/code/app{turn // 20 % 7}", "prompt_id": prompt, "permission_mode": "default"}
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


def write_journal(journal: Path) -> int:
    """Segment files as hooks leave them, without the syncs; the bytes written."""
    journal.mkdir(mode=0o700, parents=True)
    total = number = 0
    file = None
    for index, payload in enumerate(itertools.islice(payloads(random.Random(20)), LINES)):
        if file is None or file.tell() >= SEGMENT_BYTES:
            number += 1
            if file is not None:
                file.close()
            file = (journal / f"{number:010d}-{START_NS + index:x}-1.log").open("wb")
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


def drain(home: Home) -> tuple[int, float]:
    """Take the whole journal in; how many turns and events that gave, and the seconds."""
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        work = Drain(home, ledger, SystemClock(), [])
        start = time.perf_counter()
        work.run()
        seconds = time.perf_counter() - start
        work.close()
        counts = ledger.counts()
    return counts.turns + counts.events, seconds


def insert_raw(path: Path, ledger: Path) -> tuple[int, float]:
    """The same texts in the same batches into a table of one column; how many, and the seconds spent inserting."""
    source = sqlite3.connect(f"{ledger.absolute().as_uri()}?mode=ro", uri=True)
    target = sqlite3.connect(path, isolation_level=None)
    target.execute("PRAGMA journal_mode = WAL")
    target.execute("PRAGMA synchronous = FULL")
    target.execute("CREATE TABLE bare (text TEXT NOT NULL)")
    count, seconds = 0, 0.0
    texts = source.execute("SELECT text FROM turns ORDER BY rowid")
    while rows := texts.fetchmany(BATCH_RECORDS):
        start = time.perf_counter()
        target.execute("BEGIN IMMEDIATE")
        target.executemany("INSERT INTO bare (text) VALUES (?)", rows)
        target.execute("COMMIT")
        seconds += time.perf_counter() - start
        count += len(rows)
    source.close()
    target.close()
    return count, seconds


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch:
        home = Home(Path(scratch) / "home")
        home.root.mkdir(mode=0o700)
        size = write_journal(home.journal)
        print(f"{LINES} lines, {size / LINES:.0f} bytes on average", flush=True)
        before = resident_mb()
        events, seconds = drain(home)
        after = resident_mb()
        print(f"drained {events} turns and events in {seconds:.1f} s", flush=True)
        texts, raw_seconds = insert_raw(Path(scratch) / "bare.db", home.ledger)
        print(f"inserted {texts} texts in {raw_seconds:.1f} s", flush=True)
        result = {
            "events": events, "events_per_s": round(events / seconds), "raw_insert_per_s": round(texts / raw_seconds),
            "ratio": round(events / seconds / (texts / raw_seconds), 3),
            "rss_mb_start": round(before, 1), "rss_mb_end": round(after, 1),
        }  # fmt: skip
        print(json.dumps(result))


if __name__ == "__main__":
    main()
