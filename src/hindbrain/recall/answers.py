"""What a model answered -> checked rows of length 1.

An answer is somebody else's until it is checked: as many rows as there were texts, all of one width, nothing but finite numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from hindbrain.base.errors import EmbedderFailed
from hindbrain.recall.static import Floats

MAX_CHARS: Final = 8_000  # of one text; what is longer is cut into passages before
MAX_DIMENSIONS: Final = 16_384


class Once:
    """How many numbers a model's vectors have, once that is known."""

    def __init__(self) -> None:
        self.known = 0

    def learn(self, found: int, model: str) -> int:
        """Take note. Raises EmbedderFailed for another number than before, and goes by the new one from then on: the name of the
        embedder changes with it, and what is stored under the old one is embedded anew."""
        before, self.known = self.known, found
        if before and before != found:
            raise EmbedderFailed(
                f"{model} answered with vectors of {found} numbers: they had {before} before", retryable=True,
                hint="the model behind that name was changed; everything is embedded anew",
            )  # fmt: skip
        return found


def unit_rows(answer: Sequence[Any], count: int, model: str) -> Floats:
    """The answer as an array, each row of length 1."""
    if len(answer) != count:
        raise EmbedderFailed(f"{model} answered with {len(answer)} vectors: {count} texts were given", hint=_HINT)
    try:
        rows = np.array(answer)
    except (ValueError, OverflowError, RecursionError) as error:
        raise EmbedderFailed(f"{model} answered with vectors that differ in width", hint=_HINT) from error
    if rows.dtype.kind not in "fiu" or rows.ndim != 2 or not 1 <= rows.shape[1] <= MAX_DIMENSIONS:
        raise EmbedderFailed(f"{model} answered with {rows.dtype.name} of shape {rows.shape}: vectors were expected", hint=_HINT)
    rows = rows.astype(np.float64)
    if not np.isfinite(rows).all():
        raise EmbedderFailed(f"{model} answered with numbers that are not finite", hint=_HINT)
    rows /= np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-300)  # squares of the largest numbers do not exist
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Floats = np.divide(rows, norms, out=rows, where=norms > 0).astype(np.float32)
    return found


_HINT: Final = "see that the model is one for embeddings; search goes by words meanwhile"
