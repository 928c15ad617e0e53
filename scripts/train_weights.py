"""Questions with known answers -> the weights of the ranking fitted by program, and what they are worth out of fold.

    python scripts/train_weights.py longmemeval_oracle_dev.json.gz [--seed 7] [--steps 200]

The shipped weights (src/hindbrain/recall/weights.py) are set by hand and rounded; this is what they are held against. It reads
LongMemEval alone, whose licence (MIT) allows it; nothing is fitted on conversations whose licence does not. Homes are made
through the public library, every part of every candidate is noted once, and then weights are tried: a seeded walk that keeps a
change of one weight when the questions it may look at are answered better. Each third of the questions is answered with
weights that were fitted on the other two thirds. The figures leave the newest-first rule out, which is no part of the sum.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))  # bench is no package that is installed

from bench import conversations, homes  # noqa: E402
from hindbrain import Memory  # noqa: E402
from hindbrain.recall import search  # noqa: E402
from hindbrain.recall.weights import WEIGHTS  # noqa: E402

NAMES = tuple(name for name in WEIGHTS if name != "use")  # which is a share of the score, not a part beside others
TOKENS = NAMES.index("tokens")
FITTED = ("words", "session", "meaning", "session_meaning", "tokens", "question", "literal", "date")
STEPS = (0.0, 0.5, 0.7, 0.85, 1.2, 1.5, 2.0)
DISCOUNT = np.array([1.0, 1.0, *(1 / math.log2(rank) for rank in range(3, 11))])
ENOUGH = 1_000

Weights = dict[str, float]


@dataclass(frozen=True)
class Noted:
    """One question: the parts of each candidate, the session it is of, and which sessions hold an answer."""

    parts: NDArray[np.float32]
    sessions: NDArray[np.int64]
    answers: NDArray[np.bool_]
    wanted: int

    def ndcg(self, weights: NDArray[np.float32]) -> float:
        """How well the first ten sessions are chosen."""
        without = weights.copy()
        without[TOKENS] = 0
        total = self.parts @ without
        first = np.argsort(-total, kind="stable")[: search.COMPARED]
        total = total[first] + weights[TOKENS] * self.parts[first, TOKENS]
        ranked = self.sessions[first[np.argsort(-total, kind="stable")]]
        _, place = np.unique(ranked, return_index=True)
        hits = self.answers[ranked[np.sort(place)][:10]]
        return float((hits * DISCOUNT[: len(hits)]).sum() / DISCOUNT[: min(10, self.wanted)].sum())


def note(memory: Memory, store: conversations.Store) -> Iterator[Noted]:
    """Ask each question of a store once, and note what its candidates are made of."""
    for question in store.questions:
        hits = memory.search(question.text, k=ENOUGH, project=store.project)
        parts = np.array([[hit.parts.get(name, 0.0) / WEIGHTS[name] for name in NAMES] for hit in hits], np.float32)
        number: dict[str, int] = {}
        sessions = np.array([number.setdefault(hit.session, len(number)) for hit in hits], np.int64)
        yield Noted(parts, sessions, np.array([name in question.sessions for name in number]), len(question.sessions))


def collected(limit: int) -> dict[str, list[Noted]]:
    """Both sets of LongMemEval; every candidate is compared word by word, so that any weights can be tried on what is noted."""
    found: dict[str, list[Noted]] = {}
    with patch.object(search, "COMPARED", ENOUGH), patch.object(search, "newest_first", lambda question, hits, *_: hits):
        for name in ("r48", "pool"):
            count = min(conversations.count(name), limit or ENOUGH)
            for number in range(count):
                store = conversations.store(name, number)
                with homes.remembered(store) as memory:
                    found.setdefault(name, []).extend(note(memory, store))
                print(f"{name}: {number + 1} of {count}", file=sys.stderr, flush=True)
    return found


def mean(questions: Sequence[Noted], weights: Mapping[str, float]) -> float:
    row = np.array([weights[name] for name in NAMES], np.float32)
    return 100 * float(np.mean([each.ndcg(row) for each in questions]))


def fitted(sets: Sequence[Sequence[Noted]], seed: int, steps: int) -> Weights:
    """A walk from the shipped weights: one weight is changed at a time, and kept where the mean over the sets rises."""
    choose = random.Random(seed)
    best = dict(WEIGHTS)
    score = sum(mean(each, best) for each in sets)
    for _ in range(steps):
        name = choose.choice(FITTED)
        tried = {**best, name: round((best[name] or WEIGHTS[name]) * choose.choice(STEPS), 3)}
        reached = sum(mean(each, tried) for each in sets)
        if reached > score + 0.02:  # less is one question's noise
            best, score = tried, reached
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Fit the ranking's weights, and score them out of fold.")
    parser.add_argument("data", type=Path, help="longmemeval_oracle_dev.json.gz")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--limit", type=int, default=0, help="stores of each set, for a quick look")
    args = parser.parse_args()
    with gzip.open(args.data, "rt", encoding="utf-8") as file:
        data = conversations.LongMemEval(json.load(file))
    with patch.object(conversations, "longmemeval", lambda: data):  # the file given, wherever it is
        sets = collected(args.limit)
    shown: dict[str, object] = {"shipped": {name: round(mean(each, WEIGHTS), 2) for name, each in sets.items()}}
    out_of_fold: dict[str, list[float]] = {name: [] for name in sets}
    for fold in range(3):
        others = [[one for at, one in enumerate(each) if at % 3 != fold] for each in sets.values()]
        weights = fitted(others, args.seed, args.steps)
        for name, each in sets.items():
            if held := [one for at, one in enumerate(each) if at % 3 == fold]:
                out_of_fold[name].append(mean(held, weights))
    shown["out_of_fold"] = {name: round(float(np.mean(each)), 2) for name, each in out_of_fold.items()}
    best = fitted(list(sets.values()), args.seed, args.steps)
    shown["in_sample"] = {name: round(mean(each, best), 2) for name, each in sets.items()}
    print(json.dumps({"ndcg10": shown, "weights": best}, indent=1))


if __name__ == "__main__":
    main()
