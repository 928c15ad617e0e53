"""Many turns at once, and what is read back of sessions, turns and ids."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain import Memory, Turn
from hindbrain.base.clock import ManualClock
from hindbrain.base.errors import NotFound, UsageError
from tests.crash.strace import calls

AT = datetime(2026, 5, 4, 3, 2, 1, tzinfo=UTC)
SOME = [
    Turn("ada", "s1", "user", "use turquoise", AT, "shop", "k1"),
    Turn("ada", "s1", "assistant", "done", AT.replace(second=2), "shop", "k2", {"item": {"deep": [1, None, "é"]}}),
    Turn("bob", "s2", "user", "lunch is at noon", AT.replace(second=3), "/srv/depot", "k1"),
]


def test_many_turns_come_back_as_they_were(memory: Memory) -> None:
    ids = memory.record_many(SOME)
    memory.settle()
    assert memory.record_many(SOME) == ids  # the same keys are the same turns
    memory.settle()
    said = memory.turns("s1")
    assert [(each.id, each.agent, each.role, each.text, each.at, each.session, each.project, each.detail) for each in said] == [
        (ids[0], "ada", "user", "use turquoise", AT, "s1", "shop", {}),
        (ids[1], "ada", "assistant", "done", AT.replace(second=2), "s1", "shop", {"item": {"deep": [1, None, "é"]}}),
    ]
    assert [each.text for each in memory.turns("s2", "bob")] == ["lunch is at noon"]


def test_one_that_is_no_turn_keeps_all_others_from_being_kept(memory: Memory) -> None:
    with pytest.raises(UsageError, match="'system' is not a role"):
        memory.record_many([*SOME, Turn("ada", "s1", "system", "be nice")])
    memory.settle()
    assert memory.sessions() == []


def test_no_turns_are_no_write(memory: Memory) -> None:
    assert memory.record_many([]) == []
    assert memory.record_many(iter(SOME[:1])) != []


def test_sessions_are_listed_newest_first_and_by_project(memory: Memory) -> None:
    memory.record_many(SOME)
    memory.settle()
    found = memory.sessions()
    assert [(each.agent, each.session, each.project, each.turns, each.first_prompt) for each in found] == [
        ("bob", "s2", "depot", 1, "lunch is at noon"), ("ada", "s1", "shop", 2, "use turquoise"),
    ]  # fmt: skip
    assert (found[1].started_at, found[1].last_at) == (AT, AT.replace(second=2))
    assert [each.session for each in memory.sessions("shop")] == ["s1"]
    assert memory.sessions("nowhere") == []
    assert [each.session for each in memory.sessions(limit=1)] == ["s2"]


def test_turns_of_a_name_that_two_agents_use_need_the_agent(memory: Memory) -> None:
    memory.record_many([Turn("ada", "s", "user", "one"), Turn("bob", "s", "user", "two")])
    memory.settle()
    with pytest.raises(UsageError, match="several agents have a session 's'"):
        memory.turns("s")
    assert [each.text for each in memory.turns("s", "bob")] == ["two"]
    (session,) = [each for each in memory.sessions() if each.agent == "ada"]
    assert [each.text for each in memory.turns(session.id)] == ["one"]
    assert memory.turns("nothing") == []


def test_an_id_shows_the_turn_the_session_or_the_memory(memory: Memory) -> None:
    turn = memory.record_many(SOME)[1]
    kept = memory.remember("cages are turquoise", kind="decision", project="shop")
    memory.settle()
    said = memory.show(turn)
    assert isinstance(said, hindbrain.Said)
    assert (said.id, said.text, said.project, said.detail) == (turn, "done", "shop", {"item": {"deep": [1, None, "é"]}})
    session = memory.show(said.session_id)
    assert isinstance(session, hindbrain.Session) and (session.session, session.turns) == ("s1", 2)
    memory_shown = memory.show(kept[:12])
    assert isinstance(memory_shown, hindbrain.Kept)
    assert (memory_shown.id, memory_shown.kind, memory_shown.text, memory_shown.project, memory_shown.observer) == (
        kept, "decision", "cages are turquoise", "shop", "user",
    )  # fmt: skip
    evidence = memory.show(memory_shown.evidence[0])
    assert isinstance(evidence, hindbrain.Said) and evidence.text == "cages are turquoise"


@pytest.mark.parametrize("typed", ["e_ffffffffffff", "nothing", "%", "\ud800", "x" * 5000])
def test_an_id_that_names_nothing_is_not_found(memory: Memory, typed: str) -> None:
    with pytest.raises(NotFound):
        memory.show(typed)
    memory.record_many(SOME)
    memory.settle()
    with pytest.raises(NotFound):
        memory.show(typed)


@pytest.mark.parametrize("detail", [
    {"nan": float("nan")}, {"lone": "\ud800"}, {"nul": "a\x00b"}, {"big": "x" * 300_000},
], ids=lambda detail: next(iter(detail)))  # fmt: skip
def test_any_detail_that_is_json_is_kept(memory: Memory, detail: dict[str, Any]) -> None:
    memory.record_many([Turn("ada", "s", "user", "x", detail=detail)])
    memory.settle()
    (said,) = memory.turns("s")
    assert list(said.detail) == list(detail)


def test_what_is_said_in_the_very_moment_of_forgetting_is_kept(home: Path) -> None:
    clock = ManualClock()
    with Memory(home, clock) as memory:
        memory.record(agent="ada", session="s", role="user", text="one")
        memory.settle_here()
        clock.advance(10)
        memory.forget(session="s")
        memory.record(agent="ada", session="s", role="user", text="two")
        memory.settle_here()
        assert [each.text for each in memory.turns("s")] == ["two"]


MANY = """
import os, sys
from hindbrain import Memory, Turn
with Memory.open(home=sys.argv[1]) as memory:
    memory.record(agent="a", session="s", role="user", text="warm up", project="shop")
    os.path.exists("/mark-begin")
    memory.record_many(Turn("a", "s", "user", f"marmoset {number}", project=f"p{number % 3}") for number in range(100))
    os.path.exists("/mark-end")
"""


@pytest.mark.strace
def test_a_hundred_records_are_one_write_and_one_sync(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    lines = calls([sys.executable, "-c", MANY, str(tmp_path / "home")], b"", environ, tmp_path / "log")
    begin = next(number for number, line in enumerate(lines) if "mark-begin" in line)
    end = next(number for number, line in enumerate(lines) if "mark-end" in line)
    names = [line.split("(")[0].split()[-1] for line in lines[begin + 1 : end]]
    assert (names.count("fdatasync"), names.count("fsync"), names.count("write")) == (1, 0, 1)
