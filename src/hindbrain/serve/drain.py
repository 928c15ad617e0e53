"""Journal lines -> ledger rows, and transcripts -> journal lines: what the worker does with its time.

Everything reaches the ledger through the journal. A transcript line is first written to the journal, with the id its
hook would have given it, and so is which project a folder belongs to. One pass is therefore: take in what the journal
has, follow the transcripts that were named, take in what that added. A pass that is cut off anywhere is simply done
again.
"""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerError, StorageError
from hindbrain.base.files import ensure_private_dir, open_private, replace_file, storage_error, sync
from hindbrain.base.home import Home
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import Redaction, redact
from hindbrain.capture.decode import events_of, unparsed
from hindbrain.capture.event import Event, session_id
from hindbrain.capture.record import Recorder
from hindbrain.capture.salvage import Unreadable
from hindbrain.capture.transcript import TranscriptCursor, follow, transcripts_changed
from hindbrain.journal.archive import archive_stored, without_writers
from hindbrain.journal.read import Damage, Record, SegmentGone, archives, read_archive, read_segment, segment_name, segments
from hindbrain.ledger.forget import forgotten, is_forgotten
from hindbrain.ledger.ingest import Batch, batches, segment_source
from hindbrain.ledger.project import place_event, resolve
from hindbrain.ledger.store import Ledger
from hindbrain.serve.following import following
from hindbrain.serve.inbox import Inbox

log = logging.getLogger("hindbrain.drain")
# Where no log is set up (a command, a program of the user's) nothing may reach the terminal as it is.
logging.getLogger("hindbrain").addHandler(logging.NullHandler())

# How much of a transcript is read before the journal gets it; bounds memory, not work.
_FOLLOW_BYTES: Final = 4 << 20
# A transcript is looked at again this long after a hook named it: at Stop its last lines are not written yet.
RECHECK_SECONDS: Final = (1.0, 5.0, 30.0)
_TRANSCRIPT: Final = "transcript:"
_RECENT_MS: Final = 600_000
_REPLAYED: Final = "archives replayed"


@dataclass(slots=True)
class Drained:
    """What passes have done."""

    records: int = 0
    turns_new: int = 0
    damages: int = 0
    followed: int = 0  # lines that transcripts added to the journal
    problems: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])  # transcripts that could not be read to their end, and why


