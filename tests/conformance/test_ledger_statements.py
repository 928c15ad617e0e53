"""Taking a batch in costs the same number of statements however many memories it concerns; each is a round trip on PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.capture.event import Event
from hindbrain.ledger import ingest, reasoned
from hindbrain.ledger.calls import Call, call_event
from hindbrain.ledger.carry import Carried, carry
from hindbrain.ledger.database import Database, Rows, is_sqlite
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_id
from hindbrain.ledger.postgres.connect import Connection
from hindbrain.ledger.postgres.store import PostgresLedger
from tests.conformance.reasoning import ONE, PLACE, RULES, act, put, statement, tell
from tests.conformance.states import everything, is_sound, rows
from tests.engines import NewLedger
from tests.faults.wire import Wire
from tests.ledger.making import event, place_event, record
from tests.postgres import Cluster

FEW, MANY = 5, 50
SAME = ("sessions", "turns", "memories", "links", "forgotten", "readings", "changes")


class CountedFile:
    """SQLite's connection, and what was asked of it."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.asked: list[str] = []

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        self.asked.append(sql)
        return self._database.execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any, /) -> Rows:
        self.asked.append(sql)
        return self._database.executemany(sql, parameters)


class CountedConnection(Connection):
    """A PostgreSQL session, and what was asked of it."""

    def __init__(self, database: Connection) -> None:
        super().__init__(database.raw)
        self.asked: list[str] = []

    def execute(self, sql: str, parameters: Any = (), /) -> Any:
        self.asked.append(sql)
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Any:
        self.asked.append(sql)
        return super().executemany(sql, parameters)


@contextmanager
def counted(ledger: Evidence) -> Iterator[CountedFile | CountedConnection]:
    with ledger.writing() as database:
        if is_sqlite(database):
            yield CountedFile(database)
        else:
            assert isinstance(database, Connection)
            yield CountedConnection(database)


def asked_by(ledger: Evidence, events: Iterable[Event]) -> list[str]:
    """The statements it takes to take these events in, as one batch."""
    with counted(ledger) as database:
        ingest.write(database, Batch([record(0, each) for each in events], [], {}), 5_000)
        return database.asked


class Talk:
    """A session with as many turns as wanted, and a statement found in each."""

    def __init__(self, ledger: Evidence, number: int) -> None:
        self.ledger, self.number = ledger, number
        self.turns = [event(key=f"t{each}", at=100 + each, text=f"We use tool {each}.", cwd="/p") for each in range(number)]
        self.found = [statement(each) for each in self.turns]
        tell(ledger, PLACE, *self.turns)
        put(ledger, ONE, self.found)
        self.ids = [each.id for each in self.found]

    def reason(self) -> None:
        """All is replaced by the next and seen again in the one after it, and insights rest on insights."""
        with self.ledger.writing() as database:
            below = self.ids[0]
            for place, older in enumerate(self.ids[:-1]):
                below = reasoned.put_insight(database, "insight", f"insight {place}", [below, older], "global", None, RULES, 900)
                assert below
            for older, newer in zip(self.ids, self.ids[1:], strict=False):
                assert reasoned.reinforce(database, older, newer, 900)
            for place in range(0, self.number - 1, 2):
                assert reasoned.contradict(database, self.ids[place], self.ids[place + 1], "they differ", 900)

    def chain(self) -> None:
        with self.ledger.writing() as database:
            for older, newer in zip(self.ids, self.ids[1:], strict=False):
                assert reasoned.supersede(database, older, newer, 950)

    def insights(self) -> list[str]:
        return [row[0] for row in rows(self.ledger, "SELECT id FROM memories WHERE level = 'derived' ORDER BY id")]

    def acts(self, op: str, targets: Iterable[str], **more: Any) -> list[Event]:
        return [each for place, target in enumerate(targets) for each in act(op, target, 9_000 + place, **more)]

    def said(self, op: str, targets: Iterable[str]) -> list[Event]:
        told = [act(op, target, 9_000 + place, f"better {place}") for place, target in enumerate(targets)]
        return [each for pair in told for each in pair]


def kept(talk: Talk) -> list[Event]:
    return talk.said("remember", talk.ids)


