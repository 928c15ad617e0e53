"""Telling jobs, on both engines: what is told is kept once, a duplicate strengthens, nothing told is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.database import Database
from hindbrain.queues.job import LeaseLost, NewJob, Park, Retry
from tests.queues.opened import Tenant, note, notes, opened


def test_a_new_job_is_ready_and_holds_what_it_was_told(tenant: Tenant) -> None:
    q = opened(tenant)
    (identifier,) = q.queue.add([NewJob("k", "a", {"x": [1, "ä\x00\ud800", None]}, 3, "g", 0.0, True, 7)])
    now = q.clock.now_ms()
    assert q.row(identifier) == {
        "id": identifier, "kind": "k", "key": "a", "group_key": "g", "payload": '{"x":[1,"\\u00e4\\u0000\\ud800",null]}',
        "priority": 3, "forced": 1, "state": "ready", "again": 0, "attempts": 0, "crashes": 0, "delays": 0, "max_attempts": 7,
        "token": 0, "owner": "", "lead": 0, "lease_until": 0, "lease_ms": 0, "run_after_ms": now, "enqueued_ms": now,
        "changed_ms": now, "error": "",
    }  # fmt: skip
    (job,) = q.claim()
    assert job.payload == {"x": [1, "ä\x00\ud800", None]}
    assert (job.priority, job.group, job.forced, job.max_attempts) == (3, "g", True, 7)
    assert (job.state, job.attempts, job.token, job.owner, job.crashes, job.error) == ("running", 1, 1, "me", 0, "")


def test_a_job_told_inside_a_transaction_that_fails_was_never_told(tenant: Tenant) -> None:
    q = opened(tenant)
    with pytest.raises(ZeroDivisionError):
        with q.ledger.writing() as database:
            q.queue.enqueue(database, [NewJob("k", "a")])
            raise ZeroDivisionError
    assert q.rows() == {}
    with q.ledger.writing() as database:
        (identifier,) = q.queue.enqueue(database, [NewJob("k", "a")])
    assert list(q.rows()) == [identifier]


def test_kind_and_key_together_name_a_job(tenant: Tenant) -> None:
    q = opened(tenant)
    ids = q.queue.add([NewJob("k", "a"), NewJob("k", "b"), NewJob("l", "a"), NewJob("k", "a")])
    assert ids[3] == ids[0] and len(set(ids)) == 3
    assert q.queue.add([NewJob("l", "a"), NewJob("k", "b")]) == [ids[2], ids[1]]
    assert q.queue.counts() == {("k", "ready"): 2, ("l", "ready"): 1}


def test_ids_come_back_in_the_order_the_jobs_were_given(tenant: Tenant) -> None:
    q = opened(tenant)
    keys = [f"{number:03}" for number in range(300)]
    ids, rows = q.add(*reversed(keys)), q.rows()
    assert [rows[each]["key"] for each in ids] == list(reversed(keys))
    assert q.queue.add([]) == []


def test_a_duplicate_strengthens_the_live_job(tenant: Tenant) -> None:
    q = opened(tenant)
    (first,) = q.queue.add([NewJob("k", "a", {"v": 1}, priority=5, delay_seconds=60)])
    q.clock.advance(1)
    assert q.queue.add([NewJob("k", "a", {"v": 2}, priority=3, delay_seconds=10, forced=True)]) == [first]
    row = q.row(first)
    assert (row["priority"], row["forced"], row["payload"], row["state"]) == (5, 1, '{"v":2}', "waiting")
    assert row["run_after_ms"] == q.clock.now_ms() + 10_000
    q.queue.add([NewJob("k", "a", {"v": 3}, priority=9, delay_seconds=100)])
    row = q.row(first)
    assert (row["priority"], row["forced"], row["payload"]) == (9, 1, '{"v":3}')
    assert row["run_after_ms"] == q.clock.now_ms() + 10_000, "a later time does not put it off"
    q.queue.add([NewJob("k", "a")])
    assert (q.row(first)["state"], q.row(first)["priority"]) == ("ready", 9)
    q.queue.add([NewJob("k", "a", delay_seconds=50)])
    assert q.row(first)["state"] == "ready", "what is ready stays ready"


def test_duplicates_in_one_call_are_one_job_by_the_same_rules(tenant: Tenant) -> None:
    q = opened(tenant)
    one, two = q.queue.add([
        NewJob("k", "a", {"v": 1}, priority=5, delay_seconds=60, forced=True, max_attempts=2),
        NewJob("k", "a", {"v": 2}, priority=3, delay_seconds=30, max_attempts=9),
    ])  # fmt: skip
    row = q.row(one)
    assert one == two
    assert (row["priority"], row["forced"], row["payload"], row["max_attempts"]) == (5, 1, '{"v":2}', 2)
    assert row["run_after_ms"] == q.clock.now_ms() + 30_000


def test_what_failed_keeps_its_backoff_when_told_again(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    q.queue.fail([q.claim_one()], Retry("no answer"))
    before = next(iter(q.rows().values()))
    q.clock.advance(1)
    (identifier,) = q.queue.add([NewJob("k", "a", {"v": 2}, priority=1)])
    assert q.row(identifier) == {**before, "payload": '{"v":2}', "priority": 1}


@pytest.mark.parametrize("ended", ["done", "parked", "cancelled"])
def test_a_job_told_after_the_last_one_ended_is_a_new_job(tenant: Tenant, ended: str) -> None:
    q = opened(tenant)
    (first,) = q.add("a")
    job = q.claim_one()
    ways: dict[str, Callable[[], object]] = {
        "done": lambda: q.queue.finish([job]),
        "parked": lambda: q.queue.fail([job], Park("broken")),
        "cancelled": lambda: q.queue.cancel([first]),
    }
    ways[ended]()
    before = q.row(first)
    (second,) = q.add("a")
    assert second != first
    assert q.row(first) == before and before["state"] == ended
    assert (q.row(second)["state"], q.row(second)["token"]) == ("ready", 0)


def test_a_job_told_again_while_it_runs_runs_again(tenant: Tenant) -> None:
    q = opened(tenant)
    (identifier,) = q.queue.add([NewJob("k", "a", {"v": 1})])
    job = q.claim_one()
    assert q.queue.add([NewJob("k", "a", {"v": 2}, priority=4)]) == [identifier]
    assert (q.row(identifier)["state"], q.row(identifier)["again"], job.payload) == ("running", 1, {"v": 1})
    assert q.claim() == [], "it runs once at a time"
    q.queue.finish([job])
    row = q.row(identifier)
    assert (row["state"], row["again"], row["attempts"], row["owner"]) == ("ready", 0, 0, "")
    (second,) = q.claim()
    assert (second.id, second.payload, second.token, second.attempts) == (identifier, {"v": 2}, 2, 1)
    q.queue.finish([second])
    assert q.row(identifier)["state"] == "done", "once more, not for ever"


def test_told_to_wait_while_it_runs_it_waits_before_it_runs_again(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.add("a", delay_seconds=60)
    told = q.clock.now_ms()
    q.clock.advance(5)
    q.queue.finish([job])
    row = q.row(job.id)
    assert (row["state"], row["run_after_ms"]) == ("waiting", told + 60_000)
    q.clock.advance(54.999)
    assert q.queue.promote() == 0
    q.clock.advance(0.001)
    assert q.queue.promote() == 1


@pytest.mark.parametrize("error", [Park("broken"), Retry("last try")])
def test_told_again_while_it_fails_for_good_it_is_tried_again(tenant: Tenant, error: Exception) -> None:
    q = opened(tenant)
    q.add("a", max_attempts=1)
    job = q.claim_one()
    q.queue.add([NewJob("k", "a", {"v": 2})])
    q.queue.fail([job], error)
    row = q.row(job.id)
    assert (row["state"], row["attempts"], row["again"], row["payload"]) == ("ready", 0, 0, '{"v":2}')
    q.queue.fail([q.claim_one()], error)
    assert q.row(job.id)["state"] == "parked"


def test_told_again_while_it_fails_for_now_it_keeps_its_tries(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.queue.add([NewJob("k", "a", {"v": 2})])
    q.queue.fail([job], Retry("no answer"))
    row = q.row(job.id)
    assert (row["state"], row["attempts"], row["again"], row["payload"]) == ("waiting", 1, 0, '{"v":2}')


def test_told_again_while_its_worker_dies_it_comes_back_with_what_was_told_last(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    q.claim()
    q.queue.add([NewJob("k", "a", {"v": 2})])
    q.crash()
    (job,) = q.queue.claim_suspect(["k"], "me")
    assert (job.payload, q.row(job.id)["again"]) == ({"v": 2}, 0)


def test_results_and_follow_up_jobs_commit_with_the_finish(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()

    def effect(database: Database) -> None:
        note("a")(database)
        q.queue.enqueue(database, [NewJob("k", "a", {"step": 2}), NewJob("k", "b")])

    q.queue.finish([job], effect)
    assert notes(q.ledger) == ["a"]
    found = [(row["key"], row["state"], row["payload"]) for row in q.rows().values()]
    assert found == [("a", "done", "{}"), ("a", "ready", '{"step":2}'), ("b", "ready", "{}")]


def test_an_effect_that_fails_leaves_the_job_running_and_nothing_behind(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    before = q.rows()

    def effect(database: Database) -> None:
        note("a")(database)
        q.queue.enqueue(database, [NewJob("k", "b")])
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        q.queue.finish([job], effect)
    assert (q.rows(), notes(q.ledger)) == (before, [])
    q.queue.finish([job], note("a"))
    assert (q.states(), notes(q.ledger)) == ({"a": "done"}, ["a"])


def test_an_effect_under_a_lost_lease_never_runs(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    job = q.claim_one()
    q.crash()
    (second,) = q.queue.claim_suspect(["k"], "other")
    before = q.rows()
    ran: list[int] = []
    with pytest.raises(LeaseLost):
        q.queue.finish([job], lambda database: ran.append(1))
    assert (ran, q.rows()) == ([], before)
    q.queue.finish([second], lambda database: ran.append(2))
    assert ran == [2]


def test_two_tellers_of_one_job_at_the_same_moment_make_one(tenant: Tenant) -> None:
    q = opened(tenant)
    queues = [q.another() for _ in range(4)]
    barrier, ids, failed = threading.Barrier(4), list[int](), list[Exception]()

    def tell(number: int) -> None:
        try:
            for turn in range(20):
                barrier.wait(60)
                ids.extend(queues[number].add([NewJob("k", str(turn), priority=number)]))
        except Exception as error:  # noqa: BLE001  # the boundary of a thread
            failed.append(error)
            barrier.abort()

    threads = [threading.Thread(target=tell, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert failed == []
    assert len(ids) == 80 and len(set(ids)) == 20
    assert {(row["state"], row["priority"]) for row in q.rows().values()} == {("ready", 3)} and len(q.rows()) == 20


def test_pruning_takes_what_ended_and_nothing_else(tenant: Tenant) -> None:
    q = opened(tenant)
    old = dict(zip("abcdef", q.add(*"abcdef"), strict=True))
    q.add("g", delay_seconds=1e6)
    jobs = {job.key: job for job in q.claim(5)}
    q.queue.finish([jobs["a"]])
    q.queue.cancel([old["b"]])
    q.queue.fail([jobs["c"]], Park("broken"))
    q.queue.fail([jobs["d"]], Retry("later"))
    q.clock.advance(100)
    q.queue.heartbeat([jobs["e"]])
    assert q.queue.prune(100) == 0, "exactly so old is not older"
    q.clock.advance(0.001)
    before = q.rows()
    assert q.queue.prune(100) == 2
    assert q.rows() == {identifier: row for identifier, row in before.items() if row["key"] not in "ab"}
    assert {row["state"] for row in q.rows().values()} == {"parked", "waiting", "running", "ready"}


def test_an_id_is_never_used_twice(tenant: Tenant) -> None:
    q = opened(tenant)
    (first,) = q.add("a")
    old = q.claim_one()
    q.queue.finish([old])
    q.clock.advance(10)
    q.queue.prune(1)
    (second,) = q.add("a")
    assert second > first
    q.claim()
    with pytest.raises(LeaseLost):
        q.queue.finish([old])


def test_a_statement_that_fails_inside_an_effect_is_one_of_our_errors(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")

    def effect(database: Database) -> None:
        database.execute("SELECT * FROM nowhere")

    with pytest.raises(HindbrainError):
        q.queue.finish(q.claim(), effect)
    assert q.states() == {"a": "running"}
