"""What a search leaves out is said, with the reason and the number."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.recall.left_out import left_out
from hindbrain.recall.rank import FOREVER, Scope
from tests.recall.homes import START, Said, tell


def ms(minute: int) -> int:
    return int((START + timedelta(minutes=minute)).timestamp() * 1000)


@pytest.fixture
def told(memory: Memory, home: Path) -> Ledger:
    tell(memory, [
        *(Said(f"marmoset {minute}", minute=minute) for minute in (1, 2, 3, 4)), Said("marmoset 4", "s3", minute=5),
        *(Said("marmoset", "s2", project="/p/two", minute=minute) for minute in (1, 2)),
    ])  # fmt: skip
    old = memory.remember("the marmoset is red", kind="fact", project="/p/one")
    memory.settle()
    memory.correct(old, "the marmoset is blue")
    memory.settle()
    return Ledger.open(Home(home).ledger, SystemClock(), read_only=True)


def said(ledger: Ledger, question: str, *, everything: bool = False, after: int = -FOREVER, before: int = FOREVER) -> list[str]:
    with ledger, ledger.reading() as database:
        query = "SELECT sessions.project_id FROM turns JOIN sessions ON sessions.id = session_id WHERE text = 'marmoset 1'"
        (project,) = database.execute(query).fetchone()
        scope = Scope(None if everything else project, everything=everything, after=after, before=before)
        return left_out(database, question, scope)


def test_other_projects_and_what_no_longer_holds(told: Ledger) -> None:
    assert said(told, "marmoset") == [
        "2 turns kept as memories, which stand for them", "2 turns of other projects", "1 memory that no longer holds",
        "1 turn said again in the same words, behind the others",
    ]  # fmt: skip


def test_times_outside_the_ones_asked_for(told: Ledger) -> None:
    found = said(told, "marmoset", after=ms(2), before=ms(3))
    assert "1 turn from before the time asked for" in found and "2 turns from after the time asked for" in found


def test_everywhere_nothing_is_of_another_project(told: Ledger) -> None:
    assert not any("project" in each for each in said(told, "marmoset", everything=True))


@pytest.mark.parametrize("question", ["", "?!", "nothinglikeit"])
def test_where_nothing_matches_nothing_is_left_out(told: Ledger, question: str) -> None:
    assert said(told, question) == []


def test_the_command_line_says_it(memory: Memory, home: Path) -> None:
    tell(memory, ["one marmoset", Said("marmoset", "s2", project="/p/two")])
    command = [sys.executable, "-m", "hindbrain", "--home", os.fspath(home)]
    argv = [*command, "search", "marmoset", "--project", "/p/one", "--explain"]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, env={"HOME": os.fspath(home.parent)})
    assert (ran.returncode, ran.stderr) == (0, "left out: 1 turn of other projects\n")
    assert "score" in ran.stdout and "one marmoset" in ran.stdout
