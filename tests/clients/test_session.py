"""Headless sessions of the real client: every prompt, reply and tool result is in the ledger, once, with its source."""

from __future__ import annotations

import json
import uuid

import pytest

from hindbrain.base.redact import redact_text
from tests.clients.claude import BOTH, TRANSCRIPT, Claude, line_of, strings
from tests.serve.installed import until

pytestmark = pytest.mark.clients


def bash(command: str) -> str:
    """A call of the shell, as the ledger words it."""
    return f'Bash: {command}\n{{"description":"as asked"}}'


def test_every_prompt_reply_and_tool_result_is_kept_once_with_its_source(claude: Claude) -> None:
    prompt = "SAY:Looking.\nRUN:echo one\nRUN:exit 3\nSAY:All\nSAY:done."
    session = claude.ask(prompt)
    turns = claude.until_said(session, [
        ("user", prompt, BOTH),
        ("assistant", "Looking.", TRANSCRIPT),
        ("tool_call", bash("echo one"), BOTH), ("tool_result", "one", BOTH),
        ("tool_call", bash("exit 3"), TRANSCRIPT), ("tool_result", "Exit code 3", TRANSCRIPT),
        ("assistant", "All", TRANSCRIPT), ("assistant", "done.", BOTH),
    ])  # fmt: skip
    for turn in turns:
        said = turn.text.removeprefix("Bash: ").split("\n{")[0] if turn.role == "tool_call" else turn.text
        line = line_of(turn)
        assert line["sessionId"] == session
        assert said in list(strings(line["message"]))
    assert [each.client_id for each in claude.sessions()] == [session]


def test_nothing_was_lost_or_unreadable_and_the_session_has_begun_and_ended(claude: Claude) -> None:
    session = claude.ask("RUN:echo one")
    until(lambda: claude.events(session, "session_end"), "the session's end")
    stored = claude.look().stored
    assert (stored.damaged, stored.torn, stored.unparsed) == (0, 0, 0)
    assert claude.look().lost.count == 0
    assert [event["source"] for event in claude.events(session, "session_start")] == ["startup"]
    assert [event["reason"] for event in claude.events(session, "session_end")] == ["other"]


def test_the_same_words_said_in_a_resumed_session_are_turns_of_their_own(claude: Claude) -> None:
    session = claude.ask("SAY:yes")
    assert claude.ask("SAY:yes", "--continue") == session
    once = [("user", "SAY:yes", BOTH), ("assistant", "yes", BOTH)]
    turns = claude.until_said(session, [*once, *once])
    assert len({turn.source for turn in turns}) == 4
    assert [event["source"] for event in claude.events(session, "session_start")] == ["startup", "resume"]


def test_a_reply_repeated_within_a_turn_is_counted_as_often_as_it_was_said(claude: Claude) -> None:
    session = claude.ask("SAY:same\nRUN:true\nSAY:same")
    claude.until_said(session, [
        ("user", "SAY:same\nRUN:true\nSAY:same", BOTH),
        ("assistant", "same", BOTH),
        ("tool_call", bash("true"), BOTH), ("tool_result", "", BOTH),
        ("assistant", "same", TRANSCRIPT),
    ])  # fmt: skip


def test_a_tool_whose_result_the_client_rewords_for_the_model_is_one_turn(claude: Claude) -> None:
    """The hook is given a file as it is, the model the same file with line numbers."""
    (claude.project / "notes.txt").write_text("first\nsecond\n")
    asked = {"file_path": str(claude.project / "notes.txt")}
    session = claude.ask(f"TOOL:Read {json.dumps(asked)}")
    turns = claude.until_said(session, [
        ("user", f"TOOL:Read {json.dumps(asked)}", BOTH),
        ("tool_call", f"Read: {asked['file_path']}", BOTH), ("tool_result", "first\nsecond\n", BOTH),
        ("assistant", "Done.", BOTH),
    ])  # fmt: skip
    assert any("1\tfirst\n2\tsecond" in text for text in strings(line_of(turns[2])["message"]))


def test_a_secret_in_prompt_command_and_output_reaches_no_file_of_ours(claude: Claude) -> None:
    secret = "gh" + "p_" + "Zz19" * 9
    prompt = f"SAY:the token is {secret} indeed\nRUN:echo {secret}"
    session = claude.ask(prompt)
    hidden = redact_text(secret)[0]
    assert hidden != secret
    claude.until_said(session, [
        ("user", prompt.replace(secret, hidden), BOTH),
        ("assistant", f"the token is {hidden} indeed", TRANSCRIPT),
        ("tool_call", bash(f"echo {hidden}"), BOTH), ("tool_result", hidden, BOTH),
        ("assistant", "Done.", BOTH),
    ])  # fmt: skip
    holding = [path for path in claude.home.root.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()]
    assert holding == []


def test_the_client_has_nothing_to_say_about_our_hooks(claude: Claude) -> None:
    """What each hook call came to, as the client itself judges it; its own streams hold the answer alone."""
    ran = claude.prompt("RUN:echo one\nSAY:fine", "--output-format", "stream-json", "--verbose", "--include-hook-events")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    answers = [line for line in told if line.get("subtype") == "hook_response"]
    assert {"SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"} <= {answer["hook_event"] for answer in answers}
    assert {(answer["exit_code"], answer["outcome"], answer["stderr"]) for answer in answers} == {(0, "success", "")}
    plain = claude.prompt("RUN:echo one\nSAY:fine")
    assert (plain.returncode, plain.stdout, plain.stderr) == (0, "fine\n", "")


def test_an_error_of_the_api_is_nobodys_reply(claude: Claude) -> None:
    """The client writes it into its transcript as if the model had said it."""
    session = str(uuid.uuid4())
    ran = claude.prompt("FAIL:400", "--session-id", session)
    assert (ran.returncode, ran.stdout, ran.stderr) == (1, "API Error: 400 as scripted\n", "")
    claude.until_said(session, [("user", "FAIL:400", BOTH)])
    assert "API Error: 400 as scripted" in [event["text"] for event in claude.events(session, "notice")]
