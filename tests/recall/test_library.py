"""Hindbrain as a library: many threads and processes at once, one sync per record, and no input that breaks it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import hindbrain
from hindbrain import Memory
from hindbrain.base.errors import ConfigError, HindbrainError, UsageError
from hindbrain.base.files import Lock
from hindbrain.base.home import Home
from hindbrain.capture.event import MAX_TEXT_CHARS
from hindbrain.serve.memory import NotSettled
from tests.crash.agent import no_worker_started, token
from tests.crash.strace import calls
from tests.recall.homes import by_hook, payload

TURN: dict[str, Any] = {"agent": "a", "session": "s", "role": "user", "text": "marmoset", "project": "shop"}


def stored(memory: Memory, **turn: Any) -> hindbrain.Hit:
    """One turn through all of it and back."""
    identifier = memory.record(**(TURN | turn))
    memory.settle()
    (hit,) = [hit for hit in memory.search("marmoset", k=1000) if hit.id == identifier]
    return hit


def test_what_is_recorded_comes_back_as_it_was(memory: Memory) -> None:
    at = datetime(2026, 5, 4, 3, 2, 1, 7000, tzinfo=UTC)
    hit = stored(memory, at=at, key="mine", agent="claude-code", session="s7", role="assistant", text="The marmoset\nsleeps")
    assert (hit.text, hit.at, hit.keys, hit.agent, hit.session, hit.role, hit.kind) == (
        "The marmoset\nsleeps", at, ("mine",), "claude-code", "s7", "assistant", "turn",
    )  # fmt: skip


def test_the_same_key_in_a_session_is_the_same_turn(memory: Memory) -> None:
    at = datetime(2026, 5, 4, tzinfo=UTC)
    ids = {memory.record(**TURN, key="k", at=at) for _ in range(3)}
    other = memory.record(**(TURN | {"session": "s2"}), key="k", at=at)
    memory.settle()
    assert len(ids) == 1 and other not in ids
    assert len(memory.search("marmoset")) == 2


def test_what_is_said_in_a_row_stays_in_a_row(memory: Memory) -> None:
    ids = [memory.record(**(TURN | {"text": f"marmoset {number}"})) for number in range(30)]
    memory.settle()
    hits = sorted(memory.search("marmoset", k=100), key=lambda hit: hit.at)
    assert [hit.id for hit in hits] == ids
    assert len({hit.at for hit in hits}) == 30


@pytest.mark.parametrize(("turn", "says"), [
    ({"role": "system"}, "'system' is not a role"), ({"role": ""}, "'' is not a role"), ({"session": ""}, "session is empty"),
    ({"agent": ""}, "agent is empty"), ({"session": None}, "session is empty or not text"), ({"session": 5}, "not text"),
    ({"text": b"marmoset"}, "text is bytes"), ({"text": None}, "text is NoneType"),
    ({"agent": b"a"}, "agent is empty or not text"),
    ({"role": ["user"]}, "is not a role"), ({"at": datetime(1950, 6, 1, tzinfo=UTC)}, "before 1970"),
    ({"at": datetime(1, 1, 1)}, "before 1970"),  # noqa: DTZ001
])  # fmt: skip
def test_what_is_no_turn_is_refused_and_nothing_is_kept(memory: Memory, turn: dict[str, Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        memory.record(**(TURN | turn))
    memory.settle()
    assert memory.search("marmoset") == []


@pytest.mark.parametrize("at", [
    datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2026, 3, 29, 2, 30, tzinfo=timezone(timedelta(hours=-11, minutes=-30))),
    datetime(2026, 1, 1, 0, 0, 0, 1000, tzinfo=UTC),
], ids=str)  # fmt: skip
def test_any_time_is_kept_to_the_millisecond(memory: Memory, at: datetime) -> None:
    assert stored(memory, at=at).at == at
    assert [hit.at for hit in memory.search("marmoset", as_of=at, after=at)] == [at]


def test_a_time_python_cannot_say_in_utc_is_the_last_it_can(memory: Memory) -> None:
    late = datetime(9999, 12, 31, 23, 0, tzinfo=timezone(timedelta(hours=-12)))
    assert stored(memory, at=late).at.year == 9999
    assert "marmoset" in memory.context("marmoset").text


@pytest.mark.parametrize("text", [
    "marmoset \ud800 lone", "marmoset \x00 nul", "marmoset \ufffe\uffff", "marmoset \U0010ffff", "marmoset\r\n\t\x0b",
    "marmoset " + "é" * 1000,
    "\ufeffmarmoset", "marmoset 👩‍👩‍👧‍👦", '{"marmoset": "\\u0000"}', "marmoset %0A%25 \n%",
], ids=ascii)  # fmt: skip
def test_any_text_is_kept(memory: Memory, text: str) -> None:
    assert stored(memory, text=text).text == text.replace("\ud800", "\ufffd" * 3).replace("\x00", "\ufffd")


def test_a_text_of_five_megabytes_is_kept_in_part_and_says_so(memory: Memory) -> None:
    text = "marmoset " + "x" * 5_000_000
    found = stored(memory, text=text).text
    assert found.startswith("marmoset xxx") and found.endswith(f"[... {len(text) - MAX_TEXT_CHARS} more characters not kept]")


@pytest.mark.parametrize("name", ["\ud800", "x" * 5000, "a\x00b", "two\nlines", "日本", " ", "'; DROP TABLE x; --", "../../x"])
def test_any_name_of_a_session_project_or_key_will_do(memory: Memory, name: str) -> None:
    hit = stored(memory, session=name, project=f"p{name}", key=name)
    assert [each.id for each in memory.search("marmoset", project=f"p{name}")] == [hit.id]


def test_an_empty_text_is_a_turn_without_words(memory: Memory) -> None:
    memory.record(**(TURN | {"text": ""}))
    memory.settle()
    assert memory.search("marmoset") == []


def test_a_secret_never_reaches_the_disk(memory: Memory, home: Path) -> None:
    secret = token().decode()
    memory.record(**(TURN | {"text": f"marmoset {secret}"}))
    memory.remember(f"the marmoset key is {secret}")
    memory.settle()
    assert len(memory.search("marmoset")) == 2
    assert not [path for path in home.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]


def test_a_project_by_name_and_one_by_folder_are_told_apart(memory: Memory, home: Path) -> None:
    memory.record(**(TURN | {"project": "shop", "text": "marmoset by name"}))
    memory.record(**(TURN | {"project": "/srv/shop", "session": "s2", "text": "marmoset by folder"}))
    memory.settle()
    assert [hit.text for hit in memory.search("marmoset", project="/srv/shop")] == ["marmoset by folder"]
    assert [hit.text for hit in memory.search("marmoset", project="name:shop")] == ["marmoset by name"]
    assert "by folder" in by_hook(home, "SessionStart", payload("SessionStart", "/srv/shop"))


def test_two_homes_in_one_process_know_nothing_of_each_other(tmp_path: Path) -> None:
    with Memory.open(home=tmp_path / "a") as one, Memory.open(home=tmp_path / "b") as two:
        stored(one)
        two.settle()
        assert two.search("marmoset") == []


def test_a_home_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(HindbrainError):
            Memory.open(home=home)
    with pytest.raises(ConfigError):
        Memory.open(home=tmp_path / "x", database="nonsense://y")


def test_what_does_not_settle_in_time_says_so_and_is_not_lost(memory: Memory, home: Path) -> None:
    memory.record(**TURN)
    with no_worker_started(home), Lock(Home(home).worker_lock):  # a worker that does nothing
        with pytest.raises(NotSettled):
            memory.settle(timeout=0.1)
    memory.settle()
    assert len(memory.search("marmoset")) == 1


def test_threads_record_and_search_through_one_memory(memory: Memory, home: Path) -> None:
    ids, problems, guard = set[str](), list[BaseException](), threading.Lock()

    def work(name: int) -> None:
        try:
            for number in range(15):
                identifier = memory.record(**(TURN | {"session": f"s{name}", "text": f"marmoset {name} {number}"}))
                with guard:
                    ids.add(identifier)
                memory.search(f"marmoset {number}", project="shop")
                if number % 5 == 0:
                    memory.settle()
        except BaseException as error:  # noqa: BLE001  # told below
            problems.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in range(6)]
    with no_worker_started(home):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert problems == []
    memory.settle()
    assert {hit.id for hit in memory.search("marmoset", k=1000)} == ids and len(ids) == 90
    memory.close()  # connections that other threads had open too


WORK = """
import sys
from hindbrain import Memory
with Memory.open(home=sys.argv[1]) as memory:
    for number in range(25):
        print(memory.record(agent="a", session=sys.argv[2], role="user", text=f"marmoset {number}", project="shop"))
        memory.search("marmoset", project="shop")
        if number % 10 == 0:
            memory.settle()
