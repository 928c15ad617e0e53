"""A question that has no time to spare -> the shared ledger's answer, or at once the news that there is none in time.

A hook has 150 ms for everything. So the shared ledger is kept open by a thread of its own, and whoever asks waits for that
thread no longer than he says; a server that hangs holds up the thread and nobody else. After a failure it is left alone for
some seconds.
"""

from __future__ import annotations

import contextlib
import logging
import queue
import threading
from collections.abc import Callable
from typing import Final, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.evidence import Evidence
from hindbrain.recall import context, rank

log = logging.getLogger("hindbrain.asking")

ANSWER_SECONDS: Final = 0.08
PAUSE_SECONDS: Final = 5.0
_WARM_UPS: Final = 2

Answer = TypeVar("Answer")
_Work = Callable[[Evidence], None]


class NoAnswer(Exception):
    """The shared ledger does not answer in time; another ledger has to."""


class Warm(threading.Thread):
    """Keeps the shared ledger open until it is closed."""

    def __init__(self, open_ledger: Callable[[], Evidence], clock: Clock) -> None:
        super().__init__(name="warm", daemon=True)
        self._open_ledger = open_ledger
        self._clock = clock
        self._work: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()
        self._free = threading.Event()  # the ledger is open and nobody is being answered
        self._ended = threading.Event()

    def close(self) -> None:
        """Stop; a call that hangs is left to itself."""
        self._ended.set()
        self._work.put(None)
        if self.is_alive():
            self.join(timeout=1.0)

    def ask(self, question: Callable[[Evidence], Answer], seconds: float = ANSWER_SECONDS) -> Answer:
        """What the question gives within the time. Raises NoAnswer."""
        if not self._free.is_set():
            raise NoAnswer
        self._free.clear()
        replies: queue.SimpleQueue[Answer] = queue.SimpleQueue()

        def work(ledger: Evidence) -> None:
            begun = self._clock.elapsed()
            answer = question(ledger)
            if self._clock.elapsed() - begun > seconds:
                self._ended.wait(PAUSE_SECONDS)  # it is there, but busy
            self._free.set()
            replies.put(answer)

        self._work.put(work)
        try:
            return replies.get(timeout=seconds)
        except queue.Empty:
            raise NoAnswer from None

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                with self._open_ledger() as ledger:
                    self._serve(ledger)
            except HindbrainError as error:
                log.debug("the shared ledger is not asked for now: %s", error.message)
            except Exception:  # the thread's own boundary: answers come from the home's own ledger meanwhile
                log.exception("asking the shared ledger failed")
            self._free.clear()
            self._ended.wait(PAUSE_SECONDS)
            self._forget_questions()

    def _serve(self, ledger: Evidence) -> None:
        for _ in range(_WARM_UPS):
            with ledger.reading() as connection:
                context.build(connection, context.Asked(rank.Scope(None), prompt="the first question takes longest"))
        self._free.set()
        while not self._ended.is_set():
            work = self._work.get()
            if work is None:
                return
            work(ledger)

    def _forget_questions(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                self._work.get_nowait()
