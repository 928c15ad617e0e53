"""The command line as a user runs it: real processes, their two outputs and their exit code."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from hindbrain import __version__

HINDBRAIN = [sys.executable, "-c", "from hindbrain.serve.cli import main; main()"]
ESCAPE = "\x1b]52;c;eA==\x07"


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Shell:
    """Runs commands with a home of their own and no setting from outside."""

    def __init__(self, tmp_path: Path) -> None:
        self.home = tmp_path / "home"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HINDBRAIN_")}
        self.environ = {**kept, "HINDBRAIN_HOME": str(self.home), "HOME": str(tmp_path)}

    def __call__(self, *args: str, command: list[str] = HINDBRAIN, **environ: str) -> Ran:
        settings = self.environ | environ
        done = subprocess.run([*command, *args], env=settings, capture_output=True, encoding="utf-8", check=False)
        return Ran(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_version_is_printed(shell: Shell) -> None:
    assert shell("--version") == Ran(0, f"hindbrain {__version__}\n", "")


def test_help_goes_to_stdout_when_asked_for_and_to_stderr_when_not(shell: Shell) -> None:
    asked, bare = shell("--help"), shell()
    assert (asked.code, asked.err, bare.code, bare.out) == (0, "", 2, "")
    assert "Exit codes:" in asked.out and "Exit codes:" in bare.err


def test_loading_the_command_line_imports_neither_database_nor_drawing_library(shell: Shell) -> None:
    code = "import sys, hindbrain.serve.cli; print(sorted({'rich', 'sqlite3'} & sys.modules.keys()))"
    assert shell(command=[sys.executable, "-c", code]) == Ran(0, "[]\n", "")


def test_show_lists_each_value_with_its_source(shell: Shell) -> None:
    shell("config", "set", "log.level", "debug")
    shown = shell("config", "show", HINDBRAIN_WORKER_IDLE_SECONDS="7", HINDBRAIN_ODD="1", HINDBRAIN_GUARD="1")
    rows = {line.split()[0]: line.split(maxsplit=2)[1:] for line in shown.out.splitlines()}
    assert (shown.code, shown.err) == (0, "unused variable: HINDBRAIN_ODD\n")
    assert rows["home"] == [str(shell.home), "environment HINDBRAIN_HOME"]
    assert rows["worker.idle_seconds"] == ["7", "environment HINDBRAIN_WORKER_IDLE_SECONDS"]
    assert rows["log.level"] == ["debug", f"file {shell.home}/config.toml, line 2"]
    assert rows["capture.catch_up"] == ["true", "default"]


def test_show_as_json_says_the_same(shell: Shell) -> None:
    shown = shell("config", "show", "--json", HINDBRAIN_JOURNAL_KEEP_SEGMENTS="9", HINDBRAIN_ODD="1")
    data = json.loads(shown.out)
    assert {"name": "journal.keep_segments", "value": 9, "source": "environment",
            "place": "HINDBRAIN_JOURNAL_KEEP_SEGMENTS"} in data["settings"]  # fmt: skip
    assert data["unused"] == ["HINDBRAIN_ODD"]


def test_a_password_is_never_shown(shell: Shell) -> None:
    password = "hunter" + "2x"
    url = f"postgresql://ada:{password}@db/memory"
    runs = [
        shell("config", "show", HINDBRAIN_DATABASE=url),
        shell("config", "show", "--json", HINDBRAIN_DATABASE=url),
        shell("config", "set", "database", url),
        shell("config", "show"),
        shell("config", "set", "database", f"mysql://ada:{password}@db/memory"),
    ]
    assert [run.code for run in runs] == [0, 0, 0, 0, 2]
    assert [run for run in runs if password in run.out + run.err] == []
    assert "postgresql://ada:****@db/memory" in runs[3].out


def test_set_creates_a_private_file_and_keeps_what_it_holds(shell: Shell) -> None:
    old = os.umask(0)
    try:
        done = shell("config", "set", "worker.idle_seconds", "60")
    finally:
        os.umask(old)
    path = shell.home / "config.toml"
    assert done == Ran(0, "", f"worker.idle_seconds is now 60 in {path}\n")
    assert (stat.S_IMODE(shell.home.stat().st_mode), stat.S_IMODE(path.stat().st_mode)) == (0o700, 0o600)
    path.write_text("# mine\n" + path.read_text())
    shell("config", "set", "capture.transcript_roots", "/a:/b")
    assert path.read_text() == '# mine\n[worker]\nidle_seconds = 60\n\n[capture]\ntranscript_roots = ["/a", "/b"]\n'


def test_set_warns_when_a_variable_wins_anyway(shell: Shell) -> None:
    done = shell("config", "set", "log.level", "debug", HINDBRAIN_LOG_LEVEL="error")
    assert done.err.splitlines()[1] == "warning: the variable HINDBRAIN_LOG_LEVEL is set and wins over the file"


def test_set_repairs_a_bad_value_that_stops_everything_else(shell: Shell) -> None:
    shell("config", "set", "log.level", "debug")
    path = shell.home / "config.toml"
    path.write_text("[log]\nlevel = 3\n")
    allowed = "allowed: debug, info, warning or error"
    assert shell("config", "show") == Ran(
        2, "", f"error: bad value for log.level: 3 (from file {path}, line 2)\nhint: {allowed}\n"
    )
    assert shell("config", "set", "log.level", "info").code == 0
    assert shell("config", "show").code == 0


@pytest.mark.parametrize(
    ("args", "error", "hint"),
    [
        (("log.levl", "x"), "unknown setting 'log.levl' (from command config set)", "did you mean log.level?"),
        (("log.level", "x"), "bad value for log.level: 'x' (from command config set)",
         "allowed: debug, info, warning or error"),
        (("home", "/x"), "home cannot be set in the file that is looked for in it (from command config set)",
         "use --home or the variable HINDBRAIN_HOME"),
        (("log.level",), "Missing argument 'VALUE'", "see `hindbrain config set --help`"),
    ],
)  # fmt: skip
def test_a_refused_set_changes_nothing(shell: Shell, args: tuple[str, ...], error: str, hint: str) -> None:
    assert shell("config", "set", *args) == Ran(2, "", f"error: {error}\nhint: {hint}\n")
    assert not shell.home.exists()


def test_path_works_while_the_file_is_broken(shell: Shell) -> None:
    shell.home.mkdir(mode=0o700)
    (shell.home / "config.toml").write_text("[[[")
    assert shell("config", "path") == Ran(0, f"{shell.home}/config.toml\n", "")
    assert shell("config", "show").code == 2


def test_the_home_flag_wins_over_the_variable(shell: Shell, tmp_path: Path) -> None:
    assert shell("--home", str(tmp_path / "other"), "config", "path").out == f"{tmp_path}/other/config.toml\n"


def test_a_file_that_is_a_link_ends_with_the_storage_code(shell: Shell, tmp_path: Path) -> None:
    shell.home.mkdir(mode=0o700)
    (shell.home / "config.toml").symlink_to(tmp_path / "elsewhere")
    assert shell("config", "show").code == 4


@pytest.mark.parametrize(
    "args", [("frob",), ("--frob",), ("config", "show", "--frob"), ("config", "frob"), ("--home",)]
)
def test_a_wrong_command_line_is_two_lines_and_code_two(shell: Shell, args: tuple[str, ...]) -> None:
    ran = shell(*args)
    assert (ran.code, ran.out) == (2, "")
    assert [line.split(":")[0] for line in ran.err.splitlines()] == ["error", "hint"]


@pytest.mark.parametrize(
    "args",
    [
        (f"x{ESCAPE}",),
        ("config", "set", f"log.{ESCAPE}", "x"),
        ("config", "set", "log.level", "\u202e\u200b\x9b"),
        ("config", "set", "log.level", f"a{ESCAPE}\nhint: b"),
        ("--home", f"/tmp/{ESCAPE}", "config", "path"),
    ],
)
def test_control_characters_are_shown_and_not_sent(shell: Shell, args: tuple[str, ...]) -> None:
    ran = shell(*args)
    assert ran.code == 2
    assert (ran.out + ran.err).replace("\n", "").isprintable()
    assert len(ran.err.splitlines()) == 2


def test_a_control_character_in_the_place_of_the_home_is_shown(shell: Shell, tmp_path: Path) -> None:
    del shell.environ["HINDBRAIN_HOME"]
    place = f"{tmp_path}/{ESCAPE}"
    ran = shell("config", "path", HOME=place, XDG_DATA_HOME=place)
    assert (ran.code, "\x1b" in ran.out, "\\x1b]52" in ran.out) == (0, False, True)


def into(shell: Shell, output: int, unbuffered: str) -> tuple[int, bytes]:
    environ = shell.environ | {"PYTHONUNBUFFERED": unbuffered}
    command = [*HINDBRAIN, "config", "show"]
    done = subprocess.run(command, env=environ, stdout=output, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_is_no_reason_for_a_word(shell: Shell, unbuffered: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert into(shell, writer, unbuffered) == (141, b"")
    finally:
        os.close(writer)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_cannot_be_written_is_an_error(shell: Shell, unbuffered: str) -> None:
    said = b"error: cannot write the output: No space left on device\nhint: check where the output goes\n"
    with open("/dev/full", "wb") as full:
        assert into(shell, full.fileno(), unbuffered) == (4, said)


def test_a_closed_stdout_is_an_error_and_a_closed_stderr_is_not(shell: Shell) -> None:
    line = " ".join(["exec", sys.executable, "-c", "'from hindbrain.serve.cli import main; main()'", "config"])
    closed_out = shell(command=["sh", "-c", line + " path >&-"])
    closed_err = shell(command=["sh", "-c", line + " set log.level debug 2>&-"])
    said = "error: cannot write the output: stdout is closed\nhint: check where the output goes\n"
    assert closed_out == Ran(4, "", said)
    assert closed_err == Ran(0, "", "")


EXTRA = """
import os, signal, sys
import click
from hindbrain.serve import cli

