"""A subagent of the real client: a session of its own that points to its parent, and nothing of it in the parent's."""

from __future__ import annotations

import json

import pytest

from hindbrain.capture.event import session_id
from tests.clients.claude import BOTH, HOOK, Claude
from tests.clients.test_session import bash
from tests.serve.installed import until

pytestmark = pytest.mark.clients


def child_of(claude: Claude, session: str) -> str:
    """The client's id of the only subagent's session, once it has ended."""
    until(lambda: len(claude.sessions()) == 2, "the subagent's session")
    [child] = [each for each in claude.sessions() if each.client_id != session]
    until(lambda: claude.events(child.client_id, "subagent_stop"), "the subagent's end")
    assert child.client_id.startswith(f"{session}/")
    assert child.parent_id == session_id("claude-code", session)
    assert claude.transcript(session).with_suffix("").joinpath(
        "subagents", f"agent-{child.client_id.removeprefix(f'{session}/')}.jsonl"
    ).exists()
    return child.client_id


def test_a_subagent_in_the_background_is_a_session_of_its_own(claude: Claude) -> None:
    prompt = "AGENT:RUN:echo child;;SAY:child done\nSAY:parent done"
    session = claude.ask(prompt)
    child = child_of(claude, session)
    asked = {"prompt": "RUN:echo child\nSAY:child done", "subagent_type": "general-purpose"}
    call = f"Agent: small errand\n{json.dumps(asked, separators=(',', ':'))}"
    until(lambda: [role for role, _, told in claude.said(session) if told == BOTH].count("assistant") == 2, "both replies")
    [result] = [turn.text for turn in claude.turns(session) if turn.role == "tool_result"]
    # The client ends the turn, is told of the subagent's end by a prompt that nobody typed, and answers that too.
    claude.until_said(session, [
        ("user", prompt, BOTH), ("tool_call", call, BOTH), ("tool_result", result, BOTH),
        ("assistant", "parent done", BOTH), ("assistant", "parent done", BOTH),
    ])  # fmt: skip
    assert "async_launched" in result
    assert claude.said(child) == [
        ("tool_call", bash("echo child"), HOOK), ("tool_result", "child", HOOK), ("assistant", "child done", HOOK),
    ]  # fmt: skip
    assert [event["synthetic"] for event in claude.events(session, "notice") if "synthetic" in event] == ["<task-notification>"]
    assert len(claude.events(child, "subagent_start")) == 1


def test_a_subagent_that_is_waited_for_is_a_session_of_its_own(claude: Claude) -> None:
    asked = {
        "description": "errand", "prompt": "RUN:echo child\nSAY:child done", "subagent_type": "general-purpose",
        "run_in_background": False,
    }  # fmt: skip
    session = claude.ask(f"TOOL:Agent {json.dumps(asked)}\nSAY:parent done")
    child = child_of(claude, session)
    until(lambda: claude.followed(session) and claude.look().lag.lines == 0, "all of the transcript")
    turns = claude.turns(session)
    assert [turn.role for turn in turns] == ["user", "tool_call", "tool_result", "assistant"]
    assert {turn.origins for turn in turns} == {BOTH}
    assert "child done" in turns[2].text
    assert claude.said(child) == [
        ("tool_call", bash("echo child"), HOOK), ("tool_result", "child", HOOK), ("assistant", "child done", HOOK),
    ]  # fmt: skip
