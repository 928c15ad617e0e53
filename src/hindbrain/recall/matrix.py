"""Stored vectors -> the ids of those that lie nearest to a question, by their signs alone.

256 signs say enough of a vector to tell the thousand nearest of a million: 32 bytes a row, compared with XOR and a count of
bits. The exact order is then made from the rows themselves. The rows in the ledger are the truth; this is derived from them,
kept in a file so that a process need not make it, and topped up with what was stored since. What was deleted stays until the
next saving, and is harmless: nothing is answered that the ledger does not give.

The vectors are turned by a fixed rotation before their signs are taken, because a table's own axes are not of equal weight.
It is made of whole numbers, so that every machine finds the same signs to the last bit.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import logging
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import ensure_private_dir
from hindbrain.ledger import vectors
from hindbrain.ledger.database import Database
from hindbrain.recall import bitfile, lists
from hindbrain.recall.bitfile import Column, Signs, Unfit

log = logging.getLogger("hindbrain.matrix")

BITS: Final = 256
# A vector's numbers are kept as a 127th of its length.
SCALE: Final = 127
ALWAYS: Final = 1 << 62  # a time that nothing lies beyond
_SEED: Final = b"hindbrain signs 1"
# Fewer than this many new rows are read from the ledger again rather than written to the file.
SAVED_ROWS: Final = 500
_READ_ROWS: Final = 10_000
_CHUNK: Final = 1 << 14  # rows whose distances fit into a processor's cache
_SPOT_CHECKS: Final = 32
_FEW: Final = 0.25  # below this share of the rows only these are compared


def quantised(floats: npt.NDArray[Any]) -> npt.NDArray[np.int8]:
    """Unit vectors as they are stored."""
    numbers: npt.NDArray[np.int8] = np.rint(np.clip(floats, -1.0, 1.0) * SCALE).astype(np.int8)
    return numbers


def unpacked(blobs: Sequence[bytes], dimensions: int) -> npt.NDArray[np.int8]:
    """Stored vectors as rows; one of another length, which nothing of ours wrote, is a row of zeros."""
    empty = bytes(dimensions)
    whole = b"".join(each if len(each) == dimensions else empty for each in blobs)
    return np.frombuffer(whole, np.int8).reshape(len(blobs), dimensions)


def signs(rows: npt.NDArray[np.int8]) -> npt.NDArray[np.uint8]:
    """256 bits for each stored vector, whatever its dimensions."""
    if not len(rows):
        return np.empty((0, BITS // 8), np.uint8)
    return np.packbits(rows.astype(np.float32) @ _rotation(rows.shape[1]) > 0, axis=1)


@functools.cache
def _rotation(dimensions: int) -> npt.NDArray[np.float32]:
    """Columns that stand at right angles, or nearly: 256 of a Hadamard matrix, chosen and signed by the seed.

    All its numbers are 1 and -1, so a product with a stored vector is a whole number that float32 holds exactly.
    """
    size = 1 << (max(dimensions, BITS) - 1).bit_length()
    rows, columns = np.array(_shuffled("row", size)[:dimensions]), np.array(_shuffled("column", size)[:BITS])
    plain = 1 - 2 * (np.bitwise_count(rows[:, None] & columns[None, :]) & 1).astype(np.int8)
    flips = np.array([1 - 2 * (_drawn("sign", each) & 1) for each in range(dimensions)], np.int8)
    turned: npt.NDArray[np.float32] = (plain * flips[:, None]).astype(np.float32)
    return turned


def _shuffled(what: str, size: int) -> list[int]:
    return sorted(range(size), key=lambda each: _drawn(what, each))


def _drawn(what: str, number: int) -> int:
    return int.from_bytes(hashlib.blake2b(f"{what} {number}".encode(), digest_size=8, key=_SEED).digest(), "big")


class _State(NamedTuple):
    """What a scan needs, taken at one moment."""

    saved: Signs
    tail: Signs
    codes: dict[str, int]  # of sessions, in order; only ever grows, so that a scan under way may go on
    lists: tuple[lists.Lists, int] | None = None  # an index of so many of the saved rows

    @property
    def last(self) -> int:
        return max(self.saved.last, self.tail.last)


class Matrix:
    """The signs of one ledger's vectors of one model. Any number of threads may ask while one tops up."""

    def __init__(self, path: Path, model: str, dimensions: int) -> None:
        self.path = path
        self.model = model
        self.dimensions = dimensions
        self.rebuilt = ""  # why the file was not used, if it was there
        self._now = _State(bitfile.nothing(dimensions), bitfile.nothing(dimensions), {})
        self._trusted = False
        self._guard = threading.Lock()

    @classmethod
    def open(cls, folder: Path, model: str, dimensions: int) -> Matrix:
        """The matrix kept in a folder, as far as its file is to be trusted."""
        matrix = cls(folder / file_name(model), model, dimensions)
        with contextlib.suppress(FileNotFoundError):
            try:
                found = bitfile.load(matrix.path, model, dimensions)
                matrix._begin_with(found, lists.load(matrix.path, found))
            except (Unfit, HindbrainError) as error:
                matrix._refuse(bitfile.refused(error))
        return matrix

    @property
    def rows(self) -> int:
        return len(self._now.saved.ids) + self.unsaved

    @property
    def unsaved(self) -> int:
        """How many rows the file does not have."""
        return len(self._now.tail.ids)

    def _begin_with(self, found: Signs, known: tuple[lists.Lists, int] | None = None) -> None:
        codes = {name: code for code, name in enumerate(found.sessions)}
        self._now = _State(found, bitfile.nothing(self.dimensions), codes, known)

    def _refuse(self, why: str) -> None:
        log.warning("the derived file %s is made anew: %s", self.path.name, why)
        self.rebuilt = why
        self._begin_with(bitfile.nothing(self.dimensions))

    def top_up(self, database: Database, *, hurried: bool = False) -> int:
        """Take in what was stored since; how many rows that were. In a hurry it is left to whoever is at it, or only begun."""
        if not self._guard.acquire(blocking=not hurried):
            return 0
        try:
            self._check(database)
            return self._take_in(database, SAVED_ROWS if hurried else ALWAYS)
        finally:
            self._guard.release()

    def _take_in(self, database: Database, most: int = ALWAYS, step: Callable[[int], None] = lambda rows: None) -> int:
        new: list[Signs] = []
        taken, last = 0, self._now.last
        while taken < most and (rows := vectors.above(database, self.model, last, size := min(most, _READ_ROWS))):
            new.append(self._columns(rows))
            last, taken = rows[-1].id, taken + len(rows)
            step(taken)
            if len(rows) < size:
                break
        if new:
            self._now = self._now._replace(tail=_joined([self._now.tail, *new]))
        return taken

    def _columns(self, rows: Sequence[vectors.Placed]) -> Signs:
        known = self._now.codes
        codes = np.array([known.setdefault(each.session, len(known)) for each in rows], "<i4")
        ids, at = (np.array(each, "<i8") for each in ([row.id for row in rows], [row.at for row in rows]))
        numbers = unpacked([each.vector for each in rows], self.dimensions)
        return Signs(ids, at, np.ascontiguousarray(signs(numbers).view("<u8").T), codes, [], numbers)

    def _check(self, database: Database) -> None:
        """Whether the rows of the file are those of this ledger: of another home, or of one that was restored, they are not."""
        ids = self._now.saved.ids
        if _last_given(database) < self._now.last:
            self._refuse("the ledger has given fewer ids than it holds")
        elif not self._trusted and len(ids):
            places = np.unique(np.r_[np.linspace(0, len(ids) - 1, _SPOT_CHECKS).astype(int), np.arange(len(ids))[-_SPOT_CHECKS:]])
            if self._differing(database, places):
                self._refuse("its signs are not those of the ledger's vectors")
        self._trusted = True

    def _differing(self, database: Database, places: npt.NDArray[Any]) -> int:
        """How many of the file's rows at these places say something else than the ledger; deleted ones say nothing."""
        saved = self._now.saved
        known = {int(saved.ids[place]): saved.words[:, place] for place in places}
        rows = vectors.fetch(database, list(known))
        if not rows:
            return 1  # all of them deleted, or never there: either way it is not worth keeping
        fresh = signs(unpacked([row.vector for row in rows], self.dimensions)).view("<u8")
        return sum(not np.array_equal(known[row.id], signs_of) for row, signs_of in zip(rows, fresh, strict=True))

    def verify(self, database: Database, step: Callable[[int], None] = lambda rows: None) -> tuple[int, int, int]:
        """The file compared with every row of the ledger: how many are right, how many say something else, how many it lacks."""
        saved = self._now.saved
        right = wrong = lacking = last = 0
        while rows := vectors.above(database, self.model, last, _READ_ROWS):
            fresh, last = self._columns(rows), rows[-1].id
            there = np.isin(fresh.ids, saved.ids)
            places = np.searchsorted(saved.ids, fresh.ids[there])
            same = int((saved.words[:, places] == fresh.words[:, there]).all(axis=0).sum())
            right, wrong, lacking = right + same, wrong + int(there.sum()) - same, lacking + int((~there).sum())
            step(right + wrong + lacking)
        return right, wrong, lacking

    def save(self, database: Database) -> None:
        """Write everything that still exists into the file, and go on from there. Files of other models go."""
        with self._guard:
            self._check(database)
            self._take_in(database)
            whole = _joined([self._now.saved, self._now.tail])
            alive = np.isin(whole.ids, np.array(_alive(database, self.model), "<i8"), assume_unique=True)
            self._write(_chosen(whole, np.flatnonzero(alive)))

    def rebuild(self, database: Database, step: Callable[[int], None] = lambda rows: None) -> int:
        """Make everything from the ledger's rows, and write it; how many rows that are."""
        with self._guard:
            self._begin_with(bitfile.nothing(self.dimensions))
            self._trusted = True
            self._take_in(database, step=step)
            self._write(self._now.tail)
            return self.rows

    def _write(self, whole: Signs) -> None:
        ensure_private_dir(self.path.parent)
        bitfile.save(self.path, whole._replace(sessions=list(self._now.codes)), self.model, self.dimensions)
        found = bitfile.load(self.path, self.model, self.dimensions)
        self._begin_with(found)
        self._now = self._now._replace(lists=lists.keep(self.path, found))
        for other in self.path.parent.glob("vectors-*"):
            if other.stem != self.path.stem:
                other.unlink(missing_ok=True)

    def nearest(
        self, bits: bytes, sessions: Collection[str] | None, after: int, before: int, limit: int
    ) -> list[int]:
        """Ids of the rows that differ from these signs in the fewest places, of these sessions (None: all) and this time.

        Memories belong to no session and are always among them. Of rows that differ equally the newest are taken.
        """
        ids, _ = self._nearest(bits, sessions, after, before, limit)
        return [int(each) for each in ids]

    def likest(
        self, asked: npt.NDArray[Any], sessions: Collection[str] | None, after: int, before: int, limit: int, most: int
    ) -> list[int]:
        """Of the `limit` whose signs are nearest the ids of the `most` that are most like the question, in no order."""
        ids, numbers = self._nearest(signs(quantised(asked).reshape(1, -1)).tobytes(), sessions, after, before, limit)
        if most < len(ids):
            likeness = numbers.astype(np.float32) @ asked.astype(np.float32)
            ids = ids[np.argpartition(-likeness, most)[:most]]
        return [int(each) for each in ids]

    def _nearest(
        self, bits: bytes, sessions: Collection[str] | None, after: int, before: int, limit: int
    ) -> tuple[Column, Column]:
        """Ids and numbers of the nearest."""
        now = self._now  # another thread may put another in its place meanwhile
        allowed = _allowed(now.codes, sessions)
        found: list[tuple[Column, Column]] = []  # places counted over both parts, distances
        saved, first = now.saved, 0
        if now.lists is not None and allowed is None and _inside(saved, None, after, before) is None:
            index, first = now.lists
            distances, rows = index.search(np.frombuffer(bits, np.uint8)[None], min(limit, first))
            found.append((rows[0][rows[0] >= 0], distances[0][rows[0] >= 0].astype(np.uint16)))
            saved = lists.behind(saved, first)
        for part, start in ((saved, first), (now.tail, len(now.saved.ids))):
            inside = _inside(part, allowed, after, before)
            far = _distances(part, inside, bits)
            near = _smallest(far, limit)  # of each part, so that what is put together is short
            found.append(((near if inside is None else inside[near]) + start, far[near]))
        places, far = (np.concatenate(each) for each in zip(*found, strict=True))
        # where the limit falls among equals the last are taken, so they must stand in order
        order = np.argsort(places)
        places = places[order][_smallest(far[order], limit)]
        return _picked(now.saved.ids, now.tail.ids, places), _picked(now.saved.numbers, now.tail.numbers, places)


