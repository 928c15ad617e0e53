"""A home -> one file that holds all of it, checked; and such a file -> a home.

The ledger is copied first and the journal after it, so the journal in a backup always reaches at least as far as the
ledger. Open segments come before archives: a segment that is being archived meanwhile is found in one of the two. Every
member is listed with its SHA-256 in a manifest, and a restore trusts nothing that the manifest does not name.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from hindbrain import __version__
from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, NotFound, StorageError
from hindbrain.base.files import Lock, ensure_private_dir, new_file, storage_error, sync, sync_directory, write_all
from hindbrain.base.home import Home
from hindbrain.journal.read import archives, segments
from hindbrain.ledger.backup import backup_to
from hindbrain.ledger.check import problems
from hindbrain.ledger.store import Ledger
from hindbrain.queues.queue import Queue
from hindbrain.serve.drain import replay_again

MANIFEST: Final = "manifest.json"
_MEMBER: Final = re.compile(
    r"(ledger\.db|config\.toml|lost|machine|(journal|archive)/[0-9A-Za-z._-]{1,128}"
    r"|teams/\w[\w .@+=,-]{0,99}/memory/\w[\w .@+=,-]{0,99}(\.past\.jsonl|\.json))\Z"
)
_MANIFEST_BYTES: Final = 16 << 20
_SCRATCH: Final = ".backup-"

Progress = Callable[[str], None]


class BadBackup(HindbrainError):
    """The file is not a sound backup"""

    exit_code = 4
    default_hint = "use another backup; nothing was changed"


@dataclass(frozen=True, slots=True)
class Written:
    """A backup that was made and read back."""

    path: Path
    files: int
    bytes: int


def create(home: Home, destination: Path | None, clock: Clock, progress: Progress) -> Written:
    """Write a backup, then read it back."""
    if not home.root.is_dir():
        raise NotFound(f"there is no data in {home.root}", hint="nothing has been captured yet, or --home names another place")
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(clock.now_ms() / 1000))
    target = destination or ensure_private_dir(home.backups) / f"hindbrain-{stamp}.tar.gz"
    if target.is_dir():
        target = target / f"hindbrain-{stamp}.tar.gz"
    with alone(home), tempfile.TemporaryDirectory(prefix=_SCRATCH, dir=home.root) as scratch:
        with new_file(target) as out, os.fdopen(os.dup(out), "wb") as raw, tarfile.open(fileobj=raw, mode="w:gz") as tar:
            sums = dict(_add(tar, name, path, progress) for name, path in _members(home, Path(scratch), clock))
            _add_manifest(tar, sums, clock)
    count, size = verify(target, progress)
    return Written(target, count, size)


@contextlib.contextmanager
def alone(home: Home) -> Iterator[None]:
    """No backup is under way meanwhile, and what one that was killed left behind, a copy of the ledger, is gone."""
    with Lock(home.root / "backup.lock"):
        for leftover in home.root.glob(f"{_SCRATCH}*"):
            try:
                shutil.rmtree(leftover)
            except OSError as error:
                raise storage_error("remove", leftover, error) from error
        yield


def _members(home: Home, scratch: Path, clock: Clock) -> Iterator[tuple[str, Path]]:
    if home.ledger.exists():
        with Ledger.open(home.ledger, clock, read_only=True) as ledger:
            backup_to(ledger, scratch / "ledger.db")
        yield "ledger.db", scratch / "ledger.db"
    for path in segments(home.journal):
        yield f"journal/{path.name}", path
    for path in archives(home.archive):
        yield f"archive/{path.name}", path
    for path in sorted(home.teams.glob("*/memory/*.json*")):  # a conversation before its past: what goes from one is in the other
        if path.suffix in (".json", ".jsonl"):
            yield str(path.relative_to(home.root)), path
    for name in ("config.toml", "lost", "machine"):
        if (home.root / name).exists():
            yield name, home.root / name


def _add(tar: tarfile.TarFile, name: str, path: Path, progress: Progress) -> tuple[str, str]:
    progress(name)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return name, ""  # a segment archived since it was listed; its archive follows
    except OSError as error:
        raise storage_error("read", path, error) from error
    with os.fdopen(descriptor, "rb") as file:
        info = tarfile.TarInfo(name)
        info.size, info.mode = os.fstat(file.fileno()).st_size, 0o600  # a segment may grow behind this size meanwhile
        reader = _Hashing(file)
        tar.addfile(info, reader)
    return name, reader.digest.hexdigest()


class _Hashing:
    """A file that sums up what is read from it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(size)
        self.digest.update(data)
        return data


