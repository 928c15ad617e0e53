"""Conversations with known answers -> how often recall finds them, next to plain full-text search in the same run.

Two public sets are read from a folder beside the repository; without them the bench says so and ends. Everything goes
through the public `hindbrain.Memory`. LoCoMo asks for turns: the share of evidence turns among the first k. LongMemEval
asks for sessions: R48 gives each question a home of its own with 48 sessions, POOL puts all sessions into one. `any@k`
wants one session that holds an answer among the first k, `all@k` every one of them; the first two ranks are not
discounted in NDCG. All figures are per cent.
"""

from __future__ import annotations

import collections
import gzip
import json
import math
import os
import random
import re
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hindbrain import Memory
from hindbrain.recall.words import match_expression, words_of

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
LOCOMO, LONGMEMEVAL = "locomo_dev.json.gz", "longmemeval_oracle_dev.json.gz"
HAYSTACK = 48
LIMIT = int(os.environ.get("LIMIT", "0"))  # questions per set, for a quick look

Search = Callable[[str], list[str]]  # a question -> the keys found, best first
Scores = dict[str, list[float]]


@dataclass(frozen=True)
class Turn:
    """A line to be recorded."""

    session: str
    key: str
    role: str
    text: str
    at: datetime


def load(name: str) -> Any:
    with gzip.open(DATA / name, "rt", encoding="utf-8") as file:
        return json.load(file)


def moment(text: str) -> datetime:
    for form in ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d"):
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return datetime(2024, 1, 1, tzinfo=UTC)


def ndcg(ranked: list[str], gold: set[str], k: int) -> float:
    def gain(hits: list[bool]) -> float:
        return sum(1.0 if rank <= 2 else 1 / math.log2(rank) for rank, hit in enumerate(hits, start=1) if hit)

    return gain([each in gold for each in ranked[:k]]) / gain([True] * min(k, len(gold)))


def distinct(values: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(values))


def per_cent(scores: Scores, names: tuple[str, ...]) -> dict[str, float]:
    return {name: round(100 * statistics.fmean(scores[name]), 2) for name in names}


@contextmanager
def remembered(turns: list[Turn], k: int, times: list[float]) -> Iterator[Search]:
    """A home that holds the turns, in memory where the machine has a place for it."""
    shm = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="hindbrain-quality-", dir=shm) as home, Memory.open(home=home) as memory:
        for turn in turns:
            memory.record(
                agent="bench", session=turn.session, role=turn.role, text=turn.text, at=turn.at, project="bench", key=turn.key
            )
        memory.settle(timeout=1800)

        def search(question: str) -> list[str]:
            start = time.perf_counter()
            hits = memory.search(question, k=k, project="bench")
            times.append(1000 * (time.perf_counter() - start))
            return distinct(key for hit in hits for key in hit.keys)

        yield search


