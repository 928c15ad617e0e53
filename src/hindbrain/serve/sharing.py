"""What this home's ledger has taken in -> the same in a ledger that several machines share; and back, what was forgotten there.

The journal is read a second time, from where the shared ledger's own cursors stand to where the home's stand, out of open
segments or archives. Cursors move in the transaction that takes the lines in, so whoever is cut off, or does it twice at
once, changes nothing. How far a transcript was read is left out: a path means nothing on another machine. A wish to
forget that another machine wrote down is written to this home's journal under the same id, and carried out by the worker.
"""

from __future__ import annotations

import errno
import itertools
import json
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerBusy, NotFound, StorageError
from hindbrain.base.files import replace_file
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of, unparsed
from hindbrain.capture.event import FIRST_VERSION, Event, Json
from hindbrain.capture.record import Recorder
from hindbrain.journal.read import (
    ARCHIVE_SUFFIX,
    SEGMENT_SUFFIXES,
    Damage,
    Record,
    read_archive,
    read_segment,
    segment_name,
    segments,
)
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import SEGMENT_PREFIX, Batch, batches, segment_source
from hindbrain.serve.drain import singly
from hindbrain.serve.following import following

log = logging.getLogger("hindbrain.sharing")

_POSITIONS: Final = """
SELECT source, "offset" FROM cursors WHERE source IN (SELECT value FROM json_each(?))
"""
_OWN: Final = f"""
SELECT source, "offset" FROM cursors WHERE substr(source, 1, {len(SEGMENT_PREFIX)}) = '{SEGMENT_PREFIX}'
"""
_DAMAGES: Final = """
SELECT segment, start, "end", kind, reason FROM damage WHERE segment = ? AND start >= ? AND start < ?
"""
_WISHES: Final = "SELECT id, at, key, detail FROM events WHERE kind = 'forget'"
_WISH_COUNT: Final = "SELECT count(*) FROM events WHERE kind = 'forget'"
_HELD: Final = " UNION ALL ".join(
    f"SELECT 1 FROM {table} WHERE id IN (SELECT value FROM json_each(:ids))"
    for table in ("turns", "events", "memories", "sessions", "calls")
)

Step = Callable[[int], None]


@dataclass(slots=True)
class Passed:
    """What one pass did."""

    lines: int = 0
    wishes: int = 0  # of other machines, now in this home's journal
    marked: bool = False  # some of them name what this home holds: the worker has to carry them out
    reached: dict[str, int] = field(default_factory=dict[str, int])  # how far the shared ledger has each segment
    missing: list[str] = field(default_factory=list[str])  # segments that are gone, with lines the shared ledger lacks


class Sharing:
    """Passes over one home. The two ledgers are the caller's."""

    def __init__(self, home: Home, clock: Clock, machine: str) -> None:
        self._home = home
        self._clock = clock
        self._machine = machine

    def run(self, local: Evidence, shared: Evidence, step: Step = lambda lines: None) -> Passed:
        """Bring the shared ledger to where this home's stands. Raises what ledger or journal raise; done again, it goes on."""
        done = Passed()
        own = positions(local)
        done.reached = positions(shared, own)
        for segment in sorted(own):
            start, end = done.reached.get(segment, 0), own[segment]
            if start < end:
                try:
                    self._segment(local, shared, segment, start, end, done, step)
                    done.reached[segment] = end
                except NotFound:
                    done.missing.append(segment)  # it keeps no other from being shared
        self._take_over(local, shared, done)
        return done

    def _segment(
        self, local: Evidence, shared: Evidence, segment: str, start: int, end: int, done: Passed, step: Step
    ) -> None:
        reached = start
        for batch in batches(between(self._home, segment, start, end), told):
            self._put(shared, batch)
            done.lines += len(batch.records)
            reached = max(each for each in batch.cursors.values() if isinstance(each, int))
            step(len(batch.records))
        damages = _damages(local, segment, start, end)
        if damages or reached < end:  # lines that were forgotten are void: nothing is read there, and the cursor moves on
            self._put(shared, Batch([], damages, {segment_source(segment): end}))

    def _put(self, shared: Evidence, batch: Batch) -> None:
        batch.machine = self._machine
        try:
            shared.ingest(batch, following(shared, self._clock))  # the jobs are kept here, and here alone
        except LedgerBusy:
            raise  # it is away or in use: the same batch comes again
        except Exception as error:  # noqa: BLE001  # nothing is dropped: each line is tried by itself
            if len(batch.records) + len(batch.damages) <= 1:
                self._put_as_it_came(shared, batch, error)
                return
            log.warning("%d lines were not shared together, taking them one by one: %s", len(batch.records), _line(error))
            for single in singly(batch):
                self._put(shared, single)

    def _put_as_it_came(self, shared: Evidence, batch: Batch, error: Exception) -> None:
        """One line nobody foresaw must not keep all others. A ledger that takes nothing at all says so here."""
        reason = f"sharing failed: {_line(error)}"
        records = [(record, [unparsed(record.line, reason)]) for record, _ in batch.records]
        try:
            shared.ingest(Batch(records, batch.damages, batch.cursors, self._machine))
        except Exception:  # noqa: BLE001  # the first error says more
            raise error from None

    def _take_over(self, local: Evidence, shared: Evidence, done: Passed) -> None:
        """Wishes of other machines to forget. Ours are all in the shared ledger by now: as many there as here are the same."""
        if _count(local) == _count(shared):
            return
        with local.reading() as connection:
            known = {row[0] for row in connection.execute(_WISHES).fetchall()}
        with shared.reading() as connection:
            rows = [row for row in connection.execute(_WISHES).fetchall() if row[0] not in known]
        wishes = [event for row in rows if (event := _wish(*row)) is not None]
        if not wishes:
            return
        if _concerned(local, wishes) or self._lines_wait(local):
            # first the mark, then the wish: cut off in between, the worker finds nothing to do, and the wish comes again
            self._mark()
            done.marked = True
        recorder = Recorder(self._home.root)
        try:
            done.wishes = recorder.record(wishes, self._clock.now_ms())
        finally:
            recorder.close()
        if done.marked:
            self._mark()  # a worker that found the mark before the wish has taken it away

    def _mark(self) -> None:
        replace_file(self._home.forgetting, b"1\n")

    def _lines_wait(self, local: Evidence) -> bool:
        """Whether the journal may hold what is meant and the home's own ledger does not know yet."""
        own = positions(local)
        return any(_size(path) > own.get(segment_name(path), 0) for path in segments(self._home.journal))


