"""Transcripts that are already there -> the journal and the ledger, oldest first, each turn once.

An import is what the worker does with a transcript, done for all of them: journal first, redacted, under the ids the
hooks would have given. Each file's cursor moves with what was taken from it, so an import that was cut off goes on
where it stood, and one that is done again finds nothing new. It holds the worker's lock meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import LockTimeout, NotFound, StorageError
from hindbrain.base.files import Lock, ensure_private_dir
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.salvage import Unreadable
from hindbrain.capture.transcript import TranscriptCursor, allowed, follow
from hindbrain.ledger.statement import Said
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon
from hindbrain.serve.drain import Drain, Drained, cleaned, default_roots, wanted
from hindbrain.serve.forgetting import finish

_CURSOR: Final = "transcript:"
_LOCK_SECONDS: Final = 15.0
_LOOK_SECONDS: Final = 0.2
_SHOWN_CHARS: Final = 80_000  # of a turn; a model is shown less

Step = Callable[[str], None]


@dataclass(slots=True)
class File:
    """A transcript and what became of it."""

    path: str
    root: Path
    bytes: int
    changed_ns: int
    to_read: int = 0  # bytes that were not read before
    sessions: int = 0
    turns_new: int = 0
    turns_known: int = 0  # stored already, by a hook or an earlier reading
    problems: list[str] = field(default_factory=list[str])  # lines that could not be read
    error: str = ""  # why the file could not be read
    calls: int = 0  # questions that a model would be asked about what is new, where one is configured; rather too many
    tokens: int = 0
    dollars: float = 0.0


def find(config: Config, paths: Iterable[Path]) -> list[File]:
    """The transcripts below the places named, or below the usual ones; oldest first. Raises NotFound for a place not there."""
    named = [Path(os.path.abspath(path)) for path in paths]
    for path in named:
        if not os.path.lexists(path):
            raise NotFound(f"there is no {path}", hint="name a folder of transcripts, or a transcript")
    places = named or [Path(os.path.abspath(root)) for root in (*default_roots(), *config.transcript_roots)]
    found: dict[str, File] = {}
    for place in places:
        for file, identity in _below(place):
            found.setdefault(identity, file)
    return sorted(found.values(), key=lambda file: (file.changed_ns, file.path))


def _below(place: Path) -> Iterator[tuple[File, str]]:
    if not place.is_dir():
        if os.path.lexists(place):
            yield _looked_at(str(place), place.parent, links=True)
        return
    unreadable: list[OSError] = []
    for folder, folders, names in os.walk(place, onerror=unreadable.append):
        # A subagent's talk is told in its parent's transcript; older clients put its own beside it as agent-*.jsonl.
        folders[:] = sorted(name for name in folders if name != "subagents")
        for name in sorted(names):
            if name.endswith(".jsonl") and not name.startswith("agent-"):
                yield _looked_at(os.path.join(folder, name), place, links=False)
    for error in unreadable:
        folder = str(error.filename)
        yield File(folder, place, 0, 0, error=f"cannot be listed: {error.strerror}"), folder


def _looked_at(path: str, root: Path, *, links: bool) -> tuple[File, str]:
    """A file as it was found; what is no plain file is told of, not passed over."""
    try:
        info = os.stat(path, follow_symlinks=links)
    except OSError as error:
        return File(path, root, 0, 0, error=f"cannot be looked at: {error.strerror}"), path
    file = File(path, root, info.st_size, info.st_mtime_ns)
    if stat.S_ISLNK(info.st_mode):
        file.error = "is a link; name the file it leads to"
    elif not stat.S_ISREG(info.st_mode):
        file.error = "is not a plain file"
    elif links:
        file.root = Path(os.path.realpath(path)).parent
    return file, f"{info.st_dev}:{info.st_ino}"  # one file may be reached from two places


def preview(clock: Clock, ledger: Ledger | None, files: Iterable[File], step: Step, config: Config | None = None) -> None:
    """Fill in what an import would find, and what the configured model would use to read it. Nothing is written."""
    counted = _Counted(ledger, clock, config)
    for file in files:
        step(os.path.basename(file.path))
        if not file.error:
            try:
                counted.count(file)
            except StorageError as error:
                file.error = error.message


class _Counted:
    """Reads files as an import would and compares with what is stored."""

    def __init__(self, ledger: Ledger | None, clock: Clock, config: Config | None) -> None:
        self._ledger = ledger
        self._config = config if config is not None and config.model else None
        self._now = clock.now_ms()
        self._met: set[tuple[str, str]] = set()  # turns of files looked at before: two files may tell the same
        self._from = {} if ledger is None else stored_from(ledger)

    def count(self, file: File) -> None:
        cursor = stored_cursor(self._ledger, file.path)
        allowed(file.path, [file.root])
        file.turns_known = 0 if cursor is None else self._from.get(os.path.realpath(file.path), (0, 0))[0]
        sessions: set[str] = set()
        turns: dict[str, dict[str, Said]] = {}
        start, more = 0 if cursor is None else cursor.offset, True
        while more:
            done = follow(file.path, [file.root], cursor, now_ms=self._now, clean=cleaned)
            if any(problem.start == problem.end == 0 for problem in done.problems):  # another file than the one read before
                start = file.turns_known = 0
            file.problems += [f"at {problem.start}: {problem.reason}" for problem in done.problems]
            events = done.events if self._ledger is None else wanted(self._ledger, done.events)
            self._compare(file, {event.ids for event in events if event.kind == "turn"} - self._met)
            sessions |= {event.session for event in events}
            self._gather(turns, events)
            more = done.more and done.cursor != cursor
            cursor = done.cursor
        file.to_read = (0 if cursor is None else cursor.offset) - start
        file.sessions = len(sessions)
        if self._config is not None and file.turns_new:
            _estimate(file, turns, self._config)

    def _gather(self, turns: dict[str, dict[str, Said]], events: Iterable[Event]) -> None:
        """Keep as much of the turns of a file's sessions as a model may be shown of them."""
        for event in events if self._config is not None else ():
            if event.kind == "turn" and event.role is not None:
                said = Said(event.id, event.role, event.text[:_SHOWN_CHARS], event.tool, event.at)
                turns.setdefault(event.session, {})[event.id] = said

    def _compare(self, file: File, fresh: set[tuple[str, str]]) -> None:
        stored = self._stored({name for names in fresh for name in names})
        known = sum(not stored.isdisjoint(names) for names in fresh)
        file.turns_known += known
        file.turns_new += len(fresh) - known
        self._met |= fresh

    def _stored(self, ids: set[str]) -> set[str]:
        if self._ledger is None or not ids:
            return set()
        query = "SELECT id FROM turns WHERE id IN (SELECT value FROM json_each(?))"
        with self._ledger.reading() as connection:
            return {row[0] for row in connection.execute(query, (json.dumps(sorted(ids)),)).fetchall()}


