"""Questions of a program that are no search -> typed answers: sessions, turns, an id, what is new, a team's board and messages.

What Memory (serve/memory.py) offers beside recording and recall. Each asks the ledger that Memory chooses, the shared one or the
home's own. The values are loaded with the first question that needs them.
"""

from __future__ import annotations

import abc
import time
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from hindbrain.base.errors import NotFound, UsageError

if TYPE_CHECKING:
    from hindbrain.base.home import Home
    from hindbrain.ledger.evidence import Evidence
    from hindbrain.serve.arrivals import News
    from hindbrain.serve.board import Board
    from hindbrain.serve.values import Kept, Said, Session, Turn

Answer = TypeVar("Answer")


class Library(abc.ABC):
    """What can be asked of a memory beside a search."""

    _home: Home

    @abc.abstractmethod
    def _ask(self, question: Callable[[Evidence], Answer], nothing: Answer) -> Answer:
        """What the ledger says; `nothing` where there is none yet."""

    @abc.abstractmethod
    def record_many(self, turns: list[Turn]) -> list[str]:
        """Keep these turns."""

    def sessions(self, project: str | None = None, limit: int = 50) -> list[Session]:
        """The sessions active last, newest first: of a project, or of all."""
        from hindbrain.serve import values
        from hindbrain.serve.memory import find_project
        from hindbrain.serve.scoping import Chosen

        def ask(ledger: Evidence) -> list[Session]:
            found = None if project is None else find_project(ledger, project)
            return values.sessions(ledger, Chosen(found, project is None, project or ""), limit)

        return self._ask(ask, [])

    def turns(self, session: str, agent: str | None = None) -> list[Said]:
        """What was said in a session, in order, by the name its agent gave it or by its id; nothing of one that is not there."""
        from hindbrain.serve import values

        return self._ask(lambda ledger: values.turns(ledger, session, agent), [])

    def show(self, id: str) -> Said | Session | Kept:
        """The turn, session or memory of an id; its first characters are enough where they are unique. Raises NotFound."""
        from hindbrain.serve import values

        def ask(ledger: Evidence) -> Said | Session | Kept | None:
            return values.show(ledger, id)

        found = self._ask(ask, None)
        if found is None:
            raise NotFound(f"nothing is stored under {id[:80]!r}")
        return found

    def position(self) -> str:
        """The place behind every memory that stands now, to subscribe from; "" while nothing is stored."""
        from hindbrain.serve import arrivals

        return self._ask(lambda ledger: arrivals.position(ledger, self._home), "")

    def arrived(self, after: str = "", project: str | None = None) -> tuple[str, list[News]]:
        """The memories that came after a position and stand, in order of arrival, and the position behind them all."""
        from hindbrain.serve import arrivals
        from hindbrain.serve.memory import find_project

        def ask(ledger: Evidence) -> tuple[str, list[News]]:
            # an unknown project has nothing of its own, but what is global holds there as well
            wanted = None if project is None else find_project(ledger, project) or ""
            return arrivals.arrived(ledger, self._home, after, wanted)

        nothing: tuple[str, list[News]] = after, []
        return self._ask(ask, nothing)

    def subscribe(
        self, after: str = "", project: str | None = None, *, timeout: float | None = None, every: float = 0.5
    ) -> Iterator[News]:
        """New memories as they come, each with its position; the same position goes on behind it, also in another process.

        Ends when nothing came for `timeout` seconds, which may be 0; without one it goes on for ever. It only looks: a worker,
        or settle() elsewhere, makes memories of what was recorded. Nothing is left out; after a loss of the home's list of
        arrivals everything comes again.
        """
        last = time.monotonic()
        while True:
            after, news = self.arrived(after, project)
            yield from news
            if news:
                last = time.monotonic()
            elif timeout is not None and time.monotonic() - last >= timeout:
                return
            else:
                time.sleep(every)

    def board(self, project: str | None, *, observer: str | None = None, subject: str | None = None) -> Board:
        """Facts, decisions and open tasks of a project and what is global, and whose word each is; of one observer, about one
        subject, if named."""
        from hindbrain.serve import board
        from hindbrain.serve.memory import find_project

        def ask(ledger: Evidence) -> Board:
            found = None if project is None else find_project(ledger, project)
            with ledger.reading() as database:
                return board.board(database, found, observer=observer, subject=subject)

        return self._ask(ask, board.Board())

    def message(
        self, text: str, *, sender: str, team: str, to: str = "", project: str | None = None, at: datetime | None = None
    ) -> str:
        """Keep what one agent of a team told another, or all of them, as a turn; its id, once it is on the disk."""
        from hindbrain.serve.board import session_of
        from hindbrain.serve.values import Turn

        if not isinstance(to, str):
            raise UsageError(f"to is {type(to).__name__}, not str", hint='name one agent, or "" for all')
        detail = {"to": to, "team": team, "trust": "assistant"}
        (identifier,) = self.record_many([
            Turn(agent=sender, session=session_of(team), role="assistant", text=text, at=at, project=project, detail=detail)
        ])  # fmt: skip
        return identifier

    def messages(self, team: str, *, to: str | None = None, after: datetime | None = None) -> list[Said]:
        """The messages of a team, oldest first: all, or those of others to one agent or to everybody."""
        from hindbrain.serve import board
        from hindbrain.serve.memory import milliseconds

        since = -1 if after is None else milliseconds(after)

        def ask(ledger: Evidence) -> list[Said]:
            with ledger.reading() as database:
                return board.messages(database, team, to=to, after=since)

        return self._ask(ask, [])
