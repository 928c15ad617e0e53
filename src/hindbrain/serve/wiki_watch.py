"""A wiki's folder, looked at again and again -> a compile whenever a file was saved, or came, or went.

Times and sizes of files are compared, every so many seconds: that works on every file system, also on those that tell nobody of
changes. A file that was saved a moment ago may be half there, so a compile waits until nothing has moved for one look.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from hindbrain.base.errors import LedgerBusy
from hindbrain.wiki.folder import CompileRunning

if TYPE_CHECKING:
    from hindbrain.serve.wikis import Wiki
    from hindbrain.wiki.compile import Compiled
    from hindbrain.wiki.folder import Folder

STILL_SECONDS: Final = 2.0  # a file that was saved less long ago is not taken in yet

Seen = dict[str, tuple[int, int, int]]


def seen(folder: Folder) -> Seen:
    """Path -> time, size and number of every page's file."""
    found: Seen = {}
    for path in folder.files():
        try:
            told = os.lstat(folder.root / path)
        except FileNotFoundError:
            continue  # it went meanwhile; the next look sees that
        found[path] = (told.st_mtime_ns, told.st_size, told.st_ino)
    return found


def watching(wiki: Wiki, every: float) -> Generator[Compiled]:
    """What each compile did, until the reader stops or Ctrl-C. Begins with one."""
    last: Seen | None = None
    while True:
        now = seen(wiki.folder)
        if now != last and not _moving(now):
            try:
                done, _ = wiki.compile()
            except (CompileRunning, LedgerBusy):
                done = None  # another one is at it; the next look sees whether anything is left
            if done is not None:
                last = seen(wiki.folder) if not done.waiting else None
                if done.written or done.removed or done.acts or done.waiting:
                    yield done
        time.sleep(every)


def _moving(now: Seen) -> bool:
    """Whether something was saved so lately that more may follow."""
    moment = time.time_ns()
    return any(0 <= moment - changed < STILL_SECONDS * 1e9 for changed, _, _ in now.values())
