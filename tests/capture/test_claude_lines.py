"""Transcript lines give the turns the hooks gave, and nothing the client said to itself."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.base.fence import FENCE_CLOSE, FENCE_OPEN
from hindbrain.capture.claude_code import events_from_hook
from hindbrain.capture.claude_lines import TranscriptReader
from hindbrain.capture.event import Event, Json, Source, decode, encode, text_key
from hindbrain.capture.transcript import follow

NOW = 1_794_765_000_000
SESSION = "0593e155-b28d-4d26-8770-a0270c1c0e4d"
SOURCE = Source("/t/s.jsonl", 0, 10)


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "promptId": "q", "sessionId": "s", "message": {"role": "user", "content": content}, **more}


def assistant(*blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": list(blocks)}
    return {"type": "assistant", "sessionId": "s", "message": message, **more}


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def read(*lines: dict[str, Any]) -> list[Event]:
    reader = TranscriptReader()
    return [event for line in lines for event in reader.read(line, SOURCE, NOW)]


# The recorded run, counted by hand: what was said, by whom, under which prompt.
PROMPTS = {
    "f7bbb700-86d0-40e0-aeca-f952fa2f8753": "hello there",
    "678992ce-6feb-4750-91db-3a7370c22217": "RUN_TOOL please",
    "e7e7b91a-e21e-4bb2-b456-1fe30390e51f": "CALL_AGENT please",
    "b98d1c4e-c53d-4dc3-973f-3dc4b6cac8b1": "<task-notification>\n<task-id>a827c7210c5f7e1c0</task-id>",
    "b740ca61-e840-4f1c-b24e-2713a647236e": "after compact",
}
REPLIES = dict(zip(PROMPTS, [f"FAKE-REPLY {number}" for number in (1, 3, 6, 7, 9)], strict=True))
AGENT_CALL = {"description": "sub", "prompt": "Say hi (SUBAGENT_PROMPT)", "subagent_type": "general-purpose"}


def hooks_of_the_run(hooks: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Every payload that carried something in the recorded run; the samples hold one of each kind."""
    prompts = [{**hooks["UserPromptSubmit"], "prompt_id": key, "prompt": said} for key, said in PROMPTS.items()]
    stops = [{**hooks["Stop"], "prompt_id": key, "last_assistant_message": said} for key, said in REPLIES.items()]
    agent = {
        **hooks["PostToolUse"], "tool_name": "Agent", "tool_input": AGENT_CALL, "tool_use_id": "toolu_fake0004",
        "tool_response": {"isAsync": True},
    }  # fmt: skip
    return [*prompts, *stops, hooks["PostToolUse"], agent, hooks["SubagentStop"]]


def test_hooks_and_transcript_of_one_run_give_each_turn_once(
    hooks: dict[str, dict[str, Any]], root: Path, recorded: Path
) -> None:
    told = [event for payload in hooks_of_the_run(hooks) for event in events_from_hook(payload, NOW)]
    by_hooks = {event.id: event for event in told if event.kind == "turn"}
    found = follow(str(recorded), [root], None, now_ms=NOW).events
    by_transcript = {event.id: event for event in found if event.kind == "turn"}

    main = Counter(event.role for event in by_transcript.values())
    assert main == {"user": 4, "assistant": 5, "tool_call": 2, "tool_result": 2}
    child = [event for event in by_hooks.values() if event.parent]
    assert [(event.session, event.text) for event in child] == [(f"{SESSION}/a827c7210c5f7e1c0", "FAKE-REPLY 5")]
    assert by_hooks.keys() - {event.id for event in child} == by_transcript.keys()
    assert len([event for event in told if event.kind == "turn"]) == len(by_hooks) == 14
    for key in by_transcript:
        mine, other = by_hooks[key], by_transcript[key]
        assert (mine.session, mine.role, mine.key, mine.cwd, mine.tool) == (
            other.session, other.role, other.key, other.cwd, other.tool
        )  # fmt: skip
        if mine.role != "tool_result":
            assert mine.text == other.text


