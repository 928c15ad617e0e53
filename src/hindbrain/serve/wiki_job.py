"""The worker's job `compile`: the wiki of the home brought up to date, and pages introduced by a model where one is configured.

The pages come first and need no model. Then some of those whose statements changed are introduced, within the caps and one after
the other, and the pages are compiled once more; what is left is for the next job. What a model cannot do costs its sentences and
nothing else, and it is asked again only for what is not kept yet.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.ledger.database import Database
from hindbrain.queues.job import BackOff, Effect, NewJob
from hindbrain.queues.runner import Task
from hindbrain.reason.means import Means
from hindbrain.serve.wikis import PROSE, Wiki
from hindbrain.wiki.folder import CompileRunning
from hindbrain.wiki.prose import MOST_PAGES, Prose

if TYPE_CHECKING:
    from hindbrain.reason.model.reasoner import Reasoner

log = logging.getLogger("hindbrain.wiki")

AGAIN_SECONDS: Final = 60.0  # when another compile is at it, or more pages want an introduction


def run(config: Config, clock: Clock, task: Task, means: Means) -> Effect | None:
    """Compile, introduce, compile. Raises BackOff where somebody else is at the wiki."""
    wiki = Wiki.of(config, clock=clock)
    if wiki.warning:
        log.warning("%s", wiki.warning)
    try:
        _compile(wiki)
        task.check()
        more = _introduce(wiki, task, means) if means.has_model else False
    except CompileRunning as error:
        raise BackOff(error.message, seconds=AGAIN_SECONDS) from error
    if not more:
        return None
    job = NewJob(task.jobs[0].kind, task.jobs[0].key, delay_seconds=AGAIN_SECONDS)

    def effect(database: Database) -> None:
        means.tell(database, [job])

    return effect


def _compile(wiki: Wiki) -> None:
    done, _ = wiki.compile()
    if done.written or done.removed or done.acts:
        log.info("wiki: %d pages written, %d removed, %d edits taken in", len(done.written), len(done.removed), len(done.acts))
    if done.trouble:
        log.warning("wiki: the version was not kept: %s", done.trouble)


def _introduce(wiki: Wiki, task: Task, means: Means) -> bool:
    """Have pages introduced; whether there are more that could be now."""
    drawn = wiki.before
    if drawn is None:
        return False
    prose = Prose.of(wiki.folder.own / PROSE)
    wanting = prose.wanting(drawn.pages, drawn.material)

    def asking(project: str | None, sessions: tuple[str, ...]) -> Reasoner:
        return means.reasoner(project, *sessions)

    told, why = 0, ""
    try:
        for page in wanting[:MOST_PAGES]:
            task.check()
            why = prose.tell(page, drawn.material, asking, wiki.zone)
            if why:
                log.info("wiki: pages are not introduced: %s", why)
                break
            told += 1
    finally:
        if told:
            prose.keep(drawn.pages, drawn.material)
    if told:
        _compile(wiki)
    return told == MOST_PAGES and len(wanting) > told