"""


def test_processes_record_and_search_in_one_home(memory: Memory, home: Path) -> None:
    argv = [sys.executable, "-c", WORK, str(home)]
    environ = {"PATH": os.environ["PATH"], "HOME": str(home.parent)}
    ids = set[str]()
    with no_worker_started(home):
        running = [
            subprocess.Popen([*argv, f"s{name}"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True) for name in range(4)
        ]
        for process in running:
            out, err = process.communicate(timeout=120)
            assert (process.returncode, err) == (0, "")
            ids.update(out.split())
    memory.settle()
    assert {hit.id for hit in memory.search("marmoset", k=1000)} == ids and len(ids) == 100


ONE = """
import os, sys
from hindbrain import Memory
with Memory.open(home=sys.argv[1]) as memory:
    for number in range(3):
        memory.record(agent="a", session="s", role="user", text="warm up", project="shop")
    os.path.exists("/mark-begin")
    memory.record(agent="a", session="s", role="user", text="marmoset", project="shop")
    os.path.exists("/mark-end")
"""


@pytest.mark.strace
def test_a_record_is_one_write_and_one_sync(tmp_path: Path) -> None:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    lines = calls([sys.executable, "-c", ONE, str(tmp_path / "home")], b"", environ, tmp_path / "log")
    begin = next(number for number, line in enumerate(lines) if "mark-begin" in line)
    end = next(number for number, line in enumerate(lines) if "mark-end" in line)
    names = [line.split("(")[0].split()[-1] for line in lines[begin + 1 : end]]
    assert (names.count("fdatasync"), names.count("fsync"), names.count("write")) == (1, 0, 1)


def ledgers_open(home: Path) -> int:
    """How often this process has the ledger open."""
    found = 0
    for each in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found += os.readlink(f"/proc/self/fd/{each}") == str(home / "ledger.db")
    return found


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks into /proc")
def test_a_thread_that_asked_before_something_was_forgotten_keeps_no_file_open(tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as other:  # it outlives the memory
        with Memory.open(home=tmp_path) as memory:
            stored(memory)
            assert len(other.submit(memory.search, "marmoset").result()) == 1
            memory.forget(session="s")
            assert other.submit(memory.search, "marmoset").result() == []
            stored(memory, session="s2")
            assert len(other.submit(memory.search, "marmoset").result()) == 1
            memory.forget(session="s2")
        assert ledgers_open(tmp_path) == 0
