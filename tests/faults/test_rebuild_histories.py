"""Whatever a home has been through, its ledger can be thrown away: journal and archives give the same content and ids again (P8).

A history is a random row of what people and machines do: talk, say again, keep, correct, pin, move folders, forget, archive,
flip bits of lines nobody has read yet, tear off an end.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event, Source, session_id
from hindbrain.journal.read import segment_name, segments
from hindbrain.ledger.check import problems
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.memories import memory_id
from hindbrain.ledger.rebuild import rebuild, swap_in
from hindbrain.ledger.store import Ledger
from hindbrain.serve.forgetting import Forgetting
from tests.faults.homes import CLOCK, NOW, content_of, corrected, pinned, remembered, store, turn, write
from tests.ledger.making import cursor_event, place_event

STEPS: Final = 12
# Not promised: what a session learned from a turn that was forgotten later (its first folder, its first and last moment, that it
# was there at all) stays in the ledger that learned it. The line is gone, so a ledger made anew cannot know.
LEARNED: Final = frozenset({"sessions", "machines"})


class History:
    """A home, and what was said in it so far."""

    def __init__(self, root: Path, seed: int) -> None:
        self.home = Home(root)
        self.choose = random.Random(seed)
        self.said: list[Event] = []
        self.kept: list[Event] = []
        self.number = 0
        self.done: list[str] = []

    def next(self) -> int:
        self.number += 1
        return self.number

    def talk(self) -> None:
        new = [turn(self.next(), session=self.choose.choice("abc")) for _ in range(self.choose.randint(1, 8))]
        self.said += new
        write(self.home, new, new_segment=self.choose.random() < 0.3)

    def say_again(self) -> None:
        """A transcript repeats what hooks told, with its own time and place."""
        for event in self.choose.sample(self.said, min(3, len(self.said))):
            fields = {name: getattr(event, name) for name in ("session", "key", "role", "text", "cwd", "detail")}
            number = self.next()
            write(self.home, [turn(number, **fields, origin="transcript", source=Source("/t/1.jsonl", number, number + 9))])

    def remember(self) -> None:
        self.kept.append(remembered(self.next(), self.choose.choice(self.said), pinned=self.choose.random() < 0.5))
        write(self.home, [self.kept[-1]])

    def correct(self) -> None:
        if self.kept:
            self.kept.append(corrected(self.next(), self.choose.choice(self.kept), self.choose.choice(self.said)))
            write(self.home, [self.kept[-1]])

    def pin(self) -> None:
        if self.kept:
            write(self.home, [pinned(self.next(), self.choose.choice(self.kept), on=self.choose.random() < 0.5)])

    def move(self) -> None:
        identity = self.choose.choice(["git:host/a", "git:host/b", "dir:/x/.git", "path:/nonexistent/p0"])
        write(self.home, [place_event(f"/nonexistent/p{self.choose.randrange(2)}", identity, NOW + self.next())])

    def read_transcript(self) -> None:
        write(self.home, [cursor_event("transcript:/t/1.jsonl", self.next(), NOW + self.number)])

    def archive(self) -> None:
        write(self.home, [turn(self.next())], new_segment=True)
        store(self.home, archive=True)

    def forget(self) -> None:
        """As the command does it: rows, lines and archives."""
        store(self.home)
        what: dict[str, str] = {}
        if self.kept and self.choose.random() < 0.4:
            what = {"id": memory_id(self.choose.choice(self.kept).id)}
        elif self.choose.random() < 0.5:
            what = {"session": session_id("claude-code", self.choose.choice("abc"))}
        else:
            what = {"id": self.choose.choice(self.said).id}
        work = Forgetting(self.home, CLOCK)
        with Ledger.open(self.home.ledger, CLOCK) as ledger:
            tables = ("turns", "memories", "sessions")
            known = {row[0] for table in tables for row in ledger.connection.execute(f"SELECT id FROM {table}")}
        if set(what.values()) <= known:  # else it was forgotten already
            work.carry_out(work.find(**what))

    def damage(self) -> None:
        """A bit of a line that nobody has read yet."""
        store(self.home)
        write(self.home, [turn(self.next()) for _ in range(3)])
        path = segments(self.home.journal)[-1]
        with Ledger.open(self.home.ledger, CLOCK) as ledger:
            start = ledger.cursor(segment_source(segment_name(path)))
        data = bytearray(path.read_bytes())
        data[self.choose.randrange(start if isinstance(start, int) else 0, len(data))] ^= 1 << self.choose.randrange(8)
        path.write_bytes(data)

    def tear(self) -> None:
        """The end of a line is missing, and writers have gone on to another segment."""
        store(self.home)
        write(self.home, [turn(self.next())])
        path = segments(self.home.journal)[-1]
        path.write_bytes(path.read_bytes()[: -self.choose.randint(2, 60)])
        write(self.home, [turn(self.next())], new_segment=True)

    def run(self) -> None:
        self.talk()
        steps: list[Callable[[], None]] = [
            self.talk, self.talk, self.say_again, self.remember, self.correct, self.pin, self.move, self.read_transcript,
            self.archive, self.forget, self.damage, self.tear,
        ]  # fmt: skip
        for _ in range(STEPS):
            step = self.choose.choice(steps)
            self.done.append(step.__name__)
            step()
            if self.choose.random() < 0.5:
                store(self.home)
        store(self.home)


def made_anew(home: Home, how: str) -> dict[str, object]:
    """The content of a ledger that was made again from nothing but journal and archives."""
    if how == "deleted":
        for path in home.root.glob("ledger.db*"):
            path.unlink()
    else:
        rebuild(home.archive, home.journal, events_of, home.root / "new.db", CLOCK)
        swap_in(home.root / "new.db", home.ledger, CLOCK)
    store(home)
    with Ledger.open(home.ledger, CLOCK) as ledger:
        assert problems(ledger, home.journal, home.archive) == []
    return content_of(home.ledger)


def comes_back(root: Path, seed: int) -> None:
    history = History(root / "home", seed)
    history.run()
    wanted = content_of(history.home.ledger)
    for how in ("deleted", "rebuilt"):
        copy = Home(root / how)
        shutil.copytree(history.home.root, copy.root)
        found = made_anew(copy, how)
        differs = {name for name in wanted if wanted[name] != found[name]}
        assert differs <= (LEARNED if "forget" in history.done else set()), f"seed {seed}, {how}: {history.done}"


@pytest.mark.parametrize("seed", range(4))
def test_a_ledger_made_anew_is_the_same(tmp_path: Path, seed: int) -> None:
    comes_back(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 54))
def test_a_ledger_made_anew_is_the_same_in_many_histories(tmp_path: Path, seed: int) -> None:
    comes_back(tmp_path, seed)


@pytest.mark.parametrize("harm", [
    "UPDATE memories SET pinned = 1 - pinned", "DELETE FROM forgotten", "UPDATE turns SET at = at + 1 WHERE rowid = 1",
    "UPDATE places SET branch = 'other'",
])  # fmt: skip
def test_the_check_notices_a_ledger_that_says_something_else(tmp_path: Path, harm: str) -> None:
    history = History(tmp_path / "home", 1)
    history.talk()
    history.remember()
    history.move()
    store(history.home)
    work = Forgetting(history.home, CLOCK)
    history.said.append(turn(900))
    write(history.home, [history.said[-1]])
    store(history.home)
    work.carry_out(work.find(id=history.said[-1].id))
    with Ledger.open(history.home.ledger, CLOCK) as ledger:
        ledger.connection.execute(harm)
    assert content_of(history.home.ledger) != made_anew(history.home, "deleted")
