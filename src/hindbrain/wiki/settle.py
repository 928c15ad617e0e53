"""What a crash left behind -> a state in which every file is ours or a person's, and it is known which.

A compile that was cut short left files with the text they had or the text they were to get. An undo that was cut short is
finished. A state that was lost is made again from the ids that pages bear.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from hindbrain.base.errors import StorageError
from hindbrain.wiki import parse
from hindbrain.wiki.draft import Draft
from hindbrain.wiki.folder import Folder, Write
from hindbrain.wiki.known import Row
from hindbrain.wiki.page import Read
from hindbrain.wiki.render import NOBODY, Human
from hindbrain.wiki.sections import NOTES, RELATED, SOURCES
from hindbrain.wiki.state import State


def settled(folder: Folder, state: State) -> None:
    """Take up what was cut short. Done before anything else, by whoever holds the lock."""
    _compile(folder, state)
    restored(folder, state)


def _compile(folder: Folder, state: State) -> None:
    cut = state.cut_short()
    if not cut:
        return
    folder.clear(row.path for row in cut)
    at = next((made.at for made in state.compiles(1) if not made.finished), 0)
    landed: dict[str, int] = {}
    dropped: list[str] = []
    gone: list[str] = []
    for row in cut:
        text = _text(folder, row.path)
        if row.removing:
            (gone if text is None else dropped).append(row.id)
        elif text is not None and _nearer(text, row):
            landed[row.id] = at
        else:
            dropped.append(row.id)
    state.settle(landed, dropped, gone)


def _text(folder: Folder, path: str) -> str | None:
    """What stands there; None for nothing, or for something that is no page at all."""
    try:
        found = folder.read(path)
    except StorageError:
        return None
    return found.text if found is not None else None


def _nearer(text: str, row: Row) -> bool:
    """Whether a file has the pending text, or is one that a person made of it rather than of the old."""
    if text in (row.pending, row.base):
        return text == row.pending
    return row.base is None or _distance(text, row.pending or "") <= _distance(text, row.base)


def _distance(one: str, other: str) -> int:
    """How many lines one has and the other has not."""
    first, second = Counter(one.splitlines()), Counter(other.splitlines())
    return (first - second).total() + (second - first).total()


def restored(folder: Folder, state: State) -> list[str]:
    """Give files the older texts that were asked for; the paths that were left alone."""
    wanted = state.restores()
    if not wanted:
        return []
    left = folder.put([Write(each.path, each.text, each.was, each.changed_ns) for each in wanted])
    state.finish_restores()
    return left


def adopted(folder: Folder, state: State, draft: Draft, last: Callable[[str], str | None], now_ms: int) -> None:
    """Of a wiki whose state was lost: pages that bear an id which is planned are known again.

    What the last version says is what a person last saw; without one, what the file says. `last` gives it by path.
    """
    rows: dict[str, Row] = {}
    lists = {page.path: page for page in draft.lists((), None)}
    for path in folder.files():
        text = _text(folder, path)
        read = parse.read(text) if text is not None else None
        page = draft.pages.get(read.id) if read is not None else None
        page = lists[path] if path in lists and read is not None and read.id == lists[path].id else page
        if text is None or read is None or page is None or page.id in rows:
            continue
        base = last(path)
        own = base is None
        base = text if base is None else base
        human = _human(base, parse.read(draft.text(page)), own=own) if path not in lists else NOBODY
        rows[page.id] = Row(page.id, page.type, page.title, path, base=base, human=human, written_at=now_ms)
    state.adopt(rows.values())


def _human(text: str, fresh: Read, *, own: bool) -> Human:
    """What a person settled on a page, told by what is not of the ledger's making.

    In a text that we wrote the person's blocks stand under Notes. In one that a person may have changed since (`own`) every block
    that we would not write now may be theirs.
    """
    seen = parse.read(text)
    title = seen.title if seen.title != fresh.title else ""
    aliases = seen.aliases if not title and seen.aliases != fresh.aliases else None
    tags = seen.tags if seen.tags != fresh.tags else None
    notes = tuple(each for each in seen.notes if each not in fresh.notes) if own else parse.read(_under_notes(text)).notes
    return Human(title, aliases, tags, seen.extra, notes)


def _under_notes(text: str) -> str:
    """The part between the heading of the notes and what we write behind it."""
    _, heading, below = text.partition(f"\n## {NOTES}\n")
    for name in (RELATED, SOURCES):
        below = below.partition(f"\n## {name}\n")[0]
    return f"## {NOTES}\n{below}" if heading else ""
