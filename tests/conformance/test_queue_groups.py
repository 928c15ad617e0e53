"""Groups, on both engines: claimed together, and one worker at a group; and many workers at once."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable

import pytest

from hindbrain.base.errors import LedgerError
from hindbrain.queues.job import Job, NewJob, Park, Reaped, Retry
from hindbrain.queues.queue import Queue
from tests.queues.opened import Opened, Tenant, opened


def keys(jobs: list[Job]) -> list[str]:
    return [job.key for job in jobs]


def test_with_one_job_of_a_group_come_all_that_are_ready_and_no_others(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a1", group="a", priority=5)
    q.add("b1", group="b", priority=4)
    q.add("a2", "a3", group="a")
    q.add("alone")
    q.add("a4", group="a", delay_seconds=60)
    q.add("a5", group="a", kind="other")
    assert keys(q.claim(1)) == ["a1", "a2", "a3"]
    assert [row["lead"] for row in q.rows().values()] == [1, 0, 0, 0, 0, 0, 0], "one of them stands for the group"
    assert keys(q.claim(9)) == ["b1", "alone"]
    assert q.states()["a4"] == "waiting" and q.states()["a5"] == "ready"


def test_while_a_group_runs_nobody_gets_another_of_it(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a1", group="a")
    jobs = q.claim()
    q.add("a2", group="a", priority=9)
    q.add("z")
    assert keys(q.another().claim("k", 9, "other")) == ["z"]
    q.queue.finish(jobs)
    assert keys(q.claim()) == ["a2"]


ENDS: dict[str, Callable[[Opened, list[Job]], object]] = {
    "finish": lambda q, jobs: q.queue.finish(jobs),
    "fail": lambda q, jobs: q.queue.fail(jobs, Retry("x")),
    "park": lambda q, jobs: q.queue.fail(jobs, Park("x")),
    "release": lambda q, jobs: q.queue.release(jobs),
    "cancel": lambda q, jobs: q.queue.cancel([job.id for job in jobs]),
    "crash": lambda q, jobs: q.crash(),
}


@pytest.mark.parametrize("end", ENDS)
def test_however_a_run_ends_its_group_is_free_again(tenant: Tenant, end: str) -> None:
    q = opened(tenant)
    q.add("a1", "a2", group="a")
    ENDS[end](q, q.claim())
    q.add("a3", group="a")
    assert {row["lead"] for row in q.rows().values()} == {0}
    assert "a3" in keys(q.claim())


def test_a_group_is_not_free_while_a_part_of_it_still_runs(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a1", "a2", group="a")
    jobs = q.claim()
    q.queue.cancel([jobs[0].id])
    q.add("a3", group="a")
    assert q.claim() == []
    q.queue.finish(jobs[1:])
    assert keys(q.claim()) == ["a3"]


def test_the_database_itself_refuses_a_second_lead(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a1", group="a")
    q.claim()
    (second,) = q.add("a2", group="a")
    with pytest.raises(LedgerError):
        with q.ledger.transaction() as database:
            database.execute("UPDATE jobs SET state = 'running', lead = 1 WHERE id = ?", (second,))
    assert q.row(second)["state"] == "ready"


def test_the_database_itself_refuses_a_second_live_job_of_a_key(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    for state in ("waiting", "ready", "running"):
        with pytest.raises(LedgerError):
            with q.ledger.transaction() as database:
                sql = "INSERT INTO jobs (kind, key, state, run_after_ms, enqueued_ms, changed_ms) VALUES ('k', 'a', ?, 0, 0, 0)"
                database.execute(sql, (state,))
    assert len(q.rows()) == 1


def test_a_group_whose_worker_died_is_tried_together_once_and_then_each_by_itself(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a1", "poison", "a3", group="a")
    q.claim()
    assert q.crash() == Reaped(ready=3)
    q.add("fresh", group="a")
    assert keys(q.queue.claim_suspect(["k"], "me")) == ["a1", "poison", "a3"], "mostly it was the machine that died"
    assert q.claim() == [], "the group runs"
    assert q.crash() == Reaped(ready=3)
    for _ in range(3):
        (job,) = q.queue.claim_suspect(["k"], "me")
        if job.key == "poison":
            assert q.crash() == Reaped(parked=1)
        else:
            q.queue.finish([job])
    assert q.states() == {"a1": "done", "poison": "parked", "a3": "done", "fresh": "ready"}


def test_a_payload_that_cannot_be_read_is_parked_by_itself(tenant: Tenant) -> None:
    q = opened(tenant)
    ids = q.add("a", "b", "c", "d", "e")
    g1, g2, g3 = q.add("g1", "g2", "g3", group="g")
    bad = ["{", "[1]", "[" * 60_000, "NaN"]
    with q.ledger.transaction() as database:
        for identifier, text in zip([*ids[:4], g1], [*bad, '"text"'], strict=True):
            database.execute("UPDATE jobs SET payload = ? WHERE id = ?", (text, identifier))
    jobs = q.claim()
    assert keys(jobs) == ["e", "g2", "g3"]
    states = q.states()
    assert {key: states[key] for key in ("a", "b", "c", "d", "g1")} == dict.fromkeys(("a", "b", "c", "d", "g1"), "parked")
    assert q.row(ids[0])["error"] == "its payload cannot be read: it is not a JSON object"
    assert q.row(g2)["lead"] + q.row(g3)["lead"] == 1, "the group has another lead"
    q.queue.finish(jobs)
    assert q.queue.get(ids[0]).payload == {"unreadable": "{"}
    assert len(q.queue.listing()) == 8


def test_many_workers_at_once_share_jobs_and_groups_without_meeting(tenant: Tenant) -> None:
    """Threads with connections of their own; each claim must be of jobs and groups nobody else holds."""
    q = opened(tenant)
    q.queue.add([NewJob("k", f"{number}", group=f"g{number % 7}" if number % 2 else "") for number in range(400)])
    done: Counter[int] = Counter()
    holding: dict[str, int] = {}
    lock, trouble = threading.Lock(), list[object]()

    def work(queue: Queue, number: int) -> None:
        try:
            while jobs := queue.claim("k", 3, f"w{number}"):
                groups = {job.group for job in jobs if job.group}
                with lock:
                    trouble.extend((group, holding[group], number) for group in groups if group in holding)
                    holding.update(dict.fromkeys(groups, number))
                    done.update(job.id for job in jobs)
                with lock:
                    for group in groups:
                        holding.pop(group, None)
                queue.finish(jobs)
                if number % 2 and groups and not jobs[0].key.startswith("more"):
                    queue.add([NewJob("k", f"more {jobs[0].key}", group=next(iter(groups)))])
        except Exception as error:  # noqa: BLE001  # the boundary of a thread
            trouble.append(error)

    queues = [q.another(lease_seconds=1000.0) for _ in range(5)]
    threads = [threading.Thread(target=work, args=(queue, number)) for number, queue in enumerate(queues)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(200)
    while jobs := q.claim():  # who found nothing left may have gone before another told more
        done.update(job.id for job in jobs)
        q.queue.finish(jobs)
    assert trouble == []
    assert set(done.values()) == {1}
    assert set(done) == set(q.rows()) and len(done) >= 400
    assert {row["state"] for row in q.rows().values()} == {"done"}
