"""Whatever is typed: one sentence and a hint with the right exit code, or an answer; never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete, get_completion_class

from hindbrain.serve.cli import COMMANDS, cli
from tests.serve.commands import CommandLine, Ran, fill

READING = ("search", "ask", "context", "show", "sessions", "timeline", "review", "dream")
KEEPING = ("remember", "correct", "pin", "forget", "import")


@pytest.fixture
def run(run: CommandLine) -> CommandLine:
    fill(run.home, run.folder)
    return run


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["search"], 2), (["search", ""], 2), (["search", " ", "\t"], 2), (["search", "x", "-k", "0"], 2),
        (["search", "x", "--limit", "-1"], 2), (["search", "x", "-k", "many"], 2), (["search", "x", "--role", "boss"], 2),
        (["search", "x", "--after", "yesterdy"], 2), (["search", "x", "--before", "2026-13-45"], 2),
        (["search", "x", "--as-of", ""], 2), (["search", "x", "--after", "٢٠٢٦-11-15"], 2), (["search", "x", "--as-of", "1"], 2),
        (["search", "x", "--after", "2026-11-02", "--before", "2026-11-01"], 2),
        (["search", "x", "--project", "a", "--all-projects"], 2), (["search", "x", "--project", ""], 2),
        (["search", "--frob"], 2), (["search", "x", "--after", "99999-01-01"], 2),
        (["context", "x", "--budget", "0"], 2), (["context", "x", "--budget", "-5"], 2), (["context", "a", "b"], 2),
        (["show"], 2), (["show", ""], 2), (["show", " "], 2), (["show", "x", "--limit", "0"], 2), (["show", "nosuchthing"], 6),
        (["sessions", "--limit", "-3"], 2), (["sessions", "extra"], 2), (["timeline", "--since", "soon"], 2),
        (["timeline", "--limit", "0"], 2),
        (["remember"], 2), (["remember", "  "], 2), (["remember", "x", "--kind", "rumour"], 2),
        (["remember", "x", "--global", "--project", "p"], 2), (["remember", "x", "--project", " "], 2),
        (["correct"], 2), (["correct", "m_1234567"], 2), (["correct", "m_1234567", " "], 2), (["correct", "m_1234567", "x"], 6),
        (["pin"], 2), (["pin", ""], 2), (["pin", "m_1234567"], 6), (["pin", "talk-1"], 2),
        (["forget"], 2), (["forget", "a", "--session", "b"], 2), (["forget", "--session", "a", "--project", "b", "--yes"], 2),
        (["forget", "nosuchthing", "--yes"], 6), (["forget", "--session", "nosuch", "--yes"], 6), (["forget", ""], 2),
        (["forget", "--project", "nosuch", "--yes"], 6), (["forget", "--project", "", "--yes"], 2),
        (["import"], 2), (["import", "emacs"], 2), (["import", "claude-code", "/nonexistent/folder"], 6),
        (["completion"], 2), (["completion", "powershell"], 2),
        (["ask"], 2), (["ask", ""], 2), (["ask", " ", "\t"], 2), (["ask", "x", "--as-of", "soon"], 2), (["ask", "--frob"], 2),
        (["ask", "x", "--project", "a", "--all-projects"], 2), (["ask", "x", "--project", " "], 2),
        (["review", "--limit", "0"], 2), (["review", "frob"], 2), (["review", "accept"], 2), (["review", "accept", ""], 2),
        (["review", "accept", "m_1234567"], 6), (["review", "accept", "talk-1"], 2), (["review", "reject"], 2),
        (["review", "reject", "m_1234567"], 6), (["review", "reject", "\udcff"], 6), (["review", "edit", "m_1234567"], 2),
        (["review", "edit", "m_1234567", " "], 2), (["review", "edit", "m_1234567", "x"], 6), (["review", "edit", " ", "x"], 2),
        (["review", "--project", "a", "--all-projects"], 2),
        (["dream", "--undo", ""], 6), (["dream", "--undo", "nosuch"], 6), (["dream", "--undo", "' OR 1=1 --"], 6),
        (["dream", "--undo", "\x1b[2J\udcff"], 6), (["dream", "--list", "--deep"], 2), (["dream", "--list", "--undo", "x"], 2),
        (["dream", "--deep", "--project", "a"], 2), (["dream", "extra"], 2), (["dream", "--project", " "], 2),
    ],
)  # fmt: skip
def test_bad_input_is_two_lines_and_the_right_code(run: CommandLine, arguments: list[str], code: int) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.out) == (code, ""), ran
    assert [text.split(":")[0] for text in ran.err.splitlines()] == ["error", "hint"], ran.err


@pytest.mark.parametrize(
    "words",
    [
        "login AND", "NEAR(login, 2)", '"login', "login*", "^login", "text : login", "near: login", "-login", "(login",
        "login;--", "\U0001f600 login \U0001f600", "login \udcff", "login \u202e", "login " * 20_000, "login\x01",
        "' OR 1=1; -- login",
    ],
)  # fmt: skip
def test_any_text_is_a_question_that_finds_its_words(run: CommandLine, words: str) -> None:
    plain = {each["id"] for each in run.one("search", "login")}
    ran = run("search", "--json", "--", words)
    assert ran.code == 0 and plain <= {each["id"] for each in ran.data}
    assert run("context", "--", words).code == 0


@pytest.mark.parametrize("words", ["\U0001f600", "!!!", "\udcff", "…", "\x01"])
def test_a_question_without_a_word_finds_nothing(run: CommandLine, words: str) -> None:
    assert run("search", words) == Ran(0, "", f"nothing fits in {run.folder}\n")


def test_a_long_text_is_remembered_and_shown_in_part(run: CommandLine) -> None:
    text = "walrus " * 15_000
    ran = run("remember", text)
    assert ran.code == 0 and len(ran.out) < 400
    assert run.one("search", "walrus")[0]["text"].count("walrus") == 15_000
    assert all(len(each) < 400 for each in run("search", "walrus").out.splitlines())


def test_a_project_named_in_bytes_no_text_has_is_only_unknown(run: CommandLine) -> None:
    for name in ("\udcff\udcfe", "/tmp/\udcff", "%", "' OR 1=1 --", "x" * 100_000, "\x1b[2J"):
        ran = run("search", "login", "--project", name)
        assert (ran.code, ran.out) == (0, "") and ran.err.replace("\n", "").isprintable(), name[:20]
        assert run("forget", "--project", name, "--yes").code == 6


def test_a_current_directory_that_is_gone_is_said(run: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    for command in (["search", "x"], ["context"], ["sessions"], ["timeline"], ["remember", "x"], ["ask", "x"], ["dream"]):
        ran = run(*command)
        assert ran == Ran(2, "", "error: the current directory is gone\nhint: name a project with --project\n"), command
    assert run("search", "login", "--all-projects").code == 0


def test_a_shared_database_that_is_away_keeps_no_command_from_answering(
    run: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = (
        ["search", "login"], ["context"], ["show", "talk-1"], ["sessions"], ["timeline"], ["forget", "talk-1", "--dry-run"],
        ["ask", "which service uses PostgreSQL"], ["review"],
    )  # fmt: skip
    alone = [run(*command) for command in commands]
    monkeypatch.setenv("HINDBRAIN_DATABASE", "postgresql://ada:hunter2x@127.0.0.1:1/memory")
    for command, before in zip(commands, alone, strict=True):
        ran = run(*command)
        assert (ran.code, ran.out) == (before.code, before.out), command
        assert "warning: the shared ledger does not answer: " in ran.err, command
        assert "these are this machine's own memories" in ran.err and "hunter2x" not in ran.err, command


def test_a_ledger_that_is_no_database_ends_with_its_own_code(run: CommandLine) -> None:
    for end in ("", "-wal", "-shm"):
        run.home.ledger.with_name(f"ledger.db{end}").write_bytes(b"garbage" * 1000)
    for command in (
        ["search", "x"], ["context"], ["show", "talk-1"], ["sessions"], ["timeline"], ["forget", "x", "--dry-run"], ["ask", "x"],
        ["review"], ["dream"], ["dream", "--list"],
    ):  # fmt: skip
        ran = run(*command)
        assert (ran.code, ran.out, ran.err.count("\n")) == (5, "", 2), (command, ran)


def piped(run: CommandLine, *arguments: str, out: int) -> tuple[int, bytes]:
    argv = [sys.executable, "-m", "hindbrain", "--home", str(run.home.root), *arguments]
    ran = subprocess.run(argv, stdout=out, stderr=subprocess.PIPE, timeout=60, check=False)
    return ran.returncode, ran.stderr


@pytest.mark.parametrize("command", [["search", "login"], ["show", "talk-1", "--json"], ["completion", "zsh"]])
def test_a_reader_that_leaves_and_a_full_disk_are_told_apart(run: CommandLine, command: list[str]) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert piped(run, *command, out=writer) == (141, b"")
    finally:
        os.close(writer)
    if Path("/dev/full").exists():
        with open("/dev/full", "wb") as full:
            assert piped(run, *command, out=full.fileno())[0] == 4


def test_a_closed_stdout_is_an_error(run: CommandLine) -> None:
    line = f"exec {sys.executable} -m hindbrain --home {run.home.root} search login >&-"
    ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=60, check=False)
    said = "error: cannot write the output: stdout is closed\nhint: check where the output goes\n"
    assert (ran.returncode, ran.stderr) == (4, said)


@pytest.mark.parametrize("name", [*READING, *KEEPING, "completion"])
def test_help_has_an_example_and_programs_get_json(name: str) -> None:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None and f"hindbrain {name}" in (command.help or "")
    flags = {flag for param in command.params for flag in param.opts}
    assert "--json" in flags or name == "completion"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completion_script_is_clicks_own_to_the_letter(run: CommandLine, shell: str) -> None:
    kind = get_completion_class(shell)
    assert kind is not None
    wanted = ShellComplete.source(kind(cli, {}, "hindbrain", "_HINDBRAIN_COMPLETE"))
    assert run("completion", shell) == Ran(0, wanted.rstrip("\n") + "\n", "")


def test_the_completion_completes_commands_and_options(run: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_HINDBRAIN_COMPLETE", "bash_complete")
    for typed, number, wanted in (("hindbrain ", "1", set(COMMANDS)), ("hindbrain search --all", "2", {"--all-projects"})):
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", number)
        ran = run()
        assert ran.code == 0 and {each.split(",")[1] for each in ran.out.split()} == wanted
