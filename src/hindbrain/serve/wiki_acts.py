"""What a person did by editing pages -> acts in the journal, each once, its words as evidence from a human file.

An edit that is found again, because a crash came between the journal and the note that it was taken, must not be told twice; one
that is made again (a box checked, unchecked, checked) must be. So whoever tells looks first: all that was told before is taken
into the ledger, and of what is to be told that is left which is not in force (serve/wiki_telling.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import LedgerError, LedgerUnreachable
from hindbrain.serve.memory import Memory
from hindbrain.serve.wiki_telling import ORDER, Telling
from hindbrain.wiki.edits import Act

_WAITS: Final = "the pages keep what was written; it is taken up by the next compile"


class WikiActs:
    """Tells a home what a person did to its pages."""

    def __init__(self, memory: Memory, clock: Clock) -> None:
        self._memory = memory
        self._clock = clock
        self._last_at = 0

    def apply(self, acts: Sequence[Act]) -> None:
        """Write these acts to the journal, all that are not in force yet; returns when they are on the disk."""
        wanted = sorted((act for act in acts if act.op in ORDER), key=lambda act: ORDER.index(act.op))
        if not wanted:
            return
        self.drained()
        begun = max(self._clock.now_ms(), self._last_at)
        telling = self._memory.look(lambda database: Telling(database, wanted, begun))
        if self._memory.is_shared and self._memory.answered_by != "shared":
            raise LedgerUnreachable("what was changed in pages waits for the shared ledger: it does not answer", hint=_WAITS)
        if telling is None:
            raise LedgerError("what was changed in pages cannot be taken up: there is no ledger", hint="run `hindbrain doctor`")
        if telling.events:
            self._memory.tell(telling.events, telling.projects)
            self._last_at = telling.now

    def drained(self) -> None:
        """Have everything that was told in the ledger, in the shared one too. Raises where that cannot be done now."""
        self._memory.settle_here()
        if why := self._memory.share():
            raise LedgerUnreachable(f"what was changed in pages waits for the shared ledger: {why}", hint=_WAITS)
