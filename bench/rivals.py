"""No-op jobs through pgqueuer and procrastinate, each with its own worker, run as its documentation runs it.

Both get uvloop and their default durability, and a process's start is left out: the clock runs from a worker's first look for a
job to the moment the last counted job is on record as done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pgqueuer
import procrastinate
import uvloop
from pgqueuer.db import AsyncpgDriver
from pgqueuer.queries import Queries

SPARE = 400  # enqueued beyond those counted: a worker about to run dry waits for its timers, which says nothing about its speed

Call = Callable[..., Awaitable[Any]]


class Watch:
    """How long it took from the first look for a job until `wanted` jobs were on record."""

    def __init__(self, wanted: int) -> None:
        self._missing = wanted
        self._start = self.seconds = 0.0
        self.reached = asyncio.Event()

    def looking(self, look: Call) -> Call:
        async def looked(*args: Any, **named: Any) -> Any:
            self._start = self._start or time.perf_counter()
            return await look(*args, **named)

        return looked

    def recording(self, record: Call, size: Callable[..., int]) -> Call:
        async def recorded(*args: Any, **named: Any) -> None:
            await record(*args, **named)
            self._missing -= size(*args, **named)
            if self._missing <= 0 and not self.reached.is_set():
                self.seconds = time.perf_counter() - self._start
                self.reached.set()

        return recorded


class PgQueuer:
    """pgqueuer on asyncpg. Its own benchmark has several consumers in one process, each with a connection."""

    def __init__(self, url: str, batch: int, consumers: int) -> None:
        self._url, self._batch, self._consumers = url, batch, consumers

    def prepare(self) -> None:
        uvloop.run(self._with_queries(lambda queries: queries.install()))

    def fill(self, jobs: int) -> None:
        number = jobs + SPARE
        uvloop.run(self._with_queries(lambda queries: queries.clear_queue()))
        uvloop.run(self._with_queries(lambda queries: queries.enqueue(["noop"] * number, [b"{}"] * number, [0] * number)))

    async def _with_queries(self, act: Call) -> None:
        connection = await asyncpg.connect(self._url)
        await act(Queries(AsyncpgDriver(connection)))
        await connection.close()

    def run(self, jobs: int) -> float:
        return float(uvloop.run(self._run(Watch(jobs))))

    async def _run(self, watch: Watch) -> float:
        connections = [await asyncpg.connect(self._url) for _ in range(self._consumers)]
        workers = [self._worker(connection, watch) for connection in connections]
        running = [asyncio.ensure_future(worker.run(batch_size=self._batch)) for worker in workers]
        await asyncio.wait([asyncio.ensure_future(watch.reached.wait()), *running], return_when=asyncio.FIRST_COMPLETED)
        for worker in workers:
            worker.shutdown.set()
        await asyncio.gather(*running)
        for connection in connections:
            await connection.close()
        return watch.seconds

    def _worker(self, connection: Any, watch: Watch) -> Any:
        queries = Queries(AsyncpgDriver(connection))
        queries.dequeue = watch.looking(queries.dequeue)
        queries.log_jobs = watch.recording(queries.log_jobs, len)
        worker = pgqueuer.PgQueuer(queries.driver, queries=queries)
        worker.entrypoint("noop")(_noop)
        return worker


class Procrastinate:
    """procrastinate on psycopg, the driver it is made for. It fetches one job at a time, for each of so many tasks."""

    def __init__(self, url: str, concurrency: int) -> None:
        self._concurrency = concurrency
        self._app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url))
        self._task = self._app.task(name="noop")(_noop)

    def prepare(self) -> None:
        uvloop.run(self._opened(lambda: self._app.schema_manager.apply_schema_async()))

    def fill(self, jobs: int) -> None:
        uvloop.run(self._opened(lambda: self._task.batch_defer_async(*[{"job": None}] * jobs)))

    def run(self, jobs: int) -> float:
        return float(uvloop.run(self._run(Watch(jobs))))

    async def _opened(self, act: Call) -> None:
        async with self._app.open_async():
            await act()

    async def _run(self, watch: Watch) -> float:
        manager = self._app.job_manager
        fetch, finish = manager.fetch_job, manager.finish_job
        manager.fetch_job, manager.finish_job = watch.looking(fetch), watch.recording(finish, lambda **_: 1)
        try:
            await self._opened(lambda: self._app.run_worker_async(concurrency=self._concurrency, wait=False))
        finally:
            manager.fetch_job, manager.finish_job = fetch, finish
        return watch.seconds


async def _noop(job: Any) -> None:
    pass
