"""The user's own `claude -p` and `codex exec`: real processes that stand in for them and tell how they were run."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hindbrain.base.clock import ManualClock
from hindbrain.capture import hook
from hindbrain.ledger.calls import calls
from hindbrain.ledger.evidence import Evidence
from hindbrain.reason.model import processes
from hindbrain.reason.model.asked import Limits, ModelName, Reply
from hindbrain.reason.model.budget import Budget
from hindbrain.reason.model.calls import Calls, LedgerBook
from hindbrain.reason.model.command import GUARD, Commanded
from hindbrain.reason.model.failures import KeyRefused, ModelAway, ModelFailed, ModelRefused, WrongOutput
from hindbrain.reason.model.prompts import answer
from hindbrain.reason.model.reasoner import Reasoner
from tests.reason.model.asking import KINDS, NOON, configured
from tests.serve.installed import until

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

    def running(
        name: ModelName, does: str, limits: Limits = LIMITS, check: Callable[[], None] = lambda: None
    ) -> tuple[Reply | ModelFailed, Any]:
        program = place / name.provider.removesuffix("-cli")
        program.write_text(STAND_IN)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        (place / "does").write_text(does)
        environ = {
            "PATH": str(place), "HOME": str(tmp_path), "ANTHROPIC_API_KEY": "sk-secret", "AWS_SECRET": "x", "LC_ALL": "C.UTF-8",
            "HINDBRAIN_MODEL_KEY": "sk-secret", "CLAUDE_CONFIG_DIR": "/c",
        }  # fmt: skip
        try:
            ended: Reply | ModelFailed = Commanded(name, limits, environ).ask(replace(QUESTION, check=check))
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
    assert f"hindbrain-{environ.pop(processes.MARK)}-" in folder
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
    "no JSON": (CLAUDE, printing("Segmentation fault"), WrongOutput),
    "cut JSON": (CLAUDE, printing(json.dumps(FINE)[:-9]), WrongOutput),
    "messages without a result": (CLAUDE, printing([{"type": "system"}, 7]), WrongOutput),
    "not UTF-8": (CLAUDE, r"sys.stdout.buffer.write(b'{\"a\": \"\xff\"}')", WrongOutput),
    "nothing": (CLAUDE, "", ModelAway),
    "an error that took nothing": (CLAUDE, printing({"is_error": True, "result": "Overloaded", "usage": {}}), ModelAway),
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
    assert (ended.after, ended.paid) == (900.0, True)


@pytest.mark.parametrize(("name", "paid"), [
    ("nothing", True), ("killed", True), ("an unknown option", False), ("an error that took nothing", False),
])  # fmt: skip
def test_one_that_may_have_worked_may_have_cost(name: str, paid: bool, run: Callable[..., Any]) -> None:
    ended, _ = run(*FAILING[name][:2])
    assert ended.paid is paid


def test_of_all_messages_the_last_result_is_the_reply(run: Callable[..., Any]) -> None:
    reply, _ = run(CLAUDE, printing([{"type": "system"}, {**FINE, "structured_output": {}}, FINE, {"type": "other"}]))
    assert reply == Reply('{"known": false, "sentences": []}', 22, 3)


COUNTED: dict[str, tuple[ModelName, str]] = {
    "claude": (CLAUDE, printing({**FINE, "is_error": True, "result": "max turns reached"})),
    "claude, in words and by its code": (CLAUDE, printing({**FINE, "result": "max turns reached"}) + "; sys.exit(1)"),
    "codex": (CODEX, printing(FINE_CODEX + "\n" + json.dumps({"type": "error", "message": "max turns reached"}))),
}


@pytest.mark.parametrize("name", COUNTED)
def test_an_error_that_took_something_is_a_reply_of_no_use_with_what_it_took(name: str, run: Callable[..., Any]) -> None:
    model, does = COUNTED[name]
    reply, _ = run(model, does)
    assert (reply.input_tokens, reply.output_tokens) == ((22, 3) if model is CLAUDE else (24, 6))
    assert reply.text == "" and reply.complaint.endswith("max turns reached")


@pytest.mark.parametrize(("does", "took"), [(COUNTED["claude"][1], 3), (FAILING["cut JSON"][1], 1_200)])
def test_a_command_that_says_nothing_of_use_is_in_the_ledger_of_calls_and_rules_decide(
    does: str, took: int, run: Callable[..., Any], ledger: Evidence, tmp_path: Path
) -> None:
    run(CLAUDE, does)
    clock, config = ManualClock(NOON), configured(tmp_path, model=str(CLAUDE))
    commanded = Commanded(CLAUDE, LIMITS, {"PATH": str(tmp_path / "bin")})
    asked = Calls([commanded], Budget(config, clock), clock)
    made = KINDS["digest"].run(Reasoner(asked, LedgerBook(ledger, lambda event: None)))
    assert (made.value, made.made_by) == (KINDS["digest"].by_rules, "rules/1")
    with ledger.reading() as database:
        bills = [each for each in calls(database) if each.input_tokens]
    assert [each.output_tokens for each in bills] == [took] * 2  # what it told, or all it may have taken


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


# Starts a child that says who it is before the parent goes on.
CHILD = """
import subprocess
made = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session={apart}, **{pipes})
with open({noted!r}, "w") as file: file.write(str(made.pid))
"""
QUIET = "dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)"
LINUX = pytest.mark.skipif(not os.path.exists("/proc/self/environ"), reason="only Linux tells which process carries a mark")


def test_one_that_has_answered_is_not_waited_for_because_of_what_it_left_running(run: Callable[..., Any], tmp_path: Path) -> None:
    noted = tmp_path / "child"
    reply, _ = run(CLAUDE, CHILD.format(apart=False, pipes="{}", noted=str(noted)) + printing(FINE))
    assert reply == Reply('{"known": false, "sentences": []}', 22, 3)
    assert gone(int(noted.read_text()))


def test_what_is_left_running_and_writes_on_is_not_listened_to(run: Callable[..., Any], tmp_path: Path) -> None:
    does = printing(FINE) + "\nsys.stdout.flush()\nif os.fork() == 0:\n    while True: os.write(2, b'xxxxxxxx')\n"
    reply, _ = run(CLAUDE, does, Limits(total=20.0, bytes=1 << 30))
    assert reply == Reply('{"known": false, "sentences": []}', 22, 3)


@LINUX
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_child_in_a_session_of_its_own_is_ended_too(goes_on: bool, run: Callable[..., Any], tmp_path: Path) -> None:
    noted = tmp_path / "child"
    child = CHILD.format(apart=True, pipes=QUIET, noted=str(noted))
    ended, _ = run(CLAUDE, child + ("time.sleep(600)" if goes_on else printing(FINE)), Limits(total=1.5) if goes_on else LIMITS)
    assert type(ended) is (ModelAway if goes_on else Reply)
    assert gone(int(noted.read_text()))


class NotWanted(Exception):
    """What a check raises."""


def test_one_whose_answer_is_no_longer_wanted_is_ended(run: Callable[..., Any], tmp_path: Path) -> None:
    ran = tmp_path / "bin" / "ran.json"

    def check() -> None:
        if ran.exists() and ran.read_text().endswith("]"):
            raise NotWanted

    with pytest.raises(NotWanted):
        run(CLAUDE, "time.sleep(600)", check=check)
    _, _, folder, _, pid, *_ = json.loads(ran.read_text())
    assert gone(pid) and not os.path.exists(folder)


ASKER = """
import json, os, sys
from hindbrain.reason.model.asked import Limits, ModelName
from hindbrain.reason.model.command import Commanded
from tests.reason.model.test_command import QUESTION
Commanded(ModelName("claude-cli", "haiku"), Limits(total=600.0), {"PATH": sys.argv[1]}).ask(QUESTION)
"""


@LINUX
def test_what_a_killed_process_left_is_ended_by_the_next_and_what_a_living_one_does_is_not(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    run(CLAUDE, printing(FINE))
    ran, noted = tmp_path / "bin" / "ran.json", tmp_path / "child"
    ran.unlink()
    (tmp_path / "bin" / "does").write_text(CHILD.format(apart=True, pipes=QUIET, noted=str(noted)) + "time.sleep(600)")
    asker = subprocess.Popen([sys.executable, "-c", ASKER, str(tmp_path / "bin")], cwd=Path(__file__).parents[3])
    try:
        child = int(until(lambda: noted.read_text() if noted.exists() else None, "the child"))
        _, _, folder, _, pid, *_ = json.loads(ran.read_text())
        processes.end_left_behind()
        assert alive(pid) and alive(child) and os.path.exists(folder)
    finally:
        asker.kill()  # and not waited for yet: its number is still its own
    until(lambda: not alive(asker.pid), "the asker to end")
    processes.end_left_behind()
    assert gone(pid) and gone(child) and not os.path.exists(folder)
    asker.wait()


@pytest.mark.parametrize("mark", ["", "x", "1-2-3", "0-99999999999999999999-1-" + "a" * 16, "1-1-1-" + "a" * 16])
def test_a_folder_that_is_not_ours_to_judge_stays(mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / f"hindbrain-{mark}-abc").mkdir()
    processes.end_left_behind()
    assert len(os.listdir(tmp_path)) == 1


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][:1] not in ("Z", "X")
    except OSError:
        return False


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
