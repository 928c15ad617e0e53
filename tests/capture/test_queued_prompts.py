"""What a person types while the client is busy is one turn, though hook and transcript tell of it under different ids."""

from __future__ import annotations

from typing import Any

import pytest

from hindbrain.capture.claude_code import events_from_hook
from hindbrain.capture.claude_lines import TranscriptReader
from hindbrain.capture.event import Event, Json, Source

NOW = 1_794_765_000_000
SOURCE = Source("/t/s.jsonl", 0, 10)


def hook(prompt: str) -> str:
    """The id the hook gives; it fires when the text is queued, under the prompt at work."""
    payload: dict[str, Json] = {"session_id": "s", "prompt_id": "busy", "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    [event] = events_from_hook(payload, NOW)
    return event.id


def user(text: str, prompt_id: str, uuid: str, **more: Any) -> dict[str, Any]:
    message = {"role": "user", "content": text}
    return {"type": "user", "sessionId": "s", "promptId": prompt_id, "uuid": uuid, "message": message, **more}


def enqueue(text: str) -> dict[str, Any]:
    return {"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": text}


def absorbed(text: Any, uuid: str, **more: Any) -> dict[str, Any]:
    attachment = {"type": "queued_command", "prompt": text, "commandMode": "prompt", "origin": {"kind": "human"}, **more}
    return {"type": "attachment", "sessionId": "s", "uuid": uuid, "isSidechain": False, "attachment": attachment}


def read(*lines: dict[str, Any], stop_after: int = -1) -> list[Event]:
    """The lines' events; the reader may be replaced by one that knows only its state."""
    reader, events = TranscriptReader(), []
    for number, line in enumerate(lines):
        events += reader.read(line, SOURCE, NOW)
        if number == stop_after:
            reader = TranscriptReader(reader.state())
    return events


@pytest.mark.parametrize("stop_after", [-1, 0, 1])
def test_a_queued_prompt_that_becomes_a_turn_of_its_own_has_the_hooks_id(stop_after: int) -> None:
    lines = user("first", "busy", "u1"), enqueue("and then"), user("and then", "own", "u2", promptSource="queued")
    first, queued = read(*lines, stop_after=stop_after)
    assert (first.id, first.text) == (hook("first"), "first")
    assert (queued.id, queued.text) == (hook("and then"), "and then")


@pytest.mark.parametrize("stop_after", [-1, 1])
def test_a_prompt_handed_over_in_the_middle_of_a_turn_has_the_hooks_id(stop_after: int) -> None:
    lines = user("first", "busy", "u1"), enqueue("stop that"), absorbed("stop that", "a1")
    [_, event] = read(*lines, stop_after=stop_after)
    assert (event.id, event.role, event.text) == (hook("stop that"), "user", "stop that")


def test_the_reply_to_a_queued_prompt_keeps_the_prompts_own_id() -> None:
    message = {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}
    reply = {"type": "assistant", "sessionId": "s", "message": message}
    lines = user("first", "busy", "u1"), enqueue("q"), user("q", "own", "u2", promptSource="queued"), reply
    stop: dict[str, Json] = {"session_id": "s", "prompt_id": "own", "hook_event_name": "Stop", "last_assistant_message": "yes"}
    assert read(*lines)[-1].id == events_from_hook(stop, NOW)[0].id


def test_the_same_words_queued_twice_are_two_turns() -> None:
    twice = enqueue("go on"), enqueue("go on")
    taken = user("go on", "own1", "u2", promptSource="queued"), user("go on", "own2", "u3", promptSource="queued")
    first, again = read(user("first", "busy", "u1"), *twice, *taken)[1:]
    assert first.id == hook("go on")
    assert first.id != again.id


def test_the_words_of_the_prompt_at_work_handed_over_again_are_a_second_turn() -> None:
    first, again = read(user("go on", "busy", "u1"), enqueue("go on"), absorbed("go on", "a1"))
    assert first.id == hook("go on")
    assert first.id != again.id


def test_a_prompt_that_was_not_queued_keeps_its_own_id_whatever_was_queued_before() -> None:
    [event] = read(enqueue("hello"), user("hello", "busy", "u1", promptSource="sdk"))
    assert event.id == hook("hello")


def test_what_the_client_hands_itself_in_the_middle_of_a_turn_is_no_turn() -> None:
    assert read(absorbed("<task-notification>done", "a1", origin={"kind": "task-notification"})) == []
    assert read(absorbed("<task-notification>done", "a1")) == []
    assert read(absorbed("ls", "a1", commandMode="bash")) == []
