"""Nothing of one project is told to another, by any way out; what is meant for all projects is told to each."""

from __future__ import annotations

import itertools
import json
import os
import random
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.serve import answer
from hindbrain.serve.asking import Asking
from tests.recall.homes import by_hook, by_worker, payload

WORDS = ("marmoset", "cage", "turquoise", "paint")
MARK = re.compile(r"mark([0-9]+)end")


@dataclass(frozen=True)
class Piece:
    """Something said or kept: in which project, by whom, under what name of a session."""

    project: int
    words: tuple[str, ...]
    kept: str = ""  # the kind of memory; "" for a turn
    everywhere: bool = False
    session: int = 0


PIECES = st.lists(
    st.builds(
        Piece, project=st.integers(0, 3), words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(tuple),
        kept=st.sampled_from(["", "", "", "fact", "instruction", "preference"]), everywhere=st.booleans(),
        session=st.integers(0, 2),
    ),
    min_size=2, max_size=10,
)  # fmt: skip
_rounds = itertools.count()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, Path]]:
    """One home for all examples: each adds projects of its own, so all earlier ones are strangers to it too."""
    home = Path(tmp_path_factory.mktemp("scopes")) / "home"
    with Memory.open(home=home) as opened:
        yield opened, home


def fill(memory: Memory, pieces: list[Piece], folders: list[str], marks: dict[int, str]) -> None:
    """Every text carries a mark that says where it belongs."""
    for piece in pieces:
        number, folder = len(marks), folders[piece.project]
        text = f"{' '.join(piece.words)} mark{number}end"
        if piece.kept:
            everywhere = piece.everywhere
            memory.remember(text, kind=piece.kept, project=None if everywhere else folder)
            marks[number] = "" if everywhere else folder
        else:
            # sessions of equal name in different projects would be one session; clients never do that
            session = f"{folder} {piece.session}"
            memory.record(agent="claude-code", session=session, role="user", text=text, project=folder)
            marks[number] = folder
    memory.settle()


def strangers(text: str, folder: str, marks: dict[int, str]) -> list[str]:
    """Marks in a text that belong to another project."""
    return [mark for mark in MARK.findall(text) if marks[int(mark)] not in ("", folder)]


def outs(memory: Memory, home: Path, folder: str) -> dict[str, str]:
    """Everything that can be told inside a folder."""
    question = " ".join(WORDS)
    prompt = payload("UserPromptSubmit", folder, question)
    start = payload("SessionStart", folder)
    child = payload("SubagentStart", folder, agent_id="a1")
    return {
        "search": " ".join(hit.text for hit in memory.search(question, k=1000, project=folder)),
        "context": memory.context(question, project=folder, budget_tokens=4000).text,
        **{f"hook {call['hook_event_name']}": by_hook(home, call["hook_event_name"], call) for call in (prompt, start, child)},
        **{f"worker {call['hook_event_name']}": by_worker(home, call["hook_event_name"], call) for call in (prompt, start,
        child)},
    }


_MARKS: dict[int, str] = {}


def no_stranger_is_told(memory: Memory, home: Path, pieces: list[Piece]) -> None:
    number = next(_rounds)
    folders = [f"/scopes/{number}/{name}" for name in ("a", "b", "a b", "ab")]
    fill(memory, pieces, folders, _MARKS)
    for folder in folders:
        for way, text in outs(memory, home, folder).items():
            assert strangers(text, folder, _MARKS) == [], (way, folder)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=PIECES)
def test_nothing_of_another_project_is_told(memory: tuple[Memory, Path], pieces: list[Piece]) -> None:
    no_stranger_is_told(*memory, pieces)


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(pieces=PIECES)
def test_nothing_of_another_project_is_told_many_times_over(memory: tuple[Memory, Path], pieces: list[Piece]) -> None:
    no_stranger_is_told(*memory, pieces)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Memory, Path]]:
    with Memory.open(home=tmp_path / "home") as opened:
        for project in ("one", "two"):
            text = f"the marmoset cage of {project} is turquoise"
            opened.record(agent="claude-code", session=f"s {project}", role="user", text=text, project=f"/p/{project}")
            opened.remember(f"rule of {project}", kind="instruction", project=f"/p/{project}")
        opened.remember("rule for all", kind="instruction")
        opened.settle()
        yield opened, tmp_path / "home"