def test_the_recorded_transcript_holds_these_events_in_this_order(root: Path, recorded: Path) -> None:
    found = follow(str(recorded), [root], None, now_ms=NOW)
    assert [(event.kind, event.role, event.text[:17]) for event in found.events] == [
        ("turn", "user", "hello there"),
        ("turn", "assistant", "FAKE-REPLY 1"),
        ("turn", "user", "RUN_TOOL please"),
        ("turn", "tool_call", "Bash: echo tool-r"),
        ("turn", "tool_result", "tool-ran-ok"),
        ("turn", "assistant", "FAKE-REPLY 3"),
        ("turn", "user", "CALL_AGENT please"),
        ("turn", "tool_call", "Agent: sub\n{\"prom"),
        ("turn", "tool_result", "Async agent launc"),
        ("turn", "assistant", "FAKE-REPLY 6"),
        ("turn", "assistant", "FAKE-REPLY 7"),
        ("post_compact", None, ""),
        ("turn", "user", "after compact"),
        ("turn", "assistant", "FAKE-REPLY 9"),
    ]
    assert found.problems == []
    assert {event.session for event in found.events} == {SESSION}
    for event in found.events:
        assert event.source is not None
        line = recorded.read_bytes()[event.source.start : event.source.end]
        assert line.endswith(b"\n")
        assert json.loads(line)["type"] in ("user", "assistant", "system")


def test_one_event_in_full(root: Path, recorded: Path) -> None:
    first, reply = follow(str(recorded), [root], None, now_ms=NOW).events[:2]
    assert first == Event(
        kind="turn", agent="claude-code", session=SESSION, at=1_794_765_053_647, origin="transcript", role="user",
        key=f"prompt:f7bbb700-86d0-40e0-aeca-f952fa2f8753:{text_key('hello there')}", text="hello there",
        cwd="/home/dev/proj", source=Source(str(recorded), 1_770, 2_356),
        detail={"git_branch": "master", "version": "2.1.325", "entrypoint": "sdk-cli"},
    )  # fmt: skip
    assert reply.detail == {"model": "claude-opus-5-5"}


@pytest.mark.parametrize(
    "line",
    [
        user("a", isMeta=True),
        user("a", isCompactSummary=True),
        user("a", isSidechain=True),
        user("a", promptSource="system"),
        assistant(text("a"), isSidechain=True),
        {**user("a"), "type": "attachment"},
        {**user("a"), "type": "api-request-blob"},
        {**user("a"), "type": "queue-operation"},
        {**user("a"), "type": None},
        {**user("a"), "type": ["user"]},
        {"type": "system", "subtype": "stop_hook_summary", "message": {"role": "user", "content": "a"}},
        {"type": "something-new", "message": {"role": "assistant", "content": "a"}},
        {},
        user(""),
        user([]),
        user([text(" ")]),
        user("<task-notification>\nx"),
        user("<command-name>/compact</command-name>"),
        user("<local-command-stdout>x</local-command-stdout>"),
        user("<system-reminder>x</system-reminder>"),
        user("<hook_context>x"),
        user("<bash-stdout>x</bash-stdout>"),
        user([text("[Request interrupted by user for tool use]")]),
        user(f"{FENCE_OPEN} v='1'>- a memory{FENCE_CLOSE}"),
        assistant({"type": "thinking", "thinking": "hm", "signature": "x"}),
        assistant({"type": "redacted_thinking", "data": "x"}),
        assistant(text("")),
        assistant(),
    ],
)
def test_what_nobody_said_gives_nothing(line: dict[str, Any]) -> None:
    assert read(line) == []


def test_a_boundary_is_a_hint_of_compaction() -> None:
    line = {"type": "system", "subtype": "compact_boundary", "uuid": "u", "sessionId": "s",
            "compactMetadata": {"trigger": "auto", "preTokens": 9}}  # fmt: skip
    (found,) = read(line)
    assert (found.kind, found.key, found.detail) == (
        "post_compact", "compact_boundary:u", {"trigger": "auto", "pre_tokens": 9}
    )  # fmt: skip


def test_reminders_beside_a_prompt_are_left_out_and_images_marked() -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "aGk="}}
    (found,) = read(user([text("<system-reminder>x</system-reminder>"), text("look at this"), image, text("and fix")]))
    assert found.text == "look at this\n[image]\nand fix"
    assert found.key == f"prompt:q:{text_key(chr(10).join(['look at this', 'and fix']))}"


def test_a_prompt_with_an_image_has_the_id_its_hook_gave_it() -> None:
    (found,) = read(user([text("look"), {"type": "image"}]))
    payload = {"session_id": "s", "hook_event_name": "UserPromptSubmit", "prompt_id": "q", "prompt": "look"}
    (told,) = events_from_hook(payload, NOW)
    assert found.id == told.id


