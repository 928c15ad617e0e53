"""A home that was planted, swapped, taken away or belongs to somebody else: nothing is written outside, all is told."""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import hindbrain
from tests.crash.agent import NOT_COUNTED, Agent, no_worker_started, payload, token, worker_seen
from tests.crash.history import Ended
from tests.crash.strace import Ran, run_plain
from tests.crash.stranger import STRANGER, as_stranger, launched, needs_root, stranger

Plant = Callable[[Path, Path], None]


def link(at: Path, victim: Path) -> None:
    at.symlink_to(victim)


def dangling_link(at: Path, victim: Path) -> None:
    at.symlink_to(victim.parent / "not-there-yet")


def hard_link(at: Path, victim: Path) -> None:
    os.link(victim, at)


def pipe(at: Path, victim: Path) -> None:
    os.mkfifo(at)


def directory(at: Path, victim: Path) -> None:
    at.mkdir()


PLANTS = [link, dangling_link, hard_link, pipe, directory]


@pytest.fixture
def victim(tmp_path: Path) -> Path:
    """A file outside home that must stay as it is."""
    path = tmp_path / "outside" / "victim"
    path.parent.mkdir()
    path.write_bytes(b"precious\n")
    path.chmod(0o600)
    return path


def untouched(victim: Path) -> bool:
    return victim.read_bytes() == b"precious\n" and [path.name for path in victim.parent.iterdir()] == ["victim"]


def called(agent: Agent, key: str = "a", **more: str) -> Ended:
    agent.environ.update(more)
    agent.call(key, payload(key))
    return agent.history.operations[-1].ended


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", ["0000000001-17e0-1.log", "9999999999-17e0-1.log"])
def test_something_planted_as_a_segment_is_not_written_to(agent: Agent, victim: Path, plant: Plant, name: str) -> None:
    (agent.home / "journal").mkdir(mode=0o700)
    plant(agent.home / "journal" / name, victim)
    with worker_seen(agent.home):
        assert [called(agent, key) for key in "abc"] == [Ended.ACKNOWLEDGED] * 3
    assert untouched(victim)
    planted = agent.home / "journal" / name
    if planted.is_dir():
        planted.rmdir()
    else:
        planted.unlink()
    assert agent.problems() == []


@pytest.mark.parametrize("name", [b"\xff\xfe.log", "²²²²²²²²²²-1-1.log".encode(), b"zzz.log", b"no segment", b".log", b"17.log"])
def test_a_stray_name_in_the_journal_costs_nothing(agent: Agent, name: bytes) -> None:
    (agent.home / "journal").mkdir(mode=0o700)
    stray = os.fsencode(agent.home / "journal") + b"/" + name
    with open(stray, "wb") as file:
        file.write(b"stray")
    with worker_seen(agent.home):
        assert [called(agent, key) for key in "abc"] == [Ended.ACKNOWLEDGED] * 3
    with open(stray, "rb") as file:
        assert file.read() == b"stray"
    assert len(list((agent.home / "journal").iterdir())) == 2
    os.unlink(stray)
    assert agent.problems() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_something_planted_as_the_loss_counter_is_not_written_to(agent: Agent, victim: Path, plant: Plant) -> None:
    (agent.home / "lost").unlink()
    plant(agent.home / "lost", victim)
    (agent.home / "journal").write_bytes(b"in the way")
    with worker_seen(agent.home):
        assert called(agent) is Ended.REPORTED
    assert untouched(victim)
    assert agent.losses() == 1
    assert len(list(agent.user.iterdir())) == 1


@pytest.mark.parametrize("plant", PLANTS)
@pytest.mark.parametrize("name", ["wake", "worker.start"])
def test_something_planted_where_the_worker_is_called_is_not_written_to(
    agent: Agent, victim: Path, plant: Plant, name: str
) -> None:
    plant(agent.home / name, victim)
    with no_worker_started(agent.home) if name == "wake" else contextlib.nullcontext():
        assert called(agent) is Ended.ACKNOWLEDGED
    assert untouched(victim)
    assert agent.problems() == []


@pytest.mark.parametrize("plant", [link, dangling_link, hard_link, pipe])
def test_something_planted_as_the_journal_is_refused_and_counted(agent: Agent, victim: Path, plant: Plant) -> None:
    target = victim.parent if plant is link else victim
    plant(agent.home / "journal", target)
    with worker_seen(agent.home):
        assert called(agent) is Ended.REPORTED
    assert untouched(victim)
    assert agent.losses() == 1


