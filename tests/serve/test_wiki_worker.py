"""The worker keeps a wiki up to date that is there, has its pages introduced by a model, and leaves alone what it should."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import Config, load
from hindbrain.ledger.store import Ledger
from hindbrain.queues.job import NewJob
from hindbrain.queues.queue import Queue
from hindbrain.queues.runner import Runner
from hindbrain.serve.daemon import Worker
from hindbrain.serve.memory import Memory
from hindbrain.serve.work import COMPILE, WIKI, kinds, opener
from hindbrain.wiki.folder import Folder
from tests.reason.model.model_server import ModelServer, Reply, serving
from tests.serve.commands import CommandLine, at
from tests.serve.wiki_home import Person, compiled

REDIS = "concepts/redis.md"


@pytest.fixture
def person(run: CommandLine) -> Person:
    return compiled(run)


def config_of(person: Person, **settings: object) -> Config:
    return load(str(person.run.home.root), settings)


def worked(config: Config) -> list[tuple[str, str]]:
    """Run what is due now; the jobs that compile, and how they stand."""
    clock = SystemClock()
    open_ledger = opener(config, clock)
    table = {COMPILE: kinds(open_ledger, clock, 1.0, config)[COMPILE]}
    assert Runner(open_ledger, table, clock).run_all(60)
    with Ledger.open(config.home / "ledger.db", clock) as ledger:
        return [(job.state, job.error) for job in Queue(ledger, clock).listing(kind=COMPILE)]


def tell(config: Config) -> None:
    with Ledger.open(config.home / "ledger.db", SystemClock()) as ledger:
        Queue(ledger, SystemClock()).add([NewJob(COMPILE, WIKI)])


def test_a_worker_that_would_leave_brings_the_wiki_up_to_date_first(person: Person) -> None:
    person.run.one("remember", "Redis 7 runs in staging")
    Worker(config_of(person, **{"worker.idle_seconds": 0})).run()
    assert person.line(REDIS, "staging") == "- Redis 7 runs in staging"
    before = person.run.one("wiki", "log")
    Worker(config_of(person, **{"worker.idle_seconds": 0})).run()
    assert person.run.one("wiki", "log") == before


def test_a_worker_makes_no_wiki_and_leaves_one_alone_that_it_is_told_to(run: CommandLine, tmp_path: Path) -> None:
    run.one("remember", "Redis 7 runs in staging")
    Worker(load(str(run.home.root), {"worker.idle_seconds": 0})).run()
    assert not run.home.wiki.exists()
    person = compiled(run)
    run.one("remember", "Redis 8 comes in May")
    Worker(config_of(person, **{"worker.idle_seconds": 0, "wiki.enabled": False})).run()
    assert "May" not in person.text(REDIS)


def test_what_was_found_in_a_session_has_the_wiki_compiled_after_the_interval(person: Person) -> None:
    with Memory(person.run.home.root) as memory:
        memory.record(agent="claude-code", session="s", role="user", text="never deploy on Fridays", at=at(20),
                      project=str(person.run.folder))  # fmt: skip
        memory.settle()
    (job,) = person.run.one("jobs", "list", "--kind", COMPILE)
    assert (job["state"], job["key"]) == ("waiting", WIKI)


def test_an_edit_that_a_person_saved_is_taken_in_by_the_workers_job(person: Person) -> None:
    config = config_of(person)
    person.edit(REDIS, lambda text: text.replace("30 minutes", "45 minutes"))
    tell(config)
    assert worked(config) == [("done", "")]
    assert "Redis keys expire after 45 minutes" in person.stands().values()


def test_a_job_that_meets_another_compile_comes_back_later(person: Person) -> None:
    config = config_of(person)
    tell(config)
    with Folder(person.root).locked():
        ((state, error),) = worked(config)
    assert state == "waiting" and "is at work on the wiki" in error


@pytest.fixture
def server(person: Person) -> Iterator[ModelServer]:
    with serving() as found:
        person.run.one("config", "set", "model", "openai:small")
        person.run.one("config", "set", "model_url", found.url)
        person.run.one("config", "set", "model_key", "k")
        person.run.one("config", "set", "model_night", "true")
        yield found


def introduced(*sentences: tuple[str, list[str]]) -> Reply:
    said = json.dumps({"sentences": [{"text": text, "cites": cites} for text, cites in sentences]})
    return Reply(said, tokens=(900, 60))


def introductions(server: ModelServer) -> int:
    """How often it was asked for one; what a person keeps is also compared with what stands."""
    return sum("sentences" in json.dumps(request.body["response_format"]) for request in server.requests)


def test_with_a_model_pages_are_introduced_once_and_by_nobody_but_the_worker(person: Person, server: ModelServer) -> None:
    server.replies = [introduced(("Sessions are kept in Redis.", ["s1"]))]
    person.run.one("remember", "Redis 7 runs in staging")
    assert person.run("wiki", "compile").code == 0 and introductions(server) == 0
    config = config_of(person)
    tell(config)
    assert worked(config) == [("done", "")]
    asked = introductions(server)
    assert asked == 2 and "Sessions are kept in Redis. ([[#^m-" in person.text(REDIS) and person.errors() == []
    assert person.run.one("status")["reasoning"]["model"]["by_kind"]["compile"]["tokens"] == 2 * 960
    tell(config)
    assert worked(config)[0] == ("done", "") and introductions(server) == asked
    done = person.run.one("wiki", "compile")
    assert (done["written"], done["edits"]) == ([], [])


def test_a_persons_edit_on_an_introduced_page_is_that_edit_alone(person: Person, server: ModelServer) -> None:
    server.replies = [introduced(("Keys expire.", ["s1"]), ("Sessions are kept there.", ["s2"]))]
    config = config_of(person)
    tell(config)
    assert worked(config) == [("done", "")] and "Keys expire. (" in person.text(REDIS)
    person.edit(REDIS, lambda text: text.replace("- Redis keys expire after 30", "- Redis keys expire after 45"))
    done = person.run.one("wiki", "compile")
    assert [each["op"] for each in done["edits"]] == ["edit"]
    text = person.text(REDIS)
    assert "Keys expire. (" not in text and "Sessions are kept there. (" in text and "## Notes" not in text


@pytest.mark.parametrize(
    "reply", [Reply("sorry"), introduced(("Redis 99 it is.", ["s1"])), Reply(body=b"no", status=401), introduced(("x", []))]
)
def test_a_model_of_no_use_costs_its_sentences_and_nothing_else(person: Person, server: ModelServer, reply: Reply) -> None:
    server.replies = [reply]
    person.run.one("remember", "Redis 7 runs in staging")
    config = config_of(person)
    tell(config)
    assert worked(config) == [("done", "")]
    assert person.line(REDIS, "staging") == "- Redis 7 runs in staging" and "([[#" not in person.text(REDIS)
