"""Any order of any moves, on both engines: the queue does what the model does, and never what must not be.

After every move all columns of all jobs are compared with the model's. The promises are asserted for themselves as well, so that
a mistake made in both is found too.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import LedgerError
from hindbrain.queues.job import BackOff, Job, JobFailed, LeaseLost, NewJob, Park, Reaped, Retry
from hindbrain.queues.queue import Queue
from tests.queues.model import Failure, Model
from tests.queues.opened import LEASE, Longest, Tenant, all_rows, note, notes

KEYS = st.sampled_from("abcde")
LATER_MS = 7_000
FAILURES: dict[str, JobFailed] = {"retry": Retry("x"), "later": BackOff("x", seconds=LATER_MS / 1000), "park": Park("x")}
Breaking = Callable[[Queue], None]


class Moves(RuleBasedStateMachine):
    """Workers that claim, finish, fail, forget what they claimed, and time that passes or jumps."""

    claims = Bundle("claims")

    def __init__(self, tenant: Tenant, breaking: Breaking | None) -> None:
        super().__init__()
        tenant.renew()
        self.clock = ManualClock()
        self.ledger = tenant.open(self.clock)
        self.queue = Queue(self.ledger, self.clock, lease_seconds=LEASE, chance=Longest())
        if breaking is not None:
            breaking(self.queue)
        self.model = Model(self.clock.now_ms(), 0)
        self.told: set[str] = set()
        self.effects: Counter[str] = Counter()
        self.pruned: set[str] = set()

    def tokens(self, jobs: list[Job]) -> list[tuple[int, int]]:
        return [(job.id, job.token) for job in jobs]

    @initialize()
    def start(self) -> None:
        self.clock.advance(100)
        self.model.tick = 100_000
        self.model.now = self.clock.now_ms()

    @rule(news=st.lists(st.fixed_dictionaries({
        "key": KEYS, "payload": st.integers(0, 9), "priority": st.integers(0, 2), "forced": st.booleans(),
        "delay_seconds": st.sampled_from([0.0, 0.0, 0.0, 3.0, 30.0]), "max_attempts": st.sampled_from([1, 2, 5]),
    }), min_size=1, max_size=2, unique_by=lambda new: new["key"]))  # fmt: skip
    def tell(self, news: list[dict[str, Any]]) -> None:
        for new in news:  # keys b, c and d are of two groups, the others by themselves
            new["group"] = {"b": "g", "c": "g", "d": "h"}.get(new["key"], "")
        ids = self.queue.add([NewJob("k", **{**new, "payload": {"v": new["payload"]}}) for new in news])
        for identifier, new in zip(ids, news, strict=True):
            self.model.tell(identifier, new)
            self.told.add(new["key"])

    @rule(target=claims, limit=st.integers(1, 4))
    def claim(self, limit: int) -> Any:
        jobs = self.queue.claim("k", limit, "me")
        assert self.tokens(jobs) == [(row.id, row.token) for row in self.model.claim(limit)]
        return jobs if jobs else multiple()

    @rule(target=claims)
    def claim_suspect(self) -> Any:
        jobs = self.queue.claim_suspect(["k"], "me")
        assert self.tokens(jobs) == [(row.id, row.token) for row in self.model.claim_suspect()]
        return jobs if jobs else multiple()

    @rule(target=claims)
    def take_over(self) -> Any:
        """Whoever runs something has died; another takes it up while the old claim is still around."""
        self.tick(LEASE)
        self.reap()
        return self.claim_suspect()

    @rule(target=claims, jobs=claims)
    def take_over_from_the_living(self, jobs: list[Job]) -> Any:
        """Who runs them was only slow, and says so when another has them."""
        taken = self.take_over()
        self.heartbeat(jobs)
        return taken

    @rule(jobs=claims, number=st.integers(0, 3))
    def cancel_one(self, jobs: list[Job], number: int) -> None:
        ids = [job.id for job in jobs if job.id in self.model.rows][number : number + 1]
        assert self.queue.cancel(ids) == self.model.cancel(ids)

    def refused(self, say: Callable[[], None]) -> None:
        try:
            say()
        except LeaseLost:
            return
        raise AssertionError("who lost the lease was heard")

    @rule(jobs=claims)
    def heartbeat(self, jobs: list[Job]) -> None:
        assert self.queue.heartbeat(jobs) == self.model.heartbeat(self.tokens(jobs))

    @rule(jobs=claims)
    def finish(self, jobs: list[Job]) -> None:
        name = ",".join(f"{job.id}.{job.token}" for job in jobs)
        if self.model.finish(self.tokens(jobs)):
            self.queue.finish(jobs, note(name))
            self.effects[name] += 1
        else:
            self.refused(lambda: self.queue.finish(jobs, note(name)))

    @rule(jobs=claims)
    def finish_without_effect(self, jobs: list[Job]) -> None:
        if self.model.finish(self.tokens(jobs)):
            self.queue.finish(jobs)
        else:
            self.refused(lambda: self.queue.finish(jobs))

    @rule(jobs=claims, how=st.sampled_from(["retry", "later", "park"]))
    def fail(self, jobs: list[Job], how: Failure) -> None:
        if self.model.fail(self.tokens(jobs), how, LATER_MS):
            self.queue.fail(jobs, FAILURES[how])
        else:
            self.refused(lambda: self.queue.fail(jobs, FAILURES[how]))

    @rule(jobs=claims)
    def release(self, jobs: list[Job]) -> None:
        self.queue.release(jobs)
        self.model.release(self.tokens(jobs))

    @rule(jobs=consumes(claims))
    def crash(self, jobs: list[Job]) -> None:
        """The worker is gone with all it knew; its jobs are found when their lease is over."""

    @rule(seconds=st.sampled_from([0.001, 1.0, 4.0, LEASE, 61.0, 4000.0]))
    def tick(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.model.now, self.model.tick = self.clock.now_ms(), int(self.clock.elapsed() * 1000)

    @rule(by=st.sampled_from([-3 * 86_400_000, -5_000, 5_000, 86_400_000]))
    def jump(self, by: int) -> None:
        self.clock.set_wall(self.clock.now_ms() + by)
        self.model.now = self.clock.now_ms()

    @rule()
    def reap(self) -> None:
        assert self.queue.reap() == Reaped(*self.model.reap())

    @rule()
    def promote(self) -> None:
        assert self.queue.promote() == self.model.promote()

    @rule(keep=st.sampled_from([0, 10_000, 10**9]))
    def prune(self, keep: int) -> None:
        self.tick(1.0)
        before = {row.key for row in self.model.rows.values()}
        assert self.queue.prune(keep / 1000) == self.model.prune(keep)
        self.pruned |= before

    @rule(chance=st.randoms(use_true_random=False), count=st.integers(1, 3), retries=st.booleans())
    def move(self, chance: random.Random, count: int, retries: bool) -> None:
        """Somebody at the keyboard."""
        known = sorted(self.model.rows)
        ids = chance.sample(known, min(count, len(known)))
        if retries:
            assert self.queue.retry(ids) == self.model.retry(ids)
        else:
            assert self.queue.cancel(ids) == self.model.cancel(ids)

    @invariant()
    def agrees_with_the_model(self) -> None:
        rows = all_rows(self.ledger)
        assert {each: self.seen(row) for each, row in rows.items()} == {each: self.meant(each) for each in self.model.rows}

    def seen(self, row: dict[str, Any]) -> dict[str, Any]:
        kept = {name: row[name] for name in ("state", "again", "attempts", "crashes", "delays", "token", "priority", "forced",
                                             "run_after_ms", "changed_ms", "payload", "group_key", "key")}  # fmt: skip
        return kept | {"lease_until": row["lease_until"] if row["state"] == "running" else 0, "owned": row["owner"] != ""}

    def meant(self, identifier: int) -> dict[str, Any]:
        row = self.model.rows[identifier]
        kept = {name: getattr(row, name) for name in ("state", "again", "attempts", "crashes", "delays", "token", "priority",
                                                      "forced", "run_after_ms", "changed_ms", "group_key", "key")}  # fmt: skip
        running = row.state == "running"
        return kept | {"payload": f'{{"v":{row.payload}}}', "lease_until": row.lease_until if running else 0, "owned": running}

    @invariant()
    def keeps_its_promises(self) -> None:
        rows = all_rows(self.ledger).values()
        live = Counter(row["key"] for row in rows if row["state"] in ("waiting", "ready", "running"))
        assert set(live.values()) <= {1}, "one live job of a key"
        leads = Counter(row["group_key"] for row in rows if row["lead"])
        assert set(leads.values()) <= {1}, "one lead of a group"
        assert all(row["state"] == "running" for row in rows if row["lead"])
        assert all(0 <= row["attempts"] <= row["max_attempts"] for row in rows), "no more tries than allowed"
        assert self.told <= {row["key"] for row in rows} | self.pruned, "nothing told is lost"
        assert notes(self.ledger) == sorted(self.effects), "effects of finished jobs, once each, and no others"


def moves(tenant: Tenant, breaking: Breaking | None = None, **options: Any) -> None:
    machine: Any = lambda: Moves(tenant, breaking)  # noqa: E731  # whatever makes a machine will do
    run_state_machine_as_test(machine, settings=settings(deadline=None, **options))


def examples(tenant: Tenant, sqlite: int) -> int:
    return sqlite if tenant.name == "sqlite" else sqlite // 3


def test_any_order_of_moves_does_what_the_model_does(tenant: Tenant) -> None:
    moves(tenant, max_examples=examples(tenant, 60), stateful_step_count=40)


@pytest.mark.slow
def test_many_long_orders_of_moves_do_what_the_model_does(tenant: Tenant) -> None:
    moves(tenant, max_examples=examples(tenant, 500), stateful_step_count=80)


def _changed(name: str, old: str, new: str) -> Breaking:
    def change(queue: Queue) -> None:
        text = getattr(queue._words, name)
        assert old in text, f"{name} no longer says {old!r}"
        queue._words = replace(queue._words, **{name: text.replace(old, new)})

    return change


def _without_unique_index(queue: Queue) -> None:
    with queue._ledger.transaction() as database:
        database.execute("DROP INDEX jobs_live")
    _changed("enqueue", "ON CONFLICT (kind, key) WHERE live = 1 DO UPDATE SET\n",
             "ON CONFLICT (id) DO UPDATE SET\n")(queue)  # fmt: skip


PLANTED: dict[str, Breaking] = {
    "the token is not checked by finish of one": _changed("finish_one", "AND token = :token", "AND token >= 0"),
    "finish of one takes a job that does not run": _changed("finish_one", "AND state = 'running'", "AND state <> ''"),
    "told again is dropped by finish of one": _changed("finish_one", "WHEN again = 0 THEN 'done'", "WHEN again < 2 THEN 'done'"),
    "the token is not checked by fail": _changed("fail", "AND token = held_token", "AND token >= 0"),
    "the token is not checked by heartbeat": _changed("heartbeat", "AND token = held_token", "AND token >= 0"),
    "finish takes jobs that do not run": _changed("finish", "WHERE state = 'running'", "WHERE state <> ''"),
    "a batch is finished in part": _changed("finish", "= :wanted", "<= :wanted"),
    "leases are not looked at by reap": _changed("reap", "(lease_until <= :tick", "(lease_until > 0 OR lease_until <= :tick"),
    "told again is dropped by finish": _changed("finish", "WHEN again = 0 THEN 'done'", "WHEN again < 2 THEN 'done'"),
    "told again is dropped by enqueue": _changed("enqueue", "THEN 1 ELSE 0 END,\n    state", "THEN 0 ELSE 0 END,\n    state"),
    "attempts are not counted": _changed("claim", "attempts = attempts + 1", "attempts = attempts"),
    "tokens are not counted": _changed("claim", "token = token + 1", "token = 1"),
    "crashes are not counted": _changed("reap", "crashes = crashes + 1", "crashes = crashes"),
    "one live job per key is not enforced": _without_unique_index,
    "a group that runs is claimed": _changed("claim", "state = 'running'\n    ))", "state = 'nothing'\n    ))"),
    "groups come in part": _changed("claim", " UNION SELECT id FROM mates", ""),
    "suspects are for everybody": _changed("claim", "state = 'ready' AND crashes = 0 AND (", "state = 'ready' AND ("),
    "a clock set back is not noticed": _changed("promote", " OR changed_ms > :now", ""),
    "the newer payload is dropped": _changed("enqueue", "payload = excluded.payload", "payload = jobs.payload"),
    "a retry makes a second live job": _changed("retry", "NOT EXISTS", "NOT NOT EXISTS"),
    "parked jobs are pruned": _changed("prune", "('done', 'cancelled')", "('done', 'cancelled', 'parked')"),
}


def mistake_is_found(tenant: Tenant, planted: str) -> None:
    """Some take more than a thousand orders, and which are tried depends on what else was imported: none is given up early."""
    with pytest.raises((AssertionError, LedgerError)):
        moves(tenant, PLANTED[planted], max_examples=20_000, stateful_step_count=40, database=None, report_multiple_bugs=False,
              phases=(Phase.generate,), print_blob=False, derandomize=True)  # fmt: skip


@pytest.mark.parametrize("planted", ["tokens are not counted", "one live job per key is not enforced"])
@pytest.mark.parametrize("tenant", ["sqlite"], indirect=True)
def test_control_a_planted_mistake_is_found(tenant: Tenant, planted: str) -> None:
    mistake_is_found(tenant, planted)


@pytest.mark.slow
@pytest.mark.parametrize("planted", PLANTED)
@pytest.mark.parametrize("tenant", ["sqlite"], indirect=True)
def test_control_every_planted_mistake_is_found(tenant: Tenant, planted: str) -> None:
    mistake_is_found(tenant, planted)
