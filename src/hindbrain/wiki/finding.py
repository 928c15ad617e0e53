"""What lint looks at and what it says: the pages and the ledger's knowledge -> findings. Pure values."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, Literal

from hindbrain.wiki.links import Resolved, Wiki
from hindbrain.wiki.names import short
from hindbrain.wiki.outline import Link
from hindbrain.wiki.page import FOLDERS, Material, Read, State

Severity = Literal["error", "warning", "note"]
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")
TYPES: Final[Mapping[str, str]] = {folder: name for name, folder in FOLDERS.items()}  # folder -> type of its pages
ARTICLES: Final = frozenset({"concept", "connection", "qa", "project"})  # pages that are to be linked with one another


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, and where."""

    code: str
    severity: Severity
    page: str
    line: int  # from 1; 0 for the page as a whole
    message: str
    fix: bool = False  # whether it can be put right without a decision


@dataclass(frozen=True, slots=True)
class Known:
    """What the ledger says of a memory."""

    state: State
    successor: str = ""
    disputes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What the ledger knows, as far as lint asks for it. A part that is None is not asked."""

    memories: Mapping[str, Known] | None = None
    compiled: Mapping[str, str] | None = None  # path -> `fingerprint` of the text when it was last compiled
    sessions: Collection[str] | None = None  # by the marks that the daily log gives them: "s-1a2b3c4d"

    @classmethod
    def of(cls, material: Material, compiled: Mapping[str, str] | None = None) -> Knowledge:
        memories = {each.id: Known(each.state, each.successor or "", each.disputes) for each in material.facts.values()}
        return cls(memories, compiled, frozenset(f"s-{short(identifier)}" for identifier in material.sittings))


NOTHING_KNOWN: Final = Knowledge()


def fingerprint(text: str) -> str:
    """Equal for equal texts, and for no others."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def type_of(path: str) -> str:
    """What kind of page stands at a path; "" for one of no kind we know."""
    folder, slash, _ = path.partition("/")
    return TYPES.get(folder, "") if slash else {"index.md": "index", "log.md": "log", "soul.md": "soul"}.get(path, "")


@dataclass
class Pages:
    """The wiki under examination: each thing is worked out once, for all checks."""

    texts: Mapping[str, str]
    knowledge: Knowledge = NOTHING_KNOWN
    wiki: Wiki = field(init=False)

    def __post_init__(self) -> None:
        self.wiki = Wiki(self.texts)

    @cached_property
    def read(self) -> dict[str, Read]:
        return {path: leaf.read for path, leaf in self.wiki.pages.items()}

    @property
    def links(self) -> dict[str, list[tuple[Link, Resolved]]]:
        return self.wiki.links

    @cached_property
    def articles(self) -> list[str]:
        return [path for path in self.wiki.pages if type_of(path) in ARTICLES]
