"""The files of a wiki, after anyone had them -> what people did: acts on memories, settings of pages, conflicts.

Reads alone: what is found is handed to whoever compiles. A file that says what we wrote last, or were about to write, is ours;
whatever else it says a person wrote. A file belongs to the page whose id it bears, else to the one that was written there; so a
page may be renamed, and two may change places. Files that are half saved, links, or no text wait and are not written over; files
that are not ours are left alone.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

from hindbrain.base.errors import StorageError
from hindbrain.wiki import names, parse
from hindbrain.wiki.edits import Act, Conflict, Merged, Where, compared, settled
from hindbrain.wiki.matching import memories_in
from hindbrain.wiki.render import Human

SETTLED_SECONDS: Final = 2.0  # a file or folder that was touched a moment ago may be in the middle of being saved
_ALWAYS: Final = frozenset({"index", "log"})  # made anew when they are gone
_LEFT: Final = 3  # of so many pages or more that are all gone nobody meant each
_FRONT: Final = re.compile(r"\ufeff?---[ \t]*\r?\n")
_ID: Final = re.compile(r"^id:[ \t]*['\"]?([a-z0-9-]{1,80})['\"]?[ \t]*\r?$", re.MULTILINE)


class File(Protocol):
    @property
    def text(self) -> str: ...
    @property
    def changed_ns(self) -> int: ...


class Folder(Protocol):
    """A wiki on the disk."""

    @property
    def root(self) -> Path: ...
    def files(self) -> list[str]: ...  # every Markdown file, no links
    def untouched(self, relative: str, text: str) -> bool: ...  # whether that is what it says, told without reading it
    def read(self, relative: str) -> File | None: ...  # None for nothing; StorageError for a link, a device, no text


class Known(Protocol):
    """What is known of one page."""

    @property
    def id(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def base(self) -> str | None: ...  # what a person last saw
    @property
    def pending(self) -> str | None: ...  # what was about to be written when a compile ended early
    @property
    def human(self) -> Human: ...
    @property
    def left_out(self) -> bool: ...  # a person deleted the page


class State(Protocol):
    """What is known of all pages."""

    def pages(self) -> Iterable[Known]: ...


@dataclass(frozen=True, slots=True)
class Synced:
    """What people did since the last compile. By page id, but where a path is said."""

    acts: tuple[Act, ...] = ()  # to be made durable before base := found
    human: Mapping[str, Human] = field(default_factory=dict[str, Human])  # of pages whose settings changed, whole
    conflicts: tuple[Conflict, ...] = ()  # new ones; their blocks stand in the notes of `human` already
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])  # page -> path a person gave it
    removed: tuple[str, ...] = ()  # deleted by a person: left out from now on
    waiting: Mapping[str, str] = field(default_factory=dict[str, str])  # page -> why its file must not be touched now
    found: Mapping[str, str] = field(default_factory=dict[str, str])  # page -> a person's text: base := this, and render anew
    landed: tuple[str, ...] = ()  # the file says what was pending: base := pending
    returned: tuple[str, ...] = ()  # were left out, and a person put the file back
    foreign: frozenset[str] = frozenset()  # paths (folded by names.folded) that somebody else's files hold


def changes(
    folder: Folder, state: State, fresh: Callable[[str], str | None], *,
    project: Callable[[str], str | None] = lambda _: None, now: Callable[[], float] = time.time,
) -> Synced:  # fmt: skip
    """What people did. `fresh` renders a page from the ledger as it is now, None for one that is not planned any more;
    `project` tells the one project a page is about."""
    look = _Look(folder, state, now())
    look.assign()
    edited = [_page_of(look, page_id, fresh, project) for page_id in look.edited()]
    pages = settled(edited, look.words)
    by_id = dict(zip(look.edited(), pages, strict=True))
    return Synced(
        acts=tuple(act for page in pages for act in page.acts),
        human={page_id: page.human for page_id, page in by_id.items() if page.human != page.before},
        conflicts=tuple(each for page in pages for each in page.conflicts),
        renamed=look.renamed, removed=tuple(look.removed()), waiting=look.waiting,
        found={page_id: look.files[page_id][1] for page_id in by_id}, landed=tuple(look.landed),
        returned=tuple(page_id for page_id in look.files if look.known[page_id].left_out), foreign=frozenset(look.foreign),
    )  # fmt: skip


def _page_of(look: _Look, page_id: str, fresh: Callable[[str], str | None], project: Callable[[str], str | None]) -> Merged:
    known = look.known[page_id]
    path, text, _ = look.files[page_id]
    base = known.base or ""
    return compared(base, text, fresh(page_id) or base, known.human, Where(path, project(page_id)))


class _Look:
    """One look at all files."""

    def __init__(self, folder: Folder, state: State, now: float) -> None:
        self.folder, self.now = folder, now
        self.known = {page.id: page for page in state.pages()}
        self.waiting: dict[str, str] = {}
        self.landed: list[str] = []
        self.renamed: dict[str, str] = {}
        self.foreign: set[str] = set()
        self.files: dict[str, tuple[str, str, int]] = {}  # page -> path, text, when it changed
        self._at = {names.folded(page.path): page.id for page in self.known.values() if not page.left_out}
        self._ours: set[str] = set()  # pages whose file says what we wrote

    def assign(self) -> None:
        """Find the file of each page."""
        claims: dict[str, list[tuple[str, str, int]]] = defaultdict(list)
        still: dict[str, str] = {}  # page -> path of a file that nobody touched
        for path in self.folder.files():
            page = self.known.get(self._at.get(names.folded(path), ""))
            if page is not None and page.base is not None and page.id not in still and self.folder.untouched(path, page.base):
                still[page.id] = path
                continue
            page_id, file = self._claim(path, page)
            if page_id is not None and file is not None:
                claims[page_id].append((path, file.text, file.changed_ns))
            elif page_id is None:
                self.foreign.add(names.folded(path))
        for page_id, found in claims.items():
            if page_id in still:
                found.append((still.pop(page_id), self.known[page_id].base or "", 0))
            self._choose(self.known[page_id], found)
        self._ours.update(still)
        for page_id in [*self.files]:
            self._judge(self.known[page_id])
        self._odd()

    def _claim(self, path: str, page: Known | None) -> tuple[str | None, File | None]:
        """Whose file it is, and what it says; nothing of one that waits."""
        here = page.id if page is not None else None
        try:
            file = self.folder.read(path)
        except StorageError as error:
            return self._wait(here, error.message), None
        if file is None:
            return self._wait(here, "the file is being replaced"), None
        if page is not None and file.text in (page.base, page.pending):
            return here, file
        found = _id(file.text)
        return (found if found in self.known else here), file

    def _wait(self, page_id: str | None, why: str) -> str | None:
        if page_id is not None:
            self.waiting[page_id] = why
        return page_id

    def _choose(self, page: Known, found: list[tuple[str, str, int]]) -> None:
        """Of several files with one id the one where the page was is the page; others are copies, and not ours."""
        home = names.folded(page.path)
        first = min(found, key=lambda each: (names.folded(each[0]) != home, not names.is_page(each[0]), each[0]))
        self.foreign |= {names.folded(path) for path, _, _ in found if path != first[0]}
        if page.id in self.waiting:
            return
        if not names.is_page(first[0]):
            self.foreign.add(names.folded(first[0]))  # taken out of the wiki's folders: it is the person's file now
            return
        self.files[page.id] = first
        if names.folded(first[0]) != home:
            self.renamed[page.id] = first[0]

    def _judge(self, page: Known) -> None:
        """Whether it is ours, waits, or was edited."""
        _, text, changed_ns = self.files[page.id]
        if text == page.base:
            self._ours.add(page.id)
        elif text == page.pending:
            self._ours.add(page.id)
            self.landed.append(page.id)
        elif why := self._half(page, text, changed_ns):
            self.waiting[page.id] = why
            self.renamed.pop(page.id, None)
            del self.files[page.id]

    def _half(self, page: Known, text: str, changed_ns: int) -> str:
        """Why a text is not taken for what a person wants to say; "" if it is."""
        if self._recent(changed_ns):
            return "it was changed a moment ago"
        if not text.strip():
            return "the file is empty; delete it to leave the page out"
        if _FRONT.match(text) and not parse.has_front(text):
            return "its front matter cannot be read"
        if page.base and page.base.startswith(text) and memories_in(page.base) - memories_in(text):
            return "it looks cut off; if that is meant, add an empty line at its end"
        return ""

    def _recent(self, changed_ns: int) -> bool:
        return abs(self.now - changed_ns / 1e9) < SETTLED_SECONDS

    def _odd(self) -> None:
        """Pages whose place is held by a link or something else that is no plain file, and those deleted only just now."""
        for page in self._gone():
            try:
                there = self.folder.read(page.path)
                parent = (self.folder.root / page.path).parent
                if there is None and parent.is_dir() and self._recent(parent.stat().st_mtime_ns):
                    self.waiting[page.id] = "the file is gone since a moment ago"
            except StorageError as error:
                self.waiting[page.id] = error.message
            except OSError as error:
                self.waiting[page.id] = f"cannot look at it: {error.strerror}"

    def _gone(self) -> Iterator[Known]:
        for page in self.known.values():
            written = page.base is not None and not page.left_out
            if written and page.id not in self._ours and page.id not in self.files and page.id not in self.waiting:
                yield page

    def removed(self) -> list[str]:
        """Pages whose file a person deleted. All at once is no wish about pages: they are written anew."""
        gone = [page.id for page in self._gone() if page.id not in _ALWAYS]
        written = sum(page.base is not None and not page.left_out and page.id not in _ALWAYS for page in self.known.values())
        return [] if len(gone) == written >= _LEFT else gone

    def edited(self) -> list[str]:
        """The newest first."""
        found = [page_id for page_id in self.files if page_id not in self._ours]
        return sorted(found, key=lambda page_id: (-self.files[page_id][2], page_id))

    def words(self, memory: str) -> str | None:
        """What a memory says on any page as it was written last."""
        for page in self.known.values():
            if page.base is not None and memory in memories_in(page.base):
                return next((line.text for line in parse.read(page.base).lines if line.memory == memory), None)
        return None


def _id(text: str) -> str:
    """The id that a page's front matter names, "" for none; without reading the rest."""
    if not _FRONT.match(text):
        return ""
    end = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE).search(text, 4)
    found = _ID.search(text, 0, end.start()) if end is not None else None
    return found[1] if found is not None else ""