@contextmanager
def plain(turns: list[Turn], k: int) -> Iterator[Search]:
    """What SQLite alone does: porter stems and stop words over turns, no neighbours, no session score."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE turns USING fts5(key UNINDEXED, text, tokenize = 'porter unicode61')")
    connection.executemany("INSERT INTO turns VALUES (?, ?)", [(turn.key, turn.text) for turn in turns])

    def search(question: str) -> list[str]:
        query = "SELECT key FROM turns WHERE turns MATCH ? ORDER BY bm25(turns), rowid LIMIT ?"
        return distinct(row[0] for row in connection.execute(query, (match_expression(words_of(question)), k)))

    yield search
    connection.close()


def locomo_turns(talk: dict[str, Any]) -> list[Turn]:
    found = []
    names = sorted((name for name in talk if re.fullmatch(r"session_\d+", name)), key=lambda name: int(name.split("_")[1]))
    for name in names:
        start = moment(talk.get(f"{name}_date_time", ""))
        for number, said in enumerate(talk[name]):
            text = f"{said['speaker']}: {said['text']}"
            if said.get("blip_caption"):
                text += f" [shares {said['blip_caption']}]"
            role = "user" if said["speaker"] == talk.get("speaker_a") else "assistant"
            found.append(Turn(name, said["dia_id"], role, text, start + timedelta(seconds=20 * number)))
    return found


def locomo(times: list[float]) -> tuple[Scores, Scores]:
    ours: Scores = collections.defaultdict(list)
    theirs: Scores = collections.defaultdict(list)
    for conversation in load(LOCOMO):
        turns = locomo_turns(conversation["conversation"])
        known = {turn.key for turn in turns}
        with remembered(turns, 50, times) as search, plain(turns, 50) as bare:
            for asked in [each for each in conversation["qa"] if each["category"] in (1, 2, 3, 4)][: LIMIT or None]:
                named = re.findall(r"D:?(\d+):(\d+)", " ".join(asked.get("evidence", [])))
                gold = {f"D{int(session)}:{int(turn)}" for session, turn in named} & known
                if gold:
                    judge_turns(ours, search(asked["question"]), gold)
                    judge_turns(theirs, bare(asked["question"]), gold)
        progress("locomo", len(ours["r1"]))
    return ours, theirs


def judge_turns(scores: Scores, ranked: list[str], gold: set[str]) -> None:
    for k in (1, 5, 10):
        scores[f"r{k}"].append(len(gold.intersection(ranked[:k])) / len(gold))
    scores["ndcg10"].append(ndcg(ranked, gold, 10))


class LongMemEval:
    """Sessions with their user turns, and the questions that have an answer there. Sessions of equal text are one."""

    def __init__(self, data: list[dict[str, Any]]) -> None:
        self.sessions: dict[str, list[Turn]] = {}
        self.dates: dict[str, datetime] = {}
        self._name: dict[str, str] = {}
        by_text: dict[str, str] = {}
        asked = [each for each in data if "_abs" not in each["question_id"]]
        for each in asked:
            for name, date, session in zip(
                each["haystack_session_ids"], each["haystack_dates"], each["haystack_sessions"], strict=True
            ):
                text = " ".join(turn["content"] for turn in session if turn["role"] == "user")
                first = self._name[name] = by_text.setdefault(text, name)
                if first not in self.sessions:
                    self.dates[first] = moment(date)
                    self.sessions[first] = self._turns(first, session)
        self.questions = [
            (each["question_id"], each["question"], gold, {self._name[name] for name in each["haystack_session_ids"]})
            for each in asked if (gold := self._gold(each))
        ][: LIMIT or None]  # fmt: skip

    def _turns(self, name: str, session: list[dict[str, Any]]) -> list[Turn]:
        return [
            Turn(name, f"{name}#{number}", "user", turn["content"], self.dates[name] + timedelta(seconds=60 * number))
            for number, turn in enumerate(session) if turn["role"] == "user" and turn["content"].strip()
        ]  # fmt: skip

    def _gold(self, asked: dict[str, Any]) -> set[str]:
        pairs = zip(asked["haystack_session_ids"], asked["haystack_sessions"], strict=True)
        return {
            self._name[name] for name, session in pairs
            for turn in session if turn["role"] == "user" and turn.get("has_answer")
        }  # fmt: skip

    def turns(self, names: list[str]) -> list[Turn]:
        return [turn for name in sorted(names, key=lambda name: self.dates[name]) for turn in self.sessions[name]]

    def haystack(self, question: str, evidence: set[str]) -> list[str]:
        others = [name for name in sorted(self.sessions) if name not in evidence]
        chosen = random.Random("q" + question).sample(others, max(0, HAYSTACK - len(evidence)))
        return [*sorted(evidence), *chosen]


def judge(scores: Scores, ranked: list[str], gold: set[str]) -> None:
    order = distinct(key.rsplit("#", 1)[0] for key in ranked)
    for k in (1, 5):
        scores[f"any{k}"].append(float(bool(gold.intersection(order[:k]))))
        scores[f"all{k}"].append(float(gold <= set(order[:k])))
    scores["ndcg10"].append(ndcg(order, gold, 10))


def r48(data: LongMemEval, times: list[float]) -> tuple[Scores, Scores]:
    ours: Scores = collections.defaultdict(list)
    theirs: Scores = collections.defaultdict(list)
    for number, (name, question, gold, evidence) in enumerate(data.questions, start=1):
        turns = data.turns(data.haystack(name, evidence))
        with remembered(turns, 100, times) as search, plain(turns, 100) as bare:
            judge(ours, search(question), gold)
            judge(theirs, bare(question), gold)
        if number % 50 == 0:
            progress("r48", number)
    return ours, theirs


def pool(data: LongMemEval, times: list[float]) -> tuple[Scores, Scores]:
    """All sessions in one home: ours, and plain full-text search over the same turns."""
    ours: Scores = collections.defaultdict(list)
    theirs: Scores = collections.defaultdict(list)
    turns = data.turns(list(data.sessions))
    with remembered(turns, 100, times) as search, plain(turns, 100) as bare:
        for _, question, gold, _ in data.questions:
            judge(ours, search(question), gold)
            judge(theirs, bare(question), gold)
    progress("pool", len(data.questions))
    return ours, theirs


def progress(name: str, questions: int) -> None:
    print(f"{name}: {questions} questions", file=sys.stderr, flush=True)


def main() -> None:
    missing = [name for name in (LOCOMO, LONGMEMEVAL) if not (DATA / name).is_file()]
    if missing:
        print(f"nothing was measured: {' and '.join(missing)} not found in {DATA}", file=sys.stderr)
        print(json.dumps({"not_run": f"{' and '.join(missing)} not found"}))
        return
    times: list[float] = []
    data = LongMemEval(load(LONGMEMEVAL))
    runs = {"locomo": locomo(times), "r48": r48(data, times), "pool": pool(data, times)}
    figures = {"locomo": ("r1", "r5", "r10", "ndcg10"), "r48": ("any1", "all5", "ndcg10"), "pool": ("any5", "all5", "ndcg10")}
    ours, theirs = ({name: per_cent(runs[name][which], figures[name]) for name in runs} for which in (0, 1))
    print(json.dumps({**ours, "fts5": theirs, "query_ms_p50": round(statistics.median(times), 2)}))


if __name__ == "__main__":
    main()
