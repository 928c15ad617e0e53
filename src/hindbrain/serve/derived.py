"""What is made from the ledger's rows -> whether it agrees with them, and the same made anew.

Two things are derived: the full-text index inside the ledger, and the file of signs beside it. Neither holds anything that the
rows do not, so making them anew loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Literal

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import ConfigError, EmbedderFailed
from hindbrain.base.home import Home
from hindbrain.ledger import vectors
from hindbrain.ledger.check import repair_index
from hindbrain.ledger.store import Ledger
from hindbrain.recall.matrix import Matrix
from hindbrain.serve.recalling import Recalling
from hindbrain.serve.status import noted_trouble

Grade = Literal["ok", "warning", "problem"]
Said = tuple[Grade, str, str]
Step = Callable[[str], None]

REBUILD = "hindbrain doctor --rebuild-index"


def embedding_findings(config: Config, ledger: Ledger, clock: Clock, step: Step) -> Iterator[Said]:
    """The embedder, whose vectors there are, how many are missing, and whether the derived file says what they say."""
    with ledger.reading() as database:
        model, (made, waiting) = vectors.model(database), vectors.counts(database)
    if config.embedder == "none":
        yield "ok", "no embedder: search goes by words", ""
        return
    try:
        matrix = Recalling(config, clock).matrix()
    except (EmbedderFailed, ConfigError) as error:
        yield "problem", error.message, error.hint
        return
    if matrix is None:
        return
    if model not in ("", matrix.model):
        hint = "the worker embeds everything anew; hindbrain daemon start"
        yield "warning", f"the vectors are of {model}, the embedder is {matrix.model}", hint
        return
    if trouble := noted_trouble(Home(config.home)):
        yield "warning", f"{waiting} turns and memories wait: {trouble}", "search goes by words for these meanwhile"
    yield from _matrix_findings(matrix, ledger, step)
    yield "ok", f"{made} vectors of {matrix.model}, {waiting} turns and memories wait", ""


def _matrix_findings(matrix: Matrix, ledger: Ledger, step: Step) -> Iterator[Said]:
    if matrix.rebuilt:
        yield "problem", f"{matrix.path.name} is not used: {matrix.rebuilt}", REBUILD
        return
    with ledger.reading() as database:
        _, wrong, _ = matrix.verify(database, lambda rows: step(f"{rows} vectors compared"))
    if wrong:
        yield "problem", f"{matrix.path.name} says something else than the ledger in {wrong} rows", REBUILD


def rebuild_derived(config: Config, ledger: Ledger, clock: Clock, step: Step) -> list[str]:
    """Make the full-text index and the file of signs anew; what was done, in words."""
    step("full-text index")
    repair_index(ledger)
    done = ["the full-text index"]
    with ledger.writing() as database:
        if vectors.model(database):
            vectors.mend(database)
    try:
        matrix = Recalling(config, clock).matrix()
    except (EmbedderFailed, ConfigError) as error:
        return [*done, f"but not the search by meaning: {error.message}"]
    if matrix is not None:
        with ledger.reading() as database:
            rows = matrix.rebuild(database, lambda rows: step(f"{rows} vectors"))
        done.append(f"the signs of {rows} vectors")
    return done
