"""A growing transcript file and a cursor -> the events of its new lines, and the next cursor.

Following is by byte offset, whole lines only, a bounded number of bytes at a time, so a worker can commit as it goes
and memory does not depend on the size of the file or of a line. The path comes from outside: it is opened only as a
regular file below one of the given roots, folder by folder, following no link, and never in a way that can block.
Reading a file again from its start is always safe, because the events have the same ids.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hindbrain.base.errors import StorageError, UnsafePath
from hindbrain.base.redact import Redaction
from hindbrain.capture.claude_lines import TranscriptReader, line_kind
from hindbrain.capture.event import Event, Json, Source, shares
from hindbrain.capture.salvage import Unreadable, loads, loads_cut

MAX_LINE_BYTES: Final = 16 << 20  # longer lines are kept in part
HEAD_BYTES: Final = 1 << 20  # this part
FINGERPRINT_BYTES: Final = 256
STEP_BYTES: Final = 8 << 20
_CHUNK_BYTES: Final = 256 << 10
# A parsed value takes up to some 70 bytes, so a long line of tiny values would need many times its own size.
_MAX_VALUES: Final = 1_000_000
_MAX_PATH_BYTES: Final = 4_096
# What opening says of a link, a file used as a folder, a socket or a device.
_NO_PLAIN_FILE: Final = frozenset({errno.ELOOP, errno.EMLINK, errno.ENOTDIR, errno.ENXIO, errno.ENODEV})
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class TranscriptCursor:
    """How far a file was read, how it began then, and what the reader has to remember."""

    offset: int
    head: str  # digest of the first head_bytes bytes
    head_bytes: int
    state: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """The cursor as JSON."""
        return {"offset": self.offset, "head": self.head, "head_bytes": self.head_bytes, "state": dict(self.state)}

    @classmethod
    def from_json(cls, value: Json) -> TranscriptCursor:
        """The cursor of to_json. Raises Unreadable; the file can then be read from its start."""
        match value:
            case {"offset": int(offset), "head": str(head), "head_bytes": int(count), "state": dict(state)}:
                if offset >= 0 and 0 <= count <= FINGERPRINT_BYTES:
                    return cls(offset, head, count, state)
        raise Unreadable("not a transcript cursor")


@dataclass(frozen=True, slots=True)
class Problem:
    """A piece of a transcript that gave no events and should have, and why; the reason never quotes it."""

    path: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Followed:
    """What one step found. more: there are lines left beyond max_bytes."""

    events: list[Event]
    cursor: TranscriptCursor | None
    problems: list[Problem]
    more: bool = False


@dataclass(frozen=True, slots=True)
class _RawLine:
    start: int
    end: int  # after the line break
    data: bytes
    cut: int  # bytes of the line that are not in data


def allowed(path: str, roots: Sequence[Path]) -> Path:
    """The resolved path of a regular *.jsonl file below one of the roots. Raises UnsafePath for anything else."""
    resolved, root = _placed(path, roots)
    try:
        os.close(_opened(resolved, root))
    except FileNotFoundError as error:
        raise _unsafe(path, "there is no such file") from error
    return resolved


def follow(
    path: str,
    roots: Sequence[Path],
    cursor: TranscriptCursor | None,
    *,
    now_ms: int,
    max_bytes: int = STEP_BYTES,
    clean: Callable[[bytes], Redaction] | None = None,
) -> Followed:
    """The events after the cursor, at most max_bytes of lines (one line at least). A missing file has none.

    clean sees each line that matters before it is read, as the hook's redaction sees a payload: the same words must
    come out the same on both ways, or the ids would differ. Raises UnsafePath, or StorageError if reading fails.
    """
    resolved, root = _placed(path, roots)
    try:
        file = _opened(resolved, root)
    except FileNotFoundError:
        return Followed([], cursor, [])  # a session has no transcript before its first prompt
    try:
        return _Step(file, str(resolved), now_ms, clean).run(cursor, max_bytes)
    except OSError as error:
        raise StorageError(
            f"the transcript could not be read: {error.strerror}", path=str(resolved), errno=error.errno
        ) from error
    finally:
        os.close(file)


def transcripts_changed(roots: Sequence[Path], since_ms: int, known: Mapping[str, tuple[int, int]]) -> list[Path]:
    """Main sessions' transcripts changed after since_ms whose (size, mtime_ns) is not the known one, oldest first."""
    found: list[tuple[int, Path]] = []
    for root in roots:
        for folder in _entries(root):
            if not folder.is_dir(follow_symlinks=False):
                continue
            try:
                found += _changed_in(Path(folder.path), since_ms, known)
            except StorageError:
                continue  # a folder we may not read belongs to another user; so do the sessions in it
    return [path for _, path in sorted(found)]


