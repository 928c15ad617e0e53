"""A wiki of a ledger that machines share: made of what all of them know, edited on one, and never emptied by an outage."""

from __future__ import annotations

import pytest

from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load
from hindbrain.ledger.store import Ledger
from hindbrain.queues.queue import Queue
from hindbrain.serve.daemon import Worker
from hindbrain.serve.work import COMPILE, opener
from tests.serve.commands import CommandLine
from tests.serve.reasoned_home import fill
from tests.serve.wiki_home import Person

SHOP = "projects/shop.md"


@pytest.fixture
def person(run: CommandLine, pg_url: str) -> Person:
    """What was found in sessions is in the shared ledger alone."""
    found = fill(run.home, str(run.folder), pg_url)
    run.one("config", "set", "database", pg_url)
    assert run("wiki", "compile").code == 0
    return Person(run, found.memories)


def test_pages_are_made_of_the_shared_ledger_and_an_edit_gets_there(person: Person, pg_url: str) -> None:
    assert person.line(SHOP, "MySQL is used").startswith("- MySQL is used for orders")
    person.edit(SHOP, lambda text: text.replace("MySQL is used for orders", "MySQL 8 is used for orders"))
    assert [each["op"] for each in person.run.one("wiki", "compile")["edits"]] == ["edit"]
    with opener(load(str(person.run.home.root)), SystemClock())() as ledger, ledger.reading() as database:
        rows = database.execute("SELECT trust FROM memories WHERE text = 'MySQL 8 is used for orders'").fetchall()
    assert [tuple(row) for row in rows] == [("human_file",)]
    assert person.run("wiki", "compile").code == 0  # what the edit was compared with meanwhile gets in
    assert person.run.one("wiki", "compile")["written"] == [] and person.errors() == []


def test_while_the_shared_ledger_is_away_no_page_is_touched(person: Person) -> None:
    before = {path: path.read_bytes() for path in person.root.rglob("*.md")}
    person.run.one("config", "set", "database", "postgresql://127.0.0.1:1/nothing")
    ran = person.run("wiki", "compile")
    assert ran.code == 5 and {path: path.read_bytes() for path in person.root.rglob("*.md")} == before


def test_the_job_lies_in_the_homes_own_ledger_where_no_other_machine_finds_it(person: Person, pg_url: str) -> None:
    person.run.one("remember", "Redis 7 runs in staging")
    config = load(str(person.run.home.root), {"worker.idle_seconds": 0})
    Worker(config).run()
    assert "Redis 7 runs in staging" in person.text(SHOP)
    with Ledger.open(person.run.home.ledger, SystemClock()) as own, opener(config, SystemClock())() as shared:
        assert [job.state for job in Queue(own, SystemClock()).listing(kind=COMPILE)] == ["done"]
        assert Queue(shared, SystemClock()).listing(kind=COMPILE) == []
