"""`hindbrain talk` as a person types it: real processes, a backend that forgets everything between two of them."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hindbrain.serve.memory import Memory

PROGRAM = [sys.executable, str(Path(__file__).with_name("backends.py"))]


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class User:
    """Somebody with a home and a folder of their own."""

    def __init__(self, place: Path) -> None:
        self.home = place / "data"
        self.folder = place / "shop"
        self.folder.mkdir()
        self.environ = {"HOME": str(place / "user"), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}

    def argv(self, *words: str, agent: str = "ada") -> list[str]:
        return [sys.executable, "-m", "hindbrain", "--home", str(self.home), "talk", "--team", "crew", "--agent", agent, *words]

    def talk(self, *words: str, said: str | bytes = "", agent: str = "ada") -> Ran:
        given = said.encode() if isinstance(said, str) else said
        ran = self.run(self.argv(*words, agent=agent), input=given)
        return Ran(ran.returncode, ran.stdout.decode(), ran.stderr.decode())

    def run(self, argv: list[str], **given: Any) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(argv, capture_output=True, env=self.environ, cwd=self.folder, timeout=60, check=False, **given)

    def state(self, **more: str) -> Any:
        return json.loads(self.talk("--json", **more).out)


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def test_the_second_process_is_told_what_the_first_was_asked(user: User) -> None:
    assert user.talk("--", *PROGRAM, "last", said="which port?\n") == (0, "WHICH PORT?\n", "")
    ran = user.talk("--", *PROGRAM, "echo", "-v", said="are you sure?")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith("['-v']\n<hindbrain-memory ")
    assert ran.out.endswith("User: which port?\nAssistant: WHICH PORT?\n</hindbrain-memory>\n\nare you sure?")
    assert user.talk("--", *PROGRAM, "echo", said="hi", agent="bob").out == "[]\nhi"


def test_the_prompt_behind_p_is_taken_and_stdin_left_alone(user: User) -> None:
    tool = user.folder / "tool"
    tool.write_text(f'#!/bin/sh\nprintf "%s|" "$@"\nexec {sys.executable} -c "import sys; sys.exit(0)"\n')
    tool.chmod(0o755)
    assert user.talk("./tool", "-p", "hello", "--fast", said="not read").out == "-p|hello|--fast|"
    assert user.talk("--clear", "--", "./tool", "-p", "hello", "--fast").out == "-p|hello|--fast|"
    assert user.state()["turns"] == 2
    assert user.talk().out == "[Conversation Context]\nUser: hello\nAssistant: -p|hello|--fast|\n"


def test_the_words_of_a_backend_come_out_as_they_are_even_those_no_terminal_should_see(user: User) -> None:
    raw = b"\x1b[31mred\x1b[0m\ttab \xff\xfe"
    (user.folder / "raw").write_bytes(raw)
    assert user.run(user.argv("--", "cat", "raw"), input=b"hello").stdout == raw
    assert "\x1b" not in user.talk().out


def test_a_backend_that_fails_gives_exit_code_8_and_records_nothing(user: User) -> None:
    ran = user.talk("--", *PROGRAM, "fail", "3", said="hello")
    assert (ran.code, ran.out) == (8, "half a reply")
    assert ran.err.startswith("the model\nis away\nerror: ")
    assert "ended with code 3\nhint: nothing was recorded" in ran.err
    assert user.state()["turns"] == 0
    missing = user.talk("--", "no-such-program", "-p", "hello")
    assert (missing.code, missing.err.split("\n")[0]) == (8, "error: cannot run no-such-program: No such file or directory")
    assert user.state()["turns"] == 0


def test_it_is_disabled_enabled_and_cleared_from_the_shell(user: User) -> None:
    user.talk("--", *PROGRAM, "last", said="one")
    assert user.talk("--disable") == (0, "", "")
    assert user.talk("--", *PROGRAM, "echo", said="two").out == "[]\ntwo"
    assert (user.state()["enabled"], user.state()["turns"]) == (False, 2)
    assert "User: one" in user.talk("--enable", "--", *PROGRAM, "echo", said="three").out
    assert user.state()["turns"] == 4
    assert user.talk("--clear") == (0, "", "")
    assert user.talk() == (0, "", "nothing was said yet\n")
    assert user.talk("--clear", "--", *PROGRAM, "echo", said="four").out == "[]\nfour"


def test_json_tells_a_program_the_reply_and_how_things_stand(user: User) -> None:
    ran = user.talk("--json", "--max-turns", "1", "--", *PROGRAM, "last", said="hello")
    assert json.loads(ran.out) == {
        "team": "crew", "agent": "ada", "enabled": True, "turns": 1, "backend_keeps_history": False, "reply": "HELLO",
        "digest": 'Earlier: 1 turn is not repeated here; user said "hello"',
    }  # fmt: skip
    again = user.talk("--json", "--", *PROGRAM, "last", "--resume", said="hello again")
    assert (json.loads(again.out)["backend_keeps_history"], json.loads(again.out)["turns"]) == (True, 1)


def test_with_a_project_the_turns_are_in_the_ledger_too(user: User) -> None:
    assert user.talk("--project", "shop", "--", *PROGRAM, "last", said="the walrus deploys on friday").code == 0
    with Memory(user.home) as memory:
        found = [(hit.agent, hit.role, hit.text) for hit in memory.search("walrus", project="shop")]
    assert sorted(found) == [
        ("ada", "assistant", "THE WALRUS DEPLOYS ON FRIDAY"), ("ada", "user", "the walrus deploys on friday"),
    ]  # fmt: skip


@pytest.mark.slow
def test_what_is_forgotten_in_the_ledger_goes_from_the_conversation_and_a_backup_has_the_rest(user: User, tmp_path: Path) -> None:
    for said in ("the walrus deploys on friday", "keep the penguin", "and the walrus again", *(f"file {n}" for n in range(4))):
        assert user.talk("--project", "shop", "--", *PROGRAM, "last", said=said).code == 0
    ours = [sys.executable, "-m", "hindbrain", "--home", str(user.home)]
    with Memory(user.home) as memory:
        hits = [hit for hit in memory.search("walrus", project="shop") if "walrus" in hit.text.lower()]
    assert len(hits) == 4
    for hit in hits:
        assert user.run([*ours, "forget", hit.id, "--yes"]).returncode == 0
    holding = [path for path in user.home.rglob("*") if path.is_file() and b"walrus" in path.read_bytes().lower()]
    assert holding == []
    assert "walrus" not in user.talk().out.lower()
    assert "penguin" in user.state()["digest"]
    assert user.run([*ours, "backup", str(tmp_path / "copy.tar.gz")]).returncode == 0
    again = [sys.executable, "-m", "hindbrain", "--home", str(tmp_path / "again")]
    restored = user.run([*again, "backup", "--restore", str(tmp_path / "copy.tar.gz")])
    assert restored.returncode == 0, restored.stderr
    folder = tmp_path / "again" / "teams" / "crew" / "memory"
    assert sorted(path.name for path in folder.iterdir()) == ["ada.json", "ada.past.jsonl"]
    user.home = tmp_path / "again"
    assert "User: keep the penguin" in user.talk("--", *PROGRAM, "echo", said="what about the penguin?").out


@pytest.mark.parametrize(
    ("words", "said", "error"),
    [
        (["--", "cat"], "", "the prompt is empty"),
        (["--", "cat"], " \n", "the prompt is empty"),
        (["--enable", "--disable"], "", "--disable and --enable exclude each other"),
        (["--agent", "../x", "--", "cat"], "hi", "'../x' cannot be the name of an agent"),
        (["--agent", ""], "", "'' cannot be the name of an agent"),
    ],
)
def test_what_cannot_be_is_said_in_two_lines_with_exit_code_2(user: User, words: list[str], said: str, error: str) -> None:
    ran = user.talk(*words, said=said)
    assert (ran.code, ran.out, ran.err.split("\n")[0]) == (2, "", f"error: {error}")
    assert ran.err.count("\n") == 2


def test_a_terminal_without_a_prompt_is_not_waited_for(user: User) -> None:
    ours, theirs = pty.openpty()
    try:
        ran = user.run(user.argv("--", "cat"), stdin=theirs)
    finally:
        os.close(ours)
        os.close(theirs)
    assert (ran.returncode, ran.stderr.split(b"\n")[0]) == (2, b"error: there is no prompt")


def test_a_damaged_conversation_is_moved_aside_with_a_warning_and_talk_goes_on(user: User) -> None:
    user.talk("--", *PROGRAM, "last", said="one")
    (user.home / "teams" / "crew" / "memory" / "ada.json").write_text("{")
    ran = user.talk("--", *PROGRAM, "last", said="two")
    assert (ran.code, ran.out) == (0, "TWO\n")
    assert ran.err.startswith("warning: ") and ran.err.count("\n") == 1
    assert user.talk().out == "[Conversation Context]\nUser: two\nAssistant: TWO\n"


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_ended_while_the_backend_still_talks_nothing_is_recorded_and_nothing_before_is_lost(user: User, number: int) -> None:
    user.talk("--", *PROGRAM, "last", said="one")
    process = subprocess.Popen(
        user.argv("--", *PROGRAM, "hang"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=user.environ, cwd=user.folder, start_new_session=True,
    )  # fmt: skip
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(b"two")
    process.stdin.close()
    assert process.stdout.read(12) == b"half a reply"
    os.killpg(process.pid, number)
    assert process.wait(30) == (-9 if number == signal.SIGKILL else 130)
    process.stdout.close()
    process.stderr.close()
    assert user.talk().out == "[Conversation Context]\nUser: one\nAssistant: ONE\n"