def test_a_journal_that_is_taken_away_is_made_again(agent: Agent) -> None:
    with worker_seen(agent.home):
        called(agent, "gone")
        shutil.rmtree(agent.home / "journal")
        assert called(agent, "kept") is Ended.ACKNOWLEDGED
    assert agent.problems() == ["acknowledged but gone: gone"]


def test_a_home_that_is_a_link_of_the_user_works(tmp_path: Path, hook: list[str]) -> None:
    agent = Agent(tmp_path, hook)
    (tmp_path / "other-disk").mkdir(mode=0o700)
    agent.home.symlink_to(tmp_path / "other-disk")
    with worker_seen(tmp_path / "other-disk"):
        assert called(agent) is Ended.ACKNOWLEDGED
    assert agent.problems() == []
    assert (tmp_path / "other-disk" / "journal").is_dir()


@pytest.mark.parametrize("kind", ["file", "dangling link", "loop"])
def test_a_home_that_is_no_directory_is_counted_elsewhere(tmp_path: Path, hook: list[str], kind: str) -> None:
    agent = Agent(tmp_path, hook)
    if kind == "file":
        agent.home.write_bytes(b"a file")
    else:
        agent.home.symlink_to(agent.home if kind == "loop" else tmp_path / "nowhere")
    assert called(agent) is Ended.REPORTED
    assert agent.losses() == 1
    assert not (tmp_path / "nowhere").exists()


@needs_root
def test_a_home_of_somebody_else_is_refused_and_counted_elsewhere(tmp_path: Path, hook: list[str]) -> None:
    agent = Agent(tmp_path, hook)
    agent.home.mkdir(mode=0o777)
    os.chown(agent.home, STRANGER, STRANGER)
    agent.home.chmod(0o777)
    assert called(agent) is Ended.REPORTED
    assert list(agent.home.iterdir()) == []
    assert agent.losses() == 1
    assert len(list(agent.user.iterdir())) == 1


@needs_root
def test_a_link_of_somebody_else_is_refused_even_to_a_directory_of_ours(tmp_path: Path, hook: list[str]) -> None:
    agent = Agent(tmp_path, hook)
    ours = tmp_path / "ours"
    ours.mkdir(mode=0o700)
    agent.home.symlink_to(ours)
    os.chown(agent.home, STRANGER, STRANGER, follow_symlinks=False)
    assert called(agent) is Ended.REPORTED
    assert list(ours.iterdir()) == []
    assert agent.losses() == 1


@needs_root
def test_a_journal_of_somebody_else_is_refused(agent: Agent) -> None:
    (agent.home / "journal").mkdir(mode=0o700)
    os.chown(agent.home / "journal", STRANGER, STRANGER)
    with worker_seen(agent.home):
        assert called(agent) is Ended.REPORTED
    assert list((agent.home / "journal").iterdir()) == []


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077, 0o777])
def test_everything_is_private_whatever_the_umask(tmp_path: Path, hook: list[str], umask: int) -> None:
    agent = Agent(tmp_path, hook)
    with worker_seen(agent.home):
        agent.call("a", payload("a"), lambda *given: run_plain(*given, umask=umask))
        os.rename(agent.home / "journal", agent.home / "away")
        (agent.home / "journal").write_bytes(b"in the way")
        agent.call("b", payload("b"), lambda *given: run_plain(*given, umask=umask))
        (agent.home / "journal").unlink()
        os.rename(agent.home / "away", agent.home / "journal")
    (agent.home / "worker.start").unlink(missing_ok=True)
    found = {str(path.relative_to(agent.home)): path.stat().st_mode & 0o777 for path in agent.home.rglob("*")}
    assert found.pop("journal") == 0o700 and agent.home.stat().st_mode & 0o777 == 0o700
    # a umask that takes the owner's own rights away as well can only make a file more private
    assert all(mode == 0o600 or (umask == 0o777 and mode & 0o077 == 0) for mode in found.values()), found
    assert agent.problems() == []


# Where home is


