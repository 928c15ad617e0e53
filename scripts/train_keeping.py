"""Labelled sessions -> the weights of reason/weights.json: how much each sign of something said counts for keeping it.

    .venv/bin/python scripts/train_keeping.py [--check]

Logistic regression with a penalty on large weights: no chance in it, so the same sessions give the same file. One set of
weights tells what is worth keeping, one for each kind tells as what. Beside the sessions it reads plain sentences that somebody
says alone (keeping_alone.jsonl; those without a kind are not worth keeping), for in the sessions most things stand among others.
Each part of the corpus was written apart from the others; `--check` leaves one part out at a time, learns from the rest and says
how that part is told. The held parts are never read.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.labels import CORPUS, Item, Session, stories  # noqa: E402
from hindbrain.ledger.statement import Said  # noqa: E402
from hindbrain.reason.rules import LIKELY, Considered, considered  # noqa: E402
from hindbrain.recall.static import Static  # noqa: E402

ALONE_FILE = Path(__file__).with_name("keeping_alone.jsonl")
BEFORE = {  # what somebody said, a reply that tells, a reply that offers
    "en": ("hi, we have some work to do on the shop today", "I have read the code and all tests pass.",
           "I have read the code. There are two ways to go on, one with less code and one that is faster."),
    "de": ("hallo, wir haben heute etwas an dem Shop zu tun", "Ich habe den Code gelesen, alle Tests laufen.",
           "Ich habe den Code gelesen. Es gibt zwei Wege, einen mit weniger Code und einen schnelleren."),
    "es": ("hola, hoy tenemos que hacer algo en la tienda", "He leído el código y todos los tests pasan.",
           "He leído el código. Hay dos caminos, uno con menos código y otro más rápido."),
}  # fmt: skip
TARGET = ROOT / "src" / "hindbrain" / "reason" / "weights.json"
PENALTY = 5.0
MEANING = 2.0  # how much larger a vector is made than its length of 1, so that it is penalised less
OPTIONAL = 0.25  # what one may keep or not counts a quarter
ALONE = 0.8  # and what is said out of its place a little less
PLAIN = 1.5  # a plain sentence: there are few of them beside the sessions
REMEMBERED = 12
ROUNDS = 200
ENOUGH = 1e-7
LEAST = 4  # times a mark has to be seen
LEAST_WORD = 8  # of a word, or a pair of them
PAIR = "pair "
WORDY = ("word ", "answer ", PAIR)
SAME = 0.3  # of the shorter one, for a label and a thing said to be about the same words
KINDS = ("correction", "decision", "fact", "instruction", "preference", "procedure", "task")
Each = TypeVar("Each")
Floats = npt.NDArray[np.float64]


class Seen(Protocol):
    """Whatever bears marks."""

    @property
    def seen(self) -> frozenset[str]: ...


class Sample:
    """Something said, and what the labels make of it."""

    def __init__(self, part: str, each: Considered, kind: str, share: float = 1.0, *, placed: bool = False) -> None:
        self.part, self.seen, self.kind, self.weight, self.placed = part, each.seen, kind, share, placed
        self.rule, self.text = each.unit.kind, each.text


def samples(part: str) -> Iterator[Sample]:
    for session in (session for story in stories(part) for session in story.sessions):
        for each in considered(session.turns):
            item = labelled(session, each)
            kind, share = ("", 1.0) if item is None else (item.kind, OPTIONAL if item.optional else 1.0)
            yield Sample(part, each, kind, share, placed=True)
            yield from (Sample(part, other, kind, ALONE * share) for other in alone(each))


def said_alone() -> Iterator[Sample]:
    """Plain sentences, by themselves and after a reply that offers nothing and one that does; or after the one they answer."""
    for line in ALONE_FILE.read_text("utf-8").splitlines():
        read = json.loads(line)
        hello, told, offers = BEFORE[read["language"]]
        answered = ((hello, read["reply"]),) if "reply" in read else ((), (hello, told), (hello, offers))
        for before in answered:
            turns = [Said(role, role, text) for role, text in zip(("user", "assistant"), before, strict=False)]
            for each in considered([*turns, Said("last", "user", read["text"])]):
                if each.turn.id == "last":
                    yield Sample("alone", each, read["kind"], PLAIN)


def alone(each: Considered) -> Iterator[Considered]:
    """The same said in a session of its own: somebody who tells nothing else tells it just as well."""
    text = each.turn.text[each.unit.start : each.unit.end]
    found = list(considered([replace(each.turn, text=text)]))
    if len(found) == 1:
        yield found[0]


def labelled(session: Session, each: Considered) -> Item | None:
    """The label of what was said, a required one first."""
    text = each.turn.text[each.unit.start : each.unit.end].casefold()
    fitting = [
        item for item in session.items
        if each.turn.id in item.turns and overlap(each, item) and all(word.casefold() in text for word in item.must)
    ]  # fmt: skip
    return min(fitting, key=lambda item: item.optional, default=None)


def overlap(each: Considered, item: Item) -> bool:
    start = each.turn.text.find(item.quote)
    common = min(each.unit.end, start + len(item.quote)) - max(each.unit.start, start)
    return start >= 0 and common > SAME * min(len(item.quote), each.unit.end - each.unit.start)


class Rows(NamedTuple):
    """A row for each sample: numbers that all have, then a column for each mark, and one that is always there.

    Few marks are seen in a row, so of these only the places are kept.
    """

    dense: Floats
    places: npt.NDArray[np.int64]  # of the marks, row by row
    starts: npt.NDArray[np.int64]  # where in `places` each row begins
    width: int

    def times(self, found: Floats) -> Floats:
        size = self.dense.shape[1]
        return self.dense @ found[:size] + np.add.reduceat(found[size:][self.places], self.starts)

    def onto(self, values: Floats) -> Floats:
        """The other way round: what each column gets of the rows' values."""
        many = np.diff([*self.starts, len(self.places)])
        return np.concatenate([values @ self.dense, np.bincount(self.places, np.repeat(values, many), self.width)])


