"""A question and some texts -> how near each word of the question comes to some word of each text (MaxSim).

A text's one vector says what it is about as a whole. Here every token of the question looks for its nearest one in the text,
telling ones counting more, so that one sentence of a long text, or a word in another form, is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Final

import numpy as np

from hindbrain.recall.words import STOP_WORDS

if TYPE_CHECKING:
    from hindbrain.recall.judge import Numbers
    from hindbrain.recall.static import Floats, Static

FLOOR: Final = 0.3  # what texts reach that have nothing to do with a question
FULL: Final = 0.6  # what counts as 1, unless one reaches more
MAX_TOKENS: Final = 160  # of one text: a passage has about a hundred
MAX_ASKED: Final = 64
ONE_THREAD: Final = 200_000  # multiplications that are done by one thread


def compared(static: Static, question: str, weights: Floats, texts: Sequence[str]) -> Numbers:
    """For each text how well it answers the question's own words, between 0 and 1."""
    silent = _silent(static)
    every = list(dict.fromkeys(static.tokens(question)))
    asked = ([token for token in every if token not in silent] or every)[:MAX_ASKED]
    cut = [static.tokens(text)[:MAX_TOKENS] for text in texts]
    filled = [place for place, tokens in enumerate(cut) if tokens]
    found = np.zeros(len(texts))
    if not asked or not filled:
        return found
    lengths = np.array([len(cut[place]) for place in filled])
    tokens = np.array(list(chain.from_iterable(cut)), np.int32)
    places = np.zeros(len(static.vocabulary), np.int32)
    places[tokens] = 1
    distinct = np.flatnonzero(places)  # each token that stands anywhere is compared once
    places[distinct] = np.arange(len(distinct))
    token_place = places[tokens]
    near = _products(static.token_vectors(distinct), static.token_vectors(asked))
    best = np.maximum.reduceat(near[token_place], np.cumsum(lengths) - lengths, axis=0)
    telling = weights[asked].astype(np.float64) ** 2
    fit = np.round(np.maximum(best, 0) @ telling / max(float(telling.sum()), 1e-6), 6)
    found[filled] = np.maximum(fit - FLOOR, 0) / (max(float(fit.max()), FULL) - FLOOR)
    return found


def _products(rows: Floats, others: Floats) -> Floats:
    """Every row times every other one, in pieces so small that no threads are started: waking them costs more than the sums."""
    piece = max(1, ONE_THREAD // max(1, others.size))
    return np.concatenate([rows[start : start + piece] @ others.T for start in range(0, len(rows), piece)])


@lru_cache(maxsize=2)
def _silent(static: Static) -> frozenset[int]:
    """Tokens that are no reason to find anything: function words and marks."""
    return frozenset(
        number for number, token in enumerate(static.vocabulary)
        if token in STOP_WORDS or not (token.isalnum() or token.startswith("##"))
    )  # fmt: skip
