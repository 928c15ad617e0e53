"""`hindbrain talk`: a prompt and the command line of a backend -> its reply, after it was told what was said before.

The backend's words go to stdout as they come, exactly as if it had been run by itself; its complaints go to stderr.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.serve.commands.options import json_option
from hindbrain.serve.invocation import Invocation, pass_invocation
from hindbrain.serve.terminal import note, printable, say, say_json

if TYPE_CHECKING:
    from hindbrain.converse.backend import Commanded, Talk
    from hindbrain.converse.saved import MemoryManager
    from hindbrain.converse.turns import ConversationConfig, Turn


# Options of ours stand before the backend; whatever stands behind its name is its own, with or without `--` between.
@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("argv", nargs=-1, type=click.UNPROCESSED)
@click.option("--team", metavar="NAME", required=True, help="The team the agent belongs to.")
@click.option("--agent", metavar="NAME", required=True, help="The agent that is talked to.")
@click.option("--project", metavar="PROJECT", help="Also keep prompt and reply as turns of this project.")
@click.option("--max-turns", type=click.IntRange(0), help="How many turns are kept word for word; at first 5, then as before.")
@click.option("--budget", type=click.IntRange(0), help="How many characters may be told; at first 4000, then as before.")
@click.option("--clear", is_flag=True, help="Forget what was said first.")
@click.option("--disable", is_flag=True, help="Tell nothing and record nothing from now on.")
@click.option("--enable", is_flag=True, help="Tell and record again.")
@json_option
@pass_invocation
def talk(
    invocation: Invocation, argv: tuple[str, ...], team: str, agent: str, project: str | None, max_turns: int | None,
    budget: int | None, clear: bool, disable: bool, enable: bool, as_json: bool,
) -> None:  # fmt: skip
    """Ask the backend ARGV, telling it first what was said before.

    The prompt is what stands behind ARGV's -p (or behind `codex exec`), else what comes on stdin. Prompt and reply are
    recorded when the backend ends well, and only then. Without ARGV: print what a backend would be told.

    \b
    hindbrain talk --team crew --agent ada -- gemini -p "which port does staging use?"
    git diff | hindbrain talk --team crew --agent reviewer -- claude -p
    hindbrain talk --team crew --agent ada --clear
    """
    from hindbrain.converse.backend import Commanded, Talk

    if disable and enable:
        raise UsageError("--disable and --enable exclude each other", hint="give one of them")
    manager = _manager(invocation)
    config = _config(manager, team, agent, max_turns, budget)
    backend = Commanded(argv or ("cat",), wrote=None if as_json else _wrote)
    into = None if project is None else Kept(invocation, team, agent, project)
    conversation = Talk(backend, manager, team, agent, config=config, recorded=into)
    if clear:
        conversation.clear()
    if disable or enable:
        (conversation.enable if enable else conversation.disable)()
    if not argv:
        if not (clear or disable or enable) or as_json:
            _told(conversation, as_json)
        return
    reply = conversation(_prompt(backend))
    if as_json:
        say_json({**_state(conversation), "reply": reply})


def _manager(invocation: Invocation) -> MemoryManager:
    from hindbrain.converse.saved import MemoryManager

    return MemoryManager(Home(invocation.config.home).teams, warn=lambda text: note(f"warning: {printable(text)}"))


def _config(manager: MemoryManager, team: str, agent: str, max_turns: int | None, budget: int | None) -> ConversationConfig:
    """The limits asked for, else those the conversation has."""
    from hindbrain.converse.turns import ConversationConfig

    saved = manager.load(team, agent)
    before = saved.config if saved is not None else ConversationConfig()
    turns = before.max_turns if max_turns is None else max_turns
    return ConversationConfig(turns, before.budget_chars if budget is None else budget, before.budget_tokens)


def _wrote(piece: bytes) -> None:
    sys.stdout.buffer.write(piece)
    sys.stdout.buffer.flush()


def _prompt(backend: Commanded) -> str:
    """The prompt in the command line, else what comes on stdin."""
    if (prompt := backend.command.prompt) is None:
        if sys.stdin is None or os.isatty(sys.stdin.fileno()):
            raise UsageError("there is no prompt", hint="give it behind the backend's -p, or on stdin")
        prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    if not prompt.strip():
        raise UsageError("the prompt is empty", hint="give it some words")
    return prompt


def _state(conversation: Talk[[], str]) -> dict[str, object]:
    memory = conversation.memory
    return {
        "team": conversation.team, "agent": conversation.agent, "enabled": memory.enabled, "turns": len(memory),
        "digest": memory.digest, "backend_keeps_history": not conversation.tells,
    }  # fmt: skip


def _told(conversation: Talk[[], str], as_json: bool) -> None:
    memory = conversation.memory
    if as_json:
        say_json({**_state(conversation), "context": memory.format_context()})
    elif text := memory.format_context():
        say(text.removesuffix("\n"))
    else:
        note("nothing was said yet")
    if not memory.enabled:
        note("it is disabled: nothing is told and nothing recorded\nhint: --enable changes that")


class Kept:
    """Keeps prompt and reply in the ledger as well, where everything that was said to any agent is found."""

    def __init__(self, invocation: Invocation, team: str, agent: str, project: str) -> None:
        self._invocation = invocation
        self._team, self._agent, self._project = team, agent, project

    def __call__(self, prompt: Turn, reply: Turn) -> None:
        from hindbrain.serve.commands.remember import opened, project_named, settle
        from hindbrain.serve.talking import event_of

        where = project_named(self._invocation, self._project)
        with opened(self._invocation) as memory:
            for turn in (prompt, reply):
                event = event_of(self._team, self._agent, turn)
                memory.record(
                    agent=event.agent, session=event.session, role=turn.role, text=turn.text, at=turn.at, project=where,
                    key=event.key,
                )  # fmt: skip
            settle(memory)
