"""A session or a project -> what reasoning makes of it, as an effect that commits with the job that asked for it.

Each step reads what it needs in one short view, works outside of any transaction, and hands back what is to be written. Nothing
is written before the job is finished, so a step that is cut off anywhere leaves nothing behind and is simply taken again (but for
what is hostile in a session whose reading waits for a model: that is set aside at once). What is
no longer there when the effect comes (forgotten, read anew) has no consequences, and what changed meanwhile has told its own job.
"""

from __future__ import annotations

import dataclasses
import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.ledger import reasoned
from hindbrain.ledger.database import Database
from hindbrain.ledger.earlier import Earlier, earlier
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.reasoned import Known, Reading
from hindbrain.ledger.statement import Said, Statement
from hindbrain.queues.job import Effect, JobFailed, NewJob
from hindbrain.reason import dreaming, telling
from hindbrain.reason.digest import digest, should_roll
from hindbrain.reason.dreaming import dream_of
from hindbrain.reason.extract import RULES, extract
from hindbrain.reason.means import Means, Tell
from hindbrain.reason.model.reasoner import Made
from hindbrain.reason.reflecting import reflect_project
from hindbrain.reason.telling import PAUSE_SECONDS
from hindbrain.recall.tokens import tokens_in

__all__ = ["digest_session", "dream_of", "extract_session", "reflect_project", "reread"]

log = logging.getLogger("hindbrain.reason")

CODING_AGENTS: Final = ("claude-code", "codex", "cursor", "gemini-cli", "opencode", "aider")  # work in the folder they are in
OWN_AGENT: Final = "hindbrain"  # what people told us to keep is kept as they said it
LONGEST_MS: Final = 15 * 60_000  # a session that never pauses is read this often all the same
LOT: Final = 50  # sessions from before that are read between two looks at everything else
LOT_SECONDS: Final = 60.0

_SESSION: Final = "SELECT id, agent, cwd, project_id, started_at, last_at, ended_at FROM sessions WHERE id = ?"
_TOLD: Final = """
SELECT 1 FROM memories
WHERE session_id = ? AND level IN ('digest_short', 'digest_long') AND substr(made_by, 1, 6) = 'model:' LIMIT 1
"""
# Sessions nobody has read yet, or that other rules have read; models' readings are not made again by rules.
_UNREAD: Final = """
SELECT sessions.id FROM sessions LEFT JOIN readings ON readings.session_id = sessions.id
WHERE sessions.agent <> :own AND EXISTS (SELECT 1 FROM turns WHERE turns.session_id = sessions.id)
  AND (readings.session_id IS NULL OR (readings.made_by <> :rules AND substr(readings.made_by, 1, 6) = 'rules/'))
  AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.kind = 'extract' AND jobs.key = sessions.id AND jobs.live = 1)
ORDER BY sessions.last_at DESC LIMIT :limit
"""

@dataclass(frozen=True, slots=True)
class Session:
    """What a step has to know of a session."""

    id: str
    agent: str
    cwd: str
    project_id: str | None
    started_at: int
    last_at: int
    ended_at: int | None


def extract_session(
    ledger: Evidence, session_id: str, means: Means, *, forced: bool, at_once: bool = False, times: int = 0
) -> Effect | None:
    """Read a whole session; None when it is gone. times: how often it was left for when a model may be asked."""
    with ledger.reading() as database:
        row = database.execute(_SESSION, (session_id,)).fetchone()
        known = reasoned.reading(database, session_id)
        turns = reasoned.said(database, session_id)
        before = earlier(database, session_id, known.made_by, turns[: known.read_to], turns) if means.has_model else Earlier()
    if row is None:
        return None
    session = Session(*row)
    wait = 0.0 if forced or at_once else pause(session, known, means.clock.now_ms())
    if wait > 0:
        again = [NewJob(telling.EXTRACT, session_id, group=session_id, delay_seconds=wait)]
        return lambda database: _do(means.tell(database, again))
    try:
        made = found(session, turns, means, before)
    except JobFailed:
        if means.has_model:  # it is read when the model answers; what is hostile in it does not wait for that
            _hold(ledger, session, turns, means)
        raise
    statements = made.value

    def effect(database: Database) -> None:
        now = means.clock.now_ms()
        put = reasoned.put(database, session_id, made.made_by, statements, now, made.others)
        for key in made.keys:
            reasoned.note_produced(database, key, [each.id for each in statements if each.id not in made.others])
        if _there(database, turns):  # else it is read again, and nothing of what was found now is taken for read
            reasoned.set_reading(database, session_id, read_to=_read_to(turns, made), made_by=made.made_by, at=now)
        jobs = _after_reading(session, statements, put, forced=forced)
        if means.asked:
            jobs = telling.asked_for(jobs)
        if made.later:
            jobs += telling.to_read_by_model(session_id, means.again_seconds, times)
        means.tell(database, jobs + dreaming.after_reading(database, session.project_id, len(put.new), now, ended=forced))

    return effect


def _hold(ledger: Evidence, session: Session, turns: Sequence[Said], means: Means) -> None:
    """Set aside what rules quarantine. The one thing that is written while a job goes on: done again it changes nothing."""
    held = _placed(session, [each for each in extract(turns) if each.quarantine]) if session.agent != OWN_AGENT else []
    if held:
        with ledger.writing() as database:
            reasoned.hold(database, session.id, held, RULES, means.clock.now_ms())