def kept_again(talk: Talk) -> list[Event]:
    """What was kept is put together anew when a directory is looked at."""
    tell(talk.ledger, *kept(talk))
    return [place_event("/elsewhere", "git:h/elsewhere", 30)]


def corrected(talk: Talk) -> list[Event]:
    talk.reason()
    return talk.said("correct", talk.ids)


def corrected_in_turn(talk: Talk) -> list[Event]:
    first = talk.said("remember", talk.ids)
    tell(talk.ledger, *first)
    return [each for place, made in enumerate(first[1::2]) for each in act("edit", memory_id(made.id), 9_500 + place, "best")]


def rejected(talk: Talk) -> list[Event]:
    talk.reason()
    return talk.acts("reject", talk.ids)


def pinned(talk: Talk) -> list[Event]:
    talk.reason()
    return talk.acts("pin", talk.ids)


def accepted(talk: Talk) -> list[Event]:
    """Each before the one that had taken its place, so that all links turn round."""
    talk.reason()
    talk.chain()
    return [each for place in range(talk.number - 1)
            for each in act("accept", talk.ids[place], 9_000 + place, over=[talk.ids[place + 1]])]  # fmt: skip


def taken_back(talk: Talk) -> list[Event]:
    done = accepted(talk)
    tell(talk.ledger, *done)
    return [forget_event([each.id for each in done], 9_999)]


def forgotten_one_by_one(talk: Talk) -> list[Event]:
    talk.reason()
    talk.chain()
    return [forget_event([each.id], 9_000 + place) for place, each in enumerate(talk.turns[:-1])]


def forgotten_with_what_rests_on_it(talk: Talk) -> list[Event]:
    talk.reason()
    talk.chain()
    return [forget_event([talk.ids[0]], 9_999)]


def moved(talk: Talk) -> list[Event]:
    talk.reason()
    tell(talk.ledger, *talk.acts("pin", talk.insights()))
    return [place_event("/p", "git:h/q", 30)]


def forgotten_until(talk: Talk) -> list[Event]:
    """A session up to several times, and a reply of a model that tells of it."""
    tell(talk.ledger, call_event(Call("k", 50, "p", "m", "extract", "a reply", sessions=(ONE, "s_other"))))
    talk.reason()
    wishes = (([talk.turns[3].id], 700), ([ONE], 102), (["s_other"], 600), ([ONE, "x"], 101))
    return [forget_event(ids, at) for ids, at in wishes]


DEEDS = [
    kept, kept_again, corrected, corrected_in_turn, rejected, pinned, accepted, taken_back, forgotten_one_by_one,
    forgotten_with_what_rests_on_it, moved,
]  # fmt: skip


@pytest.mark.parametrize("deed", DEEDS)
def test_a_batch_takes_as_many_statements_for_many_memories_as_for_few(
    new_ledger: NewLedger, deed: Callable[[Talk], list[Event]]
) -> None:
    asked = {}
    for number in (FEW, MANY):
        talk = Talk(new_ledger(), number)
        asked[number] = asked_by(talk.ledger, deed(talk))
        assert is_sound(talk.ledger)
    assert asked[FEW] == asked[MANY]


@pytest.mark.parametrize("deed", [*DEEDS, forgotten_until])
def test_a_batch_does_what_its_events_do_one_by_one(new_ledger: NewLedger, deed: Callable[[Talk], list[Event]]) -> None:
    one, other = Talk(new_ledger(), FEW), Talk(new_ledger(), FEW)
    tell(one.ledger, *deed(one))
    for each in deed(other):
        tell(other.ledger, each)
    for talk in (one, other):  # how sure what was rejected had been is written when acts are read the next time
        tell(talk.ledger, place_event("/last", "git:h/last", 40))
    found, wanted = everything(one.ledger), everything(other.ledger)
    assert {name: found[name] for name in SAME} == {name: wanted[name] for name in SAME}


