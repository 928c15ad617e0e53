"""From what was recorded to what is known, with the library, the worker and a ledger that machines share; both engines."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.base.home import Home
from hindbrain.capture.event import session_id
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import NewJob, Retry
from hindbrain.queues.queue import Queue
from hindbrain.reason import telling
from hindbrain.serve import work
from hindbrain.serve.memory import Memory
from hindbrain.serve.work import keep_house, kinds, run_due
from tests.reason.model.model_server import Reply, serving
from tests.serve.installed import Installed, prompt, until
from tests.serve.sharing import Machine, machine, shared_ledger

LAST_YEAR = datetime(2025, 3, 1, tzinfo=UTC)
CHOSEN = "We decided to use MySQL for the orders service."
MOVED = "We moved from MySQL to PostgreSQL for the orders service."
CLOCK = SystemClock()
CHOICES = [f"We decided to use {tool}." for tool in (
    "Redis for the cache", "Kafka for the event stream", "Terraform for the servers", "Grafana for the dashboards",
    "Flyway for the database migrations", "Nginx as the proxy", "Vitest for the frontend", "Keycloak for the logins",
)]  # fmt: skip


def tell(memory: Memory, session: str, *texts: str, days: int = 0, project: str | None = "shop") -> None:
    for number, text in enumerate(texts):
        at = LAST_YEAR + timedelta(days=days, seconds=number)
        memory.record(agent="claude-code", session=session, role="user", text=text, at=at, project=project)


def rows(ledger: Evidence, query: str) -> list[tuple[Any, ...]]:
    with ledger.reading() as database:
        return [tuple(row) for row in database.execute(query).fetchall()]


def own(home: Path, query: str) -> list[tuple[Any, ...]]:
    with Ledger.open(Home(home).ledger, CLOCK) as ledger:
        return rows(ledger, query)


MEMORIES = "SELECT kind, text, superseded_by IS NOT NULL FROM memories WHERE level = 'observation' ORDER BY valid_from"
LIVE = "SELECT kind, state FROM jobs WHERE state IN ('waiting', 'ready', 'running') AND kind IN ('extract', 'reflect', 'digest')"
KNOWN = [
    ("decision", "We decided to use MySQL for the orders service", 1),
    ("decision", "We moved from MySQL to PostgreSQL for the orders service", 0),
]


def plain(found: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Truth as a number, whatever the engine calls it."""
    return [tuple(int(each) if isinstance(each, bool) else each for each in row) for row in found]


def shows_the_current_first(memory: Memory) -> None:
    hits = memory.search("which database does the orders service use?", k=10, project="shop")
    texts = [hit.text for hit in hits]
    assert "PostgreSQL" in texts[0] and not hits[0].superseded, texts
    stale = [hit for hit in hits if hit.text.startswith("We decided to use MySQL")]
    assert stale and all(hit.superseded or hit.note for hit in stale)


