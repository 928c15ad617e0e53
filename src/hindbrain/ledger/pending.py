"""Journal and cursors -> how much the ledger still has to take in, per segment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hindbrain.journal.read import Record, SegmentGone, read_segment, segment_name, segments
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.store import Ledger


@dataclass(frozen=True, slots=True)
class Pending:
    """What of one segment has not been taken in."""

    segment: str
    bytes: int
    lines: int


def pending(ledger: Ledger, journal: Path) -> list[Pending]:
    """The segments the ledger is behind on, oldest first. A segment archived meanwhile is not behind."""
    behind = []
    for path in segments(journal):
        offset = ledger.cursor(segment_source(segment_name(path)))
        start = offset if isinstance(offset, int) else 0
        try:
            size = path.stat().st_size
            lines = sum(isinstance(item, Record) for item in read_segment(path, start)) if size > start else 0
        except (FileNotFoundError, SegmentGone):
            continue
        if size > start:
            behind.append(Pending(segment_name(path), size - start, lines))
    return behind
