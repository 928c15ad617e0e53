"""Pages -> what is wrong with how they hang together: broken links, orphans, missing ways back, an index that is behind."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.wiki.finding import ARTICLES, Finding, Pages, type_of
from hindbrain.wiki.links import Resolved, folded
from hindbrain.wiki.outline import Link, lines_of
from hindbrain.wiki.render import label
from hindbrain.wiki.text import plain

_SIGNS: Final = re.compile(r"[\[\]|#^`\\\x00-\x1f]")
INDEX: Final = "index.md"
LISTS: Final = frozenset({"index", "log"})  # pages that link to everything: a link of theirs saves nobody from being an orphan


def broken(pages: Pages) -> Iterator[Finding]:
    """Links that lead nowhere, out of the wiki, to a part that is not there, or are spelt differently from the file."""
    for path, links in pages.links.items():
        lines = lines_of(pages.texts[path]) if path == INDEX else []
        for link, to in links:
            if found := _problem(path, link, to, lines):
                yield found


def _problem(path: str, link: Link, to: Resolved, lines: Sequence[str]) -> Finding | None:
    if to.problem == "outside":
        return Finding("outside-link", "error", path, link.line, f"the link to {shown(link.target)} leads out of the wiki")
    if to.problem == "missing":
        fix = path == INDEX and alone(lines, link)
        return Finding("broken-link", "error", path, link.line, f"no page is called {shown(link.target)}", fix)
    if to.problem == "part":
        return Finding("broken-part", "warning", path, link.line, f"{to.path} has no part {shown(link.part)}")
    if to.written:
        said = f"{shown(link.target)} is spelt {shown(to.written)} on the disk"
        return Finding("link-case", "note", path, link.line, said, True)
    return None


def shown(text: str) -> str:
    """A piece of a page inside a message: short, and in one line."""
    flat = " ".join("".join(letter if letter.isprintable() else " " for letter in text[:400]).split())
    return f"'{flat[:80]}…'" if len(flat) > 80 else f"'{flat}'"


def alone(lines: Sequence[str], link: Link) -> bool:
    """Whether a list item begins with the link, as the items of the index do."""
    return lines[link.line - 1][: link.start].strip() in {"-", "*", "+"}


def linkable(path: str) -> bool:
    """Whether a link can name the path: one that holds the signs of links themselves cannot be written."""
    return not _SIGNS.search(path)


def orphans(pages: Pages) -> Iterator[Finding]:
    """Articles that no other page links to."""
    to = pages.wiki.backlinks
    for path in pages.articles:
        if all(type_of(other) in LISTS for other in to[path]):
            yield Finding("orphan", "warning", path, 0, "no other page links here")


def one_way(pages: Pages) -> Iterator[Finding]:
    """Articles that link to one that does not link back; each pair once, told of the page that lacks the link."""
    for target, source, link in missing_backlinks(pages):
        said = f"{source} links here in line {link.line}, and there is no link back"
        yield Finding("missing-backlink", "note", target, 0, said, linkable(source))


def missing_backlinks(pages: Pages) -> Iterator[tuple[str, str, Link]]:
    """(the page that lacks a link, the page it lacks one to, that one's link)."""
    back = pages.wiki.backlinks
    articles = set(pages.articles)
    for target in pages.articles:
        for source, link in back[target].items():
            if source in articles and target not in back[source]:
                yield target, source, link


def index_drift(pages: Pages) -> Iterator[Finding]:
    """Articles the index does not list, or lists under another title."""
    if INDEX not in pages.wiki.pages:
        if pages.articles:
            yield Finding("index-missing", "warning", INDEX, 0, f"there is no index of the {len(pages.articles)} articles", True)
        return
    for path in unlisted(pages):
        yield Finding("index-drift", "warning", INDEX, 0, f"{path} is not in the index", linkable(path))
    for link, title in misnamed(pages):
        said = f"the index calls {shown(link.target)} {shown(link.alias)}; its title is {shown(title)}"
        yield Finding("index-title", "note", INDEX, link.line, said, True)


def unlisted(pages: Pages) -> list[str]:
    listed = {to.path for _, to in pages.links.get(INDEX, [])}
    return [path for path in pages.articles if path not in listed]


def misnamed(pages: Pages) -> Iterator[tuple[Link, str]]:
    for link, to in pages.links.get(INDEX, []):
        leaf = pages.wiki.pages.get(to.path)
        if leaf is None or not leaf.title or not link.alias or link.part or link.embed or type_of(to.path) not in ARTICLES:
            continue
        if folded(plain(link.alias)) not in {folded(name) for name in (leaf.title, label(leaf.title), *leaf.aliases)}:
            yield link, leaf.title
