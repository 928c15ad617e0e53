"""Claude Code transcript lines, in file order -> Events with the ids the hooks gave them.

A line depends on few things before it: the prompt it answers, the texts already said under that prompt, the time of
the line before. These are the reader's state, small enough to be stored with every cursor, so reading can go on at any
line. Only what user and assistant said is taken; bookkeeping, thinking and what the client tells itself are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, TypeVar

from hindbrain.base.fence import strip_injected
from hindbrain.capture.claude_keys import AGENT, prompt_key, reply_key, synthetic, tool_key
from hindbrain.capture.event import Event, Json, Kind, Role, Source, stable_id, text_key
from hindbrain.capture.loose import compact, fields, kept, millis, name, place, short, text_of, words
from hindbrain.capture.tool_text import IMAGE, blocks_text, call_text, trace

# What a person types while the client is busy waits in a queue. The hook tells of it at once, under the prompt id at work
# then; the transcript notes that moment too, and later the prompt itself, under an id of its own or as an attachment.
_ENQUEUED: Final = "enqueued"
_ABSORBED: Final = "absorbed"
# The model's name in messages that the client wrote itself: API errors, and a filler where a killed turn has no answer.
_NO_MODEL: Final = "<synthetic>"
_MACHINE_SOURCES: Final = ("system", "loop_wakeup", "schedule_wakeup", "poll_event")

# How many different texts the reader remembers for its ordinals, and how many calls that wait for their result. A text
# repeated after more others than this counts as the first again, that is, as already known.
_MAX_SEEN: Final = 512
_MAX_WAITING: Final = 64
# Blocks of one message that become events of their own; the client writes one to a few, the rest is kept as one piece.
_MAX_BLOCKS: Final = 1_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Line:
    """One transcript line, its common fields made safe."""

    given: Mapping[str, Json]
    kind: str
    at: int
    source: Source
    cut: int

    def make(
        self, kind: Kind, key: str, *, role: Role | None = None, text: str = "", tool: str = "",
        detail: Mapping[str, Json] | None = None,
    ) -> Event:  # fmt: skip
        return Event(
            kind=kind, agent=AGENT, session=name(self.given.get("sessionId")) or PurePath(self.source.path).stem,
            at=self.at, key=key, origin="transcript", role=role, text=kept(text), cwd=place(self.given.get("cwd")),
            tool=tool, source=self.source,
            detail={**short(cut=self.cut or None), **(detail or {})},
        )  # fmt: skip

    def unparsed(self, value: Json | Mapping[str, Json]) -> Event:
        raw = compact(value)
        return self.make("unparsed", f"unparsed:{name(self.given.get('uuid'))}:{text_key(raw)}", text=raw)


def line_kind(line: Mapping[str, Json], *, cut: bool = False) -> str:
    """user, assistant, boundary, enqueued or absorbed for a line that matters, nothing for bookkeeping."""
    kind = line.get("type")
    if kind is None and cut:
        # An assistant line names its type after its message, so a cut one has lost it.
        kind = fields(line.get("message")).get("role")
    if line.get("isSidechain") is True or isinstance(line.get("forkedFrom"), dict):
        return ""  # a subagent's, or copied from the session this one branched off from
    if kind in ("user", "assistant"):
        return words(kind)
    if kind == "system":
        return "boundary" if line.get("subtype") == "compact_boundary" else ""
    if kind == "queue-operation":
        return _ENQUEUED if line.get("operation") == "enqueue" else ""
    return _ABSORBED if kind == "attachment" and _said_while_busy(fields(line.get("attachment"))) else ""


def _said_while_busy(attachment: Mapping[str, Json]) -> bool:
    """A prompt that was handed to the model in the middle of a turn; notifications of the client travel the same way."""
    by_person = fields(attachment.get("origin")).get("kind") == "human" or attachment.get("humanTurn") is True
    return attachment.get("type") == "queued_command" and attachment.get("commandMode", "prompt") == "prompt" and by_person


class TranscriptReader:
    """Turns lines, in file order, into events; state() lets another reader go on where this one stopped."""

    def __init__(self, state: Mapping[str, Json] | None = None) -> None:
        saved = fields(state if state is not None else {})
        at = saved.get("at")
        self._at = at if isinstance(at, int) and not isinstance(at, bool) else None
        self._prompt = name(saved.get("prompt"))
        self._seen = _seen(saved.get("seen"))
        self._waiting = {use_id: words(tool) for use_id, tool in fields(saved.get("waiting")).items()}
        self._queued = {digest: name(prompt) for digest, prompt in fields(saved.get("queued")).items()}

    def state(self) -> dict[str, Json]:
        """What the next lines depend on, as JSON."""
        seen: dict[str, Json] = {digest: [count, line] for digest, (count, line) in self._seen.items()}
        waiting: dict[str, Json] = dict(self._waiting.items())
        queued: dict[str, Json] = dict(self._queued.items())
        return {"at": self._at, "prompt": self._prompt, "seen": seen, "waiting": waiting, "queued": queued}

    def read(self, line: Mapping[str, Json], source: Source, now_ms: int, *, cut: int = 0) -> list[Event]:
        """What one line said. cut: bytes of the line that were not kept."""
        moment = millis(line.get("timestamp"))
        self._at = moment if moment is not None else self._at
        here = _Line(line, line_kind(line, cut=bool(cut)), now_ms if self._at is None else self._at, source, cut)
        if not here.kind:
            return []
        if here.kind == "boundary":
            return [self._boundary(here)]
        if here.kind == _ENQUEUED:
            return self._enqueued(words(line.get("content")))
        if here.kind == "user":
            self._prompt = name(line.get("promptId")) or self._prompt
        if line.get("isMeta") is True or line.get("isCompactSummary") is True:
            return []
        if here.kind == _ABSORBED:
            content = fields(line.get("attachment")).get("prompt")
        else:
            content = fields(line.get("message")).get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        if not isinstance(content, list):
            return [here.unparsed(line)]
        read = self._assistant if here.kind == "assistant" else self._user
        rest = content[_MAX_BLOCKS:]
        return read(here, content[:_MAX_BLOCKS]) + ([here.unparsed(rest)] if rest else [])

    def _enqueued(self, text: str) -> list[Event]:
        """Remember under which prompt a text was put in the queue; the turn comes with the line that takes it out."""
        self._queued[text_key(strip_injected(text))] = self._prompt
        _forget_oldest(self._queued, _MAX_WAITING)
        return []

    def _boundary(self, here: _Line) -> Event:
        told = fields(here.given.get("compactMetadata"))
        detail = short(
            trigger=told.get("trigger"), pre_tokens=told.get("preTokens"), post_tokens=told.get("postTokens")
        )
        key = f"compact_boundary:{name(here.given.get('uuid')) or here.at}"
        return here.make("post_compact", key, detail=detail)

    def _user(self, here: _Line, content: list[Json]) -> list[Event]:
        events: list[Event] = []
        prompt: list[Json] = []
        for index, block in enumerate(content):
            kind = fields(block).get("type")
            if kind == "tool_result":
                events.append(self._result(here, fields(block), index))
            elif kind == "text" and isinstance(fields(block).get("text"), str):
                prompt.append(block)
            elif kind == "image":
                prompt.append({"type": "image"})
            else:
                events.append(_other(here, block))
        return events + self._prompt_turn(here, prompt)

    def _prompt_turn(self, here: _Line, blocks: list[Json]) -> list[Event]:
        if here.given.get("promptSource") in _MACHINE_SOURCES:
            return []
        parts = [IMAGE if "text" not in fields(block) else strip_injected(words(fields(block)["text"])) for block in blocks]
        parts = [part for part in parts if not synthetic(part)]
        # The hook's prompt names no images, so the key does not either.
        spoken = "\n".join(part for part in parts if part is not IMAGE)
        if not parts:
            return []
        given = here.given
        detail = short(
            git_branch=given.get("gitBranch"), version=given.get("version"), entrypoint=given.get("entrypoint")
        )
        waited = here.kind == _ABSORBED or given.get("promptSource") == "queued"
        prompt = self._queued.get(text_key(spoken), self._prompt) if waited else self._prompt
        key = self._numbered(prompt_key(prompt, spoken), here, 0)
        return [here.make("turn", key, role="user", text="\n".join(parts), detail=detail)]

    def _assistant(self, here: _Line, content: list[Json]) -> list[Event]:
        if fields(here.given.get("message")).get("model") == _NO_MODEL:
            key = f"synthetic:{name(here.given.get('uuid')) or here.source.start}"
            return [here.make("notice", key, text=blocks_text(content), detail=short(event="synthetic", synthetic=_NO_MODEL))]
        events: list[Event] = []
        for index, block in enumerate(content):
            given = fields(block)
            kind = given.get("type")
            if kind in ("thinking", "redacted_thinking"):
                continue
            if kind == "text" and isinstance(given.get("text"), str):
                events += self._reply(here, strip_injected(words(given["text"])), index)
            elif kind in ("tool_use", "server_tool_use"):
                events.append(self._call(here, given, index))
            else:
                events.append(_other(here, block))
        return events

    def _reply(self, here: _Line, text: str, index: int) -> list[Event]:
        if not text.strip():
            return []
        key = self._numbered(reply_key(self._prompt, text), here, index)
        model = fields(here.given.get("message")).get("model")
        return [here.make("turn", key, role="assistant", text=text, detail=short(model=model))]

    def _call(self, here: _Line, block: Mapping[str, Json], index: int) -> Event:
        tool, use_id = name(block.get("name")), name(block.get("id"))
        text = call_text(tool, block.get("input"))
        if use_id:
            self._waiting[use_id] = tool
            _forget_oldest(self._waiting, _MAX_WAITING)
        key = self._tool_key(use_id, text, here, index)
        return here.make("turn", key, role="tool_call", text=text, tool=tool, detail=trace(tool, block.get("input")))

    def _result(self, here: _Line, block: Mapping[str, Json], index: int) -> Event:
        use_id, content = name(block.get("tool_use_id")), block.get("content")
        text = strip_injected(blocks_text(content) if isinstance(content, list) else text_of(content))
        detail = short(error=True if block.get("is_error") is True else None)
        key = self._tool_key(use_id, text, here, index)
        tool = self._waiting.pop(use_id, "")
        return here.make("turn", key, role="tool_result", text=text, tool=tool, detail=detail)

    def _tool_key(self, use_id: str, text: str, here: _Line, index: int) -> str:
        key = tool_key(use_id, text)
        return key if use_id else self._numbered(key, here, index)

    def _numbered(self, key: str, here: _Line, index: int) -> str:
        """The key, with an ordinal from its second use on. The same line met again is the same use."""
        digest = stable_id("", "assistant" if here.kind == "assistant" else "user", key)[1:17]
        uuid = name(here.given.get("uuid"))
        line = stable_id("", uuid, str(index))[1:13] if uuid else ""
        used, last = self._seen.pop(digest, (0, ""))
        again = used > 0 and line != "" and line == last
        ordinal = used - 1 if again else used
        self._seen[digest] = (ordinal + 1, line)
        _forget_oldest(self._seen, _MAX_SEEN)
        return f"{key}#{ordinal}" if ordinal else key


def _seen(saved: Json) -> dict[str, tuple[int, str]]:
    seen: dict[str, tuple[int, str]] = {}
    for digest, pair in fields(saved).items():
        match pair:
            case [int(count), str(line)]:
                seen[digest] = (count, line)
    return seen


def _other(here: _Line, block: Json) -> Event:
    """A block of a kind we do not know is counted by its name; one without a name is kept as it is."""
    kind = name(fields(block).get("type"))
    if not kind or kind == "text":
        return here.unparsed(block)
    key = f"block:{kind}:{name(here.given.get('uuid')) or here.source.start}"
    return here.make("notice", key, detail=short(event=f"block:{kind}"))


def _forget_oldest(entries: dict[str, _T], limit: int) -> None:
    while len(entries) > limit:
        del entries[next(iter(entries))]
