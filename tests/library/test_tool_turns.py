"""Tool turns recorded by a program: the tool has a name, a result finds its call, and an error that was put right is a lesson."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hindbrain import AsyncMemory, Memory, Turn
from hindbrain.base.errors import UsageError
from hindbrain.ledger.statement import Said
from hindbrain.reason.runs import runs

RUN = (
    ("user", "The load fails, can you look?", ""),
    ("tool_call", "python load.py", "bash"),
    ("tool_result", "Traceback (most recent call last):\nUnicodeDecodeError: 'ascii' codec can't decode byte 0xc3", "bash"),
    ("tool_call", "PYTHONIOENCODING=utf-8 python load.py", "bash"),
    ("tool_result", "loaded 1200 rows", "bash"),
    ("assistant", "It runs.", ""),
)


def lessons(memory: Memory) -> list[str]:
    memory.settle()
    return [each.text for each in memory.memories("shop") if each.kind == "lesson"]


@pytest.mark.parametrize("named", [True, False])
def test_an_error_and_its_repair_become_a_lesson(tmp_path: Path, named: bool) -> None:
    """A result need not say of which tool it is."""
    with Memory.open(home=tmp_path) as memory:
        for role, text, tool in RUN:
            name = tool if named or role == "tool_call" else ""
            memory.record(agent="ada", session="s1", role=role, text=text, project="shop", tool=name)
        (lesson,) = lessons(memory)
    assert "UnicodeDecodeError" in lesson and "worked with `PYTHONIOENCODING=utf-8 python load.py`" in lesson


def test_without_a_name_nobody_knows_that_it_was_a_command(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path) as memory:
        for role, text, _ in RUN:
            memory.record(agent="ada", session="s1", role=role, text=text, project="shop")
        assert lessons(memory) == []


def test_many_turns_and_an_event_loop_name_their_tools_too(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path / "many") as memory:
        memory.record_many([Turn("ada", "s1", role, text, project="shop", tool=tool) for role, text, tool in RUN])
        many = lessons(memory)

    async def told() -> list[str]:
        async with AsyncMemory.open(home=tmp_path / "loop") as memory:
            for role, text, tool in RUN:
                await memory.record(agent="ada", session="s1", role=role, text=text, project="shop", tool=tool)
            return await asyncio.to_thread(lessons, memory.memory)

    assert many and asyncio.run(told()) == many


@pytest.mark.parametrize(
    ("role", "tool"),
    [("user", "bash"), ("assistant", "bash"), ("tool_call", "x" * 201), ("tool_call", None), ("tool_call", 7),
     ("tool_result", b"bash")],
)  # fmt: skip
def test_what_is_no_name_of_a_tool_is_refused_and_nothing_is_kept(tmp_path: Path, role: str, tool: Any) -> None:
    with Memory.open(home=tmp_path) as memory:
        with pytest.raises(UsageError):
            memory.record(agent="ada", session="s1", role=role, text="ls", tool=tool)
        with pytest.raises(UsageError):
            memory.record_many([Turn("ada", "s1", "user", "hello"), Turn("ada", "s1", role, "ls", tool=tool)])
        memory.settle()
        assert memory.sessions() == []


def test_a_name_with_anything_in_it_is_kept_without_secrets(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path) as memory:
        for number, name in enumerate(("bash\x00", "\ud800", "näme", "ghp_" + "a1B2" * 9)):
            memory.record(agent="ada", session=f"s{number}", role="tool_call", text="ls", tool=name)
        memory.settle()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and b"ghp_a1B2" in path.read_bytes()]


def test_a_result_belongs_to_the_oldest_call_it_may_belong_to() -> None:
    def pairs(*turns: tuple[str, str]) -> list[tuple[int, int]]:
        said = [Said(str(number), role, "x", tool) for number, (role, tool) in enumerate(turns)]
        return [(run.call, run.result) for run in runs(said)]

    call, result = "tool_call", "tool_result"
    assert pairs((call, "a"), (call, "b"), (result, "b"), (result, "a")) == [(1, 2), (0, 3)]
    assert pairs((call, "a"), (call, "b"), (result, ""), (result, "")) == [(0, 2), (1, 3)]
    assert pairs((call, ""), (result, "a")) == [(0, 1)]
    assert pairs((call, "a"), (result, "b")) == []
    assert pairs((result, ""), (call, "")) == []