def _changed_in(folder: Path, since_ms: int, known: Mapping[str, tuple[int, int]]) -> Iterator[tuple[int, Path]]:
    for entry in _entries(folder):
        # Subagents have a folder of their own; older clients put them beside the session as agent-*.jsonl.
        if not entry.name.endswith(".jsonl") or entry.name.startswith("agent-"):
            continue
        try:
            info = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            continue
        is_new = info.st_mtime_ns > since_ms * 1_000_000 and known.get(entry.path) != (info.st_size, info.st_mtime_ns)
        if stat.S_ISREG(info.st_mode) and is_new:
            yield info.st_mtime_ns, Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise StorageError(
            f"the transcripts could not be listed: {error.strerror}", path=str(folder), errno=error.errno
        ) from error


def _unsafe(path: str, found: str) -> UnsafePath:
    return UnsafePath(
        f"a transcript path was refused: {found}", path=path[:200],
        hint="transcripts are read only as *.jsonl files below the agent's own folder",
    )  # fmt: skip


def _placed(path: str, roots: Sequence[Path]) -> tuple[Path, Path]:
    """The resolved path and the resolved root it lies below, by name only; the file need not exist."""
    raw = _utf8(path)
    if b"\x00" in raw or not 0 < len(raw) <= _MAX_PATH_BYTES or max(map(len, raw.split(b"/"))) > 255:
        raise _unsafe(path, "it is empty, too long or holds a NUL")
    if not path.startswith("/") or ".." in path.split("/"):
        raise _unsafe(path, "it is not an absolute path without `..`")
    resolved = Path(os.path.realpath(path))
    _utf8(str(resolved))
    if resolved.suffix != ".jsonl" or path.endswith(("/", "/.")):
        raise _unsafe(path, "it is not a *.jsonl file")
    for root in map(Path, map(os.path.realpath, roots)):
        if root in resolved.parents:
            return resolved, root
    raise _unsafe(path, "it lies outside the agent's own folder")


def _utf8(path: str) -> bytes:
    """The path becomes part of events, so it must be text that every store can hold."""
    try:
        return path.encode()
    except UnicodeEncodeError as error:
        raise _unsafe(ascii(path), "it is not valid UTF-8") from error


def _opened(resolved: Path, root: Path) -> int:
    """A descriptor of the regular file. Goes down from the root one name at a time, so that a folder replaced by a link
    after it was resolved leads nowhere."""
    *folders, last = resolved.relative_to(root).parts
    here = -1
    try:
        here = os.open(root, _OPEN | os.O_DIRECTORY)
        for folder in folders:
            below = os.open(folder, _OPEN | os.O_DIRECTORY, dir_fd=here)
            os.close(here)
            here = below
        file = os.open(last, _OPEN, dir_fd=here)
    except FileNotFoundError:
        raise
    except OSError as error:
        if error.errno in _NO_PLAIN_FILE:
            raise _unsafe(str(resolved), f"it is not a plain file: {error.strerror}") from error
        raise StorageError(
            f"a transcript could not be opened: {error.strerror}", path=str(resolved), errno=error.errno
        ) from error
    finally:
        if here >= 0:
            os.close(here)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise _unsafe(str(resolved), "it is not a regular file")
    return file


def _fingerprint(file: int, count: int) -> tuple[str, int]:
    head = os.pread(file, count, 0)
    return hashlib.blake2b(head, digest_size=16).hexdigest(), len(head)


