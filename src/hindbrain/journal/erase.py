"""Lines that must not be kept -> the same file with nothing in their place.

Each is overwritten by a void line of the same length, so every other line stays where cursors and rows say it is. The
file is replaced as a whole: after a crash the old one is there or the new one. Writers are kept out by the exclusive
lock; one that comes meanwhile finds the segment sealed and makes a new one.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from hindbrain.base.errors import LockTimeout
from hindbrain.base.files import new_file, open_private, replace_file, write_all
from hindbrain.journal.line import void
from hindbrain.journal.pack import pack, unpack
from hindbrain.journal.read import ARCHIVE_SUFFIX, Damage, Record, read_archive, read_segment

# A writer holds its segment for as long as a sync takes.
LOCK_SECONDS: Final = 10.0

Doomed = Callable[[Record], bool]


def erase(path: Path, doomed: Doomed) -> int:
    """Void the lines of a segment or archive that `doomed` picks; how many there were."""
    if path.name.endswith(ARCHIVE_SUFFIX):
        return _erase_archive(path, doomed)
    if not (spans := _spans(read_segment(path), doomed)):
        return 0
    descriptor = open_private(path, os.O_RDONLY)
    try:
        _keep_writers_out(descriptor, path)
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read()
        with new_file(path) as out:
            write_all(out, _voided(data, spans))
    finally:
        os.close(descriptor)
    return len(spans)


def _keep_writers_out(descriptor: int, path: Path) -> None:
    """Seal the segment, so that new writers turn to another, and wait for those that are at work on it."""
    os.fchmod(descriptor, 0o400)
    deadline = time.monotonic() + LOCK_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise LockTimeout(f"{path} is being written to", path=str(path), hint="try again in a moment") from error
        time.sleep(0.005)


def _erase_archive(path: Path, doomed: Doomed) -> int:
    spans = _spans(read_archive(path), doomed)
    if spans:
        # a block that cannot be unpacked cannot be searched either; it is left out, and what it held is gone
        kept = bytearray(max(block.end for block in unpack(path.read_bytes())))
        for block in unpack(path.read_bytes()):
            if block.data is not None:
                kept[block.start : block.end] = block.data
        replace_file(path, pack(_voided(bytes(kept), spans)))
    return len(spans)


def _spans(items: Iterable[Record | Damage], doomed: Doomed) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for item in items:
        if isinstance(item, Record) and doomed(item):
            found.append((item.start, item.end - 1))  # without the newline that ends it
    return found


def _voided(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    whole = bytearray(data)
    for start, end in spans:
        whole[start:end] = void(end - start)
    return bytes(whole)
