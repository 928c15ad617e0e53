"""Turns and memories that wait for vectors -> vectors in the ledger, a batch at a time.

The embedder works outside of any transaction, so nobody waits for it; what it made is stored in a short one, and only for texts
that are still the same. A batch that fails as a whole is halved until the text that makes it fail is alone: that one is stored
without a vector, and the log says so. An embedder that is away is no fault of a text: then everything waits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from hindbrain.base.errors import EmbedderFailed
from hindbrain.ledger import vectors
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.vectors import Piece, Waiting
from hindbrain.recall.embedder import Embedder
from hindbrain.recall.matrix import SAVED_ROWS, Matrix, quantised, signs
from hindbrain.recall.passages import Span, passages
from hindbrain.recall.static import Floats, Static

log = logging.getLogger("hindbrain.embedding")

BATCH: Final = 500
# Of a model behind a network less is at stake when it goes away in the middle.
BATCH_ELSEWHERE: Final = 64
_PROBE: Final = "Is anybody there?"


def batch_of(embedder: Embedder) -> int:
    """How many items are embedded between two looks at everything else."""
    return BATCH if isinstance(embedder, Static) else BATCH_ELSEWHERE


def adopt(ledger: Evidence, embedder: Embedder) -> bool:
    """Have the ledger use this embedder's vectors from now on; True when it had none or another's, and everything waits."""
    name = embedder.name
    with ledger.reading() as database:
        if vectors.model(database) == name:
            return False
    with ledger.writing() as database:
        changed = vectors.use_model(database, name)
    if changed:
        log.info("vectors are made by %s from now on", name)
    return changed


def model_of(ledger: Evidence) -> str:
    """Whose vectors the ledger uses; "" before the first."""
    with ledger.reading() as database:
        return vectors.model(database)


def anything_waits(ledger: Evidence) -> bool:
    with ledger.reading() as database:
        return bool(vectors.waiting(database, 1))


def embed_some(ledger: Evidence, embedder: Embedder, limit: int, *, isolating: bool = False) -> int:
    """Embed at most this many of the items that wait; how many were stored. Raises EmbedderFailed, then nothing was.

    With `isolating` a failure that may pass is taken for a text's own fault, if the embedder answers otherwise.
    """
    with ledger.reading() as database:
        items = vectors.waiting(database, limit)
    if not items:
        return 0
    done = list(_embedded(items, embedder, isolating))
    with ledger.transaction() as database:
        vectors.store(database, embedder.name, done)
    return len(items)


def embed_all(ledger: Evidence, embedder: Embedder, go_on: Callable[[], bool] = lambda: True) -> bool:
    """Embed everything that waits; False when it was told to stop before. Raises EmbedderFailed."""
    while go_on():
        if not embed_some(ledger, embedder, batch_of(embedder), isolating=True):
            return True
    return False


def keep_matrix(ledger: Evidence, matrix: Matrix) -> bool:
    """Write the derived file if that is worth it: much is new, much is gone, or the file is."""
    with ledger.reading() as database:
        made, _ = vectors.counts(database)
        gone = matrix.rows - made
        much = max(SAVED_ROWS, matrix.rows // 100)  # the whole file is written each time
        missing = matrix.rows >= SAVED_ROWS and not matrix.path.exists()
        if not missing and matrix.unsaved < much and gone < 10 * much:
            return False
        matrix.save(database)
    return True


def _embedded(items: Sequence[Waiting], embedder: Embedder, isolating: bool) -> Iterator[tuple[Waiting, list[Piece]]]:
    cut = [passages(item.text) for item in items]
    texts = [item.text[start:end] for item, spans in zip(items, cut, strict=True) for start, end in spans]
    rows = quantised(_rows(texts, embedder, isolating))
    bits = signs(rows)
    at = 0
    for item, spans in zip(items, cut, strict=True):
        places = range(at, at + len(spans))
        yield item, [_piece(span, rows[place], bits[place]) for span, place in zip(spans, places, strict=True)]
        at += len(spans)


def _piece(span: Span, row: NDArray[np.int8], bits: NDArray[np.uint8]) -> Piece:
    """A row of zeros means nothing, and is kept as such."""
    return Piece(*span, row.tobytes(), bits.tobytes()) if row.any() else Piece(*span, b"")


def _rows(texts: list[str], embedder: Embedder, isolating: bool) -> Floats:
    """A row for each text; zeros for one that cannot be embedded."""
    if not texts:
        return np.zeros((0, embedder.dimensions), np.float32)
    try:
        return embedder.documents(texts)
    except EmbedderFailed as error:
        # one that is away, or asks to be left alone, fails for every text
        if error.after is not None or (error.retryable and not isolating):
            raise
        _see_that_it_answers(embedder)
        if len(texts) == 1:
            log.warning("a text of %d letters gets no vector: %s", len(texts[0]), error.message)
            return np.zeros((1, embedder.dimensions), np.float32)
    middle = len(texts) // 2
    return np.concatenate([_rows(texts[:middle], embedder, isolating), _rows(texts[middle:], embedder, isolating)])


def _see_that_it_answers(embedder: Embedder) -> None:
    """Raises EmbedderFailed when it fails for a plain text as well."""
    embedder.documents([_PROBE])
