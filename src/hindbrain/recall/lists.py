"""The signs of millions of vectors -> an index that looks at a part of them alone, where the package `faiss` is there.

Up to some millions of rows a plain scan is quicker than any index: 7 ms for a million. Above that rows are sorted into lists by
likeness, and only the lists nearest to a question are looked at. The index is kept beside the file of signs and is good for the
first rows of that very file; what came later is scanned. It is made anew when that is too much.
"""

from __future__ import annotations

import importlib.util
import zlib
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import new_file, read_private, write_all
from hindbrain.recall.bitfile import Column, Signs

ROWS: Final = 5_000_000
_PROBED: Final = 1 / 32  # of the lists
_TRAINED: Final = 40  # rows for each list
_COVERED: Final = 0.8  # of the rows; with fewer the index is made anew
_STAMP_BYTES: Final = 40
_LIMIT: Final = 16 << 30


class Lists(Protocol):
    """faiss.IndexBinaryIVF."""

    nprobe: int

    def search(self, asked: Column, k: int, /) -> tuple[Column, Column]: ...


def available() -> bool:
    return importlib.util.find_spec("faiss") is not None


def path_of(bits: Path) -> Path:
    return bits.with_suffix(".lists")


def first(signs: Signs, rows: int) -> Signs:
    """The first rows."""
    return _part(signs, slice(rows))


def behind(signs: Signs, rows: int) -> Signs:
    """All others."""
    return _part(signs, slice(rows, None))


def _part(signs: Signs, rows: slice) -> Signs:
    return Signs(
        signs.ids[rows], signs.at[rows], signs.words[:, rows], signs.codes[rows], signs.sessions, signs.numbers[rows]
    )


def keep(bits: Path, signs: Signs) -> tuple[Lists, int] | None:
    """The index of a file of signs, made if there is none that covers most of it; None where a scan is as good."""
    if len(signs.ids) < ROWS or not available():
        return None
    known = load(bits, signs)
    if known is None or known[1] < len(signs.ids) * _COVERED:
        _make(bits, signs)
        known = load(bits, signs)
    return known


def _make(bits: Path, signs: Signs) -> None:
    import faiss  # type: ignore[import-not-found,import-untyped,unused-ignore]

    rows = np.ascontiguousarray(signs.words.T).view(np.uint8).reshape(len(signs.ids), -1)
    index: Any = faiss.index_binary_factory(rows.shape[1] * 8, f"BIVF{max(1, int(len(rows) ** 0.5))}")
    index.train(rows[:: max(1, len(rows) // (index.nlist * _TRAINED))])
    index.add(rows)
    data = faiss.serialize_index_binary(index).tobytes()
    with new_file(path_of(bits)) as descriptor:
        write_all(descriptor, _stamp(signs, data))
        write_all(descriptor, data)


def load(bits: Path, signs: Signs) -> tuple[Lists, int] | None:
    """The index and how many of the rows it covers; None unless it is there, whole and of these signs."""
    if len(signs.ids) < ROWS or not available():
        return None
    import faiss

    try:
        found = read_private(path_of(bits), _LIMIT)
    except HindbrainError:
        return None
    head = b"" if found is None else found[:_STAMP_BYTES]
    rows = int(head[:16]) if head[:16].isdigit() else 0
    if found is None or not rows or head != _stamp(first(signs, rows), found[_STAMP_BYTES:]):
        return None
    index: Any = faiss.deserialize_index_binary(np.frombuffer(found, np.uint8, offset=_STAMP_BYTES))
    index.nprobe = max(1, round(index.nlist * _PROBED))
    return index, rows


def _stamp(signs: Signs, data: bytes) -> bytes:
    """What ties an index to its rows, and says that it is whole."""
    rows = zlib.crc32(signs.ids.tobytes(), zlib.crc32(signs.words.tobytes()))
    return f"{len(signs.ids):016d}{rows:08x}{zlib.crc32(data):08x}".encode().ljust(_STAMP_BYTES)
