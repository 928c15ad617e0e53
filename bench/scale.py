"""What a million turns cost on each engine: to take in, to find again, to claim a job beside, and in room on the disk.

Every batch goes through the ledger's own ingest: all of them on SQLite, then, when that is over, on PostgreSQL. A server that
tidies up behind one engine's batch would be paid for by the other's.
Cost per turn is the mean over the 10,000 turns around the ten-thousandth, over those around the hundred-thousandth, and over the
last 100,000, in which pieces of index are merged at least once; `growth` is the last over the first, and the bar is 1.5. Ten
thousand turns are over in less than a second, and how fast a machine is changes from one minute to the next. So on SQLite, while
the last 100,000 are taken in, small ledgers are filled beside the large one, a batch here and a batch there, and the first figure
is theirs. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the private PostgreSQL belongs to the tests

from bench.talk import BATCH, Talk, batches  # noqa: E402
from hindbrain.base.clock import SystemClock  # noqa: E402
from hindbrain.ledger.evidence import Evidence  # noqa: E402
from hindbrain.ledger.ingest import Batch  # noqa: E402
from hindbrain.ledger.postgres.store import PostgresLedger  # noqa: E402
from hindbrain.ledger.store import Ledger  # noqa: E402
from hindbrain.queues.job import NewJob  # noqa: E402
from hindbrain.queues.queue import Queue  # noqa: E402
from hindbrain.recall.rank import Scope, search  # noqa: E402
from hindbrain.serve.daemon import collect_rarely  # noqa: E402
from tests.postgres import Cluster  # noqa: E402

DISK = "/var/tmp"  # kept over a restart by definition, so never a file system in memory
WINDOW = 10_000
LAST_TURNS = 100_000
FINISHED_JOBS, READY_JOBS, CLAIMED, CLAIMS = 100_000, 10_000, 1_000, 200


class Engine:
    """A ledger under measurement."""

    def __init__(self, ledger: Evidence, size: Callable[[], int]) -> None:
        self.ledger = ledger
        self.size = size
        self.seconds: list[float] = []
        self.searches: dict[str, dict[str, float]] = {}

    def ingest(self, batch: Batch) -> None:
        start = time.perf_counter()
        self.ledger.ingest(batch)
        self.seconds.append(time.perf_counter() - start)

    def microseconds(self, first: int, last: int) -> float:
        """Cost of a turn, from the batches that brought these."""
        return round(sum(self.seconds[first // BATCH : last // BATCH]) / (last - first) * 1e6, 1)


def ask(engine: Engine, talk: Talk, turns: int) -> None:
    """Search in one project and everywhere, in turns."""
    times: dict[str, list[float]] = {}
    for warm, (words, project) in enumerate([*talk.questions()[:4], *talk.questions()], start=-4):
        for where, scope in (("project", Scope(project)), ("everywhere", Scope(None, everything=True))):
            start = time.perf_counter()
            with engine.ledger.reading() as database:
                search(database, words, scope, 10)
            if warm >= 0:
                times.setdefault(where, []).append((time.perf_counter() - start) * 1000)
    for where, each in times.items():
        engine.searches[f"{where}_{turns}"] = quantiles(each)


def quantiles(times: list[float]) -> dict[str, float]:
    return {"p50_ms": round(statistics.median(times), 2), "p95_ms": round(sorted(times)[int(len(times) * 0.95)], 2)}


def claims(ledger: Evidence) -> dict[str, dict[str, float]]:
    """What one claim takes when nothing was ever done, and when much was."""
    queue, told = Queue(ledger, SystemClock()), {}
    made = itertools.count()

    def add(number: int) -> None:
        for _ in range(0, number, CLAIMED):
            queue.add([NewJob("scale", str(next(made))) for _ in range(CLAIMED)])

    add(CLAIMED)
    told["fresh"] = claim_times(queue)
    add(FINISHED_JOBS)
    for _ in range(0, FINISHED_JOBS, CLAIMED):
        queue.finish(queue.claim("scale", CLAIMED, "scale"))
    add(READY_JOBS)
    told["after_100000_jobs"] = claim_times(queue)
    return told


def claim_times(queue: Queue) -> dict[str, float]:
    times = []
    for _ in range(CLAIMS):
        start = time.perf_counter()
        claimed = queue.claim("scale", 1, "scale")
        times.append((time.perf_counter() - start) * 1000)
        queue.finish(claimed)
    return quantiles(times)


def measure(engine: Engine, turns: int, settle: Callable[[], None], beside: Callable[[], None] = lambda: None) -> None:
    talk = Talk()
    looks = {count for count in (WINDOW, 10 * WINDOW, turns) if count <= turns}
    for number, batch in enumerate(batches(talk, turns), start=1):
        engine.ingest(batch)
        if number * BATCH > turns - LAST_TURNS:
            beside()
        if number * BATCH in looks:
            settle()
            ask(engine, talk, number * BATCH)
        if number * BATCH % (5 * WINDOW) == 0:
            rate = round(WINDOW / sum(engine.seconds[-WINDOW // BATCH :]))
            print(f"{number * BATCH} turns, {rate} a second", file=sys.stderr, flush=True)


def early(engine: Engine) -> float:
    """The cost of a turn around the ten-thousandth."""
    return engine.microseconds(WINDOW // 2, WINDOW // 2 * 3)


def told(engine: Engine, turns: int, first: float) -> dict[str, object]:
    last = min(turns - WINDOW, LAST_TURNS)
    cost = {"around_10000": round(first, 1), "last": engine.microseconds(turns - last, turns)}
    if turns > 11 * WINDOW:
        cost["around_100000"] = engine.microseconds(10 * WINDOW - WINDOW // 2, 10 * WINDOW + WINDOW // 2)
    return {
        "turns_per_s": round(turns / sum(engine.seconds)), "turn_us": cost,
        "growth": round(cost["last"] / cost["around_10000"], 2), "slowest_batch_s": round(max(engine.seconds), 2),
        "search": engine.searches, "size_mb": round(engine.size() / (1 << 20)), "claim": claims(engine.ledger),
    }  # fmt: skip


class Small:
    """Ledgers of a few turns, one after the other, of which the turns around the ten-thousandth are timed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.means: list[float] = []
        self._steps = self._fill()

    def step(self) -> None:
        """One more batch."""
        next(self._steps)

    def _fill(self) -> Iterator[None]:
        for number in itertools.count():
            with Ledger.open(self._folder / f"small-{number}.db", SystemClock()) as ledger:
                engine = Engine(ledger, lambda: 0)
                for batch in batches(Talk(), WINDOW // 2 * 3):
                    engine.ingest(batch)
                    yield
                self.means.append(early(engine))


def on_sqlite(turns: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch:
        path, small = Path(scratch) / "ledger.db", Small(Path(scratch))
        with Ledger.open(path, SystemClock()) as ledger:

            def file_bytes() -> int:
                ledger.checkpoint()
                return path.stat().st_size

            engine = Engine(ledger, file_bytes)
            measure(engine, turns, lambda: None, small.step)
            return told(engine, turns, statistics.mean(small.means) if small.means else early(engine))


def on_postgresql(turns: int) -> dict[str, object]:
    with Cluster(fsync=True, settings={"shared_buffers": "1GB"}) as cluster:
        url = cluster.create("scale")

        def server_bytes() -> int:
            with cluster.admin("scale") as connection:
                return int(connection.execute("SELECT pg_database_size('scale')").fetchone()[0])  # type: ignore[index]

        def analyze() -> None:
            with cluster.admin("scale") as connection:
                connection.execute("ANALYZE")  # as the server would by itself within a minute

        with PostgresLedger.open(url, SystemClock(), statement_seconds=600) as ledger:
            engine = Engine(ledger, server_bytes)
            measure(engine, turns, analyze)
            return told(engine, turns, early(engine))


def main() -> None:
    parser = argparse.ArgumentParser(description="What a million turns cost on each engine.")
    parser.add_argument("--turns", type=int, default=1_000_000)
    turns = max(2 * WINDOW, parser.parse_args().turns // BATCH * BATCH)
    tempfile.tempdir = DISK
    collect_rarely()  # as the worker does
    print(json.dumps({"turns": turns, "sqlite": on_sqlite(turns), "postgresql": on_postgresql(turns)}))


if __name__ == "__main__":
    main()
