"""The only ways this program creates, replaces, locks and reads its own files.

Everything it owns is private (directories 0700, files 0600, whatever the umask), no link is followed to its last step, and
a file is replaced by: write a new one, fsync it, rename it, fsync the directory. Without the last step a power cut brings
the old version back, or an empty file. Appending to the journal is the one thing done elsewhere (journal/append.py),
because the hook cannot afford to import `os`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from hindbrain.base.errors import LockTimeout, StorageError, UnsafePath

PRIVATE_DIR: Final = 0o700
PRIVATE_FILE: Final = 0o600


def storage_error(action: str, path: Path | str, error: OSError) -> StorageError:
    """The error to raise for an OSError, with the path it happened at."""
    return StorageError(f"cannot {action} {path}: {error.strerror or error}", path=str(path), errno=error.errno)


def sync(descriptor: int) -> None:
    """Force a file's bytes to the disk. On macOS plain fsync stops at the drive's cache."""
    if sys.platform == "darwin":
        fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
    else:
        os.fsync(descriptor)


def sync_directory(path: Path) -> None:
    """Force a directory's entries to the disk, so that a new or renamed file is still there after a power cut."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise storage_error("open directory", path, error) from error
    try:
        os.fsync(descriptor)
    except OSError as error:
        raise storage_error("sync directory", path, error) from error
    finally:
        os.close(descriptor)


def ensure_private_dir(path: Path) -> Path:
    """Make a directory that only its owner can enter; refuse one that is a stranger's or a stranger's link."""
    try:
        if not path.exists():
            _make_durable(path)
        link = path.lstat()
        if stat.S_ISLNK(link.st_mode) and link.st_uid not in (0, os.geteuid()):
            raise UnsafePath(f"{path} is a link that belongs to user {link.st_uid}", path=str(path))
        _own_directory(path)
    except OSError as error:
        raise storage_error("use directory", path, error) from error
    return path


def _make_durable(path: Path) -> None:
    missing = [path, *path.parents]
    missing = missing[: next(i for i, parent in enumerate(missing) if parent.exists())]
    for directory in reversed(missing):
        with contextlib.suppress(FileExistsError):  # another process was quicker: the same directory is there
            directory.mkdir(mode=PRIVATE_DIR)
        sync_directory(directory.parent)


def _own_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if found.st_uid != os.geteuid():
            raise UnsafePath(f"{path} belongs to user {found.st_uid}, not to you", path=str(path))
        if stat.S_IMODE(found.st_mode) != PRIVATE_DIR:
            os.fchmod(descriptor, PRIVATE_DIR)
    finally:
        os.close(descriptor)


def open_private(path: Path, flags: int, *, sole: bool = True) -> int:
    """Open one of our own files: a plain file of ours, never through a link; created ones are 0600.

    `sole` also refuses a file with a second name, through which somebody else could read or change it.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, PRIVATE_FILE)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink():
            raise UnsafePath(f"{path} is a link", path=str(path), errno=error.errno) from error
        raise storage_error("open", path, error) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{path} is not a plain file", path=str(path))
        if found.st_uid != os.geteuid():
            raise UnsafePath(f"{path} belongs to user {found.st_uid}, not to you", path=str(path))
        if sole and found.st_nlink > 1:
            raise UnsafePath(f"{path} has {found.st_nlink} names", path=str(path))
        if flags & (os.O_WRONLY | os.O_RDWR) and stat.S_IMODE(found.st_mode) != PRIVATE_FILE:
            os.fchmod(descriptor, PRIVATE_FILE)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_private(path: Path, limit: int = 1 << 20) -> bytes | None:
    """The bytes of one of our own files, or None when there is none; larger than `limit` is an error, not a cut."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        try:
            data = file.read(limit + 1)
        except OSError as error:
            raise storage_error("read", path, error) from error
    if len(data) > limit:
        raise StorageError(f"{path} is larger than {limit} bytes", path=str(path), hint="it is not a file of ours; move it away")
    return data


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` at `path` so that after any crash the old version or the new one is there, whole."""
    with new_file(path) as descriptor:
        write_all(descriptor, data)


@contextlib.contextmanager
def new_file(path: Path) -> Iterator[int]:
    """A descriptor to write the next version of `path` to; it takes the place of the old one when the block ends well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    try:
        descriptor = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    except FileNotFoundError as error:
        raise storage_error("create", path, error) from error
    try:
        try:
            yield descriptor
            sync(descriptor)
        finally:
            os.close(descriptor)
        temporary.replace(path)
        sync_directory(path.parent)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise storage_error("write", path, error) from error
        raise


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Write every byte; a short write is continued, an error raised."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class Lock:
    """An flock on a file of its own: held by one process at a time, freed by its death however it dies."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def acquire(self, timeout: float = 0.0) -> bool:
        """Take the lock within `timeout` seconds; False when somebody else holds it."""
        descriptor = open_private(self.path, os.O_RDWR | os.O_CREAT)
        deadline = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    return False
                time.sleep(0.02)
            except OSError as error:
                os.close(descriptor)
                raise storage_error("lock", self.path, error) from error
            else:
                os.ftruncate(descriptor, 0)  # whoever held it before is not who holds it now
                self._descriptor = descriptor
                return True

    def write(self, text: str) -> None:
        """Say in the file who holds it; for people and messages, the lock itself is what counts."""
        if self._descriptor is None:
            raise StorageError(f"lock {self.path} is not held", path=str(self.path))
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, text.encode(), 0)

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        if not self.acquire(timeout=10.0):
            raise LockTimeout(f"{self.path} is held by another process", path=str(self.path))
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.release()


def lock_holder(path: Path) -> int | None:
    """The pid that holds a Lock, or None when it is free. 0 when it is held but the holder has not said who it is."""
    said = lock_said(path)
    if said is None:
        return None
    words = said.split()
    return int(words[0]) if words and words[0].isdigit() else 0


def lock_said(path: Path) -> str | None:
    """What the holder of a Lock has written into it; None when it is free."""
    try:
        descriptor = open_private(path, os.O_RDONLY)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return os.pread(descriptor, 64, 0).decode("ascii", "replace")
    finally:
        os.close(descriptor)
    return None
