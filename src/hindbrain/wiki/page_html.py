"""A page's Markdown -> HTML that holds nothing but its words and their form.

Whatever a page says, nothing in it becomes a tag, a script, or something that a browser fetches: HTML in pages is text, images
are their descriptions, and a link leads to a page of the wiki, to the web, or is no link. Wikilinks are recognised by the
Markdown parser itself, so that code and escapes are what they are everywhere else.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final
from urllib.parse import quote, unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from hindbrain.wiki.links import Wiki, heading_key, stem
from hindbrain.wiki.outline import WIKILINK, Link, lines_of, link_of
from hindbrain.wiki.text import plain

_SCHEMES: Final = frozenset({"http", "https", "mailto"})
_MARK: Final = re.compile(r"\^([A-Za-z0-9][A-Za-z0-9-]*)[ \t]*(?=\n|$)")
_BOX: Final = re.compile(r"\[([ xX])\] ")
_UNSEEN: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def shown(text: str) -> str:
    """Text as HTML; what no document may hold is shown as a mark of its own."""
    return escapeHtml(_UNSEEN.sub("\ufffd", text))


def page_id(path: str) -> str:
    """The anchor of a page in the document."""
    return quote(_UNSEEN.sub("\ufffd", stem(path)), safe="/-._~")


def part_id(path: str, anchor: str) -> str:
    """The anchor of a heading or a block mark of a page."""
    return f"{page_id(path)}--{quote(anchor.removeprefix('^').replace(' ', '-'), safe='-._~')}" if anchor else page_id(path)


class PageHtml:
    """Pages of one wiki -> HTML."""

    def __init__(self, wiki: Wiki) -> None:
        self.wiki = wiki
        self._parser = MarkdownIt("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
        self._parser.inline.ruler.before("link", "wikilink", _wikilink)
        self._parser.inline.ruler.before("link", "block_mark", _block_mark)
        self._parser.core.ruler.push("tamed", self._tamed)
        for name, rule in (("wikilink", _link), ("block_mark", _mark), ("image", _image), ("box", _box)):
            self._parser.add_render_rule(name, rule)

    def body(self, path: str) -> str:
        """What stands below the front matter."""
        lines = lines_of(self.wiki.texts[path])[self.wiki.pages[path].outline.body - 1 :]
        text = _UNSEEN.sub("\ufffd", "\n".join(lines))
        return str(self._parser.render(text, {"wiki": self.wiki, "path": path, "ids": set()}))

    # --- what the parser found, made harmless ---------------------------------------------------------------------------

    def _tamed(self, state: StateCore) -> None:
        path, ids = state.env["path"], state.env["ids"]
        for place, token in enumerate(state.tokens):
            if token.type in {"heading_open", "heading_close"}:
                if token.type == "heading_open":
                    _name(token, part_id(path, heading_key(state.tokens[place + 1].content)), ids)
                token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the document has a heading of its own
            elif token.type in {"th_open", "td_open"} and "style" in token.attrs:
                token.attrs["class"] = str(token.attrs.pop("style")).removeprefix("text-align:")
            elif token.type == "inline":
                if place > 1 and state.tokens[place - 2].type == "list_item_open":
                    _ticked(token)
                self._links(token.children or [], path)

    def _links(self, tokens: Sequence[Token], path: str) -> None:
        inside, tag = False, "a"
        for token in tokens:
            if token.type == "link_open":
                href = self._href(str(token.attrs.get("href", "")), path)
                token.attrs = {"href": href, "rel": "noopener noreferrer"} if href else {"class": "dead"}
                token.tag = "a" if href else "span"
                inside, tag = True, token.tag
            elif token.type == "link_close":
                token.tag, inside = tag, False
            elif token.type == "wikilink":
                token.meta["inside"] = inside

    def _href(self, href: str, path: str) -> str:
        """Where a plain Markdown link may lead: to the web, or to a page; "" for nowhere."""
        try:
            address = urlsplit(href)
        except ValueError:
            return ""
        if address.scheme:
            return href if address.scheme.lower() in _SCHEMES else ""
        if address.netloc or href.startswith(("/", "\\")):
            return ""
        target = unquote(address.path)
        name = target if "/" in target or not target else f"./{target}"
        to = self.wiki.resolve(Link(0, 0, 0, name, unquote(address.fragment), ""), path)
        return "#" + part_id(to.path, to.anchor) if to.path else ""


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = WIKILINK.match(state.src, state.pos) if state.src[state.pos] in "[!" else None
    if found is None or found.end() > state.posMax:
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.meta = {"link": link_of(found, 0, 0), "inside": False}
        token.content = found[0]
    state.pos = found.end()
    return True


def _block_mark(state: StateInline, silent: bool) -> bool:
    found = _MARK.match(state.src, state.pos) if state.src[state.pos] == "^" else None
    if found is None or (state.pos and state.src[state.pos - 1] not in " \t\n") or found.end() > state.posMax:
        return False
    if not silent:
        state.push("block_mark", "", 0).content = found[1]
    state.pos = found.end()
    return True


def _name(token: Token, name: str, ids: set[str]) -> None:
    """An anchor belongs to the first that bears it."""
    if name not in ids:
        ids.add(name)
        token.attrs["id"] = name


def _ticked(inline: Token) -> None:
    """`[ ]` and `[x]` at the beginning of a list item are boxes."""
    children = inline.children or []
    if children and children[0].type == "text" and (found := _BOX.match(children[0].content)):
        children[0].content = children[0].content[found.end() :]
        children.insert(0, Token("box", "", 0, content=found[1].strip()))


def _link(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    wiki: Wiki = env["wiki"]
    link: Link = tokens[place].meta["link"]
    to = wiki.resolve(link, env["path"])
    title = wiki.pages[to.path].title if to.path and not link.part else ""
    words = shown(plain(link.alias) or title or f"{link.target}#{link.part}".rstrip("#"))
    if not to.path or tokens[place].meta["inside"]:
        return f'<span class="dead">{words}</span>'
    kind = ' class="embed"' if link.embed else ""
    return f'<a href="#{shown(part_id(to.path, to.anchor))}"{kind}>{words}</a>'


def _mark(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    mark = tokens[place].content
    name = part_id(env["path"], "^" + mark)
    title = shown(mark.replace("-", "_", 1) if mark.startswith("m-") else mark)
    if name in env["ids"]:
        return ""
    env["ids"].add(name)
    return f'<a class="mark" id="{shown(name)}" href="#{shown(name)}" title="{title}" aria-label="{title}">#</a>'


def _image(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    words = renderer.renderInlineAsText(tokens[place].children, options, env)
    return f'<span class="dead">{shown(words or "image")}</span>'


def _box(renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType) -> str:
    checked = " checked" if tokens[place].content else ""
    return f'<input type="checkbox" disabled{checked}> '
