"""A configuration -> one wiki, ready to be compiled, looked at and put right: the stages put together.

The wiki in the home tells of everything; one made into a folder of a repository tells of that project alone, and of nothing that
holds everywhere, because others read along. What the pages are made of is read from the ledger that is asked (the shared one
where there is one), and never from another that knows less: pages would vanish for as long as the network is away.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config
from hindbrain.base.errors import NotFound, UsageError
from hindbrain.base.home import Home
from hindbrain.ledger.evidence import Evidence
from hindbrain.reason.likeness import Likeness
from hindbrain.serve import wiki_files, wiki_forgetting, wiki_questions, wiki_state
from hindbrain.serve.engines import shared_of
from hindbrain.serve.memory import Memory, NotSettled
from hindbrain.serve.scoping import known_folder, of_folder
from hindbrain.serve.status import opened
from hindbrain.serve.wiki_acts import WikiActs
from hindbrain.serve.work import opener
from hindbrain.wiki import history, lint, questions, source
from hindbrain.wiki.compile import Compiled, Options
from hindbrain.wiki.compile import compile as compiled
from hindbrain.wiki.draft import Drawn, How
from hindbrain.wiki.folder import Folder, Write
from hindbrain.wiki.known import Row
from hindbrain.wiki.page import Material, Page
from hindbrain.wiki.prose import Prose
from hindbrain.wiki.state import State

if TYPE_CHECKING:
    from hindbrain.serve.answering import Answer
    from hindbrain.wiki.questions import Asked

SETTLE_SECONDS: Final = 60.0
PROSE: Final = "prose.json"  # in the wiki's own folder


@dataclass
class Wiki:
    """One wiki of a home. Made with Wiki.of."""

    config: Config
    folder: Folder
    zone: tzinfo
    warning: str = ""  # about the time zone
    into: str = ""  # the folder a project's wiki lies in; "" for the one in the home
    clock: Clock = field(default_factory=SystemClock)
    like: Likeness = field(default_factory=Likeness)
    before: Drawn | None = None  # of the last compile of this process: the next one is quicker

    @classmethod
    def of(cls, config: Config, into: str | None = None, clock: Clock | None = None) -> Wiki:
        zone, warning = zone_of(config.timezone)
        if into is None:
            folder = Folder(Home(config.home).wiki, _git())
        else:
            if not into.strip():
                raise UsageError("--into names no folder", hint="name a folder of your repository, such as docs/wiki")
            folder = Folder(Path(os.path.abspath(os.path.expanduser(into))), None, shared=True)
        return cls(config, folder, zone, warning, "" if into is None else str(folder.root), clock or SystemClock())

    # Compile

    def compile(self, options: Options = Options(), *, settle: bool = False) -> tuple[Compiled, str]:  # noqa: B008  # frozen
        """Take in what people changed and bring the pages up to date; and why something that was said is not in them yet.

        `settle`: what was recorded is read and compared first, as far as that can be done in a minute.
        """
        done = self._compile(options, settle=settle)
        if wiki_forgetting.is_wanted(self.folder) and not options.dry_run:
            self._forget()
        return done

    def _forget(self) -> None:
        """What was forgotten is in no page any more; now it goes from everything that is older."""
        done, _ = self._compile(Options())
        with State.open(self.folder) as state:
            wiki_forgetting.begin_anew(self.folder, state)
        if done.drawn is not None:
            Prose.of(self.folder.own / PROSE).keep(done.drawn.pages, done.drawn.material)
        self._compile(Options())
        wiki_forgetting.done(self.folder)

    def _compile(self, options: Options, *, settle: bool = False) -> tuple[Compiled, str]:
        with Memory(self.config.home, self.clock, shared=shared_of(self.config, self.clock), config=self.config) as memory:
            late = _settled(memory) if settle else ""
            acts = WikiActs(memory, self.clock)
            with opener(self.config, self.clock)() as ledger, State.open(self.folder, look=options.dry_run) as state:
                reading = _Reading(self, ledger)

                def refresh() -> Material:
                    acts.drained()
                    return reading.material()

                whole = replace(options, how=reading.how(dry_run=options.dry_run))
                done = compiled(
                    self.folder, state, reading.material(), whole, acts.apply, self.clock.now_ms(), refresh=refresh,
                    before=self.before,
                )  # fmt: skip
        if not (options.dry_run or options.edits_only or options.page):
            wiki_state.note(self.folder.own, reading.token)
        self.before = done.drawn
        return done, late

    def rows(self) -> list[Row]:
        """What is known of the pages."""
        self.require()
        with State.open(self.folder, look=True) as state:
            return state.pages()

    # History

    def log(self, most: int) -> list[history.Version]:
        """Versions, the newest first."""
        self.require()
        with State.open(self.folder, look=True) as state:
            return history.of(self.folder, state).log(most)

    def diff(self, version: str, page: str) -> str:
        """What a version changed; the newest one unless it is named."""
        self.require()
        path = wiki_files.page_named(wiki_files.texts(self.folder), page) if page else ""
        with State.open(self.folder, look=True) as state:
            return history.diff(history.of(self.folder, state), version, path)

    def undo(self, version: str) -> tuple[history.Undone, Compiled]:
        """Pages as they were before a version, and what came of that in memory."""
        self.require()
        with State.open(self.folder) as state:
            told = history.of(self.folder, state)
            newest = told.log(1)
            if not version and newest and not told.before(newest[0].id):
                raise UsageError("there is nothing before the first version", hint="remove the folder to be rid of the wiki")
            undone = history.undo(self.folder, state, version)
        return undone, self.compile()[0]

    def restore(self, page: str) -> str:
        """Bring back a page that a person deleted; its path."""
        self.require()
        with self.folder.locked(), State.open(self.folder) as state:
            row = state.restore(page)
        self.compile()
        return next((each.path for each in self.rows() if each.id == row.id), row.path)

    # Answers

    def file_back(self, answer: Answer, project: str | None) -> str:
        """File an answer as a page; its path."""
        with opener(self.config, self.clock)() as ledger, ledger.reading() as database:
            asked = wiki_questions.asked_of(database, answer, project, self.clock.now_ms())
        self.folder.prepare()
        questions.keep(self.folder.own / questions.FOLDER, asked)
        self.compile()
        return next((each.path for each in self.rows() if each.id == asked.id), "")

    # Lint

    def findings(self) -> tuple[lint.Finding, ...]:
        """What is wrong with the pages as they stand in the folder."""
        texts = wiki_files.texts(self.folder)
        with opener(self.config, self.clock)() as ledger:
            material = _Reading(self, ledger).material()
        known = {row.path: lint.fingerprint(row.base) for row in self.rows() if row.base is not None}
        return lint.findings(texts, lint.Knowledge.of(material, known))

    def fixed(self) -> list[str]:
        """Put right what needs no decision; the paths that were changed. A file that is changed meanwhile is left alone."""
        with self.folder.locked():
            texts = wiki_files.texts(self.folder)
            new = {path: text for path, text in lint.fixed(texts).items() if texts.get(path) != text}
            left = self.folder.put([Write(path, text, texts.get(path)) for path, text in sorted(new.items())])
        return [path for path in sorted(new) if path not in left]

    def is_kept(self) -> bool:
        """Whether the worker keeps this wiki up to date."""
        return not self.into and wiki_state.is_kept(self.config)

    def require(self) -> None:
        """Raises NotFound where there is no wiki yet."""
        if not self.folder.there:
            raise NotFound(f"there is no wiki in {self.folder.root}", hint="make one with `hindbrain wiki compile`")


class _Reading:
    """What pages are made of, from one ledger, as far as this wiki tells of it."""

    def __init__(self, wiki: Wiki, ledger: Evidence) -> None:
        self._wiki = wiki
        self._ledger = ledger
        self._project = _project(wiki, ledger) if wiki.into else None
        self.token = ""

    def material(self) -> Material:
        with self._ledger.reading() as database:
            self.token = source.changed_token(database)
            found = source.material(database)
        return found if self._project is None else narrowed(found, self._project)

    def how(self, *, dry_run: bool) -> How:
        """How pages are made: with the answers that were filed, and the sentences a model gave."""
        own = self._wiki.folder.own
        asked = self._answers(own / questions.FOLDER, dry_run=dry_run)
        prose = Prose.of(own / PROSE)

        def arrange(pages: Mapping[str, Page], material: Material) -> Mapping[str, Page]:
            return prose.on(questions.on(pages, asked, material, self._wiki.zone), material)

        return How(self._wiki.zone, self._wiki.like, arrange)

    def _answers(self, folder: Path, *, dry_run: bool) -> list[Asked]:
        """Those that stand; what is forgotten takes its answers along."""
        kept = questions.kept(folder)
        with self._ledger.reading() as database:
            found = wiki_questions.stands(database, kept)
        if not dry_run:
            questions.drop(folder, [asked for asked in kept if asked not in found])
        return found


def narrowed(material: Material, project: str) -> Material:
    """What is said of one project, and nothing that holds everywhere."""
    facts = {key: fact for key, fact in material.facts.items() if fact.project == project and fact.scope == "project"}
    sittings = {
        key: replace(each, facts=tuple(one for one in each.facts if one in facts))
        for key, each in material.sittings.items() if each.project == project
    }  # fmt: skip
    return Material(facts, sittings, {key: name for key, name in material.projects.items() if key == project}, "")


def zone_of(name: str) -> tuple[tzinfo, str]:
    """The time zone of that name; UTC and a warning where there is none."""
    if name == "UTC":
        return UTC, ""
    try:
        return ZoneInfo(name), ""
    except (KeyError, OSError, ValueError):  # not found, a folder, not a name
        return UTC, f"the time zone {name!r} is not known here; days and hours are told in UTC"


def _git() -> Path | None:
    found = shutil.which("git")
    return None if found is None else Path(found)


def _settled(memory: Memory) -> str:
    try:
        memory.settle(SETTLE_SECONDS)
    except NotSettled as error:
        return error.message
    return ""


def _project(wiki: Wiki, ledger: Evidence) -> str:
    """The project of the repository that a folder lies in. Raises NotFound where nothing is stored of it."""
    place = wiki.folder.root
    while not place.is_dir():
        place = place.parent
    own = opened(Home(wiki.config.home), wiki.clock)
    if own is not None:
        with own:
            found = next(filter(None, (known_folder(own, str(each)) for each in (place, *place.parents))), None)
    else:
        found = None
    found = of_folder(ledger, str(place)) or found
    if found is None:
        raise NotFound(f"nothing is stored of the project {place} belongs to", hint="see `hindbrain sessions --all-projects`")
    return found