def rows_of(told: Sequence[Seen], names: Sequence[str], dense: Floats | None = None) -> Rows:
    at = {name: number for number, name in enumerate(names)}
    places = [[*(at[mark] for mark in sorted(each.seen) if mark in at), len(names)] for each in told]
    starts = np.cumsum([0, *map(len, places)])[:-1]
    given = np.zeros((len(told), 0)) if dense is None else dense
    return Rows(given, np.array([place for row in places for place in row]), starts, len(names) + 1)


def learnt(rows: Rows, right: Floats, weights: Floats, penalised: float = PENALTY) -> Floats:
    """The penalised likelihood at its highest, found by limited-memory BFGS; the constant is not penalised."""
    penalty = np.full(rows.dense.shape[1] + rows.width, penalised)
    penalty[-1] = 1e-6

    def cost(found: Floats) -> tuple[float, Floats]:
        sums = rows.times(found)
        wrong = weights * (1 / (1 + np.exp(-sums)) - right)
        worth = weights @ (np.logaddexp(0, sums) - right * sums) + (penalty * found) @ found / 2
        return float(worth), rows.onto(wrong) + penalty * found

    return lowest(cost, np.zeros(len(penalty)))


def lowest(cost: Callable[[Floats], tuple[float, Floats]], at: Floats) -> Floats:
    worth, slope = cost(at)
    kept: deque[tuple[Floats, Floats]] = deque(maxlen=REMEMBERED)  # steps, and how each changed the slope
    for _ in range(ROUNDS):
        way = downhill(slope, kept)
        stride, fall = 1.0, float(slope @ way)
        while (new := cost(at + stride * way))[0] > worth + 1e-4 * stride * fall:
            stride /= 2
        step, gained = stride * way, worth - new[0]
        if float(step @ (new[1] - slope)) > 1e-10:
            kept.append((step, new[1] - slope))
        at, (worth, slope) = at + step, new
        if gained < ENOUGH * abs(worth):
            break
    return at


def downhill(slope: Floats, kept: Sequence[tuple[Floats, Floats]]) -> Floats:
    """The slope as it is bent by the steps before."""
    if not kept:
        return -slope / float(np.abs(slope).sum())
    way = slope.copy()
    shares: list[float] = []
    for step, change in reversed(kept):
        shares.append(float(step @ way) / float(change @ step))
        way -= shares[-1] * change
    step, change = kept[-1]
    way *= float(step @ change) / float(change @ change)
    for (step, change), part in zip(kept, reversed(shares), strict=True):
        way += (part - float(change @ way) / float(change @ step)) * step
    return -way


class Table(NamedTuple):
    """All weights, as the file holds them."""

    kinds: Sequence[str]
    marks: dict[str, list[float]]
    meaning: list[float]


