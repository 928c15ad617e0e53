"""A home -> what has been captured, what has been stored, what lies between, and what was lost.

Reads only: no ledger is made, no lock is held, and a home that cannot be read says which part of it. The counts hold for the
moment of asking; captured is what the ledger has taken in plus what still waits in the journal.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerNotReady
from hindbrain.base.files import ensure_private_dir, lock_holder, read_private, replace_file
from hindbrain.base.home import Home
from hindbrain.journal import losses
from hindbrain.journal.read import Record, SegmentGone, archives, read_segment, segment_name, segments
from hindbrain.ledger import query, vectors
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.store import Ledger

_LOG_TAIL: Final = 16 << 10
_MIGRATION_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class Lag:
    """What is in the journal and not yet in the ledger."""

    lines: int
    bytes: int
    oldest_seconds: float | None


@dataclass(frozen=True, slots=True)
class Embedding:
    """What can be found by its meaning, and what cannot yet."""

    model: str = ""  # "" before the first vector
    vectors: int = 0
    waiting: int = 0  # turns and memories
    trouble: str = ""  # why nothing is embedded for now

    def __str__(self) -> str:
        said = f"{self.vectors} vectors of {self.model}" if self.model else "no vectors yet"
        said += f", {self.waiting} turns and memories wait" if self.waiting else ", nothing waits"
        return said + (f"; trouble: {self.trouble}" if self.trouble else "")


@dataclass(frozen=True, slots=True)
class Stored:
    """What the ledger holds."""

    lines: int
    sessions: int
    turns: int
    events: dict[str, int]
    projects: int
    memories: int
    torn: int
    damaged: int
    unparsed: int
    redacted: dict[str, int]
    last_at_ms: int | None
    embedding: Embedding


@dataclass(frozen=True, slots=True)
class Status:
    """One look at a home."""

    home: str
    captured: int
    stored: Stored
    lag: Lag
    lost: losses.Losses
    worker_pid: int | None
    worker_error: str
    sizes: dict[str, int]

    def as_data(self) -> dict[str, object]:
        """The same for programs."""
        stored = self.stored
        return {
            "home": self.home, "captured": self.captured, "ingested": stored.lines,
            "lag": {"lines": self.lag.lines, "bytes": self.lag.bytes, "oldest_seconds": self.lag.oldest_seconds},
            "sessions": stored.sessions, "turns": stored.turns, "events": stored.events, "projects": stored.projects,
            "memories": stored.memories, "damaged": stored.damaged, "torn": stored.torn, "unparsed": stored.unparsed,
            "lost": {"events": self.lost.count, "last_at_ms": self.lost.last_ns // 1_000_000 or None, "reason": self.lost.reason},
            "redacted": {"total": sum(stored.redacted.values()), "by_rule": stored.redacted},
            "last_stored_at_ms": stored.last_at_ms,
            "worker": {"running": self.worker_pid is not None, "pid": self.worker_pid, "last_error": self.worker_error},
            "embedding": asdict(stored.embedding), "sizes": self.sizes,
        }  # fmt: skip


def look(home: Home, clock: Clock) -> Status:
    """Gather everything; raises what the ledger or the journal raises when they cannot be read."""
    stored, offsets = _stored(home, clock)
    waiting = lag(home, offsets, clock)
    return Status(
        home=str(home.root), captured=stored.lines + waiting.lines, stored=stored, lag=waiting,
        lost=losses.read(os.fsencode(home.root), dict(os.environb)), worker_pid=lock_holder(home.worker_lock),
        worker_error=last_error(home.log / "worker.log"), sizes=_sizes(home),
    )  # fmt: skip


def opened(home: Home, clock: Clock) -> Ledger | None:
    """The ledger for reading; None before a worker has made it, or while one is just making it."""
    deadline = time.monotonic() + _MIGRATION_SECONDS
    while home.ledger.exists():
        try:
            return Ledger.open(home.ledger, clock, read_only=True)
        except LedgerNotReady as error:
            if error.fresh:
                return None
            if lock_holder(home.worker_lock) is None or time.monotonic() > deadline:
                raise
            time.sleep(0.02)  # a worker is there and is bringing it up to date
    return None


def _stored(home: Home, clock: Clock) -> tuple[Stored, dict[str, int]]:
    ledger = opened(home, clock)
    if ledger is None:
        return Stored(0, 0, 0, {}, 0, 0, 0, 0, 0, {}, None, Embedding()), {}
    # one view of all: what is stored between two looks would be counted neither as stored nor as waiting
    with ledger, ledger.reading() as connection:
        counts, newest = query.counts(connection), query.sessions(connection, 1)
        cursors = query.cursors(connection, segment_source(""))
        embedding = Embedding(vectors.model(connection), *vectors.counts(connection), noted_trouble(home))
    offsets = {name.removeprefix(segment_source("")): at for name, at in cursors.items() if isinstance(at, int)}
    events = {name: number for name, number in counts.by_kind.items() if not name.startswith("turn:")}
    return Stored(
        counts.lines, counts.sessions, counts.turns, events, counts.projects, counts.memories, counts.torn, counts.damaged,
        counts.unparsed, dict(counts.redacted), newest[0].last_at if newest else None, embedding,
    ), offsets  # fmt: skip


def lag(home: Home, offsets: dict[str, int], clock: Clock) -> Lag:
    """What lies behind the cursors; the age is that of the oldest line that waits."""
    lines, size, oldest = 0, 0, None
    for path in segments(home.journal):
        try:
            for item in read_segment(path, offsets.get(segment_name(path), 0)):
                if isinstance(item, Record):
                    lines += 1
                    oldest = item.line.at_ns if oldest is None else min(oldest, item.line.at_ns)
                size += item.end - item.start
        except SegmentGone:
            continue  # archived meanwhile: stored
    age = None if oldest is None else max(0.0, (clock.now_ms() - oldest // 1_000_000) / 1000)
    return Lag(lines, size, age)


def note_trouble(home: Home, trouble: str) -> None:
    """What keeps the worker from embedding, for whoever asks; "" when nothing does."""
    path = home.derived / "embedding"
    if trouble or path.exists():
        ensure_private_dir(home.derived)
        replace_file(path, json.dumps({"trouble": trouble}).encode())


def noted_trouble(home: Home) -> str:
    """What the worker said last; "" when all was well, or nothing is known."""
    try:
        found = json.loads(read_private(home.derived / "embedding", 1 << 16) or b"{}")
    except (ValueError, RecursionError, HindbrainError):
        return ""
    return str(found.get("trouble", "")) if isinstance(found, dict) else ""


def _sizes(home: Home) -> dict[str, int]:
    database = [home.ledger.with_name(home.ledger.name + end) for end in ("", "-wal", "-shm")]
    return {
        "journal": _total(segments(home.journal)), "archive": _total(archives(home.archive)), "ledger": _total(database),
        "derived": _total(home.derived.glob("*")),
    }  # fmt: skip


def _total(paths: Iterable[Path]) -> int:
    total = 0
    for path in paths:
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue  # taken away between listing and looking
    return total


def last_error(path: Path) -> str:
    """The worker's last complaint, if nothing good was logged since."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - _LOG_TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    for line in reversed(lines):
        parts = line.split(" ", 3)
        if len(parts) == 4 and parts[2] == "ERROR":
            return parts[3]
        if len(parts) == 4 and parts[2] == "INFO":
            return ""
    return ""
