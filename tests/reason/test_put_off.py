"""When a model may not be asked: what it found before stands, rules read what is new, and it reads the rest when it may."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hindbrain.capture.event import Event
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.reason import steps, telling
from hindbrain.reason.means import Means
from hindbrain.reason.model.budget import again_seconds
from hindbrain.reason.model.calls import Calls, LedgerBook
from hindbrain.reason.model.reasoner import calls_of
from tests.engines import NewLedger
from tests.reason.model.asking import NOON, configured
from tests.reason.model.model_server import ModelServer, Reply, serving
from tests.reason.test_steps import CHOSEN, FIRST, MOVED, Home

CAPPED = {"model_daily_tokens": "1"}
BY = "model:openai:small/1"
RULE = "Always run make lint before you commit."
NOTED = ("decision", "The orders service is on MySQL.", BY)
MADE_BY = "kind, text, made_by"
DIGESTS = "SELECT DISTINCT made_by FROM memories WHERE level IN ('digest_short', 'digest_long')"


def statements(*said: tuple[str, str, str, str]) -> Reply:
    """A reply of a model: kind, text, name of the turn and quote of each."""
    rest: dict[str, Any] = {"confidence": 0.9, "scope": "project", "why": "", "instead_of": ""}
    found = [{"kind": kind, "text": text, "turns": [turn], "quote": quote, **rest} for kind, text, turn, quote in said]
    return Reply(json.dumps({"statements": found}))


FOUND = statements(("decision", "The orders service is on MySQL.", "t1", "use MySQL for the orders service"))
TOLD = Reply(json.dumps({"short": "A session about the orders service", "long": "A session about the orders service"}))
NO = Reply("no")


class Modelled(Home):
    """A home with a model, whose settings may change from one job to the next."""

    def __init__(self, ledger: Evidence, folder: Path, server: ModelServer) -> None:
        super().__init__(ledger)
        self.folder, self.server = folder, server
        self.clock.set_wall(NOON)
        self.journal: list[Event] = []
        self.calls: Calls | None = None
        self.give_way = False
        self.set()

    def set(self, **settings: str) -> None:
        given = {"model": "openai:small", "model_url": self.server.url, "model_night": "true", **settings}
        self.calls = calls_of(configured(self.folder, **given), self.clock, {})

    def means(self) -> Means:
        again = again_seconds(self.clock.now_ms(), night=True)
        book = LedgerBook(self.ledger, self.journal.append)
        return Means(self.clock, self.queue.enqueue, calls=self.calls, book=book, give_way=self.give_way, again_seconds=again)

    def ends(self, *texts: str) -> int:
        """The session goes on and ends; how many questions that took."""
        asked = len(self.server.requests)
        self.clock.advance(60)
        self.say(*texts)
        self.end()
        self.work(0)
        self.work(60)
        return len(self.server.requests) - asked

    def put_off(self) -> list[tuple[str, int]]:
        """What is left for when the model may be asked, and the hour of that."""
        waiting = [job for job in self.queue.listing(state="waiting") if telling.MORNING in job.payload]
        return sorted((job.kind, (job.run_after_ms - NOON) // 3_600_000) for job in waiting)

    def next_day(self) -> int:
        asked = len(self.server.requests)
        self.clock.advance(86_400)
        for _ in range(3):
            self.work(60)
        return len(self.server.requests) - asked


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Noon is noon here."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def home(new_ledger: NewLedger, tmp_path: Path) -> Iterator[Modelled]:
    with serving([FOUND, TOLD]) as server:
        yield Modelled(new_ledger(), tmp_path, server)


def test_what_a_model_found_stands_at_the_cap_and_it_reads_the_rest_the_next_day(home: Modelled) -> None:
    assert home.ends(CHOSEN) == 2
    assert (home.memories(MADE_BY), home.rows(DIGESTS)) == ([NOTED], [(BY,)])
    before = home.memories("*"), home.rows("SELECT * FROM links ORDER BY memory_id, role, turn_id")
    home.set(**CAPPED)
    assert home.ends("thanks, go on") == 0
    assert (home.memories("*"), home.rows("SELECT * FROM links ORDER BY memory_id, role, turn_id")) == before
    assert (home.rows(DIGESTS), home.put_off()) == ([(BY,)], [("digest", 12), ("extract", 12)])
    home.set()
    home.server.replies[:] = [statements(("fact", "The orders service: MySQL.", "t1", "MySQL")), TOLD]
    assert home.next_day() == 2
    assert (home.memories(MADE_BY), home.rows(DIGESTS)) == ([("fact", "The orders service: MySQL.", BY)], [(BY,)])
    assert (home.put_off(), home.ends()) == ([], 0)


def test_rules_read_only_what_no_model_has_read(home: Modelled) -> None:
    home.server.replies[:] = [statements(), TOLD]
    home.ends(CHOSEN)
    home.set(**CAPPED)
    for more in (RULE, "thanks, go on"):  # what rules read at the cap they read again the next time
        home.ends(more)
        assert home.memories(MADE_BY) == [("instruction", "Always run make lint before you commit", "rules/1")]
        assert home.rows(f"SELECT read_to, made_by FROM readings WHERE session_id = '{FIRST}'") == [(1, BY)]


def test_a_session_that_has_more_to_tell_is_told_by_rules_until_the_model_may(home: Modelled) -> None:
    home.ends(CHOSEN)
    home.set(**CAPPED)
    home.ends(RULE)
    assert home.memories(MADE_BY) == [NOTED, ("instruction", "Always run make lint before you commit", "rules/1")]
    assert home.rows(DIGESTS) == [("rules/1",)]
    home.set()
    chosen = ("decision", "The orders service is on MySQL.", "t1", "use MySQL")
    home.server.replies[:] = [statements(chosen, ("instruction", "Run make lint.", "t2", "make lint")), NO, NO, TOLD]
    home.next_day()
    assert home.memories(MADE_BY) == [NOTED, ("instruction", "Run make lint.", BY)]
    assert home.put_off() == []


@pytest.mark.parametrize("reply", [Reply("", status=401), Reply("", status=500), NO], ids=["key", "away", "no use"])
def test_what_a_model_found_stands_whatever_keeps_it_from_reading_on(home: Modelled, reply: Reply) -> None:
    home.ends(CHOSEN)
    home.server.replies[:] = [reply]
    home.give_way = True
    home.ends("thanks, go on")
    assert (home.memories(MADE_BY), home.rows(DIGESTS), home.put_off()) == ([NOTED], [(BY,)], [])


def test_a_session_the_model_never_read_is_left_for_it_and_not_without_end(home: Modelled) -> None:
    home.set(**CAPPED)
    assert home.ends(CHOSEN) == 0
    days = []
    while left := home.put_off():
        days.append([kind for kind, _ in left])
        assert home.next_day() == 0 and len(days) < 3 * telling.MOST_MORNINGS
    assert days[: telling.MOST_MORNINGS] == [["digest", "extract"]] * telling.MOST_MORNINGS
    assert sum("extract" in each for each in days) == telling.MOST_MORNINGS


def test_what_was_read_and_has_not_changed_is_neither_put_off_nor_paid_for(home: Modelled) -> None:
    home.ends(CHOSEN)
    home.set(**CAPPED)
    assert home.ends() == 0
    assert (home.memories(MADE_BY), home.put_off()) == ([NOTED], [])


def test_words_that_are_gone_from_their_turn_take_what_was_found_in_them_along(home: Modelled) -> None:
    home.ends(CHOSEN)
    home.set(**CAPPED)
    with home.ledger.writing() as database:
        database.execute("UPDATE turns SET text = 'We decided to use Redis for the orders service.'")
    home.ends("thanks, go on")
    assert home.memories(MADE_BY) == [("decision", "We decided to use Redis for the orders service", "rules/1")]
    home.set()
    home.server.replies[:] = [statements(("decision", "Orders are in Redis.", "t1", "Redis")), TOLD]
    home.next_day()
    assert [text for _, text in home.memories()] == ["Orders are in Redis."]


def test_what_is_forgotten_of_a_session_has_all_of_it_read_anew_at_the_cap_too(home: Modelled) -> None:
    home.ends(CHOSEN, MOVED)
    home.set(**CAPPED)
    ((turn,),) = home.rows(f"SELECT id FROM turns WHERE text = '{MOVED}'")
    home.take(forget_event([turn], home.clock.now_ms()))
    home.ends("thanks, go on")
    assert [made_by for _, _, made_by in home.memories(MADE_BY)] == ["rules/1"]


def test_what_is_forgotten_while_a_session_is_read_is_not_taken_for_read(home: Modelled) -> None:
    home.say(CHOSEN, MOVED)
    effect = steps.extract_session(home.ledger, FIRST, home.means(), forced=True)
    ((turn,),) = home.rows(f"SELECT id FROM turns WHERE text = '{MOVED}'")
    home.take(forget_event([turn], home.clock.now_ms()))
    assert effect is not None
    with home.ledger.writing() as database:
        effect(database)
    assert home.rows("SELECT * FROM readings") == []


@pytest.mark.parametrize(
    ("hour", "night", "asked", "hours"),
    [(12, True, False, 12), (12, False, False, 19), (23, False, False, 8), (2, False, False, 5), (2, False, True, 29),
     (23, True, False, 1), (0, True, False, 24)],
)  # fmt: skip
def test_a_model_is_asked_again_by_day_and_with_caps_that_begin_anew(hour: int, night: bool, asked: bool, hours: int) -> None:
    assert again_seconds(NOON + (hour - 12) * 3_600_000, night=night, asked=asked) == hours * 3_600
