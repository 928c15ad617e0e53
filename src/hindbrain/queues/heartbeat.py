"""Jobs that are being worked on -> leases that do not run out while somebody is at them.

A thread and a connection of its own, so that no long transaction elsewhere costs a lease. It sleeps while there is nothing to
renew. A lease that is found lost is told to whoever works on the job; what comes of that work is refused by the queue anyway.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Sequence
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.evidence import Evidence
from hindbrain.queues.queue import Queue
from hindbrain.queues.task import Call

log = logging.getLogger("hindbrain.jobs")

_PER_LEASE: Final = 3  # two may fail
_PER_LEASE_FAILING: Final = 10


class Heartbeat:
    """Renews the leases of what `held` gives, from start to stop."""

    def __init__(
        self, open_ledger: Callable[[], Evidence], clock: Clock, lease_seconds: float, held: Callable[[], Sequence[Call]]
    ) -> None:
        self._open = open_ledger
        self._clock = clock
        self._lease = lease_seconds
        self._held = held
        self._bell = threading.Event()
        self._leaving = threading.Event()
        self._failing = False
        self._ledger: Evidence | None = None
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """There is something to renew again."""
        self._bell.set()

    def stop(self, timeout: float) -> None:
        self._leaving.set()
        self._bell.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _run(self) -> None:
        try:
            while not self._leaving.is_set():
                self._bell.wait()
                self._bell.clear()
                while self._held() and not self._leaving.wait(self._pause()):
                    self._try()
        finally:
            self._close()

    def _pause(self) -> float:
        return self._lease / (_PER_LEASE_FAILING if self._failing else _PER_LEASE)

    def _try(self) -> None:
        try:
            self._beat()
            self._failing = False
        except Exception as error:  # noqa: BLE001  # a thread's boundary: without heartbeats every lease would be lost
            if not self._failing:
                log.warning("leases are not renewed: %s", str(error).replace("\n", "; "))
            self._failing = True
            self._close()

    def _beat(self) -> None:
        calls = list(self._held())
        if not calls:
            return
        if self._ledger is None:
            self._ledger = self._open()
        ours = Queue(self._ledger, self._clock, lease_seconds=self._lease).heartbeat([job for call in calls for job in call.jobs])
        for call in calls:  # one that has ended may just have been written down
            if call.state != "ended" and not all(job.id in ours for job in call.jobs) and not call.task.stopping.is_set():
                log.warning("job %s is no longer ours", call.name)
                call.task.stopping.set()

    def _close(self) -> None:
        ledger, self._ledger = self._ledger, None
        if ledger is not None:
            with contextlib.suppress(HindbrainError):
                ledger.close()
