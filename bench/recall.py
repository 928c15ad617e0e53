"""100,000 turns in a home -> how long a question takes through the library, over what no search can do without.

The floor is the bare full-text query (one FTS5 table over whole turns, porter stems, the same stop words, ten rows) and the bare
vector scan (signs by XOR and a count of bits, the best 1,500 by their exact product) on the same turns, asked in turns with the
product. `own_index_ms` is the bare query on the product's own index, which holds the words around each turn too. Questions look
everywhere; `project` tells the same for one of 200 projects. BIG=1 adds PostgreSQL and a million turns on both engines; there the
index of vectors is made once all are stored, which takes a tenth of the time that adding each does. The worker's memory is that
of a real one over the same home, idle, with its embedder loaded and with none. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import os
import pstats
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.floor import Floor, Took, took  # noqa: E402
from bench.peers.driver import resident_mb  # noqa: E402
from bench.said import Said  # noqa: E402
from bench.talk import PROJECTS, batches, identity  # noqa: E402
from bench.workers import idle_workers  # noqa: E402
from hindbrain import Memory  # noqa: E402
from hindbrain.base.clock import SystemClock  # noqa: E402
from hindbrain.base.home import Home  # noqa: E402
from hindbrain.ledger.postgres.store import PostgresLedger  # noqa: E402
from hindbrain.ledger.store import Ledger  # noqa: E402
from hindbrain.serve.daemon import collect_rarely  # noqa: E402
from tests.postgres import Cluster  # noqa: E402

DISK = "/var/tmp"  # kept over a restart by definition, so never a file system in memory
WARM = 5
SETTLE_SECONDS = 7200.0


def quantiles(times: list[Took]) -> dict[str, float]:
    wall = sorted(each.wall for each in times)
    return {"p50_ms": round(statistics.median(wall), 2), "p95_ms": round(wall[int(len(wall) * 0.95)], 2)}


def middle(times: Iterable[float]) -> float:
    return round(statistics.median(times), 2)


def ask(memories: dict[str, Memory], floor: Floor, talk: Said) -> dict[str, dict[str, Any]]:
    """Engines, scopes and the floor in turns, question by question."""
    times: dict[tuple[str, str], list[Took]] = {}
    words, vectors, own = (list[Took]() for _ in range(3))
    for number, (question, _) in enumerate([*talk.questions()[:WARM], *talk.questions()], start=-WARM):
        asked = floor.vector_of(question)
        taken = {
            (name, where): took(partial(memory.search, question, k=10, project=scope))
            for name, memory in memories.items()
            for where, scope in (("everywhere", None), ("project", identity(number % PROJECTS)))
        }  # fmt: skip
        least = took(partial(floor.words, question)), took(partial(floor.vectors, asked))
        if number >= 0:
            words.append(least[0])
            vectors.append(least[1])
            own.append(took(partial(floor.own_index, question)))
            for key, value in taken.items():
                times.setdefault(key, []).append(value)
    return {
        name: compared(times[name, "everywhere"], words, vectors)
        | {"own_index_ms": middle(each.wall for each in own), "project": quantiles(times[name, "project"])}
        for name in memories
    }


def compared(ours: list[Took], words: list[Took], vectors: list[Took]) -> dict[str, Any]:
    """Ours over the floor, which is the sum of its two parts for each question."""
    wall = [one.wall + other.wall for one, other in zip(words, vectors, strict=True)]
    cpu = [one.cpu + other.cpu for one, other in zip(words, vectors, strict=True)]
    return {
        **quantiles(ours), "floor_ms": middle(wall), "ratio": round(middle(each.wall for each in ours) / middle(wall), 2),
        "floor_words_ms": middle(each.wall for each in words), "floor_vectors_ms": middle(each.wall for each in vectors),
        "cpu_ms": middle(each.cpu for each in ours), "cpu_ratio": round(middle(each.cpu for each in ours) / middle(cpu), 2),
    }  # fmt: skip


class Served:
    """A database of the cluster while it is filled."""

    def __init__(self, cluster: Cluster, name: str) -> None:
        self._cluster, self._name = cluster, name
        self._index = ""

    def begin(self) -> None:
        with self._cluster.admin(self._name) as connection:
            found = connection.execute("SELECT indexdef FROM pg_indexes WHERE indexname = 'vectors_by_bits'").fetchone()
            assert found is not None, "the index of vectors has another name"
            self._index = str(found[0])
            connection.execute("DROP INDEX hindbrain.vectors_by_bits")

    def complete(self) -> None:
        with self._cluster.admin(self._name) as connection:
            connection.execute("SET maintenance_work_mem = '2GB'")
            connection.execute(self._index.encode())
            connection.execute("ANALYZE")  # as the server would by itself within a minute


class Ground:
    """A home, a shared ledger if wanted, and the floor, all holding the same turns."""

    def __init__(self, folder: Path, url: str | None, served: Served | None = None) -> None:
        self.home, self.url, self.served = folder / "home", url, served
        self.apart = folder / "apart"  # holds nothing itself: every answer comes from the shared ledger
        self.talk = Said()
        self.floor = Floor(folder / "floor.db")

    def fill(self, turns: int) -> None:
        """Put the turns in; their vectors come with `memories`."""
        clock = SystemClock()
        self.home.mkdir(mode=0o700)
        start = time.perf_counter()
        with ExitStack() as stack:
            ledgers: list[Ledger | PostgresLedger] = [stack.enter_context(Ledger.open(Home(self.home).ledger, clock))]
            if self.url is not None:
                ledgers.append(stack.enter_context(PostgresLedger.open(self.url, clock, statement_seconds=600)))
            if self.served is not None:
                self.served.begin()
            for number, batch in enumerate(batches(self.talk, turns), start=1):
                for ledger in ledgers:
                    ledger.ingest(batch)
                self.floor.add([event.text or "" for _, events in batch.records for event in events if event.kind == "turn"])
                if number % 50 == 0:
                    print(f"{number * 1000} turns after {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
        self.floor.complete()
        self.floor.beside(Home(self.home).ledger)

    @contextmanager
    def memories(self) -> Iterator[dict[str, Memory]]:
        """The library over each engine, with nothing left to be embedded."""
        with ExitStack() as stack:
            found = {"sqlite": stack.enter_context(Memory.open(home=self.home))}
            if self.url is not None:
                found["postgresql"] = stack.enter_context(Memory.open(home=self.apart, database=self.url))
            for name, memory in found.items():
                start = time.perf_counter()
                memory.settle(timeout=SETTLE_SECONDS)
                if self.served is not None and name == "postgresql":
                    self.served.complete()
                print(f"{name} settled after {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
            yield found


def measured(folder: Path, turns: int, cluster: Cluster | None) -> dict[str, Any]:
    name = f"recall_{turns}"
    ground = Ground(folder, None) if cluster is None else Ground(folder, cluster.create(name), Served(cluster, name))
    ground.fill(turns)
    with ground.memories() as memories:
        told = ask(memories, ground.floor, ground.talk)
        for name, memory in memories.items():
            told[name]["rss_mb"] = asking_mb(memory_home(ground, name), ground.url if name == "postgresql" else None)
            if memory.trouble:
                told[name]["trouble"] = memory.trouble
            if name == "postgresql" and memory.answered_by != "shared":
                told[name]["trouble"] = "the shared ledger did not answer"
    return {"n": turns, **told.pop("sqlite"), **told}


def memory_home(ground: Ground, engine: str) -> Path:
    return ground.home if engine == "sqlite" else ground.apart


def asking_mb(home: Path, url: str | None) -> float:
    """What a process holds that has opened the memory and asked fifty questions; in a new one, where nothing else is."""
    command = [sys.executable, str(Path(__file__)), "--ask", str(home), *([url] if url else [])]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def ask_and_tell(home: str, url: str | None = None) -> None:
    asked = [question for question, _ in Said().questions()[:50]]
    with Memory.open(home=home, database=url) as memory:
        for question in asked:
            memory.search(question, k=10)
        print(round(resident_mb()))


def profiled(folder: Path, turns: int) -> str:
    """Where the time of fifty questions goes."""
    ground = Ground(folder, None)
    ground.fill(turns)
    with ground.memories() as memories:
        asked = [question for question, _ in ground.talk.questions()[:55]]
        for question in asked[:5]:
            memories["sqlite"].search(question)
        profile = cProfile.Profile()
        profile.enable()
        for question in asked[5:]:
            memories["sqlite"].search(question)
        profile.disable()
    out = io.StringIO()
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("tottime").print_stats(30)
    pstats.Stats(profile, stream=out).strip_dirs().sort_stats("cumulative").print_stats(40)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a question takes.")
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--big", action="store_true", help="both engines, and ten times as many turns; BIG=1 does the same")
    parser.add_argument("--ask", nargs="+", metavar="HOME", help=argparse.SUPPRESS)
    parser.add_argument("--profile", action="store_true", help="tell where the time goes instead")
    args = parser.parse_args()
    collect_rarely()  # as the worker does
    if args.ask:
        return ask_and_tell(*args.ask)
    tempfile.tempdir = DISK
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch, ExitStack() as stack:
        folder = Path(scratch)
        if args.profile:
            print(profiled(folder, args.turns))
            return
        big = args.big or os.environ.get("BIG") == "1"
        cluster = stack.enter_context(Cluster(fsync=True, settings={"shared_buffers": "1GB"})) if big else None
        report = measured(folder, args.turns, cluster)
        report |= idle_workers(folder / "home")
        if cluster is not None:
            (folder / "big").mkdir()
            more = report["big"] = measured(folder / "big", 10 * args.turns, cluster)
            report["p95_growth"] = {
                "sqlite": round(more["p95_ms"] / report["p95_ms"], 2),
                "postgresql": round(more["postgresql"]["p95_ms"] / report["postgresql"]["p95_ms"], 2),
            }
        print(json.dumps(report))


if __name__ == "__main__":
    main()
