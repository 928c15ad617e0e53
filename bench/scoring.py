"""Rankings of keys -> figures in per cent.

r@k is the share of the turns that hold the answer among the first k. For LongMemEval a session stands where its first hit
stands: any@k wants one session with an answer among the first k, all@k every one of them. NDCG does not discount the first two
ranks, as LongMemEval has it. Newest first: where a fact changed and the present is asked for, the session with the newest
value comes before the older ones. Budget recall: the share of the turns with the answer that are in a block of so many tokens.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

from bench.conversations import Question

Scores = dict[str, list[float]]
BUDGETS = (1000, 2000)


def new_scores() -> Scores:
    return defaultdict(list)


def distinct(values: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(values))


def ndcg(ranked: Sequence[str], gold: Iterable[str], k: int) -> float:
    wanted = set(gold)

    def gain(hits: list[bool]) -> float:
        return sum(1.0 if rank <= 2 else 1 / math.log2(rank) for rank, hit in enumerate(hits, start=1) if hit)

    return gain([each in wanted for each in ranked[:k]]) / gain([True] * min(k, len(wanted)))


def judge(scores: Scores, name: str, question: Question, ranked: Sequence[str]) -> None:
    """Add one question's figures; `ranked` are distinct keys of turns, best first."""
    for k in (1, 5, 10):
        scores[f"r{k}"].append(len(question.gold.intersection(ranked[:k])) / len(question.gold))
    if name == "locomo":
        scores["ndcg10"].append(ndcg(ranked, question.gold, 10))
        return
    order, wanted = distinct(key.rsplit("#", 1)[0] for key in ranked), question.sessions
    for k in (1, 5, 10):
        scores[f"any{k}"].append(float(not wanted.isdisjoint(order[:k])))
        scores[f"all{k}"].append(float(wanted.issubset(order[:k])))
    scores["ndcg10"].append(ndcg(order, wanted, 10))
    scores["turn_ndcg10"].append(ndcg(ranked, question.gold, 10))
    if question.newest:
        scores["newest_first"].append(float(next((each for each in order if each in wanted), "") == question.newest))


def judge_block(scores: Scores, question: Question, budget: int, held: Iterable[str]) -> None:
    scores[f"budget_recall_{budget}"].append(len(question.gold.intersection(held)) / len(question.gold))


def merged(parts: Iterable[Scores]) -> Scores:
    together = new_scores()
    for part in parts:
        for name, values in part.items():
            together[name].extend(values)
    return together


def per_cent(scores: Scores, names: Iterable[str]) -> dict[str, float | None]:
    return {name: round(100 * sum(scores[name]) / len(scores[name]), 2) if scores[name] else None for name in names}
