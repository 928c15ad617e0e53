"""A path inside the wiki -> its text; texts -> those files, each whole or as it was, never over what a person wrote meanwhile.

No link is followed on any step of the way, and nothing but plain files is read or replaced. A file is written beside its place,
synced, compared once more with what was last seen there, and renamed; the folders are synced at the end. Many files are written
first and synced then, because a file system makes one sync of what lies ready together.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hindbrain.base.errors import LockTimeout, StorageError, UnsafePath
from hindbrain.base.files import (
    PRIVATE_DIR,
    PRIVATE_FILE,
    Lock,
    ensure_private_dir,
    lock_holder,
    replace_file,
    storage_error,
    sync,
    sync_directory,
    write_all,
)  # fmt: skip
from hindbrain.wiki import names

OWN: Final = ".hindbrain"  # what is ours alone inside the wiki
MOST_BYTES: Final = 8 << 20  # of a page; the longest we write is far below
MOST_DEPTH: Final = 6
# A file that changes again within one tick of its file system's clock bears the same times; the coarsest clock ticks every 2 s.
_TICK_NS: Final = 3_000_000_000
_AT_ONCE: Final = 256  # files that are written before they are synced
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotText(StorageError):
    """A file of the wiki is no text"""

    default_hint = "pages are UTF-8; it was left as it is"


class CompileRunning(LockTimeout):
    """Another process is at work on this wiki"""

    default_hint = "one compile at a time is enough; try again when it has ended"


@dataclass(frozen=True, slots=True)
class File:
    """A file as it was found."""

    text: str
    changed_ns: int
    mode: int = PRIVATE_FILE
    state: tuple[int, ...] = field(default=(), compare=False)  # another one with every change: place, size and times


@dataclass(frozen=True, slots=True)
class Write:
    """What is to stand at a path: a text, or nothing. Done only if what stands there is still what was seen."""

    path: str
    text: str | None
    was: str | None  # None: nothing
    changed_ns: int | None = None  # a time for the file to bear; None: now


@dataclass(frozen=True, slots=True)
class Folder:
    """Where a wiki lies."""

    root: Path
    git: Path | None = None  # the program; None: versions are kept in the state
    shared: bool = False  # inside a repository, where others read along; otherwise private
    _seen: dict[str, tuple[tuple[int, ...], int]] = field(default_factory=dict[str, tuple[tuple[int, ...], int]], repr=False,
                                                          compare=False)  # path -> its file's state, and the hash of its text

    @property
    def own(self) -> Path:
        return self.root / OWN

    @property
    def there(self) -> bool:
        return self.own.is_dir()

    def prepare(self) -> None:
        """Make the folder and ours inside it. No repository takes in what is ours."""
        if self.shared:
            try:
                self.root.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise storage_error("create directory", self.root, error) from error
        else:
            ensure_private_dir(self.root)
        ensure_private_dir(_own(self.root))
        ignored = self.own / ".gitignore"
        if not ignored.exists():
            replace_file(ignored, b"*\n")

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the wiki; whoever comes second is told."""
        self.prepare()
        lock = Lock(self.own / "lock")
        if not lock.acquire():
            raise CompileRunning(f"process {lock_holder(lock.path) or 'unknown'} is at work on the wiki {self.root}")
        try:
            lock.write(str(os.getpid()))
            yield
        finally:
            lock.release()

    def untouched(self, relative: str, text: str) -> bool:
        """Whether a page's file certainly says this: it was seen to, and nobody touched it since. It is not opened."""
        state, known = self._seen.get(relative, ((), 0))
        if not state or known != hash(text):
            return False
        try:
            return _state(os.lstat(f"{self.root}/{relative}")) == state
        except OSError:
            return False

    def read(self, relative: str) -> File | None:
        """What stands there; None for nothing. Refuses links, what is no plain file, and what is no text."""
        plain = names.is_page(relative)  # then nothing is left to check but its folder, and that only if the file is opened
        path = f"{self.root}/{relative}" if plain else str(names.safe_path(self.root, relative))
        folder = path.rpartition("/")[0]
        if plain and "/" in relative and os.path.islink(folder):
            raise UnsafePath(f"{folder} is a link", path=folder)
        now = time.time_ns()
        file = _read(None, path, path)
        if file is not None and plain and max(file.state[-2:]) < now - _TICK_NS:
            self._seen[relative] = file.state, hash(file.text)
        return file

    def files(self) -> list[str]:
        """Every Markdown file below, whoever wrote it; neither hidden ones nor links."""
        return sorted(self._listed("", 0)) if self.root.is_dir() else []

    def _listed(self, below: str, depth: int) -> Iterator[str]:
        try:
            with os.scandir(self.root / below) as entries:
                found = [(each.name, each.is_dir(follow_symlinks=False), each.is_file(follow_symlinks=False)) for each in entries]
        except OSError as error:
            raise storage_error("list", self.root / below, error) from error
        for name, is_folder, is_file in found:
            if name.startswith("."):
                continue
            if is_folder and depth < MOST_DEPTH:
                yield from self._listed(f"{below}{name}/", depth + 1)
            elif is_file and name.endswith(".md"):
                yield below + name

    def put(self, writes: Sequence[Write]) -> list[str]:
        """Carry out what is to be; gives the paths that were left alone because something else stands there now."""
        left: list[str] = []
        touched: set[str] = set()
        for start in range(0, len(writes), _AT_ONCE):
            some = writes[start : start + _AT_ONCE]
            for write in some:
                self._ready(write)
            for write in some:
                self._synced(write)
            for write in some:
                if self._placed(write):
                    touched.add(write.path.rpartition("/")[0])
                else:
                    left.append(write.path)
        for below in sorted(touched):
            sync_directory(self.root / below)
        return left

    def clear(self, paths: Iterable[str]) -> None:
        """Take away what a crash left beside these paths."""
        for path in paths:
            with contextlib.suppress(FileNotFoundError), self._parent(path) as (parent, _):
                os.unlink(_beside(path), dir_fd=parent)

    def _ready(self, write: Write) -> None:
        """The text beside its place, not synced yet."""
        if write.text is None:
            return
        with self._parent(write.path, make=True) as (parent, name):
            try:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(_beside(write.path), dir_fd=parent)
                descriptor = os.open(_beside(write.path), _CREATE, 0o666 if self.shared else PRIVATE_FILE, dir_fd=parent)
                try:
                    write_all(descriptor, write.text.encode("utf-8"))
                    _keep_mode(descriptor, parent, name)
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise storage_error("write", self.root / write.path, error) from error

    def _synced(self, write: Write) -> None:
        if write.text is None:
            return
        with self._parent(write.path) as (parent, _):
            try:
                if write.changed_ns is not None:
                    os.utime(_beside(write.path), ns=(write.changed_ns, write.changed_ns), dir_fd=parent, follow_symlinks=False)
                descriptor = os.open(_beside(write.path), _READ, dir_fd=parent)
                try:
                    sync(descriptor)
                finally:
                    os.close(descriptor)
            except OSError as error:
                raise storage_error("sync", self.root / write.path, error) from error

    def _placed(self, write: Write) -> bool:
        """Put it in its place, unless another has been there since."""
        try:
            with self._parent(write.path) as (parent, name):
                if not _still(parent, name, self.root / write.path, write.was):
                    if write.text is not None:
                        os.unlink(_beside(write.path), dir_fd=parent)
                    return False
                if write.text is not None:
                    os.rename(_beside(write.path), name, src_dir_fd=parent, dst_dir_fd=parent)
                elif write.was is not None:
                    os.unlink(name, dir_fd=parent)
        except FileNotFoundError:
            if write.text is None:  # its folder is gone as well
                return write.was is None
            raise
        except OSError as error:
            raise storage_error("replace", self.root / write.path, error) from error
        return True

    @contextlib.contextmanager
    def _parent(self, relative: str, *, make: bool = False) -> Iterator[tuple[int, str]]:
        """A descriptor of the folder a path lies in, reached without following a link, and the name inside it."""
        if not names.is_page(relative):
            names.safe_path(self.root, relative)
        *parts, name = relative.split("/")
        path = self.root
        descriptor = _opened(path, None, _DIRECTORY & ~os.O_NOFOLLOW)
        try:
            for part in parts:
                path = path / part
                if make:
                    self._make(part, path, descriptor)
                inner = _opened(path, descriptor, _DIRECTORY)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)

    def _make(self, part: str, path: Path, parent: int) -> None:
        try:
            os.mkdir(part, 0o777 if self.shared else PRIVATE_DIR, dir_fd=parent)
            os.fsync(parent)
        except FileExistsError:
            return
        except OSError as error:
            raise storage_error("create directory", path, error) from error