def test_our_own_block_is_in_no_turn_of_hook_or_transcript() -> None:
    block = f"{FENCE_OPEN} v='1'>- a memory{FENCE_CLOSE}"
    lines = read(
        user(f"go{block}"),
        assistant(text(f"as you said: {block}done")),
        assistant(text(block)),
        user([{"type": "tool_result", "tool_use_id": "t", "content": [text(f"found {block}it")]}]),
    )
    base = {"session_id": "s", "prompt_id": "q"}
    hooked = [
        *events_from_hook({**base, "hook_event_name": "UserPromptSubmit", "prompt": f"{block}go"}, NOW),
        *events_from_hook({**base, "hook_event_name": "Stop", "last_assistant_message": f"as you said: {block}done"}, NOW),
        *events_from_hook(
            {**base, "hook_event_name": "PostToolUse", "tool_use_id": "t", "tool_response": f"found {block}it"}, NOW
        )[1:],
    ]
    assert [event.text for event in lines] == ["go", "as you said: done", "found it"]
    assert [(event.id, event.text) for event in hooked] == [(event.id, event.text) for event in lines]
    (summary,) = events_from_hook({**base, "hook_event_name": "PostCompact", "compact_summary": f"{block}short"}, NOW)
    assert summary.text == "short"


def test_a_reply_belongs_to_the_latest_prompt_of_the_main_chain() -> None:
    found = read(
        user("a", promptId="q1"),
        user("<task-notification>", promptId="q2"),
        user("side", promptId="q3", isSidechain=True),
        {**user("a"), "promptId": None},
        assistant(text("done")),
    )
    assert found[-1].key == f"reply:q2:{text_key('done')}"


def test_repeats_get_ordinals_and_the_first_none() -> None:
    found = read(user("go"), user("go"), assistant(text("ok")), assistant(text("ok"), text("ok")), user("go"))
    prompt, reply = f"prompt:q:{text_key('go')}", f"reply:q:{text_key('ok')}"
    assert [event.key for event in found] == [prompt, f"{prompt}#1", reply, f"{reply}#1", f"{reply}#2", f"{prompt}#2"]


def test_a_line_written_twice_is_one_turn() -> None:
    found = read(user("go", uuid="u1"), user("go", uuid="u1"), user("go", uuid="u2"))
    prompt = f"prompt:q:{text_key('go')}"
    assert [event.key for event in found] == [prompt, prompt, f"{prompt}#1"]


def test_a_tool_call_and_its_result_share_a_key_and_a_name() -> None:
    call, result, failed = read(
        assistant({"type": "tool_use", "id": "t1", "name": "Edit", "input": {"file_path": "/a", "new_string": "x"}}),
        user([{"type": "tool_result", "tool_use_id": "t1", "content": [text("ok"), {"type": "image"}]}]),
        user([{"type": "tool_result", "tool_use_id": "t2", "content": "boom", "is_error": True}]),
    )
    assert (call.role, call.key, call.tool) == ("tool_call", "tool:t1", "Edit")
    assert call.detail == {"file": "/a", "action": "modified", "lines": 1}
    assert (result.role, result.key, result.tool, result.text) == ("tool_result", "tool:t1", "Edit", "ok\n[image]")
    assert (failed.tool, failed.text, failed.detail) == ("", "boom", {"error": True})


def test_a_result_and_words_of_the_user_in_one_line_are_two_turns() -> None:
    found = read(user([{"type": "tool_result", "tool_use_id": "t", "content": "no"}, text("use tabs instead")]))
    assert [(event.role, event.text) for event in found] == [("tool_result", "no"), ("user", "use tabs instead")]


def test_times_fall_back_to_the_line_before_and_then_to_now() -> None:
    found = read(
        user("1"),
        user("2", timestamp="2026-11-15T17:50:53.595Z"),
        user("3"),
        user("4", timestamp="yesterday"),
        {"type": "queue-operation", "timestamp": "2026-11-15T18:00:00+00:00"},
        user("5", timestamp=12),
        user("6", timestamp="0001-01-01T00:00:00+14:00"),
        user("7", timestamp="2026-11-15T18:00:01"),
    )
    first, second = 1_794_765_053_595, 1_794_765_600_000
    assert [event.at for event in found] == [NOW, first, first, first, second, second, second + 1_000]


def test_a_line_without_a_session_takes_the_name_of_its_file() -> None:
    (found,) = read({**user("a"), "sessionId": None})
    assert found.session == "s"


