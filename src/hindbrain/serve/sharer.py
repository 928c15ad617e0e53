"""A worker's spare time -> a shared ledger that keeps up: a thread that shares after each pass, and waits while nobody answers.

It has connections of its own, so taking in and answering never wait for it. While the database is away it tries again after
one second, then two, at most every minute, and says so once; a pass that is cut off is simply done again.
"""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable
from typing import Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError, LedgerBusy, LedgerNotReady
from hindbrain.base.files import storage_error
from hindbrain.base.home import Home
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.serve import shared_state
from hindbrain.serve.engines import Shared, machine_id, shared_of
from hindbrain.serve.health import ASK
from hindbrain.serve.shared_state import State
from hindbrain.serve.sharing import Passed, Sharing, Step, gone
from hindbrain.serve.warm import ANSWER_SECONDS, Warm

log = logging.getLogger("hindbrain.sharing")

# Other machines' wishes to forget are looked for this often while this home has nothing to tell.
LOOK_SECONDS: Final = 60.0
FIRST_SECONDS: Final = 1.0
LONGEST_SECONDS: Final = 60.0
STAY_SECONDS: Final = 3600.0
_CLOSE_SECONDS: Final = 5.0
# A failure younger than this is a matter between us and the server.
TOLD_AFTER_MS: Final = 3_600_000


class Sharer(threading.Thread):
    """Shares until it is stopped. `on_wish` is called when another machine's wish to forget came into the journal, `on_shared`
    when the shared ledger got something new."""

    def __init__(
        self, shared: Shared, clock: Clock, on_wish: Callable[[], None], *, first_seconds: float = FIRST_SECONDS,
        on_shared: Callable[[], None] = lambda: None,
    ) -> None:  # fmt: skip
        super().__init__(name="sharing", daemon=True)
        self._shared = shared
        self._home = shared.home
        self._clock = clock
        self._on_wish = on_wish
        self._on_shared = on_shared
        self._first_seconds = first_seconds
        self._bell = threading.Event()
        self._ended = threading.Event()
        self._failures = 0  # in a row
        self._said: str | None = None  # which state the log last told of: "" for all is well, None before anything
        self._missed = False  # the log has told of segments that are gone
        self.complete = False  # in this life
        self.behind = True  # something may be waiting
        self._since = clock.elapsed()  # and since when

    def wake(self) -> None:
        """There may be something to share."""
        if not self.behind:
            self._since = self._clock.elapsed()
        self.behind = True
        self._bell.set()

    def close(self) -> None:
        """Stop; a pass under way is given a moment, and is done again by the next worker otherwise."""
        self._ended.set()
        self._bell.set()
        if self.is_alive():
            self.join(timeout=_CLOSE_SECONDS)

    def stay(self) -> float:
        """How long the worker should stay for our sake before it asks again: a server that is back is told at once, not at the
        next hook call. One that stays away for long is not waited for."""
        if not self.behind or self._clock.elapsed() - self._since > STAY_SECONDS:
            return 0.0
        return 5.0

    @property
    def in_trouble(self) -> bool:
        """Whether the last try of this life failed."""
        return bool(self._said)

    def run(self) -> None:
        while not self._ended.is_set():
            try:
                self._share_until_ended()
                return
            except HindbrainError as error:
                self._say(error)
            except OSError as error:
                self._say(storage_error("share", self._home.root, error))
            except Exception as error:  # noqa: BLE001  # the thread's boundary: what was not shared is shared by the next try
                self._say(HindbrainError(f"sharing failed: {type(error).__name__}: {error}"), error)
            # a hook call must not shorten this: every call of every agent would knock at a server that is in trouble
            self._ended.wait(delay_after(self._failures, self._first_seconds))
            self._failures += 1

    def _share_until_ended(self) -> None:
        machine = machine_id(self._home)
        with Ledger.open(self._home.ledger, self._clock, read_only=True) as local, self._shared.open() as shared:
            sharing = Sharing(self._home, self._clock, machine)
            while not self._ended.is_set():
                self._bell.clear()
                self._passed(sharing.run(local, shared, self._stop_if_ended))
                if not self._bell.wait(LOOK_SECONDS):
                    self._since = self._clock.elapsed()

    def _stop_if_ended(self, lines: int) -> None:
        if self._ended.is_set():
            raise HindbrainError("sharing was stopped; the next worker goes on")

    def _passed(self, done: Passed) -> None:
        self.complete = True
        self.behind = self._bell.is_set()
        self._failures = 0
        note(self._home, self._shared.name, self._clock, done=done)
        if done.missing and not self._missed:
            self._missed = True
            log.warning("%s", gone(done.missing).message)
        if self._said != "":
            log.info("the shared ledger %s has everything of this home", self._shared.name)
            self._said = ""
        if done.lines:
            log.info("shared %d lines", done.lines)
            self._on_shared()
        if done.wishes:
            log.info("%d wishes to forget came from other machines", done.wishes)
            self._on_wish()

    def _say(self, error: HindbrainError, unexpected: Exception | None = None) -> None:
        # a server that goes away says so in many ways: refused, closed, starting up; that is one state all the same
        state = type(error).__name__ if isinstance(error, LedgerBusy) else error.message
        if self._ended.is_set() or self._said == state:
            return
        self._said = state
        note(self._home, self._shared.name, self._clock, error=error)
        log.warning("nothing is shared for now: %s; hint: %s", error.message, error.hint, exc_info=unexpected)