def test_what_was_recorded_is_known_after_settling_and_the_amendment_comes_first(tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        tell(memory, "s1", CHOSEN)
        tell(memory, "s2", MOVED, days=30)
        memory.settle()
        shows_the_current_first(memory)
    assert own(tmp_path / "home", MEMORIES) == KNOWN
    assert own(tmp_path / "home", LIVE) == []
    without = "SELECT count(*) FROM memories WHERE id NOT IN (SELECT memory FROM vectors WHERE memory IS NOT NULL)"
    assert own(tmp_path / "home", without) == [(0,)]


def test_the_order_of_telling_and_settling_makes_no_difference(tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        tell(memory, "s2", MOVED, days=30)
        memory.settle()
        tell(memory, "s1", CHOSEN)
        memory.settle()
        memory.settle()
        shows_the_current_first(memory)
    assert own(tmp_path / "home", MEMORIES) == KNOWN


def test_a_session_that_is_under_way_is_read_when_somebody_settles(tmp_path: Path) -> None:
    with Memory(tmp_path / "home") as memory:
        memory.record(agent="claude-code", session="s1", role="user", text=CHOSEN, project="shop")
        memory.settle()
        rule = "Always run make check before you commit."
        memory.record(agent="claude-code", session="s1", role="user", text=rule, project="shop")
        memory.settle()
    assert [kind for kind, _, _ in own(tmp_path / "home", MEMORIES)] == ["decision", "instruction"]


def test_settling_beside_a_worker_waits_for_both(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "Let us begin."))
    installed.settled(1)
    with Memory(installed.home.root) as memory:
        for number in range(5):
            tell(memory, f"s{number + 2}", CHOICES[number], days=number)
        memory.settle()
    assert len(own(installed.home.root, MEMORIES)) == 5
    assert own(installed.home.root, LIVE) == []


def test_a_worker_reads_a_session_when_it_ends(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, CHOSEN))
    installed.fire({"session_id": "s1", "hook_event_name": "SessionEnd", "reason": "other", "cwd": "/nonexistent/project",
                    "transcript_path": "/nonexistent/s1.jsonl"})  # fmt: skip
    found = until(lambda: own(installed.home.root, MEMORIES) if installed.home.ledger.exists() else None, "a memory")
    assert found == [("decision", "We decided to use MySQL for the orders service", 0)]
    digests = "SELECT level FROM memories WHERE level LIKE 'digest%' ORDER BY level"
    assert until(lambda: own(installed.home.root, digests), "a digest") == [("digest_long",), ("digest_short",)]


def test_a_worker_takes_what_is_in_the_inbox(installed: Installed) -> None:
    installed.fire(prompt("s1", 1, "Let us begin."))
    until(lambda: installed.home.inbox.is_dir(), "an inbox")
    (installed.home.inbox / "notes.md").write_text(CHOSEN)
    installed.fire(prompt("s1", 2, "Go on."))
    trust = "SELECT kind, trust, scope FROM memories WHERE level = 'observation'"
    assert until(lambda: own(installed.home.root, trust), "a memory", 60) == [("decision", "human_file", "global")]
    assert (installed.home.inbox / "done" / "notes.md").read_text() == CHOSEN


# Jobs that fail.


def test_a_step_that_fails_is_tried_again_and_settling_does_not_wait_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*given: object) -> None:
        raise Retry("no luck")

    with Memory(tmp_path / "home") as memory:
        tell(memory, "s1", CHOSEN)
        memory.settle_here()
        monkeypatch.setattr(work, "_extract", failing)
        memory.settle()
        assert own(tmp_path / "home", "SELECT kind, state, attempts, error FROM jobs") == [("extract", "waiting", 1, "no luck")]
        assert [hit.text for hit in memory.search("orders service", project="shop")] == [CHOSEN]


def test_an_effect_that_fails_leaves_nothing_and_the_next_try_does_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hindbrain.ledger import reasoned

    home = Home(tmp_path / "home")
    real = reasoned.set_reading

    def failing(*given: Any, **more: Any) -> None:
        raise RuntimeError("cut off after the memories were written")

    with Memory(home.root) as memory:
        tell(memory, "s1", CHOSEN)
        memory.settle_here()
        monkeypatch.setattr(reasoned, "set_reading", failing)
        memory.settle()
        assert own(home.root, "SELECT count(*) FROM memories") == [(0,)]
        monkeypatch.setattr(reasoned, "set_reading", real)
        with Ledger.open(home.ledger, CLOCK) as ledger:
            queue = Queue(ledger, CLOCK)
            (job,) = queue.listing(kind="extract")
            assert (job.state, job.attempts) == ("waiting", 1) and "cut off" in job.error
            queue.cancel([job.id])
            queue.retry([job.id])
        memory.settle()
    assert [text for _, text, _ in own(home.root, MEMORIES)] == ["We decided to use MySQL for the orders service"]


# Sessions from before.


