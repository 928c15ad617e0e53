"""The real client killed in the middle of a turn: what it acknowledged stays, what only its transcript has is caught up."""

from __future__ import annotations

import os
import signal
import uuid

import pytest

from hindbrain.base.files import lock_holder
from tests.clients.claude import BOTH, TRANSCRIPT, Claude, kill_worker
from tests.clients.script import blocks_of
from tests.clients.test_session import bash
from tests.serve.installed import until

pytestmark = pytest.mark.clients


def has_result(request: dict[str, object]) -> bool:
    """A request that tells the model what its call came to."""
    messages = request.get("messages")
    assert isinstance(messages, list)
    return any(block.get("type") == "tool_result" for message in messages for block in blocks_of(message.get("content")))


def test_what_a_killed_client_only_wrote_to_its_transcript_is_caught_up_at_the_next_start(claude: Claude) -> None:
    session = str(uuid.uuid4())
    prompt = "HOLD:start\nSAY:Before.\nRUN:echo half\nSLOW:300\nSAY:never said"
    with claude.running(prompt, "--session-id", session) as process:
        claude.server.wait_for(lambda request: True, "the first one")
        pid = until(lambda: lock_holder(claude.home.worker_lock), "a worker")
        until(lambda: claude.said(session) and claude.home.worker_start.read_bytes() == b"", "the prompt in the ledger")
        os.kill(pid, signal.SIGSTOP)  # from here on nobody reads what client and hooks write
        claude.server.release("start")
        claude.server.wait_for(has_result, "the one after the tool call")
        until(lambda: '"tool_result"' in claude.transcript(session).read_text(), "the result in the transcript")
        process.kill()
        process.wait(10)
    kill_worker(claude.home)
    assert [(role, text) for role, text, _ in claude.said(session)] == [("user", prompt)]
    claude.ask("SAY:hello")
    claude.until_said(session, [
        ("user", prompt, BOTH),
        ("assistant", "Before.", TRANSCRIPT),
        ("tool_call", bash("echo half"), BOTH), ("tool_result", "half", BOTH),
    ])  # fmt: skip
    assert claude.events(session, "session_end") == []


def test_a_prompt_whose_client_is_killed_before_any_answer_is_kept_once(claude: Claude) -> None:
    session = str(uuid.uuid4())
    with claude.running("SLOW:300", "--session-id", session) as process:
        claude.server.wait_for(lambda request: True, "the first one")
        until(lambda: claude.transcript(session).exists(), "the transcript")
        process.kill()
    claude.until_said(session, [("user", "SLOW:300", BOTH)])


def test_a_killed_session_that_is_resumed_goes_on_in_the_same_session(claude: Claude) -> None:
    session = str(uuid.uuid4())
    with claude.running("SLOW:300", "--session-id", session) as process:
        claude.server.wait_for(lambda request: True, "the first one")
        until(lambda: claude.transcript(session).exists(), "the transcript")
        process.kill()
    assert claude.ask("SAY:here again", "--resume", session) == session
    claude.until_said(session, [
        ("user", "SLOW:300", BOTH), ("user", "SAY:here again", BOTH), ("assistant", "here again", BOTH),
    ])  # fmt: skip
