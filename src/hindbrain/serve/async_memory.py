"""Memory for programs with an event loop: the same methods, awaited; the loop never waits for a disk or a database.

    async with AsyncMemory.open(home=path) as memory:
        await memory.record(agent="ada", session="s1", role="user", text="use Postgres", project="shop")
        await memory.settle()
        await memory.search("which database", project="shop")

The work is done by a few threads of its own. What is awaited in a row happens in that row; what is awaited together may happen at
once. Cancelling stops the waiting, not the work: a record that was begun may be kept.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, ParamSpec, Self, TypeVar

from hindbrain.serve.memory import Block, Forgotten, Hit, Memory

if TYPE_CHECKING:
    from hindbrain.ledger.known import Known
    from hindbrain.ledger.lineage import Lineage
    from hindbrain.serve.answering import Answer
    from hindbrain.serve.arrivals import News
    from hindbrain.serve.board import Board
    from hindbrain.serve.reviewing import Waiting
    from hindbrain.serve.values import Kept, Said, Session, Turn

P = ParamSpec("P")
R = TypeVar("R")
_THREADS: Final = 4  # each has a connection of its own to the ledger


class AsyncMemory:
    """One home. Made with AsyncMemory.open; use it with `async with`."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory  # the same home, for what need not be awaited
        self._threads = ThreadPoolExecutor(_THREADS, "hindbrain")

    @classmethod
    def open(cls, home: str | os.PathLike[str] | None = None, database: str | None = None) -> Self:
        """The memory in a data directory, made if it is not there; by default the user's own."""
        return cls(Memory.open(home, database))

    async def close(self) -> None:
        """Give all files back, when what was begun is done."""
        await asyncio.to_thread(self._threads.shutdown)
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _run(self, work: Callable[P, R], *values: P.args, **named: P.kwargs) -> R:
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: work(*values, **named))

    async def record(
        self, *, agent: str, session: str, role: str, text: str, at: datetime | None = None, project: str | None = None,
        key: str | None = None, tool: str = "",
    ) -> str:  # fmt: skip
        """Memory.record"""
        return await self._run(
            self.memory.record, agent=agent, session=session, role=role, text=text, at=at, project=project, key=key, tool=tool
        )

    async def record_many(self, turns: Iterable[Turn]) -> list[str]:
        """Memory.record_many"""
        return await self._run(self.memory.record_many, turns)

    async def message(
        self, text: str, *, sender: str, team: str, to: str = "", project: str | None = None, at: datetime | None = None
    ) -> str:
        """Memory.message"""
        return await self._run(self.memory.message, text, sender=sender, team=team, to=to, project=project, at=at)

    async def settle(self, timeout: float = 60.0) -> None:
        """Memory.settle"""
        await self._run(self.memory.settle, timeout)

    async def settle_here(self, timeout: float = 60.0) -> None:
        """Memory.settle_here"""
        await self._run(self.memory.settle_here, timeout)

    async def share(self) -> str:
        """Memory.share"""
        return await self._run(self.memory.share)

    async def search(
        self, question: str, k: int = 10, project: str | None = None, as_of: datetime | None = None, *,
        after: datetime | None = None,
    ) -> list[Hit]:  # fmt: skip
        """Memory.search"""
        return await self._run(self.memory.search, question, k, project, as_of, after=after)

    async def context(
        self, prompt: str, project: str | None = None, budget_tokens: int = 2000, *, as_of: datetime | None = None,
        agent: str = "",
    ) -> Block:  # fmt: skip
        """Memory.context"""
        return await self._run(self.memory.context, prompt, project, budget_tokens, as_of=as_of, agent=agent)

    async def ask(
        self, question: str, project: str | None = None, *, as_of: datetime | None = None, model: bool = True
    ) -> Answer:
        """Memory.ask"""
        return await self._run(self.memory.ask, question, project, as_of=as_of, model=model)

    async def remember(
        self, text: str, *, kind: str = "fact", project: str | None = None, pinned: bool = False, at: datetime | None = None,
        observer: str | None = None, subject: str | None = None,
    ) -> str:  # fmt: skip
        """Memory.remember"""
        return await self._run(
            self.memory.remember, text, kind=kind, project=project, pinned=pinned, at=at, observer=observer, subject=subject
        )

    async def correct(self, memory: str, text: str, *, at: datetime | None = None) -> str:
        """Memory.correct"""
        return await self._run(self.memory.correct, memory, text, at=at)

    async def pin(self, memory: str, pinned: bool = True) -> None:
        """Memory.pin"""
        await self._run(self.memory.pin, memory, pinned)

    async def done(self, memory: str, done: bool = True) -> None:
        """Memory.done"""
        await self._run(self.memory.done, memory, done)

    async def memories(self, project: str | None = None) -> list[Known]:
        """Memory.memories"""
        return await self._run(self.memory.memories, project)

    async def review(self) -> list[Waiting]:
        """Memory.review"""
        return await self._run(self.memory.review)

    async def accept(self, *memories: str) -> None:
        """Memory.accept"""
        await self._run(self.memory.accept, *memories)

    async def reject(self, *memories: str) -> None:
        """Memory.reject"""
        await self._run(self.memory.reject, *memories)

    async def edit(self, memory: str, text: str, *, at: datetime | None = None) -> str:
        """Memory.edit"""
        return await self._run(self.memory.edit, memory, text, at=at)

    async def why(self, memory: str) -> Lineage:
        """Memory.why"""
        return await self._run(self.memory.why, memory)

    async def forget(self, *, id: str | None = None, session: str | None = None, project: str | None = None) -> Forgotten:
        """Memory.forget"""
        return await self._run(self.memory.forget, id=id, session=session, project=project)

    async def sessions(self, project: str | None = None, limit: int = 50) -> list[Session]:
        """Memory.sessions"""
        return await self._run(self.memory.sessions, project, limit)

    async def turns(self, session: str, agent: str | None = None) -> list[Said]:
        """Memory.turns"""
        return await self._run(self.memory.turns, session, agent)

    async def show(self, id: str) -> Said | Session | Kept:
        """Memory.show"""
        return await self._run(self.memory.show, id)

    async def position(self) -> str:
        """Memory.position"""
        return await self._run(self.memory.position)

    async def arrived(self, after: str = "", project: str | None = None) -> tuple[str, list[News]]:
        """Memory.arrived"""
        return await self._run(self.memory.arrived, after, project)

    async def subscribe(
        self, after: str = "", project: str | None = None, *, timeout: float | None = None, every: float = 0.5
    ) -> AsyncIterator[News]:
        """Memory.subscribe, for `async for`. It waits in the loop and holds no thread meanwhile."""
        loop = asyncio.get_running_loop()
        last = loop.time()
        while True:
            after, news = await self.arrived(after, project)
            for each in news:
                yield each
            if news:
                last = loop.time()
            elif timeout is not None and loop.time() - last >= timeout:
                return
            else:
                await asyncio.sleep(every)

    async def board(self, project: str | None, *, observer: str | None = None, subject: str | None = None) -> Board:
        """Memory.board"""
        return await self._run(self.memory.board, project, observer=observer, subject=subject)

    async def messages(self, team: str, *, to: str | None = None, after: datetime | None = None) -> list[Said]:
        """Memory.messages"""
        return await self._run(self.memory.messages, team, to=to, after=after)