def table(told: Sequence[Sample]) -> Table:
    """Learnt from all samples."""
    counted = Counter(mark for each in told for mark in each.seen)
    names = sorted(name for name, count in counted.items() if count >= (LEAST_WORD if name.startswith(WORDY) else LEAST))
    names.sort(key=lambda name: name.startswith(PAIR))  # pairs last: kinds are told without them
    plain = sum(not name.startswith(PAIR) for name in names)
    weights, kept = np.array([each.weight for each in told]), np.array([float(bool(each.kind)) for each in told])
    vectors = Static.load().documents([each.text for each in told]).astype(np.float64)
    size = vectors.shape[1]
    found = learnt(rows_of(told, names, MEANING * vectors), kept, weights)
    columns = [found[size:]]
    keepers = [each for each in told if each.kind]
    fewer = rows_of(keepers, names[:plain])
    for kind in KINDS:
        right = np.array([float(each.kind == kind) for each in keepers])
        columns.append(learnt(fewer, right, weights[kept > 0]))
    marks = {name: rounded(column[place] for column in columns) for place, name in enumerate(names[:plain])}
    marks |= {name: rounded([columns[0][plain + place]]) for place, name in enumerate(names[plain:])}
    marks = {"always": rounded(column[-1] for column in columns), **{name: row for name, row in marks.items() if any(row)}}
    return Table(KINDS, marks, [round(float(value) * MEANING, 3) for value in found[:size]])


def rounded(values: Iterable[float]) -> list[float]:
    return [round(float(value), 2) for value in values]


def named(names: Sequence[str], found: Floats) -> dict[str, float]:
    return {name: round(float(value), 2) for name, value in zip([*names, "always"], found, strict=True) if abs(value) >= 0.005}


def score(made: Table, place: int, each: Sample) -> float:
    rows = [made.marks[mark] for mark in ("always", *each.seen) if mark in made.marks]
    return sum(row[place] for row in rows if place < len(row))


def named_as(made: Table, each: Sample) -> str:
    return max(enumerate(KINDS, start=1), key=lambda kind: score(made, kind[0], each))[1]


def chances(made: Table, told: Sequence[Sample]) -> Floats:
    """How likely each is worth keeping, as the product works it out."""
    meant = Static.load().documents([each.text for each in told]) @ made.meaning
    marks = np.array([score(made, 0, each) for each in told])
    found: Floats = 1 / (1 + np.exp(-marks - meant))
    return found


def check(every: dict[str, list[Sample]]) -> dict[str, Any]:
    """Each part by what the others teach."""
    told, plain = {}, list(said_alone())
    for part, given in every.items():
        own = [each for each in given if each.placed]  # as it was said, among others
        made = table([*plain, *(each for other, rest in every.items() if other != part for each in rest)])
        kept = [each for each, chance in zip(own, chances(made, own), strict=True) if chance >= LIKELY]
        right = sum(bool(each.kind) for each in kept)
        wanted = sum(bool(each.kind) and each.weight == 1.0 for each in own)
        found = sum(bool(each.kind) and each.weight == 1.0 for each in kept)
        kinds = sum(named_as(made, each) == each.kind for each in kept if each.kind)
        ruled = [each for each in own if each.rule]
        told[part] = {
            "precision": round(right / len(kept), 3), "recall": round(found / wanted, 3), "kind": round(kinds / right, 3),
            "rules_precision": round(sum(bool(each.kind) for each in ruled) / len(ruled), 3),
            "rules_recall": round(sum(bool(each.kind) and each.weight == 1.0 for each in ruled) / wanted, 3),
        }  # fmt: skip
    return told


def written(made: Table) -> str:
    return f'{{"kinds": {json.dumps(made.kinds)},\n"meaning": {json.dumps(made.meaning)},\n"marks": {listed(made.marks)}}}\n'


def listed(marks: Mapping[str, object]) -> str:
    """As JSON, a mark a line, so that a change can be read."""
    lines = ",\n".join(f"{json.dumps(name, ensure_ascii=False)}: {json.dumps(row)}" for name, row in sorted(marks.items()))
    return f"{{\n{lines}\n}}"


def learnt_from(
    about: str | None, samples: Callable[[str], Iterable[Each]], check: Callable[[dict[str, list[Each]]], object]
) -> dict[str, list[Each]] | None:
    """What each part of the corpus teaches; None where that was only to be checked, which is done."""
    given = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    given.add_argument("--check", action="store_true", help="write nothing; tell each part by what the others teach")
    checks = given.parse_args().check
    every = {folder.name: list(samples(folder.name)) for folder in sorted(CORPUS.glob("tune_*"))}
    if checks:
        print(json.dumps(check(every), indent=1))
    return None if checks else every


def main() -> None:
    every = learnt_from(__doc__, samples, check)
    if every is None:
        return
    made = table([*said_alone(), *(each for part in every.values() for each in part)])
    TARGET.write_text(written(made), "utf-8")
    print(f"{len(made.marks)} marks from {sum(map(len, every.values()))} things said -> {TARGET.name}")


if __name__ == "__main__":
    main()
