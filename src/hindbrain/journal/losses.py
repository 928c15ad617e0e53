"""An event that could not be kept -> a count that `status` shows.

The usual reason is a full disk, so the counter lives in a block that was allocated while there was room: `<home>/lost`, 512
bytes, rewritten in place under a lock. When home itself cannot be written (read-only, somebody else's, gone), the count goes
to the user's runtime directory or, last, to a dot file in the user's own directory; readers add them up.

The hook loads this only when something went wrong. No modules beyond those the interpreter has, plus fcntl and zlib.
"""

import fcntl
import posix
import time
import zlib

_SIZE = 512
# one byte is appended here by a launcher that could not even load the package (removed, or being upgraded)
UNLOADED = b"lost.unloaded"


class Losses:
    """How many events were not kept, when and why the last one."""

    __slots__ = ("count", "last_ns", "reason")

    def __init__(self, count: int = 0, last_ns: int = 0, reason: str = "") -> None:
        self.count = count
        self.last_ns = last_ns
        self.reason = reason


def places(home: bytes, environ: dict[bytes, bytes]) -> list[bytes]:
    """Where the count may be, best first."""
    mark = b"%08x" % zlib.crc32(home)
    found = [home + b"/lost"]
    if runtime := environ.get(b"XDG_RUNTIME_DIR"):
        found.append(runtime + b"/hindbrain-lost-" + mark)
    if user := environ.get(b"HOME"):
        found.append(user + b"/.hindbrain-lost-" + mark)
    return found


def prepare(home: bytes) -> None:
    """Allocate the counter's block while the disk has room."""
    _add(home + b"/lost", 0, "")


def count(home: bytes, reason: str, environ: dict[bytes, bytes]) -> bool:
    """Add one; False when it could be written nowhere."""
    for path in places(home, environ):
        try:
            if path == home + b"/lost":
                _check_home(home)
            _add(path, 1, reason)
            return True
        except (OSError, ValueError):
            continue  # the next place may take it
    return False


def read(home: bytes, environ: dict[bytes, bytes]) -> Losses:
    """All losses known for this home."""
    total = Losses()
    for path in places(home, environ):
        try:
            descriptor = posix.open(path, posix.O_RDONLY | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK)
        except OSError:
            continue  # no loss was ever counted there
        try:
            found = _parse(posix.pread(descriptor, _SIZE, 0))
        except OSError:
            continue  # a pipe or a directory: nothing was counted there either
        finally:
            posix.close(descriptor)
        total.count += found.count
        if found.last_ns > total.last_ns:
            total.last_ns, total.reason = found.last_ns, found.reason
    try:
        unloaded = posix.lstat(home + b"/" + UNLOADED)
        total.count += unloaded.st_size if unloaded.st_mode & 0o170000 == 0o100000 else 0
    except OSError:
        pass  # the usual case: the launcher always found the package
    return total


def _check_home(home: bytes) -> None:
    """A stranger's directory is not written to, nor one that a stranger's link leads to."""
    link = posix.lstat(home)
    ours = posix.stat(home).st_uid == posix.geteuid()
    if not ours or (link.st_mode & 0o170000 == 0o120000 and link.st_uid not in (0, posix.geteuid())):
        raise OSError("home belongs to another user")


def _add(path: bytes, more: int, reason: str) -> None:
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
    descriptor = posix.open(path, flags, 0o600)
    try:
        found = posix.fstat(descriptor)
        if found.st_mode & 0o170000 != 0o100000 or found.st_uid != posix.geteuid() or found.st_nlink != 1:
            raise OSError("the loss counter is not a plain file of ours")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        losses = _parse(posix.pread(descriptor, _SIZE, 0))
        if more:
            losses = Losses(losses.count + more, time.time_ns(), reason)
        text = b"%d %d %s" % (losses.count, losses.last_ns, losses.reason.encode("ascii", "replace")[:64])
        if posix.pwrite(descriptor, text.ljust(_SIZE - 1) + b"\n", 0) != _SIZE:
            raise OSError("the loss counter could not be written")
        posix.fsync(descriptor)
    finally:
        posix.close(descriptor)


def _parse(data: bytes) -> Losses:
    fields = data.split()
    if len(fields) < 2 or not (fields[0].isdigit() and fields[1].isdigit()):
        return Losses()
    return Losses(int(fields[0]), int(fields[1]), fields[2].decode("ascii", "replace") if len(fields) > 2 else "")
