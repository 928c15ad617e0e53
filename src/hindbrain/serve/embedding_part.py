"""A worker's spare time -> vectors for everything that waits for them: a thread that sleeps until there is something new.

It has connections of its own and writes in short transactions, so taking in and answering go on meanwhile. Numpy and the embedder
are loaded with the first text. An embedder that fails is tried again after one second, then two, at most every minute; search
answers by words until it is back, and `status` says why.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import EmbedderFailed, HindbrainError, LedgerBusy, LedgerError
from hindbrain.base.home import Home
from hindbrain.ledger import vectors
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.store import Ledger
from hindbrain.recall import rank
from hindbrain.serve.engines import shared_of
from hindbrain.serve.recalling import Recalling
from hindbrain.serve.sharer import LONGEST_SECONDS, delay_after
from hindbrain.serve.status import note_trouble

if TYPE_CHECKING:
    from hindbrain.recall.embedder import Embedder

log = logging.getLogger("hindbrain.embedding")

FIRST_SECONDS: Final = 1.0
# An embedder that is away is waited for no longer than this before the worker may leave.
STAY_SECONDS: Final = 900.0
# After so many failures in a row it may be a text that does it.
_PATIENCE: Final = 3
_CLOSE_SECONDS: Final = 5.0
_LOOK_SECONDS: Final = 0.5


class EmbeddingPart(threading.Thread):
    """Embeds until it is closed: in the home's own ledger, then in the shared one where there is one."""

    def __init__(self, config: Config, clock: Clock, recalling: Recalling, *, first_seconds: float = FIRST_SECONDS) -> None:
        super().__init__(name="embedding", daemon=True)
        self._config = config
        self._home = Home(config.home)
        self._clock = clock
        self._recalling = recalling
        self._shared = shared_of(config, clock)
        self._first_seconds = first_seconds
        self._bell = threading.Event()
        self._bell.set()
        self._ended = threading.Event()
        self._busy = True
        self._failures = 0  # in a row
        self._failing_since = 0.0
        self._hopeless = False  # trying again will not help
        self._adopted: set[tuple[str, str]] = set()  # which ledger was told to use which model
        self._warm = False
        self.trouble = ""

    def wake(self) -> None:
        """There may be something to embed."""
        self._bell.set()

    def close(self) -> None:
        """Stop; a call of an embedder that hangs is left to itself, and its texts wait for the next worker."""
        self._ended.set()
        self._bell.set()
        if self.is_alive():
            self.join(timeout=_CLOSE_SECONDS)

    def stay(self) -> float:
        """How long the worker should stay for our sake before it asks again."""
        if not self.is_alive() or not (self._busy or self._bell.is_set()):
            return 0.0
        if not self._failures:
            return _LOOK_SECONDS
        return 5.0 if not self._hopeless and self._clock.elapsed() - self._failing_since < STAY_SECONDS else 0.0

    def run(self) -> None:
        while not self._ended.is_set():
            self._bell.wait()
            self._busy = True
            self._bell.clear()
            try:
                self._embed()
                self._went_well()
            except HindbrainError as error:
                self._wait_after(error)
            except Exception as error:  # the thread's boundary: what was not embedded waits in the ledger
                log.exception("embedding failed")
                self._wait_after(HindbrainError(f"embedding failed: {type(error).__name__}: {error}"))

    def _went_well(self) -> None:
        self._failures = 0
        self._say("")
        self._busy = False

    def _wait_after(self, error: HindbrainError) -> None:
        """A hook call must not shorten this: every call of every agent would knock at a server that is in trouble."""
        if not self._failures:
            self._failing_since = self._clock.elapsed()
        if not isinstance(error, LedgerBusy):  # our own database is busy: that is no news
            self._say(error.message)
        self._hopeless = isinstance(error, EmbedderFailed) and not error.retryable
        asked = error.after if isinstance(error, EmbedderFailed) and error.after is not None else 0.0
        self._ended.wait(max(delay_after(self._failures, self._first_seconds), min(asked, LONGEST_SECONDS)))
        self._failures += 1
        self._bell.set()

    def _embed(self) -> None:
        with Ledger.open(self._home.ledger, self._clock) as ledger:
            if not _concerns(ledger):
                return
            self._recalling.load()
            embedder = self._recalling.embedder
            if embedder is None:
                return
            self._warm_up(ledger)
            self._embed_in(ledger, "own", embedder)
            self._keep_matrix(ledger)
        if self._shared is not None and not self._ended.is_set():
            with contextlib.suppress(LedgerError), self._shared.open() as shared:  # whoever shares says what is wrong with it
                self._embed_in(shared, "shared", embedder)

    def _embed_in(self, ledger: Evidence, which: str, embedder: Embedder) -> None:
        from hindbrain.serve.embedding import adopt, batch_of, embed_some, model_of

        model, name = model_of(ledger), embedder.name
        # Once in a life, and a shared ledger only when it has none: two that are configured differently would go on for ever.
        if not model or (which == "own" and (which, name) not in self._adopted):
            adopt(ledger, embedder)
        elif model != name:
            raise EmbedderFailed(
                f"the {which} ledger's vectors are made by {model}, not by {name}",
                hint="set the same embedder everywhere; search in that ledger goes by words meanwhile",
            )
        self._adopted.add((which, name))
        done = 0
        while not self._ended.is_set():
            made = embed_some(ledger, embedder, batch_of(embedder), isolating=self._failures >= _PATIENCE)
            if not made:
                break
            done += made
            if which == "own":
                self._follow(ledger)
        if done:
            log.info("embedded %d turns and memories", done)

    def _warm_up(self, ledger: Evidence) -> None:
        """The first question takes longest, and a hook has no time for it."""
        if not self._warm:
            with ledger.reading() as database:
                self._recalling.search(database, "the first question takes longest", rank.Scope(None), 1)
            self._warm = True

    def _follow(self, ledger: Evidence) -> None:
        """Have those who ask see what is new."""
        if (matrix := self._recalling.matrix()) is not None:
            with ledger.reading() as database:
                matrix.top_up(database)

    def _keep_matrix(self, ledger: Evidence) -> None:
        self._follow(ledger)
        if (matrix := self._recalling.matrix()) is not None:
            from hindbrain.serve.embedding import keep_matrix

            keep_matrix(ledger, matrix)

    def _say(self, trouble: str) -> None:
        if trouble == self.trouble or self._ended.is_set():
            return
        self.trouble = trouble
        if trouble:
            log.warning("nothing is embedded for now: %s", trouble)
        try:
            note_trouble(self._home, trouble)
        except HindbrainError as error:
            log.info("how embedding stands was not written down: %s", error.message)


def _concerns(ledger: Evidence) -> bool:
    """Whether there is anything to embed or to search by meaning; asked before anything heavy is loaded."""
    with ledger.reading() as database:
        return bool(vectors.model(database) or vectors.waiting(database, 1))
