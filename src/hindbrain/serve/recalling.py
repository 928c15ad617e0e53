"""A configuration -> the one search of a process: by words and meaning, or by words alone where meaning cannot be had.

Everything heavy (numpy, the table, the derived matrix) is loaded when something is first searched. `search` has the shape of
`rank.search`, on either engine, and never fails for the embedder's sake: what keeps it from the meaning is in `trouble`.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import ConfigError, EmbedderFailed
from hindbrain.base.home import Home
from hindbrain.ledger.database import Database, is_sqlite
from hindbrain.recall import context, rank
from hindbrain.recall.counting import counter

if TYPE_CHECKING:
    from hindbrain.recall.embedder import Embedder
    from hindbrain.recall.matrix import Matrix
    from hindbrain.recall.search import Finder
    from hindbrain.recall.static import Floats, Static

log = logging.getLogger("hindbrain.recall")

# An embedder that failed is left alone for so long, so that not every question waits for it.
PAUSE_SECONDS: Final = 15.0
# What a hook's question may spend on a vector from elsewhere, of its 150 ms.
HURRY_SECONDS: Final = 0.05


class Recalling:
    """The search of one process over one home's ledger, and over the shared one if there is one. Any thread may use it.

    `hurried` is for hooks: nothing is loaded or looked up for them that may take long.
    """

    def __init__(self, config: Config, clock: Clock, *, hurried: bool = False) -> None:
        self.trouble = ""
        self._config = config
        self._clock = clock
        self._hurried = hurried
        self._guard = threading.Lock()
        self._loaded = False
        self._static: Static | None = None
        self._embedder: Embedder | None = None
        self._matrix: Matrix | None = None
        self._finders: dict[str, Finder] = {}
        self._again_at = 0.0

    def search(
        self, database: Database, question: str, scope: rank.Scope, k: int, *, talk_only: bool = False
    ) -> list[rank.Found]:
        """The best fits, best first."""
        finder = self._finder(database)
        if finder is None:
            return rank.search(database, question, scope, k, talk_only=talk_only)
        try:
            found = finder.search(database, question, scope, k, talk_only=talk_only)
            if self._clock.elapsed() >= self._again_at:
                self.trouble = ""
            return found
        except EmbedderFailed as error:
            self._fail(error)
            return self._by_words().search(database, question, scope, k, talk_only=talk_only)

    def build(self, database: Database, asked: context.Asked, health: str = "") -> tuple[str, list[rank.Found]]:
        """A block, as context.build makes it, of what this search finds."""
        return context.build(database, asked, health, self.search, counter())

    @property
    def embedder(self) -> Embedder | None:
        """What makes the vectors; None for nothing. Raises EmbedderFailed or ConfigError when it cannot be used."""
        with self._guard:
            if self._embedder is None:
                from hindbrain.recall.embedder import configured

                self._embedder = configured(self._config)
            return self._embedder

    def matrix(self) -> Matrix | None:
        """The derived side of this home's vectors; None without an embedder. Raises EmbedderFailed."""
        embedder = self.embedder
        if embedder is None:
            return None
        name, dimensions = embedder.name, embedder.dimensions
        with self._guard:
            if self._matrix is None or self._matrix.model != name:
                from hindbrain.recall.matrix import Matrix

                self._matrix = Matrix.open(Home(self._config.home).derived, name, dimensions)
                self._finders.clear()
            return self._matrix

    def load(self) -> None:
        """Have everything at hand; what fails is in `trouble`."""
        counter()
        try:
            self._load_static()
            if self.matrix() is not None:
                import hindbrain.recall.search  # noqa: F401  # with all it needs
        except (EmbedderFailed, ConfigError) as error:
            self._fail(error)
        self._loaded = True

    def _load_static(self) -> None:
        if self._static is None and self._config.embedder != "none":
            from hindbrain.recall.static import Static

            self._static = Static.load()

    def _finder(self, database: Database) -> Finder | None:
        """The search for this engine; None while nothing is loaded and there is no time to."""
        if not self._loaded:
            if self._hurried:
                return None
            self.load()
        if self._clock.elapsed() < self._again_at:
            return self._by_words()
        try:
            # for a hook only what another thread has brought: an embedder elsewhere is asked for its name at first
            matrix = self._matrix if self._hurried else self.matrix()
            return self._by_words() if matrix is None else self._known(matrix, is_sqlite(database))
        except (EmbedderFailed, ConfigError) as error:
            self._fail(error)
            return self._by_words()

    def _known(self, matrix: Matrix, own: bool) -> Finder:
        """The search of the home's own ledger, or of the shared one, which needs no matrix."""
        embedder, name = self.embedder, "own" if own else "shared"
        with self._guard:
            found = self._finders.get(name)
        if found is None:
            from hindbrain.recall.meaning import Meaning
            from hindbrain.recall.search import Finder

            assert embedder is not None  # there is a matrix
            near = Meaning(self._in_time(embedder), matrix if own else None, hurried=self._hurried)
            found = Finder(self._static, near, self._clock.now_ms)
            with self._guard:
                self._finders[name] = found
        return found

    def _by_words(self) -> Finder:
        from hindbrain.recall.search import Finder

        return Finder(self._static, None, self._clock.now_ms)

    def _in_time(self, embedder: Embedder) -> Embedder:
        from hindbrain.recall.static import Static

        return embedder if isinstance(embedder, Static) or not self._hurried else _Hurried(embedder)

    def _fail(self, error: EmbedderFailed | ConfigError) -> None:
        self._again_at = self._clock.elapsed() + PAUSE_SECONDS
        if self.trouble != error.message:
            log.warning("search goes by words alone: %s; hint: %s", error.message, error.hint)
        self.trouble = error.message


class _Hurried:
    """An embedder elsewhere that is waited for no longer than a hook can; one question at a time."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._free = threading.Lock()

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    def documents(self, texts: Sequence[str]) -> Floats:
        return self._embedder.documents(texts)

    def question(self, text: str) -> Floats:
        """One row. Raises EmbedderFailed when it is not there in time."""
        answers: queue.SimpleQueue[Floats | EmbedderFailed] = queue.SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._embedder.question(text))
            except EmbedderFailed as error:
                answers.put(error)
            finally:
                self._free.release()

        late = EmbedderFailed("the embedder does not answer in the time a hook has", retryable=True)
        if not self._free.acquire(blocking=False):
            raise late
        threading.Thread(target=ask, name="asking an embedder", daemon=True).start()
        try:
            found = answers.get(timeout=HURRY_SECONDS)
        except queue.Empty:
            raise late from None
        if isinstance(found, EmbedderFailed):
            raise found
        return found
