"""Pages and a model -> sentences above the statements of a page, each citing statements that stand on it.

The model is asked in the worker's job alone and never touches a file: it is shown the statements of one page and gives sentences
with ids. A sentence is shown as long as every memory it cites stands on the page in the very words it was made from, by whoever
compiles. So a page without a model, or one whose statements changed a minute ago, is the same page with fewer sentences; it never
says what its statements do not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hindbrain.base.files import read_private, replace_file
from hindbrain.wiki.page import Fact, Material, Page
from hindbrain.wiki.render import day
from hindbrain.wiki.text import escaped, folded, mark

if TYPE_CHECKING:
    from datetime import tzinfo

    from hindbrain.reason.model.reasoner import Reasoner

TYPES: Final = frozenset({"concept", "connection", "project"})
LEAST: Final = 3  # statements; fewer speak for themselves
AT_ONCE: Final = 40  # statements in one question; a longer page is asked about in parts
MOST_PAGES: Final = 25  # in one job; the next goes on
MOST_BYTES: Final = 64 << 20

Asking = Callable[[str | None, tuple[str, ...]], "Reasoner"]  # project and sessions -> who is asked


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, and for each memory it cites the words that memory had."""

    text: str
    cites: tuple[tuple[str, str], ...]  # (id, fingerprint of its words and state)


@dataclass(frozen=True, slots=True)
class Told:
    """What a model said of one page, and what it was shown."""

    shown: str  # fingerprint of all statements
    lines: tuple[Line, ...]
    made_by: str


class Prose:
    """What was said of all pages, kept in one file of the wiki's own folder."""

    def __init__(self, file: Path, told: Mapping[str, Told]) -> None:
        self._file = file
        self._told = dict(told)

    @classmethod
    def of(cls, file: Path) -> Prose:
        """From its file. One that cannot be read is as good as none: the sentences are asked for again, and replies are kept."""
        data = read_private(file, MOST_BYTES)
        return cls(file, dict(_read(data)) if data else {})

    def on(self, pages: Mapping[str, Page], material: Material) -> dict[str, Page]:
        """The pages, with the sentences that still hold."""
        return {key: self._on(page, material) if key in self._told else page for key, page in pages.items()}

    def _on(self, page: Page, material: Material) -> Page:
        facts = _facts(page, material)
        held = {each: _fingerprint(fact) for each, fact in facts.items()}
        said: dict[str, list[str]] = {}
        where = {each: section.name for section in page.sections for each in section.facts}
        for line in self._told[page.id].lines:
            if all(held.get(memory) == words for memory, words in line.cites):
                said.setdefault(where[line.cites[0][0]], []).append(_shown(line))
        sections = tuple(
            replace(each, prose=" ".join(said[each.name])) if each.name in said else each for each in page.sections
        )
        return replace(page, sections=sections)

    def wanting(self, pages: Mapping[str, Page], material: Material) -> list[Page]:
        """Pages whose statements are not those a model was last shown, the newest first."""
        found = []
        for page in pages.values():
            facts = _facts(page, material) if page.type in TYPES else {}
            known = self._told.get(page.id)
            if len(facts) >= LEAST and (known is None or known.shown != _whole(facts.values())):
                found.append(page)
        return sorted(found, key=lambda page: (-page.updated, page.id))

    def tell(self, page: Page, material: Material, asking: Asking, zone: tzinfo) -> str:
        """Have a page introduced; why not, "" where it was. Raises what the model's failure is for a job."""
        from hindbrain.reason.model.reasoner import Piece

        facts = _facts(page, material)
        lines: list[Line] = []
        made_by = ""
        for part in _parts([*facts.values()]):
            sessions = tuple(sorted({source.session for fact in part for source in fact.sources}))
            reasoner = asking(page.projects[0] if len(page.projects) == 1 else None, sessions)
            pieces = [Piece(fact.id, fact.text, _sort(fact), day(fact.valid_from, zone)) for fact in part]
            made = reasoner.introduction(page.title, pieces, list)
            if made.note:
                return made.note
            made_by = made.made_by
            lines += [Line(folded(each.text), tuple((one, _fingerprint(facts[one])) for one in each.ids)) for each in made.value]
        self._told[page.id] = Told(_whole(facts.values()), tuple(lines), made_by)
        return ""

    def keep(self, pages: Mapping[str, Page], material: Material) -> None:
        """Write it down, without pages that are gone and sentences of memories that are."""
        kept = {}
        for key in self._told.keys() & pages.keys():
            told = self._told[key]
            lines = tuple(line for line in told.lines if all(memory in material.facts for memory, _ in line.cites))
            kept[key] = replace(told, lines=lines)
        self._told = kept
        rows = {
            key: {"shown": told.shown, "made_by": told.made_by, "lines": [[line.text, line.cites] for line in told.lines]}
            for key, told in sorted(kept.items())
        }
        data = json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        if rows or self._file.exists():
            replace_file(self._file, data + b"\n")


def _facts(page: Page, material: Material) -> dict[str, Fact]:
    """What stands on a page, in its order."""
    ids = (each for section in page.sections for each in section.facts)
    return {each: material.facts[each] for each in ids if each in material.facts}


def _parts(facts: list[Fact]) -> Iterator[list[Fact]]:
    for start in range(0, len(facts), AT_ONCE):
        yield facts[start : start + AT_ONCE]


def _sort(fact: Fact) -> str:
    """What a model is told of a statement beside its words."""
    return fact.kind if fact.state in ("current", "disputed") else f"{fact.kind}, no longer holds"


def _fingerprint(fact: Fact) -> str:
    return _hash((fact.kind, fact.text, fact.state))


def _whole(facts: Iterable[Fact]) -> str:
    return _hash([(fact.id, _fingerprint(fact)) for fact in facts])


def _hash(value: object) -> str:
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(data.encode()).hexdigest()[:24]


def _shown(line: Line) -> str:
    """The sentence as Markdown, with a link to each statement below it."""
    cites = ", ".join(f"[[#{mark(memory)}|{mark(memory)[1:7]}]]" for memory, _ in line.cites)
    return f"{escaped(line.text)} ({cites})"


def _read(data: bytes) -> Iterator[tuple[str, Told]]:
    try:
        rows = json.loads(data)
        for key, row in rows.items():
            lines = tuple(Line(str(text), tuple((str(one), str(words)) for one, words in cites)) for text, cites in row["lines"])
            yield str(key), Told(str(row["shown"]), tuple(line for line in lines if line.cites), str(row["made_by"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return