@pytest.mark.parametrize("named", [b"relative/home", b".", b"", b"~", b"~/deep/home", b"~ada/x"])
def test_a_home_that_is_no_absolute_path_is_not_made_in_the_project(
    tmp_path: Path, hook: list[str], named: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    user = tmp_path_factory.mktemp("user")
    launcher_home = Path(hook[-1]).parent
    where = user if named == b"~" else user / "deep" / "home" if named == b"~/deep/home" else launcher_home
    environ = {"HINDBRAIN_HOME": os.fsdecode(named), "HOME": str(user)}
    where.mkdir(parents=True, exist_ok=True)
    with worker_seen(where):
        ran = run_plain([*hook, "claude-code"], payload("x"), environ, cwd=project)
    assert ran == Ran(0, b"", b"")
    assert list(project.iterdir()) == []
    assert any(b"|x|" in path.read_bytes() for path in (where / "journal").iterdir())


@pytest.mark.parametrize("name", [b"bytes-\xff\xfe", b"space and 'quotes' \"", b"new\nline", "ünï".encode(), b"-rf", b"x" * 200])
def test_a_home_of_any_name_works(tmp_path: Path, hook: list[str], name: bytes) -> None:
    home = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name))
    with worker_seen(home):
        environ = {"HINDBRAIN_HOME": str(home)}
        ran = run_plain([*hook, "claude-code"], payload("x"), environ)
    assert ran == Ran(0, b"", b"")
    assert [b"|x|" in path.read_bytes() for path in (home / "journal").iterdir()] == [True]


def test_without_any_variable_the_installed_home_is_used(hook: list[str]) -> None:
    home = Path(hook[-1]).parent
    with worker_seen(home):
        ran = run_plain([*hook, "claude-code"], payload("bare"), {})
    assert ran == Ran(0, b"", b"")
    assert any(b"|bare|" in path.read_bytes() for path in (home / "journal").iterdir())


def test_a_home_that_cannot_be_used_and_no_other_place_is_said_on_stderr(tmp_path: Path, hook: list[str]) -> None:
    (tmp_path / "file").write_bytes(b"")
    ran = run_plain([*hook, "claude-code"], b"{}", {"HINDBRAIN_HOME": str(tmp_path / "file")})
    assert (ran.code, ran.stdout) == (0, b"")
    assert NOT_COUNTED in ran.stderr


def test_a_home_name_too_long_is_counted_elsewhere(tmp_path: Path, hook: list[str]) -> None:
    agent = Agent(tmp_path, hook)
    agent.home = tmp_path / ("x" * 300)
    agent.environ["HINDBRAIN_HOME"] = str(agent.home)
    assert called(agent) is Ended.REPORTED


# The package itself


