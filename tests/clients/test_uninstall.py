"""After `hindbrain uninstall` the real client is what it was before: same settings, byte by byte, and no hook of ours."""

from __future__ import annotations

import json

import pytest

from tests.clients.claude import Claude
from tests.serve.installed import until

pytestmark = pytest.mark.clients

# As a person and other tools leave such a file: tabs, no end of line at the end, a hook of somebody else.
SETTINGS = """{
\t"permissions" : {"allow": ["Bash(ls:*)"]},
\t"hooks": { "Stop": [ {"hooks": [{"type": "command", "command": "echo stopped >> other.log"}]} ] },
\t"cleanupPeriodDays": 3e1
}"""


def test_uninstalled_settings_are_the_old_bytes_and_the_client_runs_without_us(plain: Claude) -> None:
    claude = plain
    claude.settings.write_text(SETTINGS)
    claude.hindbrain("install", "claude-code")
    session = claude.ask("SAY:with")
    until(lambda: claude.events(session, "session_end") and claude.followed(session), "the session in the ledger")
    claude.hindbrain("uninstall", "claude-code")
    assert claude.settings.read_text() == SETTINGS
    captured = claude.look().captured
    ran = claude.prompt("SAY:without", "--output-format", "stream-json", "--verbose", "--include-hook-events")
    assert (ran.returncode, ran.stderr) == (0, "")
    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert {line["hook_event"] for line in told if line.get("subtype") == "hook_response"} <= {"Stop"}
    assert (claude.project / "other.log").read_text() == "stopped\nstopped\n"
    assert claude.look().captured == captured
    assert claude.settings.read_text() == SETTINGS


def test_a_user_without_settings_has_none_again(plain: Claude) -> None:
    before = plain.settings.exists()
    plain.hindbrain("install", "claude-code")
    plain.hindbrain("uninstall", "claude-code")
    assert plain.settings.exists() == before is False
    ran = plain.prompt("SAY:fine")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "fine\n", "")


def test_other_tools_hooks_run_beside_ours(plain: Claude) -> None:
    plain.settings.write_text(SETTINGS)
    plain.hindbrain("install", "claude-code")
    session = plain.ask("SAY:both")
    until(lambda: plain.events(session, "session_end"), "the session in the ledger")
    assert (plain.project / "other.log").read_text() == "stopped\n"
