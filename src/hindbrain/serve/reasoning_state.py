"""A ledger and a configuration -> what reasoning has made, what waits, and what the model has cost today.

Reads only, and from the ledger that keeps the jobs: that is where memories are made.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.ledger import calls as paid
from hindbrain.ledger import known
from hindbrain.ledger.calls import Spent
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.joining import JOINED
from hindbrain.queues.queue import MOST_LISTED, Queue
from hindbrain.reason import telling
from hindbrain.reason.model.budget import KINDS, NIGHT, Budget, Spending, is_night, midnight
from hindbrain.serve.cap_state import capped
from hindbrain.serve.model_state import Note, noted

LEAST_TOKENS: Final = 2_000  # what a small question is counted at: with less left, none is asked

_LIVE: Final = ("waiting", "ready", "running")
_MADE: Final = """
SELECT CASE WHEN level IN ('observation', 'derived') THEN kind WHEN level = 'contradiction' THEN 'contradiction' ELSE 'digest' END
       AS what, count(*)
FROM memories WHERE held = '' AND superseded_by IS NULL AND valid_to IS NULL GROUP BY what ORDER BY what
"""
_REPLACED: Final = f"""
SELECT count(*) FROM memories WHERE (superseded_by IS NOT NULL OR valid_to IS NOT NULL) AND NOT {JOINED}
"""
_PRODUCED: Final = "SELECT kind, produced FROM calls WHERE at >= ? ORDER BY kind"


@dataclass(frozen=True, slots=True)
class Meter:
    """What models have used since midnight, and what they may; a cap of 0 is none."""

    models: tuple[str, ...] = ()  # in the order they are tried; none where no model is configured
    tokens: int = 0
    cost_micros: int = 0
    calls: int = 0
    cap_tokens: int = 0
    cap_cost_micros: int = 0
    by_kind: Mapping[str, Spent] = field(default_factory=dict[str, Spent])
    # what goes without the model today, and why: a kind of job, or one "of project NAME"
    full: Mapping[str, str] = field(default_factory=dict[str, str])
    night: bool = False  # no model is used before the morning, unless a person asks
    notes: Mapping[str, Note] = field(default_factory=dict[str, Note])  # models that were of no use when they were last asked
    produced: Mapping[str, int] = field(default_factory=dict[str, int])  # memories that came of today's replies, by kind of job

    @property
    def refused(self) -> dict[str, str]:
        """Models that do not take their keys, and what they said."""
        return {name: each.said for name, each in self.notes.items() if each.what == "key"}

    @property
    def trouble(self) -> dict[str, str]:
        """What else came of the last questions to models, in plain words."""
        return {name: f"{each.told()}: {each.said}" for name, each in self.notes.items() if each.what != "key"}

    @property
    def at_the_cap(self) -> bool:
        """Whether all work goes on without the model until tomorrow."""
        return bool(self.models) and all(kind in self.full for kind in KINDS)

    def __str__(self) -> str:
        if not self.models and not self.calls:
            return "none configured: everything goes by rules"
        said = ", then ".join(self.models) if self.models else "none configured any more"
        tokens = f"{self.tokens:,} tokens" if not self.cap_tokens else f"{self.tokens:,} of {self.cap_tokens:,} tokens"
        money = f"${dollars(self.cost_micros)}" + (f" of ${dollars(self.cap_cost_micros)}" if self.cap_cost_micros else "")
        kinds = ", ".join(f"{kind} {spent.tokens:,}" for kind, spent in self.by_kind.items())
        said += f"; today {tokens}, {money}" + (f" ({kinds})" if kinds else "")
        said += self._noted()
        if self.night and self.models:
            said += f"; it is night, working without the model until {NIGHT[1]:02}:00 but for what you ask for"
        if self.at_the_cap:
            return f"{said}; at the cap, working without the model: {next(iter(self.full.values()))}"
        return said + "".join(f"; {kind} works without the model: {why}" for kind, why in self.full.items() if self.models)


    def _noted(self) -> str:
        """What came of the last questions."""
        stopped = [each for each in self.notes.values() if each.stops]
        if stopped and len(stopped) == len(self.models) and len({each.what for each in stopped}) == 1:
            return f"; {stopped[0].told()}, working without the model: {'; '.join(each.said for each in stopped)}"
        return "".join(f"; {each.told(name)}: {each.said}" for name, each in self.notes.items())


@dataclass(frozen=True, slots=True)
class Reasoning:
    """One look at what was made of what was said."""

    made: Mapping[str, int] = field(default_factory=dict[str, int])  # what stands, by kind
    replaced: int = 0
    review: int = 0  # wait for a person
    unread: int = 0  # sessions that wait to be read
    by_day: int = 0  # sessions that rules have read at night or at a cap, and that the model reads when it may be asked
    meter: Meter = field(default_factory=Meter)

    @property
    def memories(self) -> str:
        """In plain words what there is."""
        total = sum(self.made.values())
        if not total and not self.replaced:
            return "none yet"
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.made.items())
        return f"{total} stand" + (f": {kinds}" if kinds else "") + (f"; {self.replaced} replaced" if self.replaced else "")

    @property
    def waiting(self) -> str:
        """In plain words what is to be done."""
        said = f"{self.review} wait for `hindbrain review`" if self.review else "nothing to review"
        said += f", {self.unread} {'session waits' if self.unread == 1 else 'sessions wait'} to be read"
        return said + (f", {self.by_day} to be read by the model later" if self.by_day else "")

    def as_data(self) -> dict[str, object]:
        """The same for programs."""
        meter = self.meter
        return {
            "memories": dict(self.made), "replaced": self.replaced, "review": self.review,
            "sessions_waiting": self.unread, "sessions_for_the_morning": self.by_day,
            "model": {
                "models": list(meter.models), "on": bool(meter.models), "at_the_cap": meter.at_the_cap,
                "without": dict(meter.full), "refused": meter.refused, "trouble": meter.trouble, "night": meter.night,
                "today": {"tokens": meter.tokens, "cost": meter.cost_micros / 1e6, "calls": meter.calls},
                "cap": {"tokens": meter.cap_tokens, "cost": meter.cap_cost_micros / 1e6},
                "by_kind": {
                    kind: {"tokens": spent.tokens, "cost": spent.cost_micros / 1e6, "calls": spent.calls,
                           "memories": meter.produced.get(kind, 0)}
                    for kind, spent in meter.by_kind.items()
                },
            },
        }  # fmt: skip


def look(ledger: Evidence | None, config: Config, clock: Clock) -> Reasoning:
    """Gather it all; an empty one where nothing is stored."""
    if ledger is None:
        return Reasoning(meter=_meter(None, config, clock))
    queue = Queue(ledger, clock)
    unread = sum(count for (kind, state), count in queue.counts().items() if kind == telling.EXTRACT and state in _LIVE)
    waiting = queue.listing(state="waiting", kind=telling.EXTRACT, limit=MOST_LISTED) if unread else []
    by_day = sum(telling.MORNING in job.payload for job in waiting)
    with ledger.reading() as database:
        made = {str(kind): int(count) for kind, count in database.execute(_MADE).fetchall()}
        (replaced,) = database.execute(_REPLACED).fetchone()
        review = len(known.review(database))
        return Reasoning(made, replaced, review, unread - by_day, by_day, _meter(database, config, clock))


def _meter(database: Database | None, config: Config, clock: Clock) -> Meter:
    caps = int(config.model_cap("", "tokens")), round(config.model_cap("", "cost") * 1e6)
    night = bool(config.model) and not config.model_night and is_night(clock.now_ms())
    notes = noted(config)
    if database is None:
        return Meter(config.model, cap_tokens=caps[0], cap_cost_micros=caps[1], night=night, notes=notes)
    since = midnight(clock.now_ms())
    spent = paid.spent(database, since)
    produced: dict[str, set[str]] = {}
    for kind, ids in database.execute(_PRODUCED, (since,)).fetchall():
        produced.setdefault(str(kind), set()).update(json.loads(ids))
    by_kind = {kind: paid.spent(database, since, kind=kind) for kind in produced}
    full = without(database, config, clock)
    return Meter(config.model, spent.tokens, spent.cost_micros, spent.calls, *caps, by_kind, full, night, notes,
                 {kind: len(ids) for kind, ids in produced.items()})  # fmt: skip


def without(database: Database, config: Config, clock: Clock) -> dict[str, str]:
    """What goes without the model today, and why: what has no room even for a small question, and what was refused."""
    if not config.model:
        return {}
    budget, book = Budget(config, clock), Spending(database)
    full = {kind: why for kind in KINDS if (why := budget.full(book, None, kind, LEAST_TOKENS, 1, "a small question"))}
    for each in capped(config, clock):
        whose = f" of project {_name(database, each.project)}" if each.project else ""
        full.setdefault(each.kind + whose, each.why)
    return full


def _name(database: Database, project: str) -> str:
    row = database.execute("SELECT name FROM projects WHERE id = ?", (project,)).fetchone()
    return project if row is None else str(row[0])


def dollars(micros: int) -> str:
    """Millionths of a dollar, to the cent; what is less than a cent to the digit that says something."""
    return f"{micros / 1e6:.2f}" if micros >= 10_000 or not micros else f"{micros / 1e6:.6f}".rstrip("0")
