"""What is known of a page, of a compile and of what people did: values, and the same as rows of the state."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, cast

from hindbrain.wiki.acts import Conflict
from hindbrain.wiki.page import PageType
from hindbrain.wiki.render import NOBODY, Human


@dataclass(frozen=True, slots=True)
class Row:
    """What is known of a page."""

    id: str
    type: PageType
    title: str
    path: str
    base: str | None = None
    pending: str | None = None
    removing: bool = False
    human: Human = NOBODY
    left_out: bool = False
    inputs: str = ""
    written_at: int = 0


@dataclass(frozen=True, slots=True)
class Made:
    """A compile, as the log tells of it."""

    number: int
    at: int
    op: str
    text: str
    pages: tuple[str, ...]  # ids
    paths: tuple[str, ...]  # of all files that changed
    finished: bool = True
    version: str = ""


@dataclass(frozen=True, slots=True)
class Restore:
    """A file that is to get an older text back."""

    path: str
    text: str | None
    was: str | None
    changed_ns: int


@dataclass(frozen=True, slots=True)
class Taken:
    """What a person did, as far as the state keeps it."""

    found: Mapping[str, str] = field(default_factory=dict[str, str])  # page -> its text now
    landed: Iterable[str] = ()  # pages whose file says what was pending
    human: Mapping[str, Human] = field(default_factory=dict[str, Human])
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    removed: Iterable[str] = ()
    returned: Iterable[str] = ()
    conflicts: Iterable[Conflict] = ()

    def pages(self) -> list[str]:
        """All that it speaks of."""
        return sorted({*self.found, *self.landed, *self.human, *self.renamed, *self.removed, *self.returned})


def row_of(row: Sequence[object]) -> Row:
    page, kind, title, path, base, pending, removing, human, left_out, inputs, written_at = row
    return Row(
        str(page), cast(PageType, kind), str(title), str(path), cast("str | None", base), cast("str | None", pending),
        bool(removing), human_of(str(human)), bool(left_out), str(inputs), cast(int, written_at),
    )  # fmt: skip


def made_of(row: Sequence[object]) -> Made:
    number, at, op, text, pages, paths, finished, version = row
    return Made(
        cast(int, number), cast(int, at), str(op), str(text), tuple(json.loads(str(pages))), tuple(json.loads(str(paths))),
        bool(finished), str(version),
    )  # fmt: skip


def conflict_row(found: Conflict) -> tuple[str, ...]:
    return tuple(map(plain, (found.page, found.memory, found.base, found.found, found.fresh, found.why)))


def plain(words: str) -> str:
    """Without halves of letters, which no file can hold."""
    return words.encode("utf-8", "replace").decode("utf-8")


def human_text(human: Human) -> str:
    return "" if human == NOBODY else json.dumps(asdict(human))


def human_of(text: str) -> Human:
    if not text:
        return NOBODY
    known = {each.name for each in fields(Human)}  # what a later version settled is not for this one
    found = {name: value for name, value in json.loads(text).items() if name in known}
    values: dict[str, Any] = {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
    return Human(**values)