def _picked(saved: Column, tail: Column, places: Column) -> Column:
    """What stands at these places, counted over both parts."""
    if not len(tail):
        return saved[places]
    old = places < len(saved)
    found = np.empty((len(places), *saved.shape[1:]), saved.dtype)
    found[old] = saved[places[old]]
    found[~old] = tail[places[~old] - len(saved)]
    return found


def file_name(model: str) -> str:
    return f"vectors-{hashlib.blake2b(model.encode(), digest_size=8).hexdigest()}.bits"


def _last_given(database: Database) -> int:
    row = database.execute("SELECT seq FROM sqlite_sequence WHERE name = 'vectors'").fetchone()
    return 0 if row is None else int(row[0])


def _alive(database: Database, model: str) -> list[int]:
    return [row[0] for row in database.execute("SELECT id FROM vectors WHERE model = ?", (model,))]


def _joined(parts: Iterable[Signs]) -> Signs:
    every = list(parts)
    ids, at, words, codes = (np.concatenate(each, axis=-1) for each in zip(*(part[:4] for part in every), strict=True))
    return Signs(ids, at, words, codes, [], np.concatenate([part.numbers for part in every]))


def _chosen(whole: Signs, places: npt.NDArray[Any]) -> Signs:
    return Signs(whole.ids[places], whole.at[places], whole.words[:, places], whole.codes[places], [], whole.numbers[places])


