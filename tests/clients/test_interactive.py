"""The real client on a terminal: compacted, cleared, left, and talked to while it is busy."""

from __future__ import annotations

import os
import uuid
from functools import partial
from pathlib import Path

import pytest

from tests.clients.claude import BOTH, Claude, Said
from tests.clients.script import SUMMARY
from tests.clients.terminal import Terminal
from tests.clients.test_session import bash

pytestmark = pytest.mark.clients


def say(terminal: Terminal, words: str) -> list[Said]:
    """Have the model say something; what the ledger has of it later."""
    since = terminal.mark()
    terminal.type(f"SAY:{words}")
    terminal.until_shown(f"●{words}", since)
    terminal.settle()
    return [("user", f"SAY:{words}", BOTH), ("assistant", words, BOTH)]


def test_a_compacted_and_a_cleared_session_keep_what_was_said_and_no_summary(claude: Claude) -> None:
    session = str(uuid.uuid4())
    with claude.interactive("--session-id", session) as terminal:
        first = say(terminal, "first answer")
        since = terminal.mark()
        terminal.type("/compact")
        terminal.until_shown("Compacted", since)
        terminal.settle()
        first += say(terminal, "after compaction")
        terminal.type("/clear")
        terminal.until(lambda: len(claude.sessions()) == 2, "a second session")
        terminal.settle()
        second = say(terminal, "after clearing")
        terminal.type("/exit")
        assert terminal.close() == 0
        shown = terminal.shown()
    [after] = [each for each in claude.sessions() if each.client_id != session]
    claude.until_said(session, first)
    claude.until_said(after.client_id, second)
    assert [event["source"] for event in claude.events(session, "session_start")] == ["startup", "compact"]
    assert [event["trigger"] for event in claude.events(session, "pre_compact")] == ["manual"]
    assert [SUMMARY in event["text"] for event in claude.events(session, "post_compact")].count(True) == 1
    assert [event["reason"] for event in claude.events(session, "session_end")] == ["clear"]
    assert [event["source"] for event in claude.events(after.client_id, "session_start")] == ["clear"]
    assert [event["reason"] for event in claude.events(after.client_id, "session_end")] == ["prompt_input_exit"]
    assert len(claude.sessions()) == 2
    assert claude.look().stored.unparsed == 0
    assert "hookerror" not in shown.lower()


def test_what_is_typed_while_the_model_speaks_is_kept_once(claude: Claude) -> None:
    """The hook tells of it when it is typed, the transcript when it is sent, each under another prompt's id."""
    session = str(uuid.uuid4())
    with claude.interactive("--session-id", session) as terminal:
        terminal.type("HOLD:reply")
        terminal.until(lambda: claude.server.requests, "the first request")
        for words in ("one more thing", "and another"):
            terminal.type(words)
            terminal.until(partial(heard, claude, session, words), words)
        claude.server.release("reply")
        terminal.until_shown("You said: one more thing")
        terminal.settle()
        terminal.type("/exit")
        assert terminal.close() == 0
    claude.until_said(session, [
        ("user", "HOLD:reply", BOTH), ("assistant", "Done.", BOTH),
        ("user", "one more thing", BOTH), ("user", "and another", BOTH),
        ("assistant", "You said: one more thing\n\nand another", BOTH),
    ])  # fmt: skip


def test_what_is_typed_while_a_tool_runs_is_kept_once(claude: Claude) -> None:
    session = str(uuid.uuid4())
    gate = claude.project / "gate"
    os.mkfifo(gate)
    with claude.interactive("--session-id", session) as terminal:
        terminal.type("RUN:cat gate")
        writer = opened_for(terminal, gate)
        terminal.type("be quick about it")
        terminal.until(partial(heard, claude, session, "be quick about it"), "the words in the ledger")
        os.write(writer, b"open\n")
        os.close(writer)
        terminal.until_shown("●Done.")
        terminal.settle()
        terminal.type("/exit")
        assert terminal.close() == 0
    claude.until_said(session, [
        ("user", "RUN:cat gate", BOTH), ("tool_call", bash("cat gate"), BOTH), ("user", "be quick about it", BOTH),
        ("tool_result", "open", BOTH), ("assistant", "Done.", BOTH),
    ])  # fmt: skip


def heard(claude: Claude, session: str, words: str) -> bool:
    """Whether the ledger has these words of the user, whoever told of them."""
    return any((role, text) == ("user", words) for role, text, _ in claude.said(session))


def opened_for(terminal: Terminal, gate: Path) -> int:
    """The pipe's writing end, once somebody reads it: then the tool runs."""
    opened: list[int] = []

    def ready() -> bool:
        try:
            opened.append(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    terminal.until(ready, "the command at the pipe")
    return opened[0]
