"""P1, P4, P8: the power goes at a random moment of everything that writes, on two file systems."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from pathlib import Path

import pytest

from hindbrain.base.home import Home
from hindbrain.journal.append import append
from hindbrain.journal.line import HOOK, frame
from hindbrain.journal.read import segments
from tests.powercut import judges
from tests.powercut.disk import KINDS, Disk, new_disk
from tests.powercut.rounds import Case, Command, planned_seeds, play, rerun_line, rounds_in_all
from tests.powercut.writing import program

pytestmark = pytest.mark.powercut


def _writer(name: str, *arguments: object) -> Command:
    return lambda disk, place, seed: program(name, disk.root, seed, *arguments)


def _hooks(name: str) -> Command:
    def command(disk: Disk, place: Path, seed: int) -> list[str]:
        outside = place / "outside"
        outside.mkdir()
        return program(name, disk.root, seed, outside)

    return command


# case, its share of all rounds
CASES = {
    Case("hooks", _hooks("hooks"), judges.hooks, acks=(1, 12), moment=0.1): 6,
    Case("first-hooks", _hooks("first_hooks"), judges.first_hooks, acks=(1, 16), moment=0.3): 6,
    Case("journal", _writer("journal", 1), judges.journal, acks=(1, 24)): 3,
    Case("journal-of-three", _writer("journal", 3), judges.journal, acks=(1, 30)): 3,
    Case("pages", _writer("pages"), judges.pages, acks=(1, 40)): 5,
    Case("archive", _writer("archive"), judges.archive, acks=(2, 24)): 5,
    Case("ledger", _writer("ledger"), judges.ledger, acks=(1, 60)): 5,
    Case("migration", _writer("migration"), judges.migration, acks=(1, 6)): 4,
    Case("backup", _writer("backup"), judges.backup, acks=(2, 12)): 4,
    Case("wiki", _writer("wiki"), judges.wiki, acks=(1, 20), moment=0.1): 5,
}
ALL = sum(CASES.values()) * len(KINDS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_was_acknowledged_is_there_when_the_power_comes_back(case: Case, kind: str, tmp_path: Path) -> None:
    seeds = planned_seeds(case.name, kind, max(1, round(rounds_in_all() * CASES[case] / ALL)))
    if seeds is None:
        pytest.skip("not run: POWERCUT_CASE asks for another case")
    for number, seed in enumerate(seeds):
        outcome = play(case, kind, seed, tmp_path / f"round-{number}")
        print(f"{case.name}/{kind}/{seed}: {outcome.acks} acknowledged, {len(outcome.broken)} promises broken")
        assert outcome.acks, f"nothing was acknowledged; {rerun_line(case.name, kind, seed)}"
        assert not outcome.broken, "\n".join([*outcome.broken[:20], rerun_line(case.name, kind, seed)])


@pytest.mark.parametrize("kind", KINDS)
def test_a_line_stored_before_its_hook_had_synced_it_does_not_hide_later_lines(kind: str, tmp_path: Path) -> None:
    """A hook is between its write and its sync, the worker takes the line in, the power goes.

    If the ledger's cursor were on the disk and the line were not, the next hook would append below the cursor, where
    nobody looks any more.
    """
    with new_disk(tmp_path / "disk", kind) as disk:
        home = Home(disk.root / "home")
        append(os.fsencode(home.root), _line("first"))
        with segments(home.journal)[-1].open("ab", buffering=0) as half_a_hook:
            half_a_hook.write(_line("other"))
        judges.drain(home)
        disk.cut()
        disk.come_back()
        append(os.fsencode(home.root), _line("after"))
        judges.drain(home)
        with contextlib.closing(sqlite3.connect(home.ledger)) as connection:
            texts = {text.rstrip(".") for (text,) in connection.execute("SELECT text FROM turns")}
        assert {"first", "after"} <= texts


def _line(text: str) -> bytes:
    """A prompt without a folder: the worker has nothing of its own to add to the journal, and so no reason to sync it.

    It is longer than a block of the disk, since the rest of a block that is on the disk already may get there by luck.
    """
    call = {"session_id": "one", "hook_event_name": "UserPromptSubmit", "prompt": text.ljust(10_000, ".")}
    return frame(HOOK, b"claude-code", time.time_ns(), json.dumps(call).encode())
