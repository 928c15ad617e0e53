"""The runner: handlers are run within the limits of their kind, and however they end the queue knows."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.database import Database
from hindbrain.queues.job import BackOff, Effect, NewJob, Park, Retry
from hindbrain.queues.runner import Kind, Task
from hindbrain.queues.task import Bucket
from tests.engines import Engine
from tests.queues.running import Bench, mark, marking, marks, until


@pytest.fixture
def bench(engine: Engine) -> Bench:
    return Bench(engine)


def keys(count: int, start: str = "k") -> list[str]:
    return [f"{start}{number:03}" for number in range(count)]


def new(*names: str, kind: str = "note", group: str = "") -> list[NewJob]:
    return [NewJob(kind, name, group=group) for name in names]


def test_every_job_is_handled_once_and_its_effect_is_written(bench: Bench) -> None:
    bench.queue.add(new(*keys(60)))
    with bench.running({"note": Kind(mark, concurrency=4)}):
        until(lambda: bench.queue.counts() == {("note", "done"): 60}, "all jobs to be done")
    assert marks(bench.ledger) == dict.fromkeys(keys(60), "1")


def test_what_is_added_later_is_begun_when_the_runner_is_woken(bench: Bench) -> None:
    with bench.running({"note": Kind(mark)}) as runner:
        until(lambda: runner.next_due() is None, "the runner to have nothing to do")
        bench.queue.add(new("later"))
        runner.wake()
        bench.in_state("later", "done")


def test_a_job_that_waits_is_run_when_it_is_due(bench: Bench) -> None:
    bench.queue.add([NewJob("note", "soon", delay_seconds=0.3), NewJob("note", "far", delay_seconds=3_600)])
    with bench.running({"note": Kind(mark)}) as runner:
        bench.in_state("soon", "done")
        due = until(lambda: runner.next_due() or None, "the runner to have nothing to do")
    assert 3_500 < due <= 3_600
    assert bench.job("far").state == "waiting" and marks(bench.ledger) == {"soon": "1"}


def test_follow_up_jobs_of_an_effect_are_run_at_once(bench: Bench) -> None:
    def first(task: Task) -> Effect:
        def effect(database: Database) -> None:
            bench_queue.enqueue(database, new("second", kind="after"))

        return effect

    bench_queue = bench.queue
    bench.queue.add(new("first"))
    with bench.running({"note": Kind(first), "after": Kind(mark)}):
        bench.in_state("second", "done")


def test_no_more_calls_run_at_once_than_a_kind_allows(bench: Bench) -> None:
    gate, guard, most, now = threading.Event(), threading.Lock(), [0], [0]

    def wait(task: Task) -> None:
        with guard:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait(30)
        with guard:
            now[0] -= 1

    bench.queue.add(new(*keys(9)))
    with bench.running({"note": Kind(wait, concurrency=3)}) as runner:
        until(lambda: now[0] == 3, "three calls")
        runner.wake()
        assert bench.queue.counts() == {("note", "running"): 3, ("note", "ready"): 6}
        gate.set()
        until(lambda: bench.queue.counts() == {("note", "done"): 9}, "all to be done")
    assert most[0] == 3


def test_one_kind_that_is_busy_does_not_keep_another_from_running(bench: Bench) -> None:
    gate = threading.Event()
    bench.queue.add([*new("slow"), *new("quick", kind="other")])
    with bench.running({"note": Kind(lambda task: _none(gate.wait(30))), "other": Kind(mark)}):
        bench.in_state("quick", "done")
        assert bench.job("slow").state == "running"
        gate.set()


def _none(_: object) -> None:
    return None


def test_a_group_is_handled_in_one_call_and_a_batch_too(bench: Bench) -> None:
    calls: list[list[str]] = []

    def handle(task: Task) -> Effect:
        calls.append([job.key for job in task.jobs])
        return mark(task)

    bench.queue.add([*new("a1", "a2", "a3", group="a"), *new("b1", "b2", group="b"), *new(*keys(5), kind="batched")])
    with bench.running({"note": Kind(handle), "batched": Kind(handle, batch=3)}):
        until(lambda: bench.queue.counts() == {("note", "done"): 5, ("batched", "done"): 5}, "all to be done")
    assert sorted(calls) == [["a1", "a2", "a3"], ["b1", "b2"], keys(5)[:3], keys(5)[3:]]


def test_a_call_that_takes_too_long_fails_and_its_late_result_is_thrown_away(bench: Bench) -> None:
    gate = threading.Event()

    def hang(task: Task) -> Effect:
        gate.wait(60)
        return mark(task)

    bench.queue.add([*new("hangs"), *new("next")])
    kinds = {"note": Kind(lambda task: hang(task) if task.jobs[0].key == "hangs" else mark(task), timeout_seconds=0.3)}
    with bench.running(kinds) as runner:
        failed = bench.in_state("hangs", "waiting")
        assert (failed.error, failed.attempts) == ("took longer than 0.3 s", 1)
        bench.in_state("next", "done")  # the place of the one that hangs is free again
        assert runner.abandoned == 1
        gate.set()
        until(lambda: runner.abandoned == 0, "the late thread to end")
        runner.wake()
        until(lambda: runner.next_due() != 0.0, "the runner to have looked")
    assert (marks(bench.ledger), bench.job("hangs").state) == ({"next": "1"}, "waiting")


def test_leases_are_renewed_for_as_long_as_a_call_takes(bench: Bench) -> None:
    with_lease = "SELECT lease_until FROM jobs WHERE key = 'long'"
    bench.queue.add(new("long"))
    seen: set[int] = set()

    def renewed_often(task: Task) -> Effect:
        with bench.engine.open(bench.clock) as ledger:

            def look() -> bool:
                with ledger.reading() as database:
                    seen.add(int(database.execute(with_lease).fetchone()[0]))
                return len(seen) > 4  # at a third of the lease each: beyond the first one's end

            until(look, "the lease to be renewed")
        return mark(task)

    with bench.running({"note": Kind(renewed_often)}, lease_seconds=0.9):
        done = bench.in_state("long", "done")
    assert (done.attempts, done.crashes, marks(bench.ledger)) == (1, 0, {"long": "1"})


def test_a_handler_whose_job_is_cancelled_sees_it_and_its_result_is_thrown_away(bench: Bench) -> None:
    begun, seen = threading.Event(), threading.Event()

    def patient(task: Task) -> Effect:
        begun.set()
        if task.stopping.wait(30):
            seen.set()
        return mark(task)

    (identifier,) = bench.queue.add(new("unwanted"))
    with bench.running({"note": Kind(patient)}, lease_seconds=0.6) as runner:
        assert begun.wait(30)
        bench.queue.cancel([identifier])
        assert seen.wait(30)
        until(lambda: not runner.busy(), "the call to be over")
    assert (bench.job("unwanted").state, marks(bench.ledger)) == ("cancelled", {})


def test_of_a_batch_that_lost_one_job_the_others_go_back_and_are_run_again(bench: Bench) -> None:
    begun, gate, calls = threading.Event(), threading.Event(), []

    def handle(task: Task) -> Effect:
        calls.append([job.key for job in task.jobs])
        begun.set()
        gate.wait(30)
        return mark(task)

    ids = bench.queue.add(new("a", "b", "c"))
    with bench.running({"note": Kind(handle, batch=3)}):
        assert begun.wait(30)
        bench.queue.cancel(ids[1:2])
        gate.set()
        bench.in_state("c", "done")
    assert calls == [["a", "b", "c"], ["a", "c"]]
    assert [(bench.job(key).state, bench.job(key).attempts, bench.job(key).crashes) for key in "abc"] == [
        ("done", 1, 0), ("cancelled", 1, 0), ("done", 1, 0),
    ]  # fmt: skip
    assert marks(bench.ledger) == {"a": "1", "c": "1"}


FAILURES: dict[str, tuple[BaseException, str, str]] = {
    "retry": (Retry("try again"), "waiting", "try again"),
    "park": (Park("never again"), "parked", "never again"),
    "backoff": (BackOff("too many requests", seconds=60), "waiting", "too many requests"),
    "unforeseen": (ValueError("unforeseen"), "waiting", "ValueError: unforeseen"),
    "ours": (HindbrainError("of ours"), "waiting", "HindbrainError: of ours"),
    "exit": (SystemExit(3), "waiting", "SystemExit: 3"),
    "interrupt": (KeyboardInterrupt(), "waiting", "KeyboardInterrupt"),
    "secret": (ValueError("key AKIA" + "IOSFODNN7EXAMPLE"), "waiting", "ValueError: key [redacted:aws-access-key-id]"),
}


def test_however_a_handler_fails_the_job_says_so_and_the_runner_goes_on(bench: Bench) -> None:
    def handle(task: Task) -> Effect:
        if task.jobs[0].key in FAILURES:
            raise FAILURES[task.jobs[0].key][0]
        return mark(task)

    bench.queue.add(new(*FAILURES, "good"))
    with bench.running({"note": Kind(handle)}):
        bench.in_state("good", "done")
    found = {job.key: (job.state, job.error, job.crashes) for job in bench.queue.listing()}
    assert found == {"good": ("done", "", 0)} | {key: (state, told, 0) for key, (_, state, told) in FAILURES.items()}
    assert marks(bench.ledger) == {"good": "1"}


@pytest.mark.parametrize(
    ("effect", "told"),
    [
        (lambda database: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda database: database.execute("INSERT INTO nowhere VALUES (1)"), "nowhere"),
        ("not an effect", "the handler of note gave back str, not an effect"),
    ],
    ids=["raises", "bad sql", "no effect at all"],
)
def test_an_effect_that_fails_leaves_nothing_behind_and_the_job_says_why(
    bench: Bench, effect: Callable[[Database], None] | str, told: str
) -> None:
    def half(database: Database) -> None:
        marking("half")(database)
        assert callable(effect)
        effect(database)

    bench.queue.add(new("bad"))
    given: object = effect if isinstance(effect, str) else half
    with bench.running({"note": Kind(lambda task: given)}):  # type: ignore[arg-type,return-value]
        bad = bench.in_state("bad", "waiting")
    assert told in bad.error and bad.attempts == 1
    assert marks(bench.ledger) == {}


def test_a_graceful_stop_finishes_what_ends_in_time_and_gives_the_rest_back(bench: Bench) -> None:
    begun, never = threading.Semaphore(0), threading.Event()

    def handle(task: Task) -> Effect:
        begun.release()
        key = task.jobs[0].key
        if key == "deaf":
            never.wait(120)
        task.stopping.wait(120)
        if key == "gives up":
            task.check()
        return mark(task)

    bench.queue.add(new("ends", "gives up", "deaf", "not begun"))
    with bench.running({"note": Kind(handle, concurrency=3)}, grace=1.0):
        for _ in range(3):
            assert begun.acquire(timeout=30)
    found = {key: (bench.job(key).state, bench.job(key).attempts) for key in ("ends", "gives up", "deaf", "not begun")}
    never.set()
    assert found == {"ends": ("done", 1), "gives up": ("ready", 0), "deaf": ("ready", 0), "not begun": ("ready", 0)}
    assert marks(bench.ledger) == {"ends": "1"}


def test_a_suspect_runs_alone_and_the_others_go_on_after_it(bench: Bench) -> None:
    together: dict[str, set[str]] = {}
    guard, running = threading.Lock(), set[str]()

    def handle(task: Task) -> Effect:
        key = task.jobs[0].key
        with guard:
            running.add(key)
            for each in running:
                together.setdefault(each, set()).update(running)
        task.stopping.wait(0.01)
        with guard:
            running.discard(key)
        return mark(task)

    bench.queue.add(new("s1", "s2", "s3"))
    bench.crashed("note", 3)
    bench.queue.add(new(*keys(30)))
    with bench.running({"note": Kind(handle, concurrency=4)}):
        until(lambda: bench.queue.counts() == {("note", "done"): 33}, "all to be done")
    assert {key: together[key] for key in ("s1", "s2", "s3")} == {"s1": {"s1"}, "s2": {"s2"}, "s3": {"s3"}}
    assert max(len(with_it) for with_it in together.values()) > 1
    assert marks(bench.ledger) == dict.fromkeys(["s1", "s2", "s3", *keys(30)], "1")


def test_beside_a_suspect_that_was_found_in_a_quiet_moment_nothing_is_begun(bench: Bench) -> None:
    begun, gate = threading.Event(), threading.Event()

    def handle(task: Task) -> Effect:
        if task.jobs[0].key == "suspect":
            begun.set()
            gate.wait(30)
        return mark(task)

    with bench.running({"note": Kind(handle, concurrency=4)}) as runner:
        until(lambda: runner.next_due() is None, "the runner to have nothing to do")
        bench.queue.add(new("suspect"))
        bench.crashed("note", 1)
        runner.wake()
        assert begun.wait(30)
        bench.queue.add(new("ordinary"))
        runner.wake()
        until(lambda: runner._seen == runner._wakes, "the runner to have looked")
        assert bench.job("ordinary").state == "ready"
        gate.set()
        bench.in_state("ordinary", "done")


def test_run_all_runs_what_is_there_here_and_now(bench: Bench) -> None:
    bench.queue.add([*new(*keys(5)), NewJob("note", "far", delay_seconds=3_600), *new("foreign", kind="unknown")])
    assert bench.runner({"note": Kind(mark, per_minute=600)}).run_all(30)
    assert bench.queue.counts() == {("note", "done"): 5, ("note", "waiting"): 1, ("unknown", "ready"): 1}
    assert bench.runner({"note": Kind(mark)}).run_all(30)  # nothing to do is no failure


def test_run_all_says_when_it_took_too_long_and_gives_back_what_it_held(bench: Bench) -> None:
    gate = threading.Event()
    bench.queue.add(new("slow", "other"))
    assert not bench.runner({"note": Kind(lambda task: _none(gate.wait(60)))}).run_all(0.2)
    gate.set()
    assert bench.queue.counts() == {("note", "ready"): 2}
    assert bench.job("slow").attempts == 0


def test_a_daily_kind_comes_by_itself_and_once_a_day_only(bench: Bench) -> None:
    for _ in range(3):
        with bench.running({"tidy": Kind(mark, daily=True)}) as runner:  # it looks again by itself after 30 s only
            until(lambda: bench.queue.listing(kind="tidy", state="done"), "the job of the day to be done", seconds=20)
            until(lambda: runner.next_due() is None, "the runner to have nothing to do")
    day = str(bench.clock.now_ms() // 86_400_000)
    found = bench.queue.listing(kind="tidy")
    assert found[0].key == day and {job.state for job in found} == {"done"}
    assert len(found) <= 2  # two when midnight passes during this test
    assert marks(bench.ledger)[day] == "1"


def test_with_nothing_to_do_it_sleeps_until_something_is_due(bench: Bench) -> None:
    bench.queue.add([NewJob("note", "later", delay_seconds=20)])
    runner = bench.runner({"note": Kind(mark), "other": Kind(mark, per_minute=1)})
    rests = [runner._turn() for _ in range(4)]
    assert rests[0] == 0.0 or rests[0] > 10  # the first round may have had something to note
    assert all(10 < rest <= 20 for rest in rests[1:]), rests
    runner.run_all(0)


def test_a_bucket_lets_through_what_a_minute_allows_and_saves_up_for_a_second_at_most() -> None:
    slow, quick, free = Bucket(30, 0.0), Bucket(600, 0.0), Bucket(None, 0.0)
    assert (slow.available(0.0, 5), quick.available(0.0, 50), free.available(0.0, 50)) == (1, 10, 50)
    slow.take()
    assert (slow.available(1.9, 5), slow.available(2.0, 5)) == (0, 1)
    slow.take()
    assert slow.wait(3.0) == pytest.approx(1.0)
    assert (slow.available(1_000.0, 5), slow.wait(1_000.0), free.wait(0.0)) == (1, 0.0, 0.0)


@pytest.mark.parametrize("bad", [{"concurrency": 0}, {"batch": 0}, {"timeout_seconds": 0}, {"per_minute": -1}])
def test_a_kind_without_sense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="above 0"):
        Kind(mark, **bad)  # type: ignore[arg-type]