def _own(root: Path) -> Path:
    """Our folder inside a wiki; refused when it is a link, wherever it leads."""
    path = root / OWN
    if path.is_symlink():
        raise UnsafePath(f"{path} is a link", path=str(path))
    return path


def _opened(path: Path, parent: int | None, flags: int) -> int:
    try:
        return os.open(path if parent is None else path.name, flags, dir_fd=parent)
    except FileNotFoundError:
        raise
    except OSError as error:
        if path.is_symlink() or not path.is_dir():
            raise UnsafePath(f"{path} is no folder of the wiki", path=str(path), errno=error.errno) from error
        raise storage_error("open directory", path, error) from error


def _read(parent: int | None, name: str, path: Path | str) -> File | None:
    try:
        descriptor = os.open(name, _READ, dir_fd=parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if os.path.islink(path):
            raise UnsafePath(f"{path} is a link", path=str(path), errno=error.errno) from error
        raise storage_error("open", path, error) from error
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise UnsafePath(f"{path} is not a plain file", path=str(path))
        if found.st_size > MOST_BYTES:
            raise NotText(f"{path} is too long for a page: {found.st_size} bytes", path=str(path))
        text = _whole(descriptor, found.st_size).decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"{path} is no text: byte {error.start} is not UTF-8", path=str(path)) from error
    except OSError as error:
        raise storage_error("read", path, error) from error
    finally:
        os.close(descriptor)
    return File(text, found.st_mtime_ns, stat.S_IMODE(found.st_mode), _state(found))


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _whole(descriptor: int, size: int) -> bytes:
    """All its bytes, also of a file that grows meanwhile, up to what a page may have."""
    blocks = [os.read(descriptor, size + 1)]
    while blocks[-1] and sum(map(len, blocks)) <= MOST_BYTES:
        blocks.append(os.read(descriptor, 1 << 20))
    return b"".join(blocks)


def _still(parent: int, name: str, path: Path, was: str | None) -> bool:
    """Whether a path holds what was seen there. A link, a folder or another's bytes are something else."""
    try:
        found = _read(parent, name, path)
    except (UnsafePath, NotText):
        return False
    return (found.text if found is not None else None) == was


def _keep_mode(descriptor: int, parent: int, name: str) -> None:
    """The file that takes another's place has its mode."""
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if stat.S_ISREG(found.st_mode):
            os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o777 | PRIVATE_FILE)


def _beside(path: str) -> str:
    """The same every time, so that whoever comes after a crash can clear it away; never longer than a name may be."""
    return f".hindbrain-{names.hashed(path, 16)}.tmp"
