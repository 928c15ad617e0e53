"""The user's own `claude -p` and `codex exec`: real processes that stand in for them and tell how they were run."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hindbrain.capture import hook
from hindbrain.reason.model.asked import Limits, ModelName, Reply
from hindbrain.reason.model.command import GUARD, Commanded
from hindbrain.reason.model.failures import KeyRefused, ModelAway, ModelFailed, ModelRefused, WrongOutput
from hindbrain.reason.model.prompts import answer

# Notes how it was run, then does what the file `does` beside it says.
STAND_IN = f"""#!{sys.executable} -IS
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
told = sys.stdin.buffer.read().decode()
schema = [open(word).read() for word in sys.argv if word.endswith("schema.json")]
with open(here + "/ran.json", "w") as file:
    json.dump([sys.argv[1:], dict(os.environ), os.getcwd(), told, os.getpid(), schema, os.listdir(".")], file)
exec(open(here + "/does").read())
"""
QUESTION = answer("Who is @/etc/passwd?", [{"id": "e1", "text": "mail ada@example.org"}])
LIMITS = Limits(total=20.0)
CLAUDE, CODEX = ModelName("claude-cli", "haiku"), ModelName("codex-cli", "gpt-5-mini")


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Any]:
    """Has a stand-in do something; the reply or the failure, and how it was run."""
    place = tmp_path / "bin"
    place.mkdir()

    def running(name: ModelName, does: str, limits: Limits = LIMITS) -> tuple[Reply | ModelFailed, Any]:
        program = place / name.provider.removesuffix("-cli")
        program.write_text(STAND_IN)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (place / "does").write_text(does)
        environ = {
            "PATH": str(place), "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-secret", "AWS_SECRET": "x", "LC_ALL": "C.UTF-8",
            "HINDBRAIN_MODEL_KEY": "sk-secret", "CLAUDE_CONFIG_DIR": "/c",
        }  # fmt: skip
        try:
            ended: Reply | ModelFailed = Commanded(name, limits, environ).ask(QUESTION)
        except ModelFailed as failure:
            ended = failure
        return ended, json.loads((place / "ran.json").read_text())

    return running


def printing(value: object) -> str:
    return f"print({json.dumps(value) if isinstance(value, str) else repr(json.dumps(value))})"


FINE = {
    "type": "result", "subtype": "success", "is_error": False, "structured_output": {"known": False, "sentences": []},
    "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "cache_creation_input_tokens": 7, "output_tokens": 3},
}  # fmt: skip
FINE_CODEX = "\n".join(json.dumps(each) for each in (
    {"type": "thread.started", "thread_id": "1"}, {"type": "turn.started"},
    {"type": "item.completed", "item": {"type": "reasoning", "text": "hm"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "{\"known\": false}"}},
    {"type": "turn.completed", "usage": {"input_tokens": 24, "cached_input_tokens": 4, "output_tokens": 6}},
))  # fmt: skip


def test_claude_is_run_without_tools_settings_or_a_session_and_marked_as_ours(run: Callable[..., Any], tmp_path: Path) -> None:
    reply, (arguments, environ, folder, told, *_, files) = run(CLAUDE, printing(FINE))
    assert reply == Reply('{"known": false, "sentences": []}', 22, 3)
    assert arguments == [
        "-p", "--model", "haiku", "--output-format", "json", "--json-schema", json.dumps(QUESTION.schema),
        "--no-session-persistence", "--setting-sources", "", "--tools", "", "--strict-mcp-config",
        "--system-prompt", QUESTION.system,
    ]  # fmt: skip
    environ.pop("LC_CTYPE", None)  # Python's own
    assert environ == {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path), "LC_ALL": "C.UTF-8", "CLAUDE_CONFIG_DIR": "/c",
                       "HINDBRAIN_GUARD": "model"}  # fmt: skip
    assert GUARD[0].encode() == hook.GUARD
    assert (files, os.path.exists(folder)) == ([], False)
    assert "@" not in told
    assert json.loads(told.removeprefix("Input:\n")) == json.loads(QUESTION.text.removeprefix("Input:\n"))


def test_codex_is_run_read_only_without_tools_and_leaves_no_session(run: Callable[..., Any]) -> None:
    reply, (arguments, environ, folder, told, _, schema, files) = run(CODEX, printing(FINE_CODEX))
    assert reply == Reply('{"known": false}', 24, 6)
    assert arguments == [
        "exec", "--skip-git-repo-check", "--sandbox", "read-only", "--ephemeral", "--json",
        "--output-schema", f"{folder}/schema.json", "-c", "features.shell_tool=false", "-c", "features.unified_exec=false",
        "-c", 'web_search="disabled"', "-c", "mcp_servers={}", "--model", "gpt-5-mini", "-",
    ]  # fmt: skip
    assert environ["HINDBRAIN_GUARD"] == "model"
    assert told == QUESTION.system + "\n\n" + QUESTION.text.replace("@", "\\u0040")
    assert ([json.loads(each) for each in schema], files, os.path.exists(folder)) == ([QUESTION.schema], ["schema.json"], False)


def erring(said: str) -> str:
    return printing({**FINE, "is_error": True, "result": said})


TOOL = {"type": "item.started", "item": {"type": "command_execution", "command": "cat ~/.ssh/id_rsa"}}
FAILING: dict[str, tuple[ModelName, str, type[ModelFailed]]] = {
    "not signed in": (CLAUDE, erring("Invalid API key · Please run /login"), KeyRefused),
    "a model it does not have": (CLAUDE, erring("model: haiku not found"), ModelRefused),
    "used up": (CLAUDE, erring("You've hit your session limit"), ModelAway),
    "no JSON": (CLAUDE, printing("Segmentation fault"), ModelAway),
    "not UTF-8": (CLAUDE, r"sys.stdout.buffer.write(b'{\"a\": \"\xff\"}')", ModelAway),
    "an unknown option": (CLAUDE, "sys.stderr.write('error: unknown option --json-schema'); sys.exit(1)", ModelAway),
    "killed": (CLAUDE, "os.kill(os.getpid(), 9)", ModelAway),
    "codex fails": (CODEX, printing({"type": "turn.failed", "error": {"message": "stream disconnected"}}), ModelAway),
    "codex is not signed in": (CODEX, printing({"type": "error", "message": "401 Unauthorized"}), KeyRefused),
    "codex uses a tool": (CODEX, printing(TOOL), WrongOutput),
    "10 MB": (CLAUDE, "sys.stdout.write('x' * (10 << 20))", WrongOutput),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILING)
def test_a_command_that_fails_says_how_without_showing_what_it_should_not(name: str, run: Callable[..., Any]) -> None:
    model, does, wanted = FAILING[name]
    ended, _ = run(model, does)
    assert type(ended) is wanted
    assert str(model) in ended.message and "\n" not in ended.message


def test_one_that_is_used_up_is_left_alone_for_a_while(run: Callable[..., Any]) -> None:
    ended, _ = run(*FAILING["used up"][:2])
    assert ended.after == 900.0


def test_a_command_that_does_not_end_is_killed_with_all_it_started(run: Callable[..., Any], tmp_path: Path) -> None:
    noted = tmp_path / "child"
    does = f"""
child = os.fork()
if child == 0:
    with open({str(noted)!r} + ".new", "w") as file: file.write(str(os.getpid()))
    os.rename({str(noted)!r} + ".new", {str(noted)!r})
time.sleep(600)
"""
    ended, ran = run(CLAUDE, does, Limits(total=1.5))
    assert (type(ended), ended.message, ended.paid) == (ModelAway, "claude-cli:haiku did not answer in time", True)
    assert gone(ran[4])
    assert not noted.exists() or gone(int(noted.read_text()))


def gone(pid: int) -> bool:
    """Whether a process has ended; one that waits to be asked for has."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] if os.path.isdir("/proc/self") else ""
            os.kill(pid, 0)
        except OSError:
            return True
        if state in ("Z", "X"):
            return True
        time.sleep(0.01)
    return False


def test_a_command_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelRefused) as missing:
        Commanded(CLAUDE, LIMITS, {"PATH": str(tmp_path)}).ask(QUESTION)
    assert missing.value.message == "claude-cli:haiku cannot be run: No such file or directory"
    assert missing.value.hint == "see that `claude` is installed and in PATH"
