"""A backend that ends before or after any request of any operation: whole or absent, nothing twice, and the next call works."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import HindbrainError, LedgerUnreachable
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.postgres.store import PostgresLedger
from hindbrain.queues.job import Job, LeaseLost, NewJob, Park, Retry
from hindbrain.queues.queue import Queue
from tests.engines import drop
from tests.faults.wire import When, Wire
from tests.ledger.making import batch, event, place_event, record
from tests.postgres import Cluster

KIND: Final = "digest"
WHENS: Final[tuple[When, ...]] = ("before", "after")
_TENANTS = itertools.count()


@dataclass
class Stage:
    """One tenant: worked on through the wire, looked at past it."""

    ledger: PostgresLedger  # through the wire
    plain: PostgresLedger  # past it
    clock: ManualClock = field(default_factory=ManualClock)
    held: list[Job] = field(default_factory=list[Job])
    calls: int = 0

    @property
    def queue(self) -> Queue:
        return Queue(self.ledger, self.clock)

    @property
    def seen(self) -> Queue:
        return Queue(self.plain, self.clock)

    def states(self) -> dict[str, int]:
        return {state: count for (_, state), count in self.seen.counts().items()}

    def effect(self, database: Database) -> None:
        """Leaves a row of its own each time it is run."""
        self.calls += 1
        database.execute("INSERT INTO injections (session_id, item_id, at) VALUES (?, ?, ?)", ("effect", f"call {self.calls}", 1))

    def effects(self) -> int:
        with self.plain.reading() as database:
            return len(database.execute("SELECT 1 FROM injections WHERE session_id = ?", ("effect",)).fetchall())

    def close(self) -> None:
        self.ledger.close()
        self.plain.close()


@dataclass(frozen=True)
class Operation:
    """Something to be cut: what it needs, what it does, what may stand after a failure, and what must stand in the end."""

    prepare: Callable[[Stage], object]
    work: Callable[[Stage], object]
    state: Callable[[Stage], object]
    absent: object
    whole: object


def told(stage: Stage, number: int = 3, delay_seconds: float = 0.0) -> list[int]:
    return stage.seen.add([NewJob(KIND, f"key {each}", delay_seconds=delay_seconds) for each in range(number)])


def delayed(stage: Stage) -> None:
    told(stage, delay_seconds=5)
    stage.clock.advance(6)


def claimed(stage: Stage) -> None:
    told(stage)
    stage.held = stage.seen.claim(KIND, 3, "worker")


def overdue(stage: Stage) -> None:
    claimed(stage)
    stage.clock.advance(1000)


def finished(stage: Stage) -> None:
    claimed(stage)
    stage.seen.finish(stage.held)
    stage.clock.advance(100)


def parked(stage: Stage) -> None:
    claimed(stage)
    stage.seen.fail(stage.held, Park("no"))


def done_again(operation: Operation, stage: Stage) -> None:
    """After an error it may turn out that it was done: the lease is gone then, and nothing is done twice."""
    try:
        operation.work(stage)
    except LeaseLost:
        assert stage.states().get("running", 0) == 0


def said(number: int) -> Batch:
    turns = [record(10 * each, event(key=f"{number}-{each}", text=f"said {each} of {number}", cwd="/p")) for each in range(5)]
    return batch(*turns, record(60, place_event("/p", "git:h/p", 5)), s1=1000)


TURNS = [event(key=f"7-{each}", text=f"said {each} of 7", cwd="/p") for each in range(5)]


def evidence(stage: Stage) -> object:
    counts = stage.plain.counts()
    with stage.plain.reading() as database:
        ((gone,),) = database.execute("SELECT count(*) FROM forgotten").fetchall()
    found = len(stage.plain.search("said", 100))
    assert found == counts.turns, "the full-text index and the turns differ"
    return counts.turns, counts.sessions, counts.projects, int(gone), stage.plain.cursor("segment:s1")


def forget(stage: Stage) -> None:
    wish = forget_event([TURNS[1].id, TURNS[2].id], 50)
    stage.ledger.ingest(batch(record(0, wish, segment="0000000002-a-1"), s1=2000))


OPERATIONS: Final[dict[str, Operation]] = {
    "add": Operation(lambda s: None, lambda s: s.queue.add([NewJob(KIND, f"key {each}") for each in range(3)]), Stage.states,
                     {}, {"ready": 3}),
    "finish with effect": Operation(claimed, lambda s: s.queue.finish(s.held, s.effect),
                                    lambda s: (s.states(), s.effects()), ({"running": 3}, 0), ({"done": 3}, 1)),
    "finish": Operation(claimed, lambda s: s.queue.finish(s.held), Stage.states, {"running": 3}, {"done": 3}),
    "fail": Operation(claimed, lambda s: s.queue.fail(s.held, Retry("later")), Stage.states, {"running": 3}, {"waiting": 3}),
    "heartbeat": Operation(claimed, lambda s: s.queue.heartbeat(s.held), lambda s: s.seen.heartbeat(s.held) and s.states(),
                           {"running": 3}, {"running": 3}),
    "release": Operation(claimed, lambda s: s.queue.release(s.held), Stage.states, {"running": 3}, {"ready": 3}),
    "promote": Operation(delayed, lambda s: s.queue.promote(), Stage.states,
                         {"waiting": 3}, {"ready": 3}),
    "reap": Operation(overdue, lambda s: s.queue.reap(), Stage.states,
                      {"running": 3}, {"ready": 3}),
    "retry": Operation(parked, lambda s: s.queue.retry([job.id for job in s.held]), Stage.states, {"parked": 3}, {"ready": 3}),
    "cancel": Operation(claimed, lambda s: s.queue.cancel([job.id for job in s.held]), Stage.states,
                        {"running": 3}, {"cancelled": 3}),
    "prune": Operation(finished, lambda s: s.queue.prune(10),
                       Stage.states, {"done": 3}, {}),
    "ingest": Operation(lambda s: None, lambda s: s.ledger.ingest(said(7)), evidence, (0, 0, 0, 0, None), (5, 1, 1, 0, 1000)),
    "forget": Operation(lambda s: s.plain.ingest(said(7)), forget, evidence, (5, 1, 1, 0, 1000), (3, 1, 1, 2, 2000)),
}  # fmt: skip
LONG: Final = ("ingest", "forget")
QUICK: Final = ("finish", "finish with effect")


@pytest.fixture
def staged(wire: Wire, pg_url: str) -> Iterator[Callable[[], Stage]]:
    """A function that gives another tenant of the same database."""
    made: list[Stage] = []

    def make() -> Stage:
        if made:
            made.pop().close()
        clock, tenant = ManualClock(), f"tenant {next(_TENANTS)}"
        wire.arm(0, "before")
        through = PostgresLedger.open(wire.url(pg_url), clock, tenant=tenant, pool_size=2)
        made.append(Stage(through, PostgresLedger.open(pg_url, clock, tenant=tenant), clock))
        return made[-1]

    yield make
    for stage in made:
        stage.close()


def cut_everywhere(wire: Wire, staged: Callable[[], Stage], operation: Operation, when: When) -> tuple[int, int]:
    """Cut each request in turn; how many there are, and after how many the caller was told of a failure."""
    told_of = 0
    for at in itertools.count(1):
        stage = staged()
        operation.prepare(stage)
        plan = wire.arm(at, when)
        failed = False
        try:
            operation.work(stage)
        except HindbrainError as error:
            assert isinstance(error, LedgerUnreachable), error
            failed = True
        found = operation.state(stage)
        if not plan.fired:
            assert (failed, found) == (False, operation.whole)
            return at - 1, told_of
        allowed = (operation.absent, operation.whole) if failed else (operation.whole,)
        assert found in allowed, f"{when} request {at}, {plan.requests[-1]!r}"
        done_again(operation, stage)  # the same objects: the session that ended is replaced
        assert operation.state(stage) == operation.whole, f"done again after {when} request {at}"
        told_of += failed
    raise AssertionError("not reached")


@pytest.mark.parametrize("when", WHENS)
@pytest.mark.parametrize("name", [
    name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in OPERATIONS if name not in LONG
])  # fmt: skip
def test_a_cut_at_any_request_of_the_queue_leaves_all_or_nothing(
    wire: Wire, staged: Callable[[], Stage], name: str, when: When
) -> None:
    requests, _ = cut_everywhere(wire, staged, OPERATIONS[name], when)  # what may be repeated without harm need not fail
    assert requests >= 1


@pytest.mark.slow
@pytest.mark.timeout(1200)  # every request of the longest transaction there is, each with a new connection
@pytest.mark.parametrize("when", WHENS)
@pytest.mark.parametrize("name", LONG)
def test_a_cut_at_any_request_of_taking_evidence_in_leaves_all_or_nothing(
    wire: Wire, staged: Callable[[], Stage], name: str, when: When
) -> None:
    requests, told_of = cut_everywhere(wire, staged, OPERATIONS[name], when)
    assert requests >= 10 and told_of >= 9


@pytest.mark.parametrize("when", WHENS)
def test_a_claim_that_is_cut_anywhere_gives_no_job_to_two_workers(wire: Wire, staged: Callable[[], Stage], when: When) -> None:
    for at in itertools.count(1):
        stage = staged()
        everything = set(told(stage, 5))
        plan = wire.arm(at, when)
        try:
            mine = {job.id for job in stage.queue.claim(KIND, 2, "cut off")}
        except LedgerUnreachable:
            mine = set()
        if not plan.fired:
            break
        held = {job.id for job in stage.seen.listing(state="running")}
        assert len(held) in (0, 2) and mine <= held
        theirs = {job.id for job in stage.queue.claim(KIND, 10, "another")}
        assert theirs == everything - held
        assert {job.token for job in stage.seen.listing()} == {1}
        stage.clock.advance(1000)  # who was cut off without knowing lets the lease run out
        assert stage.seen.reap().ready == 5
    assert at >= 2


def test_the_check_notices_an_operation_that_commits_half_way(wire: Wire, staged: Callable[[], Stage]) -> None:
    def in_two(stage: Stage) -> None:
        for job in stage.held:
            stage.queue.fail([job], Retry("later"))

    halves = Operation(claimed, in_two, Stage.states, {"running": 3}, {"waiting": 3})
    with pytest.raises(AssertionError):
        cut_everywhere(wire, staged, halves, "before")


def test_the_check_notices_an_effect_that_is_not_in_the_transaction(wire: Wire, staged: Callable[[], Stage]) -> None:
    def apart(stage: Stage) -> None:
        with stage.ledger.transaction() as database:
            stage.effect(database)
        stage.queue.finish(stage.held)

    twice = Operation(claimed, apart, lambda s: (s.states(), s.effects()), ({"running": 3}, 0), ({"done": 3}, 1))
    with pytest.raises(AssertionError):
        cut_everywhere(wire, staged, twice, "after")


@pytest.mark.slow
@pytest.mark.parametrize("when", WHENS)
def test_migrations_that_are_cut_anywhere_are_whole_or_absent_and_complete_next_time(
    wire: Wire, cluster: Cluster, when: When
) -> None:
    def shape(url: str) -> list[tuple[object, ...]]:
        with cluster.admin(url.rpartition("/")[2].partition("?")[0]) as admin:
            return admin.execute("""
                SELECT 'column', table_name, column_name, data_type FROM information_schema.columns
                WHERE table_schema = 'hindbrain'
                UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'hindbrain'
                UNION ALL SELECT 'policy', tablename, policyname, qual FROM pg_policies WHERE schemaname = 'hindbrain'
                UNION ALL SELECT 'trigger', event_object_table, trigger_name, action_statement FROM information_schema.triggers
                WHERE trigger_schema = 'hindbrain' ORDER BY 1, 2, 3, 4""").fetchall()

    wanted = None
    for at in itertools.count(0):  # 0 cuts nothing: what an undisturbed migration makes
        url = cluster.create(f"cut_{when}_{at}")
        plan = wire.arm(at, when)
        try:
            PostgresLedger.open(wire.url(url), ManualClock()).close()
        except LedgerUnreachable:
            assert plan.fired
        with PostgresLedger.open(url, ManualClock()) as ledger:
            ledger.ingest(said(7))
            assert len(ledger.search("said")) == 5
        wanted = shape(url) if wanted is None else wanted
        assert shape(url) == wanted, (at, plan.requests[-1:])
        drop(cluster, url)
        if at and not plan.fired:
            break
    assert at > 10