def _allowed(codes: dict[str, int], sessions: Collection[str] | None) -> npt.NDArray[np.bool_] | None:
    """For each code whether its session is meant; None for all."""
    if sessions is None:
        return None
    allowed = np.zeros(len(codes), bool)
    places = [codes[each] for each in (*sessions, "") if each in codes]
    allowed[[each for each in places if each < len(allowed)]] = True  # another thread may be adding more
    return allowed


def _inside(part: Signs, allowed: npt.NDArray[np.bool_] | None, after: int, before: int) -> npt.NDArray[Any] | None:
    """The places of a part's rows that may be found; None for all."""
    timed = after > -ALWAYS or before < ALWAYS
    if allowed is None and not timed:
        return None
    within = np.ones(len(part.ids), bool) if allowed is None else allowed[part.codes]
    if timed:
        within &= (part.at >= after) & (part.at <= before)
    return None if within.all() else np.flatnonzero(within)


def _distances(part: Signs, places: npt.NDArray[Any] | None, bits: bytes) -> Column:
    """In how many places each of the rows differs."""
    asked = np.frombuffer(bits, "<u8")
    few = places is not None and len(places) < _FEW * len(part.ids)
    words = part.words[:, places] if few else part.words
    distances = np.empty(words.shape[1], np.uint16)
    mixed, totals, counts = (np.empty(min(_CHUNK, len(distances)), kind) for kind in ("<u8", np.uint8, np.uint8))
    for start in range(0, len(distances), _CHUNK):
        chunk = slice(start, start + _CHUNK)
        into = distances[chunk]
        mix, total, count = mixed[: len(into)], totals[: len(into)], counts[: len(into)]
        np.bitwise_count(np.bitwise_xor(words[0, chunk], asked[0], out=mix), out=total)
        for word, sought in zip(words[1:-1], asked[1:-1], strict=True):  # three times 64 fits into a byte, four times does not
            total += np.bitwise_count(np.bitwise_xor(word[chunk], sought, out=mix), out=count)
        np.bitwise_count(np.bitwise_xor(words[-1, chunk], asked[-1], out=mix), out=count)
        np.add(total, count, out=into, dtype=np.uint16)
    return distances if few or places is None else distances[places]


def _smallest(distances: Column, limit: int) -> npt.NDArray[Any]:
    """The places of the smallest numbers; where the limit falls among equals, the last of them."""
    if len(distances) <= limit:
        return np.arange(len(distances))
    reached = np.cumsum(np.bincount(distances, minlength=BITS + 1))
    edge = int(np.searchsorted(reached, limit))
    below = np.flatnonzero(distances < edge)
    return np.concatenate([below, np.flatnonzero(distances == edge)[-(limit - len(below)) :]])