@click.command()
@click.argument("how")
def extra(how):
    '''Goes wrong.'''
    if how == "wait":
        print("ready", flush=True)
        signal.pause()
    if how == "code":
        return 3
    raise RuntimeError("the value was " + "sk-ant-" + "api03-" + "a1B2" * 20)

cli.COMMANDS["extra"] = "__main__:extra"
cli.main()
"""


def test_an_exception_nobody_expected_is_two_lines_and_a_redacted_report(shell: Shell) -> None:
    ran = shell("extra", "raise", command=[sys.executable, "-c", EXTRA])
    reports = list((shell.home / "log").iterdir())
    assert ran == Ran(1, "", f"error: internal error: RuntimeError\nhint: the report is in {reports[0]}\n")
    assert stat.S_IMODE(reports[0].stat().st_mode) == 0o600
    text = reports[0].read_text()
    assert "Traceback (most recent call last)" in text and "RuntimeError: the value was [redacted:" in text
    assert "a1B2a1B2" not in text


def test_a_report_that_cannot_be_written_is_said_so(shell: Shell) -> None:
    shell.home.write_text("in the way")
    ran = shell("extra", "raise", command=[sys.executable, "-c", EXTRA])
    assert ran.code == 1
    said = "error: internal error: RuntimeError\nhint: no report could be written: cannot use directory "
    assert ran.err.startswith(said)
    assert "Traceback" not in ran.err


def test_a_command_may_choose_its_exit_code(shell: Shell) -> None:
    assert shell("extra", "code", command=[sys.executable, "-c", EXTRA]) == Ran(3, "", "")


def test_an_interrupt_from_the_keyboard_ends_with_its_own_code(shell: Shell) -> None:
    command = [sys.executable, "-c", EXTRA, "extra", "wait"]
    process = subprocess.Popen(command, env=shell.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.strip()) == (130, b"interrupted")


def test_a_terminal_that_knows_ascii_only_is_served(shell: Shell, tmp_path: Path) -> None:
    home = tmp_path / "höme"
    ran = shell("--home", str(home), "config", "path", PYTHONIOENCODING="ascii", PYTHONUTF8="0")
    assert (ran.code, ran.out) == (0, f"{tmp_path}/h\\xf6me/config.toml\n")
