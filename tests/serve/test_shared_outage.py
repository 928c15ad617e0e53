"""A database that goes away and comes back: nothing is lost, nothing waits for it, and nobody has to do anything."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.base.files import lock_holder
from hindbrain.serve import shared_state
from hindbrain.serve.memory import NotSettled
from hindbrain.serve.sharer import trouble
from tests.postgres import Cluster
from tests.serve.installed import Installed, prompt, until
from tests.serve.sharing import Machine, alike, machine, shared_ledger, there

pytestmark = pytest.mark.slow
NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    """A server of our own, because it is stopped."""
    with Cluster() as started:
        yield started


@pytest.fixture
def laptop(tmp_path: Path, server: Cluster) -> Iterator[Machine]:
    url = server.create(f"outage{next(NUMBERS)}")
    with machine(tmp_path, url) as made:
        yield made
    server.stop("fast")
    server.start()  # also after a test that left it stopped


def shared_turns(laptop: Machine) -> int:
    with shared_ledger(laptop.url) as ledger:
        return ledger.counts().turns


def until_shared(laptop: Machine, turns: int) -> None:
    until(lambda: shared_turns(laptop) == turns or None, f"{turns} turns in the shared ledger", seconds=90)


def asked(hook: Installed, text: str) -> str:
    """What an agent is told at a prompt of a new session."""
    call = prompt("asking", 1, text, cwd="/nonexistent/project")
    argv = [*hook.hook, "claude-code", "UserPromptSubmit"]
    environ = dict(hook.environ)
    ran = subprocess.run(argv, input=json.dumps(call).encode(), capture_output=True, env=environ, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, b"")
    return ran.stdout.decode()


def test_an_outage_loses_nothing_and_stops_nobody(laptop: Machine, server: Cluster) -> None:
    hook = laptop.installed()
    for number in range(3):
        hook.fire(prompt("s1", number, f"before the outage: statement {number}"))
    hook.settled(3)
    until_shared(laptop, 3)
    worker = lock_holder(laptop.home.worker_lock)
    server.stop("immediate")
    for number in range(3, 6):
        hook.fire(prompt("s1", number, f"during the outage: statement {number}"))
    hook.settled(6)
    until(lambda: "nothing is shared for now" in laptop.log() or None, "the worker to notice")

    # recall answers from this machine's own ledger and says so
    search = laptop.cli("search", "outage", "--all-projects", "--json")
    assert search.returncode == 0
    found = json.loads(search.stdout)
    assert {hit["ledger"] for hit in found} == {"local"} and len(found) == 6
    assert search.stderr.count("\n") == 1
    assert search.stderr.startswith("warning: the shared ledger does not answer: ")
    assert search.stderr.rstrip().endswith("these are this machine's own memories")
    assert "during the outage: statement 4" in asked(hook, "what about statement 4 during the outage")
    with laptop.memory() as memory:
        assert len(memory.search("outage")) == 6 and memory.answered_by == "local"
    told = laptop.one("status")["shared"]
    assert (told["answers"], told["complete"], told["lag"]["lines"] >= 3) == (False, True, True)
    assert told["last_error"] and told["hint"]
    remembered = laptop.cli("remember", "written", "down", "meanwhile", "--global")
    assert remembered.returncode == 0 and "the shared ledger gets it when it answers" in remembered.stderr

    server.start()
    until_shared(laptop, 8)  # the prompt that was asked about and the memory's evidence are two more
    hook.settled(10)
    assert lock_holder(laptop.home.worker_lock) == worker  # it was the same one all the time
    until(lambda: laptop.own() == there(laptop.url) or None, "both ledgers to say the same")
    log = laptop.log()
    assert log.count("nothing is shared for now") == log.count("has everything of this home") - 1 == 1, log
    assert "Traceback" not in log
    assert laptop.one("status")["shared"]["lag"]["lines"] == 0


def test_a_worker_killed_while_the_database_is_away_leaves_the_rest_to_the_next(laptop: Machine, server: Cluster) -> None:
    hook = laptop.installed()
    hook.fire(prompt("s1", 1, "first"))
    until_shared(laptop, 1)
    server.stop("immediate")
    hook.fire(prompt("s1", 2, "second"))
    hook.settled(2)
    pid = lock_holder(laptop.home.worker_lock)
    assert pid
    os.kill(pid, signal.SIGKILL)
    until(lambda: lock_holder(laptop.home.worker_lock) is None, "the lock to be free")
    server.start()
    assert hook.cli("daemon", "start").returncode == 0
    until_shared(laptop, 2)
    assert laptop.own() == there(laptop.url)


def test_a_server_that_is_restarted_again_and_again_gets_everything_once(laptop: Machine, server: Cluster) -> None:
    hook = laptop.installed()
    for number in range(12):
        hook.fire(prompt("s1", number, f"statement number {number}"))
        if number % 4 == 3:
            server.restart("immediate")
    hook.settled(12)
    until_shared(laptop, 12)
    assert laptop.own() == there(laptop.url)


def test_what_is_forgotten_during_an_outage_is_forgotten_there_afterwards(laptop: Machine, server: Cluster) -> None:
    laptop.tell("the plan for tomorrow", "a harmless remark")
    server.stop("fast")
    ran = laptop.cli("forget", "--session", "s1", "--yes", "--json")
    assert ran.returncode == 0 and "the shared ledger forgets it when it answers again" in ran.stderr, ran
    assert json.loads(ran.stdout)["forgotten"]["waiting"]
    server.start()
    with shared_ledger(laptop.url) as ledger:
        assert ledger.counts().turns == 2
    laptop.tell("a new day", session="s2")
    with shared_ledger(laptop.url) as ledger, laptop.local() as local:
        assert alike(ledger) == alike(local)
        assert [hit.text for hit in ledger.search("plan remark day")] == ["a new day"]


def test_settling_says_that_the_database_is_away(laptop: Machine, server: Cluster) -> None:
    laptop.tell("hello")
    server.stop("fast")
    with laptop.memory() as memory:
        made = memory.record(agent="claude-code", session="s1", role="user", text="kept all the same")
        with pytest.raises(NotSettled, match="the shared ledger has not got everything: "):
            memory.settle(timeout=0.5)
        assert memory.search("kept")[0].id == made
        assert memory.answered_by == "local"


def test_the_hook_loads_no_driver_and_opens_no_connection(laptop: Machine) -> None:
    """Whatever the database does, an agent's call is not in its way."""
    hook = laptop.installed()
    python, *rest = hook.hook
    argv = [python, "-X", "importtime", *rest, "claude-code", "SessionStart"]
    call = prompt("s1", 1, "hello") | {"hook_event_name": "SessionStart", "source": "startup"}
    data = json.dumps(call).encode()
    ran = subprocess.run(argv, input=data, capture_output=True, env=dict(hook.environ), timeout=60, check=False)
    loaded = {line.rpartition("|")[2].strip() for line in ran.stderr.decode().splitlines() if line.startswith("import time:")}
    assert "posix" in loaded and "hindbrain.capture.hook" in loaded  # the list is one
    assert [name for name in loaded if name.startswith(("psycopg", "hindbrain.ledger", "hindbrain.serve.engines"))] == []


