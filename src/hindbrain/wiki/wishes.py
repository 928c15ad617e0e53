"""What a page says beside its statements, as written, as found and as it would be now -> what a person settled for it.

Title, other names, tags, front matter and notes of a person's own are kept as settings of the page and are part of every later
rendering. Blocks that were made (prose, digests, headings of a day) are told from a person's by comparing with the text that was
written last: whatever was not in it is a person's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, cast

from hindbrain.capture.event import Json
from hindbrain.wiki import parse
from hindbrain.wiki.page import Read
from hindbrain.wiki.render import Human
from hindbrain.wiki.sections import NOTES
from hindbrain.wiki.text import folded

_BULLET: Final = re.compile(r"^(?:[-*+]|\d{1,9}[.)]) ")
_OPEN: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_MARKED: Final = re.compile(r"[ \t]+\^[a-z]-[0-9a-z]{1,64}[ \t]*$")


def settled(base: Read, found: Read, fresh: Read, human: Human, texts: tuple[str, str], more: Sequence[str] = ()) -> Human:
    """The settings as they are now. `texts` are those that base and found were read from; `more` are further notes."""
    was, text = texts
    if not was:
        base = fresh  # nothing is known of what a person saw: what the page would say now is the nearest
    if parse.has_front(text):
        aliases, tags = _listed(base.aliases, found.aliases, fresh.aliases), _listed(base.tags, found.tags, fresh.tags)
        human = replace(
            human, aliases=human.aliases if aliases is None else aliases, tags=human.tags if tags is None else tags,
            extra=_extra(base, found, human),
        )  # fmt: skip
    human = _titled(base, found, human, parse.has_front(text))
    human = replace(human, notes=tuple(_notes(base, found, human, (*_unread(base, found), *more))))
    return _linked(base, found, human, text)


def _listed(base: Sequence[str], found: Sequence[str], fresh: Sequence[str]) -> tuple[str, ...] | None:
    """None: a person left it as it was."""
    if tuple(map(folded, found)) == tuple(map(folded, base)):
        return None
    kept = [each for each in fresh if each in found or each not in base] if fresh != base else []
    return tuple(dict.fromkeys(filter(None, map(folded, (*kept, *found)))))


def _extra(base: Read, found: Read, human: Human) -> Mapping[str, object]:
    if found.extra == base.extra:
        return human.extra
    unseen = {key: value for key, value in human.extra.items() if key not in base.extra}
    return unseen | dict(found.extra)


def _titled(base: Read, found: Read, human: Human, front: bool) -> Human:
    """The title of the front matter counts; who changed only the heading meant the title. Both changed: both are kept."""
    heading = folded(found.heading) if found.heading not in ("", base.heading) else ""
    title = folded(found.title) if front and found.title not in ("", base.title) else ""
    if title and heading and title != heading:
        aliases = human.aliases if human.aliases is not None else found.aliases
        return replace(human, title=title, aliases=tuple(dict.fromkeys((*aliases, heading))))
    return replace(human, title=title or heading or human.title)


def _notes(base: Read, found: Read, human: Human, more: Iterable[str]) -> Iterator[str]:
    """A person's blocks in the order of the page, then those that no page has shown yet."""
    shown = Counter(base.notes)
    unseen = Counter(human.notes) - shown
    made = shown - Counter(human.notes)
    said: set[str] = set()
    for note in (*found.notes, *(each for each in human.notes if unseen[each]), *more):
        if made[note] > 0:
            made[note] -= 1
        elif not (unseen[note] and note in said):
            kept = _kept(note)
            said.add(kept)
            yield kept


def _kept(note: str) -> str:
    """As it stands; what would be read as something else where notes stand, such as broken front matter, in a fence."""
    closed = _closed(note)
    read = parse.read(f"## {NOTES}\n\n{closed}")
    if read.notes == (closed,) and not read.lines:
        return closed
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", note)), default=0))
    return f"{fence}\n{note}\n{fence}"


def _closed(note: str) -> str:
    """An open fence would take in whatever is written below it."""
    fence = ""
    for line in note.split("\n"):
        found = _OPEN.match(line)
        if not fence:
            fence = found[1] if found is not None else ""
        elif re.match(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}[ \t]*$", line):
            fence = ""
    return f"{note}\n{fence}" if fence else note


def _unread(base: Read, found: Read) -> list[str]:
    """Lines of a kind that only we write, where a person changed them: kept as notes."""
    before = {_BULLET.sub("", folded(each)) for each in base.made}
    return [_MARKED.sub("", each) for each in found.made if _BULLET.sub("", folded(each)) not in before]


def _linked(base: Read, found: Read, human: Human, text: str) -> Human:
    """Lines under Related: those a person added, and those a person does not want there."""
    added = [each for each in found.related if each and each not in base.related]
    removed = [each for each in base.related if each not in found.related and each not in text]
    related = [each for each in human.related if each not in removed]
    unlinked = [*human.unlinked, *(each for each in removed if each not in human.related)]
    return replace(
        human, related=tuple(dict.fromkeys((*related, *(each for each in added if each not in human.unlinked)))),
        unlinked=tuple(dict.fromkeys(each for each in unlinked if each not in added)),
    )  # fmt: skip


def told(before: Human, after: Human) -> dict[str, Json]:
    """What is other now, by name; for the record."""
    names = ("title", "aliases", "tags", "extra", "notes", "related", "unlinked")
    pairs = ((name, getattr(before, name), getattr(after, name)) for name in names)
    return {name: cast(Json, list(new) if isinstance(new, tuple) else new) for name, old, new in pairs if old != new}