def gone(segments_: list[str]) -> HindbrainError:
    """What to say of segments that are neither in the journal nor archived."""
    return NotFound(
        f"segment {', '.join(segments_)} is neither in the journal nor in an archive, and the shared ledger lacks lines of it",
        hint="restore it from a backup; what this home's own ledger holds of it stays there",
    )


def told(record: Record) -> list[Event]:
    """The events of a line that mean something on every machine."""
    return [event for event in events_of(record) if event.kind != "cursor"]


def positions(ledger: Evidence, wanted: dict[str, int] | None = None) -> dict[str, int]:
    """How far a ledger has taken segments in: all it knows, or those that are wanted."""
    with ledger.reading() as connection:
        if wanted is None:
            rows = connection.execute(_OWN).fetchall()
        else:
            rows = connection.execute(_POSITIONS, (json.dumps([segment_source(each) for each in wanted]),)).fetchall()
    return {source.removeprefix(SEGMENT_PREFIX): offset for source, offset in rows}


def between(home: Home, segment: str, start: int, end: int) -> Iterator[Record | Damage]:
    """What the journal or its archive holds of a stretch that the home's own ledger has taken in."""
    items = (item for item in _read(home, segment, start) if item.start >= start)
    return itertools.takewhile(lambda item: item.end <= end, items)


def _read(home: Home, segment: str, start: int) -> Iterator[Record | Damage]:
    """Wherever it lies now: it may get its lasting name or be archived at any moment."""
    opened, unfinished = (home.journal / f"{segment}{suffix}" for suffix in SEGMENT_SUFFIXES)
    for path in (opened, unfinished, home.archive / f"{segment}{ARCHIVE_SUFFIX}", opened):
        try:
            # an unfinished end lies behind what was taken in, unless it was taken in as torn
            yield from read_archive(path) if path.name.endswith(ARCHIVE_SUFFIX) else read_segment(path, start, final=True)
            return
        except StorageError as error:
            if error.errno != errno.ENOENT:
                raise
    raise NotFound(f"segment {segment} is gone", hint="restore it from a backup")


def _damages(local: Evidence, segment: str, start: int, end: int) -> list[Damage]:
    with local.reading() as connection:
        rows = connection.execute(_DAMAGES, (segment, start, end)).fetchall()
    return [Damage(name, begin, stop, kind, reason, b"") for name, begin, stop, kind, reason in rows]


def _count(ledger: Evidence) -> int:
    with ledger.reading() as connection:
        return int(connection.execute(_WISH_COUNT).fetchone()[0])


def _wish(identifier: str, at: int, key: str, detail: str) -> Event | None:
    """A stored wish as the event it was; None for one this version would not write under the same id."""
    content: dict[str, Json] = json.loads(detail)
    event = Event(kind="forget", agent="hindbrain", session="", at=at, key=key, origin="api", detail=content)
    made = (event, replace(event, version=FIRST_VERSION))
    return next((each for each in made if each.id == identifier), None)


def _concerned(local: Evidence, wishes: list[Event]) -> bool:
    named = [each for wish in wishes if isinstance(ids := wish.detail.get("ids"), list) for each in ids]
    with local.reading() as connection:
        return _any_held(connection, json.dumps(named))


def _any_held(connection: Database, ids: str) -> bool:
    return connection.execute(f"{_HELD} LIMIT 1", {"ids": ids}).fetchone() is not None


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # archived meanwhile: all of it was stored


def _line(error: Exception) -> str:
    text = error.message if isinstance(error, HindbrainError) else f"{type(error).__name__}: {error}"
    return " ".join(text.split())