def _estimate(file: File, turns: Mapping[str, Mapping[str, Said]], config: Config) -> None:
    from hindbrain.reason.model.reasoner import estimate

    for said in turns.values():
        found = estimate(list(said.values()), config)
        file.calls, file.tokens, file.dollars = file.calls + found.calls, file.tokens + found.tokens, file.dollars + found.dollars


def stored_cursor(ledger: Ledger | None, path: str) -> TranscriptCursor | None:
    """How far a transcript was read; None for not at all, or in a way this version does not know."""
    try:
        stored = None if ledger is None else ledger.cursor(_CURSOR + path)
        return None if stored is None else TranscriptCursor.from_json(stored)
    except Unreadable:
        return None


def stored_from(ledger: Ledger) -> dict[str, tuple[int, int]]:
    """How many turns and sessions the ledger has from each transcript."""
    query = """
    SELECT source_path, count(*), count(DISTINCT session_id) FROM turns WHERE source_path IS NOT NULL GROUP BY source_path
    """
    with ledger.reading() as connection:
        return {path: (turns, sessions) for path, turns, sessions in connection.execute(query).fetchall()}


def carry_out(config: Config, clock: Clock, files: list[File], step: Step) -> None:
    """Take the files in, one after the other, and fill in what became of each."""
    home = Home(config.home)
    ensure_private_dir(home.root)
    with alone(home), Ledger.open(home.ledger, clock) as ledger:
        if home.forgetting.exists():
            # a wish to forget that was cut off comes before anything new
            finish(home, ledger, clock, keeps_jobs=not config.is_shared)
        roots = dict.fromkeys(file.root for file in files)
        drain = Drain(home, ledger, clock, roots, follows=False, keeps_jobs=not config.is_shared)
        try:
            drain.replay_archives(Drained())
            drain.run()  # what hooks left waiting is not of our doing and must not be counted so
            for file in files:
                step(os.path.basename(file.path))
                if not file.error:
                    _take(drain, ledger, file)
            drain.archive(config.keep_segments)
        finally:
            drain.close()
        _count_known(ledger, files)


def _take(drain: Drain, ledger: Ledger, file: File) -> None:
    before = stored_cursor(ledger, file.path)
    done = Drained()
    try:
        allowed(file.path, [file.root])
    except StorageError as error:
        file.error = error.message
        return
    drain.follow(file.path, done)
    drain.run()  # which projects its folders belong to; after an interruption nobody would ask again
    after = stored_cursor(ledger, file.path)
    moved = (after.offset if after else 0) - (before.offset if before else 0)
    file.to_read = moved if moved >= 0 or after is None else after.offset
    file.turns_new = done.turns_new
    file.error = "; ".join(done.unread)
    file.problems += [problem for problem in done.problems if not any(problem in each for each in done.unread)]


def _count_known(ledger: Ledger, files: list[File]) -> None:
    stored = stored_from(ledger)
    for file in [each for each in files if not each.error]:
        turns, file.sessions = stored.get(os.path.realpath(file.path), (0, 0))
        file.turns_known = max(0, turns - file.turns_new)


@contextlib.contextmanager
def alone(home: Home) -> Iterator[None]:
    """Hold the worker's lock. A worker is asked to leave, the next hook after us starts another; a program that holds it to
    settle its own records is only waited for."""
    lock = Lock(home.worker_lock)
    deadline = time.monotonic() + _LOCK_SECONDS
    while not lock.acquire(timeout=_LOOK_SECONDS):
        if _is_served(home):
            daemon.stop(home.root)
        elif time.monotonic() > deadline:
            raise LockTimeout(f"{lock.path} is held by another process", path=str(lock.path))
    try:
        lock.write(f"{os.getpid()}\n")
        yield
    finally:
        lock.release()


def _is_served(home: Home) -> bool:
    """Whether a worker listens; nobody else reads the pipe."""
    try:
        os.close(os.open(home.wake, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC))
    except OSError:
        return False
    return True
