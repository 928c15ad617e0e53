"""Files in inbox/done -> those that say what is to be forgotten; they go with it.

Which ones these are is worked out from what they hold: their events' ids follow from name and text (serve/inbox.py), so whoever
is cut off finds them again. A file that a person changed since has other ids; while it still holds a text that is to be forgotten
it is named in the mark of the wish. Links, pipes and folders are not ours.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from hindbrain.base.files import read_private, sync_directory
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id, storable
from hindbrain.ledger.forget import is_forgotten
from hindbrain.serve.inbox import AGENT, MOST_BYTES, Refused, Text, events, read_text

_TOLD_APART: Final = re.compile(r"\.[0-9a-f]{12}(?=(\.[^.]*)?$)")  # how a second file of a name is told from the first
_MOST: Final = 2 * MOST_BYTES  # a mark may be longer than the secret it stands for


def told_by(home: Home, known: Mapping[str, int]) -> list[Path]:
    """The files whose events are among what is forgotten."""
    return [path for path, text, at in _files(home) if _is_told(path, text, at, known)]


def holding(home: Home, turns: Iterable[tuple[str, str]]) -> list[Path]:
    """The files of a turn's name that hold its text, whatever else a person wrote into them; turns as name and text."""
    by_name: dict[str, set[str]] = {}
    for name, text in turns:
        by_name.setdefault(name, set()).add(text)
    if not by_name:
        return []
    return [path for path, text, _ in _files(home)
            if any(told in text.clean for name in _names(path) for told in by_name.get(name, ()))]  # fmt: skip


def mark(files: Iterable[Path]) -> bytes:
    """What the mark of a wish says of files that are to go: which file stood under each name."""
    found: dict[str, int] = {}
    for path in files:
        with contextlib.suppress(FileNotFoundError):  # a person took it away meanwhile
            found[path.name] = path.lstat().st_ino
    return json.dumps(found).encode() + b"\n"


def remove(home: Home, known: Mapping[str, int]) -> None:
    """Take away what the mark of a wish names and what tells of what is forgotten. Done again, it changes nothing."""
    doomed = {*told_by(home, known), *_marked(home)}
    for path in sorted(doomed):
        path.unlink(missing_ok=True)
    if doomed:
        sync_directory(_folder(home))


def _folder(home: Home) -> Path:
    return home.inbox / "done"


def _marked(home: Home) -> Iterator[Path]:
    try:
        named = json.loads(read_private(home.forgetting) or b"{}")
    except ValueError:
        return
    for name, inode in named.items() if isinstance(named, dict) else ():
        path = _folder(home) / os.path.basename(name)
        with contextlib.suppress(OSError):
            if path.lstat().st_ino == inode:  # not another one that came since
                yield path


def _files(home: Home) -> Iterator[tuple[Path, Text, int]]:
    """The plain files, what they say, and since when, as when they were taken."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        for entry in sorted(os.scandir(_folder(home)), key=lambda each: each.name):
            path = Path(entry.path)
            with contextlib.suppress(OSError, Refused):
                found = path.lstat()
                if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST:
                    at = min(found.st_mtime_ns, found.st_ctime_ns) // 1_000_000
                    yield path, read_text(path.name, _bytes(path)), max(at, 0)


def _bytes(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_MOST)


def _names(path: Path) -> set[str]:
    """What a file may have been called when it was dropped."""
    return {storable(path.name), storable(_TOLD_APART.sub("", path.name))}


def _is_told(path: Path, text: Text, at: int, known: Mapping[str, int]) -> bool:
    return any(
        is_forgotten(known, event.ids, session_id(AGENT, event.session), event.at)
        for name in _names(path) for event in events(name, text, path, at) if event.kind == "turn"
    )  # fmt: skip
