"""Talk that never was: turns in the shape of real ones, as many as are wanted and always the same, and questions about them.

Turns of about 25 words (the n-th word about 1/n as often as the first) in sessions of about 50, eight of them going on at a
time, over 200 projects.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

from hindbrain.capture.event import Event, stable_id
from hindbrain.journal.line import EVENT, Line
from hindbrain.journal.read import Record
from hindbrain.ledger.ingest import BATCH_RECORDS, Batch, segment_source

BATCH = BATCH_RECORDS  # as the worker takes them in
PROJECTS = 200
OPEN_SESSIONS = 8
WORDS = 60_000
QUESTIONS = 60
START_MS = 1_790_000_000_000
LINE_BYTES = 300
LINES_PER_SEGMENT = 10_000


def vocabulary(choose: random.Random) -> tuple[list[str], list[float]]:
    """Words that look like none of any language, so no list of stop words knows them, and how often each is said."""
    syllables = [a + b for a, b in itertools.product("bcdfglmnprstvwz", ("a", "e", "i", "o", "u", "an", "er", "in", "ok"))]
    made = ("".join(choose.choices(syllables, k=choose.choice((2, 2, 3, 3, 4)))) for _ in itertools.count())
    words: dict[str, None] = {}
    while len(words) < WORDS:
        words[next(made)] = None
    return list(words), list(itertools.accumulate(1 / (rank + 3) for rank in range(WORDS)))


def identity(project: int) -> str:
    return f"git:example.org/app{project}"


class Talk:
    """Sessions going on side by side; always the same ones."""

    def __init__(self) -> None:
        self._choose = random.Random(20260301)
        self.words, self._weights = vocabulary(self._choose)
        self._sessions = itertools.count()
        self._going = [self._new() for _ in range(OPEN_SESSIONS)]

    def _new(self) -> list[int]:
        return [next(self._sessions), self._choose.randrange(PROJECTS), self._choose.randint(20, 80)]

    def turns(self) -> Iterator[Event]:
        for number in itertools.count():
            which = number % OPEN_SESSIONS
            session, project, left = self._going[which]
            words = self._choose.choices(self.words, cum_weights=self._weights, k=self._choose.randint(10, 40))
            yield Event(
                kind="turn", agent="claude-code", session=f"session-{session}", at=START_MS + number * 1000, key=str(number),
                origin="hook", role=("user", "assistant")[left % 2], text=" ".join(words), cwd=f"/srv/code/app{project}",
            )  # fmt: skip
            self._going[which][2] -= 1
            if left == 1:
                self._going[which] = self._new()

    def places(self) -> list[Event]:
        """What each project's folder was found to be."""
        return [
            Event(kind="place", agent="claude-code", session="", at=START_MS, key=str(number), origin="worker",
                  cwd=f"/srv/code/app{number}",
                  detail={"identity": identity(number), "remote": "", "common_dir": "", "branch": "main"})
            for number in range(PROJECTS)
        ]  # fmt: skip

    def questions(self) -> list[tuple[str, str]]:
        """Words and a project: a word in common use with rarer ones, the common alone, the rare alone."""
        choose = random.Random(20260302)
        common, usual, rare = self.words[:100], self.words[100:3000], self.words[3000:]
        asked = []
        for number in range(QUESTIONS):
            kinds = ((common, usual, rare), (common, common, usual), (usual, usual, usual), (rare, rare, usual))[number % 4]
            words = [choose.choice(kind) for kind in kinds]
            asked.append((" ".join(words), stable_id("p", identity(choose.randrange(PROJECTS)))))
        return asked


def batches(talk: Talk, turns: int) -> Iterator[Batch]:
    """The talk as the worker hands it to the ledger: lines of segments, and where the cursor stands after them."""
    said = talk.turns()
    first = talk.places()
    for start in range(0, turns, BATCH):
        segment = f"{start // LINES_PER_SEGMENT + 1:010d}-a-1"
        batch = Batch()
        for number in range(start, min(start + BATCH, turns)):
            place = number % LINES_PER_SEGMENT * LINE_BYTES
            record = Record(segment, place, place + LINE_BYTES, Line(EVENT, "claude-code", 0, {}, b""))
            batch.records.append((record, [*first, next(said)]))
            batch.cursors[segment_source(segment)] = place + LINE_BYTES
            first = []
        yield batch
