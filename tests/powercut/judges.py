"""What was acknowledged and what is on the disk after the cut -> the promises that were broken.

Every judge returns sentences, none when all is well: the suite wants none, its negative controls want at least one.
A judge also does what comes next in real life, since a loss may show only when work goes on.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sqlite3
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from hindbrain.base.clock import SystemClock
from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.journal import losses
from hindbrain.journal.append import append
from hindbrain.journal.line import HOOK
from hindbrain.journal.read import Record, archives, read_archive, read_segment, segments
from tests.crash.history import Ended, History, Kept
from tests.powercut import writers
from tests.powercut.writing import Ack

AFTER = 10_000_000  # number of the prompt that is written when the power is back


def journal(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every line that was acknowledged can be read, as it was written, once."""
    return _history(Home(root / "home"), acks, lambda number: writers.blob(seed, number, *writers.LINE_BYTES))


def archive(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every line is in its segment or in its archive, and what is called archived is."""
    home = Home(root / "home")
    broken = _history(home, acks, lambda number: writers.blob(seed, number, *writers.SEGMENT_BYTES))
    there = {path.name.split(".")[0] for path in archives(home.archive)}
    broken += [f"archive {name} is lost" for what, name, *_ in acks if what == "archived" and name not in there]
    return broken + [f"{path.name} is empty" for path in archives(home.archive) if not list(read_archive(path))]


def pages(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every page is there, whole, and not older than the version that was acknowledged."""
    newest: dict[str, int] = {}
    for _, name, number in acks:
        newest[name] = max(number, newest.get(name, 0))
    return [f"page {name} is {state}" for name, number in newest.items() if (state := _state(root, name, number, seed))]


def _state(root: Path, name: str, number: int, seed: int) -> str:
    """What is wrong with a page of which version `number` was acknowledged; empty when nothing is."""
    try:
        data = (root / "pages" / name).read_bytes()
    except FileNotFoundError:
        return "missing"
    version = data.partition(b" ")[0]
    if not data:
        return "empty"
    if not version.isdigit() or data != writers.blob(seed, int(version), *writers.PAGE_BYTES):
        return "not whole"
    return f"version {int(version)}, not {number}" if int(version) < number else ""


def hooks(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """An event whose hook ended well is readable, once, or counted as lost; and the agent was never disturbed."""
    return _hooks(root / "home", acks, seed)


def first_hooks(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """The same, and the worker that was at work meanwhile left a ledger to go on with."""
    home = root / "data" / "of" / "home"
    return _hooks(home, acks, seed) + _goes_on(Home(home), seed)


def _hooks(home: Path, acks: list[Ack], seed: int) -> list[str]:
    broken = [f"hook {ack[1]} disturbed the agent: {ack[2:]}" for ack in acks if ack[0] == "disturbed"]
    found = _history(Home(home), acks, lambda number: writers.prompt_json(seed, number))
    # A machine too busy to run a hook within its second makes it count a loss; there are none otherwise.
    if len(found) <= losses.read(os.fsencode(home), {}).count:
        found = [each for each in found if not each.startswith("acknowledged but gone")]
    return broken + found


def _history(home: Home, acks: list[Ack], content: Callable[[int], bytes]) -> list[str]:
    """Acknowledged lines against readable ones. What is there unasked was under way, and must be what its number says."""
    records = [record.line.payload for record in _records(home) if record.line.kind == HOOK]
    kept = Kept([(str(_number(payload)), payload) for payload in records])
    history = History()
    acknowledged = set(_said(acks, "kept"))
    for number in acknowledged | {_number(payload) for payload in records}:
        ended = Ended.ACKNOWLEDGED if number in acknowledged else Ended.CUT_OFF
        history.add(str(number), content(number), ended)
    return history.problems(kept, repeats=False)


def _number(payload: bytes) -> int:
    """Which line this is: its first whole number."""
    return int(re.findall(rb"\d+", payload[:200])[0])


def ledger(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """The ledger is sound, has what was stored, and takes in the rest of the journal, each event once."""
    home = Home(root / "home")
    stored = max(_said(acks, "stored"), default=-1)
    with _database(home.ledger) as connection:
        turns, broken = _turns(connection), _unsound(connection)
    texts = [writers.prompt(seed, number)["prompt"] for number in range(stored + 1)]
    broken += [f"{text[:30]!r} was stored and is lost" for text in texts if not turns[text]]
    return broken + _goes_on(home, seed)


def backup(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every backup that was reported is there and sound; an unfinished one has no name of its own."""
    from hindbrain.serve.backup import verify

    broken = []
    there = {int(path.name.split(".")[0]): path for path in (root / "backups").glob("[0-9]*.tar.gz")}
    broken += [f"backup {number} is missing" for number in _said(acks, "backed up") if number not in there]
    for number, path in there.items():
        try:
            verify(path, lambda name: None)
        except HindbrainError as error:
            broken.append(f"backup {number} is not sound: {error.message}")
    return broken + ledger(root, acks, seed)


def migration(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """A ledger that was made is there with its whole schema; one that was not is made now, from whatever was left."""
    from hindbrain.ledger import schema
    from hindbrain.ledger.store import Ledger

    made, broken, shapes = set(_said(acks, "migrated")), [], []
    for number in range(max(made, default=-1) + 2):
        home = Home(root / f"home-{number}")
        if number in made:
            with _database(home.ledger) as connection:
                if not schema.applied(connection):
                    broken.append(f"the migration of home {number} is lost")
        home.root.mkdir(mode=0o700, exist_ok=True)
        with Ledger.open(home.ledger, SystemClock()) as store:
            shapes.append(schema.shape(store.connection))
            broken += _unsound(store.connection)
    return broken + [f"home {n} has another schema" for n, shape in enumerate(shapes) if shape != shapes[-1]]


def wiki(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every page is whole and of the last compile or the one under way, and work goes on without an act nobody did."""
    place, done = root / "wiki", max(_said(acks, "compiled"))
    git = (place / ".git").is_dir()
    with tempfile.TemporaryDirectory() as elsewhere:
        wanted = []
        for number in (done, done + 1):
            writers.wiki_compile(Path(elsewhere) / str(number), seed, number, git=False)
            wanted.append(_pages(Path(elsewhere) / str(number)))
    found = _pages(place)
    broken = [f"page {path} is missing" for path in wanted[0].keys() & wanted[1].keys() if path not in found]
    broken += [f"page {path} is {'torn' if text else 'empty'}" for path, text in found.items()
               if path != "log.md" and text not in (wanted[0].get(path), wanted[1].get(path))]  # fmt: skip
    broken += [f"page {path} is empty" for path, text in found.items() if not text]
    with _database(place / ".hindbrain" / "state.db") as connection:
        broken += _unsound(connection)
    for lock in (place / ".git").rglob("*.lock"):
        os.utime(lock, (0, 0))  # some time has passed
    try:
        made = writers.wiki_compile(place, seed, done + 1, git=git)
    except AssertionError as error:
        return [*broken, str(error)]
    after = {path: text for path, text in _pages(place).items() if path != "log.md"}
    if after != {path: text for path, text in wanted[1].items() if path != "log.md"}:
        broken.append("the next compile ends elsewhere")
    if git and subprocess.run(["git", "fsck", "--strict"], cwd=place, capture_output=True, check=False).returncode:
        broken.append("the repository is not sound")
    return broken + ([f"the history is lost: {made.trouble}"] if made.trouble else [])


def _pages(place: Path) -> dict[str, str]:
    return {str(path.relative_to(place)): path.read_text("utf-8") for path in place.rglob("*.md") if ".git" not in path.parts}


def rows(root: Path, acks: list[Ack], seed: int) -> list[str]:
    """Every row whose insert returned is there, in a sound database."""
    with _database(root / "rows.db") as connection:
        broken = _unsound(connection)
        has_any = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'kept'").fetchone()
        found = {number for (number,) in connection.execute("SELECT number FROM kept")} if has_any else set()
    return broken + [f"row {n} is lost" for n in _said(acks, "kept") if n not in found]


def _goes_on(home: Home, seed: int) -> list[str]:
    """The power is back: one more event comes, and the worker takes in all there is."""
    append(os.fsencode(home.root), writers.prompt_line(seed, AFTER))
    readable = {json.loads(record.line.payload)["prompt"] for record in _records(home) if record.line.kind == HOOK}
    drain(home)
    with _database(home.ledger) as connection:
        turns, broken = _turns(connection), _unsound(connection)
    broken += [f"{text[:30]!r} is in the journal and not in the ledger" for text in readable if not turns[text]]
    return broken + [f"{text[:30]!r} is in the ledger {number} times" for text, number in turns.items() if number > 1]


def drain(home: Home) -> None:
    """What the worker does when it starts."""
    from hindbrain.ledger.store import Ledger
    from hindbrain.serve.drain import Drain

    clock = SystemClock()
    with Ledger.open(home.ledger, clock) as store:
        with contextlib.closing(Drain(home, store, clock, [])) as at_work:
            at_work.run()


@contextlib.contextmanager
def _database(path: Path) -> Iterator[sqlite3.Connection]:
    """A database that must be there: it is not made by looking."""
    with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=rw", uri=True)) as connection:
        yield connection


def _unsound(connection: sqlite3.Connection) -> list[str]:
    found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
    return [f"the database is not sound: {each}" for each in found if each != "ok"]


def _turns(connection: sqlite3.Connection) -> Counter[str]:
    has_any = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'turns'").fetchone()
    return Counter(text for (text,) in connection.execute("SELECT text FROM turns")) if has_any else Counter()


def _records(home: Home) -> Iterator[Record]:
    """Every good line, whether its segment is open, archived or both."""
    seen = set()
    for path in (*archives(home.archive), *segments(home.journal)):
        items = read_archive(path) if path.suffix == ".gz" else read_segment(path, final=True)
        for item in items:
            if isinstance(item, Record) and (item.segment, item.start) not in seen:
                seen.add((item.segment, item.start))
                yield item


def _said(acks: list[Ack], what: str) -> list[int]:
    return [ack[1] for ack in acks if ack[0] == what]
