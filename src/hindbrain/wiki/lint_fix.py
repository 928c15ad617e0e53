"""Pages -> the same pages with everything put right that needs no decision.

Titles and headings that are missing, links spelt differently from the file, missing ways back, and an index that is behind.
A line that is not concerned keeps its bytes. Doing it twice changes nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from hindbrain.wiki import front as front_matter
from hindbrain.wiki.finding import Pages, type_of
from hindbrain.wiki.links import Leaf, folded, stem
from hindbrain.wiki.lint_links import INDEX, alone, linkable, misnamed, missing_backlinks, unlisted
from hindbrain.wiki.lint_pages import readable
from hindbrain.wiki.outline import Link, lines_of, outline, replaced
from hindbrain.wiki.render import label
from hindbrain.wiki.sections import RELATED, SOURCES
from hindbrain.wiki.text import escaped
from hindbrain.wiki.text import folded as flat

_HEADINGS: Final[Mapping[str, str]] = {
    "concept": "Concepts", "connection": "Connections", "qa": "Questions", "project": "Projects",
}  # fmt: skip


def fixed(texts: Mapping[str, str]) -> dict[str, str]:
    """Every page, changed or not."""
    pages = Pages(dict(texts))
    for repair in (_schema, _spelling, _backlinks, _index):
        changed = {path: text for path, text in repair(pages).items() if pages.texts.get(path) != text}
        if changed:
            pages = Pages({**pages.texts, **changed})
    return dict(pages.texts)


class _Lines:
    """A text that is changed line by line and keeps its line ends."""

    def __init__(self, text: str) -> None:
        self.bom = "\ufeff" if text.startswith("\ufeff") else ""
        self.lines = text.removeprefix(self.bom).split("\n")
        self.end = "\r" if self.lines[0].endswith("\r") else ""

    def insert(self, line: int, new: list[str]) -> None:
        """Before the line of this number, from 1."""
        if line > len(self.lines) and self.lines[-1]:
            self.lines[-1] += self.end
            self.lines.append("")
        place = min(line - 1, len(self.lines) - (0 if self.lines[-1] else 1))
        self.lines[place:place] = [each + self.end for each in new]

    def text(self) -> str:
        return self.bom + "\n".join(self.lines)


def _schema(pages: Pages) -> dict[str, str]:
    done = {}
    for path in pages.articles:
        leaf = pages.wiki.pages[path]
        if readable(leaf):
            lines = _Lines(pages.texts[path])
            changed = _heading(lines, leaf) | _title(lines, leaf)
            if changed:
                done[path] = lines.text()
    return done


def _heading(lines: _Lines, leaf: Leaf) -> bool:
    if any(heading.level == 1 for heading in leaf.outline.headings):
        return False
    body = leaf.outline.body
    blank = [""] if body > 1 else []
    lines.insert(body, [*blank, f"# {escaped(_name(leaf))}", *([] if _blank(lines, body) else [""])])
    return True


def _blank(lines: _Lines, line: int) -> bool:
    return line <= len(lines.lines) and not lines.lines[line - 1].strip()


def _title(lines: _Lines, leaf: Leaf) -> bool:
    front = leaf.outline.front
    line, written = front.get("title", (0, ""))
    if written:
        return False
    new = front_matter.written({"title": _name(leaf)}).rstrip("\n")
    if line:
        lines.lines[line - 1] = new + lines.end
    elif leaf.outline.body > 1:
        lines.insert(3 if front.get("id", (0, ""))[0] == 2 else 2, [new])
    else:
        lines.insert(1, ["---", new, "---", ""])
    return True


def _name(leaf: Leaf) -> str:
    """What the page is called, or else what its file is."""
    words = stem(leaf.path).rpartition("/")[2].replace("-", " ")
    return flat("".join(letter if letter.isprintable() else " " for letter in leaf.title or words[:1].upper() + words[1:]))


def _spelling(pages: Pages) -> dict[str, str]:
    done = {}
    for path, links in pages.links.items():
        wrong = [(link, to.written) for link, to in links if to.written and not to.problem]
        if wrong:
            done[path] = _relinked(pages.texts[path], [(link, written, link.alias) for link, written in wrong])
    return done


def _relinked(text: str, new: Sequence[tuple[Link, str, str]]) -> str:
    """The text with other targets and aliases."""
    lines = _Lines(text)
    pieces: dict[int, list[tuple[int, int, str]]] = {}
    for link, target, alias in new:
        place, sign, _ = lines.lines[link.line - 1][link.start : link.end].partition("|")
        place = place.replace(link.target, target, 1)
        pieces.setdefault(link.line, []).append((link.start, link.end, f"{place}{sign}{alias}]]" if sign else place))
    for number, here in pieces.items():
        lines.lines[number - 1] = replaced(lines.lines[number - 1], here)
    return lines.text()


def _item(pages: Pages, path: str) -> str:
    return f"- [[{stem(path)}|{label(pages.wiki.pages[path].title or stem(path))}]]"


def _backlinks(pages: Pages) -> dict[str, str]:
    wanted: dict[str, list[str]] = {}
    for target, source, _ in missing_backlinks(pages):
        if linkable(source):
            wanted.setdefault(target, []).append(source)
    return {
        path: _listed(pages, path, RELATED, [_item(pages, each) for each in others], before=SOURCES)
        for path, others in wanted.items()
    }  # fmt: skip


def _listed(pages: Pages, path: str, section: str, items: list[str], before: str = "") -> str:
    """The page with these items at the end of a section; the text as it is where they would not count, as in an open fence."""
    text = pages.texts[path]
    lines = _Lines(text)
    _into_section(lines, pages.wiki.pages[path], section, items, before)
    new = lines.text()
    return new if len(outline(new).links) == len(pages.links[path]) + len(items) else text


def _into_section(lines: _Lines, leaf: Leaf, section: str, items: list[str], before: str) -> None:
    headings = [each for each in leaf.outline.headings if each.level <= 2]
    here = next((each for each in headings if each.level == 2 and folded(each.text) == folded(section)), None)
    if here is None:
        other = next((each for each in headings if each.level == 2 and folded(each.text) == folded(before)), None)
        if other:
            lines.insert(other.line, [f"## {section}", "", *items, ""])
        else:
            last = _last(lines, len(lines.lines))
            lines.insert(last + 1, ["", f"## {section}", "", *items])
        return
    end = next((each.line - 1 for each in leaf.outline.headings if each.line > here.line), len(lines.lines))
    last = _last(lines, end)
    lines.insert(last + 1, items if last > here.line else ["", *items])


def _last(lines: _Lines, end: int) -> int:
    """The number of the last line with text, up to this one."""
    while end > 1 and not lines.lines[end - 1].strip():
        end -= 1
    return end


def _index(pages: Pages) -> dict[str, str]:
    """An index that lists what is there, under its title, and nothing else."""
    found = pages
    if INDEX not in pages.texts:
        if not pages.articles:
            return {}
        found = Pages({**pages.texts, INDEX: "---\nid: index\ntitle: Index\n---\n\n# Index\n"})
    text = _renamed(_without_broken(found))
    by_section: dict[str, list[str]] = {}
    for path in unlisted(found):
        if linkable(path):
            by_section.setdefault(_HEADINGS[type_of(path)], []).append(_item(found, path))
    for section, items in by_section.items():
        found = Pages({INDEX: text})
        text = _listed(found, INDEX, section, items)
    return {INDEX: text}


def _without_broken(pages: Pages) -> Pages:
    text = pages.texts[INDEX]
    written = lines_of(text)
    gone = {link.line for link, to in pages.links[INDEX] if to.problem == "missing" and alone(written, link)}
    if not gone:
        return pages
    lines = _Lines(text)
    lines.lines = [line for number, line in enumerate(lines.lines, 1) if number not in gone]
    return Pages({**pages.texts, INDEX: lines.text()})


def _renamed(pages: Pages) -> str:
    new = [(link, link.target, label(title)) for link, title in misnamed(pages)]
    return _relinked(pages.texts[INDEX], new) if new else pages.texts[INDEX]
