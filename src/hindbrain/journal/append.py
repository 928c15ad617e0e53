"""A framed line -> bytes that survive a power cut, or an error; never a yes that is not true.

Writers share the newest segment of `<home>/journal`. Each opens it for appending, holds a shared lock, writes its line with
one `write` and forces it down with one `fdatasync`. There is no other coordination:

- A segment that is full, or on which a write or sync has failed, is left behind and a newer one is made. After a failed
  sync the kernel may have dropped the bytes and will not say so twice, so that file is sealed (mode 0400).
- A new segment is made durable under a `.new` name before it gets its `.log` name and can be used. Whichever of the two
  names a power cut leaves, the reader reads it.
- The archiver deletes a segment only under an exclusive lock. A writer that opened it before and locked it after finds
  that the file has no name any more and takes the next.

The hook runs this on every call: only modules the interpreter has already loaded, plus fcntl.
"""

import errno
import fcntl
import posix
import sys
import time

SEGMENT_BYTES = 4 << 20
_TRIES = 4
_DIRECTORY = posix.O_RDONLY | posix.O_DIRECTORY | posix.O_CLOEXEC
_APPEND = posix.O_WRONLY | posix.O_APPEND | posix.O_NOFOLLOW | posix.O_CLOEXEC | posix.O_NONBLOCK
_CREATE = _APPEND | posix.O_CREAT | posix.O_EXCL


TYPE_CHECKING = False  # as type checkers read it; importing `typing` costs more than the append
if TYPE_CHECKING:
    from collections.abc import Callable

    MayRetry = Callable[[], bool] | None


