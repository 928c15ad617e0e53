"""Changes -> rows of the ledger, inside the transaction the caller holds.

What is no longer there or no longer stands when a change arrives is left alone: the ledger decides. In a dream every memory is
noted as it stood before it is touched, so that `reasoned.undo` gives it back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from hindbrain.capture.event import stable_id
from hindbrain.ledger import fulltext, reasoned, removal
from hindbrain.ledger.database import Database
from hindbrain.ledger.forget import forgotten
from hindbrain.ledger.known import known
from hindbrain.ledger.merge import clean
from hindbrain.reason.changes import Change, Contradict, Fade, Insight, Page, Reinforce, Supersede

RULES: Final = "rules/1"
_FADE: Final = """
UPDATE memories SET confidence = ?, valid_to = ? WHERE id = ? AND superseded_by IS NULL AND valid_to IS NULL AND pinned = 0
"""
_PUT_PAGE: Final = """
INSERT INTO memories (id, level, kind, text, confidence, trust, observer, subject, scope, project_id, valid_from, created_at,
                      detail, evidence, made_by, session_id, reflected)
VALUES (?, 'digest_long', 'insight', ?, 1.0, 'assistant', 'hindbrain', 'user', 'global', NULL, ?, ?, ?, 0, ?, NULL, 1)
ON CONFLICT (id) DO NOTHING
"""
_CONTRADICTED: Final = "SELECT 1 FROM links WHERE role = 'contradicts' AND target_memory_id = ?"


def apply(database: Database, changes: Iterable[Change], at: int, *, made_by: str = RULES, dream: str = "") -> int:
    """Write these changes; how many took effect. With the name of a dream they can be taken back."""
    writing = _Writing(database, at, made_by, dream)
    return sum(writing.write(change) for change in changes)


class _Writing:
    def __init__(self, database: Database, at: int, made_by: str, dream: str) -> None:
        self.database, self.at, self.made_by, self.dream = database, at, made_by, dream
        self._by_type: dict[type, Callable[[Any], bool]] = {
            Supersede: self._supersede, Contradict: self._contradict, Reinforce: self._reinforce, Insight: self._insight,
            Fade: self._fade, Page: self._page,
        }  # fmt: skip

    def write(self, change: Change) -> bool:
        return self._by_type[type(change)](change)

    def _note(self, *ids: str, made: bool = False) -> None:
        """Note how these stand, before the dream touches them."""
        if self.dream:
            for each in ids:
                reasoned.note_change(self.database, self.dream, each, "" if made else None, at=self.at)

    def _supersede(self, change: Supersede) -> bool:
        if self.dream and self.database.execute(_CONTRADICTED, (change.old,)).fetchone():
            return False  # somebody has to say first which side holds; a dream does not take that away
        self._note(change.old, change.new)
        return reasoned.supersede(self.database, change.old, change.new, change.at, sure=change.sure, joined=change.joined)

    def _contradict(self, change: Contradict) -> bool:
        identifier = reasoned.contradict(self.database, change.one, change.other, change.text, self.at)
        if identifier:
            self._note(identifier, made=True)
        return bool(identifier)

    def _reinforce(self, change: Reinforce) -> bool:
        self._note(change.old, change.new)
        return reasoned.reinforce(self.database, change.old, change.new, self.at)

    def _insight(self, change: Insight) -> bool:
        was_there = change.id in known(self.database, [change.id])
        identifier = reasoned.put_insight(
            self.database, change.kind, change.text, change.supports, change.scope, change.project_id, self.made_by, self.at
        )
        if not identifier:
            return False
        if not was_there:
            self._note(identifier, made=True)
        self._replace(change.replaces, identifier, joined=True)
        return True

    def _replace(self, replaced: Iterable[str], identifier: str, *, joined: bool = False) -> None:
        for old in replaced:
            if old != identifier:
                self._note(old, identifier)
                reasoned.supersede(self.database, old, identifier, self.at, joined=joined)

    def _fade(self, change: Fade) -> bool:
        self._note(change.memory)
        return bool(self.database.execute(_FADE, (change.confidence, change.valid_to, change.memory)).rowcount)

    def _page(self, change: Page) -> bool:
        """A page rests on its memories: when one of them goes, so does the page, and with it what it told of it."""
        supports = [each for each in change.supports if each in known(self.database, change.supports)]
        identifier = stable_id("m", "page", change.name, str(self.at), change.text)
        if len(supports) < len(set(change.supports)) or not supports or identifier in forgotten(self.database):
            return False
        self._note(identifier, made=identifier not in known(self.database, [identifier]))
        detail = json.dumps({"page": change.name})
        text = clean(change.text)
        put = self.database.execute(_PUT_PAGE, (identifier, text, self.at, self.at, detail, self.made_by)).rowcount
        if put:
            fulltext.put_memory(self.database, identifier, text)
        for each in dict.fromkeys(supports):
            removal.link(self.database, identifier, "supports", target=each, at=self.at)
        self._replace(change.replaces, identifier)
        return bool(put)
