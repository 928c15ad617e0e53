"""`hindbrain uninstall --purge`: the hooks first, then the data, and only what is ours."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from hindbrain.base.files import lock_holder
from tests.serve.installed import Installed, prompt, until
from tests.serve.installing import User


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User.at(tmp_path)


def test_nobody_to_ask_means_no(user: User) -> None:
    user.install()
    before = user.tree(user.root)
    ran = user.cli("uninstall", "claude-code", "--purge")
    assert ran.returncode == 2
    assert ran.stderr.splitlines()[0].startswith(f"{user.home.root} will be removed: 0 sessions, 0 turns; ")
    assert ran.stderr.splitlines()[-1] == "hint: add --yes"
    assert user.tree(user.root) == before


def answered(user: User, answer: bytes) -> int:
    """Run --purge on a terminal and type an answer; the exit code."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        user.argv("uninstall", "--purge"), env=dict(user.environ), stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    os.close(theirs)
    os.write(ours, answer)
    process.communicate(timeout=60)
    os.close(ours)
    return process.returncode


def test_a_no_keeps_everything_and_a_yes_removes_it(user: User) -> None:
    user.install()
    before = user.tree(user.root)
    assert answered(user, b"n\n") == 130
    assert user.tree(user.root) == before
    assert answered(user, b"y\n") == 0
    assert user.tree(user.root) == {"user": b"/"}


def test_hooks_go_from_every_place_before_the_data_does(user: User) -> None:
    """A hook whose launcher is gone would end with an error, and the agent would take that for a refusal."""
    user.install()
    user.install("project")
    user.done("install", "claude-code", "--plugin", str(user.root / "plugin"))
    told = json.loads(user.done("uninstall", "claude-code", "--purge", "--yes", "--json"))
    assert [file["how"] for file in told["files"]] == ["deleted"] * 4
    assert told["purged"]["home"] == str(user.home.root)
    assert user.tree(user.root) == {"user": b"/"}


def test_a_dry_run_of_a_purge_removes_nothing(user: User) -> None:
    user.install()
    before = user.tree(user.root)
    ran = user.cli("uninstall", "--purge", "--dry-run")
    assert ran.returncode == 0 and "will be removed" in ran.stderr
    assert user.tree(user.root) == before


def test_the_worker_is_stopped_first(installed: Installed) -> None:
    installed.fire(prompt("s", 1, "hello"))
    installed.settled(1)
    pid = until(lambda: lock_holder(installed.home.worker_lock), "a worker")
    ran = installed.cli("uninstall", "--purge", "--yes")
    assert (ran.returncode, installed.home.root.exists()) == (0, False), ran.stderr
    assert "1 sessions, 1 turns; " in ran.stderr
    until(lambda: not Path(f"/proc/{pid}").exists() or "Z" in Path(f"/proc/{pid}/stat").read_text().split()[2], "its end")


@pytest.mark.parametrize("names", [["thesis.tex", "hook.py"], [], ["photos"], [".git", "journal"]])
def test_a_directory_that_is_not_a_home_is_refused(user: User, names: list[str]) -> None:
    user.home.root.mkdir()
    for name in names:
        (user.home.root / name).write_text("mine")
    ran = user.cli("uninstall", "--purge", "--yes")
    assert ran.returncode == 4 and "data directory" in ran.stderr
    assert {path.name for path in user.home.root.iterdir()} == set(names)


def test_the_users_own_directory_is_refused(user: User) -> None:
    (user.root / "user" / "hook.py").write_text("")
    ran = user.cli("--home", str(user.root / "user"), "uninstall", "--purge", "--yes")
    assert ran.returncode == 4 and "it holds your own directory" in ran.stderr
    assert (user.root / "user" / "hook.py").exists()


def test_a_hook_that_cannot_be_removed_keeps_the_data(user: User) -> None:
    user.install()
    user.settings.write_text("{ broken")
    ran = user.cli("uninstall", "--purge", "--yes")
    assert ran.returncode == 4 and "line 1, column 3" in ran.stderr
    assert (user.home.root / "hook.py").exists()