class NotKept(Exception):
    """The line is not on the disk. `reason` is a short word for the counter of lost events."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


def append(home: bytes, line: bytes, may_retry: "MayRetry" = None) -> None:
    """Return once the line is durable; raise NotKept otherwise. `may_retry` is asked before another segment is tried."""
    try:
        journal = open_journal(home)
    except OSError as error:
        raise _not_kept(error) from error
    try:
        append_to(journal, line, may_retry)
    finally:
        posix.close(journal)


def append_to(journal: int, line: bytes, may_retry: "MayRetry" = None) -> None:
    """append(), for a caller that keeps the journal directory open."""
    failure = OSError(errno.EAGAIN, "every segment was taken away")
    fresh = False
    for _ in range(_TRIES):
        try:
            name, segment = _create(journal) if fresh else _newest(journal)
        except OSError as error:
            raise _not_kept(error) from error
        fresh = True
        if segment < 0:  # none yet, full, sealed, or archived between listing and opening
            continue
        try:
            _write(segment, line)
            return
        except OSError as error:
            failure = error
            _seal(journal, name, segment)
            if may_retry is not None and not may_retry():
                break
        finally:
            posix.close(segment)
    raise _not_kept(failure) from failure


def open_journal(home: bytes) -> int:
    """A descriptor of `<home>/journal`, made if missing; raises OSError when home or journal is not safely ours."""
    try:
        root = _open_home(home)
    except FileNotFoundError:
        _make(home)
        root = _open_home(home)
    try:
        return _open_owned(b"journal", root)
    except FileNotFoundError:
        try:
            posix.mkdir(b"journal", 0o700, dir_fd=root)
        except FileExistsError:
            pass  # another hook was quicker
        posix.fsync(root)
        return _open_owned(b"journal", root)
    finally:
        posix.close(root)


def _open_home(home: bytes) -> int:
    """Home may be a link that its owner made (to another disk, say); a link planted by somebody else is refused."""
    try:
        return _open_owned(home, None)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        if posix.lstat(home).st_uid not in (0, posix.geteuid()):
            raise PermissionError(errno.EPERM, "home is a link of another user") from error
        return _owned(posix.open(home, _DIRECTORY))


def _open_owned(path: bytes, parent: int | None) -> int:
    return _owned(posix.open(path, _DIRECTORY | posix.O_NOFOLLOW, dir_fd=parent))


def _owned(directory: int) -> int:
    found = posix.fstat(directory)
    if found.st_uid != posix.geteuid():
        posix.close(directory)
        raise PermissionError(errno.EPERM, "directory belongs to another user")
    if found.st_mode & 0o777 != 0o700:
        posix.fchmod(directory, 0o700)
    return directory


def _make(path: bytes) -> None:
    """Make a directory and its parents, each entry forced to the disk before anything is put into it."""
    parent = path.rstrip(b"/").rpartition(b"/")[0] or b"/"
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        if parent == path:
            raise
        _make(parent)
        _make(path)
        return
    above = posix.open(parent, _DIRECTORY)
    try:
        posix.fsync(above)
    finally:
        posix.close(above)


def _newest(journal: int) -> tuple[bytes, int]:
    """The segment new lines go to, locked and checked; descriptor -1 when there is none that takes a line."""
    newest = max((name for name in posix.listdir(journal) if name.endswith(".log") and _is_segment(name)), default="")
    if not newest:
        return b"", -1
    try:
        segment = posix.open(newest, _APPEND, dir_fd=journal)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EACCES, errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.EPERM):
            return b"", -1
        raise
    if not _takes_lines(segment):
        posix.close(segment)
        return b"", -1
    return newest.encode(), segment


def _is_segment(name: str) -> bool:
    """Whether a name is one that _create gave; a file that somebody left here is read, but never written to."""
    return name.isascii() and name[:10].isdigit() and name[10:11] == "-"


def _takes_lines(segment: int) -> bool:
    if not _share(segment):
        return False
    found = posix.fstat(segment)
    plain = found.st_mode & 0o170000 == 0o100000 and found.st_nlink == 1 and found.st_uid == posix.geteuid()
    return plain and bool(found.st_mode & 0o200) and found.st_size < SEGMENT_BYTES


def _share(segment: int) -> bool:
    """Keep the archiver away while this descriptor is open; False when the archiver is there already."""
    try:
        fcntl.flock(segment, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass  # no locks on this file system: the archiver cannot get its own either and leaves segments alone
    return True


def _create(journal: int) -> tuple[bytes, int]:
    """A new segment behind all others, durable before anybody can see it as one. Its name is never used again."""
    numbers = [int(name[:10]) for name in posix.listdir(journal) if _is_segment(name)]
    name = b"%010d-%x-%d" % (max(numbers, default=0) + 1, time.time_ns(), posix.getpid())
    segment = posix.open(name + b".new", _CREATE, 0o600, dir_fd=journal)
    try:
        posix.fchmod(segment, 0o600)
        if not _share(segment):
            raise FileNotFoundError(errno.ENOENT, "the archiver was quicker")
        posix.fsync(journal)
        posix.rename(name + b".new", name + b".log", src_dir_fd=journal, dst_dir_fd=journal)
    except FileNotFoundError:
        posix.close(segment)
        return b"", -1  # the archiver took the empty file away before it was locked
    except BaseException:
        _seal(journal, name + b".new", segment)
        posix.close(segment)
        raise
    return name + b".log", segment


def _write(segment: int, line: bytes) -> None:
    written = posix.write(segment, line)
    if written != len(line):
        raise OSError(errno.ENOSPC, f"{written} of {len(line)} bytes written")
    if sys.platform == "darwin":
        fcntl.fcntl(segment, fcntl.F_FULLFSYNC)
    else:
        posix.fdatasync(segment)


def _seal(journal: int, name: bytes, segment: int) -> None:
    """Let nobody append here again. An empty segment of a full disk is taken away, so that they do not pile up."""
    try:
        posix.fchmod(segment, 0o400)
        if posix.fstat(segment).st_size == 0:
            fcntl.flock(segment, fcntl.LOCK_EX | fcntl.LOCK_NB)
            posix.unlink(name, dir_fd=journal)
    except OSError:
        pass  # the segment stays as it is; the line goes to a newer one or is reported as not kept


def _not_kept(error: OSError) -> NotKept:
    reason = errno.errorcode.get(error.errno or 0, "error").lower()
    return NotKept(reason, str(error))
