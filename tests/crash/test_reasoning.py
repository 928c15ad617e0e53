"""Jobs of reasoning killed at any of their system calls: nothing half done, nothing doubled, nothing paid for twice.

The program under test does one job of one kind with a worker's own code. Killed and looked at, the ledger is as it was before the
job or as it is after it, job and all; done again, it is as if nothing had happened.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event, session_id, stable_id
from hindbrain.capture.record import Recorder
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Runner
from hindbrain.reason import telling
from hindbrain.serve.drain import Drain
from hindbrain.serve.work import kinds
from tests.crash.strace import Fault, calls, first_numbers, run_plain, run_with, sweep
from tests.ledger.making import place_event
from tests.reason.model.model_server import ModelServer, Reply, serving

pytestmark = [pytest.mark.strace, pytest.mark.slow]

KINDS = ("extract", "reflect", "digest", "dream")
WRITING = ("write", "pwrite64", "fdatasync", "ftruncate")
ENVIRON = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "src:.", "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
LONG_AGO = 1_750_000_000_000
PROJECT = stable_id("p", "git:host/shop")
TALK = {
    "s1": ["We decided to use MySQL for the orders service.", "I prefer short commit messages without a prefix."],
    "s2": ["We moved from MySQL to PostgreSQL for the orders service.", "Always run make check before you commit."],
    "s3": ["Always run make check before you commit.", "The API listens on port 8085."],
}
# What a ledger says, without when it was written.
CONTENT = {
    "memories": """SELECT id, level, kind, text, confidence, trust, scope, project_id, valid_to IS NULL, superseded_by, pinned,
                          detail, held, made_by, session_id, reflected FROM memories ORDER BY id""",
    "links": "SELECT memory_id, number, role, turn_id, target_memory_id FROM links ORDER BY memory_id, number",
    "readings": """SELECT session_id, read_to, made_by, at > 0, digested_at > 0, digested_memories, digested_tokens FROM readings
                   ORDER BY session_id""",
    "changes": "SELECT memory_id, before = '' FROM changes ORDER BY id",
    "index": "SELECT id, text FROM memories_fts ORDER BY id",
    "meta": "SELECT key, key LIKE 'last %' OR value FROM meta WHERE key <> 'archives replayed' ORDER BY key",
    # what waits may have become ready meanwhile
    "jobs": """SELECT kind, key, CASE state WHEN 'waiting' THEN 'ready' ELSE state END, forced FROM jobs
               WHERE state <> 'cancelled' ORDER BY kind, key, state""",
}


def content(path: Path) -> dict[str, list[Any]]:
    connection = sqlite3.connect(path)
    try:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        pages = {row[0] for row in connection.execute("SELECT id FROM memories WHERE detail LIKE '%\"page\"%'").fetchall()}
        said = {name: connection.execute(query).fetchall() for name, query in CONTENT.items()}
        # a page has the time in its id
        return {name: sorted([tuple("a page" if each in pages else each for each in row) for row in rows], key=repr)
                for name, rows in said.items()}  # fmt: skip
    finally:
        connection.close()


def without_jobs(said: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {name: rows for name, rows in said.items() if name != "jobs"}


def started(kind: str, jobs: list[Any]) -> bool:
    """Whether a job of this kind is still to be done, or under way."""
    return any(each[0] == kind and each[2] in ("ready", "running", "waiting") for each in jobs)


def store(home: Home) -> None:
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        drain = Drain(home, ledger, SystemClock(), [], follows=False)
        drain.run()
        drain.close()


def run_kind(home: Home, kind: str) -> None:
    """Do what there is of one kind, as a later worker does, here and now: whoever was at it is dead."""
    clock = SystemClock()

    def open_ledger() -> Ledger:
        return Ledger.open(home.ledger, clock)

    with open_ledger() as ledger:
        queue = Queue(ledger, clock)
        queue.release_all()
        waiting = queue.listing(kind=kind, state="waiting")
        queue.add([NewJob(kind, job.key, {telling.AT_ONCE: True}, group=job.group, forced=job.forced) for job in waiting])
    assert Runner(open_ledger, {kind: kinds(open_ledger, clock, 14.0)[kind]}, clock).run_all(60.0)


def prepare(home: Home, kind: str) -> None:
    """Leave one job of a kind, the one that has most to do, and have it be ready."""
    with Ledger.open(home.ledger, SystemClock()) as ledger:
        queue = Queue(ledger, SystemClock())
        jobs = [job for job in queue.listing(kind=kind) if job.state in ("waiting", "ready")]
        (chosen,) = [job for job in jobs if job.key in (telling.DEEP, PROJECT, session_id("claude-code", "s2"))]
        if len(jobs) > 1:
            queue.cancel([job.id for job in jobs if job is not chosen])
        queue.add([NewJob(kind, chosen.key, {telling.AT_ONCE: True}, group=chosen.group, forced=chosen.forced)])


def events() -> list[Event]:
    told = [place_event("/shop", "git:host/shop", 1)]
    for hour, (session, texts) in enumerate(TALK.items()):
        at = LONG_AGO + 3_600_000 * hour
        told += [
            Event(kind="turn", agent="claude-code", session=session, at=at + number, key=f"k{number}", origin="api", role="user",
                  text=text, cwd="/shop")
            for number, text in enumerate(texts)
        ]  # fmt: skip
        told.append(Event(kind="session_end", agent="claude-code", session=session, at=at + 99, key="end", origin="api"))
    return told


@dataclass(frozen=True)
class Stage:
    """A home in which jobs of one kind are ready, and what its ledger says before and after they are done."""

    home: Home
    before: dict[str, list[Any]]
    after: dict[str, list[Any]]


@pytest.fixture(scope="module")
def stages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Stage]:
    folder = tmp_path_factory.mktemp("stages")
    home = Home(folder / "home")
    recorder = Recorder(home.root)
    recorder.record(events(), LONG_AGO)
    recorder.close()
    store(home)
    found = {}
    for kind in KINDS:
        ready, after = Home(folder / kind), Home(folder / f"{kind} done")
        shutil.copytree(home.root, ready.root)
        prepare(ready, kind)
        shutil.copytree(ready.root, after.root)
        run_kind(after, kind)
        found[kind] = Stage(ready, content(ready.ledger), content(after.ledger))
        assert without_jobs(found[kind].before) != without_jobs(found[kind].after), kind
        run_kind(home, kind)
    return found


def argv(home: Home, kind: str, mode: str = "sound") -> list[str]:
    return [sys.executable, "-m", "tests.crash.reasoning", str(home.root), kind, mode]


def judged(home: Home, kind: str, stage: Stage, what: str) -> None:
    """After a death: all of it or nothing, and then all of it."""
    said = content(home.ledger)
    whole = without_jobs(said) == without_jobs(stage.after)
    assert whole or without_jobs(said) == without_jobs(stage.before), what
    assert started(kind, said["jobs"]) != whole, f"{what}: the job and its effect do not agree"
    run_kind(home, kind)
    assert content(home.ledger) == stage.after, what


def killed_at(stage: Stage, folder: Path, kind: str, call: str, mode: str = "sound") -> int:
    dry = Home(folder / "dry")
    shutil.copytree(stage.home.root, dry.root)
    first = first_numbers(calls(argv(dry, kind, mode), b"", ENVIRON, folder / "log"), lambda line: "ledger.db" in line)
    if call not in first:
        pytest.skip(f"it makes no {call} call here")

    def faulted(fault: Fault) -> bool:
        home = Home(folder / f"{fault.call}-{fault.number}")
        shutil.copytree(stage.home.root, home.root)
        ran = run_with(fault, argv(home, kind, mode), b"", ENVIRON, folder / "log")
        if ran.injected:
            judged(home, kind, stage, str(fault))
        else:
            assert ran.stdout.startswith(b"done"), ran
        shutil.rmtree(home.root)
        return ran.injected

    return sweep(call, "signal=KILL", first[call], faulted, limit=600)


@pytest.mark.parametrize("call", WRITING)
@pytest.mark.parametrize("kind", KINDS)
def test_a_job_killed_at_any_call_leaves_nothing_half_done_and_done_again_nothing_doubled(
    stages: dict[str, Stage], tmp_path: Path, kind: str, call: str
) -> None:
    assert killed_at(stages[kind], tmp_path, kind, call) >= 1


@pytest.mark.parametrize("kind", ["extract", "reflect"])
def test_the_check_notices_an_effect_that_is_written_apart_from_the_jobs_end(
    stages: dict[str, Stage], tmp_path: Path, kind: str
) -> None:
    with pytest.raises(AssertionError, match="do not agree"):
        killed_at(stages[kind], tmp_path, kind, "fdatasync" if sys.platform == "linux" else "fsync", "apart")


# With a model: a reply that was kept is not paid for again.


def asked(home: Home) -> tuple[int, int]:
    """Replies that are kept, in the ledger or in the journal, from which the next worker takes them in; and calls that count."""
    store(home)
    with closing(sqlite3.connect(home.ledger)) as connection, connection:
        (count,) = connection.execute("SELECT count(*) FROM calls WHERE reply <> ''").fetchone()
        (counted,) = connection.execute("SELECT count(*) FROM calls WHERE input_tokens > 0 AND output_tokens > 0").fetchone()
    connection.close()
    return int(count), int(counted)


REPLY = Reply(json.dumps({"statements": [{
    "kind": "decision", "text": "The orders service uses MySQL.", "turns": ["t1"], "confidence": 0.9, "scope": "project",
    "quote": "We decided to use MySQL for the orders service.", "why": "", "instead_of": "",
}]}))  # fmt: skip


def paying(server: ModelServer) -> dict[str, str]:
    return ENVIRON | {
        "HINDBRAIN_MODEL": "openai:small-model", "HINDBRAIN_MODEL_URL": f"{server.url}/v1", "HINDBRAIN_MODEL_NIGHT": "true",
        "HINDBRAIN_MODEL_KEY": "sk-loopback", "HOME": "/nonexistent",
    }  # fmt: skip


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with one session that is to be read."""
    home = Home(tmp_path_factory.mktemp("alone") / "home")
    recorder = Recorder(home.root)
    recorder.record([each for each in events() if each.session in ("", "s1")], LONG_AGO)
    recorder.close()
    store(home)
    return home