class _Step:
    """One call of follow on one open file."""

    def __init__(self, file: int, path: str, now_ms: int, clean: Callable[[bytes], Redaction] | None) -> None:
        self.file = file
        self.path = path
        self.now_ms = now_ms
        self.clean = clean
        self.events: list[Event] = []
        self.problems: list[Problem] = []

    def run(self, cursor: TranscriptCursor | None, max_bytes: int) -> Followed:
        if cursor is not None and not self._continues(cursor):
            self._problem(0, 0, "the file was replaced or cut; it is read again from its start")
            cursor = None
        start = cursor.offset if cursor is not None else 0
        reader = TranscriptReader(cursor.state if cursor is not None else None)
        at, more = start, False
        for line in _lines(self.file, start):
            if line.end - start > max_bytes and at > start:
                more = True
                break
            self._read(line, reader)
            at = line.end
        head, head_bytes = _fingerprint(self.file, FINGERPRINT_BYTES)
        after = TranscriptCursor(at, head, head_bytes, reader.state())
        return Followed(self.events, after, self.problems, more)

    def _continues(self, cursor: TranscriptCursor) -> bool:
        """Whether this is still the file the cursor was made for: it begins alike, and a line ends at the offset."""
        if _fingerprint(self.file, cursor.head_bytes) != (cursor.head, cursor.head_bytes):
            return False
        return cursor.offset == 0 or os.pread(self.file, 1, cursor.offset - 1) == b"\n"

    def _problem(self, start: int, end: int, reason: str) -> None:
        self.problems.append(Problem(self.path, start, end, reason))

    def _read(self, line: _RawLine, reader: TranscriptReader) -> None:
        if not line.data or line.data.isspace():
            return
        try:
            value, cut, counts = self._value(line)
        except Unreadable as error:
            self._problem(line.start, line.end, str(error))
            return
        if not isinstance(value, dict):
            self._problem(line.start, line.end, f"an object was expected, found {type(value).__name__}")
            return
        if cut and "type" not in value and not line_kind(value, cut=True):
            self._problem(line.start, line.end, "too long, and cut before it said what it is")
        events = reader.read(value, Source(self.path, line.start, line.end), self.now_ms, cut=cut)
        if counts:
            events = [replace(event, redacted=own) for event, own in zip(events, shares(events, counts), strict=True)]
        self.events += events

    def _value(self, line: _RawLine) -> tuple[Json, int, Mapping[str, int]]:
        """The line's value, cleaned if it may hold events, how many bytes of it were left out, and how many secrets."""
        data, cut = line.data, line.cut
        if not cut and len(data) > HEAD_BYTES and sum(map(data.count, (b"{", b"[", b","))) > _MAX_VALUES:
            data, cut = data[:HEAD_BYTES], len(data) - HEAD_BYTES
        parse = loads_cut if cut else loads
        value = parse(data)
        if self.clean is None or not isinstance(value, dict) or not line_kind(value, cut=bool(cut)):
            return value, cut, {}
        cleaned = self.clean(data)
        return (value if cleaned.data == data else parse(cleaned.data)), cut, cleaned.counts


def _lines(file: int, start: int) -> Iterator[_RawLine]:
    """Whole lines from start on. A last line without its line break is still being written and is not given."""
    line = bytearray()
    begin, at, dropped = start, start, 0
    while chunk := os.pread(file, _CHUNK_BYTES, at):
        at += len(chunk)
        used = 0
        while (stop := chunk.find(b"\n", used)) >= 0:
            line += chunk[used:stop]
            dropped = _shortened(line, dropped)
            used = stop + 1
            end = at - len(chunk) + used
            data = bytes(line)
            line.clear()
            yield _RawLine(begin, end, data, dropped)
            begin, dropped = end, 0
        line += chunk[used:]
        dropped = _shortened(line, dropped)


def _shortened(line: bytearray, dropped: int) -> int:
    """Cut a line that is too long back to its head; how many of its bytes are gone in all."""
    if not dropped and len(line) <= MAX_LINE_BYTES:
        return 0
    dropped += len(line) - HEAD_BYTES
    del line[HEAD_BYTES:]
    return dropped
