"""What the pages of the wiki are made of: pure values, no file and no clock.

`Material` is what the ledger holds at one moment. Pages are planned from it (topics, daily), rendered to text, and read back
from text after a person had them. Every statement on a page is a list item of its own that ends in the id of its memory as a
block mark (`^m-…`), which Obsidian hides and links to; so a line keeps its identity however its words are changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

PageType = Literal["concept", "connection", "qa", "project", "soul", "daily", "index", "log"]
State = Literal["current", "superseded", "expired", "disputed"]

FOLDERS: Final[Mapping[str, str]] = {
    "concept": "concepts", "connection": "connections", "qa": "qa", "project": "projects", "daily": "daily",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Source:
    """Where a statement was said."""

    turn: str  # id in the ledger
    session: str  # the ledger's id
    agent: str
    at: int  # milliseconds, UTC
    role: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A memory as pages show it."""

    id: str
    level: str  # observation, derived
    kind: str
    text: str
    confidence: float
    trust: str
    scope: str
    project: str | None  # id
    valid_from: int
    valid_to: int | None
    successor: str | None  # id of what took its place
    pinned: bool
    why: str = ""
    instead_of: str = ""
    disputes: tuple[str, ...] = ()  # ids it contradicts, unresolved
    sources: tuple[Source, ...] = ()

    @property
    def state(self) -> State:
        if self.successor is not None:
            return "superseded"
        if self.valid_to is not None:
            return "expired"
        return "disputed" if self.disputes else "current"


@dataclass(frozen=True, slots=True)
class Sitting:
    """A session, as the daily log tells of it."""

    id: str
    agent: str
    project: str | None  # id
    branch: str
    began: int
    ended: int
    short: str  # digests; "" where there is none yet
    long: str
    exchanges: tuple[tuple[str, str], ...]  # (turn id, the first line of what the user said), the telling ones, in order
    facts: tuple[str, ...]  # ids of what was found in it, in order


@dataclass(frozen=True, slots=True)
class Material:
    """What the ledger holds, for all pages."""

    facts: Mapping[str, Fact]
    sittings: Mapping[str, Sitting]
    projects: Mapping[str, str]  # id -> name
    soul: str  # text of the newest soul page, "" for none
    soul_id: str = ""


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the statements below it. Its name decides the kind of a line that a person adds there."""

    name: str
    facts: tuple[str, ...] = ()  # ids, in order
    prose: str = ""  # paragraphs above the list: generated, every sentence names ids


@dataclass(frozen=True, slots=True)
class Page:
    """One page as it is planned, before it is text."""

    id: str  # stable over renames and compiles: "c-…", "x-…", "q-…", "p-…", "soul", "daily-2026-03-02", "index", "log"
    type: PageType
    path: str  # inside the wiki, with forward slashes: "concepts/postgresql.md"
    title: str
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    sections: tuple[Section, ...] = ()
    related: tuple[str, ...] = ()  # ids of other pages
    created: int = 0
    updated: int = 0
    confidence: float = 0.0
    projects: tuple[str, ...] = ()  # ids
    body: str = ""  # of index, log, daily, soul and qa: text that is rendered already


@dataclass(frozen=True, slots=True)
class Read:
    """A page as it was found in a file."""

    id: str  # "" when the front matter names none
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    lines: tuple[ReadLine, ...]
    notes: tuple[str, ...]  # blocks a person wrote that are no statements, verbatim
    extra: Mapping[str, object] = field(default_factory=dict[str, object])  # front matter of the person's own
    heading: str = ""  # the first heading's words; a person may change this or the title of the front matter
    related: tuple[str, ...] = ()  # the items below Related, as they stand
    made: tuple[str, ...] = ()  # items of a kind that only we write (what was said, sources), verbatim


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One list item of a page."""

    memory: str  # id, "" for one that a person added
    section: str
    text: str
    struck: bool
    checked: bool | None  # None where there is no box
    number: int  # line in the file, from 1
    tail: str = ""  # what stands behind the words of a memory: reason, project, dates
