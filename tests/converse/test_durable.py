"""What a save asks of the disk, and in which order, seen by strace: files alone cannot tell a sync that was left out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from hindbrain import MemoryManager

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.strace

_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)\) += 0")
_PATH = re.compile(r'<([^>]*)>|"([^"]*)"')


def calls(base: Path, *arguments: str) -> list[tuple[str, str]]:
    """The syncs and renames of a process below a directory, in order; each with the name it ends up at."""
    trace = base.with_name("trace")
    traced = ["strace", "-f", "-y", "-s", "300", "-e", "trace=fsync,fdatasync,rename,renameat,renameat2", "-o", str(trace)]
    argv = [*traced, sys.executable, "-m", "tests.converse.savers", str(base), *arguments]
    subprocess.run(argv, cwd=ROOT, check=True, timeout=120)
    found = []
    for line in trace.read_text().splitlines():
        if (call := _CALL.match(line)) and (paths := [one or other for one, other in _PATH.findall(call[2])]):
            name = re.sub(r"\.\d+\.\d+\.tmp$", ".tmp", Path(paths[-1]).name)
            if str(base) in paths[-1]:
                found.append(("sync" if "sync" in call[1] else "rename", name))
    return found


def test_the_past_is_synced_before_the_conversation_is_replaced_and_file_and_directory_around_that(tmp_path: Path) -> None:
    base = tmp_path / "base"
    with MemoryManager(base).changing("crew", "ada") as memory:
        for text in "abcdef":
            memory.record_turn("user", text)
    assert calls(base, "record", "x", "1") == [
        ("sync", "ada.past.jsonl"), ("sync", ".ada.json.tmp"), ("rename", "ada.json"), ("sync", "memory"),
    ]  # fmt: skip


def test_the_first_save_also_syncs_the_names_of_all_it_makes(tmp_path: Path) -> None:
    base = tmp_path / "base"
    base.mkdir()
    made = calls(base, "record", "x", "3")
    assert made[:2] == [("sync", "base"), ("sync", "crew")]  # before anything is put into them
    first_past = made.index(("sync", "ada.past.jsonl"))
    assert made[first_past + 1] == ("sync", "memory")
    assert made.count(("rename", "ada.json")) == 3
