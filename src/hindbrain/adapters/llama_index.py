"""A memory of LlamaIndex -> a session of Hindbrain; for each question, also what other sessions know of it.

    memory = HindbrainMemory.from_defaults(memory=hindbrain_memory, session="ticket 42", project="shop", budget_tokens=800)
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field, PrivateAttr
from llama_index.core.memory.types import BaseMemory

from hindbrain.adapters.items import Item, Items

if TYPE_CHECKING:
    from hindbrain import Memory

_ROLES: Final = {"user": "user", "assistant": "assistant", "chatbot": "assistant", "model": "assistant"}


class HindbrainMemory(BaseMemory):
    """The messages of one chat. Use from_defaults."""

    limit: int | None = Field(default=None, description="How many of the newest messages get() gives; all without one.")
    budget_tokens: int = Field(default=0, description="How much get(input) tells of other sessions beside them; 0 for nothing.")
    _items: Items = PrivateAttr()

    @classmethod
    def class_name(cls) -> str:
        return "HindbrainMemory"

    @classmethod
    def from_defaults(
        cls, *, memory: Memory, session: str, agent: str = "llama-index", project: str | None = None, limit: int | None = None,
        budget_tokens: int = 0, **_: Any,
    ) -> HindbrainMemory:  # fmt: skip
        """The memory of one chat."""
        made = cls(limit=limit, budget_tokens=budget_tokens)
        made._items = Items(memory, session, agent=agent, project=project)
        return made

    def get(self, input: str | None = None, **_: Any) -> list[ChatMessage]:
        """The newest messages; before them, when there is a question and a budget, what fits it, as data in a fence."""
        found = self.get_all()
        if self.limit is not None:
            found = found[len(found) - min(self.limit, len(found)) :] if self.limit > 0 else []
            while found and found[0].role in (MessageRole.TOOL, MessageRole.FUNCTION):
                found = found[1:]  # the result of a call that nobody sees
        told = self._told(input) if input and self.budget_tokens > 0 else ""
        return [ChatMessage(role=MessageRole.SYSTEM, content=told), *found] if told else found

    def get_all(self) -> list[ChatMessage]:
        """Every message, oldest first."""
        return [ChatMessage.model_validate(raw) for _, raw in self._items.stored()]

    def put(self, message: ChatMessage) -> None:
        """Keep a message; it is on the disk when this returns."""
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Keep messages, with one write."""
        self._items.add([_item(each) for each in messages])

    def set(self, messages: list[ChatMessage]) -> None:
        """Have the chat be these. What only continues it is added; else what was there is forgotten."""
        known = [raw for _, raw in self._items.stored()]
        wanted = [_item(each) for each in messages]
        if [each.raw for each in wanted[: len(known)]] != known:
            self._items.clear()
            known = []
        self._items.add(wanted[len(known) :])

    def reset(self) -> None:
        """Forget the chat."""
        self._items.clear()

    def _told(self, input: str) -> str:
        items = self._items
        return items.memory.context(input, items.project, self.budget_tokens, agent=items.agent).text


def _item(message: ChatMessage) -> Item:
    return Item(_ROLES.get(message.role.value, "tool_result"), message.content or "", message.model_dump(mode="json"))