@pytest.fixture
def own_package(tmp_path: Path) -> Path:
    """A copy of the package that a test may take away."""
    shutil.copytree(Path(hindbrain.__file__).parent, tmp_path / "lib" / "hindbrain", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lib"


@pytest.mark.parametrize("gone", ["all", "capture/hook.py", "journal", "base/prefilter.py", "broken"])
def test_a_package_that_is_gone_or_half_replaced_is_a_counted_loss(
    tmp_path: Path, hook: list[str], own_package: Path, gone: str
) -> None:
    agent = Agent(tmp_path, hook)
    launched(agent, own_package)
    with worker_seen(agent.home):
        assert called(agent, "before") is Ended.ACKNOWLEDGED
        if gone == "broken":
            (own_package / "hindbrain" / "capture" / "hook.py").write_text("def main(:\n")
        else:
            target = own_package if gone == "all" else own_package / "hindbrain" / gone
            shutil.rmtree(target) if target.is_dir() else target.unlink()
            for cache in own_package.rglob("__pycache__"):
                shutil.rmtree(cache)
        for number in range(3):
            assert called(agent, f"gone-{number}") is Ended.REPORTED
    assert (agent.home / "lost.unloaded").read_bytes() == b"..."
    assert (agent.home / "lost.unloaded").stat().st_mode & 0o777 == 0o600
    assert agent.losses() == 3
    assert agent.problems() == []


@pytest.mark.parametrize("plant", PLANTS)
def test_something_planted_as_the_launchers_counter_is_not_written_to(
    tmp_path: Path, hook: list[str], victim: Path, plant: Plant
) -> None:
    agent = Agent(tmp_path, hook)
    launched(agent, tmp_path / "no-package")
    plant(agent.home / "lost.unloaded", victim)
    ran = agent.call("a", payload("a"))
    assert NOT_COUNTED in ran.stderr
    assert untouched(victim)
    assert plant is hard_link or agent.losses() == 0, "what was planted is not taken for a count"


def test_a_rule_file_that_is_gone_is_a_counted_loss_and_never_an_unredacted_event(
    tmp_path: Path, hook: list[str], own_package: Path
) -> None:
    agent = Agent(tmp_path, hook)
    launched(agent, own_package)
    (own_package / "hindbrain" / "base" / "redact.py").unlink()
    with worker_seen(agent.home):
        ran = agent.call("s", payload("s", 500, token()))
    assert agent.history.operations[-1].ended is Ended.REPORTED, ran
    assert not [path for path in agent.home.rglob("*") if path.is_file() and token() in path.read_bytes()]


# Somebody else


@pytest.fixture
def foreign(hook: list[str]) -> Iterator[Agent]:
    """An agent of another user."""
    with stranger(hook) as agent:
        yield agent


@needs_root
@pytest.mark.parametrize("what", ["home", "journal"])
def test_a_read_only_directory_is_counted(foreign: Agent, what: str) -> None:
    (foreign.home / "journal").mkdir(mode=0o700)
    os.chown(foreign.home / "journal", STRANGER, STRANGER)
    os.mkfifo(foreign.home / "wake")
    reader = os.open(foreign.home / "wake", os.O_RDONLY | os.O_NONBLOCK)
    target = foreign.home if what == "home" else foreign.home / "journal"
    before = foreign.losses()
    # a mode of 0500 is put right by its owner; what stays read-only belongs to somebody else
    os.chown(target, 0, STRANGER)
    target.chmod(0o550)
    foreign.call("a", payload("a"), as_stranger)
    os.close(reader)
    assert foreign.history.operations[-1].ended is Ended.REPORTED
    assert foreign.losses() == before + 1
    assert foreign.problems() == []


@needs_root
def test_a_directory_whose_mode_was_changed_is_put_right_by_its_owner(foreign: Agent) -> None:
    (foreign.home / "journal").mkdir(mode=0o700)
    os.chown(foreign.home / "journal", STRANGER, STRANGER)
    (foreign.home / "journal").chmod(0o500)
    os.mkfifo(foreign.home / "wake")
    os.chown(foreign.home / "wake", STRANGER, STRANGER)
    reader = os.open(foreign.home / "wake", os.O_RDONLY | os.O_NONBLOCK)
    foreign.call("a", payload("a"), as_stranger)
    os.close(reader)
    assert foreign.history.operations[-1].ended is Ended.ACKNOWLEDGED
    assert foreign.problems() == []


# A race


@pytest.mark.slow
def test_a_journal_swapped_for_a_link_all_the_time_never_leads_outside(agent: Agent, tmp_path: Path) -> None:
    swap_race(agent, tmp_path, hooks=100, rounds=1000)


def test_a_journal_swapped_for_a_link_never_leads_outside(agent: Agent, tmp_path: Path) -> None:
    swap_race(agent, tmp_path, hooks=12, rounds=100)


def exchange(one: Path, other: Path) -> None:
    """Let two names change places in one step, so that there is never a moment without a journal."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.renameat2(-100, os.fsencode(one), -100, os.fsencode(other), 2):
        pytest.skip(f"not run: cannot exchange names: {os.strerror(ctypes.get_errno())}")


def swap_race(agent: Agent, tmp_path: Path, hooks: int, rounds: int) -> None:
    outside, journal, bait = tmp_path / "outside", agent.home / "journal", agent.home / "bait"
    outside.mkdir()
    journal.mkdir(mode=0o700)
    bait.symlink_to(outside)
    exchange(journal, bait)
    exchange(journal, bait)
    done, swaps = threading.Event(), 0

    def swap() -> None:
        nonlocal swaps
        while not done.is_set() or swaps < rounds:
            exchange(journal, bait)
            exchange(journal, bait)
            swaps += 2

    thread = threading.Thread(target=swap)
    with worker_seen(agent.home):
        thread.start()
        try:
            for number in range(hooks):
                agent.call(str(number), payload(str(number)))
        finally:
            done.set()
            thread.join()
    assert swaps >= rounds
    assert list(outside.iterdir()) == []
    assert agent.problems() == []
