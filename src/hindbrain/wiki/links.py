"""Links of all pages -> the page and the part that each one means.

A target is a path with or without `.md`, the name of a file, a title or an alias, without regard to case and Unicode form.
Resolving is a look into a table of the pages that exist, so that no target leads out of the wiki; one that tries to is told
apart from one that is merely missing. Everything is linear in the size of the wiki.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from hindbrain.wiki import parse
from hindbrain.wiki.outline import MARK, Link, Outline, outline
from hindbrain.wiki.page import Read

Problem = Literal["", "missing", "outside", "part"]

_DRIVE: Final = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_WORD: Final = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads."""

    path: str  # "" where it leads nowhere
    problem: Problem = ""
    anchor: str = ""  # "^" and a block mark, or the key of a heading; "" for the page as a whole
    written: str = ""  # how the target is spelt on the disk, where only case or Unicode form differ


@dataclass(frozen=True, slots=True)
class Leaf:
    """A page with what links need to know of it."""

    path: str
    read: Read
    outline: Outline
    anchors: Mapping[str, str]  # key of a heading or mark -> anchor

    @property
    def title(self) -> str:
        return self.read.title

    @property
    def aliases(self) -> tuple[str, ...]:
        return self.read.aliases


def folded(text: str) -> str:
    """Equal for texts that differ in case, Unicode form or spaces alone."""
    if text.isascii():
        return " ".join(text.lower().split())
    return " ".join(unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).casefold()).split())


def heading_key(text: str) -> str:
    """What a heading is called in a link: its words. A block mark at its end is none of them."""
    return " ".join(_WORD.findall(folded(MARK.sub("", text))))


def stem(path: str) -> str:
    return path.removesuffix(".md")


class Wiki:
    """All pages, and what each name means."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = texts
        self.pages: dict[str, Leaf] = {path: _leaf(path, texts[path]) for path in sorted(texts)}
        self._paths: dict[str, str] = {}
        self._names: dict[str, str] = {}
        for path in self.pages:
            self._paths.setdefault(folded(stem(path)), path)
        for names in (_file_name, _title, _aliases):  # in this order: a file's name is stronger than another's alias
            for path, leaf in self.pages.items():
                for name in names(leaf):
                    self._names.setdefault(folded(name), path)
        self._names.pop("", None)

    def resolve(self, link: Link, page: str) -> Resolved:
        """Where a link of this page leads."""
        path, written = (page, "") if not link.target else self._target(link.target, page)
        if not path:
            return Resolved("", "outside" if written is None else "missing")
        anchor = self._anchor(path, link.part)
        return Resolved(path, "" if anchor is not None else "part", anchor or "", written or "")

    @cached_property
    def links(self) -> dict[str, list[tuple[Link, Resolved]]]:
        """Page -> its links, and where they lead."""
        return {path: [(link, self.resolve(link, path)) for link in leaf.outline.links] for path, leaf in self.pages.items()}

    @cached_property
    def backlinks(self) -> dict[str, dict[str, Link]]:
        """Page -> the other pages that link to it, each with its first link. A page's link to itself counts for nothing."""
        found: dict[str, dict[str, Link]] = {path: {} for path in self.pages}
        for page, links in self.links.items():
            for link, to in links:
                if to.path and to.path != page:
                    found[to.path].setdefault(page, link)
        return found

    def _target(self, target: str, page: str) -> tuple[str, str | None]:
        """(path, its spelling where that differs); ("", None) for a target outside the wiki, ("", "") for one that is missing."""
        plain = _inside(target, page)
        if plain is None:
            return "", None
        for exact in (plain, plain + ".md"):
            if exact in self.pages:
                return exact, ""
        suffix = plain[-3:] if plain.lower().endswith(".md") else ""
        key = folded(plain[: len(plain) - len(suffix)])
        if found := self._paths.get(key):
            return found, stem(found) + suffix.lower()
        return self._named(key, folded(plain), plain)

    def _named(self, key: str, whole: str, plain: str) -> tuple[str, str]:
        found = self._names.get(whole) or self._names.get(key)
        if not found:
            return "", ""
        name = stem(found).rpartition("/")[2]
        return found, name if folded(name) == key and name != plain and name != stem(plain) else ""

    def _anchor(self, path: str, part: str) -> str | None:
        if not part:
            return ""
        last = part.rpartition("#")[2].strip()  # Obsidian names nested headings one after another
        anchors = self.pages[path].anchors
        if last.startswith("^"):
            return anchors.get(folded(last))
        return anchors.get(heading_key(last)) or anchors.get("^" + folded(last))


def _file_name(leaf: Leaf) -> tuple[str, ...]:
    return (stem(leaf.path).rpartition("/")[2],)


def _title(leaf: Leaf) -> tuple[str, ...]:
    return (leaf.title,)


def _aliases(leaf: Leaf) -> tuple[str, ...]:
    return leaf.aliases


def _leaf(path: str, text: str) -> Leaf:
    found = outline(text)
    anchors: dict[str, str] = {}
    for heading in found.headings:
        key = heading_key(heading.text)
        anchors.setdefault(key, key)
    for mark in found.marks:
        anchors.setdefault("^" + folded(mark), "^" + mark)
    anchors.pop("", None)
    return Leaf(path, parse.read(text), found, anchors)


def _inside(target: str, page: str) -> str | None:
    """The target without dots, seen from the page's folder where it has some; None for one outside the wiki."""
    if _CONTROL.search(target) or target.startswith(("/", "\\", "~/")) or _DRIVE.match(target):
        return None
    parts = re.split(r"[\\/]", target)
    if ".." not in parts and "." not in parts:
        return target
    kept = page.split("/")[:-1]
    for part in parts:
        if part == "..":
            if not kept:
                return None
            kept.pop()
        elif part not in {"", "."}:
            kept.append(part)
    return "/".join(kept)
