"""Hindbrain as a library: record what was said, ask for it later.

    with Memory.open(home=path) as memory:
        memory.record(agent="claude-code", session="s1", role="user", text="use Postgres", project="shop")
        memory.settle()
        memory.search("which database", project="shop")

A record is durable when the call returns: one line in the journal, one sync. It can be found after settle(), or as soon
as a worker has taken it in. Any number of processes and threads may use the same home at once; reading never waits for
writing.

With `database="postgresql://..."` a record is kept in the home all the same, and is handed on to the ledger that several
machines share. Questions go to that one; while it does not answer, to the home's own (`answered_by` says which it was).
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self, TypeVar

from hindbrain.base.clock import Clock, SystemClock
from hindbrain.base.config import Config, load
from hindbrain.base.errors import ConfigError, EmbedderFailed, HindbrainError, LedgerBusy, LedgerError, NotFound, UsageError
from hindbrain.base.files import Lock, ensure_private_dir
from hindbrain.base.home import Home
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import ROLES, Event, Json, Role, bounded, storable, text_key
from hindbrain.capture.hook import wake
from hindbrain.capture.record import Recorder
from hindbrain.ledger import attribution, lineage, memories
from hindbrain.ledger import known as knowing
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.ingest import segment_source
from hindbrain.ledger.known import Known
from hindbrain.ledger.lineage import Lineage
from hindbrain.ledger.project import Place, place_event, resolve
from hindbrain.ledger.store import Ledger
from hindbrain.recall import context, rank
from hindbrain.serve import reviewing, shared_state
from hindbrain.serve.drain import Drain, Drained
from hindbrain.serve.engines import Shared, shared_of
from hindbrain.serve.library import Library
from hindbrain.serve.recalling import Recalling
from hindbrain.serve.sharer import share_now
from hindbrain.serve.status import lag, opened
from hindbrain.serve.work import run_due

if TYPE_CHECKING:
    from hindbrain.recall.embedder import Embedder
    from hindbrain.serve import answering
    from hindbrain.serve.values import Turn

_NAMED: Final = "project:"  # the folder of a project that has a name and no folder
_TOOL_CHARS: Final = 200
_AGENT: Final = "hindbrain"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST: Final = datetime.min.replace(tzinfo=UTC)
_LAST: Final = datetime.max.replace(tzinfo=UTC)
# A shared ledger that did not answer is left alone for this long.
_PAUSE_SECONDS: Final = 5.0
_MAX_CONTEXT: Final = 1 << 20  # letters; the limit of an agent is not one of a program
_AGAIN_SECONDS: Final = 0.25

Answer = TypeVar("Answer")


class NotSettled(HindbrainError):
    """What was recorded has not been taken in yet"""

    exit_code = 5
    default_hint = "wait longer, or look at `hindbrain status`; nothing is lost"


@dataclass(frozen=True, slots=True)
class Hit:
    """Something found: a turn or a memory, with where it comes from and how well it fits."""

    id: str
    text: str
    score: float
    session: str
    keys: tuple[str, ...]
    at: datetime
    kind: str  # "turn", or the kind of memory
    role: str
    agent: str  # of a memory: the one that keeps it under its own name, if one does
    project: str | None
    parts: dict[str, float]
    valid_to: datetime | None = None  # when a memory ceased to hold; None while it does
    superseded: bool = False  # it no longer holds, or what was concluded from it does not
    note: str = ""  # in plain words: what it replaces, or what replaced it, how often it was said


@dataclass(frozen=True, slots=True)
class Block:
    """Text to hand to an agent, and what is in it."""

    text: str
    hits: list[Hit]


@dataclass(frozen=True, slots=True)
class _Known:
    """A memory that is to be changed; its project as it can be named again."""

    project: str | None
    kind: str
    scope: str
    pinned: bool


class Memory(Library):
    """One home. Made with Memory.open; use it as a context manager."""

    def __init__(
        self, home: Path, clock: Clock | None = None, *, shared: Shared | None = None, config: Config | None = None
    ) -> None:
        self._home = Home(ensure_private_dir(home))
        self._clock = clock or SystemClock()
        self._recorder = Recorder(home)
        self._placed: set[str] = set()
        self._local = threading.local()
        self._readers: list[Ledger] = []
        self._left: list[Ledger] = []  # of other threads, which may be asking them just now; nobody begins to any more
        self._guard = threading.Lock()
        self._last_at = 0
        self._shared = shared
        self._shared_ledger: Evidence | None = None
        self._asked_again_at = 0.0  # not before this the shared ledger is tried again
        self.answered_by = ""  # "shared" or "local": which ledger the last answer came from
        self._config = config
        self._known_recalling: Recalling | None = None
        self._adopted: set[str] = set()  # models this home's ledger was told to use

    @classmethod
    def open(cls, home: str | os.PathLike[str] | None = None, database: str | None = None) -> Self:
        """The memory in a data directory, made if it is not there; by default the user's own."""
        flags = {} if database is None else {"database": database}
        config = load(None if home is None else os.fspath(home), flags)
        return cls(config.home, shared=shared_of(config, SystemClock()), config=config)

    def close(self) -> None:
        """Give all files back."""
        self._recorder.close()
        with self._guard:
            for ledger in (*self._readers, *self._left):
                ledger.close()
            self._readers.clear()
            self._left.clear()
        self._drop_shared()

    @property
    def is_shared(self) -> bool:
        """Whether several machines share the ledger that is asked."""
        return self._shared is not None

    @property
    def trouble(self) -> str:
        """Why search goes by words alone for now; "" when it does not, or nothing was searched yet."""
        return "" if self._known_recalling is None else self._known_recalling.trouble

    @property
    def _recalling(self) -> Recalling:
        """The search of this process; what it needs is loaded with the first question."""
        with self._guard:
            if self._known_recalling is None:
                config = self._config or load(os.fspath(self._home.root))
                self._known_recalling = Recalling(config, self._clock)
            return self._known_recalling

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def record(
        self, *, agent: str, session: str, role: str, text: str, at: datetime | None = None, project: str | None = None,
        key: str | None = None, tool: str = "",
    ) -> str:  # fmt: skip
        """Keep one turn and return its id once it is on the disk.

        `key` is the caller's own id for the turn within its session: the same key again is the same turn. `role` is user,
        assistant, tool_call or tool_result; of the last two `tool` is the name of the tool, and what is called "bash" or "shell"
        has run its text as a command. A time without a zone is taken as UTC.
        """
        event = self._turn(agent, session, role, text, at, project, key, tool)
        self._write([event], project)
        return event.id

    def record_many(self, turns: Iterable[Turn]) -> list[str]:
        """Keep many turns with one write and one sync, and return their ids in order once all are on the disk.

        One that is none raises UsageError, and nothing is kept. More than a quarter of a megabyte is several writes: when the
        machine stops between them, the first are kept.
        """
        wanted = list(turns)
        events = [
            replace(
                self._turn(each.agent, each.session, each.role, each.text, each.at, each.project, each.key, each.tool),
                detail=dict(each.detail),
            )
            for each in wanted
        ]  # fmt: skip
        named = dict.fromkeys(each.project for each in wanted if each.project is not None)
        new = [project for project in named if project not in self._placed]
        self._recorder.record([*map(_place_event, new), *events], self._clock.now_ms())
        self._placed.update(new)
        return [event.id for event in events]

    def _turn(
        self, agent: str, session: str, role: str, text: str, at: datetime | None, project: str | None, key: str | None,
        tool: str = "",
    ) -> Event:  # fmt: skip
        if not isinstance(role, str) or role not in ROLES:  # type: ignore[redundant-expr]  # callers without types
            raise UsageError(f"{role!r} is not a role", hint=f"use one of {', '.join(sorted(ROLES))}")
        for name, value in (("agent", agent), ("session", session)):
            if not isinstance(value, str) or not value:  # type: ignore[redundant-expr]  # callers without types
                raise UsageError(f"{name} is empty or not text", hint=f"give the {name} a name")
        if not isinstance(text, str):
            raise UsageError(f"text is {type(text).__name__}, not str", hint="decode it first")
        used = _tool(tool, role)
        clean, counts = redact_text(text) if suspicious(text.encode("utf-8", "surrogatepass")) else (text, {})
        clean = bounded(storable(clean))
        moment = self._now() if at is None else milliseconds(at)
        if moment < 0:
            raise UsageError(f"{at} lies before 1970", hint="give the time at which it was said")
        return Event(
            kind="turn", agent=storable(agent), session=storable(session), at=moment, origin="api", role=_role(role), text=clean,
            key=storable(key) if key else f"{moment}:{text_key(clean)}", cwd="" if project is None else folder_of(project),
            tool=used, redacted=counts,
        )  # fmt: skip

    def _now(self) -> int:
        """Milliseconds that never stand still, so that what is said in a row stays in a row."""
        with self._guard:
            self._last_at = max(self._clock.now_ms(), self._last_at + 1)
            return self._last_at

    def _write(self, events: Sequence[Event], project: str | None) -> None:
        self.tell(events, () if project is None else (project,))

    def tell(self, events: Sequence[Event], projects: Collection[str] = ()) -> None:
        """Keep events that were made elsewhere: one write and one sync; projects that are named for the first time are told of in
        the same breath."""
        places = [_place_event(each) for each in projects if each not in self._placed]
        self._recorder.record([*places, *events], self._clock.now_ms())
        self._placed.update(projects)

    def settle(self, timeout: float = 60.0) -> None:
        """Wait until everything recorded can be found, in the shared ledger too if there is one. Raises NotSettled.

        Without a worker this process does the work itself.
        """
        deadline = time.monotonic() + timeout
        self.settle_here(timeout)
        self._settle_shared(deadline)
        self._settle_jobs(deadline)
        self._settle_vectors(deadline)  # of what the jobs concluded, too

    def _settle_shared(self, deadline: float) -> None:
        while self._shared is not None:
            try:
                return self._share(self._shared)
            except LedgerError as error:
                if time.monotonic() > deadline or not isinstance(error, LedgerBusy):
                    raise NotSettled(f"the shared ledger has not got everything: {error.message}", hint=error.hint) from error
            time.sleep(_AGAIN_SECONDS)

    def _settle_vectors(self, deadline: float) -> None:
        """What was recorded can be found by its meaning as well."""
        while True:
            try:
                return self._embed_everywhere(deadline)
            except LedgerBusy as error:
                if time.monotonic() > deadline:
                    raise NotSettled(f"not everything can be found by meaning: {error.message}", hint=error.hint) from error
            except (EmbedderFailed, ConfigError, LedgerError) as error:
                raise NotSettled(f"not everything can be found by meaning: {error.message}", hint=error.hint) from error
            time.sleep(_AGAIN_SECONDS)

    def _embed_everywhere(self, deadline: float) -> None:
        embedder = self._recalling.embedder
        if embedder is None:
            return
        with Ledger.open(self._home.ledger, self._clock) as ledger:
            self._embed(ledger, embedder, deadline, own=True)
        if self._shared is not None:
            with self._shared.open() as shared:
                self._embed(shared, embedder, deadline, own=False)

    def _embed(self, ledger: Evidence, embedder: Embedder, deadline: float, *, own: bool) -> None:
        from hindbrain.serve.embedding import adopt, anything_waits, embed_all, keep_matrix, model_of

        if not model_of(ledger) and not anything_waits(ledger):
            return  # an embedder elsewhere need not be asked for nothing
        model, name = model_of(ledger), embedder.name
        if not model or (own and name not in self._adopted):
            adopt(ledger, embedder)
        elif model != name:
            return  # whoever was configured so sees to it
        if own:
            self._adopted.add(name)
        if not embed_all(ledger, embedder, lambda: time.monotonic() < deadline):
            raise EmbedderFailed("the time is up", hint="wait longer; the rest is embedded by the worker")
        if own and (matrix := self._recalling.matrix()) is not None:
            with ledger.reading() as database:
                matrix.top_up(database)
            keep_matrix(ledger, matrix)

    def _settle_jobs(self, deadline: float) -> None:
        """What is to be done with what was recorded is done as well."""
        shared = self._shared
        opener = (lambda: Ledger.open(self._home.ledger, self._clock)) if shared is None else shared.open
        config = self._config or load(os.fspath(self._home.root))
        if not run_due(opener, self._clock, max(0.0, deadline - time.monotonic()), config=config):
            raise NotSettled("not every job was done in time", hint="wait longer, or look at `hindbrain jobs`; nothing is lost")

    def share(self) -> str:
        """Try once to bring the shared ledger up to date; why it could not be done, "" when it was or there is none."""
        try:
            if self._shared is not None:
                self._share(self._shared)
        except LedgerError as error:
            return error.message
        return ""

    def _share(self, shared: Shared) -> None:
        done = share_now(shared, self._clock)
        self._asked_again_at = 0.0
        if done.wishes:
            self.settle_here()  # other machines want something forgotten

    def settle_here(self, timeout: float = 60.0) -> None:
        """Wait until everything recorded is in this home's own ledger."""
        deadline = time.monotonic() + timeout
        while True:
            lock = Lock(self._home.worker_lock)
            if lock.acquire():
                try:
                    lock.write(f"{os.getpid()}\n")
                    self._drain()
                finally:
                    lock.release()
                return
            with contextlib.suppress(OSError):
                wake(os.fsencode(self._home.root))
            if self._settled():
                return
            if time.monotonic() > deadline:
                raise NotSettled(f"not everything was taken in within {timeout:g} s")
            time.sleep(0.02)

    def _drain(self) -> None:
        with Ledger.open(self._home.ledger, self._clock) as ledger:
            drain = Drain(self._home, ledger, self._clock, [], follows=False, keeps_jobs=self._shared is None)
            try:
                if self._home.forgetting.exists():
                    from hindbrain.serve.forgetting import finish

                    finish(self._home, ledger, self._clock, keeps_jobs=self._shared is None)
                drain.replay_archives(Drained())  # the ledger may have been made anew
                drain.run()
            finally:
                drain.close()

    def _settled(self) -> bool:
        ledger = opened(self._home, self._clock)
        if ledger is None:
            return False
        with ledger:
            offsets = {name.removeprefix(segment_source("")): at for name, at in ledger.cursors(segment_source("")).items()}
        return lag(self._home, {name: at for name, at in offsets.items() if isinstance(at, int)}, self._clock).lines == 0

    def search(
        self, question: str, k: int = 10, project: str | None = None, as_of: datetime | None = None, *,
        after: datetime | None = None,
    ) -> list[Hit]:  # fmt: skip
        """The turns and memories that fit best, best first. `project` keeps to one project, None looks in all.

        `as_of` answers as things stood at that time. Any text is a safe question.
        """

        def ask(ledger: Evidence) -> list[Hit]:
            scope = self._scope(ledger, project, as_of, after)
            with ledger.reading() as connection:
                found = self._recalling.search(connection, question, scope, k)
                context.name_observers(connection, found)
            return [_hit(each) for each in found]

        return self._ask(ask, [])

    def context(
        self, prompt: str, project: str | None = None, budget_tokens: int = 2000, *, as_of: datetime | None = None,
        agent: str = "",
    ) -> Block:  # fmt: skip
        """A fenced block of what fits a prompt, rules that always hold first, never above the budget; empty if nothing fits.

        `as_of`: as it would have been at that time. `agent`: who is to be told; of what others said it says who they are.
        """

        def ask(ledger: Evidence) -> Block:
            scope = self._scope(ledger, project, as_of, None)
            with ledger.reading() as connection:
                asked = context.Asked(scope, prompt=prompt, budget=budget_tokens, floor=1, chars=_MAX_CONTEXT, agent=agent)
                text, found = self._recalling.build(connection, asked)
            return Block(text, [_hit(each) for each in found])

        return self._ask(ask, Block("", []))

    def ask(
        self, question: str, project: str | None = None, *, as_of: datetime | None = None, model: bool = True
    ) -> answering.Answer:
        """An answer from what was said and kept, with its sources; `known` is False where nothing supports one.

        With a model in words, else (or without `model`) the best evidence itself.
        """
        from hindbrain.serve import answering, asking_model

        nothing = answering.nothing(question)

        def look(ledger: Evidence) -> answering.Weighed:
            return answering.look(ledger, question, self._scope(ledger, project, as_of, None), self._recalling.search)

        weighed = self._ask(look, nothing)
        if not model:
            return answering.by_evidence(weighed)
        return asking_model.answer(self._config or load(os.fspath(self._home.root)), weighed, self._clock)

    def _ask(self, question: Callable[[Evidence], Answer], nothing: Answer) -> Answer:
        """What the shared ledger says, else this home's own; `nothing` where there is none yet."""
        if (shared := self._shared_reader()) is not None:
            try:
                found = question(shared)
                self.answered_by = "shared"
                return found
            except LedgerError:
                self._drop_shared()
        self.answered_by = "local"
        ledger = self._reader()
        return nothing if ledger is None else question(ledger)

    def look(self, question: Callable[[Database], Answer]) -> Answer | None:
        """What one consistent view of the ledger says; None where nothing is stored yet."""

        def ask(ledger: Evidence) -> Answer | None:
            with ledger.reading() as connection:
                return question(connection)

        return self._ask(ask, None)

    def _shared_reader(self) -> Evidence | None:
        """The shared ledger; None when it does not answer, or has not got what this home holds yet."""
        if self._shared is None or time.monotonic() < self._asked_again_at:
            return None
        with self._guard:
            if self._shared_ledger is None:
                self._asked_again_at = time.monotonic() + _PAUSE_SECONDS
                if self._home.ledger.exists() and not shared_state.read(self._home, self._shared.name).complete:
                    return None
                try:
                    self._shared_ledger = self._shared.open_to_ask()
                except LedgerError:
                    return None
                self._asked_again_at = 0.0
            return self._shared_ledger

    def _drop_shared(self) -> None:
        with self._guard:
            known, self._shared_ledger = self._shared_ledger, None
            self._asked_again_at = time.monotonic() + _PAUSE_SECONDS
        if known is not None:
            known.close()

    def _scope(self, ledger: Evidence, project: str | None, as_of: datetime | None, after: datetime | None) -> rank.Scope:
        until = rank.FOREVER if as_of is None else milliseconds(as_of)
        since = -rank.FOREVER if after is None else milliseconds(after)
        if project is None:
            return rank.Scope(None, everything=True, after=since, before=until)
        return rank.Scope(find_project(ledger, project), after=since, before=until)

    def remember(
        self, text: str, *, kind: str = "fact", project: str | None = None, pinned: bool = False, at: datetime | None = None,
        observer: str | None = None, subject: str | None = None,
    ) -> str:  # fmt: skip
        """Keep a statement for good and return its id; without a project it holds everywhere.

        It is the user's word, or with `observer` that of the agent of this name, about `subject` (the observer itself if there is
        none): it is told to others with that name, and cannot be a rule.
        """
        if kind not in memories.KINDS:
            raise UsageError(f"{kind!r} is not a kind of memory", hint=f"use one of {', '.join(memories.KINDS)}")
        if not text.strip():
            raise UsageError("there is nothing to remember", hint="give it some words")
        if observer is None and subject is not None:
            raise UsageError("a subject needs an observer", hint="say which agent keeps it")
        whose: dict[str, Json] = {}
        if observer is not None:
            from hindbrain.serve.board import check_words

            check_words(text)
            whose = attribution.told(observer, observer if subject is None else subject, kind, pinned)
        scope = "global" if project is None else "project"
        said = self._said(text, project, at, "user" if observer is None else "assistant")
        event = memories.memory_event(
            "remember", agent=_AGENT, session=said.session, at=said.at, text=said.text,
            detail={"turn": said.id, "kind": kind, "scope": scope, "pinned": pinned, **whose},
        )  # fmt: skip
        self._write([said, event], project)
        return memories.memory_id(event.id)

    def correct(self, memory: str, text: str, *, at: datetime | None = None) -> str:
        """Replace a statement by a better one; the old one stays as history. The new statement's id."""
        if not text.strip():
            raise UsageError("there is nothing to put in its place", hint="use `forget` to take it away")

        def look(ledger: Evidence) -> None:
            with ledger.reading() as connection:
                reviewing.wording(connection, memory)

        self._ask(look, None)
        return self._replace("correct", memory, text, at)

    def _replace(self, op: str, memory: str, text: str, at: datetime | None) -> str:
        known = self._known_memory(memory)
        said = self._said(text, known.project, at)
        event = memories.memory_event(
            op, agent=_AGENT, session=said.session, at=said.at, text=said.text,
            detail={"turn": said.id, "target": memory, "kind": known.kind, "scope": known.scope, "pinned": known.pinned},
        )  # fmt: skip
        self._write([said, event], known.project)
        return memories.memory_id(event.id)

    def pin(self, memory: str, pinned: bool = True) -> None:
        """Have a statement told at the start of every session of its scope, or no longer."""
        self._known_memory(memory)
        detail: dict[str, Json] = {"target": memory, "pinned": pinned}
        self._write([memories.memory_event("pin", agent=_AGENT, session="", at=self._now(), detail=detail)], None)

    def done(self, memory: str, done: bool = True) -> None:
        """Have a statement hold no longer from now on, such as a task that was carried out; or have it hold after all."""
        op = "done" if done else "undone"
        self._decide(op, lambda database: [{"target": reviewing.ending(database, memory).id}])

    def memories(self, project: str | None = None) -> list[Known]:
        """What stands of observations and insights, oldest first: of a project with what is global, or of all."""

        def ask(ledger: Evidence) -> list[Known]:
            found = None if project is None else find_project(ledger, project)
            with ledger.reading() as connection:
                return knowing.current(connection, found) if project is not None else reviewing.standing(connection)

        return self._ask(ask, [])

    def review(self) -> list[reviewing.Waiting]:
        """What waits for a person's decision, newest first: quarantined, contradictory, of low confidence."""
        return self._ask(reviewing.waiting, [])

    def accept(self, *memories: str) -> None:
        """Let these hold; of two that contradict each other the one accepted replaces the other, and where the contradiction
        itself is accepted both stand. One that was replaced by mistake holds again, beside what replaced it. All, or none."""
        self._decide("accept", lambda database: reviewing.accepting(database, memories))

    def reject(self, *memories: str) -> None:
        """Have these never told, nor found again. A contradiction that is rejected is none. All of them, or none."""
        self._decide("reject", lambda database: reviewing.rejecting(database, memories))

    def edit(self, memory: str, text: str, *, at: datetime | None = None) -> str:
        """Let a memory that was found hold in other words: a person's, which take its place. The new memory's id."""
        if not text.strip():
            raise UsageError("there is nothing to put in its place", hint="use `reject` to take it away")
        self._decided(lambda database: [{"target": reviewing.editing(database, memory).id}])
        return self._replace("edit", memory, text, at)

    def _decide(self, op: str, acts: Callable[[Database], list[dict[str, Json]]]) -> None:
        """Write down what a person decided, once all of it is known to be possible."""
        said = [memories.memory_event(op, agent=_AGENT, session="", at=self._now(), detail=act) for act in self._decided(acts)]
        self._write(said, None)

    def _decided(self, acts: Callable[[Database], list[dict[str, Json]]]) -> list[dict[str, Json]]:
        """What there is to write down; raises what keeps it from being possible."""
        found = self.look(acts)
        if found is None:
            raise NotFound("nothing is stored yet", hint="keep something with `hindbrain remember`")
        return found

    def why(self, memory: str) -> Lineage:
        """What a memory rests on, down to the turns and the lines of the transcripts they were taken from. Raises NotFound."""

        def ask(ledger: Evidence) -> Lineage | None:
            with ledger.reading() as connection:
                return lineage.why(connection, memory)

        found = self._ask(ask, None)
        if found is None:
            raise NotFound(f"there is no memory {memory}")
        return found

    def _said(self, text: str, project: str | None, at: datetime | None, role: str = "user") -> Event:
        """The evidence: a person said so, or an agent, here and now."""
        return self._turn(_AGENT, f"kept {project or ''}".strip(), role, text, at, project, None)

    def _known_memory(self, memory: str) -> _Known:
        """What is said of a memory beside its text; raises NotFound."""

        def ask(ledger: Evidence) -> _Known | None:
            with ledger.reading() as connection:
                row = connection.execute(
                    "SELECT projects.identity, kind, scope, pinned"
                    " FROM memories LEFT JOIN projects ON projects.id = memories.project_id WHERE memories.id = ?", (memory,),
                ).fetchone()  # fmt: skip
            return None if row is None else _Known(row[0], row[1], row[2], bool(row[3]))

        found = self._ask(ask, None)
        if found is None:
            raise NotFound(f"there is no memory {memory}")
        return found

    def forget(self, *, id: str | None = None, session: str | None = None, project: str | None = None) -> Forgotten:
        """Remove a turn or memory, a session, or a project from ledger, journal and archives, and keep it from coming back.

        A memory that was found goes alone: the turns it was found in stay.
        """
        from hindbrain.serve.forgetting import Forgetting

        self.settle_here()
        self.share()
        work = Forgetting(self._home, self._clock, self._shared)
        wanted = work.find(id=id, session=session, project=project)
        self._drop_readers()
        done = work.carry_out(wanted)
        with self._guard:  # what is said from now on is not of the time that is forgotten
            self._last_at = max(self._last_at, self._clock.now_ms())
        return done

    def _reader(self) -> Ledger | None:
        """This thread's own connection; None before anything was taken in."""
        known: Ledger | None = getattr(self._local, "ledger", None)
        if known is not None and known in self._readers:
            return known
        if known is not None:
            known.close()
        ledger = opened(self._home, self._clock)
        if ledger is not None:
            self._local.ledger = ledger
            with self._guard:
                self._readers.append(ledger)
        return ledger

    def _drop_readers(self) -> None:
        with self._guard:
            known, self._readers = self._readers, []
        own = getattr(self._local, "ledger", None)
        for ledger in known:
            if ledger is own:
                ledger.close()
        self._left += [ledger for ledger in known if ledger is not own]


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What is gone."""

    turns: int
    memories: int
    sessions: int
    lines: int
    waiting: str = ""  # why the shared ledger has not carried it out yet
    wiki: str = ""  # why the pages of the wiki have not


def find_project(ledger: Evidence, name: str) -> str | None:
    """The id of a project by its name, identity, id or folder; None when nothing is stored under it."""
    name = storable(name)
    wanted = (name, f"name:{name}", f"path:{name}", resolve(name).identity if name.startswith("/") else name)
    with ledger.reading() as connection:
        for identity in wanted:
            row = connection.execute("SELECT project_id FROM project_aliases WHERE identity = ?", (identity,)).fetchone()
            if row is not None:
                return str(row[0])
        rows = connection.execute("SELECT id FROM projects WHERE id = ? OR name = ? LIMIT 2", (name, name)).fetchall()
    if len(rows) > 1:
        raise UsageError(f"{name!r} is the name of several projects", hint="name its folder or its id")
    return str(rows[0][0]) if rows else None


def folder_of(project: str) -> str:
    """A project given as a folder keeps it; one that is only a name or an identity gets a place of its own."""
    return project if project.startswith("/") else _NAMED + storable(project)


def _place_event(project: str) -> Event:
    folder = folder_of(project)
    if project.startswith("/"):
        return place_event(resolve(project), _AGENT, 1)
    identity = project if project.partition(":")[0] in ("name", "git", "dir", "path") and ":" in project else f"name:{project}"
    return place_event(Place(folder, storable(identity)), _AGENT, 1)


def _tool(tool: str, role: str) -> str:
    """The name of a tool as it is kept; only calls and results have one."""
    if not isinstance(tool, str):
        raise UsageError(f"tool is {type(tool).__name__}, not str", hint="give the name of the tool")
    if tool and role not in ("tool_call", "tool_result"):
        raise UsageError(f"a turn of role {role} has no tool", hint="use the role tool_call or tool_result")
    if len(tool) > _TOOL_CHARS:
        raise UsageError(f"the name of the tool has {len(tool)} letters", hint="give its name, and what it was given as text")
    clean, _ = redact_text(tool)
    return storable(clean)


def _role(role: str) -> Role:
    return role  # type: ignore[return-value]  # checked by the caller


def milliseconds(moment: datetime) -> int:
    """Since 1970; a time without a zone is taken as UTC."""
    return ((moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)


def _moment(ms: int) -> datetime:
    """The time as Python can say it; what lies outside is the nearest it can."""
    return _EPOCH + timedelta(milliseconds=min(max(ms, milliseconds(_FIRST)), milliseconds(_LAST)))


def _hit(found: rank.Found) -> Hit:
    at = _moment(found.at)
    return Hit(
        found.id, found.text, found.score, found.session, (found.key,), at, found.kind, found.role, found.agent, found.project,
        dict(found.parts), None if found.valid_to is None else _moment(found.valid_to), found.superseded, found.note,
    )  # fmt: skip
