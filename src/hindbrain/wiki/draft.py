"""What the ledger holds and what is known of the files -> every page with its path, its text and the hash of what makes it.

Planning and the days are taken over from last time where nothing changed. A page keeps the path it has: links from elsewhere
hold, and what a person renamed stays renamed. A text is rendered when it is asked for, that is where the hash changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, tzinfo
from operator import attrgetter
from typing import Final, NamedTuple

from hindbrain.wiki import daily, index, names, topics
from hindbrain.wiki.known import Made, Row
from hindbrain.wiki.page import Material, Page, Sitting
from hindbrain.wiki.render import NOBODY, Human, rendered

RENDER: Final = 1  # goes up when the same page and the same facts make another text; then every page is rendered anew
LISTS: Final = ("index", "log")  # made from all other pages, and written last
MOST_LINKS: Final = 12  # of one entry of the log

Arrange = Callable[[Mapping[str, Page], Material], Mapping[str, Page]]

_FACT: Final = attrgetter(
    "id", "level", "kind", "text", "confidence", "trust", "scope", "project", "valid_from", "valid_to", "successor", "pinned",
    "why", "instead_of", "disputes",
)  # fmt: skip
_SOURCE: Final = attrgetter("turn", "session", "agent", "at", "role")
_PAGE: Final = attrgetter(
    "id", "type", "path", "title", "aliases", "tags", "related", "created", "updated", "confidence", "projects", "body",
)  # fmt: skip


def _as_planned(pages: Mapping[str, Page], material: Material) -> Mapping[str, Page]:
    return pages


@dataclass(frozen=True, slots=True)
class How:
    """How pages are made."""

    zone: tzinfo = UTC
    like: topics.Like | None = None
    arrange: Arrange = _as_planned  # adds pages or prose to what is planned; pure


@dataclass(frozen=True, slots=True)
class Part:
    """A session's part of its day."""

    session: str
    made_from: object  # all that is shown of it
    text: str


class Inputs(NamedTuple):
    """What a page's text was made from. While the first four are the same, so is the rest."""

    page: Page
    itself: str  # the print of the page and its facts
    human: Human
    shown: int  # which `Shown` it was
    made_from: object
    hashed: str


@dataclass(slots=True)
class Shown:
    """Paths and titles as links show them, of the draft before this one; with a number that changes when they do."""

    places: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    number: int = 0

    def now(self, places: dict[str, tuple[str, str]]) -> int:
        if places != self.places:
            self.places, self.number = places, self.number + 1
        return self.number


@dataclass(frozen=True, slots=True)
class Drawn:
    """The pages that the ledger makes, before anybody looks at files. The next one is quicker with this one at hand."""

    material: Material
    pages: Mapping[str, Page]
    plan: topics.Plan = field(repr=False)
    days: Mapping[str, tuple[Sequence[Part], Page]] = field(repr=False)  # day -> its sessions, page
    prints: Mapping[str, str] = field(repr=False)  # fact -> hash of all that is shown of it
    page_prints: Mapping[str, str] = field(repr=False)  # page -> hash of itself and its facts
    lines: dict[str, tuple[object, str]] = field(repr=False)  # page -> what its line in the index is made from, the line
    inputs: dict[str, Inputs] = field(repr=False)  # page -> what its text was made from
    shown: Shown = field(repr=False)


def drawn(material: Material, how: How, before: Drawn | None = None) -> Drawn:
    """Plan everything; `before` only saves work."""
    plan = topics.planned(material, how.like, before.plan if before is not None else None)
    prints = _prints(material, before)
    days = _days(material, prints, how.zone, before.days if before is not None else {})
    pages: dict[str, Page] = {**plan.pages, **{page.id: page for _, page in days.values()}}
    soul = index.soul(material)
    if soul is not None:
        pages["soul"] = soul
    arranged = how.arrange(pages, material)
    lines, inputs, shown = ({}, {}, Shown()) if before is None else (before.lines, before.inputs, before.shown)
    return Drawn(material, arranged, plan, days, prints, _page_prints(arranged, prints, before), lines, inputs, shown)


