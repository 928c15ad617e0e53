"""A real model, small enough for a wheel, does every kind of job: what it says is mostly of no use, and nothing breaks.

Its replies are cut, in the wrong shape, about other things, and now and then right: what a made-up server never thinks of. So
nothing is asked of what it says; only that every job ends, that what is kept holds, and that nothing is paid for twice.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.capture.record import Recorder
from hindbrain.ledger.database import Database
from hindbrain.ledger.store import Ledger

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

ROOT = Path(__file__).resolve().parents[2]
NAME = "openai:smollm2-135m"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)
SESSIONS = (
    (("user", "Let's use Postgres for the orders service, because we need jsonb."),
     ("assistant", "I set up Postgres in docker-compose.yml."),
     ("user", "Always run make lint before you commit."),
     ("user", "I prefer small pull requests. And never push to main.")),
    (("user", "We moved the orders service from Postgres to MySQL, the hosting has no Postgres."),
     ("assistant", "I changed the driver. The error came from the old dialect; setting dialect=mysql fixed it."),
     ("user", "Remind me to drop the old volume on Friday.")),
)  # fmt: skip


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    fetched = subprocess.run([ROOT / "scripts" / "small-model"], capture_output=True, text=True, check=False,
                             env={**os.environ, "PYTHON": sys.executable})  # fmt: skip
    if fetched.returncode:
        missing = f"not run: {fetched.stderr.strip().splitlines()[-1]}"
        pytest.fail(missing, pytrace=False) if os.environ.get("TEST_REQUIRE_TOOLS") else pytest.skip(missing)
    with subprocess.Popen(
        [sys.executable, ROOT / "tests" / "reason" / "small_model_server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True, env={**os.environ, "PYTHONPATH": fetched.stdout.strip()},
    ) as server:  # fmt: skip
        assert server.stdout is not None and server.stdin is not None
        address = server.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), "the small model did not start"
        yield address
        server.stdin.close()


@pytest.fixture(scope="module")
def home(endpoint: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small") / "home"
    folder.mkdir(mode=0o700)
    settings = {"model": NAME, "model_url": endpoint, "model_timeout": 900, "model_night": True,
                "model_price_input": 0, "model_price_output": 0}  # fmt: skip
    (folder / "config.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    (folder / "config.toml").chmod(0o600)
    return folder


def read(home: Path, query: str) -> list[tuple[object, ...]]:
    with Ledger.open(Home(home).ledger, SystemClock()) as ledger, ledger.reading() as database:
        return [tuple(row) for row in _rows(database, query)]


def _rows(database: Database, query: str) -> list[tuple[object, ...]]:
    return list(database.execute(query).fetchall())


def end(home: Path, session: str, at: datetime) -> None:
    """What an agent's hook writes; a session that ended is told in short, however short it was."""
    moment, recorder = round(at.timestamp() * 1000), Recorder(home)
    try:
        event = Event(kind="session_end", agent="test", session=session, at=moment, key="end", origin="hook", cwd="project:shop")
        recorder.record([event], moment)
    finally:
        recorder.close()


def test_every_kind_of_job_ends_and_leaves_only_what_holds(home: Path) -> None:
    with Memory.open(home=home) as memory:
        for number, said in enumerate(SESSIONS):
            for place, (role, text) in enumerate(said):
                at = START + timedelta(days=7 * number, minutes=place)
                memory.record(agent="test", session=f"s{number}", role=role, text=text, at=at, project="shop")
            end(home, f"s{number}", START + timedelta(days=7 * number, hours=1))
        memory.settle(timeout=1500)
        answer = memory.ask("Which database does the orders service use?", project="shop")
        assert answer.text
    for wanted in (["--project", "shop"], ["--deep"]):
        dreamt = subprocess.run([sys.executable, "-m", "hindbrain", "dream", *wanted, "--json"], capture_output=True, text=True,
                                check=False, env={**os.environ, "HINDBRAIN_HOME": str(home)})  # fmt: skip
        assert dreamt.returncode == 0, dreamt.stderr

    jobs = read(home, "SELECT kind, state, error FROM jobs ORDER BY kind")
    assert {state for kind, state, _ in jobs if kind != "dream"} == {"done"}, jobs
    assert {"extract", "reflect", "digest", "dream"} <= {kind for kind, state, _ in jobs if state == "done"}
    assert not [job for job in jobs if job[1] == "parked"]
    calls = read(home, "SELECT kind, provider, model, input_tokens > 0 FROM calls WHERE reply = ''")
    assert {"extract", "digest", "ask"} <= {kind for kind, *_ in calls}
    assert {call[1:] for call in calls} == {("openai", "smollm2-135m", 1)}

    assert {str(row[0]) for row in read(home, "SELECT made_by FROM memories")} <= {"rules/1", f"model:{NAME}/1"}
    digests = read(home, "SELECT level FROM memories WHERE level LIKE 'digest%' AND session_id IS NOT NULL ORDER BY level")
    assert digests == [("digest_long",), ("digest_long",), ("digest_short",), ("digest_short",)]
    assert read(home, "SELECT id FROM memories WHERE id NOT IN (SELECT memory_id FROM links)") == []
    quotes = read(home, """
        SELECT json_extract(memories.detail, '$.quote'), turns.text FROM memories
        JOIN links ON links.memory_id = memories.id AND links.number = 0 JOIN turns ON turns.id = links.turn_id
        WHERE memories.level = 'observation'
    """)
    assert quotes and all(str(quote) in str(text) for quote, text in quotes)


def test_what_was_asked_once_is_not_asked_again(home: Path, endpoint: str) -> None:
    question = "Which database does the orders service use?"
    with Memory.open(home=home) as memory:
        before = asked(endpoint)
        memory.settle(timeout=1500)
        assert asked(endpoint) == before > 0
        memory.ask(question, project="shop")  # dreams may have changed what there is to go by
        before = asked(endpoint)
        memory.ask(question, project="shop")
        assert asked(endpoint) == before


def asked(endpoint: str) -> int:
    """How many questions the server was asked so far."""
    with urllib.request.urlopen(endpoint, timeout=600) as reply:
        return int(reply.read())
