"""A seed -> a home with a journal, archives and a ledger in which everything that can be kept is kept; and what it then says.

Histories are written by the library and stored by the worker's own code; nothing is put into the ledger behind their back.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock, ManualClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.capture.record import Recorder
from hindbrain.journal.read import segments
from hindbrain.ledger.memories import memory_event, memory_id
from hindbrain.ledger.rebuild import fingerprint
from hindbrain.ledger.store import Ledger
from hindbrain.serve.drain import Drain, Drained
from tests.ledger.making import cursor_event, place_event

CLOCK: Final = ManualClock()
NOW: Final = CLOCK.now_ms()
WORDS: Final = ("harbour", "lantern", "copper", "orchard", "velvet", "granite", "meadow", "thistle")
# What a rebuild must give back beside the fingerprint: what people did with memories, and what is not to come back.
_MORE: Final = {
    "memories": """
        SELECT id, level, kind, text, scope, project_id, valid_from, valid_to, superseded_by, pinned FROM memories ORDER BY id""",
    "links": "SELECT memory_id, number, role, turn_id, target_memory_id FROM links ORDER BY memory_id, number",
    "forgotten": "SELECT id, at FROM forgotten ORDER BY id",
    "machines": "SELECT id, machine FROM sessions ORDER BY id",
}


def turn(number: int, **more: object) -> Event:
    """One of many turns: three sessions, two folders, a few words to be found by."""
    given: dict[str, object] = {
        "kind": "turn", "agent": "claude-code", "session": f"s{number % 3}", "at": NOW + number, "key": f"k{number}",
        "origin": "hook", "role": "user" if number % 2 else "assistant", "cwd": f"/nonexistent/p{number % 2}",
        "text": f"statement {number} about the {WORDS[number % 8]} and the {WORDS[(number // 8) % 8]}",
        "detail": {"file": f"/src/file{number % 7}.py", "action": "read"} if number % 3 == 0 else {},
    }  # fmt: skip
    return Event(**(given | more))  # type: ignore[arg-type]


def remembered(number: int, said: Event, *, pinned: bool = False) -> Event:
    """A person keeps what a turn says."""
    detail: dict[str, Json] = {"turn": said.id, "kind": "fact", "scope": "global", "pinned": pinned}
    return _act("remember", 5_000 + number, f"kept {said.text}", detail)


def corrected(number: int, kept: Event, said: Event) -> Event:
    detail: dict[str, Json] = {"turn": said.id, "target": memory_id(kept.id), "kind": "fact", "scope": "global", "pinned": False}
    return _act("correct", 6_000 + number, f"rather {said.text}", detail)


def pinned(number: int, kept: Event, *, on: bool = True) -> Event:
    return _act("pin", 7_000 + number, "", {"target": memory_id(kept.id), "pinned": on})


def _act(op: str, offset: int, text: str, detail: dict[str, Json]) -> Event:
    return memory_event(op, agent="hindbrain", session="", at=NOW + offset, text=text, detail=detail)


def full_history(turns: int) -> list[Event]:
    """Something for every table."""
    said = [turn(number) for number in range(turns)]
    long = [turn(turns + number, text=f"{WORDS[number % 8]} at length " * 1500, role="tool_result") for number in range(4)]
    kept = [remembered(number, said[number], pinned=number % 5 == 0) for number in range(40)]
    other = [corrected(number, kept[number], said[number + 50]) for number in range(5)]
    places = [place_event(f"/nonexistent/p{number}", f"git:host/p{number}", NOW) for number in range(2)]
    marks = [cursor_event(f"transcript:/t/{number}", number, NOW + number) for number in range(3)]
    notes = [Event(kind="notice", agent="claude-code", session="s1", at=NOW, key=f"n{number}", origin="hook", text="a notice")
             for number in range(30)]  # fmt: skip
    return [*places, *said, *long, *kept, *other, *marks, *notes]


def write(home: Home, events: list[Event], *, new_segment: bool = False) -> None:
    """Put events into the journal; `new_segment` leaves what is there to be archived."""
    home.root.mkdir(mode=0o700, parents=True, exist_ok=True)
    if new_segment:
        for path in segments(home.journal):
            path.chmod(0o400)
    recorder = Recorder(home.root)
    recorder.record(events, NOW)
    recorder.close()


@contextmanager
def draining(home: Home, ledger: Ledger, clock: Clock = CLOCK) -> Iterator[Drain]:
    drain = Drain(home, ledger, clock, [], follows=False)
    try:
        yield drain
    finally:
        drain.close()


def store(home: Home, *, quick: bool = True, archive: bool = False) -> None:
    """What the worker does: take in what waits, and archive what is wholly stored."""
    with Ledger.open(home.ledger, CLOCK) as ledger:
        if quick:  # durability has tests of its own
            ledger.connection.execute("PRAGMA synchronous = OFF")
        with draining(home, ledger) as drain:
            if ledger.created:
                drain.replay_archives(Drained())
            drain.run()
            if archive:
                drain.archive(0)


def content(ledger: Ledger) -> dict[str, object]:
    """All that a ledger says: every table a rebuild gives back, and the answers to some questions."""
    told: dict[str, object] = dict(fingerprint(ledger))
    with ledger.reading() as connection:
        for table, query in _MORE.items():
            rows = connection.execute(query).fetchall()
            told[table] = f"{len(rows)}:{hashlib.sha256(repr(rows).encode()).hexdigest()}"
        for word in WORDS[:3]:
            found = connection.execute("SELECT id, text FROM memories_fts WHERE memories_fts MATCH ? ORDER BY id", (word,))
            told[f"memories about {word}"] = stable_id("a", repr(found.fetchall()))
    for word in WORDS[:3]:
        told[f"turns about {word}"] = stable_id("a", repr(sorted((hit.turn_id, hit.text) for hit in ledger.search(word, 1000))))
    return told


def content_of(path: Path) -> dict[str, object]:
    with Ledger.open(path, CLOCK) as ledger:
        return content(ledger)


def chosen(seed: int) -> random.Random:
    return random.Random(seed)
