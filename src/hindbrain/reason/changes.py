"""What thinking about memories may change: each change as a value that can be looked at, applied, and taken back.

Reflection and dreams only say what should change; nothing is written before all of it is known. `before` is how the memory that
changes stood, as far as the change touches it; a memory that was not there has None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from hindbrain.capture.event import stable_id


class Standing(Protocol):
    """A memory as it stands in the ledger, as far as thinking looks at it."""

    @property
    def id(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def confidence(self) -> float: ...
    @property
    def trust(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def project_id(self) -> str | None: ...
    @property
    def session_id(self) -> str | None: ...
    @property
    def valid_from(self) -> int: ...
    @property
    def valid_to(self) -> int | None: ...
    @property
    def superseded_by(self) -> str | None: ...
    @property
    def held(self) -> str: ...
    @property
    def made_by(self) -> str: ...
    @property
    def pinned(self) -> bool: ...
    @property
    def detail(self) -> Mapping[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Supersede:
    """The older one's place is taken by the newer."""

    old: str
    new: str
    at: int  # when the newer one began to hold
    reason: str
    before: Mapping[str, Any]
    sure: float = 1.0  # of several that take its place the surest counts
    joined: bool = False  # they say the same: the newer one stands for both, and nothing has ended


@dataclass(frozen=True, slots=True)
class Contradict:
    """Both cannot hold, and nothing says which one does."""

    one: str  # the newer
    other: str
    text: str
    before: None = None


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The newer one says it again."""

    old: str
    new: str
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Insight:
    """What several agree on."""

    kind: str
    text: str
    supports: tuple[str, ...]  # oldest first
    scope: str
    project_id: str | None
    replaces: tuple[str, ...] = ()  # insights that said the same in other words, of fewer
    before: None = None

    @property
    def id(self) -> str:
        """What it is called once it is kept: its place and its words decide."""
        place = self.project_id if self.scope == "project" else None
        return stable_id("m", "insight", self.kind, self.scope, place or "", " ".join(self.text.casefold().split()))


@dataclass(frozen=True, slots=True)
class Fade:
    """It was not used for long and is trusted less; below the floor it no longer holds."""

    memory: str
    confidence: float
    valid_to: int | None
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Page:
    """A page made of memories, kept as one memory."""

    name: str
    text: str
    supports: tuple[str, ...]
    replaces: tuple[str, ...] = ()  # the page as it was
    before: None = None


Change = Supersede | Contradict | Reinforce | Insight | Fade | Page


def standing(memory: Standing) -> dict[str, Any]:
    """How a memory stands, as far as a change may touch it."""
    return {"confidence": memory.confidence, "valid_to": memory.valid_to, "superseded_by": memory.superseded_by,
            "seen": memory.detail.get("seen", 1)}  # fmt: skip
