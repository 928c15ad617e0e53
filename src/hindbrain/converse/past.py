"""Turns that a conversation no longer holds -> a file that only grows, and the few of them that a prompt is about.

The file has one line per turn and is the truth; it is on the disk before the conversation lets go of a turn. Beside it lies a
full-text index (`index`) that is derived: it is brought up to date when something is looked for, and made anew when it is not
sound or is of another file.

A conversation that was never saved has the same in memory.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.errors import StorageError
from hindbrain.base.files import open_private, replace_file, storage_error, sync, sync_directory, write_all
from hindbrain.converse import index
from hindbrain.converse.turns import NotAConversation, Turn, decode, encode
from hindbrain.recall.words import words_of

_HEAD_BYTES: Final = 64  # by which the file is known again; the time of its first turn is in there
_BUSY_SECONDS: Final = 5.0
_READ_BYTES: Final = 1 << 20
_TAIL_BYTES: Final = 4096
_PASSING_BYTES: Final = 16 << 10  # of lines that are taken in for one question; more are kept



@dataclass(frozen=True, slots=True)
class Found:
    """A turn of the past and how much it has to do with what was looked for."""

    turn: Turn
    score: float


class Past:
    """The turns before those that are told word for word; in a file, or in memory without one."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self._unsaved = bytearray()
        self._memory: sqlite3.Connection | None = None

    @property
    def index_path(self) -> Path | None:
        return None if self.path is None else self.path.with_suffix(".db")

    def append(self, turns: Sequence[Turn]) -> None:
        """Keep turns; on the disk when this returns. What a save that was cut short has written already is not written twice."""
        lines = [encode(turn) for turn in turns]
        if not lines:
            return
        if self.path is None:
            self._unsaved += b"".join(lines)
            return
        new = not self.path.exists()
        descriptor = open_private(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            _append(descriptor, self.path, lines)
        finally:
            os.close(descriptor)
        if new:
            sync_directory(self.path.parent)

    def turns(self) -> Iterator[Turn]:
        """All of them in the order they were kept, each once; a line that was torn or damaged is passed over."""
        seen: set[tuple[object, str]] = set()
        for _, line in self._lines(0):
            with contextlib.suppress(NotAConversation):
                turn = decode(line)
                if turn.key not in seen:
                    seen.add(turn.key)
                    yield turn

    def replace(self, turns: Sequence[Turn]) -> None:
        """Keep these and no others, and nothing that tells of others."""
        if self.path is None or not turns:
            self.clear()
            self.append(turns)
            return
        replace_file(self.path, b"".join(encode(turn) for turn in turns))
        self._drop_index()

    def clear(self) -> None:
        """Forget them all: the words first, then what they were found by."""
        self._unsaved.clear()
        if self.path is not None:
            self.path.unlink(missing_ok=True)
        self._drop_index()

    def find(self, text: str, limit: int) -> list[Found]:
        """The turns that have most to do with a text, best first; none where nothing has."""
        if self._size() == 0 or limit <= 0:
            return []
        words = words_of(index.paired(text))
        try:
            return self._find(words, limit)
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                what = f"cannot search {self.index_path}: another process holds it"
                raise StorageError(what, path=str(self.index_path), hint="try again in a moment; nothing was lost") from error
        self._drop_index()
        try:
            return self._find(words, limit)
        except sqlite3.Error as error:
            raise StorageError(f"cannot search {self.index_path}: {error}", path=str(self.index_path)) from error

    def _find(self, words: Sequence[str], limit: int) -> list[Found]:
        with self._opened() as database, self._up_to_date(database):
            found: list[Found] = []
            for row, score in index.scored(database, words)[: limit * 4]:
                start, size = database.execute("SELECT start, size FROM turns WHERE id = ?", (row,)).fetchone()
                with contextlib.suppress(NotAConversation):  # the file was changed under the index
                    found.append(Found(decode(self._read(start, size)), score))
                if len(found) == limit:
                    break
            return found

    # The index.

    @contextlib.contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        if self.index_path is None:
            if self._memory is None:
                self._memory = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
                weakref.finalize(self, self._memory.close)
            yield self._memory
            return
        try:
            os.close(open_private(self.index_path, os.O_RDWR | os.O_CREAT))  # never through a link, and private
        except FileNotFoundError as error:
            raise storage_error("open", self.index_path, error) from error
        with contextlib.closing(sqlite3.connect(self.index_path, timeout=_BUSY_SECONDS, isolation_level=None)) as database:
            yield database

    def _drop_index(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        if self.index_path is not None:
            for path in (self.index_path, self.index_path.with_name(f"{self.index_path.name}-journal")):
                path.unlink(missing_ok=True)
            if self.index_path.parent.exists():
                sync_directory(self.index_path.parent)

    @contextlib.contextmanager
    def _up_to_date(self, database: sqlite3.Connection) -> Iterator[None]:
        """The index with all that was appended since; made anew if this is another file than was read before.

        A few turns are taken in for one question and taken back: keeping them would make every question wait for the disk.
        """
        head, size, known = self._read(0, _HEAD_BYTES), self._size(), index.known(database)
        behind = size - known[1] if known is not None and known[0] == head else -1
        if behind == 0:
            yield
            return
        passing = self.path is not None and 0 < behind <= _PASSING_BYTES
        if passing:  # nothing of it may reach the file, not even what is needed to take it back
            database.execute("PRAGMA journal_mode = MEMORY")
            database.execute("PRAGMA cache_spill = OFF")
        database.execute("BEGIN IMMEDIATE")
        try:
            self._take_in(database, head)
            if not passing:
                database.execute("COMMIT")
            yield
        finally:
            if database.in_transaction:
                database.execute("ROLLBACK")

    def _take_in(self, database: sqlite3.Connection, head: bytes) -> None:
        known = index.known(database)  # another process may have been quicker
        if known is None or known[0] != head or known[1] > self._size():
            index.make(database, head)
            known = head, 0
        upto = known[1]
        for start, line in self._lines(upto):
            with contextlib.suppress(NotAConversation):
                index.take_in(database, decode(line), start, len(line))
            upto = start + len(line)
        database.execute("UPDATE read SET upto = ?", (upto,))

    # The lines.

    def _size(self) -> int:
        if self.path is None:
            return len(self._unsaved)
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def _read(self, start: int, size: int) -> bytes:
        if self.path is None:
            return bytes(self._unsaved[start : start + size])
        try:
            descriptor = open_private(self.path, os.O_RDONLY)
        except FileNotFoundError:
            return b""
        try:
            return os.pread(descriptor, size, start)
        except OSError as error:
            raise storage_error("read", self.path, error) from error
        finally:
            os.close(descriptor)

    def _lines(self, start: int) -> Iterator[tuple[int, bytes]]:
        """Whole lines from a place on, each with where it begins; what is still being written is not one."""
        rest = b""
        while piece := self._read(start + len(rest), _READ_BYTES):
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                yield start, line + b"\n"
                start += len(line) + 1


def _append(descriptor: int, path: Path, lines: Sequence[bytes]) -> None:
    size = os.fstat(descriptor).st_size
    whole = size - _torn(descriptor, size)
    written = _written(descriptor, whole, lines)
    data = b"".join(lines[written:])
    if data and whole < size:
        data = b"\n" + data  # a line that was torn off stays by itself and takes no other with it
    try:
        write_all(descriptor, data)
        sync(descriptor)  # of what an earlier save wrote, too: it may not have come so far
    except OSError as error:
        # After a failed sync the kernel may have dropped the bytes and not say so again: they must be written anew.
        with contextlib.suppress(OSError):
            os.ftruncate(descriptor, whole - sum(map(len, lines[:written])))
        raise storage_error("write", path, error) from error


def _torn(descriptor: int, size: int) -> int:
    """How many bytes stand behind the last whole line."""
    torn = 0
    while torn < size:
        start = max(0, size - torn - _TAIL_BYTES)
        piece = os.pread(descriptor, size - torn - start, start)
        if (end := piece.rfind(b"\n")) >= 0:
            return torn + len(piece) - end - 1
        torn += len(piece)
    return torn


def _written(descriptor: int, size: int, lines: Sequence[bytes]) -> int:
    """How many of the lines the file ends with already, up to that size."""
    longest = min(size, max(map(len, lines)))
    end = os.pread(descriptor, longest, size - longest)
    for count in range(len(lines), 0, -1):
        if end.endswith(lines[count - 1]):
            told = b"".join(lines[:count])
            if len(told) <= size and os.pread(descriptor, len(told), size - len(told)) == told:
                return count
    return 0
