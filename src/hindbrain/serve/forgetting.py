"""Something to be forgotten -> gone from the ledger, the journal and its archives, and turned away if it comes again.

The wish itself is durable first, as an event that holds ids and no content, with a mark in the home: a crash half-way
is taken up by the next worker. Then the rows go, then the lines, then what the database and its index left in free
pages; so do files of the inbox that were put away. Other agents' own transcripts and backups made earlier are not ours to
change; the preview names them.
"""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError, LedgerError, NotFound, UsageError
from hindbrain.base.files import Lock, replace_file
from hindbrain.base.home import Home
from hindbrain.capture.decode import events_of
from hindbrain.capture.event import Event, session_id
from hindbrain.capture.record import Recorder
from hindbrain.journal.erase import erase
from hindbrain.journal.read import Record, archives, read_archive, read_segment, segments
from hindbrain.ledger import versions
from hindbrain.ledger.calls import about
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event, forgotten, is_forgotten
from hindbrain.ledger.memories import memory_id
from hindbrain.ledger.merge import clean
from hindbrain.ledger.store import Ledger
from hindbrain.serve import daemon, inbox, put_away, shared_state, wiki_forgetting, wiki_state
from hindbrain.serve.backup import alone
from hindbrain.serve.drain import Drain
from hindbrain.serve.engines import Shared, asked
from hindbrain.serve.memory import Forgotten, find_project
from hindbrain.serve.sharer import share_now

_RESTS: Final = """
SELECT links.turn_id, links.target_memory_id, memories.made_by FROM links JOIN memories ON memories.id = links.memory_id
WHERE links.role IN ('derived_from', 'supports', 'digested_from', 'contradicts') AND links.memory_id IN {inside}
ORDER BY links.memory_id, links.number
"""
_DROPPED: Final = """
SELECT turns.text, turns.detail, turns.source_path FROM turns JOIN sessions ON sessions.id = turns.session_id
WHERE sessions.agent = ?
  AND (turns.id IN (SELECT value FROM json_each(?)) OR turns.session_id IN (SELECT value FROM json_each(?))) ORDER BY turns.id
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a wish to forget covers."""

    ids: list[str]
    turns: int
    memories: int
    sessions: int
    until: int = 0  # the latest time anything of it claims, which may lie ahead
    examples: list[str] = field(default_factory=list[str])
    transcripts: list[str] = field(default_factory=list[str])
    files: list[str] = field(default_factory=list[str])  # of the inbox, put away: they go too
    stays: list[str] = field(default_factory=list[str])  # turns and memories that what was found rests on: they are not meant


