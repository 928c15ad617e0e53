"""A compile and an undo of the wiki, killed at any of their system calls: done again, nothing is lost and nothing made up.

Between the kill and the next compile every page is whole, as it was or as it was to be. The next one ends where an undisturbed
one does: the same pages, and of the person's acts each one, none of which the person did not do.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.crash.strace import Fault, Ran, calls, first_numbers, run_with, sweep
from tests.faults.test_killed_anywhere import CHANGING, killed_everywhere
from tests.wiki import crashing
from tests.wiki.compiling import GIT

pytestmark = [pytest.mark.strace, pytest.mark.slow, pytest.mark.timeout(1200)]

ROOT: Final = str(Path(__file__).resolve().parents[2])
RUN: Final = f"""
import sys; sys.path[:0] = [{ROOT!r}, {ROOT + "/src"!r}]
from tests.wiki import crashing
%s
crashing.main(*sys.argv[1:])
"""
# The same without noting beforehand what is about to be written.
CARELESS: Final = """
from hindbrain.wiki.state import State
begin, finish, held = State.begin, State.finish, []
def careless_begin(self, rows, made):
    held[:] = rows
    begin(self, [], made)
def careless_finish(self, made, left, kept):
    begin(self, held, made)
    finish(self, made, left, kept)
State.begin, State.finish = careless_begin, careless_finish
"""
# Which page of the database was being written makes no difference; opening for reading changes nothing.
NAMES: Final = (CHANGING | {"renameat", "renameat2", "mkdirat"}) - {"pwrite64", "openat"}
GIT_NAMES: Final = {"rename", "link", "unlink", "fsync", "mkdir"}  # a kill hits the git that makes the call; we go on and say so


@dataclass(frozen=True, slots=True)
class Outcome:
    """What there is in the end."""

    pages: dict[str, str]
    acts: list[str]


def outcome(place: Path, *, git: bool) -> Outcome:
    wiki = crashing.at(place, git=git)
    assert isinstance(wiki.ledger, crashing.Kept)
    return Outcome(wiki.pages(), wiki.ledger.told())


def argv(what: str, place: Path, *, git: bool, with_code: str = "") -> list[str]:
    return [sys.executable, "-c", RUN % with_code, what, str(place), "git" if git else "kept"]


def copied(template: Path, place: Path) -> Callable[[], None]:
    def prepare() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(template, place, symlinks=True, copy_function=shutil.copy2)

    return prepare


def leftovers(place: Path) -> list[str]:
    return [path.name for path in (place / "wiki").rglob("*.tmp") if ".git" not in path.parts]


def unlocked(place: Path) -> None:
    """Time passes: what a git that was killed has locked is old."""
    for lock in (place / "wiki" / ".git").rglob("*.lock"):
        os.utime(lock, (0, 0))


def check(place: Path, before: Outcome, wanted: Outcome, what: str, *, git: bool) -> None:
    """Nothing torn now, and the right end after the next compile."""
    for path, text in outcome(place, git=git).pages.items():
        assert text in (before.pages.get(path), wanted.pages.get(path)), f"{what}: {path} is torn"
    unlocked(place)
    assert crashing.compiled(place, git=git) == "", what
    assert outcome(place, git=git) == wanted, what
    assert leftovers(place) == [], what
    after = crashing.at(place, git=git).compile()
    assert (after.written, after.removed, after.acts) == ((), (), ()), what


def swept(tmp_path: Path, names: set[str], *, git: bool, with_code: str = "") -> int:
    template, place = tmp_path / "template", tmp_path / "place"
    crashing.prepared(template, git=git)
    before = outcome(template, git=git)
    copied(template, tmp_path / "whole")()
    assert crashing.compiled(tmp_path / "whole", git=git) == ""
    wanted = outcome(tmp_path / "whole", git=git)
    assert len(wanted.acts) == 2, wanted.acts

    def case(run: Callable[[], Ran], what: str) -> None:
        run()
        check(place, before, wanted, what, git=git)
        if git:
            subprocess.run([str(GIT), "fsck", "--strict", "--no-dangling"], cwd=place / "wiki", check=True, capture_output=True)
            shown = subprocess.run([str(GIT), "status", "--short"], cwd=place / "wiki", check=True, capture_output=True).stdout
            assert shown == b"?? notes.md\n", what

    command = argv("compile", place, git=git, with_code=with_code)
    return killed_everywhere(command, tmp_path / "log", names, case, copied(template, place))


def test_a_compile_killed_at_any_call_is_done_again_as_if_nothing_had_been(tmp_path: Path) -> None:
    assert swept(tmp_path, NAMES, git=False) >= 40


def test_a_compile_whose_git_is_killed_keeps_its_pages_and_commits_them_the_next_time(tmp_path: Path) -> None:
    assert swept(tmp_path, GIT_NAMES, git=True) >= 20


@pytest.mark.parametrize("name", ["fsync", "fdatasync", "write", "renameat", "unlinkat", "mkdirat"])
def test_a_call_that_fails_is_told_with_its_path_and_the_next_compile_goes_on(tmp_path: Path, name: str) -> None:
    template, place = tmp_path / "template", tmp_path / "place"
    crashing.prepared(template, git=False)
    before = outcome(template, git=False)
    copied(template, tmp_path / "whole")()
    crashing.compiled(tmp_path / "whole", git=False)
    wanted = outcome(tmp_path / "whole", git=False)
    command = argv("compile", place, git=False)
    copied(template, place)()
    first = first_numbers(calls(command, b"", os.environ, tmp_path / "log"), lambda line: " read(0," in line)

    def run(fault: Fault) -> bool:
        copied(template, place)()
        ran = run_with(fault, command, b"", os.environ, tmp_path / "log")
        last = ran.stderr.decode().strip().splitlines()
        if ran.code:  # our own error with a hint; only the acts' file, which is the test's own, has a bare one
            assert last[-1].startswith("hint: ") or "crashing.py" in ran.stderr.decode(), (str(fault), last[-5:])
        check(place, before, wanted, str(fault), git=False)
        return ran.injected

    assert sweep(name, "error=ENOSPC", first[name], run) >= 3


def test_an_undo_killed_at_any_call_is_wholly_done_or_not_begun(tmp_path: Path) -> None:
    template, place = tmp_path / "template", tmp_path / "place"
    crashing.prepared(template, git=False)
    crashing.compiled(template, git=False)
    outcomes = []
    for number, works in enumerate(((), (crashing.undone,))):
        copied(template, tmp_path / str(number))()
        for work in works:
            work(tmp_path / str(number), git=False)
        crashing.compiled(tmp_path / str(number), git=False)
        outcomes.append(outcome(tmp_path / str(number), git=False))
    assert outcomes[0] != outcomes[1]
    seen: list[int] = []

    def case(run: Callable[[], Ran], what: str) -> None:
        ended = run().code == 0
        assert crashing.compiled(place, git=False) == "", what
        found = outcome(place, git=False)
        assert found in outcomes, what
        assert found == outcomes[1] or not ended, what
        assert leftovers(place) == [], what
        seen.append(outcomes.index(found))

    names = {"renameat", "fsync", "fdatasync", "write", "unlinkat", "unlink", "flock", "ftruncate"}
    assert killed_everywhere(argv("undo", place, git=False), tmp_path / "log", names, case, copied(template, place)) >= 10
    assert set(seen) == {0, 1}


def test_the_check_notices_a_compile_that_does_not_note_what_it_is_about_to_write(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="renameat"):
        swept(tmp_path, {"renameat"}, git=False, with_code=CARELESS)


def test_the_check_notices_a_torn_page(tmp_path: Path) -> None:
    place = tmp_path / "place"
    crashing.prepared(place, git=False)
    before = outcome(place, git=False)
    (place / "wiki" / crashing.REDIS).write_text(before.pages[crashing.REDIS][:100])
    with pytest.raises(AssertionError, match="torn"):
        check(place, before, before, "control", git=False)