def test_the_daily_job_has_sessions_read_that_nobody_read(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Memory(home.root) as memory:
        tell(memory, "s1", CHOSEN)
        tell(memory, "s2", MOVED, days=30)
        memory.settle_here()
        with Ledger.open(home.ledger, CLOCK) as ledger:
            ledger.run_alone("DELETE FROM jobs")  # as if an older version had taken them in
            Queue(ledger, CLOCK).add([NewJob("housekeeping", "today")])
        memory.settle()
    assert own(home.root, MEMORIES) == KNOWN


def test_sessions_are_read_in_lots_and_the_rest_a_little_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hindbrain.reason import steps

    home = Home(tmp_path / "home")
    monkeypatch.setattr(steps.reread, "__defaults__", (2,))
    with Memory(home.root) as memory:
        for number in range(3):
            tell(memory, f"s{number}", CHOICES[number], days=number)
        memory.settle_here()
        with Ledger.open(home.ledger, CLOCK) as ledger:
            ledger.run_alone("DELETE FROM jobs")
            Queue(ledger, CLOCK).add([NewJob("housekeeping", "today")])
        memory.settle()
        assert len(own(home.root, MEMORIES)) == 2
        assert own(home.root, "SELECT kind, state FROM jobs WHERE kind = 'reread'") == [("reread", "waiting")]
        with Ledger.open(home.ledger, CLOCK) as ledger:
            Queue(ledger, CLOCK).add([NewJob(telling.REREAD, "lot")])
        memory.settle()
    assert len(own(home.root, MEMORIES)) == 3


def test_keeping_house_by_itself_adds_no_jobs(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db", CLOCK) as ledger:
        keep_house(ledger, CLOCK, 14.0)
        assert Queue(ledger, CLOCK).counts() == {}


# A ledger that machines share.


def test_on_a_shared_ledger_jobs_and_memories_are_there_and_nowhere_else(tmp_path: Path, pg_url: str) -> None:
    with machine(tmp_path / "a", pg_url) as one, machine(tmp_path / "b", pg_url) as other:
        with one.memory() as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
        with other.memory() as memory:
            tell(memory, "s2", MOVED, days=30)
            memory.settle()
        with one.memory() as memory:
            memory.settle()
            shows_the_current_first(memory)
            assert memory.answered_by == "shared"
        with shared_ledger(pg_url) as ledger:
            assert plain(rows(ledger, MEMORIES)) == KNOWN
            done = rows(ledger, "SELECT kind, key, state FROM jobs WHERE kind = 'extract' ORDER BY id")
        sessions = [session_id("claude-code", name) for name in ("s1", "s2")]
        assert done == [("extract", each, "done") for each in sessions]
        for each in (one, other):
            assert own(each.home.root, "SELECT count(*) FROM jobs") == [(0,)]
            assert own(each.home.root, "SELECT count(*) FROM memories") == [(0,)]


def test_many_workers_on_one_shared_ledger_read_each_session_once(tmp_path: Path, pg_url: str) -> None:
    with machine(tmp_path / "a", pg_url) as one:
        with one.memory() as memory:
            for number in range(8):
                tell(memory, f"s{number}", CHOICES[number], days=number)
            memory.settle_here()
            memory.share()
        results: list[bool] = []
        threads = [threading.Thread(target=_work, args=(one, results)) for _ in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(60)
        assert results == [True, True, True]
        with shared_ledger(pg_url) as ledger:
            assert len(rows(ledger, MEMORIES)) == 8
            assert rows(ledger, "SELECT count(*) FROM jobs WHERE kind = 'extract' AND state = 'done'") == [(8,)]


def _work(one: Machine, results: list[bool]) -> None:
    results.append(run_due(one.shared.open, CLOCK, 60.0))


# A model.


def modelled(home: Path, url: str, **more: str) -> Any:
    settings = {"MODEL": "openai:small-model", "MODEL_URL": f"{url}/v1", "MODEL_KEY": "sk-loopback", "MODEL_NIGHT": "true"}
    given = {f"HINDBRAIN_{name}": value for name, value in (settings | more).items()}
    return load(str(home), environ={"HOME": "/home/ada", **given})


STATED: dict[str, Any] = {
    "kind": "decision", "text": "The orders service stores its data in MySQL.", "turns": ["t1"], "quote": CHOSEN.rstrip("."),
    "confidence": 0.9, "scope": "project", "why": "", "instead_of": "",
}  # fmt: skip
BY_MODEL = "SELECT text, made_by FROM memories WHERE level = 'observation' ORDER BY valid_from"


def test_with_a_model_its_statements_are_kept_and_who_made_them(tmp_path: Path) -> None:
    with serving([Reply(json.dumps({"statements": [STATED]}))]) as server:
        with Memory(tmp_path / "home", config=modelled(tmp_path / "home", server.url)) as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
            memory.settle()
    assert own(tmp_path / "home", BY_MODEL) == [("The orders service stores its data in MySQL.", "model:openai:small-model/1")]
    ((produced,),) = own(tmp_path / "home", "SELECT produced FROM calls WHERE kind = 'extract' AND reply <> ''")
    assert [(each,) for each in json.loads(produced)] == own(
        tmp_path / "home", "SELECT id FROM memories WHERE level = 'observation'"
    )
    assert [request.text for request in server.requests if CHOSEN in request.text] != []


def test_a_model_that_replaces_rules_replaces_what_they_found_and_doubles_nothing(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with Memory(home.root) as memory:
        tell(memory, "s1", CHOSEN)
        memory.settle()
    assert own(home.root, BY_MODEL) == [("We decided to use MySQL for the orders service", "rules/1")]
    with serving([Reply(json.dumps({"statements": [STATED]}))]) as server:
        config = modelled(home.root, server.url)
        with Ledger.open(home.ledger, CLOCK) as ledger:
            Queue(ledger, CLOCK).add(telling.to_reread([session_id("claude-code", "s1")]))
        assert run_due(lambda: Ledger.open(home.ledger, CLOCK), CLOCK, 60.0, config=config)
    assert own(home.root, BY_MODEL) == [("The orders service stores its data in MySQL.", "model:openai:small-model/1")]


def test_at_the_cap_rules_read_on(tmp_path: Path) -> None:
    with serving() as server:
        config = modelled(tmp_path / "home", server.url, MODEL_DAILY_TOKENS="1")
        with Memory(tmp_path / "home", config=config) as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
        assert server.requests == []
    assert own(tmp_path / "home", BY_MODEL) == [("We decided to use MySQL for the orders service", "rules/1")]


def test_a_model_that_stays_away_is_waited_for_and_in_the_end_rules_read(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    with serving([Reply("", status=500, body=b"down")]) as server:
        with Memory(home.root, config=modelled(home.root, server.url)) as memory:
            tell(memory, "s1", CHOSEN)
            memory.settle()
            assert own(home.root, "SELECT kind, state, attempts FROM jobs WHERE kind = 'extract'") == [("extract", "waiting", 1)]
            with Ledger.open(home.ledger, CLOCK) as ledger:
                ledger.run_alone("UPDATE jobs SET attempts = 4, state = 'ready', run_after_ms = 0 WHERE kind = 'extract'")
            memory.settle()
    assert own(home.root, BY_MODEL) == [("We decided to use MySQL for the orders service", "rules/1")]


def test_without_a_model_nothing_of_one_is_loaded(tmp_path: Path) -> None:
    import subprocess
    import sys

    program = f"""
import sys
from hindbrain.serve.memory import Memory
with Memory.open({str(tmp_path / 'home')!r}) as memory:
    memory.record(agent="a", session="s1", role="user", text={CHOSEN!r}, project="shop")
    memory.settle()
print([name for name in ("pydantic", "pydantic_ai", "httpx", "openai", "anthropic") if name in sys.modules])
"""
    environ = {"PATH": "/usr/bin:/bin", "PYTHONPATH": "src", "HOME": str(tmp_path)}
    ran = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (0, "[]\n"), ran.stderr


def test_every_kind_that_is_told_has_somebody_who_does_it(tmp_path: Path) -> None:
    table = kinds(lambda: Ledger.open(tmp_path / "ledger.db", CLOCK), CLOCK, 14.0)
    told = {telling.EXTRACT, telling.REFLECT, telling.DIGEST, telling.DREAM, telling.REREAD}
    assert told < set(table) and set(telling.FOLLOWING) < told