class Forgetting:
    """Finds what is meant, shows it, does it."""

    def __init__(self, home: Home, clock: Clock, shared: Shared | None = None) -> None:
        self._home = home
        self._clock = clock
        self._shared = shared

    def find(self, *, id: str | None = None, session: str | None = None, project: str | None = None) -> Wanted:
        """What would be forgotten; raises NotFound when nothing fits."""
        if sum(each is not None for each in (id, session, project)) != 1:
            raise UsageError("say what to forget: one id, one session or one project", hint="hindbrain forget ID")

        def look(ledger: Evidence | None) -> Wanted:
            if ledger is None:
                raise NotFound("nothing is stored yet")
            ids = _ids(ledger, id, session, project)
            if not ids:
                raise NotFound(f"nothing is stored under {id or session or project!r}")
            return self._with_files(ledger, _covered(ledger, ids))

        return asked(self._shared, self._home, self._clock, look, ready=self._is_shared())

    def _with_files(self, ledger: Evidence, wanted: Wanted) -> Wanted:
        """With the files in inbox/done that hold it."""
        named = json.dumps(wanted.ids)
        with ledger.reading() as connection:
            rows = connection.execute(_DROPPED, (inbox.AGENT, named, named)).fetchall()
        turns = [(str(name), text) for text, detail, source in rows
                 for name in (json.loads(detail).get("name"), os.path.basename(source or "")) if name]  # fmt: skip
        files = [str(path) for path in put_away.holding(self._home, turns)]
        folder = os.path.join(self._home.inbox, "")
        return replace(wanted, files=files, transcripts=[each for each in wanted.transcripts if not each.startswith(folder)])

    def _is_shared(self) -> bool:
        return self._shared is not None and shared_state.read(self._home, self._shared.name).complete

    def carry_out(self, wanted: Wanted) -> Forgotten:
        """Do it. The worker is stopped meanwhile; the next hook starts another."""
        daemon.stop(self._home.root)
        with Lock(self._home.worker_lock) as lock, Ledger.open(self._home.ledger, self._clock) as ledger:
            lock.write(f"{os.getpid()} forgetting\n")
            replace_file(self._home.forgetting, put_away.mark(Path(each) for each in wanted.files))
            recorder = Recorder(self._home.root)
            try:
                now = self._clock.now_ms()
                recorder.record([forget_event(wanted.ids, max(now, wanted.until))], now)
            finally:
                recorder.close()
            lines = finish(self._home, ledger, self._clock, keeps_jobs=self._shared is None)
            waiting = self._carry_on()
        return Forgotten(wanted.turns, wanted.memories, wanted.sessions, lines, waiting, self._wiki())

    def _wiki(self) -> str:
        """Have the pages forget too; why they have not, "" when they have. The mark stays, and the next compile does it."""
        if not (self._home.wiki / wiki_state.OWN).is_dir():
            return ""
        from hindbrain.base.config import load
        from hindbrain.serve.wikis import Wiki

        try:
            Wiki.of(load(os.fspath(self._home.root))).compile()
        except HindbrainError as error:
            return error.message
        return ""

    def _carry_on(self) -> str:
        """Have the shared ledger forget too; why it has not, "" when it has. The wish is in the journal and gets there."""
        try:
            if self._shared is not None:
                share_now(self._shared, self._clock)
        except LedgerError as error:
            return error.message
        return ""


def finish(home: Home, ledger: Ledger, clock: Clock, *, keeps_jobs: bool = True) -> int:
    """Take the wish in and remove what is left of the text; how many journal lines that were. Done again, it changes nothing."""
    drain = Drain(home, ledger, clock, [], follows=False, keeps_jobs=keeps_jobs)
    try:
        drain.run()
    finally:
        drain.close()
    with ledger.reading() as connection:
        known = forgotten(connection)
    put_away.remove(home, known)
    lines = _void_lines(home, known, clock)
    if home.teams.is_dir():
        from hindbrain.serve import talking

        talking.forget(home, known)
    ledger.scrub()
    with alone(home):
        for leftover in _copies(home):
            leftover.unlink(missing_ok=True)
    wiki_forgetting.wanted(home)
    with contextlib.suppress(FileNotFoundError):
        home.forgetting.unlink()
    return lines


def _void_lines(home: Home, known: dict[str, int], clock: Clock) -> int:
    """Remove lines that say something forgotten; what else such a line said is written anew first."""
    kept: list[Event] = []
    doomed: set[tuple[str, int]] = set()
    paths = [*archives(home.archive), *segments(home.journal)]

    def judge(record: Record) -> None:
        events = [event for event in events_of(record) if event.kind != "forget"]
        left = [event for event in events if not is_forgotten(known, event.ids, _session(event.agent, event.session), event.at)]
        if len(left) < len(events) and (record.segment, record.start) not in doomed:  # an archived segment may still be open
            doomed.add((record.segment, record.start))
            kept.extend(event for event in left if event.text or event.kind not in ("notice", "unparsed"))

    for path in paths:
        for item in read_archive(path) if path.name.endswith(".gz") else read_segment(path):
            if isinstance(item, Record):
                judge(item)
    recorder = Recorder(home.root)
    try:
        recorder.record(kept, clock.now_ms())
    finally:
        recorder.close()
    return sum(erase(path, lambda record: (record.segment, record.start) in doomed) for path in paths)


def _session(agent: str, session: str) -> str | None:
    return session_id(clean(agent), clean(session)) if session else None


