"""What the ledger holds and what people did to the files -> the wiki as it should be, each changed page written once.

In this order, so that a crash anywhere costs nothing but time: what a crash left is settled; edits of people are found, their
acts made durable, and only then their texts taken for what they last saw; the ledger is read again and every page worked out;
all texts that are about to be written are noted at once; files are replaced, index.md and log.md last; what was noted becomes
what was seen; the version is kept. Whatever is cut short is done again by the next one, and the outcome is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hindbrain.base.errors import NotFound
from hindbrain.wiki import history, settle, sync
from hindbrain.wiki.acts import Act, Conflict, unsettled
from hindbrain.wiki.draft import LISTS, Draft, Drawn, How, drawn
from hindbrain.wiki.folder import Folder, Write
from hindbrain.wiki.known import Made, Row, Taken
from hindbrain.wiki.page import Material, Page
from hindbrain.wiki.state import State
from hindbrain.wiki.sync import Synced

Apply = Callable[[Sequence[Act]], None]
Refresh = Callable[[], Material]


@dataclass(frozen=True, slots=True)
class Options:
    """What to compile and how."""

    all: bool = False  # every page is rendered, whether what it is made from changed or not
    page: str = ""  # one page alone: its id, path or title
    dry_run: bool = False  # say what would be done, and do nothing
    edits_only: bool = False  # take in what people did, and write no page
    how: How = field(default_factory=How)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What was done, or with a dry run what would be."""

    written: tuple[str, ...] = ()  # paths
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    acts: tuple[Act, ...] = ()
    conflicts: tuple[Conflict, ...] = ()  # all that are open
    waiting: Mapping[str, str] = field(default_factory=dict[str, str])  # path -> why it was not touched
    diff: str = ""  # of a dry run
    commit: str = ""  # the version; "" where nothing changed
    trouble: str = ""  # the pages are written, but their version could not be kept: why
    drawn: Drawn | None = field(default=None, repr=False, compare=False)  # makes the next one quicker


def compile(
    folder: Folder, state: State, material: Material, options: Options, apply: Apply, now_ms: int, *,
    refresh: Refresh, before: Drawn | None = None,
) -> Compiled:  # fmt: skip
    """Bring the wiki up to date. `apply` makes acts durable, `refresh` reads the ledger with them in it; `before` saves work.

    Raises CompileRunning when another process is at it.
    """
    work = _Compile(folder, state, material, options, now_ms, before)
    if options.dry_run:
        return work.tried()
    with folder.locked():
        return work.done(apply, refresh)


@dataclass(slots=True)
class _Change:
    """What is to be done with the files."""

    rows: list[Row] = field(default_factory=list[Row])  # as they will be noted
    writes: list[Write] = field(default_factory=list[Write])
    same: dict[str, str] = field(default_factory=dict[str, str])  # page -> inputs, where the text stays
    gone: list[str] = field(default_factory=list[str])  # rows without page and without file
    unchanged: int = 0

    def add(self, page: Page, text: str, inputs: str, was: str | None) -> None:
        self.rows.append(Row(page.id, page.type, page.title, page.path, pending=text, inputs=inputs))
        self.writes.append(Write(page.path, text, was))

    def remove(self, row: Row) -> None:
        self.rows.append(replace(row, pending=None, removing=True))
        self.writes.append(Write(row.path, None, row.base))

    @property
    def written(self) -> list[str]:
        return [each.path for each in self.writes if each.text is not None]

    @property
    def removed(self) -> list[str]:
        return [each.path for each in self.writes if each.text is None]


