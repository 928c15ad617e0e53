"""Told the same, both engines say the same: every table, every answer, whatever the order and the batches."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.capture.event import Event, Json, session_id
from hindbrain.journal.read import Damage
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.ingest import Batch
from hindbrain.ledger.memories import memory_event, memory_id
from tests.conformance.states import everything
from tests.engines import NewPair
from tests.ledger.making import Delivery, event, histories, place_event, random_history, record, shuffled_batches


@given(history=histories(), seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_any_journal_in_any_order_gives_the_same_on_both(new_pair: NewPair, history: list[Delivery], seed: int) -> None:
    both_say_the_same(new_pair, history, seed)


@pytest.mark.slow
@given(history=histories(), seed=st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_any_of_many_journals_gives_the_same_on_both(new_pair: NewPair, history: list[Delivery], seed: int) -> None:
    both_say_the_same(new_pair, history, seed)


def both_say_the_same(new_pair: NewPair, history: list[Delivery], seed: int) -> None:
    sqlite, postgresql = new_pair()
    told = [sqlite.ingest(each) for each in shuffled_batches(history, seed)]
    assert [postgresql.ingest(each) for each in shuffled_batches(history, seed)] == told
    straight, together = new_pair()[1], everything(sqlite)
    straight.ingest(Batch(list(history), [], {}))
    assert everything(postgresql) == together
    assert everything(straight)["tables"] == together["tables"]


def acts(choose: random.Random) -> list[Event]:
    """What people do to what is stored: remember, correct, pin, forget, fork; the evidence may come later."""
    found: list[Event] = []
    for number in range(12):
        session, at = f"s{choose.randrange(3)}", 10 * number
        said = event(session=session, key=f"said {number}", at=at, text=f"we decided {number}", cwd="/p")
        detail: dict[str, Json] = {"turn": said.id, "kind": choose.choice(["fact", "decision", "odd"]),
                                   "scope": choose.choice(["project", "global"]), "pinned": choose.random() < 0.3}  # fmt: skip
        kept = memory_event("remember", agent="hindbrain", session=session, at=at + 1, text=f"kept {number}", detail=detail)
        target = memory_id(choose.choice([kept, *(each for each in found if each.kind == "memory")]).id)
        found += [said, kept]
        act = choose.randrange(5)
        if act == 0:
            found.append(memory_event("pin", agent="hindbrain", session=session, at=at + 2, detail={"target": target}))
        elif act == 1:
            changed: dict[str, Json] = {"target": target, "turn": said.id}
            found.append(memory_event("correct", agent="hindbrain", session=session, at=at + 3, text="better", detail=changed))
        elif act == 2:
            gone = choose.choice([target, said.id, kept.id, session_id("claude-code", session)])
            found.append(forget_event([gone], at + choose.randrange(9)))
    found.append(event(kind="session_start", key="f", at=7, session="s1", detail={"source": "fork", "odd": "\x00\ud800"}))
    return [*found, place_event("/p", "git:h/p", 3)]


@pytest.mark.parametrize("seed", range(4))
def test_statements_and_forgetting_give_the_same_on_both(new_pair: NewPair, seed: int) -> None:
    choose = random.Random(seed)
    lines = [record(10 * number, each) for number, each in enumerate(acts(choose))]
    if seed:
        choose.shuffle(lines)
    pair = new_pair()
    while lines:
        size = choose.randint(1, 6)
        for ledger in pair:
            ledger.ingest(Batch(lines[:size], [], {}))
        del lines[:size]
    assert everything(pair[0]) == everything(pair[1])
    assert everything(pair[1])["memories"], "the example says nothing"


@pytest.mark.parametrize("seed", range(3))
def test_replays_with_cursors_and_damage_give_the_same_on_both(new_pair: NewPair, seed: int) -> None:
    pair, history, choose = new_pair(), random_history(seed), random.Random(seed)
    for _ in range(3):  # the last batches again and again, as after a crash, cut elsewhere each time
        at = 0
        while at < len(history):
            part = history[at : at + choose.randint(1, 9)]
            at += len(part)
            cursors: dict[str, Json] = {}
            for line, _ in part:
                cursors[f"segment:{line.segment}"] = line.end
            bad = [Damage("x", at, at + choose.randrange(1, 5), choose.choice(["torn", "damaged"]), "reason", b"")]
            results = [ledger.ingest(Batch(list(part), bad, dict(cursors))) for ledger in pair]
            assert results[0] == results[1]
    assert everything(pair[0]) == everything(pair[1])
