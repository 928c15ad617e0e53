"""Pages -> one HTML document that needs nothing else: read it in a browser, search it, print it, send it.

Its policy (Content-Security-Policy) forbids everything, then allows the one style and the one script by their hashes; neither
holds a word of any page. So even markup that got past `page_html` could neither run nor fetch anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Final

from hindbrain.wiki.finding import type_of
from hindbrain.wiki.links import Leaf, Wiki, stem
from hindbrain.wiki.lint_pages import value
from hindbrain.wiki.page_html import PageHtml, page_id, shown

_GROUPS: Final[Mapping[str, str]] = {
    "soul": "About you", "project": "Projects", "concept": "Concepts", "connection": "Connections", "qa": "Questions",
    "daily": "Days", "": "Other pages", "index": "Lists", "log": "Lists",
}  # fmt: skip
_ORDER: Final = tuple(_GROUPS)


def html(texts: Mapping[str, str], title: str = "Wiki") -> str:
    """The whole wiki as one document."""
    wiki = Wiki(texts)
    pages = PageHtml(wiki)
    back = wiki.backlinks
    paths = _in_order(wiki)
    articles = "\n".join(_article(wiki, pages, path, sorted(back[path])) for path in paths)
    style, script = _asset("export.css"), _asset("export.js")
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    count = f"{len(paths)} page{'' if len(paths) == 1 else 's'}"
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{shown(title)}</title>
<style>{style}</style>
</head>
<body>
<a class="skip" href="#pages">To the pages</a>
<header>
<h1>{shown(title)}</h1>
<div class="search" role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search" autocomplete="off" spellcheck="false">
<p id="count" role="status" data-all="{count}">{count}</p>
</div>
</header>
<nav aria-label="Pages">
{_navigation(wiki, paths)}
</nav>
<main id="pages">
{articles}
</main>
<script>{script}</script>
</body>
</html>
"""


def _in_order(wiki: Wiki) -> list[str]:
    """By group and title; days from the newest on."""
    days = sorted((path for path in wiki.pages if type_of(path) == "daily"), reverse=True)
    others = [path for path in wiki.pages if type_of(path) != "daily"]
    others.sort(key=lambda path: (_name(wiki.pages[path]).casefold(), path))
    return sorted([*days, *others], key=lambda path: _ORDER.index(type_of(path)))


def _name(leaf: Leaf) -> str:
    return leaf.title or stem(leaf.path)


def _navigation(wiki: Wiki, paths: Sequence[str]) -> str:
    groups: dict[str, list[str]] = {}
    for path in paths:
        entry = f'<li><a href="#{shown(page_id(path))}">{shown(_name(wiki.pages[path]))}</a></li>'
        groups.setdefault(_GROUPS[type_of(path)], []).append(entry)
    return "\n".join(
        f'<section>\n<h2>{name} <span>{len(entries)}</span></h2>\n<ul>\n{"".join(entries)}\n</ul>\n</section>'
        for name, entries in groups.items()
    )


def _article(wiki: Wiki, pages: PageHtml, path: str, sources: Sequence[str]) -> str:
    leaf = wiki.pages[path]
    body = pages.body(path)
    heading = "" if any(each.level == 1 for each in leaf.outline.headings) else f"<h2>{shown(_name(leaf))}</h2>\n"
    return (
        f'<article id="{shown(page_id(path))}">\n{_facts(leaf)}{heading}{body}{_linked_from(wiki, sources)}</article>'
    )


def _facts(leaf: Leaf) -> str:
    """What the front matter says, in a line."""
    front = {name: value(written) for name, (_, written) in leaf.outline.front.items()}
    said = [shown(stem(leaf.path))]
    said += [f"updated {shown(front['updated'])}"] if front.get("updated") else []
    said += [f"sessions {shown(front['sources'])}"] if front.get("sources") else []
    said += [f"confidence {shown(front['confidence'])}"] if front.get("confidence") else []
    said += [f'<span class="tag">{shown(tag)}</span>' for tag in leaf.read.tags]
    return f'<p class="facts">{" · ".join(said)}</p>\n'


def _linked_from(wiki: Wiki, sources: Sequence[str]) -> str:
    if not sources:
        return ""
    links = ", ".join(f'<a href="#{shown(page_id(path))}">{shown(_name(wiki.pages[path]))}</a>' for path in sources)
    return f'<p class="back">Linked from {links}</p>\n'


@cache
def _asset(name: str) -> str:
    return resources.files("hindbrain.wiki").joinpath(name).read_text("utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
