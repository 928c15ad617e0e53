"""An image file -> a file system whose power can be cut and which can be mounted again.

The cut is the kernel's own: FS_IOC_SHUTDOWN without a log flush drops everything that was not synced and lets nothing
more through, and the next mount runs the file system's real recovery. What it does not show is a drive that loses its
own cache after saying that it was flushed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

KINDS: Final = ("ext4", "xfs")
_MAKE: Final = {"ext4": ("mkfs.ext4", "-q", "-F"), "xfs": ("mkfs.xfs", "-q", "-f")}
_PACKAGE: Final = {"mkfs.ext4": "e2fsprogs", "mkfs.xfs": "xfsprogs", "strace": "strace"}
_IMAGE_BYTES: Final = 300 << 20  # the least xfs takes; the file is sparse
_SHUTDOWN: Final = 0x8004587D  # FS_IOC_SHUTDOWN
_NO_LOG_FLUSH: Final = struct.pack("I", 2)
_UNMOUNT_SECONDS: Final = 30.0
_SEARCHED: Final = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class NotHere(Exception):
    """This machine cannot cut the power of a file system; the message says what is missing."""


def require(*tools: str) -> None:
    """Raise NotHere unless loop mounts and these tools can be used here."""
    if os.geteuid() != 0:
        raise NotHere("root is needed to mount a loop device")
    for tool in (*tools, "mount", "umount", "unshare"):
        if shutil.which(tool, path=_SEARCHED) is None:
            raise NotHere(f"{tool} is missing (package {_PACKAGE.get(tool, 'util-linux')})")
    if refusal := _refusal():
        raise NotHere(refusal)


@cache
def _refusal() -> str:
    """Why a loop mount and a cut cannot be done here although the tools are there (a container, say); empty when they can."""
    with tempfile.TemporaryDirectory() as place:
        try:
            with new_disk(Path(place) / "tried", "ext4") as disk:
                disk.cut()
        except (NotHere, OSError) as error:
            return str(error)
    return ""


def maker(kind: str) -> str:
    """The program that makes a file system of this kind."""
    return _MAKE[kind][0]


class Disk:
    """A mounted file system of its own. `root` is where it is mounted."""

    def __init__(self, place: Path, kind: str) -> None:
        self.root = place / "mnt"
        self._image = place / f"{kind}.img"
        self._mounted = False
        self.root.mkdir(parents=True)
        with self._image.open("xb") as image:
            image.truncate(_IMAGE_BYTES)
        _run([*_MAKE[kind], str(self._image)])

    def mount(self) -> None:
        _run(["mount", "-o", "loop", str(self._image), str(self.root)])
        self._mounted = True

    def cut(self) -> None:
        """Take the power away, now."""
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, _SHUTDOWN, _NO_LOG_FLUSH)
        finally:
            os.close(descriptor)

    def come_back(self) -> None:
        """The machine starts again: recovery runs, as it would at boot."""
        self.unmount()
        self.mount()

    def unmount(self) -> None:
        """Processes that were just killed may hold the file system for a moment longer."""
        deadline = time.monotonic() + _UNMOUNT_SECONDS
        while self._mounted:
            done = subprocess.run(["umount", str(self.root)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                self._mounted = False
            elif time.monotonic() > deadline:
                _run(["umount", "--lazy", str(self.root)])  # ours all the same: it must not outlive the test
                self._mounted = False
                raise AssertionError(f"cannot unmount {self.root}: {done.stderr.strip()}")
            else:
                time.sleep(0.02)

    def remove(self) -> None:
        self.unmount()
        self._image.unlink()
        self.root.rmdir()


@contextlib.contextmanager
def new_disk(place: Path, kind: str) -> Iterator[Disk]:
    """A fresh, mounted disk, unmounted and removed whatever happens."""
    disk = Disk(place, kind)
    try:
        disk.mount()
        yield disk
    finally:
        disk.remove()


def _run(command: list[str]) -> None:
    command[0] = shutil.which(command[0], path=_SEARCHED) or command[0]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotHere(f"{' '.join(command)} failed: {done.stderr.strip()}")
