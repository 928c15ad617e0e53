"""Several machines on one database: what one says the others find, and what one forgets is gone everywhere."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.engines import known_machine
from tests.recall.forgetting import holding
from tests.serve.sharing import Machine, machine, shared_ledger

SECRET_PLAN = "xyloquintessential"


@pytest.fixture
def laptop(tmp_path: Path, pg_url: str) -> Iterator[Machine]:
    with machine(tmp_path / "laptop", pg_url) as made:
        yield made


@pytest.fixture
def desktop(tmp_path: Path, pg_url: str) -> Iterator[Machine]:
    with machine(tmp_path / "desktop", pg_url) as made:
        yield made


def test_each_machine_finds_what_the_other_was_told(laptop: Machine, desktop: Machine) -> None:
    laptop.tell("the orders service uses PostgreSQL")
    desktop.tell("the billing service uses Redis", session="s2")
    assert known_machine(laptop.home) != known_machine(desktop.home)
    for each in (laptop, desktop):
        assert set(each.found("service uses", "shop")) == {"the orders service uses PostgreSQL", "the billing service uses Redis"}
    (hit,) = desktop.one("search", "orders", "--project", "shop", "--limit", "1")
    assert (hit["text"], hit["ledger"]) == ("the orders service uses PostgreSQL", "shared")
    assert [each["session"] for each in desktop.one("sessions", "--project", "shop")] == ["s2", "s1"]
    assert [each["text"] for each in laptop.one("timeline", "--project", "shop")] == [
        "the orders service uses PostgreSQL", "the billing service uses Redis",
    ]  # fmt: skip
    assert "PostgreSQL" in desktop.cli("show", hit["id"]).stdout
    assert "PostgreSQL" in desktop.cli("context", "which database for the orders service", "--project", "shop").stdout


def test_the_same_session_told_by_two_machines_is_one(laptop: Machine, desktop: Machine) -> None:
    for each in (laptop, desktop):
        with each.memory() as memory:
            memory.record(agent="claude-code", session="s1", role="user", text="moved to another desk", project="shop", key="k")
            memory.settle()
    assert laptop.found("moved") == ["moved to another desk"]


def repository(folder: Path, remote: str) -> Path:
    folder.mkdir(parents=True)
    for command in (["init", "-q"], ["remote", "add", "origin", remote]):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return folder


def test_the_same_folder_on_two_machines_may_be_two_projects(laptop: Machine, desktop: Machine, tmp_path: Path) -> None:
    """The folder changes in between, as only another machine's can."""
    folder = repository(tmp_path / "work" / "app", "https://example.org/one.git")
    laptop.tell("this is the first repository", session="one", project=str(folder))
    folder.rename(tmp_path / "first")
    repository(folder, "https://example.org/two.git")
    desktop.tell("this is the second repository", session="two", project=str(folder))
    with shared_ledger(laptop.url) as ledger, ledger.reading() as connection:
        places = connection.execute("SELECT machine, identity FROM places WHERE cwd = ?", (str(folder),)).fetchall()
        projects = connection.execute("SELECT count(DISTINCT project_id) FROM sessions").fetchone()
    assert dict(places) == {
        known_machine(laptop.home): "git:example.org/one", known_machine(desktop.home): "git:example.org/two",
    }  # fmt: skip
    assert projects == (2,)
    for each, text in ((laptop, "this is the first repository"), (desktop, "this is the second repository")):
        assert [hit["text"] for hit in each.one("search", "repository", "--project", str(folder))] == [text]


def test_what_one_machine_forgets_is_gone_everywhere(laptop: Machine, desktop: Machine) -> None:
    laptop.tell("a harmless remark", f"the {SECRET_PLAN} is for tomorrow", session="plan")
    desktop.tell("what was that about?", session="other")
    assert len(desktop.found(SECRET_PLAN)) > 0
    ran = desktop.cli("forget", "--session", "plan", "--yes")  # a session that only the other machine has
    assert ran.returncode == 0 and "forgotten: 2 turns" in ran.stdout, ran
    assert desktop.found(SECRET_PLAN) == []
    assert holding(laptop.home.root, SECRET_PLAN) != []
    laptop.tell("a new day", session="later")  # the laptop hears of it when it next shares
    assert holding(laptop.home.root, SECRET_PLAN) == []
    with laptop.local() as ledger:
        assert sorted(turn.text for session in ledger.sessions() for turn in ledger.turns_of(session.id)) == ["a new day"]
    with laptop.local() as one, desktop.local() as two, shared_ledger(laptop.url) as third:
        wishes = [wishes_of(one), wishes_of(two), wishes_of(third)]
    assert wishes[0] == wishes[1] == wishes[2] and len(wishes[0]) == 1  # told on once, under the same id
    for each in (laptop, desktop, laptop):
        each.tell("again", session="later")
    with shared_ledger(laptop.url) as shared:
        assert len(wishes_of(shared)) == 1


def wishes_of(ledger: Evidence) -> set[str]:
    with ledger.reading() as connection:
        return {row[0] for row in connection.execute("SELECT id FROM events WHERE kind = 'forget'").fetchall()}


def test_a_memory_of_one_machine_is_corrected_and_pinned_on_another(laptop: Machine, desktop: Machine) -> None:
    made = laptop.one("remember", "staging", "is", "read-only", "--project", "shop")["id"]
    desktop.tell("hello")
    better = desktop.one("correct", made, "staging takes writes")
    assert (better["text"], better["supersedes"], better["ledger"]) == ("staging takes writes", [made], "shared")
    assert laptop.one("pin", better["id"])["pinned"] is True
    assert laptop.one("show", made)["superseded_by"] == better["id"]
    assert "staging takes writes" in laptop.cli("context", "--project", "shop").stdout


def test_tenants_of_one_database_never_meet(tmp_path: Path, pg_url: str) -> None:
    with machine(tmp_path / "a", pg_url, "red") as red, machine(tmp_path / "b", pg_url, "blue") as blue:
        red.tell("the red team uses tabs")
        blue.tell("the blue team uses spaces")
        assert (red.found("team uses"), blue.found("team uses")) == (["the red team uses tabs"], ["the blue team uses spaces"])
        with red.memory() as memory:
            memory.forget(session="s1")
        assert (red.found("team uses"), blue.found("team uses")) == ([], ["the blue team uses spaces"])
        assert blue.one("status")["turns"] == 1
