"""Command lines of agents: where their prompt stands, how it is handed over, and which of them remember by themselves."""

from __future__ import annotations

import pytest

from hindbrain.base.errors import UsageError
from hindbrain.converse.command import Command, harmless, reply_of


@pytest.mark.parametrize(
    ("line", "prompt", "run"),
    [
        ("gemini -p hello", "hello", "gemini"),
        ("gemini -p", None, "gemini"),
        ("gemini --prompt=hello -m flash", "hello", "gemini -m flash"),
        ("/opt/bin/gemini -m flash -p hello -y", "hello", "/opt/bin/gemini -m flash -y"),
        ("npx -y @google/gemini-cli -p hello", "hello", "npx -y @google/gemini-cli"),
        ("node /x/bundle/gemini.js -p hello", "hello", "node /x/bundle/gemini.js"),
        ("claude -p hello --model haiku", "hello", "claude -p --model haiku"),
        ("claude -p --model haiku", None, "claude -p --model haiku"),
        ("claude --print hello", "hello", "claude --print"),
        ("codex exec hello", "hello", "codex exec"),
        ("codex exec -", None, "codex exec"),
        ("codex exec --model x", None, "codex exec --model x"),
        ("codex --model x exec hello --json", "hello", "codex --model x exec --json"),
        ("cat", None, "cat"),
        ("sh script.sh claude -c", None, "sh script.sh claude -c"),
    ],
)  # fmt: skip
def test_a_prompt_is_taken_out_and_said_on_stdin(line: str, prompt: str | None, run: str) -> None:
    command = Command.of(line.split())
    assert (command.prompt, command.told("NEW")) == (prompt, (run.split(), "NEW"))


@pytest.mark.parametrize(
    ("line", "prompt", "run"),
    [
        ("mytool -p hello -v", "hello", "mytool -p NEW -v"),
        ("mytool --prompt", None, "mytool --prompt NEW"),
        ("mytool --prompt=hello -v", "hello", "mytool --prompt NEW -v"),
        ("opencode run hello", "hello", "opencode run NEW"),
        ("aider --message hello --yes", "hello", "aider --message NEW --yes"),
    ],
)
def test_a_program_that_does_not_read_stdin_gets_it_where_it_stood(line: str, prompt: str | None, run: str) -> None:
    command = Command.of(line.split())
    assert (command.prompt, command.told("NEW")) == (prompt, (run.split(), ""))


@pytest.mark.parametrize(
    ("line", "keeps"),
    [
        ("codex exec resume --last", True), ("codex exec resume abc hello", True), ("codex resume", True),
        ("codex exec hello", False),
        ("claude -p --continue hello", True), ("claude -c -p hello", True), ("claude --resume=abc -p hello", True),
        ("claude -r abc -p hello", True), ("claude -p hello --session-id x", False), ("gemini --resume latest -p hello", True),
        ("gemini -r 5 -p hello", True), ("gemini -p hello", False), ("npx @google/gemini-cli --resume latest", True),
        ("qwen --continue -p hello", True), ("llm -c hello", True), ("opencode run -s abc hello", True),
        ("mytool --resume x", True),
        ("mytool -c x", False), ("cat", False),
    ],
)  # fmt: skip
def test_one_that_goes_on_with_a_session_of_its_own_is_recognised(line: str, keeps: bool) -> None:
    assert Command.of(line.split()).keeps_history is keeps


@pytest.mark.parametrize("text", ["x" * 130_000, "漢" * 50_000, "a\x00b"])
def test_what_cannot_be_an_argument_is_refused_before_anything_runs(text: str) -> None:
    with pytest.raises(UsageError, match="cannot be an argument of mytool"):
        Command.of(["mytool", "-p"]).told(text)


@pytest.mark.parametrize(
    ("argv", "output", "reply"),
    [
        (["gemini"], ' {"response": "x"}\n', '{"response": "x"}'),
        (["gemini", "-o", "json"], '{"response": "x"}', "x"),
        (["claude", "--output-format=json"], '{"type": "result", "result": "x"}', "x"),
        (["claude", "--output-format", "json"], "no json", "no json"),
        (["claude", "--output-format", "json"], '["x"]', '["x"]'),
        (["claude", "--output-format", "json"], '{"result": 3}', '{"result": 3}'),
        (["cat"], "\n  two\nlines \n", "two\nlines"),
    ],
)
def test_a_reply_is_what_was_written_or_what_the_json_says(argv: list[str], output: str, reply: str) -> None:
    assert reply_of(argv, output) == reply


@pytest.mark.parametrize(
    ("told", "shown"), [("@a", "＠a"), ("x @a", "x ＠a"), ("x@a", "x@a"), ("@ a", "@ a"), ("`@a`", "`＠a`"), ("\n@a", "\n＠a")]
)
def test_the_sign_that_names_a_file_is_made_harmless(told: str, shown: str) -> None:
    assert harmless(told) == shown