class Drain:
    """Holds what a pass needs from the one before: known folders, transcript cursors, what to look at again."""

    def __init__(
        self, home: Home, ledger: Ledger, clock: Clock, transcript_roots: Iterable[Path], *, follows: bool = True,
        keeps_jobs: bool = True,
    ) -> None:  # fmt: skip
        self._home = home
        self._ledger = ledger
        self._clock = clock
        self._roots = list(transcript_roots)
        self._follows = follows  # a program that only settles its own records leaves transcripts to the worker
        self._then = following(ledger, clock) if keeps_jobs else None  # else they are kept where the lines are shared
        self._recorder = Recorder(home.root)
        self._inbox = Inbox(home, self._recorder, clock)
        self._looked_at: set[str] = set()  # folders whose project is known to the ledger
        self._unidentified: dict[str, tuple[str, bool]] = {}  # folder -> agent at work there, whether it began just now
        self._due: dict[str, list[float]] = {}  # transcript -> when to look at it, soonest first

    def close(self) -> None:
        self._recorder.close()

    def run(self) -> Drained:
        """One pass over journal and due transcripts; ends when neither has anything left."""
        done = Drained()
        self._drain(done)
        while self.identify() + self.follow_due(done) + self._inbox.take():
            self._drain(done)
        return done

    def _drain(self, done: Drained) -> None:
        while self._drain_once(done):
            pass

    def _drain_once(self, done: Drained) -> bool:
        """One sweep over the open segments; True when it took something in, so that another sweep may find more."""
        before = done.records + done.damages
        paths = segments(self._home.journal)
        for batch in batches(_unread([(path, self._offset(path)) for path in paths]), events_of):
            self._sync(batch)
            self._keep_copies(batch.damages)
            self._ingest(batch, done)
            done.records += len(batch.records)
            done.damages += len(batch.damages)
            for _, events in batch.records:
                self._notice(events)
        return done.records + done.damages > before

    def _sync(self, batch: Batch) -> None:
        """Force down what was read: a hook may not have come to syncing its line yet.

        Otherwise a power cut could leave the cursor on the disk and take the line. The next hook would then append below
        the cursor, where nobody looks again, and an acknowledged event would be lost to the ledger.
        """
        for path in segments(self._home.journal):
            if segment_source(segment_name(path)) in batch.cursors:
                descriptor = open_private(path, os.O_RDONLY, sole=False)
                try:
                    sync(descriptor)
                except OSError as error:
                    raise storage_error("sync", path, error) from error
                finally:
                    os.close(descriptor)

    def _offset(self, path: Path) -> int:
        stored = self._ledger.cursor(segment_source(segment_name(path)))
        return stored if isinstance(stored, int) else 0

    def _keep_copies(self, damages: list[Damage]) -> None:
        """Evidence of what could not be read, before the cursor moves past it."""
        for damage in damages:
            ensure_private_dir(self._home.damage)
            replace_file(self._home.damage / f"{damage.segment}-{damage.start}.bin", damage.copy)
            log.warning("journal %s at %d: %s, %s", damage.segment, damage.start, damage.kind, damage.reason)

    def _ingest(self, batch: Batch, done: Drained) -> None:
        try:
            done.turns_new += self._ledger.ingest(batch, self._then).turns_new
        except HindbrainError:
            raise  # the store is busy, full or damaged: the same batch comes again
        except Exception as error:  # nothing is dropped: each line is tried by itself
            # One event nobody foresaw must not block all others: the batch goes in one by one, and the one that fails is
            # kept as it came, to be seen in `status`.
            log.exception("a batch of %d lines failed; taking them one by one", len(batch.records))
            done.problems.append(f"{type(error).__name__} while storing")
            for single in singly(batch):
                self._ingest_single(single, done)

    def _ingest_single(self, batch: Batch, done: Drained) -> None:
        try:
            done.turns_new += self._ledger.ingest(batch, self._then).turns_new
        except HindbrainError:
            raise
        except Exception as error:  # noqa: BLE001  # the line is kept as it came
            reason = f"storing failed: {type(error).__name__}: {error}"
            records = [(record, [unparsed(record.line, reason)]) for record, _ in batch.records]
            self._ledger.ingest(Batch(records, batch.damages, batch.cursors))

    def _notice(self, events: list[Event]) -> None:
        """What stored events ask for: folders to identify, transcripts to follow."""
        for event in events:
            if event.kind in ("place", "cursor"):
                continue
            if event.cwd.startswith("/") and ((now := self._just_started(event)) or event.cwd not in self._looked_at):
                self._unidentified[event.cwd] = (event.agent, now or self._unidentified.get(event.cwd, ("", False))[1])
            path = event.detail.get("transcript_path")
            if self._follows and isinstance(path, str) and path and event.origin == "hook":
                self._watch(event, path)

    def _just_started(self, event: Event) -> bool:
        """A session that begins now may find its folder changed; one read again from the journal says nothing of today."""
        return event.kind == "session_start" and abs(self._clock.now_ms() - event.at) < _RECENT_MS

    def identify(self) -> int:
        """Look at the folders that came up, once the journal has nothing more to say of them; how many lines that added."""
        added = 0
        for cwd, (agent, just_started) in self._unidentified.items():
            known = self._ledger.place(cwd)
            if known is None or (just_started and os.path.isdir(cwd)):  # a folder that is gone is still what it was
                place = resolve(cwd)
                if known is None or known[0] != place.identity:
                    event = place_event(place, agent, self._clock.now_ms(), after=-1 if known is None else known[2])
                    added += self._recorder.record([event], self._clock.now_ms())
            self._looked_at.add(cwd)
        self._unidentified.clear()
        return added

    def _watch(self, event: Event, path: str) -> None:
        config = event.detail.get("config_dir")
        if isinstance(config, str) and config:
            root = Path(config) / "projects"
            if root not in self._roots:
                self._roots.append(root)
        now = self._clock.elapsed()
        self._due[path] = [now, *(now + seconds for seconds in RECHECK_SECONDS)]

    def next_due(self) -> float | None:
        """Seconds until a transcript or the inbox should be looked at again; None when neither is waiting."""
        now = self._clock.elapsed()
        times = [max(0.0, due[0] - now) for due in self._due.values()]
        times += [] if (look := self._inbox.next_due()) is None else [look]
        return min(times, default=None)

    def follow_due(self, done: Drained) -> int:
        """Follow the transcripts whose time has come; how many lines they added to the journal."""
        now = self._clock.elapsed()
        added = 0
        for path in [path for path, due in self._due.items() if due[0] <= now]:
            self._due[path] = [time for time in self._due[path] if time > now]
            if not self._due[path]:
                del self._due[path]
            added += self.follow(path, done)
        return added

    def follow(self, path: str, done: Drained) -> int:
        """Bring the journal up to a transcript's end; a file that may not be read is told of and left alone."""
        added, more = 0, True
        try:
            while more:
                cursor = self._cursor(path)
                now = self._clock.now_ms()
                step = follow(path, self._roots, cursor, max_bytes=_FOLLOW_BYTES, now_ms=now, clean=cleaned)
                done.problems += [f"{problem.path} at {problem.start}: {problem.reason}" for problem in step.problems]
                if step.cursor is None or step.cursor == cursor:
                    break
                moved = self._ledger.cursor_event(_TRANSCRIPT + path, step.cursor.to_json(), "claude-code")
                added += self._recorder.record([*wanted(self._ledger, step.events), moved], now)
                more = step.more
                self._drain(done)  # the cursor is in the journal now and counts from here on
        except LedgerError:
            raise
        except StorageError as error:
            log.warning("transcript not followed: %s", error.message)
            done.problems.append(error.message)
            done.unread.append(f"{path}: {error.message}")
        done.followed += added
        return added

    def _cursor(self, path: str) -> TranscriptCursor | None:
        stored = self._ledger.cursor(_TRANSCRIPT + path)
        try:
            return None if stored is None else TranscriptCursor.from_json(stored)
        except Unreadable:
            return None  # written by another version: from the start again, the ids collapse what is known

    def catch_up(self, done: Drained) -> int:
        """Follow every transcript that changed while no hook told of it, since capture began on this machine."""
        self._drain(done)  # hooks may have told of these sessions what the reading depends on
        known: dict[str, tuple[int, int]] = {}
        for name in self._ledger.cursors(_TRANSCRIPT):
            path = name.removeprefix(_TRANSCRIPT)
            cursor = self._cursor(path)
            with contextlib.suppress(OSError):  # gone: nothing to compare with, and nothing to follow
                found = os.stat(path)
                if cursor is not None and cursor.offset == found.st_size:
                    known[path] = (found.st_size, found.st_mtime_ns)
        changed = transcripts_changed(self._roots, capture_began_ms(self._home), known)
        return sum(self.follow(str(path), done) for path in changed)

    def replay_archives(self, done: Drained) -> None:
        """Take in what archives hold, once in a ledger's life: it may have been made anew. Cut off, it is done again."""
        if self._ledger.meta(_REPLAYED):
            return
        for path in archives(self._home.archive):
            for batch in batches(read_archive(path), events_of):
                self._ingest(batch, done)
        self._ledger.set_meta(_REPLAYED, "yes")

    def archive(self, keep: int) -> list[str]:
        """Compress the segments that are wholly stored."""
        stored = {segment_name(path): self._offset(path) for path in segments(self._home.journal)}
        return archive_stored(self._home.journal, self._home.archive, stored, keep)


