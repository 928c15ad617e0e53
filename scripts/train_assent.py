"""Labelled sessions -> the weights of reason/assent.json: which sentence of the agent's the user agreed to.

    .venv/bin/python scripts/train_assent.py [--check]

Logistic regression with a penalty on large weights: no chance in it, so the same sessions give the same file. Every sentence of a
reply that the user answered is a sample; those are right that a label names together with the user's turn. `--check` leaves one
part of the corpus out at a time, learns from the rest and counts what is told there. The held parts are never read. Beside the
sessions it reads short exchanges (assent_alone.jsonl), for in the sessions few proposals are refused.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bench.labels import Session, stories  # noqa: E402
from hindbrain.ledger.statement import Said  # noqa: E402
from hindbrain.reason.assent import LIKELY, Heard, heard, marks, parts  # noqa: E402
from hindbrain.recall.static import Static  # noqa: E402
from scripts.train_keeping import Floats, learnt, learnt_from, listed, named, rows_of  # noqa: E402

TARGET = ROOT / "src" / "hindbrain" / "reason" / "assent.json"
PENALTY = 5.0
MEANING = 2.0  # how much larger a vector is made than its length of 1, so that it is penalised less
OPTIONAL = 0.5  # what one may keep or not counts half
LEAST = 8  # times a mark has to be seen
SAME = 0.5  # of the shorter one, for a label and a sentence to be about the same words


ALONE_FILE = Path(__file__).with_name("assent_alone.jsonl")
OTHERS = 4  # answers to other things that a reply is paired with
SWAPPED = 0.8  # what an answer counts that was given to something else
STRIDE = 7  # so that neighbours are not told alike
ALONE = 1.5  # what a message by itself counts: there are few of them beside the sessions


class Sample(NamedTuple):
    """A sentence of the agent's, the message that answered it, and what the labels make of it."""

    heard: Heard
    seen: frozenset[str]
    message: str
    right: bool
    weight: float


class Exchange(NamedTuple):
    """A reply of the agent's, what the user said to it, and what the agent said then."""

    reply: str
    user: str
    after: str


class Table(NamedTuple):
    """All weights, as the file holds them."""

    marks: dict[str, float]
    sentence: list[float]
    answer: list[float]


def samples(part: str) -> Iterator[Sample]:
    """Every sentence that was answered; and replies that were agreed to, with answers that agree to nothing."""
    agreeing, other = list[Exchange](), list[Exchange]()
    for session in (session for story in stories(part) for session in story.sessions):
        for agent, number in answers(session):
            exchange = Exchange(agent.text, session.turns[number].text, following(session, number))
            found = list(judged(session, agent, number, exchange))
            (agreeing if any(each.right for each in found) else other).append(exchange)
            yield from found
    refusals = [read["user"] for read in alone() if not read["agreed"]]
    for place, exchange in enumerate(agreeing):
        elsewhere = [other[(place * OTHERS + turn) * STRIDE % len(other)] for turn in range(OTHERS)]
        refused = refusals[place * STRIDE % len(refusals)]
        for user, after in (*((each.user, each.after) for each in elsewhere), (refused, "")):
            for each in heard(exchange.reply, user, after):
                yield Sample(each, marks(each), f"{part} {place} {user}", False, SWAPPED)


def answers(session: Session) -> Iterator[tuple[Said, int]]:
    """The agent's last reply before each message of the user, and the message's number."""
    agent: Said | None = None
    for number, turn in enumerate(session.turns):
        if turn.role == "assistant" and turn.text.strip():
            agent = turn
        elif turn.role == "user":
            if agent is not None:
                yield agent, number
            agent = None


def following(session: Session, number: int) -> str:
    return next((turn.text for turn in session.turns[number + 1 : number + 3] if turn.role == "assistant"), "")


def alone() -> list[dict[str, Any]]:
    return [json.loads(line) for line in ALONE_FILE.read_text("utf-8").splitlines()]


