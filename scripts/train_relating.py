"""Labelled pairs of statements -> the weights of reason/relating.json: how much each sign of two counts for a relation.

    .venv/bin/python scripts/train_relating.py [--check]

Logistic regression over the four relations with a penalty on large weights: no chance in it, so the same sessions give the same
file. Beside the sessions it reads plain pairs (relating_alone.jsonl): in stories hardly anybody says two things that differ in
one word alone, as people do who fill in a list. Labels name the changes that matter and pairs that only look alike; what else a
story says later about another thing is nearly always unrelated, and counts a little, so that few are told where there are none.
`--check` leaves one part of the corpus out at a time, learns from the rest and says how that part is told, beside what the rules
say by themselves. The held parts are never read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.judging import judge  # noqa: E402
from bench.labels import CORPUS, Item, Story, stories  # noqa: E402
from bench.pairs import Quoted, quoted  # noqa: E402
from bench.reason import finding  # noqa: E402
from hindbrain.reason.extract import extract  # noqa: E402
from hindbrain.reason.likeness import Likeness  # noqa: E402
from hindbrain.reason.relating import RELATIONS  # noqa: E402
from hindbrain.reason.relation import by_rules, seen  # noqa: E402
from hindbrain.reason.sides import Sides  # noqa: E402
from scripts.train_keeping import listed, lowest  # noqa: E402

TARGET = ROOT / "src" / "hindbrain" / "reason" / "relating.json"
ALONE_FILE = Path(__file__).with_name("relating_alone.jsonl")
PENALTY = 10.0
UNLABELLED = 0.1  # how much a pair without a label counts
ALONE = 6.0  # and one that stands in no session
LEAST = 4  # labelled pairs a mark has to be seen in
LEAST_WORD = 8
Floats = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """Two statements, and what the labels make of them."""

    seen: frozenset[str]
    ruled: str
    type: str
    weight: float
    within: bool = False  # both are of one session

    @property
    def labelled(self) -> bool:
        return self.weight == 1.0


def samples(part: str, likeness: Likeness) -> Iterator[Sample]:
    """Pairs in the words of their labels; and in those in which both were found, which is how they are met in a ledger."""
    for story in stories(part):
        found = statements(story)
        for new, old, type_, labelled in pairs(story):
            both = [(quoted(new), quoted(old))]
            if labelled and new.id in found and old.id in found:
                both.append((found[new.id], found[old.id]))
            for newer, older in both:
                pair = Sides(newer, older, likeness)
                if labelled or pair.shared or pair.values_differ or pair.ended or pair.rivals:
                    ruled = by_rules(pair)
                    yield Sample(seen(pair, ruled), ruled, type_, 1.0 if labelled else UNLABELLED, session(new) == session(old))


def statements(story: Story) -> dict[str, Quoted]:
    """What is found of each label, by its id."""
    found: dict[str, Quoted] = {}
    for each in story.sessions:
        for item, told in judge(each, [finding(statement) for statement in extract(each.turns)]).matched:
            found[item.id] = Quoted(told.kind, told.text, item.at, item.trust)
    return found


def said_alone(likeness: Likeness) -> Iterator[Sample]:
    for line in ALONE_FILE.read_text("utf-8").splitlines():
        read = json.loads(line)
        newer, older = (Quoted(read[f"{each}_kind"], read[each], at, "user") for at, each in enumerate(("newer", "older")))
        pair = Sides(newer, older, likeness)
        ruled = by_rules(pair)
        yield Sample(seen(pair, ruled), ruled, read["type"], ALONE)


def session(item: Item) -> str:
    return item.id.rpartition("/")[0]


def pairs(story: Story) -> Iterator[tuple[Item, Item, str, bool]]:
    """The labelled ones; and all others but those of one thing, which labels link through a third."""
    leader: dict[str, str] = {}

    def lead(of: str) -> str:
        while of in leader:
            of = leader[of]
        return of

    for pair in story.pairs:
        yield pair.new, pair.old, pair.type, True
        if pair.type and lead(pair.new.id) != lead(pair.old.id):
            leader[lead(pair.new.id)] = lead(pair.old.id)
    labelled = {frozenset((pair.new.id, pair.old.id)) for pair in story.pairs}
    items = [item for session in story.sessions for item in session.items]
    for new in items:
        for old in items:
            if new.at > old.at and frozenset((new.id, old.id)) not in labelled and lead(new.id) != lead(old.id):
                yield new, old, "", False


def table(told: Sequence[Sample]) -> dict[str, list[float]]:
    """All weights, from all samples: by mark, what it says to each relation."""
    counted = Counter(mark for each in told if each.labelled for mark in each.seen)
    names = sorted(name for name, count in counted.items() if count >= (LEAST_WORD if name.startswith("word ") else LEAST))
    at = {name: number for number, name in enumerate(names)}
    rows = np.zeros((len(told), len(names) + 1))
    rows[:, -1] = 1.0
    for row, each in enumerate(told):
        rows[row, [at[mark] for mark in each.seen if mark in at]] = 1.0
    right = np.array([[float(each.type == name) for name in RELATIONS] for each in told])
    found = learnt(rows, right, np.array([each.weight for each in told]))
    rounded = {name: [round(float(value), 3) for value in row] for name, row in zip([*names, "always"], found, strict=True)}
    return {name: row for name, row in rounded.items() if any(row)}


def learnt(rows: Floats, right: Floats, weights: Floats) -> Floats:
    """The penalised likelihood at its highest, a column of weights for each relation; the constant is hardly penalised."""
    shape = (rows.shape[1], right.shape[1])
    penalty = np.full((rows.shape[1], 1), PENALTY)
    penalty[-1] = 1e-3

    def cost(flat: Floats) -> tuple[float, Floats]:
        found = flat.reshape(shape)
        sums = rows @ found
        sums -= sums.max(axis=1, keepdims=True)
        total = np.log(np.exp(sums).sum(axis=1, keepdims=True))
        worth = weights @ (total[:, 0] - (sums * right).sum(axis=1)) + (penalty * found * found).sum() / 2
        slope = rows.T @ (weights[:, None] * (np.exp(sums - total) - right)) + penalty * found
        return float(worth), slope.ravel()

    best: Floats = lowest(cost, np.zeros(shape[0] * shape[1])).reshape(shape)
    return best


def told_by(made: dict[str, list[float]], each: Sample) -> str:
    rows = [made[mark] for mark in (*each.seen, "always") if mark in made]
    return max(enumerate(RELATIONS), key=lambda relation: sum(row[relation[0]] for row in rows))[1]


def check(every: dict[str, list[Sample]], plain: Sequence[Sample]) -> dict[str, Any]:
    """Each part by what the others teach, and by the rules alone."""
    told: dict[str, Any] = {}
    both: list[tuple[Sample, str]] = []
    for part, own in every.items():
        made = table([*plain, *(each for other, rest in every.items() if other != part for each in rest)])
        found = [(each, told_by(made, each)) for each in own]
        both += found
        told[part] = figures(found)
    told["all"] = figures(both)
    told["by rules"] = figures([(each, "reinforces" if each.ruled == "same" else each.ruled) for each, _ in both])
    return told


def figures(found: Sequence[tuple[Sample, str]]) -> dict[str, Any]:
    """The share told rightly of each relation, and how many are told of pairs of two sessions that have no label."""
    labelled = [(each.type, said) for each, said in found if each.labelled]
    others = Counter(said for each, said in found if not each.labelled and not each.within)
    right = {name: sum((type_ == name) == (said == name) for type_, said in labelled) for name in RELATIONS if name}
    told = {name: round(count / len(labelled), 3) for name, count in right.items()}
    return {**told, "unlabelled": {name: others[name] for name in right}}


def main() -> None:
    given = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--check", action="store_true", help="write nothing; tell each part by what the others teach")
    likeness = Likeness()
    plain = list(said_alone(likeness))
    every = {folder.name: list(samples(folder.name, likeness)) for folder in sorted(CORPUS.glob("tune_*"))}
    if given.parse_args().check:
        print(json.dumps(check(every, plain), indent=1))
        return
    made = table([*plain, *(each for part in every.values() for each in part)])
    TARGET.write_text(f"{listed(made)}\n", "utf-8")
    print(f"{len(made)} marks from {sum(map(len, every.values()))} pairs -> {TARGET.name}")


if __name__ == "__main__":
    main()
