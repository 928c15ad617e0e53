"""A conversation as a model is sent it -> what the scripted model says next.

The person's prompt is the script, one step a line, so a test reads as what it asks for:

    SAY:<text>       says this
    SLOW:<seconds>   waits, in the middle of saying something
    HOLD:<name>      waits until the test lets this name go
    FAIL:<status>    the request fails with this HTTP status
    RUN:<command>    calls the shell
    TOOL:<name> <input as JSON>  calls any tool
    AGENT:<steps>    sends a subagent with these steps, ";;" between them

Steps up to a call make one message; the message after its result goes on behind it. Nothing is remembered between requests:
where a script stands is seen from how many results have come since the prompt. A prompt without steps is answered by quoting
it. No clock, no network.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

_STEP: Final = re.compile(r"^\s*(SAY|SLOW|HOLD|FAIL|RUN|TOOL|AGENT):(.*)$", re.MULTILINE)
_CALLS: Final = ("RUN", "TOOL", "AGENT")
_HOLD_SECONDS: Final = 120.0
_ADDED: Final = ("<system-reminder>", "<local-command-", "<command-")
COMPACTING: Final = "Your task is to create a detailed summary"
SUMMARY: Final = "SUMMARY-WRITTEN-BY-THE-MODEL of what was said"


@dataclass(frozen=True)
class Say:
    text: str


@dataclass(frozen=True)
class Wait:
    seconds: float
    name: str = ""  # what to wait for; without one, the seconds


@dataclass(frozen=True)
class Call:
    tool: str
    input: Mapping[str, Any]


@dataclass(frozen=True)
class Fail:
    status: int


Block = Say | Wait | Call | Fail


def blocks_of(content: object) -> list[dict[str, Any]]:
    """A message's content as a list of blocks."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def said_by_user(message: Mapping[str, Any]) -> str:
    """What the person typed: text blocks that the client did not add itself."""
    texts = [str(block.get("text", "")) for block in blocks_of(message.get("content")) if block.get("type") == "text"]
    return "\n".join(text for text in texts if not text.lstrip().startswith(_ADDED))


def reply(request: Mapping[str, Any]) -> list[Block]:
    """What the model says to this request."""
    messages: Sequence[Mapping[str, Any]] = request.get("messages", [])
    prompt, results = _position(messages)
    if COMPACTING in prompt:
        return [Say(f"<analysis>all of it</analysis>\n<summary>\n{SUMMARY}\n</summary>")]
    steps = _STEP.findall(prompt)
    if not steps:
        return [Say(f"You said: {prompt.strip()[:80]}")]
    return _message(steps, results, [str(tool.get("name")) for tool in request.get("tools", [])])


def _position(messages: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """The last prompt, and how many results have come since."""
    results = 0
    for message in reversed(messages):
        if message.get("role") != "user":
            continue
        found = sum(block.get("type") == "tool_result" for block in blocks_of(message.get("content")))
        results += found
        text = said_by_user(message)
        if text.strip() and not found:
            return text, results
    return "", results


def _message(steps: list[tuple[str, str]], skip: int, tools: list[str]) -> list[Block]:
    """The steps after the first `skip` calls, up to the next call."""
    blocks: list[Block] = []
    for name, rest in steps:
        if skip:
            skip -= name in _CALLS
            continue
        blocks.append(_block(name, rest.strip(), tools))
        if name in _CALLS:
            break
    return blocks if any(not isinstance(block, Wait) for block in blocks) else [*blocks, Say("Done.")]


def _block(name: str, rest: str, tools: list[str]) -> Block:
    if name == "SAY":
        return Say(rest)
    if name == "SLOW":
        return Wait(float(rest))
    if name == "HOLD":
        return Wait(_HOLD_SECONDS, rest)
    if name == "FAIL":
        return Fail(int(rest))
    if name == "RUN":
        return Call("Bash", {"command": rest, "description": "as asked"})
    if name == "TOOL":
        tool, _, given = rest.partition(" ")
        return Call(tool, json.loads(given or "{}"))
    asked = {"description": "small errand", "prompt": rest.replace(";;", "\n"), "subagent_type": "general-purpose"}
    return Call("Agent" if "Agent" in tools else "Task", asked)
