"""What reasoning reads and what it finds: turns as it sees them, and statements with their evidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from hindbrain.capture.event import stable_id

TRUSTS: Final = ("user", "assistant", "tool", "human_file", "import")
BEFORE, AFTER = 300, 200  # characters of a turn beside a quote that may tell what it is about


@dataclass(frozen=True, slots=True)
class Said:
    """A turn of a session, in the order it was said."""

    id: str
    role: str  # user, assistant, tool_call, tool_result
    text: str
    tool: str = ""
    at: int = 0
    error: bool = False  # of a tool_result: the call failed
    command: str = ""  # of a tool_call: what was run
    files: tuple[str, ...] = ()
    trust: str = ""  # "" follows from the role; "human_file" for what a person dropped into the inbox, "import" for imported text


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing worth keeping, said in a session. No evidence, no statement: the first turn holds the quote."""

    kind: str  # one of ledger.memories.KINDS
    text: str  # stands by itself
    turns: tuple[str, ...]  # ids; the first is where it was said
    quote: str  # occurs in the first turn, letter by letter
    confidence: float
    trust: str = "user"  # the least trusted of what it rests on
    scope: str = "project"  # or "global"
    why: str = ""  # of a decision
    instead_of: str = ""
    quarantine: str = ""  # why a person has to look at it first; "" where it may be told

    @property
    def id(self) -> str:
        """The same for whoever finds it: the turn, the kind and the words decide."""
        return stable_id("m", self.turns[0], self.kind, " ".join(self.text.casefold().split()))


def beside(text: str, quote: str) -> tuple[str, str]:
    """What a turn says right before a quote and right after it, in whole words; nothing where the quote is not in it."""
    start = text.find(quote)
    if start < 0:
        return "", ""
    end = start + len(quote)
    before, after = text[max(0, start - BEFORE) : start], text[end : end + AFTER]
    if start > BEFORE:
        before = before.partition(" ")[2]
    if end + AFTER < len(text):
        after = after.rpartition(" ")[0]
    return before.strip(), after.lstrip(" .,;:").strip()