def _placed(session: Session, statements: list[Statement]) -> list[Statement]:
    """What is said in a session that belongs to no folder at all holds everywhere, or nowhere."""
    if session.project_id is not None or session.cwd:
        return statements
    return [dataclasses.replace(each, scope="global") for each in statements]


def _read_to(turns: Sequence[Said], made: Made[list[Statement]]) -> int:
    """How many of the first turns were read by whom the reading is said to be of."""
    unread = frozenset[str]() if made.made_by == RULES else made.unread
    return next((number for number, turn in enumerate(turns) if turn.id in unread), len(turns))


def _do(done: object) -> None:
    """An effect gives nothing back."""


def pause(session: Session, known: Reading, now_ms: int) -> float:
    """How many seconds to wait until a session has paused; 0 when it has, or was not read for too long."""
    quiet = now_ms - session.last_at
    if not 0 <= quiet < PAUSE_SECONDS * 1000 or now_ms - max(known.at, session.started_at) > LONGEST_MS:
        return 0.0
    return PAUSE_SECONDS - quiet / 1000


def found(session: Session, turns: Sequence[Said], means: Means, before: Earlier) -> Made[list[Statement]]:
    """What a session says."""
    if session.agent == OWN_AGENT:
        return Made([])
    working = session.agent in CODING_AGENTS and session.project_id is not None
    made = means.reasoner(session.project_id, session.id).extract(turns, lambda: extract(turns, working=working), before)
    if made.note:
        log.info("session %s was read by rules, at least in part: %s", session.id, made.note)
    return dataclasses.replace(made, value=_placed(session, made.value))


def _after_reading(session: Session, statements: Sequence[Statement], put: reasoned.Put, *, forced: bool) -> list[NewJob]:
    soon = telling.SOON if forced else 0
    jobs: list[NewJob] = []
    if put.new or put.gone:
        everywhere = session.project_id is None or any(each.scope == "global" for each in statements)
        jobs += [telling.to_reflect(session.project_id, soon)] if session.project_id is not None else []
        jobs += [telling.to_reflect(None, soon)] if everywhere else []
    if session.project_id is not None and session.agent != OWN_AGENT:
        jobs.append(telling.to_digest(session.id, forced=forced, priority=soon))
    return jobs


def digest_session(ledger: Evidence, session_id: str, means: Means, *, forced: bool, times: int = 0) -> Effect | None:
    """Say in short what a session was about; None when it has not gone on far enough since that was said last."""
    with ledger.reading() as database:
        known = reasoned.reading(database, session_id)
        turns = reasoned.said(database, session_id)
        memories = reasoned.of_session(database, session_id)
    tokens = sum(tokens_in(turn.text) for turn in turns if turn.role in ("user", "assistant"))
    if not turns or not should_roll(len(memories) - known.digested_memories, tokens - known.digested_tokens, forced):
        return None
    means.check()
    made = means.reasoner(_project(ledger, session_id), session_id).digest(turns, memories, lambda: digest(turns, memories))
    later = telling.to_digest_by_model(session_id, means.again_seconds, times) if made.later else []
    little = len(memories) == known.digested_memories and not should_roll(0, tokens - known.digested_tokens, False)

    def effect(database: Database) -> None:
        means.tell(database, later)
        if made.note and little and _told_by_a_model(database, session_id):
            return  # it tells more than rules would, and of all that was found
        if not _unchanged(database, session_id, turns, memories):
            means.tell(database, [telling.to_digest(session_id, forced=forced)])  # it would tell what was forgotten meanwhile
            return
        now = means.clock.now_ms()
        ids = reasoned.put_digest(database, session_id, made.value.short, made.value.long, made.made_by, now)
        for key in made.keys:
            reasoned.note_produced(database, key, ids)
        reasoned.set_reading(
            database, session_id, digested_at=now, digested_memories=len(memories), digested_tokens=tokens
        )

    return effect


def _project(ledger: Evidence, session_id: str) -> str | None:
    with ledger.reading() as database:
        row = database.execute(_SESSION, (session_id,)).fetchone()
    return None if row is None else Session(*row).project_id


def _told_by_a_model(database: Database, session_id: str) -> bool:
    """Whether the digests that stand are a model's. What is forgotten of a session takes them away."""
    return database.execute(_TOLD, (session_id,)).fetchone() is not None


def _there(database: Database, turns: Sequence[Said]) -> bool:
    """Whether all turns that were read are still there."""
    ids = json.dumps([turn.id for turn in turns])
    (there,) = database.execute("SELECT count(*) FROM turns WHERE id IN (SELECT value FROM json_each(?))", (ids,)).fetchone()
    return int(there) == len(turns)


def _unchanged(database: Database, session_id: str, turns: Sequence[Said], memories: Sequence[Known]) -> bool:
    """Whether everything that was read is still there and may be told."""
    known = {each.id for each in reasoned.of_session(database, session_id)}
    return _there(database, turns) and all(each.id in known for each in memories)


def reread(database: Database, tell: Tell, lot: int = LOT) -> int:
    """Have sessions read that nobody has read, or older rules: a lot of them, and the rest a little later; how many now."""
    values = {"own": OWN_AGENT, "rules": RULES, "limit": lot + 1}
    waiting = [str(row[0]) for row in database.execute(_UNREAD, values).fetchall()]
    more = [NewJob(telling.REREAD, "lot", priority=telling.LATER, delay_seconds=LOT_SECONDS)] if len(waiting) > lot else []
    tell(database, [*telling.to_reread(waiting[:lot]), *more])
    return min(len(waiting), lot)