def test_what_supports_a_decided_insight_goes_with_as_many_statements_for_many_as_for_few(new_ledger: NewLedger) -> None:
    asked = {}
    for number in (FEW, MANY):
        talk = Talk(new_ledger(), number)
        talk.reason()
        tell(talk.ledger, *talk.acts("accept", talk.insights()))
        with counted(talk.ledger) as database:
            reasoned.put(database, ONE, RULES, [], 5_000)
            asked[number] = database.asked
        assert len(talk.insights()) == number - 1
        assert is_sound(talk.ledger)
    assert asked[FEW] == asked[MANY]


def test_wishes_of_one_batch_reach_as_far_as_the_latest_of_them(ledger: Evidence) -> None:
    talk = Talk(ledger, FEW)
    tell(ledger, *forgotten_until(talk))
    assert rows(ledger, "SELECT id FROM turns") == [(talk.turns[4].id,)]
    assert rows(ledger, "SELECT id FROM memories WHERE level = 'observation'") == [(talk.ids[4],)]
    assert rows(ledger, "SELECT at FROM forgotten WHERE id = ?", (ONE,)) == [(102,)]
    assert rows(ledger, "SELECT id FROM calls") == []


def test_of_preferences_in_a_circle_the_last_ones_hold(ledger: Evidence) -> None:
    talk = Talk(ledger, 3)
    first, second, third = talk.ids
    circle = [(first, second), (second, third), (third, first)]
    tell(ledger, *[each for place, (one, other) in enumerate(circle) for each in act("accept", one, 9_000 + place, over=[other])])
    links = "SELECT memory_id, target_memory_id FROM links WHERE role = 'supersedes' ORDER BY created_at"
    assert rows(ledger, links) == [(second, third), (third, first)]
    assert is_sound(ledger)


def test_what_was_kept_changes_with_what_is_done_to_it(ledger: Evidence) -> None:
    talk = Talk(ledger, 2)
    done = kept(talk)
    tell(ledger, *done)
    tell(ledger, *act("pin", memory_id(done[1].id), 9_500), place_event("/p", "git:h/q", 9_600))
    (project,) = rows(ledger, "SELECT project_id FROM sessions WHERE id = ?", (ONE,))
    wanted = {memory_id(done[1].id): (1, *project), memory_id(done[3].id): (0, *project)}
    found = rows(ledger, "SELECT id, pinned, project_id FROM memories WHERE made_by = 'person'")
    assert {row[0]: tuple(row[1:]) for row in found} == wanted


def test_carrying_many_memories_over_takes_as_many_statements_as_carrying_few(new_ledger: NewLedger) -> None:
    asked = {}
    for number in (FEW, MANY):
        talk, other = Talk(new_ledger(), number), new_ledger()
        talk.reason()
        tell(other, PLACE, *talk.turns)
        with talk.ledger.reading() as here, counted(other) as there:
            assert carry(here, there) == Carried(2 * number - 1 + number // 2, 0)
            asked[number] = there.asked
        talk.chain()  # that ends the contradictions
        with talk.ledger.reading() as here, counted(other) as there:
            assert carry(here, there) == Carried(0, 2 * number - 1)
            asked[number] += there.asked
        links = "SELECT memory_id, role, coalesce(turn_id, target_memory_id), created_at FROM links ORDER BY 1, 2, 3"
        assert rows(other, links) == rows(talk.ledger, links)
        assert is_sound(other)
    assert asked[FEW] == asked[MANY]


def test_a_batch_without_memories_asks_little_of_them(ledger: Evidence) -> None:
    asked = asked_by(ledger, [PLACE, event(text="hello", cwd="/p")])
    assert len([each for each in asked if "memories" in each or "links" in each]) == 2


def test_many_values_are_one_request_to_the_server_and_none_are_no_request(cluster: Cluster, pg_url: str) -> None:
    query = "INSERT INTO injections (session_id, item_id, at) VALUES (?, ?, ?)"
    with Wire(cluster) as wire, PostgresLedger.open(wire.url(pg_url), ManualClock()) as ledger:
        with ledger.writing() as database:
            plan = wire.arm(0, "before")
            database.executemany(query, [("s", f"item {each}", 1) for each in range(500)])
            assert plan.seen == 1
            database.executemany(query, [])
            assert plan.seen == 1
        assert rows(ledger, "SELECT count(*) FROM injections") == [(500,)]
