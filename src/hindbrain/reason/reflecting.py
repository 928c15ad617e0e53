"""What is new in a project -> what it does to everything that was said there, as an effect.

Rules compare every new statement with those that may be about the same thing. A model, where one is configured, is asked about
the pairs that rules find related and the nearest others, a bounded number; what it says of a pair stands as far as the two speak
of one thing, and rules draw the conclusions.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from hindbrain.ledger import reasoned
from hindbrain.ledger.database import Database
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.reasoned import Known
from hindbrain.queues.job import Effect
from hindbrain.reason.applying import apply
from hindbrain.reason.changes import Change, Contradict, Insight, Reinforce, Supersede
from hindbrain.reason.means import Means
from hindbrain.reason.model.reasoner import Made
from hindbrain.reason.partners import Partners
from hindbrain.reason.reflect import AGREEING, reflect, time_of

log = logging.getLogger("hindbrain.reason")

MOST_ASKED: Final = 40  # pairs in one job
NEAREST: Final = 2  # of each new statement, besides those that rules find related

_COMPARED: Final = """
SELECT id FROM memories WHERE held = '' AND level IN ('observation', 'derived') AND (scope = 'global' OR project_id = ?)
"""


def reflect_project(ledger: Evidence, project: str | None, means: Means) -> Effect | None:
    """Compare what is new in a project, or everywhere, with everything that was said there; None when nothing is new."""
    with ledger.reading() as database:
        new = reasoned.unreflected(database, project)
        current = compared(database, project) if new else []
    if not new:
        return None
    means.check()
    made: Made[list[Change]] = Made(reflect(new, current, means.likeness))
    if means.has_model:
        made = by_model(new, current, made.value, project, means)

    def effect(database: Database) -> None:
        apply(database, made.value, means.clock.now_ms(), made_by=made.made_by)
        insights = reasoned.known(database, [each.id for each in made.value if isinstance(each, Insight)])
        for key in made.keys:
            reasoned.note_produced(database, key, insights)
        reasoned.mark_reflected(database, [each.id for each in new])

    return effect


def compared(database: Database, project: str | None) -> list[Known]:
    """Everything that may be told of a project, and what no longer holds too: it says since when."""
    ids = [row[0] for row in database.execute(_COMPARED, (project or "",)).fetchall()]
    return list(reasoned.known(database, ids).values())


def by_model(
    new: Sequence[Known], current: Sequence[Known], changes: Sequence[Change], project: str | None, means: Means
) -> Made[list[Change]]:
    """The changes as a model would have them."""
    every = {each.id: each for each in (*current, *new)}
    verdicts = _verdicts(changes)
    pairs = _asked(new, every, verdicts)
    sessions = sorted({every[each].session_id or "" for pair in pairs for each in pair} - {""})
    reasoner = means.reasoner(project, *sessions)
    told = [(every[newer], every[older]) for newer, older in pairs]
    related = reasoner.relation(told, lambda: [verdicts.get(pair, "") for pair in pairs])
    if related.note:
        log.info("memories were compared by rules: %s", related.note)
    decided = dict(zip(pairs, related.value, strict=True))
    found = reflect(new, current, means.likeness, decided)
    involved = [every[each] for each in dict.fromkeys(each for pair in pairs for each in pair) if every[each].stands]
    if len({each.session_id for each in involved}) < AGREEING:
        return Made(found, related.made_by, related.note, related.keys)
    seen = reasoner.insight(involved, list)
    place = ("global", None) if project is None else ("project", project)
    found += [Insight(each.kind, each.text, each.supports, *place) for each in seen.value if _agree(each.supports, every)]
    return Made(found, related.made_by if related.keys else seen.made_by, related.note, (*related.keys, *seen.keys))


def _agree(supports: Sequence[str], every: dict[str, Known]) -> bool:
    return len({every[each].session_id or each for each in supports}) >= AGREEING


def _verdicts(changes: Sequence[Change]) -> dict[tuple[str, str], str]:
    """What rules say of pairs, the newer first."""
    found: dict[tuple[str, str], str] = {}
    for change in changes:
        if isinstance(change, Supersede):
            found[change.new, change.old] = "supersedes"
        elif isinstance(change, Contradict):
            found[change.one, change.other] = "contradicts"
        elif isinstance(change, Reinforce):
            found[change.new, change.old] = "reinforces"
    return found


def _asked(new: Sequence[Known], every: dict[str, Known], verdicts: dict[tuple[str, str], str]) -> list[tuple[str, str]]:
    """The pairs to ask about: those that rules find related, then the nearest of each new statement."""
    pairs = dict.fromkeys(pair for pair in verdicts if pair[0] in every and pair[1] in every)
    partners = Partners(sorted(every.values(), key=time_of))
    for each in new:
        for other in partners.of(each)[:NEAREST]:
            newer, older = (each, other) if time_of(each) > time_of(other) else (other, each)
            pairs.setdefault((newer.id, older.id))
    return list(pairs)[:MOST_ASKED]
