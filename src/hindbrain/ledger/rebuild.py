"""Archives and open segments -> a new ledger with the same content, and then in place of the old one.

The order of replay does not matter (see merge.py), so archives come first and open segments after. A segment that is in
both, because a crash came between archiving and deleting it, is taken once: its cursor says how far it was read.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerBusy, LedgerError, NotFound
from hindbrain.base.files import replace_file, storage_error, sync_directory
from hindbrain.capture.event import Event
from hindbrain.journal.read import Damage, Record, archives, read_archive, read_segment, segments
from hindbrain.ledger.backup import sync_file
from hindbrain.ledger.connect import SIDE_FILES, connect
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import SEGMENT_PREFIX, batches
from hindbrain.ledger.store import Ledger, suspect_mark, swap_text

# What a ledger says, without when and how it learned it: no row numbers, times of writing or segment cursors.
_CONTENT: Final = {
    "projects": "SELECT id, identity, name, remote, common_dir, created_at FROM projects ORDER BY id",
    "project_aliases": "SELECT identity, project_id FROM project_aliases ORDER BY identity",
    "places": "SELECT cwd, identity, project_id, remote, common_dir, branch, at FROM places ORDER BY cwd, machine",
    "sessions": """
        SELECT id, agent, client_id, project_id, cwd, cwd_at, parent_id, started_at, last_at, ended_at, end_reason,
               model, model_at, detail
        FROM sessions ORDER BY id""",
    "turns": """
        SELECT id, session_id, role, text, tool, at, key, origins, segment, start, source_path, source_start,
               source_end, detail, near
        FROM turns ORDER BY id""",
    "events": """
        SELECT id, session_id, kind, role, text, tool, at, key, origins, segment, start, source_path, source_start,
               source_end, detail
        FROM events ORDER BY id""",
    "traces": """
        SELECT turns.id, number, kind, action, value FROM traces JOIN turns ON turns.rowid = turn
        ORDER BY turns.id, number""",
    "calls": """
        SELECT key, id, at, provider, model, kind, project_id, input_tokens, output_tokens, cost_micros, reply, sessions
        FROM calls ORDER BY key""",
    "damage": 'SELECT segment, start, "end", kind, reason FROM damage ORDER BY segment, start',
    "redactions": "SELECT segment, start, rule, count FROM redactions ORDER BY segment, start, rule",
    "cursors": f"""
        SELECT source, at, "offset", position FROM cursors
        WHERE substr(source, 1, {len(SEGMENT_PREFIX)}) <> '{SEGMENT_PREFIX}' ORDER BY source""",
}


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild read."""

    segments: int
    records: int
    damages: int


def rebuild(
    archive_dir: Path, journal_dir: Path, decode: Callable[[Record], list[Event]], dest: Path, clock: Clock,
    progress: Callable[[str], None] | None = None, *, is_final: Callable[[Path], bool] = lambda path: False,
) -> Rebuilt:  # fmt: skip
    """Replay everything into a fresh ledger at `dest`; what an earlier attempt left there is removed.

    `is_final` says of an open segment that no writer is at work on it, so that its unfinished end counts as torn.
    """
    _remove(dest)
    number = records = damages = 0
    with Ledger.open(dest, clock) as ledger:
        readers: list[tuple[Path, Iterable[Record | Damage]]] = []
        readers += [(path, read_archive(path)) for path in archives(archive_dir)]
        readers += [(path, read_segment(path, final=is_final(path))) for path in segments(journal_dir)]
        for path, items in readers:
            if progress is not None:
                progress(path.name)
            number += 1
            for batch in batches(items, decode):
                ledger.ingest(batch)
                records += len(batch.records)
                damages += len(batch.damages)
        ledger.checkpoint()
    return Rebuilt(number, records, damages)


def _remove(path: Path) -> None:
    for suffix in ("", *SIDE_FILES):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    suspect_mark(path).unlink(missing_ok=True)


