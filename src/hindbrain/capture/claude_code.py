"""A Claude Code hook payload -> Events.

One payload is read by one small function, chosen by the event's name; a name we do not know is a notice. A hook call
always stands for the first use of its key, repeats are counted by the transcript alone. Pure: no file is read, no clock
is asked, and no payload makes it raise: a field of the wrong type gives the best event, or the payload as unparsed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from hindbrain.base.fence import strip_injected
from hindbrain.capture.claude_keys import AGENT, prompt_key, reply_key, synthetic, tool_key
from hindbrain.capture.event import Event, Json, Kind, Role, text_key
from hindbrain.capture.loose import compact, fields, kept, name, place, short, text_of, words
from hindbrain.capture.tool_text import call_text, result_text, trace

UNKNOWN_SESSION: Final = "unknown"
_HUMAN_SOURCES: Final = ("user", "sdk")


@dataclass(frozen=True, slots=True)
class _Call:
    """One hook call, its common fields made safe."""

    payload: Mapping[str, Json]
    event: str
    at: int
    session: str
    parent: str
    cwd: str
    about: Mapping[str, Json]

    @property
    def prompt_id(self) -> str:
        return name(self.payload.get("prompt_id"))

    def make(
        self, kind: Kind, key: str, *, role: Role | None = None, text: str = "", tool: str = "",
        detail: Mapping[str, Json] | None = None,
    ) -> Event:  # fmt: skip
        return Event(
            kind=kind, agent=AGENT, session=self.session, at=self.at, key=key, origin="hook", role=role,
            text=kept(text), cwd=self.cwd, tool=tool, parent=self.parent, detail={**self.about, **(detail or {})},
        )  # fmt: skip

    def mark(self, kind: Kind, *, text: str = "", detail: Mapping[str, Json] | None = None) -> Event:
        """An event that happened at a time rather than said something."""
        return self.make(kind, f"{self.event}:{self.at}", text=text, detail=detail)

    def notice(self, **detail: Json) -> Event:
        return self.mark("notice", detail={"event": self.event, **short(**detail)})

    def unparsed(self) -> list[Event]:
        raw = compact(self.payload)
        key = f"unparsed:{self.at}:{text_key(raw)}"
        return [self.make("unparsed", key, text=raw, detail=short(event=self.event))]


def events_from_hook(payload: Json | Mapping[str, Json], received_ms: int) -> list[Event]:
    """What one hook call said: at least one event, whatever came in."""
    call = _hook_call(payload, received_ms)
    if not isinstance(payload, Mapping):
        raw = text_of(payload)
        return [call.make("unparsed", f"unparsed:{received_ms}:{text_key(raw)}", text=raw)]
    if not call.event:
        return call.unparsed()
    read = _HOOKS.get(call.event)
    return [call.notice()] if read is None else read(call)


def _hook_call(payload: Json | Mapping[str, Json], received_ms: int) -> _Call:
    given = fields(payload)
    session, agent_id = name(given.get("session_id")) or UNKNOWN_SESSION, name(given.get("agent_id"))
    event = name(given.get("hook_event_name"))
    # Compaction reports itself as the end of a subagent without a type. It is no session of its own.
    is_child = bool(agent_id) and not (event == "SubagentStop" and given.get("agent_type") == "")
    return _Call(
        payload=given,
        event=event,
        at=received_ms,
        session=f"{session}/{agent_id}" if is_child else session,
        parent=session if is_child else "",
        cwd=place(given.get("cwd")),
        about=short(transcript_path=place(given.get("transcript_path"))),
    )


def _prompt(call: _Call) -> list[Event]:
    prompt, source = call.payload.get("prompt"), call.payload.get("source")
    if prompt is not None and not isinstance(prompt, str):
        return call.unparsed()
    text = strip_injected(words(prompt))
    if source is not None and source not in _HUMAN_SOURCES:
        return [call.notice(source=source)]
    if sign := synthetic(text):
        return [call.notice(synthetic=sign)]
    return [call.make("turn", prompt_key(call.prompt_id, text), role="user", text=text)]


def _reply(call: _Call) -> list[Event] | None:
    """The assistant turn a call ends with; empty if it names none, None if the field cannot be read."""
    message = call.payload.get("last_assistant_message")
    if message is not None and not isinstance(message, str):
        return None
    text = strip_injected(words(message))
    if not text.strip():
        return []
    return [call.make("turn", reply_key(call.prompt_id, text), role="assistant", text=text)]


def _stop(call: _Call) -> list[Event]:
    reply = _reply(call)
    return call.unparsed() if reply is None else reply or [call.notice()]


def _stop_failure(call: _Call) -> list[Event]:
    """A turn the API ended. What is handed over as the last message is the failure, in the client's own words."""
    message = strip_injected(text_of(call.payload.get("last_assistant_message")))
    told = short(error=call.payload.get("error"), error_details=call.payload.get("error_details"))
    return [call.mark("notice", text=message, detail={"event": call.event, **told})]


