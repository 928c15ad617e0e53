"""Jobs that cannot be, on both engines: a clear error, nothing stored, nothing lost."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import NotFound
from hindbrain.queues.job import BadJob, NewJob
from hindbrain.queues.queue import Queue
from tests.queues.opened import Tenant, opened


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def circle() -> dict[str, Any]:
    made: dict[str, Any] = {}
    made["self"] = made
    return made


BAD: dict[str, dict[str, Any]] = {
    "payload nested too deep": {"payload": {"a": nested(64)}},
    "payload nested without end": {"payload": {"a": nested(100_000)}},
    "payload in a circle": {"payload": circle()},
    "payload not a number": {"payload": {"a": float("nan")}},
    "payload infinite": {"payload": {"a": [float("-inf")]}},
    "payload of 10 MB": {"payload": {"a": "x" * 10_000_000}},
    "payload just too large": {"payload": {"a": "x" * (65_536 - 7)}},
    "payload a list": {"payload": [1]},
    "payload a text": {"payload": "text"},
    "payload nothing": {"payload": None},
    "payload bytes": {"payload": {"a": b"x"}},
    "payload with number keys": {"payload": {"a": {1: 2}}},
    "payload with a tuple": {"payload": {"a": (1, 2)}},
    "kind empty": {"kind": ""},
    "kind with NUL": {"kind": "a\x00b"},
    "kind too long": {"kind": "k" * 101},
    "kind not a text": {"kind": 3},
    "key with a lone surrogate": {"key": "\udc80"},
    "key with NUL": {"key": "\x00"},
    "key too long": {"key": "ä" * 501},
    "key not a text": {"key": None},
    "group with NUL": {"group": "\x00"},
    "group too long": {"group": "g" * 1001},
    "priority too large": {"priority": 2**31},
    "priority too small": {"priority": -(2**31) - 1},
    "priority not whole": {"priority": 1.5},
    "priority a truth": {"priority": True},
    "delay negative": {"delay_seconds": -0.001},
    "delay not a number": {"delay_seconds": float("nan")},
    "delay endless": {"delay_seconds": float("inf")},
    "no attempts": {"max_attempts": 0},
    "too many attempts": {"max_attempts": 1001},
}


def test_a_job_that_cannot_be_stored_is_refused_with_all_that_came_with_it(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("kept")
    before = q.rows()
    for name, fields in BAD.items():
        bad = NewJob(**{"kind": "k", "key": "bad", **fields})
        with pytest.raises(BadJob) as caught:
            q.queue.add([NewJob("k", "good"), bad])
        assert len(str(caught.value)) < 600 and caught.value.hint, name
        assert q.rows() == before, name


def test_what_is_just_allowed_is_stored(tenant: Tenant) -> None:
    q = opened(tenant)
    jobs = [
        NewJob("k", "size", {"a": "x" * (65_536 - 8)}), NewJob("k", "depth", {"a": nested(63)}), NewJob("k" * 100, "kind"),
        NewJob("k", "ä" * 500), NewJob("k", "", group="g" * 1000), NewJob("k", "p", priority=2**31 - 1, max_attempts=1000),
        NewJob("k", "m", priority=-(2**31)), NewJob("k", "d", delay_seconds=366 * 86_400.0), NewJob("k", "i", delay_seconds=1),
    ]  # fmt: skip
    ids = q.queue.add(jobs)
    assert [(each.kind, each.key, each.payload, each.priority) for each in map(q.queue.get, ids)] == [
        (job.kind, job.key, job.payload, job.priority) for job in jobs
    ]


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=200)
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4), max_leaves=12,
)  # fmt: skip


@given(kind=TEXT.filter(lambda text: 0 < len(text.encode()) <= 100), key=TEXT, group=TEXT, owner=st.text(max_size=20),
       payload=st.dictionaries(st.text(max_size=10), ANY_JSON, max_size=4))  # fmt: skip
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_and_any_payload_come_back_as_they_went(
    tenant: Tenant, kind: str, key: str, group: str, owner: str, payload: dict[str, Any]
) -> None:
    if not tenant.opened:
        tenant.open()
    queue = Queue(tenant.opened[0], ManualClock())
    queue.add([NewJob(kind, key, payload, group=group)])
    (job,) = queue.claim(kind, 1, owner)
    assert (job.kind, job.key, job.group, job.payload) == (kind, key, group, payload)
    assert queue.get(job.id) == job
    queue.finish([job])


@pytest.mark.parametrize("limit", [0, -1, -(2**63), 2**63, 1.0, True, None, "1"])
def test_a_limit_that_is_none_is_refused(tenant: Tenant, limit: Any) -> None:
    q = opened(tenant)
    q.add("a")
    with pytest.raises(BadJob, match="limit"):
        q.queue.claim("k", limit, "me")
    with pytest.raises(BadJob, match="limit"):
        q.queue.listing(limit=limit)
    assert q.states() == {"a": "ready"}


def test_unknown_ids_are_named_and_nothing_is_done(tenant: Tenant) -> None:
    q = opened(tenant)
    (known,) = q.add("a")
    before = q.rows()
    unknown: list[Any] = [known + 1, 0, -1, 2**63, 2**100, "1", None, True, 1.0]
    for each in unknown:
        for ask in (q.queue.retry, q.queue.cancel):
            with pytest.raises(NotFound, match="there is no job"):
                ask([known, each])
        with pytest.raises(NotFound, match="there is no job"):
            q.queue.get(each)
    assert q.rows() == before
    assert (q.queue.retry([]), q.queue.cancel([]), q.queue.heartbeat([])) == (0, 0, set())
    q.queue.release([])


def test_nothing_cannot_be_finished_or_failed(tenant: Tenant) -> None:
    q = opened(tenant)
    ran: list[int] = []
    with pytest.raises(BadJob):
        q.queue.finish([], lambda database: ran.append(1))
    with pytest.raises(BadJob):
        q.queue.fail([], ValueError("x"))
    assert ran == []


def test_the_same_job_twice_in_a_batch_is_one(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a", "b")
    one, two = q.claim()
    q.queue.finish([one, one])
    q.queue.fail([two, two], ValueError("x"))
    assert q.states() == {"a": "done", "b": "waiting"}


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan"), float("inf"), 86_401.0])
def test_a_lease_of_no_length_is_refused(tenant: Tenant, seconds: float) -> None:
    q = opened(tenant)
    with pytest.raises(BadJob, match="lease"):
        q.another(lease_seconds=seconds)


@pytest.mark.parametrize("seconds", [-1.0, float("nan"), float("inf")])
def test_keeping_jobs_for_no_length_of_time_is_refused(tenant: Tenant, seconds: float) -> None:
    q = opened(tenant)
    with pytest.raises(BadJob, match="kept"):
        q.queue.prune(seconds)


def test_a_kind_or_state_nobody_has_finds_nothing_or_is_refused(tenant: Tenant) -> None:
    q = opened(tenant)
    q.add("a")
    hostile = ["", "no", "\x00", "\ud800", "'; DROP TABLE jobs; --", "%", "k\x00"]
    for kind in hostile:
        assert q.queue.claim(kind, 5, kind) == []
        assert q.queue.listing(kind=kind) == []
    assert q.queue.claim_suspect(hostile, "me") == []
    with pytest.raises(BadJob, match="no state"):
        q.queue.listing(state="asleep")  # type: ignore[arg-type]
    assert q.states() == {"a": "ready"}


class _Unprintable(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


def test_any_error_can_be_kept(tenant: Tenant) -> None:
    q = opened(tenant)
    errors = [_Unprintable(), KeyboardInterrupt(), SystemExit(3), ValueError("\x00\ud800"), ValueError("x" * 9_999), ValueError()]
    for number, error in enumerate(errors):
        (identifier,) = q.add(str(number))
        q.queue.fail([q.claim_one()], error)
        row = q.row(identifier)
        assert row["state"] == "waiting" and 0 < len(row["error"]) <= 2000