def _copies(home: Home) -> list[Path]:
    """Copies that may hold the text, or what was made of it: prepared blocks, signs of vectors, evidence of damage, older
    ledgers, what a killed process left half made."""
    found = [path for folder in ("prepared", "damage", "derived") for path in (home.root / folder).glob("*")]
    found += [path for folder in (home.journal, home.archive, home.inbox / "done") for path in folder.glob(".*.tmp")]
    return [*found, *home.root.glob("ledger.db.damaged-*"), *home.root.glob("ledger.db.before-*")]


def _ids(ledger: Evidence, id: str | None, session: str | None, project: str | None) -> list[str]:
    with ledger.reading() as connection:
        if id is not None:
            known = " UNION ".join(f"SELECT id FROM {table} WHERE id = ?" for table in ("turns", "memories", "events"))
            return [row[0] for row in connection.execute(known, (id, id, id))] or versions.stored_as_first(connection, [id])
        if session is not None:
            own = "SELECT id FROM sessions WHERE id = ? OR client_id = ?"
            query = f"{own} UNION SELECT id FROM sessions WHERE parent_id IN ({own})"
            return [row[0] for row in connection.execute(query, (session,) * 4)]
    found = find_project(ledger, project or "")
    if found is None:
        return []
    with ledger.reading() as connection:
        sessions = [row[0] for row in connection.execute("SELECT id FROM sessions WHERE project_id = ?", (found,))]
        memories = [row[0] for row in connection.execute("SELECT id FROM memories WHERE project_id = ?", (found,))]
    return sessions + memories


def _sessions_of(connection: Database, ids: list[str]) -> list[str]:
    """The sessions that turns are of, or that memories were found in."""
    query = " UNION ".join(
        f"SELECT session_id FROM {table} WHERE session_id IS NOT NULL AND id IN (SELECT value FROM json_each(?))"
        for table in ("turns", "memories")
    )
    return [row[0] for row in connection.execute(query, (json.dumps(ids),) * 2).fetchall()]


def _covered(ledger: Evidence, ids: list[str]) -> Wanted:
    named, inside = json.dumps(ids), "(SELECT value FROM json_each(?))"
    with ledger.reading() as connection:
        turns = connection.execute(
            f"SELECT id, text, source_path FROM turns WHERE id IN {inside} OR session_id IN {inside} ORDER BY at", (named, named)
        ).fetchall()
        evidence = json.dumps([row[0] for row in turns])
        memories = connection.execute(
            f"SELECT id, text FROM memories WHERE id IN {inside}"
            f" OR id IN (SELECT memory_id FROM links WHERE role = 'derived_from' AND turn_id IN {inside})", (named, evidence),
        ).fetchall()  # fmt: skip
        sessions, until = connection.execute(
            f"SELECT count(*), coalesce(max(last_at), 0) FROM sessions WHERE id IN {inside}", (named,)
        ).fetchone()
    with ledger.reading() as connection:
        rests = connection.execute(_RESTS.format(inside=inside), (named,)).fetchall()
        # what a person had kept takes the turn along that is its evidence: it says the same, and nothing else was said there
        taken = [turn for turn, _, made_by in rests if turn is not None and made_by == "person"]
        found_in = [turn or memory for turn, memory, made_by in rests if made_by != "person"]
        acts = connection.execute("SELECT id, detail FROM events WHERE kind = 'memory'").fetchall()
        told = _sessions_of(connection, [row[0] for row in turns] + [row[0] for row in memories])
        replies = list(about(connection, [*ids, *told]))
    gone = {row[0] for row in memories}
    extra = taken + [each for each, _ in acts if memory_id(each) in gone] + replies
    examples = [" ".join(text.split())[:100] for _, text, *_ in [*turns, *memories]][:5]
    sources = sorted({row[2] for row in turns if row[2]})
    doomed = {*ids, *extra, *gone, *(row[0] for row in turns)}
    stays = [each for each in dict.fromkeys(found_in) if each not in doomed]
    with ledger.reading() as connection:
        named_so = versions.every_id(connection, {*ids, *extra})
    return Wanted(sorted(named_so), len(turns) or len(taken), len(memories), sessions, until, examples, sources, stays=stays)