class SharedPart:
    """The shared ledger's part of a worker: what keeps it up to date, and what asks it for hooks."""

    def __init__(
        self, config: Config, clock: Clock, ring: Callable[[], None], on_shared: Callable[[], None] = lambda: None
    ) -> None:
        shared = shared_of(config, clock)
        if shared is None:
            raise ValueError("no ledger is shared")
        self._name = shared.name
        self._home = shared.home
        self._clock = clock
        self._sharer = sharer = Sharer(shared, clock, ring, on_shared=on_shared)

        def open_warm() -> Evidence:
            if not sharer.complete:
                raise LedgerNotReady("the shared ledger has not got everything of this home yet")
            return shared.open(read_only=True, statement_seconds=ANSWER_SECONDS, pool_size=1)

        self.warm = Warm(open_warm, clock)

    def start(self) -> None:
        self._sharer.start()
        self.warm.start()

    def wake(self) -> None:
        """The home's own ledger has taken something in."""
        self._sharer.wake()

    def stay(self) -> float:
        return self._sharer.stay()

    def trouble(self) -> str:
        """What an agent should pass on to its user when nothing could be shared for long; "" otherwise."""
        if not self._sharer.in_trouble:
            return ""
        return trouble(shared_state.read(self._home, self._name), self._clock.now_ms())

    def close(self) -> None:
        self.warm.close()
        self._sharer.close()


def trouble(state: State, now_ms: int) -> str:
    """The sentence, if it has been so for long enough."""
    if state.behind_ms is None or now_ms - state.behind_ms < TOLD_AFTER_MS:
        return ""
    hours = (now_ms - state.behind_ms) / 3_600_000
    return f"Hindbrain could share nothing with other machines for {hours:.0f} hours ({state.error}); {ASK}"


def delay_after(failures: int, first: float) -> float:
    """Twice as long each time, between half and whole, so that many machines do not knock together."""
    whole = min(LONGEST_SECONDS, first * 2.0 ** min(failures, 10))
    return random.uniform(whole / 2, whole)


def note(
    home: Home, database: str, clock: Clock, *, done: Passed | None = None, error: HindbrainError | None = None
) -> State:
    """Write down how sharing stands, if that is news."""
    before = shared_state.read(home, database)
    after = before
    if done is not None:
        after = shared_state.passed(before, done.reached, gone(done.missing) if done.missing else None)
    elif error is not None and (error.message != before.error or before.behind_ms is None):
        after = shared_state.failed(before, error, clock.now_ms())
    if after != before:
        try:
            shared_state.write(home, after)
        except HindbrainError as failure:
            log.info("how sharing stands was not written down: %s", failure.message)
    return after


def share_now(shared: Shared, clock: Clock, step: Step = lambda lines: None) -> Passed:
    """One pass of a command or a program, beside whatever worker there is. Raises LedgerError when the database is away."""
    home = shared.home
    machine = machine_id(home)
    try:
        with Ledger.open(home.ledger, clock, read_only=True) as local, shared.open() as ledger:
            done = Sharing(home, clock, machine).run(local, ledger, step)
    except HindbrainError as error:
        note(home, shared.name, clock, error=error)
        raise
    except OSError as error:
        raise storage_error("share", home.root, error) from error
    note(home, shared.name, clock, done=done)
    return done