@pytest.mark.parametrize("content", [None, 7, {"a": 1}, True])
def test_a_line_of_wrong_shape_is_kept_as_it_came(content: Any) -> None:
    line = user(content)
    (found,) = read(line)
    assert (found.kind, json.loads(found.text)) == ("unparsed", line)


def test_blocks_of_wrong_shape_are_kept_and_unknown_ones_counted() -> None:
    hologram = {"type": "hologram", "data": "x"}
    found = read(assistant(7, {"type": "text", "text": 7}, {"no": "type"}, hologram, text("hi")))
    assert [(event.kind, event.text) for event in found] == [
        ("unparsed", "7"),
        ("unparsed", '{"type":"text","text":7}'),
        ("unparsed", '{"no":"type"}'),
        ("notice", ""),
        ("turn", "hi"),
    ]


def test_a_message_of_countless_blocks_gives_a_bounded_number_of_events() -> None:
    found = read(assistant(*([[]] * 5_000)))
    assert len(found) == 1_001


def test_the_state_stays_small() -> None:
    reader = TranscriptReader()
    for number in range(5_000):
        block = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {}}
        reader.read(user(f"say {number}", uuid=f"u{number}"), SOURCE, NOW)
        reader.read(assistant(block), SOURCE, NOW)
    assert len(json.dumps(reader.state())) < 30_000


LINES = [
    user("go", uuid="1", timestamp="2026-11-15T17:50:53.595Z"),
    assistant(text("ok"), {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}),
    user([{"type": "tool_result", "tool_use_id": "t", "content": "a"}], promptId=None),
    assistant(text("ok"), uuid="3"),
    user("go", promptId="q2"),
    user("go", promptId="q"),
    assistant({"type": "tool_use", "name": "Bash", "input": {}}, {"type": "tool_use", "name": "Bash", "input": {}}),
    assistant(text("ok")),
]


def test_a_reader_goes_on_from_the_state_of_another_at_every_line() -> None:
    whole = read(*LINES)
    for stop in range(len(LINES) + 1):
        first = TranscriptReader()
        events = [event for line in LINES[:stop] for event in first.read(line, SOURCE, NOW)]
        second = TranscriptReader(json.loads(json.dumps(first.state())))
        events += [event for line in LINES[stop:] for event in second.read(line, SOURCE, NOW)]
        assert events == whole


SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20)
ANY_JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
BLOCKS = st.dictionaries(
    st.sampled_from(["type", "text", "id", "name", "input", "tool_use_id", "content", "is_error"]),
    ANY_JSON | st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking"]),
)
ANY_LINE = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "system"])},
    optional={
        "message": ANY_JSON | st.fixed_dictionaries({"content": ANY_JSON | st.lists(BLOCKS, max_size=4)}),
        "promptId": ANY_JSON, "sessionId": ANY_JSON, "timestamp": ANY_JSON, "uuid": ANY_JSON, "cwd": ANY_JSON,
        "subtype": st.just("compact_boundary") | ANY_JSON, "compactMetadata": ANY_JSON, "isMeta": ANY_JSON,
    },
)  # fmt: skip


@given(st.lists(ANY_LINE, max_size=4), ANY_JSON)
def test_no_line_and_no_state_makes_the_reader_raise(lines: list[dict[str, Json]], state: Json) -> None:
    reader = TranscriptReader(state if isinstance(state, dict) else {"seen": state, "at": state, "waiting": state})
    for line in lines:
        for event in reader.read(line, SOURCE, NOW):
            assert decode(encode(event)) == event
            told = [str(value) for value in event.detail.values()]
            for words in (event.text, event.key, event.session, event.cwd, event.tool, *told):
                words.encode()
                assert "\x00" not in words


def test_what_the_client_writes_in_the_models_name_is_no_turn() -> None:
    filler = assistant(text("No response requested."), uuid="u1")
    filler["message"]["model"] = "<synthetic>"
    [event] = read(user("hello"), filler)[1:]
    assert (event.kind, event.role, event.text) == ("notice", None, "No response requested.")


def test_a_line_copied_from_the_session_a_branch_came_from_is_not_said_again() -> None:
    origin = {"sessionId": "first", "messageUuid": "u1"}
    copied = user("said before", forkedFrom=origin), assistant(text("answered before"), forkedFrom=origin)
    [event] = read(*copied, user("said here"))
    assert event.text == "said here"
