"""A journal line -> the events it holds, whichever stage or agent wrote it.

This is where a hook's raw payload is parsed, in the worker, with an adapter per agent. A line no adapter can read is kept as
it came and shown as unparsed: a reader of a later version, or a person, can still make sense of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from hindbrain.capture import claude_code
from hindbrain.capture.event import EVENT_VERSION, FIRST_VERSION, BadEvent, Event, Json, bounded, decode, storable, text_key
from hindbrain.capture.salvage import Unreadable, loads, loads_cut
from hindbrain.journal.line import EVENT, HOOK, Line
from hindbrain.journal.read import Record

Adapter = Callable[[Mapping[str, Json], int], list[Event]]

ADAPTERS: Mapping[str, Adapter] = {"claude-code": claude_code.events_from_hook}

# How an event of the first version begins, readable or not (event.encode).
_FIRST = b'{"v":1,'


def events_of(record: Record) -> list[Event]:
    """Never empty and never raises for what a line may hold: every line has at least one event."""
    line = record.line
    if line.kind == EVENT:
        try:
            return [decode(line.payload)]
        except BadEvent as error:
            return [unparsed(line, str(error))]
    if line.kind != HOOK:
        return [unparsed(line, f"unknown kind of line {line.kind!r}")]
    return _from_hook(line)


def unparsed(line: Line, reason: str) -> Event:
    """The line's payload as it came, under an id that a resend shares."""
    text = storable(line.payload.decode("utf-8", "replace"))
    return Event(
        kind="unparsed", agent=storable(line.agent) or "unknown", session="unknown", at=line.at_ns // 1_000_000,
        key=f"line:{line.at_ns}:{text_key(text)}", origin="hook", text=bounded(text), detail={"reason": reason},
        version=_version(line),
    )  # fmt: skip


def _version(line: Line) -> int:
    """Which version the events of a line are of. A hook of a later version than ours has said nothing we could not read."""
    is_first = line.payload.startswith(_FIRST) if line.kind == EVENT else line.kind == HOOK and "v" not in line.meta
    return FIRST_VERSION if is_first else EVENT_VERSION


def _from_hook(line: Line) -> list[Event]:
    adapter = ADAPTERS.get(line.agent)
    if adapter is None:
        return [unparsed(line, f"no adapter for agent {line.agent!r}")]
    partial = "cut" in line.meta or "slow" in line.meta
    try:
        payload = loads_cut(line.payload) if partial else loads(line.payload)
    except Unreadable as error:
        return [unparsed(line, str(error))]
    if not isinstance(payload, dict):
        return [unparsed(line, f"an object was expected, found {type(payload).__name__}")]
    for short, name in (("t", "tool_use_id"), ("e", "hook_event_name")):
        if short in line.meta:
            payload.setdefault(name, line.meta[short])
    events = adapter(payload, line.at_ns // 1_000_000)
    version = _version(line)
    return [_with_meta(event, line.meta, version) for event in events]


def _with_meta(event: Event, meta: Mapping[str, str], version: int) -> Event:
    """What the hook knew beside the payload: the agent's own directory, and how much did not fit."""
    extra: dict[str, Json] = {}
    if "d" in meta and "transcript_path" in event.detail:
        extra["config_dir"] = meta["d"]
    if "cut" in meta:
        extra["cut"] = int(meta["cut"]) if meta["cut"].isdigit() else meta["cut"]
    if not extra and version == event.version:
        return event
    return dataclasses.replace(event, detail={**event.detail, **extra}, version=version)
