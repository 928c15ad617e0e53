"""What every step of reasoning works with, handed down as one value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hindbrain.base.clock import Clock
from hindbrain.ledger.database import Database
from hindbrain.queues.job import NewJob
from hindbrain.reason.likeness import Likeness

if TYPE_CHECKING:
    from hindbrain.reason.model.calls import Calls, Keeping
    from hindbrain.reason.model.reasoner import Reasoner

Tell = Callable[[Database, Sequence[NewJob]], object]


@dataclass(frozen=True, slots=True)
class Means:
    """What the steps work with."""

    clock: Clock
    tell: Tell  # adds jobs, in the transaction it is given
    likeness: Callable[[str, str], float] = field(default_factory=Likeness)
    check: Callable[[], None] = lambda: None  # raises when going on is of no use
    calls: Calls | None = None  # the models that are configured
    book: Keeping | None = None  # where their replies are kept
    give_way: bool = False  # it is the last try, or a model said "later" for long enough: rules decide where no model answers
    asked: bool = False  # a person asked for this job: a model may be used at night too
    again_seconds: float = 0.0  # when a model that may not be asked now may be: by day, and with caps that begin anew

    @property
    def has_model(self) -> bool:
        return self.calls is not None

    def reasoner(self, project: str | None, *sessions: str) -> Reasoner:
        """Who reasons about these sessions: a model where one is configured, else rules."""
        from hindbrain.reason.model.reasoner import Reasoner

        return Reasoner(self.calls, self.book, project, tuple(sessions), self.asked, self.give_way, self.check)