def said_alone() -> Iterator[Sample]:
    """A reply and what was said to it, with nothing around them; many of these refuse, put off or speak of something else."""
    for number, read in enumerate(alone()):
        for each in heard(read["agent"], read["user"], ""):
            yield Sample(each, marks(each), f"alone {number}", read["agreed"], ALONE)


def judged(session: Session, agent: Said, number: int, exchange: Exchange) -> Iterator[Sample]:
    user = session.turns[number].id
    for each in heard(*exchange):
        found = [item for item in session.items if {agent.id, user} <= item.turns and holds(agent.text, each, item.quote)
                 and all(word in each.sentence.text.casefold() for word in item.must)]  # fmt: skip
        weight = OPTIONAL if found and all(item.optional for item in found) else 1.0
        yield Sample(each, marks(each), user, bool(found), weight)


def holds(reply: str, each: Heard, quote: str) -> bool:
    start = reply.find(quote)
    common = min(each.sentence.end, start + len(quote)) - max(each.sentence.start, start)
    return start >= 0 and common > SAME * min(len(quote), each.sentence.end - each.sentence.start)


def meaning(told: Sequence[Sample]) -> tuple[Floats, Floats]:
    """Of the sentences, and of what was said to them."""
    table = Static.load()
    sentences = table.documents([each.heard.sentence.text for each in told])
    answers = table.documents([parts(each.heard.user)[0] for each in told])
    return sentences.astype(np.float64), answers.astype(np.float64)


def table(told: Sequence[Sample]) -> Table:
    counted = Counter(mark for each in told for mark in each.seen)
    names = sorted(name for name, count in counted.items() if count >= LEAST)
    sentences, answers = meaning(told)
    rows = rows_of(told, names, MEANING * np.hstack([sentences, answers]))
    right = np.array([float(each.right) for each in told])
    found = learnt(rows, right, np.array([each.weight for each in told]), PENALTY)
    size = sentences.shape[1]
    meant = [round(float(value) * MEANING, 3) for value in found[: 2 * size]]
    return Table(named(names, found[2 * size :]), meant[:size], meant[size:])


def chances(made: Table, told: Sequence[Sample]) -> Floats:
    sentences, answers = meaning(told)
    seen = [made.marks["always"] + sum(made.marks.get(mark, 0.0) for mark in each.seen) for each in told]
    found: Floats = 1 / (1 + np.exp(-np.array(seen) - sentences @ made.sentence - answers @ made.answer))
    return found


def check(every: dict[str, list[Sample]]) -> dict[str, dict[str, int]]:
    """Of each part, told by what the others teach: how many agreements are found, rightly, and how many there are."""
    found: dict[str, dict[str, int]] = {}
    plain = list(said_alone())
    for part, every_own in every.items():
        made = table([*plain, *(each for other, rest in every.items() if other != part for each in rest)])
        best: dict[str, tuple[float, Sample]] = {}
        own = [each for each in every_own if each.weight != SWAPPED]
        for each, chance in zip(own, chances(made, own), strict=True):
            if chance > best.get(each.message, (LIKELY, None))[0]:
                best[each.message] = (float(chance), each)
        told = [each for _, each in best.values()]
        required, of_those = (sum(each.right and each.weight == 1.0 for each in some) for some in (own, told))
        rightly = sum(each.right for each in told)
        found[part] = {"found": len(told), "rightly": rightly, "required": required, "of_those": of_those}
    total = Counter[str]()
    for counted in found.values():
        total.update(counted)
    return {**found, "all": dict(total)}


def written(made: Table) -> str:
    return f'{{"sentence": {json.dumps(made.sentence)},\n"answer": {json.dumps(made.answer)},\n"marks": {listed(made.marks)}}}\n'


def main() -> None:
    every = learnt_from(__doc__, samples, check)
    if every is None:
        return
    made = table([*said_alone(), *(each for part in every.values() for each in part)])
    TARGET.write_text(written(made), "utf-8")
    print(f"{len(made.marks)} marks from {sum(map(len, every.values()))} sentences -> {TARGET.name}")


if __name__ == "__main__":
    main()