def fingerprint(ledger: Evidence) -> dict[str, str]:
    """A digest per table over what the journal determines. Two ledgers of the same journal have equal ones, on any engine."""
    with ledger.reading() as connection:
        return {table: _digest(connection.execute(query)) for table, query in _CONTENT.items()}


def _digest(rows: Iterable[tuple[object, ...]]) -> str:
    digest, count = hashlib.sha256(), 0
    for row in rows:
        digest.update(repr(row).encode("utf-8", "surrogatepass"))
        count += 1
    return f"{count}:{digest.hexdigest()}"


def carry_jobs(old: Path, new: Path, clock: Clock) -> int:
    """Copy the jobs that are not over from a ledger to the one that will take its place; how many. They are not in the journal.

    What the old file can no longer tell is left behind: the work follows from what is stored, and is asked for again. A job that
    was running has lost its worker, and tokens go on counting: whoever held one of the old file can change nothing in the new.
    """
    carried = 0
    with Ledger.open(new, clock) as ledger, ledger.writing() as connection:
        names = [str(row[1]) for row in connection.execute("PRAGMA table_info(jobs)")]
        statement = f"INSERT INTO jobs ({', '.join(names)}) VALUES ({', '.join(f':{name}' for name in names)})"
        for job in _readable_jobs(old, names):
            state = "ready" if job["state"] == "running" else job["state"]
            with contextlib.suppress(sqlite3.Error):  # a value that no job can have: that page was damaged
                connection.execute(statement, {**job, "state": state, "again": 0, "lead": 0, "owner": ""})
                carried += 1
    return carried


def _readable_jobs(path: Path, names: list[str]) -> list[dict[str, object]]:
    """As many as can be read; a damaged file ends early, one from before there were jobs has none."""
    found: list[dict[str, object]] = []
    query = f"SELECT {', '.join(names)} FROM jobs WHERE state IN ('waiting', 'ready', 'running', 'parked') ORDER BY id"
    with contextlib.suppress(sqlite3.Error, LedgerError, UnicodeDecodeError):
        with contextlib.closing(connect(path, read_only=True, busy_ms=1_000)) as connection:
            for row in connection.execute(query):
                found.append(dict(zip(names, row, strict=True)))
    return found


def swap_in(new: Path, old: Path, clock: Clock) -> Path | None:
    """Put the ledger `new` in the place of `old`, which is kept under the name given back; None if there was none.

    Nobody may have either open. The old write-ahead log goes first: SQLite would apply it to whatever file it finds
    under that name. A mark says meanwhile that the old file is no longer whole, so a crash here ends in a refusal and
    not in a ledger that lacks its last transactions.
    """
    if not new.exists():
        raise NotFound(f"there is no ledger at {new} to put in place", hint="rebuild it first")
    if _size(new.with_name(new.name + "-wal")):
        raise LedgerBusy(f"the ledger {new} is still open", hint="close it first")
    try:
        sync_file(new)
        sync_directory(new.parent)
        replace_file(suspect_mark(old), swap_text(new))
        kept = _set_aside(old, clock)
        new.replace(old)
        sync_directory(old.parent)
        suspect_mark(old).unlink(missing_ok=True)
        sync_directory(old.parent)
    except OSError as error:
        raise storage_error("replace", old, error) from error
    return kept


def _set_aside(old: Path, clock: Clock) -> Path | None:
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(clock.now_ms() / 1000))
    kept, number = old.with_name(f"{old.name}.damaged-{stamp}"), 1
    while kept.exists():
        number += 1
        kept = old.with_name(f"{old.name}.damaged-{stamp}-{number}")
    for suffix in SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            old.with_name(old.name + suffix).rename(kept.with_name(kept.name + suffix))
    try:
        os.link(old, kept, follow_symlinks=False)  # a second name: at no moment is there no ledger
    except FileNotFoundError:
        return None
    except OSError:  # a file system without hard links
        old.rename(kept)
    return kept


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