def _subagent_start(call: _Call) -> list[Event]:
    return [call.mark("subagent_start", detail=short(subagent=call.payload.get("agent_type")))]


def _subagent_stop(call: _Call) -> list[Event]:
    agent_type = call.payload.get("agent_type")
    if agent_type == "":
        return [call.notice(agent_id=call.payload.get("agent_id"), reason="compaction")]
    detail = short(subagent=agent_type)
    if not call.parent:
        # Without an agent id the reply is somebody's, but not the main conversation's: keep it with the mark.
        message = strip_injected(text_of(call.payload.get("last_assistant_message")))
        return [call.mark("subagent_stop", text=message, detail=detail)]
    reply = _reply(call)
    return [*(call.unparsed() if reply is None else reply), call.mark("subagent_stop", detail=detail)]


def _session_start(call: _Call) -> list[Event]:
    given = call.payload
    told = {field: given.get(field) for field in ("source", "model", "agent_type", "session_title", "permission_mode")}
    return [call.mark("session_start", detail=short(**told))]


def _session_end(call: _Call) -> list[Event]:
    return [call.mark("session_end", detail=short(reason=call.payload.get("reason")))]


def _pre_compact(call: _Call) -> list[Event]:
    given = call.payload
    detail = short(trigger=given.get("trigger"), custom_instructions=given.get("custom_instructions"))
    return [call.mark("pre_compact", detail=detail)]


def _post_compact(call: _Call) -> list[Event]:
    summary = strip_injected(text_of(call.payload.get("compact_summary")))
    return [call.mark("post_compact", text=summary, detail=short(trigger=call.payload.get("trigger")))]


def _tool_use(call: _Call) -> list[Event]:
    given, failed = call.payload, call.event == "PostToolUseFailure"
    tool, tool_input = name(given.get("tool_name")), given.get("tool_input")
    response = given.get("error") if failed else given.get("tool_response")
    asked, answered = call_text(tool, tool_input), strip_injected(result_text(response))
    touched = trace(tool, tool_input, response)
    told = touched | short(duration_ms=given.get("duration_ms"), error=True if failed else None)
    use_id = name(given.get("tool_use_id"))
    return [
        call.make("turn", tool_key(use_id, asked), role="tool_call", text=asked, tool=tool,
                  detail=touched | short(error=True if failed else None)),
        call.make("turn", tool_key(use_id, answered), role="tool_result", text=answered, tool=tool, detail=told),
    ]  # fmt: skip


_HOOKS: Final[Mapping[str, Callable[[_Call], list[Event]]]] = {
    "UserPromptSubmit": _prompt,
    "Stop": _stop,
    "StopFailure": _stop_failure,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
    "PreCompact": _pre_compact,
    "PostCompact": _post_compact,
    "PostToolUse": _tool_use,
    "PostToolUseFailure": _tool_use,
}