def _page_prints(pages: Mapping[str, Page], prints: Mapping[str, str], before: Drawn | None) -> dict[str, str]:
    """Those of last time for what is the very same page with the very same facts."""
    old = before.prints if before is not None else {}
    changed = {fact for fact, value in prints.items() if old.get(fact) != value} | (old.keys() - prints.keys())
    found: dict[str, str] = {}
    for page_id, page in pages.items():
        same = before is not None and before.pages.get(page_id) is page
        if same and before is not None and all(changed.isdisjoint(section.facts) for section in page.sections):
            found[page_id] = before.page_prints[page_id]
        else:
            found[page_id] = _page_print(page, prints)
    return found


def _page_print(page: Page, prints: Mapping[str, str]) -> str:
    sections = [(each.name, each.prose, [(fact, prints.get(fact)) for fact in each.facts]) for each in page.sections]
    return _hashed((_PAGE(page), sections))


def _prints(material: Material, before: Drawn | None) -> dict[str, str]:
    """The hash of each fact; that of last time where nothing of it changed."""
    if before is None or before.material.projects != material.projects:
        return {fact_id: _print(fact_id, material) for fact_id in material.facts}
    old, now = before.material.sittings, material.sittings
    moved = {each for each in old.keys() | now.keys() if (one := old.get(each)) is not (other := now.get(each))
             and (one is None or other is None or one.began != other.began)}  # fmt: skip
    was, known = before.material.facts, before.prints
    found: dict[str, str] = {}
    for fact_id, fact in material.facts.items():
        old_fact = was.get(fact_id)
        same = old_fact is fact or old_fact == fact
        kept = same and (not moved or moved.isdisjoint(each.session for each in fact.sources))
        found[fact_id] = known[fact_id] if kept else _print(fact_id, material)
    return found


def _print(fact_id: str, material: Material) -> str:
    fact = material.facts[fact_id]
    said = [(_SOURCE(each), material.sittings[each.session].began if each.session in material.sittings else None)
            for each in fact.sources]  # fmt: skip
    return _hashed((_FACT(fact), said, material.projects.get(fact.project or "")))


def _days(
    material: Material, prints: Mapping[str, str], zone: tzinfo, before: Mapping[str, tuple[Sequence[Part], Page]]
) -> dict[str, tuple[Sequence[Part], Page]]:
    """The page of each day; of last time what is made from the same, a session's part or the whole."""
    known = {part.session: part for parts, _ in before.values() for part in parts}
    found: dict[str, tuple[Sequence[Part], Page]] = {}
    for date, sittings in daily.by_day(material, zone).items():
        parts = [_part(sitting, material, prints, zone, known.get(sitting.id)) for sitting in sittings]
        was = before.get(date)
        if was is None or was[0] != parts:
            was = (parts, daily.page(date, sittings, [part.text for part in parts]))
        found[date] = was
    return found


def _part(sitting: Sitting, material: Material, prints: Mapping[str, str], zone: tzinfo, was: Part | None) -> Part:
    place = material.projects.get(sitting.project or "")
    made_from = (str(zone), sitting, place, [*map(prints.get, sitting.facts)])
    if was is not None and was.made_from == made_from:
        return was
    return Part(sitting.id, made_from, daily.told(sitting, material, zone))


