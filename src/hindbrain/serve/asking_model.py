"""Evidence -> an answer in words by the configured model, else the evidence itself and why.

The model is asked only where something was found, and can make sentences of that and nothing more: each must cite ids that were
offered, and say what these say (reason/model/answers.py). Whatever keeps it from that (none configured, a cap, a reply of no
use, a server that is away) costs the sentence, never the answer. A reply is kept like every other that was paid for: the same
question over the same evidence is not paid for twice.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError
from hindbrain.base.home import Home
from hindbrain.capture.event import Event
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.answering import Answer, Proof, Sentence, Weighed, by_evidence, in_words
from hindbrain.serve.moments import day

if TYPE_CHECKING:
    from hindbrain.reason.model.reasoner import Piece

# Whose words the evidence holds: a reply goes when one of these sessions is forgotten.
_SESSIONS: Final = """
SELECT session_id FROM turns WHERE id IN (SELECT value FROM json_each(:ids))
UNION SELECT turns.session_id FROM links JOIN turns ON turns.id = links.turn_id
WHERE links.memory_id IN (SELECT value FROM json_each(:ids))
UNION SELECT session_id FROM memories WHERE session_id IS NOT NULL AND id IN (SELECT value FROM json_each(:ids))
"""


def answer(config: Config, weighed: Weighed, clock: Clock, project_id: str | None = None) -> Answer:
    """In words, or the evidence with the reason why it has to do."""
    if not config.model or not weighed.offered:
        return by_evidence(weighed)
    try:
        return _in_words(config, weighed, clock, project_id)
    except HindbrainError as error:
        return by_evidence(weighed, error.message)


def _in_words(config: Config, weighed: Weighed, clock: Clock, project_id: str | None) -> Answer:
    from hindbrain.capture.record import Recorder
    from hindbrain.reason.model.calls import LedgerBook
    from hindbrain.reason.model.reasoner import Reasoner, calls_of
    from hindbrain.serve.cap_state import capping
    from hindbrain.serve.model_state import noting
    from hindbrain.serve.work import opener

    calls = calls_of(config, clock, os.environ, noting(config, clock), capping(config, clock))
    recorder = Recorder(Home(config.home).root)

    def journal(event: Event) -> None:
        recorder.record([event], clock.now_ms())

    try:
        with opener(config, clock)() as ledger:
            sessions = _sessions(ledger, weighed.offered)
            reasoner = Reasoner(calls, LedgerBook(ledger, journal), project_id, sessions, asked=True, give_way=True)
            made = reasoner.answer(weighed.question, [_piece(each) for each in weighed.offered], list)
    finally:
        recorder.close()
    if made.note:
        return by_evidence(weighed, made.note)
    return in_words(weighed, [Sentence(each.text, tuple(each.ids)) for each in made.value], made.made_by)


def _sessions(ledger: Evidence, offered: tuple[Proof, ...]) -> tuple[str, ...]:
    ids = json.dumps([each.found.id for each in offered])
    with ledger.reading() as database:
        return tuple(sorted(str(row[0]) for row in database.execute(_SESSIONS, {"ids": ids}).fetchall()))


def _piece(proof: Proof) -> Piece:
    from hindbrain.reason.model.reasoner import Piece

    found = proof.found
    who = found.role if found.kind == "turn" else f"{found.kind} from {found.role}"
    return Piece(found.id, proof.text, f"{who}, no longer holds" if found.superseded else who, day(found.at))
