"""Jobs that others put into the database -> a call here, at once.

LISTEN on a connection of its own, because it has to wait where nothing else is asked. A notice may be missed (the connection was
away, or a pooler between us and the server keeps them back), so whoever listens also looks by itself now and then.
"""

from __future__ import annotations

import contextlib
import logging
import os
import random
import select
import threading
from collections.abc import Callable
from typing import Final

import psycopg

from hindbrain.base.errors import HindbrainError
from hindbrain.ledger.postgres.connect import Address, connect
from hindbrain.ledger.postgres.failures import translating

log = logging.getLogger("hindbrain.jobs")

CHANNEL: Final = "hindbrain_jobs"
_BACKOFF: Final = (1.0, 60.0)
_LAST_WORDS: Final = 2.0


class Listener:
    """Calls `heard` when jobs of the tenant were added, and once after every connecting, because some may have been missed."""

    def __init__(self, address: Address, heard: Callable[[], None]) -> None:
        self._address = address
        self._heard = heard
        self._stopping = threading.Event()
        self._bell_out, self._bell_in = os.pipe()
        self._thread = threading.Thread(target=self._run, name="listening", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._stopping.set()
        os.write(self._bell_in, b"\n")
        self._thread.join(_LAST_WORDS)
        if not self._thread.is_alive():  # else it still looks at the pipe; the process is ending anyway
            os.close(self._bell_in)
            os.close(self._bell_out)

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            try:
                with contextlib.closing(connect(self._address)) as session, translating(self._address.url):
                    session.execute(f"LISTEN {CHANNEL}")
                    failures = 0
                    self._heard()
                    self._listen(session)
            except (HindbrainError, OSError) as error:
                if not failures:
                    log.info("notices of new jobs do not come: %s", str(error).replace("\n", "; "))
                low, high = _BACKOFF
                self._stopping.wait(min(high, low * 2.0 ** min(failures, 20)) * random.uniform(0.5, 1.0))
                failures += 1

    def _listen(self, session: psycopg.Connection[tuple[object, ...]]) -> None:
        poll = select.poll()
        poll.register(session.fileno(), select.POLLIN)
        poll.register(self._bell_out, select.POLLIN)
        while not self._stopping.is_set():
            poll.poll()
            if self._stopping.is_set():
                return
            session.pgconn.consume_input()  # raises when the server has gone
            mine = False
            while (notice := session.pgconn.notifies()) is not None:
                mine = mine or notice.extra.decode("utf-8", "replace") in ("", self._address.tenant)
            if mine:
                self._heard()
