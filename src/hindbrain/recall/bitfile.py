"""Many vectors and their signs -> one private file that is mapped into memory, and back if it is whole and the one wanted.

The file is derived: every bit of it can be made from the ledger's rows again. So nothing is repaired here. A file that is
cut, changed, of another model or another version is refused with the reason, and whoever asked makes it anew.

    header    magic, version, checksum of all that follows, rows, length of the names, dimensions
    names     JSON: the model, the sessions by their code; filled up to a multiple of eight
    columns   ids, times, four words of 64 signs, codes of the sessions, and the vectors themselves
"""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import new_file, open_private, storage_error, write_all

MAGIC: Final = b"HBSIGNS\n"
VERSION: Final = 2
WORDS: Final = 4  # of 64 signs
_HEADER: Final = struct.Struct("<8sIIQQI4x")
_ROW_BYTES: Final = 8 + 8 + 8 * WORDS + 4
_MAX_NAMES: Final = 1 << 30

Column = npt.NDArray[Any]


class Unfit(Exception):
    """The file is not what was wanted; the reason is the message."""


class Signs(NamedTuple):
    """Columns of equal length, in the order of ids."""

    ids: Column  # int64
    at: Column  # int64
    words: Column  # uint64, WORDS rows: one after the other in memory, so that a scan reads each in a row
    codes: Column  # int32, into `sessions`
    sessions: list[str]
    numbers: Column  # int8, a row for each vector: read for the few whose signs are near

    @property
    def last(self) -> int:
        """The largest id."""
        return int(self.ids[-1]) if len(self.ids) else 0


def nothing(dimensions: int) -> Signs:
    """No vectors at all."""
    numbers = np.empty((0, dimensions), np.int8)
    return Signs(np.empty(0, "<i8"), np.empty(0, "<i8"), np.empty((WORDS, 0), "<u8"), np.empty(0, "<i4"), [], numbers)


def save(path: Path, signs: Signs, model: str, dimensions: int) -> None:
    """Put the file in place: after any crash the old one or the new one is there, whole."""
    names = json.dumps({"model": model, "sessions": signs.sessions}).encode()
    names += b" " * (-len(names) % 8)
    columns = (signs.ids, signs.at, signs.words, signs.codes, signs.numbers)
    body: list[bytes | memoryview] = [names, *(np.ascontiguousarray(each).data.cast("B") for each in columns if each.size)]
    checksum = 0
    for block in body:
        checksum = zlib.crc32(block, checksum)
    header = _HEADER.pack(MAGIC, VERSION, checksum, len(signs.ids), len(names), dimensions)
    with new_file(path) as descriptor:
        for block in (header, *body):
            write_all(descriptor, block)


def load(path: Path, model: str, dimensions: int) -> Signs:
    """The file's columns, mapped. Raises Unfit, FileNotFoundError when there is none, StorageError when it is no file of ours."""
    descriptor = open_private(path, os.O_RDONLY)
    try:
        size = os.fstat(descriptor).st_size
        if size < _HEADER.size:
            raise Unfit(f"it has {size} bytes")
        data = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
    except OSError as error:
        raise storage_error("map", path, error) from error
    finally:
        os.close(descriptor)
    return _checked(memoryview(data), model, dimensions)


def _checked(data: memoryview, model: str, dimensions: int) -> Signs:
    magic, version, checksum, rows, length, dimension = _HEADER.unpack_from(data)
    if magic != MAGIC or version != VERSION:
        raise Unfit(f"it is of version {version}" if magic == MAGIC else "it is no file of signs")
    if length > _MAX_NAMES or len(data) != _HEADER.size + length + rows * (_ROW_BYTES + dimension):
        raise Unfit(f"its {len(data)} bytes are not those of {rows} rows")
    if zlib.crc32(data[_HEADER.size :]) != checksum:
        raise Unfit("its checksum is another")
    if dimension != dimensions:
        raise Unfit(f"its vectors have {dimension} dimensions, not {dimensions}")
    at = _HEADER.size + length
    names = json.loads(bytes(data[_HEADER.size : at]))
    if names["model"] != model:
        raise Unfit(f"its vectors are of {names['model']}, not of {model}")
    columns: list[Column] = []
    for kind, width in (("<i8", 1), ("<i8", 1), ("<u8", WORDS), ("<i4", 1), ("i1", dimension)):
        columns.append(np.frombuffer(data, kind, rows * width, at))
        at += columns[-1].nbytes
    ids, times, words, codes, numbers = columns
    return Signs(ids, times, words.reshape(WORDS, rows), codes, list(names["sessions"]), numbers.reshape(rows, dimension))


def refused(error: HindbrainError | Unfit) -> str:
    """Why a file is not used, in words for the log."""
    return error.message if isinstance(error, HindbrainError) else str(error)
