"""Segments on disk -> records in order, with what is torn or damaged told apart and kept.

A reader never stops at a bad line: it reports the place, hands over a copy, and goes on behind it. It also never takes
the unfinished end of a segment for damage while a writer may still be at work on it; `final` says that none can be.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from hindbrain.base.errors import StorageError, UnsafePath
from hindbrain.journal.line import BadLine, Line, is_void, parse
from hindbrain.journal.pack import unpack

# An open segment ends in .log; .new is one whose creator was cut off between making it durable and naming it.
SEGMENT_SUFFIXES: Final = (".log", ".new")
ARCHIVE_SUFFIX: Final = ".log.gz"
BLOCK: Final = 1 << 18
# No writer makes a longer line; a longer run without a newline is damage and is passed over without being held.
MAX_LINE: Final = 64 << 20
MAX_COPY: Final = 64 << 10


class SegmentGone(StorageError):
    """An open segment has been archived, or taken away, since it was listed."""


@dataclass(frozen=True, slots=True)
class Record:
    """A good line, and where it stands. `end` is where a cursor goes once the record is dealt with."""

    segment: str
    start: int
    end: int
    line: Line


@dataclass(frozen=True, slots=True)
class Damage:
    """A stretch that holds no record; `copy` is its beginning, kept as evidence."""

    segment: str
    start: int
    end: int
    kind: Literal["torn", "damaged"]
    reason: str
    copy: bytes


def segment_name(path: Path) -> str:
    """The name a segment keeps all its life: open, being created, and archived."""
    return path.name.split(".", 1)[0]


def segments(journal: Path) -> list[Path]:
    """The open segments, oldest first; a journal that does not exist yet has none."""
    return _listed(journal, SEGMENT_SUFFIXES)


def archives(archive: Path) -> list[Path]:
    """The archived segments, oldest first."""
    return _listed(archive, (ARCHIVE_SUFFIX,))


def _listed(directory: Path, suffixes: tuple[str, ...]) -> list[Path]:
    try:
        names = [name for name in os.listdir(directory) if name.endswith(suffixes) and not name.startswith(".")]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StorageError(f"cannot list {directory}: {error.strerror}", path=str(directory), errno=error.errno) from error
    return [directory / name for name in sorted(names)]


def read_segment(path: Path, start: int = 0, *, final: bool = False) -> Iterator[Record | Damage]:
    """Records and damage of one open segment from a byte offset on; SegmentGone when it is not in the journal any more."""
    with os.fdopen(_opened(path), "rb", buffering=0) as file:
        if not _is_regular(file.fileno()):
            raise UnsafePath(f"{path} is not a plain file", path=str(path))
        file.seek(start)
        yield from read_stream(file, segment_name(path), start, final=final)


def read_archive(path: Path) -> Iterator[Record | Damage]:
    """Records and damage of one archived segment. A block that cannot be unpacked is told of, and reading goes on behind it."""
    segment = segment_name(path)
    try:
        archive = path.read_bytes()
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", path=str(path), errno=error.errno) from error
    held, start = b"", 0  # archives of any gzip hold lines that go over the end of a block
    for block in unpack(archive):
        if block.data is None:
            reason = f"archive {path.name} cannot be unpacked here"
            yield Damage(segment, block.start, block.end, "damaged", reason, b"")
            held = b""
            continue
        if not held:
            start = block.start
        held += block.data
        cut = held.rfind(b"\n") + 1
        yield from _judge(held[:cut], segment, start)
        held, start = held[cut:], start + cut
    if held:
        yield _last(held, segment, start)


def _opened(path: Path) -> int:
    """The segment under the name it was listed with, or the lasting one it was given since."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        return os.open(path, flags)
    except FileNotFoundError as error:
        if path.suffix == ".new":
            return _opened(path.with_suffix(".log"))
        raise SegmentGone(f"cannot read {path}: {error.strerror}", path=str(path), errno=error.errno) from error
    except OSError as error:
        raise StorageError(f"cannot read {path}: {error.strerror}", path=str(path), errno=error.errno) from error


def _is_regular(descriptor: int) -> bool:
    return os.fstat(descriptor).st_mode & 0o170000 == 0o100000


def read_stream(file: BinaryIO, segment: str, start: int, *, final: bool) -> Iterator[Record | Damage]:
    """Split a stream that stands at `start` into lines, each judged by itself."""
    position, held = start, bytearray()
    while block := file.read(BLOCK):
        fresh = len(held)
        held += block
        if len(held) > MAX_LINE and held.find(b"\n", fresh) < 0:
            position = yield from _pass_over(file, segment, position, held)
            fresh = 0
        cut = held.rfind(b"\n", fresh) + 1
        if cut:
            yield from _judge(bytes(held[:cut]), segment, position)
            position += cut
            del held[:cut]
    if held and final:
        yield _last(bytes(held), segment, position)


def _judge(lines: bytes, segment: str, position: int) -> Iterator[Record | Damage]:
    for line in lines.split(b"\n")[:-1]:
        end = position + len(line) + 1
        if line and not is_void(line):
            try:
                yield Record(segment, position, end, parse(line))
            except BadLine as bad:
                yield _damage(line, segment, position, end, bad)
        position = end


def _last(line: bytes, segment: str, start: int) -> Record | Damage:
    """The end of a segment that nobody writes to any more: torn, unless nothing but its newline is missing."""
    end = start + len(line)
    try:
        return Record(segment, start, end, parse(line))
    except BadLine:
        return _damage(line, segment, start, end, BadLine("the end is missing", torn=True))


def _pass_over(file: BinaryIO, segment: str, position: int, held: bytearray) -> Generator[Damage, None, int]:
    """Skip to the next newline without holding what lies between; returns where it ends and leaves in `held` what follows."""
    copy, skipped = bytes(held[:MAX_COPY]), len(held)
    held.clear()
    while block := file.read(BLOCK):
        cut = block.find(b"\n") + 1
        if cut:
            skipped += cut
            held += block[cut:]
            break
        skipped += len(block)
    yield Damage(segment, position, position + skipped, "damaged", f"no newline for {skipped} bytes", copy)
    return position + skipped


def _damage(line: bytes, segment: str, start: int, end: int, bad: BadLine) -> Damage:
    return Damage(segment, start, end, "torn" if bad.torn else "damaged", bad.reason, line[:MAX_COPY])
