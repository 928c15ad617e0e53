"""Text -> a vector of 256 numbers, with a table that comes with the package: no model, no network, numpy alone.

The table holds 256 small numbers for each token (scripts/distil makes it). A text's vector is the mean of its tokens' rows, each
weighted by how telling the token is: by the square root of its idf. A vector that is stored must not change its meaning with
every turn that comes in, so documents are weighted by the counts the table was trained with; a question may be weighted by
those of the store it is asked of.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from hindbrain.base.errors import EmbedderFailed
from hindbrain.recall.wordpiece import WordPiece

Floats = NDArray[np.float32]

TABLE: Final = Path(__file__).with_name("table")
RECIPE: Final = "recipe.json"
FILES: Final = ("rows.npy", "scales.npy", "vocabulary.txt", "weights.npy")
# Tokens whose rows are in memory at once: 8 MB.
MAX_ROWS: Final = 8_192


class Static:
    """The table, and the vectors made with it. An Embedder that is always there."""

    def __init__(self, name: str, vocabulary: Sequence[str], rows: NDArray[np.int8], scales: Floats, usual: Floats) -> None:
        self.name = name
        self.dimensions = int(rows.shape[1])
        self.usual = usual  # the weights of tokens in ordinary talk
        self._words = WordPiece(vocabulary)
        self._rows = rows
        self._scales = scales

    @staticmethod
    def load(folder: Path = TABLE) -> Static:
        """The table of a folder, checked against its checksum, once per process. Raises EmbedderFailed."""
        return _loaded(folder)

    @property
    def vocabulary(self) -> Sequence[str]:
        """The tokens, by number."""
        return self._words.vocabulary

    def tokens(self, text: str) -> list[int]:
        """The numbers of a text's tokens; words without any are left out."""
        return self._words.tokens(text)

    def documents(self, texts: Sequence[str]) -> Floats:
        """One vector of length 1 for each text; zeros for a text without a token."""
        return self.pooled([self._words.tokens(text) for text in texts])

    def question(self, text: str, weights: Floats | None = None) -> Floats:
        """The vector of a question; `weights` of tokens may be those of the store it is asked of (`weights_of`)."""
        found: Floats = self.pooled([self._words.tokens(text)], weights)[0]
        return found

    def pooled(self, cut: Sequence[Sequence[int]], weights: Floats | None = None) -> Floats:
        """The vectors of texts that are cut into tokens already."""
        factors = self.usual if weights is None else weights
        found = np.zeros((len(cut), self.dimensions), np.float32)
        start = held = 0
        for place, tokens in enumerate(cut):
            if held and held + len(tokens) > MAX_ROWS:
                self._sum(cut[start:place], factors, found[start:place])
                start, held = place, 0
            held += len(tokens)
        self._sum(cut[start:], factors, found[start:])
        return _of_length_1(found)

    def _sum(self, cut: Sequence[Sequence[int]], factors: Floats, into: Floats) -> None:
        lengths = np.fromiter(map(len, cut), np.int64, len(cut))
        if not lengths.any():
            return
        flat = np.fromiter((token for tokens in cut for token in tokens), np.int32, int(lengths.sum()))
        rows = self._rows[flat].astype(np.float32)
        rows *= (self._scales[flat] * factors[flat])[:, None]
        filled = lengths > 0  # reduceat would give an empty text the next one's first row
        into[filled] = np.add.reduceat(rows, (np.cumsum(lengths) - lengths)[filled])

    def token_vectors(self, tokens: Sequence[int] | NDArray[Any]) -> Floats:
        """One vector of length 1 for each token, to be compared token by token."""
        vectors = self._rows[np.asarray(tokens, np.int32)].astype(np.float32)
        norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))  # sums of whole numbers below 2 ** 24: exact in any order
        vectors /= np.maximum(norms, 1)[:, None]
        return vectors


def weights_of(counts: NDArray[np.int64], documents: int) -> Floats:
    """The square root of each token's idf, given in how many of so many documents it stands."""
    idf = np.log(1 + (documents - counts + 0.5) / (counts + 0.5))
    found: Floats = np.sqrt(np.maximum(idf, 0)).astype(np.float32)
    return found


def _of_length_1(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    np.divide(vectors, norms, out=vectors, where=norms > 0)
    return vectors


def checksum(folder: Path) -> str:
    """SHA-256 over the table's files, each with its name."""
    found = hashlib.sha256()
    for name in FILES:
        with open(folder / name, "rb") as file:
            found.update(f"{name} {hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
    return found.hexdigest()


@lru_cache(maxsize=1)
def _loaded(folder: Path) -> Static:
    """Rows are mapped, not read: only those of tokens in use take memory."""
    try:
        recipe: dict[str, Any] = json.loads((folder / RECIPE).read_bytes())
        stated, found = str(recipe["sha256"]), checksum(folder)
        if stated != found:
            raise EmbedderFailed(f"cannot use the table of vectors in {folder}: its checksum is {found[:12]}, not {stated[:12]}",
                                 hint=_HINT)  # fmt: skip
        vocabulary = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
        rows = np.asarray(np.load(folder / "rows.npy", mmap_mode="r"))
        scales, usual = (np.load(folder / name).astype(np.float32) for name in ("scales.npy", "weights.npy"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderFailed(f"cannot load the table of vectors in {folder}: {error}", hint=_HINT) from error
    return Static(f"static:{rows.shape[1]}:{found[:12]}", vocabulary, rows, scales, usual)


_HINT: Final = "install hindbrain again; until then search goes by words alone"
