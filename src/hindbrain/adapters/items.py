"""Items of a framework -> turns of a session, and back without loss.

The text of an item is what is searched and reasoned about, as with any turn. The item itself stands beside it as JSON, so that
the framework gets back what it gave; secrets are removed from both. What was added is on the disk when `add` returns and is seen
by the next `stored`, in any process. What a framework removes is forgotten: it is gone from ledger, journal and archives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from hindbrain.base.errors import UsageError
from hindbrain.capture.event import Json

if TYPE_CHECKING:
    from hindbrain import Memory

MOST_CHARS: Final = 8_000_000  # of an item as JSON; a line of the journal has its limits


@dataclass(frozen=True, slots=True)
class Item:
    """What a framework wants kept."""

    role: str
    text: str
    raw: Json


class Items:
    """The items of one session, in the order they were added."""

    def __init__(self, memory: Memory, session: str, *, agent: str, project: str | None) -> None:
        self.memory = memory
        self.session = session
        self.agent = agent
        self.project = project

    def add(self, items: Sequence[Item]) -> list[str]:
        """Keep these with one write; their ids, once they are on the disk."""
        from hindbrain import Turn

        return self.memory.record_many([
            Turn(self.agent, self.session, each.role, each.text, project=self.project, detail={"item": storable(each.raw)})
            for each in items
        ])  # fmt: skip

    def stored(self) -> list[tuple[str, Any]]:
        """Everything there is: ids, and items as they were added."""
        fresh(self.memory)
        turns = self.memory.turns(self.session, self.agent)
        return [(each.id, each.detail["item"]) for each in turns if "item" in each.detail]

    def remove_last(self) -> Any | None:
        """Forget the item added last, and return it; None where there is none."""
        found = self.stored()
        if not found:
            return None
        self.memory.forget(id=found[-1][0])
        return found[-1][1]

    def clear(self) -> None:
        """Forget all of them."""
        fresh(self.memory)
        if turns := self.memory.turns(self.session, self.agent):
            self.memory.forget(session=turns[0].session_id)


def fresh(memory: Memory) -> None:
    """Have everything recorded so far taken in, here and in the ledger that is asked."""
    memory.settle_here()
    memory.share()


def storable(raw: Json) -> Json:
    """The same, once it is known to be JSON of a size that can be kept; raises UsageError."""
    try:
        text = json.dumps(raw)
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the item is not JSON: {error}", hint="keep texts, numbers, lists and objects of them") from error
    if len(text) > MOST_CHARS:
        raise UsageError(f"the item has {len(text)} characters as JSON", hint=f"keep no more than {MOST_CHARS} in one")
    return raw