class Draft:
    """The pages as files: where each goes and what it says."""

    def __init__(
        self, made: Drawn, rows: Sequence[Row], zone: tzinfo, foreign: Collection[str] = (), log: Sequence[Made] = ()
    ) -> None:
        self.drawn, self.zone, self.foreign, self._log = made, zone, foreign, log
        self.rows = {row.id: row for row in rows}
        self.homeless: list[str] = []  # paths that another's file holds and that no other name can stand for
        self.pages = self._placed()
        self._linked = {page.id: self._titled(page) for page in self.pages.values()}
        self._shown = {page_id: (page.path, page.title) for page_id, page in self._linked.items()}
        self._zone = str(zone)
        self._number = made.shown.now({"": (self._zone, ""), **self._shown})

    def human(self, page_id: str) -> Human:
        row = self.rows.get(page_id)
        return row.human if row is not None else NOBODY

    def project(self, page_id: str) -> str | None:
        """The one project a page is about; None for several or none."""
        page = self.pages.get(page_id)
        return page.projects[0] if page is not None and len(page.projects) == 1 else None

    def planned(self, page_id: str) -> str | None:
        """The text of a page that the ledger makes; None where it makes none."""
        known = page_id in self.drawn.pages and page_id in self.pages
        return self.text(self.pages[page_id]) if known else None

    def text(self, page: Page) -> str:
        return rendered(page, self.drawn.material, self._linked, self.human(page.id), zone=self.zone)

    def inputs(self, page: Page) -> str:
        """The hash of everything `text` looks at."""
        human = self.human(page.id)
        itself = self.drawn.page_prints.get(page.id) or _page_print(page, {})
        was = self.drawn.inputs.get(page.id)
        if was is not None and was.page is page and was.itself == itself and was.human is human and was.shown == self._number:
            return was.hashed
        near = [*filter(None, map(self._shown.get, page.related))]
        settled = None if human is NOBODY else sorted(asdict(human).items())
        made_from = (RENDER, self._zone, itself, page.path, near, settled)
        hashed = was.hashed if was is not None and was.made_from == made_from else _hashed(made_from)
        self.drawn.inputs[page.id] = Inputs(page, itself, human, self._number, made_from, hashed)
        return hashed

    def lists(self, there: Collection[str], made: Made | None) -> list[Page]:
        """index.md of the pages that are there, and log.md, with what is being done now."""
        pages = {page_id: page for page_id, page in self._linked.items() if page_id in there}
        every = [each for each in self._log if made is None or each.number != made.number]
        entries = [self._entry(each, pages) for each in ([made] if made is not None else []) + every]
        found = (index.index(pages, self.drawn.material, self._line), index.log(entries, self.zone))
        return [replace(page, path=path) for page in found if (path := self._path(page, self._taken)) is not None]

    def _line(self, page: Page) -> str:
        """In the index; worked out anew for what is not the same as last time."""
        made_from = (self.drawn.page_prints.get(page.id), page.path, page.title)
        was = self.drawn.lines.get(page.id)
        if was is None or was[0] != made_from or made_from[0] is None:
            was = self.drawn.lines[page.id] = (made_from, index.line(page, self.drawn.material))
        return was[1]

    def _entry(self, made: Made, pages: Mapping[str, Page]) -> index.Entry:
        """With links to those pages that are still there."""
        paths = [pages[each].path for each in made.pages if each in pages]
        return index.Entry(made.at, made.op, made.text, tuple(paths[:MOST_LINKS]))

    def _placed(self) -> dict[str, Page]:
        """Pages at their paths: first those that have one, then the new ones at what is free."""
        wanted = [*self.drawn.pages.values(), *filter(None, map(self._remnant, self.rows.values()))]
        wanted = [page for page in wanted if page.id not in self.rows or not self.rows[page.id].left_out]
        has = {page.id: self.rows[page.id].path for page in wanted if self._settled(page.id)}
        self._taken = {*self.foreign, *map(names.folded, has.values())}
        found: dict[str, Page] = {}
        for page in wanted:
            path = has.get(page.id) or self._path(page, self._taken)
            if path is None:
                self.homeless.append(page.path)
                continue
            self._taken.add(names.folded(path))
            found[page.id] = page if page.path == path else replace(page, path=path)
        return found

    def _settled(self, page_id: str) -> bool:
        """Whether it has its path for good: a file of it is there, or nobody else's is."""
        row = self.rows.get(page_id)
        return row is not None and not row.left_out and (row.base is not None or names.folded(row.path) not in self.foreign)

    def _path(self, page: Page, taken: Collection[str]) -> str | None:
        row = self.rows.get(page.id)
        if row is not None and row.base is not None:
            return row.path
        if names.folded(page.path) not in taken:
            return page.path
        folder, _, name = page.path.rpartition("/")
        return names.free(folder, name.removesuffix(".md"), page.id, taken) if folder else None

    def _remnant(self, row: Row) -> Page | None:
        """A page that nothing speaks of any more, but on which a person wrote: their words stay."""
        own = row.human.notes or row.human.related or row.human.extra
        gone = row.id not in self.drawn.pages and row.id not in LISTS and row.base is not None
        return Page(row.id, row.type, row.path, row.title) if gone and own else None

    def _titled(self, page: Page) -> Page:
        """As links show it: under the title a person gave."""
        title = self.human(page.id).title
        return replace(page, title=title) if title and title != page.title else page


def _hashed(values: object) -> str:
    return hashlib.sha256(repr(values).encode("utf-8", "surrogatepass")).hexdigest()
