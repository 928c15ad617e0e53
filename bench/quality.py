"""Conversations with known answers -> how often recall finds them, next to plain full-text search in the same run.

Everything goes through the public `hindbrain.Memory`: record, settle, search, context. The sets are those of
`bench/conversations.py`, the figures those of `bench/scoring.py`; two processes share the stores. `--ablation` asks the same
homes again with one part of the ranking taken away at a time and prints a table in Markdown. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.conversations import DATA, SETS, Store, count, missing, store
from bench.homes import PlainText, remembered
from bench.scoring import BUDGETS, Scores, distinct, judge, judge_block, merged, new_scores, per_cent
from bench.variants import EVERYTHING, variant, variants
from hindbrain import Memory

PROCESSES = int(os.environ.get("PROCESSES", "2"))
PLAIN, DENSE = "plain FTS5", "plain FTS5 + dense"
TOP = ("locomo", "r48", "pool")
FIGURES = {
    "locomo": ("r1", "r5", "r10", "ndcg10", "budget_recall_1000", "budget_recall_2000"),
    "r48": ("any1", "all5", "ndcg10", "budget_recall_1000"),
    "pool": ("any5", "all5", "ndcg10"),
    "long48": ("all5", "ndcg10", "turn_ndcg10"),
    "longpool": ("all5", "ndcg10", "turn_ndcg10"),
}
SHOWN = {
    "locomo": ("r10", "ndcg10"), "r48": ("all5", "ndcg10", "newest_first"), "pool": ("all5", "ndcg10", "newest_first"),
    "long48": ("all5", "ndcg10", "turn_ndcg10"), "longpool": ("all5", "ndcg10", "turn_ndcg10"),
}  # fmt: skip


@dataclass(frozen=True)
class Task:
    """One store of one set, and which rankings are to be tried on it."""

    name: str
    number: int
    limit: int = 0  # questions of this store, 0 for all
    tried: tuple[str, ...] = (EVERYTHING,)
    blocks: bool = True


@dataclass
class Told:
    """What came of it: scores by ranking, and how long each question took through the library."""

    task: Task
    scores: dict[str, Scores] = field(default_factory=dict)
    query_ms: list[float] = field(default_factory=list)


def run(task: Task) -> Told:
    kept = store(task.name, task.number)
    told, scores = Told(task), {name: new_scores() for name in (*task.tried, *bare_rankings(task.name))}
    k = 50 if task.name == "locomo" else 100
    with remembered(kept) as memory, closing(PlainText(kept.turns)) as bare:
        for question in kept.questions[: task.limit or None]:
            judge(scores[PLAIN], task.name, question, bare.search(question.text, k))
            if DENSE in scores:
                judge(scores[DENSE], task.name, question, bare.search_with_meaning(question.text, k))
            for name in task.tried:
                with variant(name):
                    judge(scores[name], task.name, question, ask(memory, kept, question.text, k, told.query_ms))
            for budget in BUDGETS if task.blocks else ():
                judge_block(scores[PLAIN], question, budget, bare.packed(question.text, budget))
                for name in task.tried:
                    with variant(name):
                        block = memory.context(question.text, project=kept.project, budget_tokens=budget)
                    judge_block(scores[name], question, budget, (key for hit in block.hits for key in hit.keys))
    told.scores = {name: dict(each) for name, each in scores.items()}
    return told


def bare_rankings(name: str) -> tuple[str, ...]:
    """What a set is held against: with long messages the vectors of whole turns too."""
    return (DENSE, PLAIN) if name.startswith("long") else (PLAIN,)


def ask(memory: Memory, kept: Store, question: str, k: int, times: list[float]) -> list[str]:
    start = time.perf_counter()
    hits = memory.search(question, k=k, project=kept.project)
    times.append(1000 * (time.perf_counter() - start))
    return distinct(key for hit in hits for key in hit.keys)


def tasks(names: Sequence[str], limit: int, tried: tuple[str, ...], blocks: bool) -> list[Task]:
    """Large stores first, so that no process waits long for the other. The limit is one of questions, per store or per set."""
    order = sorted(names, key=lambda name: (not name.endswith("pool"), name != "locomo", name))
    return [
        Task(name, number, limit, tried, blocks) for name in order
        for number in range(min(count(name), limit) if limit and name.endswith("48") else count(name))
    ]  # fmt: skip


def run_all(todo: Sequence[Task]) -> Iterator[Told]:
    # started anew, not forked: what this process has loaded is not theirs
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for done, told in enumerate(pool.imap_unordered(run, todo), start=1):
            if done % 25 == 0 or not told.task.name.endswith("48"):
                print(f"{done} of {len(todo)} stores, {told.task.name} the last", file=sys.stderr, flush=True)
            yield told


def encode_per_s() -> float | None:
    """Short texts a second through the embedder of the wheel, on one core; none where it has none."""
    try:
        from hindbrain.recall.static import Static
    except ImportError:
        return None
    embedder = Static.load()
    texts = [turn.text for turn in store("r48", 0).turns if len(turn.text) < 500]
    texts = (texts * (2000 // len(texts) + 1))[:2000]
    embedder.documents(texts[:200])
    rates = []
    for _ in range(5):
        start = time.process_time()
        embedder.documents(texts)
        rates.append(len(texts) / (time.process_time() - start))
    return round(statistics.median(rates))


def scores_of(told: Sequence[Told], name: str, which: str) -> Scores:
    """Of one set and one ranking."""
    return merged(each.scores.get(which, {}) for each in told if each.task.name == name)


def figures(told: Sequence[Told], names: Sequence[str], which: str) -> dict[str, object]:
    """Per set the figures of a ranking."""
    scores = {name: scores_of(told, name, which) for name in names}
    found: dict[str, object] = {name: per_cent(scores[name], FIGURES[name]) for name in names}
    newest = {name: per_cent(each, ["newest_first"])["newest_first"] for name, each in scores.items() if each.get("newest_first")}
    # R48 is the yardstick; the others are told beside it
    return {**found, "updates_newest_first": newest.get("r48", next(iter(newest.values()), None)), "newest_first_by_set": newest}


def table(told: Sequence[Told], names: Sequence[str], rankings: Sequence[str]) -> str:
    """One row per ranking, in Markdown."""
    rows = ["| | " + " | ".join(f"{name} {' / '.join(SHOWN[name])}" for name in names) + " |", "|---" * (len(names) + 1) + "|"]
    for which in rankings:
        found = [per_cent(scores_of(told, name, which), SHOWN[name]).values() for name in names]
        cells = [" / ".join("-" if value is None else f"{value:.1f}" for value in each) for each in found]
        rows.append(f"| {which} | {' | '.join(cells)} |")
    return "\n".join(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="How often recall finds what was said.")
    parser.add_argument("--set", action="append", choices=[*SETS, "long"], help="only these sets; `long` is both with replies")
    parser.add_argument("--limit", type=int, default=int(os.environ.get("LIMIT", "0")), help="questions, for a quick look")
    parser.add_argument("--without", action="append", default=[], metavar="PART", help="rank without this part")
    parser.add_argument("--ablation", action="store_true", help="without each part in turn, as a table")
    args = parser.parse_args()
    if absent := missing():
        print(f"nothing was measured: {' and '.join(absent)} not found in {DATA}", file=sys.stderr)
        print(json.dumps({"not_run": f"{' and '.join(absent)} not found"}))
        return
    chosen = [name for each in args.set or TOP for name in (("long48", "longpool") if each == "long" else (each,))]
    names = [name for name in SETS if name in chosen]
    tried = variants() if args.ablation else tuple(f"without {part}" for part in args.without) or (EVERYTHING,)
    told = list(run_all(tasks(names, args.limit, tried, blocks=not args.ablation)))
    if args.ablation:
        print(table(told, names, (*tried, *bare_rankings(names[-1]))))
        return
    query_ms = [each for one in told for each in one.query_ms]
    report = {name: figures(told, names, name) for name in tried}
    print(json.dumps({
        **(report[tried[0]] if len(tried) == 1 else report), "fts5": figures(told, names, PLAIN),
        "encode_per_s": encode_per_s(), "query_ms_p50": round(statistics.median(query_ms), 2),
    }))  # fmt: skip


if __name__ == "__main__":
    main()
