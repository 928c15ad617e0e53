"""Texts -> vectors of a model that fastembed runs in this process.

The package is an extra and large; it is loaded with the first text. It fetches a model it does not have yet over the network and
keeps it in a cache of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from typing import Any, Final

import numpy as np

from hindbrain.base.errors import EmbedderFailed
from hindbrain.recall.answers import MAX_CHARS, Once, unit_rows
from hindbrain.recall.static import Floats

BATCH: Final = 64


class Local:
    """A model of fastembed."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = Lock()  # the model is loaded once and used by one thread at a time
        self._loaded: Any = None
        self._size = Once()

    @property
    def name(self) -> str:
        return f"fastembed:{self._model}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._size.known or self._size.learn(self._rows(["dimensions"], "embed").shape[1], self._model)

    def documents(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text; zeros for a text without content."""
        given = {place: text[:MAX_CHARS] for place, text in enumerate(texts) if text.strip()}
        rows = self._rows(list(given.values()), "passage_embed") if given else np.zeros((0, self.dimensions), np.float32)
        found = np.zeros((len(texts), rows.shape[1]), np.float32)
        found[list(given)] = rows
        return found

    def question(self, text: str) -> Floats:
        """One row of length 1."""
        if not text.strip():
            return np.zeros(self.dimensions, np.float32)
        found: Floats = self._rows([text[:MAX_CHARS]], "query_embed")[0]
        return found

    def _rows(self, texts: list[str], way: str) -> Floats:
        with self._lock:
            self._loaded = self._loaded or _load(self._model)
            embed: Callable[..., Iterable[Any]] = getattr(self._loaded, way)
            try:
                rows = list(embed(texts) if way == "query_embed" else embed(texts, batch_size=BATCH))
            except Exception as error:  # whatever the runtime below raises, it did not embed
                raise EmbedderFailed(f"{self._model} could not embed {len(texts)} texts: {error}") from error
        found = unit_rows(rows, len(texts), self._model)
        self._size.learn(found.shape[1], self._model)
        return found


def _load(model: str) -> Any:
    try:
        from fastembed import TextEmbedding
    except ImportError as error:
        raise EmbedderFailed(
            f"cannot use fastembed:{model}: {error}", hint="pip install 'hindbrain[fastembed]', or set embedder to static"
        ) from error
    try:
        return TextEmbedding(model_name=model, threads=1)
    except Exception as error:  # its own, those of the runtime and of the download
        unknown = isinstance(error, ValueError)
        raise EmbedderFailed(
            f"fastembed could not load {model}: {error}", retryable=not unknown,
            hint="choose a model that fastembed supports" if unknown else "see that this machine may fetch the model, once",
        ) from error  # fmt: skip
