"""Labelled sessions -> the weights of reason/secondhand.json: which decisions and lessons in the agent's words are worth keeping.

    .venv/bin/python scripts/train_secondhand.py [--check]

Logistic regression with a penalty on large weights: no chance in it, so the same sessions give the same file. `--check` leaves
one part of the corpus out at a time, learns from the rest and counts what would be dropped there. The held parts are never read.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.judging import judge  # noqa: E402
from bench.labels import stories  # noqa: E402
from bench.reason import finding  # noqa: E402
from hindbrain.reason.extract import found_in  # noqa: E402
from hindbrain.reason.secondhand import LIKELY, is_weighed, marks  # noqa: E402
from scripts.train_keeping import learnt, learnt_from, named, rows_of  # noqa: E402

TARGET = ROOT / "src" / "hindbrain" / "reason" / "secondhand.json"
PENALTY = 2.0
LEAST = 4  # times a mark has to be seen


class Sample(NamedTuple):
    """A statement, and whether a label asks for it or allows it."""

    seen: frozenset[str]
    wanted: bool


def samples(part: str) -> Iterator[Sample]:
    for session in (session for story in stories(part) for session in story.sessions):
        every = found_in(session.turns)
        wanted = {found.id for _, found in judge(session, [finding(each) for each, _ in every]).matched}
        for each, secondhand in every:
            if secondhand and is_weighed(each) and not each.quarantine:
                yield Sample(marks(each), each.id in wanted)


def table(told: Sequence[Sample]) -> dict[str, float]:
    counted = Counter(mark for each in told for mark in each.seen)
    names = sorted(name for name, count in counted.items() if count >= LEAST)
    right = np.array([float(each.wanted) for each in told])
    return named(names, learnt(rows_of(told, names), right, np.ones(len(told)), PENALTY))


def kept(made: dict[str, float], each: Sample) -> bool:
    total = made["always"] + sum(made.get(mark, 0.0) for mark in each.seen)
    return float(1 / (1 + np.exp(-total))) >= LIKELY


def check(every: dict[str, list[Sample]]) -> dict[str, dict[str, int]]:
    """Of each part, told by what the others teach: how many are dropped rightly and wrongly, and how many there are."""
    found: dict[str, dict[str, int]] = {}
    for part, own in every.items():
        made = table([each for other, rest in every.items() if other != part for each in rest])
        dropped = Counter(each.wanted for each in own if not kept(made, each))
        found[part] = {"rightly": dropped[False], "wrongly": dropped[True], "unwanted": sum(not each.wanted for each in own),
                       "wanted": sum(each.wanted for each in own)}  # fmt: skip
    total = Counter[str]()
    for counted in found.values():
        total.update(counted)
    return {**found, "all": dict(total)}


def main() -> None:
    every = learnt_from(__doc__, samples, check)
    if every is None:
        return
    made = table([each for part in every.values() for each in part])
    TARGET.write_text(json.dumps(made, indent=1, sort_keys=True) + "\n", "utf-8")
    print(f"{len(made)} weights from {sum(map(len, every.values()))} statements -> {TARGET.name}")


if __name__ == "__main__":
    main()
