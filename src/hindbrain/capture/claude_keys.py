"""What Claude Code's hooks and its transcript both say -> the same key.

A prompt and a reply carry no id that both sides know, so their key is the prompt's id plus a digest of the text; a
tool call has its own id. Both sides remove our own injected block before they look at a text, and agree on which texts
were never said by anybody: task notifications, command echoes, reminders.
"""

from __future__ import annotations

from typing import Final

from hindbrain.capture.event import text_key

AGENT: Final = "claude-code"

# Texts that begin so were written by the client or a tool, not by the person at the keyboard.
_SYNTHETIC: Final = (
    "<task-notification>", "<command-", "<local-command-", "<system-reminder>", "<hook_context>", "<bash-",
    "[Request interrupted",
)  # fmt: skip


def synthetic(text: str) -> str:
    """Why a prompt is no turn: the sign it begins with, or "empty". Nothing for what a person said."""
    start = text.lstrip()
    return next((sign for sign in _SYNTHETIC if start.startswith(sign)), "") if start else "empty"


def prompt_key(prompt_id: str, text: str) -> str:
    """The key of what the user said first with these words under this prompt id."""
    return f"prompt:{prompt_id}:{text_key(text)}"


def reply_key(prompt_id: str, text: str) -> str:
    """The key of what the assistant said first with these words under this prompt id."""
    return f"reply:{prompt_id}:{text_key(text)}"


def tool_key(use_id: str, text: str) -> str:
    """The key of a tool call and of its result; the text counts only where the client gave no id."""
    return f"tool:{use_id}" if use_id else f"tool::{text_key(text)}"
