"""Text files a person drops into <home>/inbox -> evidence of origin "human file", in the journal first, then inbox/done.

A file is read when nobody is writing to it any more. Its events' ids follow from its name and content, so whoever is cut off
between journal and move does it again and nothing is there twice. Of a file with secrets in it what is put away is the text
without them. What cannot be taken (a link, no text, too large) stays where it is, and a note beside it says why.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import logging
import os
import signal
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, StorageError
from hindbrain.base.files import ensure_private_dir, replace_file, sync_directory
from hindbrain.base.home import Home
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Event, Source, shares, stable_id, storable
from hindbrain.capture.record import Recorder

log = logging.getLogger("hindbrain.inbox")

AGENT: Final = "inbox"
TRUST: Final = "human_file"
SUFFIXES: Final = (".txt", ".md")
MOST_BYTES: Final = 1 << 20
STABLE_SECONDS: Final = 2.0
LOOK_SECONDS: Final = 10.0
TURN_CHARS: Final = 16_000  # a longer file becomes several turns, cut between paragraphs where that can be done
NOTE: Final = ".refused"
_TAKING: Final = ".taking"  # behind the name of a file whose text is in the journal, until what is left of it is put away
_NOTE_BEGINS: Final = b"Hindbrain did not take "
_LONGEST_NAME: Final = 200  # bytes; names that are added to have to fit into 255
_BOMS: Final = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


class Signature(NamedTuple):
    """What a file looks like from outside; another one means that it was changed or replaced."""

    inode: int
    size: int
    changed_ns: int


class Text(NamedTuple):
    """What a file says, as it may be kept."""

    clean: str
    redacted: Mapping[str, int]  # secrets that were taken out, by rule
    exact: bool  # whether places in it are places in the file that is put away


class Refused(HindbrainError):
    """A file in the inbox cannot be taken"""

    default_hint = "only UTF-8 text in .txt and .md files of at most 1 MB is taken"


class Changing(HindbrainError):
    """Somebody is at work on a file in the inbox"""

    default_hint = "nothing to do: it is looked at again"


class Inbox:
    """Looks at the folder when told to; remembers since when each file has looked the same. One process at a time."""

    def __init__(self, home: Home, recorder: Recorder, clock: Clock) -> None:
        self._folder = home.inbox
        self._recorder = recorder
        self._clock = clock
        self._seen: dict[str, tuple[Signature, float]] = {}  # name -> how it looked, and since when
        self._refused: dict[str, Signature] = {}

    def next_due(self) -> float | None:
        """Seconds until the folder should be looked at again; None when there is none."""
        if not self._folder.is_dir():
            return None
        waits = [since + STABLE_SECONDS - self._clock.elapsed() for _, since in self._seen.values()]
        return min([max(each, 0.1) for each in waits] + [LOOK_SECONDS])

    def take(self) -> int:
        """Put what can be read by now into the journal; how many lines that added."""
        try:
            entries = dict.fromkeys(entry.name for entry in os.scandir(self._folder))
        except FileNotFoundError:
            return 0
        except OSError as error:
            log.warning("the inbox cannot be read: %s", error.strerror)
            return 0
        self._clear_notes(set(entries))
        entries |= dict.fromkeys(self._take_up(set(entries)))
        wanted = sorted(name for name in entries if name.lower().endswith(SUFFIXES) and not name.startswith("."))
        for gone in {*self._seen, *self._refused}.difference(wanted):
            self._seen.pop(gone, None)
            self._refused.pop(gone, None)
        return sum(self._take(name) for name in wanted)

    def _take(self, name: str) -> int:
        path = self._folder / name
        try:
            found = path.lstat()
        except OSError:
            return 0  # taken away again
        try:
            if stat.S_ISDIR(found.st_mode) or self._refused.get(name) == _signature(found):
                return 0
            _check_plain(found)
            return self._take_file(path, _signature(found)) if self._is_stable(name, found) else 0
        except FileNotFoundError:
            return 0  # taken away again
        except Changing:
            self._seen.pop(name, None)
        except Refused as refusal:
            self._refuse(path, found, refusal)
        except OSError as error:
            self._refuse(path, found, Refused(f"{name}: it cannot be read: {error.strerror or error}"))
        return 0

    def _is_stable(self, name: str, found: os.stat_result) -> bool:
        """Unchanged for a while: by its own time, or while we looked (a file's time may lie in the future)."""
        now, signature = self._clock.elapsed(), _signature(found)
        known, since = self._seen.setdefault(name, (signature, now))
        if known != signature:
            self._seen[name] = (signature, now)
            return False
        age = self._clock.now_ms() / 1000 - found.st_mtime
        return now - since >= STABLE_SECONDS or age >= STABLE_SECONDS

    def _take_file(self, path: Path, signature: Signature) -> int:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            leased = _keep_writers_out(descriptor)
            data = _read(descriptor, signature)
            text = read_text(path.name, data)
            done, now = self._done(path.name, data, text), self._clock.now_ms()
            lines = list(events(path.name, text, done, min(max(signature.changed_ns // 1_000_000, 0), now)))
            written = self._recorder.record(lines, now)
            self._put_away(path, done, signature, text, lambda: leased and _is_wanted(descriptor))
        finally:
            os.close(descriptor)
        self._seen.pop(path.name, None)
        log.info("took a file of %d bytes from the inbox: %d lines", len(data), written)
        return written

    def _done(self, name: str, data: bytes, text: Text) -> Path:
        """Where a file goes: under its own name, or one that tells it from the file of that name that is there already."""
        folder = self._folder / "done"
        if len(os.fsencode(name)) <= _LONGEST_NAME and (
            not os.path.lexists(folder / name) or (text.redacted and _holds(folder / name, text.clean.encode()))
        ):
            return folder / name
        stem, suffix = os.path.splitext(name)
        shown = os.fsdecode(os.fsencode(stem)[:_LONGEST_NAME])
        return folder / f"{shown}.{stable_id('f', name, data.hex())[2:14]}{suffix}"

    def _put_away(self, path: Path, done: Path, signature: Signature, text: Text, wanted: Callable[[], bool]) -> None:
        """What was read is in the journal by now. Should the name stand for another text meanwhile, that one goes back."""
        try:
            ensure_private_dir(done.parent)
            moved = path.with_name(f".{path.name}{_TAKING}") if text.redacted else done
            path.rename(moved)
            if _signature(moved.lstat()) != signature or wanted():
                moved.rename(path if not path.exists() else path.with_name(f"{path.stem}.again{path.suffix}"))
                raise Changing(f"{path} was changed while it was read")
            if moved != done:
                replace_file(done, text.clean.encode())
                os.utime(done, ns=(signature.changed_ns, signature.changed_ns))
                moved.unlink()
            sync_directory(done.parent)
            sync_directory(path.parent)
        except (OSError, StorageError) as error:
            said = error.message if isinstance(error, StorageError) else str(error.strerror)
            raise Refused(f"its text is kept, but it cannot be moved to {done.parent}: {said}", hint="move it away") from error

    def _take_up(self, names: set[str]) -> Iterable[str]:
        """Let files that were to be put away without their secrets, and were not, be taken once more; their names."""
        for name in sorted(each for each in names if each.startswith(".") and each.endswith(_TAKING)):
            wanted = name[1:].removesuffix(_TAKING)
            if wanted and wanted not in names:
                with contextlib.suppress(OSError):  # it is tried again with the next look
                    (self._folder / name).rename(self._folder / wanted)
                    yield wanted

    def _refuse(self, path: Path, found: os.stat_result, refusal: Refused) -> None:
        self._refused[path.name] = _signature(found)
        self._seen.pop(path.name, None)
        log.warning("a file in the inbox is left alone: %s", refusal.message.replace("\n", " "))
        if len(os.fsencode(path.name)) > _LONGEST_NAME:
            return
        text = _NOTE_BEGINS + f"{storable(path.name)}: {refusal.message}.\n{refusal.hint}.\n".encode()
        try:
            replace_file(path.with_name(path.name + NOTE), text)
        except StorageError as error:
            log.warning("no note was left beside it: %s", error.message)

    def _clear_notes(self, names: set[str]) -> None:
        """A note goes with the file it is about."""
        for name in names:
            if name.endswith(NOTE) and name.removesuffix(NOTE) not in names:
                path = self._folder / name
                with contextlib.suppress(OSError):
                    if not path.is_symlink() and path.is_file() and path.read_bytes().startswith(_NOTE_BEGINS):
                        path.unlink()


def read_text(name: str, data: bytes) -> Text:
    """The text of a file without its secrets. Raises Refused."""
    text = _text(name, data)
    clean, counts = redact_text(text) if suspicious(text.encode()) else (text, {})
    return Text(clean, counts, bool(counts) or clean.encode() == data)


def events(name: str, text: Text, done: Path, at: int) -> Iterator[Event]:
    """What a file says: turns of a session of its name, and that it is over; nothing for one without text."""
    if not text.clean.strip():
        return
    turns, whole = list(_turns(name, text, done, at)), stable_id("k", text.clean)
    yield from (replace(turn, redacted=own) for turn, own in zip(turns, shares(turns, text.redacted), strict=True))
    over = at + len(text.clean.encode())
    yield Event(
        kind="session_end", agent=AGENT, session=storable(name), at=over, key=whole, origin="worker", detail={"reason": "file"}
    )


def _turns(name: str, text: Text, done: Path, at: int) -> Iterator[Event]:
    session, whole, place = storable(name), stable_id("k", text.clean), 0
    for number, part in enumerate(parts(text.clean)):
        yield Event(
            kind="turn", agent=AGENT, session=session, at=at + number, key=f"{whole}:{number}", origin="worker", role="user",
            text=part, detail={"origin": "human file", "trust": TRUST, "name": session},
            # where it was decoded otherwise, places in the file cannot be told
            source=Source(storable(str(done)), place, place + len(part.encode())) if text.exact else None,
        )  # fmt: skip
        place += len(part.encode())


def parts(text: str, most: int = TURN_CHARS) -> Iterator[str]:
    """The text in pieces that together are the text, cut behind a paragraph, else a line, else a word, else anywhere."""
    start = 0
    while len(text) - start > most:
        cut = next((at + len(mark) for mark in ("\n\n", "\n", " ") if (at := text.rfind(mark, start + 1, start + most)) > start),
                   start + most)  # fmt: skip
        yield text[start:cut]
        start = cut
    yield text[start:]


def _text(name: str, data: bytes) -> str:
    codec = next((codec for bom, codec in _BOMS if data.startswith(bom)), "utf-8")
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        raise Refused(f"{storable(name)} is not UTF-8 text: byte {error.start} is not") from None
    if "\x00" in text:
        raise Refused(f"{storable(name)} is not text: it holds zero bytes")
    return storable(text)


def _check_plain(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise Refused("it is a link", hint="put the file itself here")
    if not stat.S_ISREG(found.st_mode):
        raise Refused("it is not a plain file")
    if found.st_size > MOST_BYTES:
        raise Refused(f"it has {found.st_size} bytes, and {MOST_BYTES} are the most", hint="cut it into smaller files")


def _read(descriptor: int, signature: Signature) -> bytes:
    """All of it, as it was when it was found stable."""
    if _signature(os.fstat(descriptor)) != signature:
        raise Changing("it was replaced")
    data = b""
    while piece := os.read(descriptor, MOST_BYTES + 1 - len(data)):
        data += piece
    if len(data) != signature.size or _signature(os.fstat(descriptor)) != signature:
        raise Changing("it was changed while it was read")
    return data


def _holds(path: Path, data: bytes) -> bool:
    """Whether this is what is there: put away by somebody who was cut off."""
    with contextlib.suppress(OSError):
        return stat.S_ISREG(path.lstat().st_mode) and path.read_bytes() == data
    return False


def _keep_writers_out(descriptor: int) -> bool:
    """Raises Changing when somebody has it open for writing. False where the system cannot tell: then time has to do."""
    if sys.platform != "linux":
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)  # ignored unless asked for; the usual one would end us
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        if error.errno == errno.EAGAIN:
            raise Changing("somebody writes to it") from None
        return False
    return True


def _is_wanted(descriptor: int) -> bool:
    """Whether somebody waits to write to it since."""
    return sys.platform == "linux" and fcntl.fcntl(descriptor, fcntl.F_GETLEASE) != fcntl.F_RDLCK


def _signature(found: os.stat_result) -> Signature:
    return Signature(found.st_ino, found.st_size, found.st_mtime_ns)


def prepare(home: Home) -> None:
    """Make the folder, so that a person finds it."""
    try:
        ensure_private_dir(home.inbox)
    except StorageError as error:  # nothing else depends on it
        log.warning("there is no inbox: %s", error.message)