class _Compile:
    """One compile, step by step."""

    def __init__(self, folder: Folder, state: State, material: Material, options: Options, now_ms: int,
                 before: Drawn | None) -> None:  # fmt: skip
        self.folder, self.state, self.options, self.now_ms = folder, state, options, now_ms
        self.drawn = drawn(material, options.how, before)
        self.synced = Synced()
        self.rows: dict[str, Row] = {}

    def done(self, apply: Apply, refresh: Refresh) -> Compiled:
        settle.settled(self.folder, self.state)
        self._adopt()
        draft = self._sync()
        if self.synced.acts:
            apply(self.synced.acts)
        changed = self._take()
        if self.synced.acts:
            self.drawn = drawn(refresh(), self.options.how, self.drawn)
        if self.options.edits_only:
            return self._told(_Change(), (), "", "")
        if changed or self.synced.foreign:
            draft = self._draft()
        change = self._changes(draft)
        return self._write(draft, change)

    def tried(self) -> Compiled:
        """What would be done: nothing is written, no act applied. A page that a person edited is not compared."""
        draft = self._sync()
        if self.synced.foreign:
            draft = self._draft()
        change = self._changes(draft, skipped={*self.synced.found, *self.synced.renamed, *self.synced.removed})
        if change.writes:
            self._lists(draft, change, None)
        parts = [history.compared(each.path, each.was, each.text) for each in change.writes]
        return replace(self._told(change, (), "", ""), diff="".join(parts))

    def _load(self) -> None:
        self.rows = {row.id: row for row in self.state.pages()}

    def pages(self) -> Iterable[Row]:
        """What is known of each page, as it is looked at for what people did."""
        return self.rows.values()

    def _draft(self) -> Draft:
        log = [made for made in self.state.compiles() if made.finished]
        return Draft(self.drawn, [*self.rows.values()], self.options.how.zone, self.synced.foreign, log)

    def _adopt(self) -> None:
        """Of a wiki without a state, but with pages: they are known again by their ids."""
        if self.state.is_new() and any(self.folder.files()):
            last = history.Git(self.folder).last if self.folder.git is not None else lambda path: None
            settle.adopted(self.folder, self.state, self._draft(), last, self.now_ms)

    def _sync(self) -> Draft:
        """Look at every file. The pages as they were planned without knowing what people did."""
        self._load()
        draft = self._draft()
        self.synced = sync.changes(self.folder, self, draft.planned, project=draft.project, now=lambda: self.now_ms / 1000)
        return draft

    def _take(self) -> bool:
        """What people did is known from here on; whether they did anything."""
        found = self.synced
        taken = Taken(found.found, found.landed, found.human, found.renamed, found.removed, found.returned, found.conflicts)
        if not taken.pages() and not found.conflicts:
            return False
        self.state.take(taken, self.now_ms)
        self._load()
        shown = {block for row in self.rows.values() for block in unsettled(row.human.notes)}
        over = [(each.page, each.memory) for each in self.state.conflicts() if each.block not in shown]
        if over:  # a person deleted what told of them
            self.state.settle_conflicts(over)
        return True

    def _changes(self, draft: Draft, skipped: set[str] | None = None) -> _Change:
        """The pages whose text changes, and those that go."""
        change = _Change()
        alone = self._alone(draft) if self.options.page else None
        untouched = {*self.synced.waiting, *(skipped or ())}
        for page in draft.pages.values():
            if page.id in untouched or (alone is not None and page.id != alone):
                change.unchanged += 1
            else:
                self._compare(draft, page, change)
        for row in self.rows.values():
            kept = row.id in draft.pages or row.id in LISTS or row.id in untouched or row.left_out
            if alone is not None or kept:
                continue
            if row.base is not None:
                change.remove(row)
            else:
                change.gone.append(row.id)
        return change

    def _compare(self, draft: Draft, page: Page, change: _Change) -> None:
        row = self.rows.get(page.id)
        was = row.base if row is not None else None
        inputs = draft.inputs(page)
        if row is not None and was is not None and row.inputs == inputs and not self.options.all:
            change.unchanged += 1
            return
        text = draft.text(page)
        if was == text:
            change.unchanged += 1
            change.same[page.id] = inputs
        else:
            change.add(page, text, inputs, was)

    def _alone(self, draft: Draft) -> str:
        """The one page that was asked for."""
        asked = self.options.page
        for page in draft.pages.values():
            if asked in (page.id, page.path, page.path.removesuffix(".md")) or asked.casefold() == page.title.casefold():
                return page.id
        raise NotFound(f"no page {asked!r}", hint="name it by its path or title; `hindbrain wiki search` finds pages")

    def _lists(self, draft: Draft, change: _Change, made: Made | None) -> None:
        """index.md and log.md, of the pages that will be there."""
        coming = {row.id for row in change.rows if not row.removing}
        there = coming | {row.id for row in self.rows.values() if row.base is not None and row.id in draft.pages}
        for page in draft.lists(there, made):
            row = self.rows.get(page.id)
            was = row.base if row is not None else None
            text = draft.text(page)
            if page.id not in self.synced.waiting and text != was:
                change.add(page, text, "", was)

    def _write(self, draft: Draft, change: _Change) -> Compiled:
        cut = next((made for made in self.state.compiles(1) if not made.finished), None)
        if change.same or change.gone:
            self.state.note(change.same, change.gone)
        left: list[str] = []
        touched = self.state.touched()
        if change.writes or touched or cut is not None or self._stale_lists(draft):
            made = self._made(change, touched, cut)
            self._lists(draft, change, made)
            made = replace(made, paths=tuple(dict.fromkeys((*made.paths, *change.written))))
            self.state.begin(change.rows, made)
            left = self.folder.put(change.writes)
            self.state.finish(made, left, self._kept(change, left, made) if self.folder.git is None else None)
        commit, trouble = self._record()
        return self._told(change, left, commit, trouble)

    def _stale_lists(self, draft: Draft) -> bool:
        """Whether index.md or log.md is missing, or another page's title or path changed what they say."""
        there = {row.id for row in self.rows.values() if row.base is not None}
        for page in draft.lists(there, None):
            row = self.rows.get(page.id)
            if page.id not in self.synced.waiting and (row is None or row.base != draft.text(page)):
                return True
        return False

    def _made(self, change: _Change, touched: Mapping[str, str], cut: Made | None) -> Made:
        """The entry for the log: also for what a compile did that was cut short."""
        ids = [*(row.id for row in change.rows if not row.removing), *touched.values(), *(cut.pages if cut is not None else ())]
        paths = [*change.written, *change.removed, *touched, *(cut.paths if cut is not None else ())]
        said = [_counted(len(change.written), "page", "written"), _counted(len(change.removed), "page", "removed"),
                _counted(len(self.synced.acts), "edit", "taken in")]  # fmt: skip
        number = max((made.number for made in self.state.compiles(1)), default=0) + 1
        text = ", ".join(filter(None, said)) or "nothing but the lists"
        return Made(number, self.now_ms, "compile", text, tuple(dict.fromkeys(ids)), tuple(dict.fromkeys(paths)))

    def _kept(self, change: _Change, left: Sequence[str], made: Made) -> dict[str, str | None]:
        """The version: every file that changed, as it is now."""
        bases = {row.path: row.base for row in self.rows.values()}
        now = dict.fromkeys(made.paths) | {path: base for path, base in bases.items() if path in made.paths}
        return now | {each.path: each.text for each in change.writes if each.path not in left}

    def _record(self) -> tuple[str, str]:
        """The version's id, and why there is none: the pages are written either way, and the next compile tries again."""
        newest = self.state.compiles(1)
        fresh = [made for made in newest if made.at == self.now_ms]
        try:
            return history.record(self.folder, self.state, fresh), ""
        except history.HistoryFailed as error:
            return "", error.message

    def _told(self, change: _Change, left: Sequence[str], commit: str, trouble: str) -> Compiled:
        paths = {page: row.path for page, row in self.rows.items()}
        waiting = {paths.get(page, page): why for page, why in self.synced.waiting.items()}
        waiting |= dict.fromkeys(left, "it was changed while the wiki was compiled")
        return Compiled(
            tuple(path for path in change.written if path not in left),
            tuple(path for path in change.removed if path not in left), change.unchanged, self.synced.acts,
            tuple(self.state.conflicts()), waiting, "", commit, trouble, self.drawn,
        )  # fmt: skip


def _counted(number: int, thing: str, done: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'} {done}" if number else ""
