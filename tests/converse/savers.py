"""Processes that save conversations, for tests that want many of them, or want to end one in the middle of a save.

    python savers.py BASE record NAME COUNT      COUNT prompts and replies, each saved
    python savers.py BASE alternate ROUNDS       two conversations in turn in the same place, until it is killed
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

from hindbrain.converse.conversation import ConversationMemory
from hindbrain.converse.saved import MemoryManager

TEAM, AGENT = "crew", "ada"


def record(base: Path, name: str, count: int) -> None:
    manager = MemoryManager(base, timeout=120)
    for number in range(count):
        with manager.changing(TEAM, AGENT) as memory:
            memory.record_turn("user", f"{name} asks {number}")
            memory.record_turn("assistant", f"{name} hears {number}")


def said(which: int) -> ConversationMemory:
    """One of two conversations, of different length so that a mixture of both would be seen."""
    memory = ConversationMemory(max_turns=3)
    for number in range(3 + which):
        memory.record_turn("user", f"conversation {which} turn {number} " + "x" * 2000 * which)
    return memory


def alternate(base: Path) -> None:
    manager = MemoryManager(base)
    conversations = [said(0), said(1)]
    for number in itertools.count():
        manager.save(TEAM, AGENT, conversations[number % 2])
        if number == 1:
            print("saving", flush=True)


if __name__ == "__main__":
    base, what, *rest = sys.argv[1:]
    if what == "record":
        record(Path(base), rest[0], int(rest[1]))
    else:
        alternate(Path(base))