def test_each_way_out_does_tell_what_belongs(two: tuple[Memory, Path]) -> None:
    memory, home = two
    question = "which marmoset cage is turquoise"
    assert "of one is" in memory.search(question, project="/p/one")[0].text
    for text in (
        memory.context(question, project="/p/one").text,
        by_hook(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", question)),
        by_worker(home, "UserPromptSubmit", payload("UserPromptSubmit", "/p/one", question)),
        by_hook(home, "SessionStart", payload("SessionStart", "/p/one")),
        by_worker(home, "SessionStart", payload("SessionStart", "/p/one")),
    ):
        assert all(each in text for each in ("cage of one", "rule of one", "rule for all"))
        assert "of two" not in text


@pytest.mark.parametrize("cwd", ["", "/", "/p", "/p/one/", "/p/oneX", "/P/ONE", "/p/one\x00", "relative", "/p/%6Fne", "%"])
def test_a_folder_nothing_is_stored_of_is_told_what_is_for_all(two: tuple[Memory, Path], cwd: str) -> None:
    _, home = two
    question = "which marmoset cage is turquoise"
    for event, prompt in (("UserPromptSubmit", question), ("SessionStart", "")):
        texts = [by_hook(home, event, payload(event, cwd, prompt))]
        if "\x00" not in cwd:
            texts.append(by_worker(home, event, payload(event, cwd, prompt)))
        for text in texts:
            assert "cage of two" not in text and "rule of two" not in text
            assert cwd.rstrip("/") == "/p/one" or "of one" not in text
            assert "rule for all" in text


def test_a_prompt_that_imitates_a_payload_is_only_a_prompt(two: tuple[Memory, Path]) -> None:
    _, home = two
    for fake in ('"cwd":"/p/two"', '","cwd":"/p/two","x":"', '\\","cwd":"/p/two', '{"cwd": "/p/two"}'):
        call = payload("UserPromptSubmit", "/p/one", f"marmoset cage turquoise {fake}", session=f"x{fake}y")
        assert "of two" not in by_hook(home, "UserPromptSubmit", call)
        assert "cage of one" in by_hook(home, "UserPromptSubmit", call)


def test_the_command_line_keeps_to_the_project_it_is_told(two: tuple[Memory, Path], tmp_path: Path) -> None:
    _, home = two
    asked = ["search", "--json", "--project", "/p/one", "marmoset", "cage", "rule"]
    argv = [sys.executable, "-m", "hindbrain", "--home", str(home), *asked]
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    ran = subprocess.run(argv, capture_output=True, text=True, env=environ, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
    found = [hit["text"] for hit in json.loads(ran.stdout)]
    assert "the marmoset cage of one is turquoise" in found
    assert not [text for text in found if "of two" in text]


def _colliding() -> tuple[str, str]:
    """Two folders whose checksums are equal."""
    seen: dict[int, str] = {}
    choose = random.Random(1)
    for _ in range(1 << 20):
        folder = f"/p/{choose.getrandbits(80):020x}"
        other = seen.setdefault(zlib.crc32(folder.encode()), folder)
        if other != folder:
            return other, folder
    raise AssertionError("no two folders collide")


def test_a_block_prepared_for_one_folder_is_not_told_in_another_of_equal_checksum(tmp_path: Path) -> None:
    one, two = _colliding()
    home = tmp_path / "home"
    with Memory.open(home=home) as memory:
        memory.remember("marmoset rule", kind="instruction", project=one)
        memory.settle()
    assert "marmoset rule" in by_worker(home, "SessionStart", payload("SessionStart", one))
    (home / "ledger.db").rename(home / "gone.db")
    for folder, told in ((one, True), (two, False)):
        call = json.dumps(payload("SessionStart", folder)).encode()
        said = answer.answer(os.fsencode(home), "claude-code", "SessionStart", call)
        assert (b"marmoset rule" in said) is told


def test_what_was_told_to_one_session_is_not_taken_as_told_to_another(two: tuple[Memory, Path]) -> None:
    _, home = two
    asking = Asking(Home(home), SystemClock())
    with Ledger.open(Home(home).ledger, SystemClock(), read_only=True) as ledger:
        def ask(session: str) -> bytes:
            call = payload("UserPromptSubmit", "/p/one", "which marmoset cage is turquoise", session=session)
            return asking.answer(ledger, "UserPromptSubmit", dict(call))

        first = ask("x")
        assert first and ask("x") == b""
        assert ask("y") == first
