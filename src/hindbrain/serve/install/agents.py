"""Every agent Hindbrain can be installed for: where its settings are, which of its events are hooked, and for how long at most.

One table. The installer, the plugin folder, the doctor's check and docs/agents.md are made from it; another agent is
another row.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from hindbrain.base.errors import UsageError

Scope = Literal["user", "project"]


@dataclass(frozen=True, slots=True)
class HookedEvent:
    """One event of an agent."""

    name: str
    timeout: int  # seconds, after which the agent ends the hook; the hook itself stops after one
    brings: str


@dataclass(frozen=True, slots=True)
class Agent:
    """Where an agent keeps its settings and what is put there."""

    name: str
    title: str
    folder: str  # in the user's directory and in a project
    folder_variable: str  # names another folder than the user's
    file: str
    managed: tuple[Path, ...]  # an administrator's settings, which win over all others
    events: tuple[HookedEvent, ...]

    def settings(self, scope: Scope, environ: Mapping[str, str], cwd: Path) -> Path:
        """The settings file of a scope."""
        if scope == "project":
            return cwd / self.folder / self.file
        if named := environ.get(self.folder_variable, ""):
            return Path(os.path.abspath(os.path.expanduser(named))) / self.file
        user = environ.get("HOME", "") or os.path.expanduser("~")
        return Path(user) / self.folder / self.file

    def also_read(self, scope: Scope, environ: Mapping[str, str], cwd: Path) -> list[Path]:
        """Other files in which the agent may be told to run no hooks."""
        user = self.settings("user", environ, cwd)
        project = self.settings("project", environ, cwd)
        beside = [user, project.with_name("settings.local.json")] if scope == "project" else []
        return [*beside, *self.managed]


# SessionEnd is cut off after 1.5 seconds in all unless a hook of it declares its own time.
CLAUDE_CODE: Final = Agent(
    name="claude-code", title="Claude Code", folder=".claude", folder_variable="CLAUDE_CONFIG_DIR", file="settings.json",
    managed=(
        Path("/Library/Application Support/ClaudeCode/managed-settings.json") if sys.platform == "darwin"
        else Path("/etc/claude-code/managed-settings.json"),
    ),
    events=(
        HookedEvent("SessionStart", 10, "a session begins, is resumed, cleared or compacted; its folder and transcript"),
        HookedEvent("UserPromptSubmit", 10, "what you typed"),
        HookedEvent("PostToolUse", 10, "a tool call, its input and its result"),
        HookedEvent("Stop", 10, "the assistant's last reply of a turn"),
        HookedEvent("PreCompact", 10, "the conversation is about to be compacted"),
        HookedEvent("PostCompact", 10, "the summary that replaced it"),
        HookedEvent("SubagentStart", 10, "a subagent begins; which session started it"),
        HookedEvent("SubagentStop", 10, "a subagent's last reply and its own transcript"),
        HookedEvent("SessionEnd", 15, "a session ends, and why"),
    ),
)  # fmt: skip

AGENTS: Final[dict[str, Agent]] = {agent.name: agent for agent in (CLAUDE_CODE,)}


def agent_named(name: str) -> Agent:
    try:
        return AGENTS[name]
    except KeyError:
        raise UsageError(f"no agent is called {name}", hint=f"the agents are: {', '.join(AGENTS)}") from None


def entry(command: list[str], agent: Agent, event: HookedEvent) -> dict[str, object]:
    """One hook as the agent's settings have it: no shell, so no path needs quoting."""
    return {"type": "command", "command": command[0], "args": [*command[1:], agent.name, event.name], "timeout": event.timeout}