@pytest.mark.strace
def test_the_hook_opens_no_socket_but_the_one_in_its_home(laptop: Machine, tmp_path: Path) -> None:
    hook = laptop.installed()
    hook.fire(prompt("s1", 1, "hello"))  # starts the worker, which is not the one looked at
    until_shared(laptop, 1)
    trace = tmp_path / "trace"
    argv = ["strace", "-o", str(trace), "-e", "trace=socket,connect", *hook.hook, "claude-code", "UserPromptSubmit"]
    call = json.dumps(prompt("s1", 2, "hello again")).encode()
    subprocess.run(argv, input=call, capture_output=True, env=dict(hook.environ), timeout=60, check=True)
    text = trace.read_text()
    assert "AF_UNIX" in text and "AF_INET" not in text


def test_an_agent_is_told_of_an_outage_only_when_it_lasts() -> None:
    clock = ManualClock()
    failed = shared_state.State("db", behind_ms=clock.now_ms(), error="connection refused")
    assert trouble(failed, clock.now_ms() + 3_599_000) == ""
    assert trouble(shared_state.State("db"), clock.now_ms() + 10**10) == ""
    said = trouble(failed, clock.now_ms() + 2 * 3_600_000)
    assert said.startswith("Hindbrain could share nothing with other machines for 2 hours (connection refused); tell the user")
