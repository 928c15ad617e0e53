"""Many processes that save the same conversation, and processes that are killed while they do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hindbrain import ConversationMemory, MemoryManager
from tests.converse.savers import AGENT, TEAM, said

ROOT = Path(__file__).resolve().parents[2]


def started(*arguments: str, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    argv = [sys.executable, "-m", "tests.converse.savers", *arguments]
    return subprocess.Popen(argv, cwd=ROOT, stdout=stdout, text=True)


def everything(base: Path) -> list[str]:
    """All that was ever said, in the order it was kept."""
    memory = MemoryManager(base).load(TEAM, AGENT)
    assert memory is not None
    assert memory.kept is not None
    here = {turn.key for turn in memory.turns}
    return [turn.text for turn in (*(turn for turn in memory.kept.turns() if turn.key not in here), *memory.turns)]


@pytest.mark.slow
@given(st.lists(st.integers(1, 12), min_size=2, max_size=5))
@settings(max_examples=5)
@example([12, 12, 12, 12, 12])
def test_what_many_processes_record_at_once_is_all_there_and_each_prompt_stands_before_its_reply(
    tmp_path_factory: pytest.TempPathFactory, counts: list[int]
) -> None:
    base = tmp_path_factory.mktemp("base")
    names = {f"process{number}": count for number, count in enumerate(counts)}
    running = [started(str(base), "record", name, str(count)) for name, count in names.items()]
    assert [process.wait(120) for process in running] == [0] * len(names)
    kept = everything(base)
    wanted = [f"{name} {what} {n}" for name, count in names.items() for n in range(count) for what in ("asks", "hears")]
    assert sorted(kept) == sorted(wanted)
    assert [text.replace("asks", "hears") for text in kept[::2]] == kept[1::2]
    for name, count in names.items():  # each in the order it saved
        assert [text for text in kept if text.startswith(f"{name} asks")] == [f"{name} asks {n}" for n in range(count)]


@pytest.mark.slow
@given(st.lists(st.floats(0, 0.02), min_size=1, max_size=4))
@settings(max_examples=8)
def test_a_process_killed_in_the_middle_of_a_save_leaves_the_old_or_the_new_conversation(
    tmp_path_factory: pytest.TempPathFactory, delays: list[float]
) -> None:
    base = tmp_path_factory.mktemp("base")
    for delay in delays:
        process = started(str(base), "alternate", stdout=subprocess.PIPE)
        assert process.stdout is not None
        assert process.stdout.readline() == "saving\n"
        try:
            process.wait(delay)  # it never ends by itself; this only lets it go on for a moment
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        process.wait(30)
        process.stdout.close()
        found = MemoryManager(base, timeout=1).load(TEAM, AGENT)
        assert found is not None
        assert [turn.text for turn in found.turns] in [[turn.text for turn in said(which).turns] for which in (0, 1)]
    leftover = [path for path in (base / TEAM / "memory").iterdir() if ".corrupt-" in path.name]
    assert leftover == []


SAVES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=6)


@given(SAVES, st.data())
@settings(max_examples=60)
def test_a_crash_at_any_byte_of_the_past_and_before_the_replacement_loses_no_turn(
    tmp_path_factory: pytest.TempPathFactory, saves: list[tuple[int, int]], data: st.DataObject
) -> None:
    """The states a crash can leave are made by hand: the conversation of before, and the past written up to any byte."""
    base = tmp_path_factory.mktemp("base")
    manager = MemoryManager(base)
    place, log = base / TEAM / "memory" / f"{AGENT}.json", base / TEAM / "memory" / f"{AGENT}.past.jsonl"
    manager.save(TEAM, AGENT, ConversationMemory(max_turns=2))
    number, acknowledged = 0, list[str]()
    for count, _ in saves:
        before, size = place.read_bytes(), log.stat().st_size if log.exists() else 0
        texts = [f"turn {number + n}" for n in range(count)]
        number += count
        with manager.changing(TEAM, AGENT) as memory:
            for text in texts:
                memory.record_turn("user", text)
        if data.draw(st.booleans()):
            acknowledged += texts
            continue
        place.write_bytes(before)
        if log.exists():
            os.truncate(log, data.draw(st.integers(size, log.stat().st_size)))
    kept = everything(base)
    assert [text for text in kept if text in acknowledged] == acknowledged
    assert len(set(kept)) == len(kept)
    json.loads(place.read_bytes())
