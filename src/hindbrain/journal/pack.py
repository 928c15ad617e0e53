"""A segment's bytes -> an archive in blocks that stand each for themselves, and back.

An archive is a gzip file, readable by any tool. It is made of many gzip members of whole lines, each with its place in the
segment where gzip keeps a time. One damaged bit therefore costs one block, not all that follows, and the lines behind it
still know where they stood. Pure: no I/O, no clock.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

BLOCK_BYTES: Final = 64 << 10
_LEVEL: Final = 6
_MAGIC: Final = b"\x1f\x8b\x08\x00"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the segment; `data` is None when it cannot be unpacked, and then `end` is where the next sound one begins."""

    start: int
    end: int
    data: bytes | None


def pack(data: bytes) -> bytes:
    """The archive of a segment; the same segment always gives the same bytes."""
    members, start = [], 0
    while start < len(data):
        end = data.find(b"\n", min(start + BLOCK_BYTES, len(data) - 1)) + 1 or len(data)
        members.append(gzip.compress(data[start:end], _LEVEL, mtime=start))
        start = end
    return b"".join(members) or gzip.compress(b"", _LEVEL, mtime=0)


def unpack(archive: bytes) -> Iterator[Block]:
    """The blocks of an archive in order; what cannot be unpacked is passed over up to the next block that can."""
    at = place = 0
    lost = False
    while at < len(archive):
        found = _member(archive, at)
        if found is None:
            lost = True
            after = archive.find(_MAGIC, at + 1)
            at = after if after >= 0 else len(archive)
            continue
        told, data, at = found
        start = max(told, place) if lost else place  # the place is told for the block behind a lost one; it has no checksum
        if lost:
            yield Block(place, start, None)
        yield Block(start, start + len(data), data)
        place, lost = start + len(data), False
    if lost or not archive:
        yield Block(place, place, None)


def _member(archive: bytes, at: int) -> tuple[int, bytes, int] | None:
    """The member that begins here: its place in the segment, its bytes, and where the next one begins."""
    if not archive.startswith(_MAGIC, at):
        return None
    unpacker = zlib.decompressobj(wbits=31)
    try:
        data = unpacker.decompress(memoryview(archive)[at:])
    except zlib.error:
        return None
    if not unpacker.eof:
        return None
    return int.from_bytes(archive[at + 4 : at + 8], "little"), data, len(archive) - len(unpacker.unused_data)
