"""A session of the OpenAI Agents SDK -> a session of Hindbrain: durable, searchable, shared by any number of processes.

    session = HindbrainSession("ticket 42", memory, project="shop")
    await Runner.run(agent, "which port does staging use?", session=session)
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from hindbrain.adapters.items import Item, Items

if TYPE_CHECKING:
    from hindbrain import Memory

_CALLS: Final = "_call"  # function_call, computer_call, shell_call ...
_OUTPUTS: Final = "_output"


class HindbrainSession:
    """The SDK's Session protocol. One object may be used by several tasks; what each adds stays together."""

    def __init__(
        self, session_id: str, memory: Memory, *, agent: str = "openai-agents", project: str | None = None,
        session_settings: Any = None,
    ) -> None:  # fmt: skip
        self.session_id = session_id
        self.session_settings = session_settings
        self._items = Items(memory, session_id, agent=agent, project=project)

    async def get_items(self, limit: int | None = None) -> list[Any]:
        """The newest items, in the order of time; all without a limit."""
        wanted = getattr(self.session_settings, "limit", None) if limit is None else limit
        found = [raw for _, raw in await asyncio.to_thread(self._items.stored)]
        return found if wanted is None else found[len(found) - min(wanted, len(found)) :] if wanted > 0 else []

    async def add_items(self, items: list[Any]) -> None:
        """Keep these, with one write."""
        await asyncio.to_thread(self._items.add, [item_of(dict(each)) for each in items])

    async def pop_item(self) -> Any | None:
        """Forget the newest item, and return it."""
        return await asyncio.to_thread(self._items.remove_last)

    async def clear_session(self) -> None:
        """Forget the whole session."""
        await asyncio.to_thread(self._items.clear)


def item_of(raw: dict[str, Any]) -> Item:
    """An item of the SDK as a turn: who said it, and its words."""
    kind, role = str(raw.get("type", "message")), raw.get("role")
    if role in ("user", "assistant"):
        return Item(str(role), _text(raw.get("content")), raw)
    if kind.endswith(_CALLS):
        return Item("tool_call", f"{raw.get('name', kind)} {_text(raw.get('arguments'))}".strip(), raw)
    if kind.endswith(_OUTPUTS):
        return Item("tool_result", _text(raw.get("output")), raw)
    if kind == "reasoning":
        return Item("assistant", _text(raw.get("summary")), raw)
    return Item("tool_result", _text(raw.get("content")), raw)  # what no user and no assistant said is trusted least


def _text(content: Any) -> str:
    """The words of a content: a text, or the texts of its parts."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, Mapping):
        return str(content["text"]) if isinstance(content.get("text"), str) else ""
    if isinstance(content, list):
        return "\n".join(filter(None, map(_text, content)))
    return json.dumps(content, default=str)
