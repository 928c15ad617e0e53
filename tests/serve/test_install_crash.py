"""An installer killed at any of its system calls leaves settings that `hindbrain uninstall` brings back byte by byte."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.crash.strace import Fault, calls, first_numbers, run_plain, run_with
from tests.serve.installing import User

pytestmark = pytest.mark.strace

# Whatever changes a file system, or makes a change last.
CHANGING = ("mkdir", "openat", "write", "fsync", "rename", "unlink", "rmdir", "fchmod", "ftruncate")
SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [ ]}\r\n}'


def nothing(user: User) -> None:
    """No file and no folder."""


def a_file(user: User) -> None:
    user.has(SETTINGS)


def installed(user: User) -> None:
    user.has(SETTINGS)
    user.install()


def installed_from_nothing(user: User) -> None:
    user.install()


def installed_and_edited(user: User) -> None:
    user.has(SETTINGS)
    user.install()
    user.settings.write_bytes(user.settings.read_bytes().replace(b"opus", b"haiku"))


def with_another_interpreter(user: User) -> None:
    """As after an upgrade: the next installation has to change every hook."""
    user.has(SETTINGS)
    user.install()
    old = user.settings.read_bytes().replace(b"/bin/python", b"/bin/old-python")
    user.settings.write_bytes(old)
    manifest = user.home.install / "manifest.json"
    document = json.loads(manifest.read_text())
    document["installed"][0]["after"] = [hashlib.sha256(old).hexdigest()]
    manifest.write_text(json.dumps(document))


def sweep_of(tmp_path: Path, prepare: Callable[[User], None], command: str, mark: str) -> list[Fault]:
    """Every fault that a run of the command can meet behind the mark."""
    user = User.at(tmp_path / "dry")
    prepare(user)
    lines = calls(user.argv(command, "claude-code"), b"", user.environ, tmp_path / "log")
    first = first_numbers(lines, lambda line: mark in line)
    count = {name: sum(f" {name}(" in line or line.startswith(f"{name}(") for line in lines) for name in first}
    return [Fault(name, "signal=KILL", at) for name in CHANGING if name in first for at in range(first[name], count[name] + 1)]


class Outcome(NamedTuple):
    """How things stand after a kill and an uninstall."""

    killed: bool
    whole: bool  # right after the kill the settings were JSON
    codes: list[int]  # of the commands run afterwards
    files: dict[str, bytes]


def after(tmp_path: Path, prepare: Callable[[User], None], command: str, fault: Fault) -> Outcome:
    user = User.at(tmp_path / f"{fault.call}-{fault.number}")
    prepare(user)
    ran = run_with(fault, user.argv(command, "claude-code"), b"", user.environ, user.root / "log")
    whole = not user.settings.exists() or bool(json.loads(user.settings.read_bytes()))
    steps = ["install", "uninstall"] if fault.number % 2 else ["uninstall"]
    codes = [run_plain(user.argv(step, "claude-code"), b"", user.environ).code for step in steps]
    return Outcome(ran.code < 0, whole, codes, user.tree())


HOOK, LOCK = "/.hook.py.", "/install/lock"
FILE = {".claude": b"/", ".claude/settings.json": SETTINGS}
EDITED = {".claude": b"/", ".claude/settings.json": SETTINGS.replace(b"opus", b"haiku")}


@pytest.mark.parametrize(
    ("prepare", "command", "mark", "wanted"),
    [
        (nothing, "install", HOOK, {}), (a_file, "install", HOOK, FILE), (with_another_interpreter, "install", HOOK, FILE),
        (installed, "uninstall", LOCK, FILE), (installed_from_nothing, "uninstall", LOCK, {}),
        (installed_and_edited, "uninstall", LOCK, EDITED),
    ],
)  # fmt: skip
def test_a_kill_at_any_call_can_be_undone(
    tmp_path: Path, prepare: Callable[[User], None], command: str, mark: str, wanted: dict[str, bytes]
) -> None:
    faults = sweep_of(tmp_path, prepare, command, mark)
    outcomes = tried(faults, lambda fault: after(tmp_path, prepare, command, fault))
    assert {at: found for at, found in outcomes.items() if any(found.codes) or not found.whole or found.files != wanted} == {}
    assert sum(found.killed for found in outcomes.values()) >= 15


def tried(faults: list[Fault], run: Callable[[Fault], Outcome]) -> dict[str, Outcome]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(map(str, faults), pool.map(run, faults), strict=True))


@pytest.mark.parametrize(("prepare", "wanted"), [(nothing, {}), (a_file, FILE)])
def test_an_installer_that_meets_an_error_says_so_and_can_be_undone(
    tmp_path: Path, prepare: Callable[[User], None], wanted: dict[str, bytes]
) -> None:
    faults = [Fault(fault.call, "error=EIO", fault.number) for fault in sweep_of(tmp_path, prepare, "install", HOOK)
              if fault.call in ("mkdir", "write", "fsync", "rename")]  # fmt: skip

    def run(fault: Fault) -> Outcome:
        user = User.at(tmp_path / f"{fault.call}-{fault.number}")
        prepare(user)
        ran = run_with(fault, user.argv("install", "claude-code"), b"", user.environ, user.root / "log")
        changed = user.tree() != wanted
        # an error before anything was changed leaves the settings alone; one behind that, when telling the user, does not
        honest = (ran.code == 4) if ran.injected else ran.code == 0 and changed
        return Outcome(False, honest, [run_plain(user.argv("uninstall"), b"", user.environ).code], user.tree())

    outcomes = tried(faults, run)
    assert {at: found for at, found in outcomes.items() if any(found.codes) or not found.whole or found.files != wanted} == {}
    assert len(outcomes) >= 12
