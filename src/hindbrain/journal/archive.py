"""Segments whose every line is stored -> compressed archives, from which the ledger can be rebuilt.

A segment is taken away only when its archive is on the disk and has been read back, and only under an exclusive lock: a hook
that still has it open either holds the lock (then it stays for next time) or finds afterwards that it has no name.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from hindbrain.base.errors import JournalError
from hindbrain.base.files import ensure_private_dir, open_private, replace_file, storage_error, sync_directory
from hindbrain.journal.pack import pack, unpack
from hindbrain.journal.read import ARCHIVE_SUFFIX, BLOCK, segment_name, segments


@contextlib.contextmanager
def without_writers(path: Path) -> Iterator[bool]:
    """Keep hooks off a segment for the length of a block; False when one has it open, and may still be writing.

    Asking and reading afterwards would not do: a hook that opened the segment long ago may begin to write in between, and
    half of its line would be taken for a torn one. Only for a segment that is not the newest.
    """
    descriptor = open_private(path, os.O_RDONLY)
    try:
        yield _lock(descriptor)
    finally:
        os.close(descriptor)


def archive_stored(journal: Path, archive: Path, stored: Mapping[str, int], keep: int) -> list[str]:
    """Archive all segments that are wholly stored, but for the newest, where lines go, and `keep` full ones before it."""
    done: list[str] = []
    _clear_away(archive)
    for path in segments(journal)[: -(keep + 1)]:
        if _archive(path, archive, stored.get(segment_name(path), -1)):
            done.append(segment_name(path))
    if done:
        sync_directory(journal)
    return done


def _clear_away(archive: Path) -> None:
    """A run that was cut off may have left half an archive, with records that might have to be forgotten later."""
    for path in archive.glob(f".*{ARCHIVE_SUFFIX}.*.tmp"):
        path.unlink(missing_ok=True)


def _archive(path: Path, archive: Path, stored_to: int) -> bool:
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return False  # it got its lasting name since it was listed
    try:
        # the size counts only once no writer can change it any more
        if not _lock(descriptor) or os.fstat(descriptor).st_size > max(stored_to, 0):
            return False
        ensure_private_dir(archive)
        target = archive / f"{segment_name(path)}{ARCHIVE_SUFFIX}"
        _verify(target, _compress(descriptor, target))
        path.unlink()
    except OSError as error:
        raise storage_error("archive", path, error) from error
    finally:
        os.close(descriptor)
    return True


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False  # a writer is there, or this file system has no locks: the segment simply stays
    return True


def _compress(descriptor: int, target: Path) -> bytes:
    """Write the archive; gives back what went in. A segment is a few megabytes, so it may be held."""
    blocks, length = [], 0
    while block := os.pread(descriptor, BLOCK, length):
        blocks.append(block)
        length += len(block)
    data = b"".join(blocks)
    replace_file(target, pack(data))
    return data


def _verify(target: Path, wanted: bytes) -> None:
    held = [block.data for block in unpack(target.read_bytes())]
    if None in held or b"".join(block for block in held if block is not None) != wanted:
        raise JournalError(f"archive {target} does not hold what was written", hint="check the disk; the segment was kept")
