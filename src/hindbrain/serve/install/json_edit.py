"""JSON text and one change -> the text with that change, in its own style, and not a character else touched.

The style is read off the text: indentation, line ends, what stands around colons and commas. A piece is added behind
the last one with the gap that is used there already, and taken away together with exactly that gap, so that taking
away what was added gives the old text back. Only an empty container loses its inner white space; whoever adds to one
is told it (`interior`) and gives it back when removing. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from hindbrain.serve.install.json_spans import BOM, Node


@dataclass(frozen=True, slots=True)
class Style:
    """How a text lays out its values."""

    newline: str = "\n"
    unit: str = "  "
    colon: str = ": "
    comma: str = ", "  # between values on one line
    lines: bool = True  # one value per line


def style_of(text: str, root: Node) -> Style:
    """The habits of a text; what it does not show is as most tools have it."""
    newline = "\r\n" if "\r\n" in text else "\n" if "\n" in text else "\r" if "\r" in text else "\n"
    colon = next((gap for gap in _colons(text, root) if not _broken(gap)), ": ")
    wide = ", " if colon.endswith(" ") else ","
    comma = next((gap for gap in _gaps(text, root) if not _broken(gap)), wide)
    lines = _broken(text[root.start : root.end]) or not root.spans()
    return Style(newline, next(_units(text, root), "  "), colon, comma, lines)


def render(value: object, style: Style, indent: str, *, lines: bool) -> str:
    """A value as text; `indent` is that of the line it begins on."""
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent + style.unit
    if isinstance(value, dict):
        opening, closing = "{}"
        pieces = [render_member(key, item, style, inner, lines=lines) for key, item in value.items()]
    else:
        opening, closing = "[]"
        pieces = [render(item, style, inner, lines=lines) for item in value]
    if not lines:
        return opening + style.comma.join(pieces) + closing
    return opening + style.newline + inner + f",{style.newline}{inner}".join(pieces) + style.newline + indent + closing


def render_member(key: str, value: object, style: Style, indent: str, *, lines: bool) -> str:
    return json.dumps(key, ensure_ascii=False) + style.colon + render(value, style, indent, lines=lines)


def interior(text: str, node: Node) -> str:
    """The white space inside an empty container."""
    return text[node.start + 1 : node.end - 1]


def append(text: str, node: Node, style: Style, key: str | None, value: object) -> str:
    """Add an element (key None) or a member behind the last one."""
    spans = node.spans()
    gap = _gap(text, node, style) if spans else ""
    if spans and _broken(gap):
        indent, lines = _indent_in(gap), True
    else:
        indent = _indent_at(text, node.start) + ("" if spans else style.unit)
        lines = not spans and (style.lines or _broken(interior(text, node)))
    piece = render(value, style, indent, lines=lines) if key is None else render_member(key, value, style, indent, lines=lines)
    if spans:
        return text[: spans[-1][1]] + gap + piece + text[spans[-1][1] :]
    if lines:
        piece = style.newline + indent + piece + style.newline + _indent_at(text, node.start)
    return text[: node.start + 1] + piece + text[node.end - 1 :]


def remove(text: str, node: Node, place: int, inside: str = "") -> str:
    """Take one element or member away; `inside` is what is left between the brackets when it was the only one."""
    spans = node.spans()
    if len(spans) == 1:
        return text[: node.start + 1] + inside + text[node.end - 1 :]
    start, end = (spans[0][0], spans[1][0]) if place == 0 else (spans[place - 1][1], spans[place][1])
    return text[:start] + text[end:]


def replace(text: str, node: Node, style: Style, value: object) -> str:
    """Put another value in the place of one."""
    lines = _broken(text[node.start : node.end])
    return text[: node.start] + render(value, style, _indent_at(text, node.start), lines=lines) + text[node.end :]


def _broken(text: str) -> bool:
    return "\n" in text or "\r" in text


def _gap(text: str, node: Node, style: Style) -> str:
    """What to put between the last piece and a new one: what stands between the last two."""
    spans = node.spans()
    if len(spans) > 1:
        return text[spans[-2][1] : spans[-1][0]]
    lead = text[node.start + 1 : spans[0][0]]
    return "," + lead if _broken(lead) else style.comma


def _indent_in(gap: str) -> str:
    line = gap[max(gap.rfind("\n"), gap.rfind("\r")) + 1 :]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _indent_at(text: str, at: int) -> str:
    line = text[max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1 : at].removeprefix(BOM)
    return line[: len(line) - len(line.lstrip(" \t"))]


def _containers(node: Node) -> Iterator[Node]:
    """Outermost first, so that the top level decides."""
    waiting = [node]
    while waiting:
        here = waiting.pop(0)
        if here.spans():
            yield here
        waiting += [member.value for member in here.members]
        waiting += here.items


def _colons(text: str, root: Node) -> Iterator[str]:
    for node in _containers(root):
        for member in node.members:
            yield text[member.key_end : member.value.start]


def _gaps(text: str, root: Node) -> Iterator[str]:
    for node in _containers(root):
        spans = node.spans()
        for (_, end), (start, _) in pairwise(spans):
            yield text[end:start]


def _units(text: str, root: Node) -> Iterator[str]:
    for node in _containers(root):
        lead = text[node.start + 1 : node.spans()[0][0]]
        tail = text[node.spans()[-1][1] : node.end - 1]
        if _broken(lead) and _broken(tail):
            inner, outer = _indent_in(lead), _indent_in(tail)
            if inner.startswith(outer) and inner != outer:
                yield inner[len(outer) :]