def replay_again(ledger: Ledger) -> None:
    """Have the next worker take in what archives hold, whatever this ledger says of them."""
    ledger.set_meta(_REPLAYED, "")


def _unread(offsets: list[tuple[Path, int]]) -> Iterator[Record | Damage]:
    """What lies behind the cursors of the open segments."""
    for path, start in offsets:
        try:
            if path.stat().st_size > start:
                with without_writers(path) if path != offsets[-1][0] else contextlib.nullcontext(False) as final:
                    yield from read_segment(path, start, final=final)
        except (FileNotFoundError, SegmentGone):
            continue  # archived since it was listed: all of it was stored; or named, and its first line comes with a wake


def capture_began_ms(home: Home) -> int:
    """When the first segment was made; its name says so, and its archive is kept for good."""
    names = [segment_name(path) for path in (*archives(home.archive), *segments(home.journal))]
    times = [int(name.split("-")[1], 16) // 1_000_000 for name in names if _is_ours(name)]
    return min(times, default=0)


def _is_ours(name: str) -> bool:
    parts = name.split("-")
    return len(parts) == 3 and parts[1] != "" and all(letter in "0123456789abcdef" for letter in parts[1])


def singly(batch: Batch) -> Iterator[Batch]:
    """The same lines, one to a batch; each moves the cursor behind itself."""
    items: list[Record | Damage] = [record for record, _ in batch.records]
    items += batch.damages
    known = {id(record): events for record, events in batch.records}
    for item in sorted(items, key=lambda each: (each.segment, each.start)):
        yield from batches([item], lambda record: known[id(record)])


def default_roots(environ: dict[str, str] | None = None) -> list[Path]:
    """Where Claude Code keeps its transcripts unless a hook says otherwise."""
    values = os.environ if environ is None else environ
    roots = [Path(values["CLAUDE_CONFIG_DIR"]) / "projects"] if values.get("CLAUDE_CONFIG_DIR") else []
    if values.get("HOME"):
        roots.append(Path(values["HOME"]) / ".claude" / "projects")
    return roots


def wanted(ledger: Ledger, events: list[Event]) -> list[Event]:
    """What a transcript said that is to be kept.

    A fork's transcript begins with what was said before it, under new ids; that belongs to the session it came from. What was
    forgotten would be turned away by the ledger, but the journal would hold its text again (P13).
    """
    with ledger.reading() as connection:
        gone = forgotten(connection)
    forked = {session: ledger.forked_at(session_id(*session)) for session in {(each.agent, each.session) for each in events}}
    return [
        each for each in events
        if each.at >= (forked[each.agent, each.session] or 0)
        and not (gone and is_forgotten(gone, each.ids, session_id(each.agent, each.session) if each.session else None, each.at))
    ]  # fmt: skip


def cleaned(line: bytes) -> Redaction:
    """A transcript line as the hook's redaction would have left it."""
    return redact(line) if suspicious(line) else Redaction(line, {})
