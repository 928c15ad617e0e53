"""Each hook payload of Claude Code gives the events it should, and no payload gives none or an error."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.base.fence import FENCE_CLOSE, FENCE_OPEN
from hindbrain.capture.claude_code import events_from_hook
from hindbrain.capture.event import MAX_TEXT_CHARS, Event, Json, decode, encode, text_key

NOW = 1_794_765_053_000
SESSION = "0593e155-b28d-4d26-8770-a0270c1c0e4d"
PATH = f"/home/dev/.claude/projects/-home-dev-proj/{SESSION}.jsonl"
BASE: dict[str, Any] = {"session_id": "s", "transcript_path": "/t/s.jsonl", "cwd": "/p", "prompt_id": "q"}


def event(**changes: Any) -> Event:
    """An event of the recorded session."""
    plain: dict[str, Any] = {
        "agent": "claude-code", "session": SESSION, "at": NOW, "origin": "hook", "cwd": "/home/dev/proj",
    }  # fmt: skip
    detail = {"transcript_path": PATH} | changes.pop("detail", {})
    return Event(**(plain | changes), detail=detail)


def hook(name: str, **more: Any) -> list[Event]:
    return events_from_hook({**BASE, "hook_event_name": name, **more}, NOW)


def only(events: list[Event]) -> Event:
    assert len(events) == 1, events
    return events[0]


CHILD = f"{SESSION}/a827c7210c5f7e1c0"
RECORDED = {
    "SessionStart": [event(kind="session_start", key=f"SessionStart:{NOW}", detail={"source": "startup"})],
    "InstructionsLoaded": [
        event(kind="notice", key=f"InstructionsLoaded:{NOW}", detail={"event": "InstructionsLoaded"})
    ],
    "UserPromptSubmit": [
        event(kind="turn", role="user", text="hello there",
              key=f"prompt:f7bbb700-86d0-40e0-aeca-f952fa2f8753:{text_key('hello there')}")
    ],
    "MessageDisplay": [event(kind="notice", key=f"MessageDisplay:{NOW}", detail={"event": "MessageDisplay"})],
    "Stop": [
        event(kind="turn", role="assistant", text="FAKE-REPLY 1",
              key=f"reply:f7bbb700-86d0-40e0-aeca-f952fa2f8753:{text_key('FAKE-REPLY 1')}")
    ],
    "SessionEnd": [event(kind="session_end", key=f"SessionEnd:{NOW}", detail={"reason": "other"})],
    "PreToolUse": [event(kind="notice", key=f"PreToolUse:{NOW}", detail={"event": "PreToolUse"})],
    "PostToolUse": [
        event(kind="turn", role="tool_call", tool="Bash", text="Bash: echo tool-ran-ok", key="tool:toolu_fake0002",
              detail={"command": "echo tool-ran-ok"}),
        event(kind="turn", role="tool_result", tool="Bash", text="tool-ran-ok", key="tool:toolu_fake0002",
              detail={"command": "echo tool-ran-ok", "duration_ms": 38}),
    ],
    "PostToolBatch": [event(kind="notice", key=f"PostToolBatch:{NOW}", detail={"event": "PostToolBatch"})],
    "SubagentStart": [
        event(kind="subagent_start", session=CHILD, parent=SESSION, key=f"SubagentStart:{NOW}",
              detail={"subagent": "general-purpose"})
    ],
    "SubagentStop": [
        event(kind="turn", role="assistant", session=CHILD, parent=SESSION, text="FAKE-REPLY 5",
              key=f"reply:e7e7b91a-e21e-4bb2-b456-1fe30390e51f:{text_key('FAKE-REPLY 5')}"),
        event(kind="subagent_stop", session=CHILD, parent=SESSION, key=f"SubagentStop:{NOW}",
              detail={"subagent": "general-purpose"}),
    ],
    "PreCompact": [event(kind="pre_compact", key=f"PreCompact:{NOW}", detail={"trigger": "manual"})],
    "PostCompact": [
        event(kind="post_compact", key=f"PostCompact:{NOW}", detail={"trigger": "manual"},
              text="<analysis>x</analysis><summary>FAKE-COMPACT-SUMMARY of the chat</summary>")
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_payload_gives_exactly_these_events(name: str, hooks: dict[str, dict[str, Any]]) -> None:
    assert events_from_hook(hooks[name], NOW) == RECORDED[name]


def test_every_recorded_payload_is_covered(hooks: dict[str, dict[str, Any]]) -> None:
    assert hooks.keys() == RECORDED.keys()


@pytest.mark.parametrize("source", ["user", "sdk", None])
def test_a_prompt_from_a_person_is_a_turn(source: str | None) -> None:
    assert only(hook("UserPromptSubmit", prompt="fix it", source=source)).kind == "turn"


@pytest.mark.parametrize("source", ["system", "loop_wakeup", "schedule_wakeup", "poll_event", "something new", 7, []])
def test_a_prompt_from_a_machine_is_a_notice(source: Json) -> None:
    found = only(hook("UserPromptSubmit", prompt="fix it", source=source))
    assert (found.kind, found.text, found.detail["event"]) == ("notice", "", "UserPromptSubmit")


@pytest.mark.parametrize(
    ("prompt", "sign"),
    [
        ("<task-notification>\n<task-id>a</task-id>", "<task-notification>"),
        ("<command-name>/compact</command-name>", "<command-"),
        ("<command-message>compact</command-message>", "<command-"),
        ("<local-command-stdout>ok</local-command-stdout>", "<local-command-"),
        ("<system-reminder>be nice</system-reminder>", "<system-reminder>"),
        ("<hook_context>x</hook_context>", "<hook_context>"),
        ("<bash-stdout>x</bash-stdout>", "<bash-"),
        ("[Request interrupted by user]", "[Request interrupted"),
        ("  \n<task-notification>x", "<task-notification>"),
        ("", "empty"),
        (" \r\n\t", "empty"),
        (f"{FENCE_OPEN} v='1'>- a memory{FENCE_CLOSE}", "empty"),
        (f"{FENCE_OPEN}>- a memory{FENCE_CLOSE}<system-reminder>x", "<system-reminder>"),
        (None, "empty"),
    ],
)
def test_a_synthetic_prompt_is_a_notice_without_its_text(prompt: str | None, sign: str) -> None:
    found = only(hook("UserPromptSubmit", prompt=prompt))
    assert (found.kind, found.text, found.detail) == (
        "notice", "", {"transcript_path": "/t/s.jsonl", "event": "UserPromptSubmit", "synthetic": sign}
    )  # fmt: skip


def test_our_own_block_is_not_part_of_a_prompt() -> None:
    plain = only(hook("UserPromptSubmit", prompt="fix it"))
    assert only(hook("UserPromptSubmit", prompt=f"{FENCE_OPEN}>- a memory{FENCE_CLOSE}fix it")) == plain


def test_a_prompt_that_only_mentions_a_tag_is_a_turn() -> None:
    assert only(hook("UserPromptSubmit", prompt="why is there a <system-reminder> in my file?")).kind == "turn"


def test_a_resend_has_the_same_id_and_line_ends_do_not_matter() -> None:
    first = only(hook("UserPromptSubmit", prompt="a\nb\n"))
    again = only(events_from_hook({**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "a\r\nb"}, NOW + 5_000))
    assert first.id == again.id


def test_a_prompt_without_an_id_has_its_text_as_key() -> None:
    found = only(hook("UserPromptSubmit", prompt="a", prompt_id=None))
    assert found.key == f"prompt::{text_key('a')}"


def test_a_turn_that_ends_without_a_reply_is_a_notice() -> None:
    assert only(hook("Stop")).kind == "notice"
    assert only(hook("Stop", last_assistant_message="  ")).kind == "notice"


def test_a_failed_turn_is_a_notice_and_its_last_message_is_nobodys_reply() -> None:
    alone = only(hook("StopFailure", error="overloaded", error_details={"status": 529}))
    assert alone.kind == "notice"
    assert alone.detail["error"] == "overloaded"
    assert alone.detail["error_details"] == '{"status":529}'
    failure = only(hook("StopFailure", error="unknown", last_assistant_message="API Error: 400"))
    assert (failure.kind, failure.role, failure.text, failure.detail["error"]) == ("notice", None, "API Error: 400", "unknown")


def test_a_failed_tool_call_is_marked_on_both_sides() -> None:
    call, result = hook(
        "PostToolUseFailure", tool_name="Edit", tool_input={"file_path": "/a"}, tool_use_id="t", error="no such file"
    )
    assert (call.role, call.text, call.detail["error"], call.detail["file"]) == ("tool_call", "Edit: /a", True, "/a")
    assert (result.role, result.text, result.detail["error"]) == ("tool_result", "no such file", True)


def test_a_tool_call_without_an_id_is_known_by_its_text() -> None:
    call, result = hook("PostToolUse", tool_name="Bash", tool_input={"command": "ls"}, tool_response="a\nb")
    assert (call.key, result.key) == (f"tool::{text_key('Bash: ls')}", f"tool::{text_key(result.text)}")
    assert call.id != result.id


def test_compaction_is_no_subagent() -> None:
    found = only(hook("SubagentStop", agent_id="acompact", agent_type="", last_assistant_message="a summary"))
    assert (found.kind, found.session, found.parent, found.text) == ("notice", "s", "", "")
    assert found.detail["reason"] == "compaction"


def test_what_happens_inside_a_subagent_belongs_to_its_session() -> None:
    for found in hook("PostToolUse", agent_id="a1", agent_type="Explore", tool_name="Bash", tool_use_id="t"):
        assert (found.session, found.parent) == ("s/a1", "s")


def test_an_agent_type_alone_is_the_main_session() -> None:
    assert only(hook("UserPromptSubmit", prompt="a", agent_type="reviewer")).session == "s"


def test_a_subagent_without_an_id_does_not_speak_in_the_main_session() -> None:
    found = only(hook("SubagentStop", last_assistant_message="done"))
    assert (found.kind, found.role, found.text) == ("subagent_stop", None, "done")


def test_an_unknown_event_is_a_notice_without_text() -> None:
    found = only(hook("SomethingNew", message="hello", prompt="p"))
    assert found == Event(
        kind="notice", agent="claude-code", session="s", at=NOW, key=f"SomethingNew:{NOW}", origin="hook", cwd="/p",
        detail={"transcript_path": "/t/s.jsonl", "event": "SomethingNew"},
    )  # fmt: skip


def test_session_details_are_kept() -> None:
    found = only(hook("SessionStart", source="resume", model="opus", context_tokens=5))
    assert found.detail == {"transcript_path": "/t/s.jsonl", "source": "resume", "model": "opus"}


@pytest.mark.parametrize(
    ("changes", "kind", "session"),
    [
        ({"session_id": 7}, "turn", "7"),
        ({"session_id": None}, "turn", "unknown"),
        ({"session_id": {}}, "turn", "unknown"),
        ({"session_id": True}, "turn", "unknown"),
        ({"session_id": "\ud800"}, "turn", "\ufffd\ufffd\ufffd"),
        ({"session_id": 10**5000}, "turn", "unknown"),
        ({"cwd": None}, "turn", "s"),
        ({"cwd": ["/p"]}, "turn", "s"),
        ({"transcript_path": 5}, "turn", "s"),
        ({"prompt_id": {"a": 1}}, "turn", "s"),
        ({"agent_id": 5}, "turn", "s/5"),
        ({"prompt": {"text": "hi"}}, "unparsed", "s"),
        ({"prompt": ["hi"]}, "unparsed", "s"),
        ({"prompt": 10**5000}, "unparsed", "s"),
        ({"hook_event_name": None}, "unparsed", "s"),
        ({"hook_event_name": ["Stop"]}, "unparsed", "s"),
        ({"hook_event_name": ""}, "unparsed", "s"),
        ({"hook_event_name": "Stop", "last_assistant_message": ["a"]}, "unparsed", "s"),
        ({"hook_event_name": "SubagentStop", "agent_type": 7}, "subagent_stop", "s"),
        ({"hook_event_name": "PostToolUse", "tool_input": [1], "tool_name": 7, "tool_response": 3}, "turn", "s"),
        ({"hook_event_name": "PostCompact", "compact_summary": {"a": 1}}, "post_compact", "s"),
        ({"hook_event_name": "SessionStart", "source": {"a": [1]}, "model": float("nan")}, "session_start", "s"),
    ],
)
def test_wrong_types_give_the_best_event(changes: dict[str, Any], kind: str, session: str) -> None:
    payload = {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "hi", **changes}
    found = events_from_hook(payload, NOW)
    assert (found[0].kind, found[0].session) == (kind, session)
    assert all(decode(encode(one)) == one for one in found)


def test_what_cannot_be_read_is_kept_as_it_came() -> None:
    found = only(hook("UserPromptSubmit", prompt={"text": "grüß"}))
    assert json.loads(found.text) == {**BASE, "hook_event_name": "UserPromptSubmit", "prompt": {"text": "grüß"}}


@pytest.mark.parametrize("payload", [None, 7, "text", [1, 2], True, 1.5, [], {}])
def test_a_payload_that_is_no_object_is_kept_as_unparsed(payload: Json) -> None:
    found = only(events_from_hook(payload, NOW))
    assert (found.kind, found.session) == ("unparsed", "unknown")


def test_long_and_dirty_texts_are_bounded_and_storable() -> None:
    found = only(hook("UserPromptSubmit", prompt="a\x00\ud800" + "x" * (MAX_TEXT_CHARS + 10)))
    assert found.text.startswith("a\ufffd\ufffd")
    assert found.text.endswith("more characters not kept]")
    assert len(found.text) < MAX_TEXT_CHARS + 100
    found.text.encode()
    long_name = only(hook("UserPromptSubmit", prompt="a", session_id="s" * 1_000_000, cwd="/" * 1_000_000))
    assert len(long_name.session) < 300
    assert len(long_name.cwd) <= 4_096


def test_a_deeply_nested_field_is_kept_but_for_its_depths() -> None:
    deep: Json = "bottom"
    for _ in range(5_000):
        deep = [deep]
    found = only(hook("UserPromptSubmit", prompt=deep))
    assert found.kind == "unparsed"
    assert '"session_id":"s"' in found.text
    call, _ = hook("PostToolUse", tool_name="Bash", tool_input={"command": "ls", "x": deep}, tool_response=deep)
    assert call.text.startswith("Bash: ls\n")


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
NAMES = [*RECORDED, "PostToolUseFailure", "StopFailure", "Notification", "SomethingNew"]
FIELDS = [
    "session_id", "transcript_path", "cwd", "prompt_id", "prompt", "source", "agent_id", "agent_type", "tool_name",
    "tool_input", "tool_response", "tool_use_id", "error", "error_details", "last_assistant_message", "trigger",
    "compact_summary", "reason", "model", "duration_ms", "hook_event_name",
]  # fmt: skip
TOOLS = ["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit", "Read", "Agent", "Task", "TodoWrite"]
TOOL_FIELDS = [
    "command", "file_path", "notebook_path", "edits", "content", "new_string", "todos", "subagent_type", "limit",
]  # fmt: skip


def check(payload: Json) -> None:
    events = events_from_hook(payload, NOW)
    assert events
    for found in events:
        assert decode(encode(found)) == found
        told = [str(value) for value in found.detail.values()]
        for text in (found.text, found.key, found.session, found.cwd, found.tool, found.parent, *told):
            text.encode()
            assert "\x00" not in text


@given(ANY_JSON)
def test_any_json_gives_at_least_one_event(payload: Json) -> None:
    check(payload)


@settings(max_examples=300)
@given(st.sampled_from(NAMES), st.dictionaries(st.sampled_from(FIELDS), ANY_JSON))
def test_any_fields_of_any_event_give_at_least_one_event(name: str, given_fields: dict[str, Json]) -> None:
    check({"hook_event_name": name, **given_fields})


@given(st.sampled_from(TOOLS), st.dictionaries(st.sampled_from(TOOL_FIELDS), ANY_JSON), ANY_JSON)
def test_any_tool_input_gives_a_call_and_a_result(tool: str, tool_input: dict[str, Json], response: Json) -> None:
    check({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": tool_input, "tool_response": response})


def test_a_payload_is_not_changed_by_reading_it(hooks: dict[str, dict[str, Any]]) -> None:
    for payload in hooks.values():
        before = copy.deepcopy(payload)
        events_from_hook(payload, NOW)
        assert payload == before
