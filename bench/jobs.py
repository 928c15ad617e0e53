"""How many no-op jobs a second go through the queue, against bare tables, pgqueuer and procrastinate, on one disk in one run.

A job is claimed and finished, each on the disk before the next step. Everybody has one process. Batches are taken over one
connection, and for comparison over five (`with_5`); of procrastinate, which takes no batches, the better of one task and ten
counts. Rounds alternate, so that a noisy machine disturbs all alike; a figure is the median of its rounds, a ratio that of two
medians. The bars: pgqueuer's rate, five times procrastinate's, 0.6 of the bare tables'. The last line is one JSON object.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import warnings
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # the private PostgreSQL belongs to the tests

from bench.contenders import BarePostgres, BareSQLite, Contender, Ours  # noqa: E402
from hindbrain.base.clock import SystemClock  # noqa: E402
from hindbrain.ledger.postgres.store import PostgresLedger  # noqa: E402
from hindbrain.ledger.store import Ledger  # noqa: E402
from tests.postgres import Cluster  # noqa: E402

with warnings.catch_warnings(action="ignore"):  # they look for the user's folders while they are imported
    from bench.rivals import PgQueuer, Procrastinate

ROUNDS = int(os.environ.get("ROUNDS", "15"))
BATCH = 20
DISK = "/var/tmp"  # kept over a restart by definition, so never a file system in memory
# How many jobs a round has: about as many as take half a second, so that all of a round meet the same machine.
JOBS = {
    "sqlite": 1000, "pg": 400, "pg_batch": 5000, "pgqueuer": 4000, "procrastinate": 200,
    "bare_sqlite": 1000, "bare_pg_batch": 5000,
}  # fmt: skip


def contenders(cluster: Cluster, scratch: Path) -> dict[str, tuple[Contender, str]]:
    """By name and number of consumers, each with a database of its own; its URL, or nothing for a file."""
    made: dict[str, tuple[Contender, str]] = {
        "sqlite:1": (Ours(Ledger.open(scratch / "ledger.db", SystemClock()), 1), ""),
        "bare_sqlite:1": (BareSQLite(scratch / "bare.db"), ""),
    }
    wanted = {"pg": (1,), "pg_batch": (1, 5), "bare_pg_batch": (1, 5), "pgqueuer": (1, 5), "procrastinate": (1, 10)}
    for name, numbers in wanted.items():
        for consumers in numbers:
            url = cluster.create(f"{name}_{consumers}")
            made[f"{name}:{consumers}"] = (contender(name, url, consumers), url)
    return made


def contender(name: str, url: str, consumers: int) -> Contender:
    match name:
        case "bare_pg_batch":
            return BarePostgres(url, BATCH, consumers)
        case "pgqueuer":
            return PgQueuer(url, BATCH, consumers)
        case "procrastinate":
            return Procrastinate(url, consumers)
        case _:
            ledger = PostgresLedger.open(url, SystemClock(), pool_size=consumers)
            return Ours(ledger, BATCH if name == "pg_batch" else 1, consumers)


def tidy(url: str) -> None:
    """What the server does by itself in time: no round pays for the one before it."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def measure(running: dict[str, tuple[Contender, str]]) -> dict[str, float]:
    rates: dict[str, list[float]] = {name: [] for name in running}
    for each, _ in running.values():
        each.prepare()
    for number in range(ROUNDS + 1):
        for name, (each, url) in running.items():
            jobs = JOBS[name.partition(":")[0]]
            each.fill(jobs)
            if url:
                tidy(url)
            rate = jobs / each.run(jobs)
            if number:  # the first round warms the caches
                rates[name].append(rate)
        if number:
            print(f"round {number}:", *(f"{name} {found[-1]:.0f}" for name, found in rates.items()), file=sys.stderr, flush=True)
    return {name: statistics.median(found) for name, found in rates.items()}


def main() -> None:
    tempfile.tempdir = DISK
    with tempfile.TemporaryDirectory(prefix="hindbrain-bench-") as scratch, Cluster(fsync=True) as cluster:
        rates = measure(contenders(cluster, Path(scratch)))
    print(json.dumps(summary(rates)))


def summary(rates: dict[str, float]) -> dict[str, object]:
    best = {name: rates[f"{name}:1"] for name in JOBS}
    best["procrastinate"] = max(rates["procrastinate:1"], rates["procrastinate:10"])
    five = {name: rates[f"{name}:5"] for name in ("pg_batch", "pgqueuer", "bare_pg_batch")}
    return {
        **{f"{name}_per_s": round(rate) for name, rate in best.items()},
        "pg_batch_to_pgqueuer": round(best["pg_batch"] / best["pgqueuer"], 2),
        "pg_batch_to_procrastinate": round(best["pg_batch"] / best["procrastinate"], 2),
        "sqlite_to_bare": round(best["sqlite"] / best["bare_sqlite"], 2),
        "pg_batch_to_bare": round(best["pg_batch"] / best["bare_pg_batch"], 2),
        "with_5": {f"{name}_per_s": round(rate) for name, rate in five.items()}, "rounds": ROUNDS,
    }  # fmt: skip


if __name__ == "__main__":
    main()
