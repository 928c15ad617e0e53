"""A command of the user's -> a process that is ended with all it started, at the latest when the next worker begins.

Its process group is what the system offers, and a program that begins a session of its own leaves it. So every process also
inherits a mark in its environment: which process asked, and for which call. On Linux whoever carries it is found by it, wherever
it went, and so is what somebody left behind who was killed without a word: the asker that the mark names is gone. The same mark
names the call's directory. Elsewhere the group is all that can be ended.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

MARK: Final = "HINDBRAIN_CALL"
UNDER_WAY: Final = set[str]()  # marks of the calls of this process; whoever ends it asks whether there is one
_FOLDER: Final = "hindbrain-"
_SHAPE: Final = re.compile(r"(\d+)-(\d+)-(\d+)-[0-9a-f]{16}")
_PROC: Final = Path("/proc")
_ROUNDS: Final = 10  # one that is about to be ended may be just starting another


@contextlib.contextmanager
def call() -> Iterator[tuple[str, str]]:
    """A mark and an empty directory for one call; whatever carries the mark is ended with it."""
    mark = f"{_namespace()}-{os.getpid()}-{_begun(os.getpid())}-{secrets.token_hex(8)}"
    UNDER_WAY.add(mark)
    try:
        with tempfile.TemporaryDirectory(prefix=f"{_FOLDER}{mark}-", ignore_cleanup_errors=True) as directory:
            try:
                yield mark, directory
            finally:
                _end_marked(lambda found: found == mark)
    finally:
        UNDER_WAY.discard(mark)


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that was not waited for yet, with its group: nobody else has got its number meanwhile."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has gone; macOS says it in the second way
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def end_left_behind() -> None:
    """What belongs to calls of processes that are gone: they were killed and could not end it themselves."""
    _end_marked(_is_orphan)
    for folder in Path(tempfile.gettempdir()).glob(f"{_FOLDER}*"):
        if _is_orphan(folder.name.removeprefix(_FOLDER).rpartition("-")[0]) and folder.lstat().st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)


def _is_orphan(mark: str) -> bool:
    """Whether the process that a mark names has ended. What another container marked is not ours to judge."""
    told = _SHAPE.fullmatch(mark)
    if told is None or int(told[1]) != _namespace():
        return False
    pid = int(told[2])
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        return False
    return _begun(pid) != int(told[3])  # its number is another's now


def _end_marked(wanted: Callable[[str], bool]) -> None:
    for _ in range(_ROUNDS):
        found = [pid for pid in _own_processes() if wanted(_mark_of(pid))]
        if not found:
            return
        for pid in found:
            _end_one(pid, wanted)


def _end_one(pid: int, wanted: Callable[[str], bool]) -> None:
    """By a handle, and looked at once more: the number may have become another's."""
    with contextlib.suppress(OSError):
        handle = os.pidfd_open(pid)
        try:
            if wanted(_mark_of(pid)):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
        finally:
            os.close(handle)


def _own_processes() -> Iterator[int]:
    if not (_PROC / "self/environ").exists() or not hasattr(os, "pidfd_open"):
        return
    with os.scandir(_PROC) as entries:
        for entry in entries:
            if entry.name.isdigit() and int(entry.name) != os.getpid():
                with contextlib.suppress(OSError):
                    if entry.stat().st_uid == os.geteuid():
                        yield int(entry.name)


def _mark_of(pid: int) -> str:
    """The mark a process carries; nothing where it carries none, has ended, or may not be looked at."""
    try:
        variables = (_PROC / str(pid) / "environ").read_bytes()
    except OSError:
        return ""
    begin = f"{MARK}=".encode()
    return next((each[len(begin) :].decode("ascii", "replace") for each in variables.split(b"\0") if each.startswith(begin)), "")


def _namespace() -> int:
    """In which world of process numbers we live."""
    with contextlib.suppress(OSError):
        return (_PROC / "self/ns/pid").stat().st_ino
    return 0


def _begun(pid: int) -> int:
    """When a process began, in the system's own count since it started; 0 where that is not told, and of one that has ended and
    merely waits to be asked for."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        told = (_PROC / str(pid) / "stat").read_text("utf-8", "replace").rpartition(") ")[2].split()
        return 0 if told[0] in "ZX" else int(told[19])
    return 0
