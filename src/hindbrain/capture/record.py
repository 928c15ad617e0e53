"""Events made by our own stages -> durable journal lines, redacted on the way.

Hooks write what they were handed; everything else that enters the ledger (what a transcript said, which project a folder is,
what a program records through the library) is written here first, so that the ledger can be rebuilt from the journal alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hindbrain.base.errors import JournalError
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact
from hindbrain.capture.event import Event, encode
from hindbrain.journal.append import NotKept, append_to, open_journal
from hindbrain.journal.line import EVENT, frame

# Many lines share one write and one sync up to this size.
_GROUP_BYTES: Final = 256 << 10


class Recorder:
    """Keeps the journal open for a process that writes many events. Safe to use from several processes at once."""

    def __init__(self, home: Path) -> None:
        self._home = home
        try:
            self._journal = open_journal(os.fsencode(home))
        except OSError as error:
            raise JournalError(f"cannot open the journal in {home}: {error.strerror or error}") from error

    def close(self) -> None:
        if self._journal >= 0:
            os.close(self._journal)
            self._journal = -1

    def record(self, events: Iterable[Event], now_ms: int) -> int:
        """Return how many lines were written once all of them are durable."""
        group, size, lines = [], 0, 0
        for event in events:
            line = framed(event, now_ms)
            group.append(line)
            size += len(line)
            lines += 1
            if size >= _GROUP_BYTES:
                self._append(b"".join(group))
                group, size = [], 0
        if group:
            self._append(b"".join(group))
        return lines

    def _append(self, data: bytes) -> None:
        try:
            append_to(self._journal, data)
        except NotKept as error:
            raise JournalError(f"cannot write the journal in {self._home}: {error.detail}") from error


def framed(event: Event, now_ms: int) -> bytes:
    """One event as the journal holds it."""
    data, counts = encode(event), dict(event.redacted)
    if suspicious(data):
        result = redact(data)
        data = result.data
        for rule, count in result.counts.items():
            counts[rule] = counts.get(rule, 0) + count
    told = b",".join(b"%s:%d" % (rule.encode(), count) for rule, count in sorted(counts.items()))
    meta = {"r": told} if told else {}
    return frame(EVENT, event.agent.encode("utf-8", "replace"), now_ms * 1_000_000, data, meta)
