"""Pages -> the same wiki for other readers: one HTML document, plain Markdown, an Obsidian vault, JSON.

Each form is made of texts alone and is the same for the same texts. `written` puts files into a folder, through the check that
holds for all paths of the wiki.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import quote

from hindbrain.base.errors import UnsafePath
from hindbrain.base.files import replace_file
from hindbrain.wiki.finding import type_of
from hindbrain.wiki.links import Leaf, Resolved, Wiki, heading_key
from hindbrain.wiki.names import safe_path
from hindbrain.wiki.outline import MARK, Link, replaced
from hindbrain.wiki.site import html
from hindbrain.wiki.text import escaped

__all__ = ["as_json", "html", "markdown", "vault", "written"]

_OBSIDIAN: Final[Mapping[str, object]] = {
    "alwaysUpdateLinks": True, "newLinkFormat": "absolute", "useMarkdownLinks": False, "showFrontmatter": True,
}  # fmt: skip
_SETTINGS: Final = ".obsidian"
_NO_SLUG: Final = re.compile(r"[^\w\- ]")


# --- plain Markdown ------------------------------------------------------------------------------------------------------------


def markdown(texts: Mapping[str, str]) -> dict[str, str]:
    """Files in which wikilinks are relative links and block marks are anchors, for readers that know neither."""
    wiki = Wiki(texts)
    return {path: _plain_page(wiki, leaf) for path, leaf in wiki.pages.items()}


def _plain_page(wiki: Wiki, leaf: Leaf) -> str:
    lines = wiki.texts[leaf.path].removeprefix("\ufeff").split("\n")
    slugs: dict[str, dict[str, str]] = {}
    pieces: dict[int, list[tuple[int, int, str]]] = {}
    for link, to in wiki.links[leaf.path]:
        new = _plain_link(wiki, leaf.path, link, to, slugs)
        pieces.setdefault(link.line, []).append((link.start, link.end, new))
    for number, here in pieces.items():
        lines[number - 1] = replaced(lines[number - 1], here)
    for mark, number in leaf.outline.marks.items():
        line = lines[number - 1]
        end = "\r" if line.endswith("\r") else ""
        lines[number - 1] = MARK.sub(f'<a id="{mark}"></a>', line.removesuffix("\r")) + end
    return "\n".join(lines)


def _plain_link(wiki: Wiki, page: str, link: Link, to: Resolved, slugs: dict[str, dict[str, str]]) -> str:
    words = link.alias or escaped((wiki.pages[to.path].title if to.path and not link.part else "") or link.target or link.part)
    words = re.sub(r"(?<!\\)<", r"\\<", words)
    if not to.path:
        return words
    place = "" if to.path == page else quote(os.path.relpath(to.path, os.path.dirname(page) or "."), safe="/-._~")
    if to.anchor.startswith("^"):
        place += "#" + to.anchor[1:]
    elif to.anchor:
        known = slugs.setdefault(to.path, _slugs(wiki.pages[to.path]))
        place += "#" + quote(known.get(to.anchor, ""), safe="-_")
    return f"[{words}]({place or quote(page.rpartition('/')[2])})"


def _slugs(leaf: Leaf) -> dict[str, str]:
    """Key of a heading -> its anchor as most readers of Markdown make it."""
    found: dict[str, str] = {}
    seen: dict[str, int] = {}
    for heading in leaf.outline.headings:
        slug = _NO_SLUG.sub("", MARK.sub("", heading.text).strip().lower()).replace(" ", "-")
        number = seen.get(slug, 0)
        seen[slug] = number + 1
        found.setdefault(heading_key(heading.text), f"{slug}-{number}" if number else slug)
    return found


# --- Obsidian ------------------------------------------------------------------------------------------------------------------


def vault(texts: Mapping[str, str]) -> dict[str, str]:
    """The pages as they are, and the least that makes the folder a vault whose links are written as ours are."""
    return {**texts, f"{_SETTINGS}/app.json": json.dumps(_OBSIDIAN, indent=2) + "\n"}


# --- JSON ----------------------------------------------------------------------------------------------------------------------


def as_json(texts: Mapping[str, str]) -> str:
    """Pages, their lines with the ids of their memories, and their links with what they lead to."""
    wiki = Wiki(texts)
    pages = [_page(wiki, leaf) for leaf in wiki.pages.values()]
    return json.dumps({"format": "hindbrain-wiki", "version": 1, "pages": pages}, ensure_ascii=True, indent=1) + "\n"


def _page(wiki: Wiki, leaf: Leaf) -> dict[str, object]:
    read = leaf.read
    lines = [
        {"line": line.number, "section": line.section, "memory": line.memory, "text": line.text, "struck": line.struck,
         "checked": line.checked}
        for line in read.lines
    ]  # fmt: skip
    return {
        "path": leaf.path, "type": type_of(leaf.path), "id": read.id, "title": read.title, "aliases": list(read.aliases),
        "tags": list(read.tags), "lines": lines, "notes": list(read.notes),
        "links": [_link(link, to) for link, to in wiki.links[leaf.path]],
    }  # fmt: skip


def _link(link: Link, to: Resolved) -> dict[str, object]:
    return {
        "line": link.line, "target": link.target, "part": link.part, "alias": link.alias, "embed": link.embed,
        "page": to.path, "anchor": to.anchor, "problem": to.problem,
    }  # fmt: skip


# --- files ---------------------------------------------------------------------------------------------------------------------


def written(folder: Path, files: Mapping[str, str]) -> list[Path]:
    """The files in the folder. All paths are checked before the first is written."""
    places = [(_place(folder, relative), text) for relative, text in sorted(files.items())]
    for place, text in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        replace_file(place, text.encode("utf-8", "surrogateescape"))
    return [place for place, _ in places]


def _place(folder: Path, relative: str) -> Path:
    """Names that begin with a dot are nobody's pages; the one folder of that kind is Obsidian's own."""
    name = relative.removeprefix(f"{_SETTINGS}/")
    if name == relative:
        return safe_path(folder, relative)
    settings = folder / _SETTINGS
    if settings.is_symlink():
        raise UnsafePath(f"{settings} is a link", path=str(settings))
    return safe_path(settings, name)
