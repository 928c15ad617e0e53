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
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.judging import judge  # noqa: E402
from bench.labels import CORPUS, Story, stories  # noqa: E402
from bench.pairs import Quoted, quoted, standing  # noqa: E402
from bench.reason import finding  # noqa: E402
from hindbrain.ledger.known import Known  # noqa: E402
from hindbrain.reason.extract import extract  # noqa: E402
from hindbrain.reason.likeness import Likeness  # noqa: E402
from hindbrain.reason.reflect import time_of  # noqa: E402
from hindbrain.reason.relating import RELATIONS  # noqa: E402
from hindbrain.reason.relation import by_rules, seen  # noqa: E402
from hindbrain.reason.sides import Sides  # noqa: E402
from scripts.train_keeping import listed, lowest  # noqa: E402

TARGET = ROOT / "src" / "hindbrain" / "reason" / "relating.json"
ALONE_FILE = Path(__file__).with_name("relating_alone.jsonl")
PENALTY = 10.0
UNLABELLED = 0.1  # how much a pair without a label counts, in the words of its labels
FOUND = 0.05  # and as it was found
ALONE = 2.0  # and one that stands in no session
LEAST = 4  # labelled pairs a mark has to be seen in
LEAST_WORD = 15
Floats = npt.NDArray[np.float64]


class Sample(NamedTuple):
    """Two statements, and what the labels make of them."""

    seen: frozenset[str]
    ruled: str
    type: str
    weight: float

    @property
    def labelled(self) -> bool:
        return self.weight == 1.0


def samples(part: str, likeness: Likeness) -> Iterator[Sample]:
    """Pairs in the words of their labels; and in those in which both were found, which is how they are met in a ledger."""
    for story in stories(part):
        thing = things(story)
        yield from labelled(story, thing, likeness)
        yield from found(story, thing, likeness)


def sample(pair: Sides, type_: str, weight: float) -> Sample:
    ruled = by_rules(pair)
    return Sample(seen(pair, ruled), ruled, type_, weight)


def labelled(story: Story, thing: Mapping[str, str], likeness: Likeness) -> Iterator[Sample]:
    """Every two labels in their own words, but those of one thing, which labels link through a third."""
    types = {(pair.new.id, pair.old.id): pair.type for pair in story.pairs}
    items = [item for session in story.sessions for item in session.items]
    for new, old in itertools.permutations(items, 2):
        pair = Sides(quoted(new), quoted(old), likeness)
        if (new.id, old.id) in types:
            yield sample(pair, types[new.id, old.id], 1.0)
        elif new.at > old.at and (old.id, new.id) not in types and pair.compared and not is_one(thing, new.id, old.id):
            yield sample(pair, "", UNLABELLED)


def is_one(thing: Mapping[str, str], new: str, old: str) -> bool:
    return new in thing and thing[new] == thing.get(old)


def found(story: Story, thing: Mapping[str, str], likeness: Likeness) -> Iterator[Sample]:
    """Every two statements that are found in different sessions, as they are met in a ledger."""
    known, of = statements(story)
    labels = {(pair.new.id, pair.old.id): pair.type for pair in story.pairs}
    linked = {(turn, other) for pair in story.pairs if pair.type for turn in pair.new.turns for other in pair.old.turns}
    for place, newer in enumerate(known):
        for older in known[:place]:
            pair, ids = Sides(newer, older, likeness), (of.get(newer.id, ""), of.get(older.id, ""))
            if ids in labels:
                yield sample(pair, labels[ids], 1.0)
            elif newer.session_id == older.session_id or is_one(thing, *ids):
                continue
            elif not any((a, b) in linked for a in newer.detail["turns"] for b in older.detail["turns"]) and pair.compared:
                yield sample(pair, "", FOUND)


def statements(story: Story) -> tuple[list[Known], dict[str, str]]:
    """What is found in a story as it would stand in a ledger, the oldest first; and by its id the label that it belongs to."""
    known: list[Known] = []
    of: dict[str, str] = {}
    for each in story.sessions:
        turns = {turn.id: turn for turn in each.turns}
        told = [statement for statement in extract(each.turns) if not statement.quarantine]
        for one in told:
            stands = standing(one, each.name, turns[one.turns[0]])
            known.append(replace(stands, detail={**stands.detail, "turns": one.turns}))
        of |= {said.id: item.id for item, said in judge(each, [finding(one) for one in told]).matched}
    return sorted(known, key=time_of), of


def things(story: Story) -> dict[str, str]:
    """By the id of each label that another one changes or says again, one name for all that are about this thing."""
    leader: dict[str, str] = {}

    def lead(of: str) -> str:
        while of in leader:
            of = leader[of]
        return of

    for pair in story.pairs:
        if pair.type and lead(pair.new.id) != lead(pair.old.id):
            leader[lead(pair.new.id)] = lead(pair.old.id)
    return {each.id: lead(each.id) for pair in story.pairs if pair.type for each in (pair.new, pair.old)}


def said_alone(likeness: Likeness) -> Iterator[Sample]:
    for line in ALONE_FILE.read_text("utf-8").splitlines():
        read = json.loads(line)
        newer, older = (Quoted(read[f"{each}_kind"], read[each], at, "user") for at, each in enumerate(("newer", "older")))
        yield sample(Sides(newer, older, likeness), read["type"], ALONE)


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
    others = Counter(said for each, said in found if not each.labelled)
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
