"""The messages of a Pydantic AI agent -> a session of Hindbrain, and back as the history of the next run.

    history = MessageHistory("ticket 42", memory, project="shop")
    result = agent.run_sync("which port does staging use?", message_history=history.messages())
    history.add(result.new_messages())
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from hindbrain.adapters.items import Item, Items

if TYPE_CHECKING:
    from hindbrain import Memory


class MessageHistory:
    """The messages of one conversation."""

    def __init__(self, session: str, memory: Memory, *, agent: str = "pydantic-ai", project: str | None = None) -> None:
        self._items = Items(memory, session, agent=agent, project=project)

    def messages(self, limit: int | None = None) -> list[ModelMessage]:
        """The messages so far, oldest first; with a limit the newest of them, from the first prompt of the user among these."""
        found = ModelMessagesTypeAdapter.validate_python([raw for _, raw in self._items.stored()])
        if limit is None or len(found) <= limit:
            return found
        newest = found[len(found) - max(limit, 0) :]
        # a history that begins with the result of a call nobody sees is refused by providers
        start = next((place for place, each in enumerate(newest) if _is_prompt(each)), len(newest))
        return newest[start:]

    def add(self, messages: Sequence[ModelMessage]) -> None:
        """Keep these, with one write; `result.new_messages()` is what a run added."""
        raws = ModelMessagesTypeAdapter.dump_python(list(messages), mode="json")
        self._items.add([Item(_role(each), _text(each), raw) for each, raw in zip(messages, raws, strict=True)])

    def clear(self) -> None:
        """Forget the conversation."""
        self._items.clear()

    async def amessages(self, limit: int | None = None) -> list[ModelMessage]:
        """messages(), awaited."""
        return await asyncio.to_thread(self.messages, limit)

    async def aadd(self, messages: Sequence[ModelMessage]) -> None:
        """add(), awaited."""
        await asyncio.to_thread(self.add, messages)


def _is_prompt(message: ModelMessage) -> bool:
    return isinstance(message, ModelRequest) and any(isinstance(part, UserPromptPart) for part in message.parts)


def _role(message: ModelMessage) -> str:
    if isinstance(message, ModelRequest):
        return "user" if _is_prompt(message) else "tool_result"
    return "assistant" if any(isinstance(part, TextPart) for part in message.parts) else "tool_call"


def _text(message: ModelMessage) -> str:
    """What was said, without the system's prompts: those are no part of a conversation."""
    said = []
    for part in message.parts:
        if isinstance(part, UserPromptPart):
            said += [part.content] if isinstance(part.content, str) else [each for each in part.content if isinstance(each, str)]
        elif isinstance(part, TextPart):
            said.append(part.content)
        elif isinstance(part, ToolCallPart):
            said.append(f"{part.tool_name} {part.args_as_json_str()}")
        elif isinstance(part, ToolReturnPart):
            said.append(part.model_response_str())
        elif isinstance(part, RetryPromptPart):
            said.append(part.model_response())
    return "\n".join(said)
