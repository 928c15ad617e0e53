"""A person's edit of a page -> what it means for memories, as values.

An act says what to do to one memory, or records what was settled for a page. A conflict is what could not be carried out without
somebody losing something; it is shown in the page as a quoted block until a person deletes that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from hindbrain.capture.event import Json
from hindbrain.wiki.text import escaped, mark

Op = Literal["edit", "reject", "remember", "done", "undone", "page"]

OPS: Final[tuple[Op, ...]] = ("edit", "reject", "remember", "done", "undone", "page")
BLOCK: Final = "> [!conflict]"  # how a conflict begins in a page


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did to one statement, or to a page, by editing its file."""

    op: Op
    memory: str = ""  # id of the memory it was done to; "" for a new line and for a page
    text: str = ""  # the person's words: of a new line, or those that take the place of the memory's
    kind: str = ""  # of a new line, by its section; of an edit "" unless the line was moved to a section of another kind
    page: str = ""  # path inside the wiki
    project: str | None = None  # id; None for what holds everywhere
    # `why`, `instead_of`: what the line says behind its words now. `done`: its words are new, and it is over. `reopened`: its
    # words are new, and it was over and holds again. `settled`: of a page, what a person settled for it, by name.
    detail: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Conflict:
    """A statement that both changed: the person in the file, and the memory meanwhile."""

    page: str  # path inside the wiki
    memory: str
    base: str  # the words both started from
    found: str  # the person's; "" where the line was deleted
    fresh: str  # the memory's; "" where it is gone
    why: str = ""  # what cannot be

    @property
    def block(self) -> str:
        """As a page shows it. A quotation cannot be taken for a statement, and the words in it are only words."""
        yours = escaped(self.found) or "(deleted)"
        return "\n".join((
            f"{BLOCK} {escaped(self.why)} ({mark(self.memory)[1:]})",
            f"> Before: {escaped(self.base)}", f"> Yours: {yours}", f"> Now: {escaped(self.fresh) or '(gone)'}",
        ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Where:
    """The page that was edited."""

    page: str = ""  # path inside the wiki
    project: str | None = None


def unsettled(notes: Iterable[str]) -> list[str]:
    """The conflicts among the notes of a page, as they are shown."""
    return [note for note in notes if note.startswith(BLOCK)]