def _add_manifest(tar: tarfile.TarFile, sums: dict[str, str], clock: Clock) -> None:
    manifest = {"hindbrain": __version__, "made_at_ms": clock.now_ms(), "sha256": {n: s for n, s in sums.items() if s}}
    data = json.dumps(manifest, indent=1).encode()
    info = tarfile.TarInfo(MANIFEST)
    info.size, info.mode = len(data), 0o600
    tar.addfile(info, io.BytesIO(data))


def verify(path: Path, progress: Progress) -> tuple[int, int]:
    """Read a whole backup against its manifest; number of files and bytes. Raises BadBackup."""
    sums: dict[str, str] = {}
    size = 0
    wanted: dict[str, str] | None = None
    with _opened(path) as tar:
        for info in tar:
            file = _content(info, tar)
            if info.name == MANIFEST:
                wanted = _manifest(file, path)
                continue
            progress(info.name)
            sums[info.name], read = _summed(file)
            size += read
    if wanted is None:
        raise BadBackup(f"{path} has no manifest")
    if sums != wanted:
        wrong = sorted(name for name in sums.keys() | wanted.keys() if sums.get(name) != wanted.get(name))
        raise BadBackup(f"{path} is not what its manifest says: {', '.join(wrong[:5])}")
    return len(sums), size


def restore(path: Path, home: Home, clock: Clock, progress: Progress) -> int:
    """Make a home from a backup; refused where there already is one."""
    if home.root.exists() and any(home.root.iterdir()):
        raise StorageError(f"{home.root} is not empty", path=str(home.root), hint="move it away, or restore to another --home")
    count, _ = verify(path, progress)
    home.root.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{home.root.name}-restore-", dir=home.root.parent))
    with _opened(path) as tar:
        for info in tar:
            if info.name != MANIFEST:
                _unpack(_content(info, tar), scratch / info.name)
                if info.name.startswith("journal/"):
                    # Nobody appends to it again: the home it comes from may still do so, and to a ledger that both share
                    # they are one and the same segment.
                    (scratch / info.name).chmod(0o400)
    _check_ledger(Home(scratch), clock)
    with contextlib.suppress(FileNotFoundError):
        home.root.rmdir()
    scratch.rename(home.root)
    sync_directory(home.root.parent)
    return count


def _unpack(file: IO[bytes], target: Path) -> None:
    ensure_private_dir(target.parent)
    with new_file(target) as out:
        while block := file.read(1 << 20):
            write_all(out, block)
        sync(out)


def _check_ledger(home: Home, clock: Clock) -> None:
    if home.ledger.exists():
        with Ledger.open(home.ledger, clock) as ledger:
            found = problems(ledger)
            replay_again(ledger)  # a segment may have been archived between the copy of the ledger and that of the archives
            Queue(ledger, clock).release_all()  # whoever ran a job when the copy was made runs it in the other home
        if found:
            raise BadBackup(f"the ledger in the backup is not sound: {found[0]}")


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:gz") as tar:
            yield tar
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except (OSError, EOFError, tarfile.TarError, ValueError) as error:
        raise BadBackup(f"{path} cannot be read as a backup: {error}") from error


def _content(info: tarfile.TarInfo, tar: tarfile.TarFile) -> IO[bytes]:
    """A member's bytes, if it is a plain file with a name that a backup of ours can have."""
    if not info.isreg() or not (info.name == MANIFEST or _MEMBER.match(info.name)) or ".." in info.name:
        raise BadBackup(f"{info.name!r} does not belong into a backup")
    file = tar.extractfile(info)
    if file is None:
        raise BadBackup(f"{info.name!r} has no content")
    return file


def _manifest(file: IO[bytes], path: Path) -> dict[str, str]:
    try:
        told = json.loads(file.read(_MANIFEST_BYTES))["sha256"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadBackup(f"the manifest of {path} cannot be read") from error
    if not isinstance(told, dict):
        raise BadBackup(f"the manifest of {path} cannot be read")
    return {str(name): str(value) for name, value in told.items()}


def _summed(file: IO[bytes]) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    while block := file.read(1 << 20):
        digest.update(block)
        size += len(block)
    return digest.hexdigest(), size
