"""A session forked from another by the real client: what was said before the fork stays where it was said."""

from __future__ import annotations

import pytest

from tests.clients.claude import BOTH, Claude, Said
from tests.clients.test_interactive import say
from tests.clients.test_session import bash

pytestmark = pytest.mark.clients

FIRST: list[Said] = [
    ("user", "RUN:echo one", BOTH), ("tool_call", bash("echo one"), BOTH), ("tool_result", "one", BOTH),
    ("assistant", "Done.", BOTH),
]  # fmt: skip


def test_a_headless_fork_has_only_what_was_said_in_it(claude: Claude) -> None:
    session = claude.ask("RUN:echo one")
    claude.until_said(session, FIRST)
    fork = claude.ask("SAY:two", "--resume", session, "--fork-session")
    assert fork != session
    claude.until_said(fork, [("user", "SAY:two", BOTH), ("assistant", "two", BOTH)])
    claude.until_said(session, FIRST)
    assert [event["source"] for event in claude.events(fork, "session_start")] == ["fork"]


def test_a_fork_and_a_branch_on_a_terminal_have_only_what_was_said_in_them(claude: Claude) -> None:
    session = claude.ask("RUN:echo one")
    claude.until_said(session, FIRST)
    with claude.interactive("--resume", session, "--fork-session") as terminal:
        terminal.until(lambda: len(claude.sessions()) == 2, "the fork")
        [fork] = [each.client_id for each in claude.sessions() if each.client_id != session]
        forked = say(terminal, "in the fork")
        terminal.type("/branch")
        terminal.until(lambda: len(claude.sessions()) == 3, "the branch")
        terminal.settle()
        branched = say(terminal, "in the branch")
        terminal.type("/exit")
        assert terminal.close() == 0
    [branch] = [each.client_id for each in claude.sessions() if each.client_id not in (session, fork)]
    claude.until_said(branch, branched)
    claude.until_said(fork, forked)
    claude.until_said(session, FIRST)
