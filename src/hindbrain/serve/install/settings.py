"""A settings file of somebody else's program -> its bytes; and new bytes -> that file, as its owner would have written it.

The file keeps its mode and owner, a link keeps pointing where it points, and after a crash the old bytes or the new
ones are there. Nothing is written over a file that changed since it was read. The name of the temporary file is the
same every time, so that whoever comes after a crash can clear it away.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.errors import StorageError, UnsafePath
from hindbrain.base.files import storage_error, sync, sync_directory, write_all

_MAX_BYTES: Final = 16 << 20


class ChangedMeanwhile(StorageError):
    """Another program changed the file between reading and writing"""

    default_hint = "try again; it was left as it is"


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """One look at a file. `data` is None when there is none."""

    path: Path  # as it was named
    target: Path  # the file itself, behind any link
    data: bytes | None
    mode: int | None = None
    owner: tuple[int, int] | None = None

    @property
    def text(self) -> str:
        """Raises StorageError when it is no text."""
        try:
            return (self.data or b"").decode("utf-8")
        except UnicodeDecodeError as error:
            raise unreadable(self.path, f"byte {error.start} is not UTF-8") from error


def unreadable(path: Path, why: str) -> StorageError:
    return StorageError(
        f"cannot edit {path}: {why}", path=str(path), hint="correct the file and try again; it was left as it is"
    )


def digest(data: bytes | None) -> str | None:
    """What a file's bytes are recognised by; None stands for no file."""
    return None if data is None else hashlib.sha256(data).hexdigest()


def look(path: Path) -> SettingsFile:
    """Read a settings file, wherever a link leads."""
    target = Path(os.path.realpath(path))
    try:
        descriptor = os.open(target, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return SettingsFile(path, target, None)
    except OSError as error:
        raise storage_error("read", path, error) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{path} is not a plain file", path=str(path), hint="it was left as it is")
        if found.st_size > _MAX_BYTES:
            raise unreadable(path, f"it is larger than {_MAX_BYTES >> 20} MB")
        with os.fdopen(os.dup(descriptor), "rb") as file:
            data = file.read()
    except OSError as error:
        raise storage_error("read", path, error) from error
    finally:
        os.close(descriptor)
    return SettingsFile(path, target, data, stat.S_IMODE(found.st_mode), (found.st_uid, found.st_gid))


def check_writable(file: SettingsFile) -> None:
    """Raise StorageError now rather than half-way when the file may not be replaced."""
    hint = "make it writable for you, then try again; nothing was changed"
    if file.data is not None and not _may(file.target, os.W_OK):
        raise StorageError(f"cannot change {file.path}: it is read-only for you", path=str(file.path), hint=hint)
    parent = next(path for path in file.target.parents if path.exists())
    if not parent.is_dir():
        raise StorageError(f"cannot create {file.path}: {parent} is not a directory", path=str(file.path), hint=hint)
    if not _may(parent, os.W_OK | os.X_OK):
        raise StorageError(f"cannot change {file.path}: directory {parent} is read-only for you", path=str(parent), hint=hint)


def _may(path: Path, how: int) -> bool:
    return os.access(path, how, effective_ids=os.access in os.supports_effective_ids)


def temporary(target: Path, home: Path) -> Path:
    """Where the next version is written; each home has a name of its own."""
    return target.with_name(f".{target.name}.hindbrain-{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}.tmp")


def missing_directories(target: Path) -> list[Path]:
    """The directories that writing will have to make, outermost first."""
    return [path for path in reversed(target.parents) if not path.exists()]


def write(file: SettingsFile, data: bytes, home: Path) -> None:
    """Replace the file as it was looked at by these bytes."""
    for directory in missing_directories(file.target):
        try:
            directory.mkdir(exist_ok=True)
        except OSError as error:
            raise storage_error("create directory", directory, error) from error
        sync_directory(directory.parent)
    fresh = temporary(file.target, home)
    with _held(file.target.parent):
        try:
            _write_temporary(fresh, file, data)
            _check_unchanged(file)
            fresh.replace(file.target)
        except BaseException as error:
            with contextlib.suppress(OSError):
                fresh.unlink()
            if isinstance(error, OSError):
                raise storage_error("write", file.path, error) from error
            raise
        sync_directory(file.target.parent)


def _write_temporary(fresh: Path, file: SettingsFile, data: bytes) -> None:
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        if file.mode is not None and file.owner is not None:
            made = os.fstat(descriptor)
            if (made.st_uid, made.st_gid) != file.owner:
                os.fchown(descriptor, *file.owner)
            os.fchmod(descriptor, file.mode)
        write_all(descriptor, data)
        sync(descriptor)
    finally:
        os.close(descriptor)


def clear(leftover: str, made: Sequence[str]) -> None:
    """Remove what a crash may have left, and directories of ours (outermost first) that nobody uses."""
    if leftover:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(leftover)
    for directory in map(Path, reversed(made)):
        try:
            directory.rmdir()
            sync_directory(directory.parent)
        except FileNotFoundError:
            continue
        except OSError as error:
            if directory.is_dir() and any(directory.iterdir()):
                break  # somebody keeps something there
            raise storage_error("remove directory", directory, error) from error


def delete(file: SettingsFile) -> None:
    """Take the file away, as long as it is the one that was looked at."""
    with _held(file.target.parent):
        _check_unchanged(file)
        try:
            file.target.unlink()
        except OSError as error:
            raise storage_error("remove", file.path, error) from error
        sync_directory(file.target.parent)


def _check_unchanged(file: SettingsFile) -> None:
    if look(file.path).data != file.data:
        raise ChangedMeanwhile(f"{file.path} was changed by another program meanwhile", path=str(file.path))


@contextlib.contextmanager
def _held(directory: Path) -> Iterator[None]:
    """Keep installers of other homes out: they have another lock, but the same settings."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise storage_error("open directory", directory, error) from error
    try:
        with contextlib.suppress(OSError):  # a file system without locks: the comparison before the rename has to do
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