# which page of a transaction was being written makes no difference here, and every run loads a client
@pytest.mark.parametrize("call", ["write", "fdatasync"])
def test_a_reply_that_was_kept_is_not_paid_for_again(alone: Home, tmp_path: Path, call: str) -> None:
    with serving([REPLY]) as server:
        environ = paying(server)
        dry = Home(tmp_path / "dry")
        shutil.copytree(alone.root, dry.root)
        lines = calls(argv(dry, "extract"), b"", environ, tmp_path / "log")
        first = first_numbers(lines, lambda line: "connect(" in line and "127.0.0.1" in line)
        assert len(server.requests) == 1
        if call not in first:
            pytest.skip(f"it makes no {call} call here")
        faults = sweep(call, "signal=KILL", first[call], _dying(alone, tmp_path, server, environ), limit=400)
    assert faults >= 1


def _dying(alone: Home, folder: Path, server: ModelServer, environ: dict[str, str]) -> Callable[[Fault], bool]:
    def faulted(fault: Fault) -> bool:
        home = Home(folder / f"{fault.call}-{fault.number}")
        shutil.copytree(alone.root, home.root)
        before = len(server.requests)
        ran = run_with(fault, argv(home, "extract"), b"", environ, folder / "log")
        if ran.injected:
            paid, (kept, counted) = len(server.requests) - before, asked(home)
            assert kept <= paid <= counted <= 1, fault
            with Ledger.open(home.ledger, SystemClock()) as ledger:
                Queue(ledger, SystemClock()).release_all()
            again = run_plain(argv(home, "extract"), b"", environ)
            assert again.stdout.startswith(b"done"), (fault, again)
            done = any(row[2] == "done" for row in content(home.ledger)["jobs"] if row[0] == "extract")
            assert done and len(server.requests) - before <= paid + (1 - kept), f"{fault}: paid twice"
            said = [(row[3], row[13]) for row in content(home.ledger)["memories"]]
            assert said == [("The orders service uses MySQL.", "model:openai:small-model/1")], fault
        shutil.rmtree(home.root)
        return ran.injected

    return faulted


def test_the_check_notices_a_reply_that_is_not_kept(alone: Home, tmp_path: Path) -> None:
    """Without its note a second run pays again: the counting above would see it."""
    with serving([REPLY]) as server:
        home = Home(tmp_path / "home")
        shutil.copytree(alone.root, home.root)
        assert run_plain(argv(home, "extract"), b"", paying(server)).stdout == b"done 1\n"
        with closing(sqlite3.connect(home.ledger)) as changed, changed:
            changed.execute("DELETE FROM calls")
            changed.execute("UPDATE jobs SET state = 'ready', live = 1, attempts = 0 WHERE kind = 'extract'")
        changed.close()
        assert run_plain(argv(home, "extract"), b"", paying(server)).stdout == b"done 1\n"
        assert len(server.requests) == 2


