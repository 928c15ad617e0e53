"""Whatever is found, replaced, contradicted, decided on and forgotten, in any order: what is kept is what a simple model says."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hindbrain.capture.event import Event
from hindbrain.ledger import reasoned
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.forget import forget_event
from hindbrain.ledger.reasoned import Statement
from hindbrain.recall import rank
from hindbrain.recall.candidates import Candidates
from hindbrain.recall.question import understood
from tests.conformance.reasoning import LATER, ONE, PLACE, RULES, TEXTS, TURNS, TWO, act, put, statement, tell
from tests.conformance.states import is_sound, rows
from tests.engines import NewLedger

FOREVER = 1 << 50
SESSIONS = {ONE: TURNS, TWO: LATER}
# Some rest on two turns, some say the same in both sessions, some are for everywhere.
POOL: dict[str, list[Statement]] = {
    session: [
        *(statement(turn, scope="global" if number == 3 else "project") for number, turn in enumerate(turns)),
        statement(turns[0], "Storage is Postgres.", turns=(turns[0].id, turns[2].id), kind="fact"),
        statement(turns[1], "Pushing to main is forbidden.", kind="instruction", confidence=0.4),
    ]
    for session, turns in SESSIONS.items()
}
STATEMENTS = [each for pool in POOL.values() for each in pool]
SESSION_OF = {each.id: session for session, pool in POOL.items() for each in pool}


class Model:
    """What ought to be there: ids of observations, and how each is held."""

    def __init__(self) -> None:
        self.found: dict[str, Statement] = {}
        self.decided: set[str] = set()
        self.verdicts: dict[str, str] = {}
        self.gone: set[str] = set()

    def put(self, session: str, wanted: list[Statement]) -> None:
        stay = {each for each in self.found if SESSION_OF[each] != session or each in self.decided}
        self.found = {each: self.found[each] for each in stay}
        for each in wanted:
            if each.id not in self.gone and not self.gone & set(each.turns):
                self.found[each.id] = each

    def forget(self, named: str) -> None:
        self.gone |= {named, *(turn.id for turn in SESSIONS.get(named, ()))}
        left = [each for each, said in self.found.items() if each not in self.gone and not self.gone & set(said.turns)]
        self.found = {each: self.found[each] for each in left}

    def held(self) -> dict[str, str]:
        rejected = {(self.found[each].text.casefold(), self.found[each].scope) for each, verdict in self.verdicts.items()
                    if verdict == "reject" and each in self.found}  # fmt: skip
        return {each: self._held(each, said, rejected) for each, said in self.found.items()}

    def _held(self, identifier: str, said: Statement, rejected: set[tuple[str, str]]) -> str:
        verdict = self.verdicts.get(identifier, "reject" if (said.text.casefold(), said.scope) in rejected else "")
        found = "quarantine" if said.quarantine else ""
        return {"accept": "", "reject": "rejected", "": found}[verdict]


class Machine:
    """Does the same to a ledger and to the model."""

    def __init__(self, ledger: Evidence, seed: int) -> None:
        self.ledger, self.model, self.choose, self.at = ledger, Model(), random.Random(seed), 10_000
        tell(ledger, PLACE, *TURNS, *LATER)
        self.steps: list[Callable[[], None]] = [
            self.put, self.put, self.put, self.supersede, self.supersede, self.reinforce, self.contradict, self.insight,
            self.digest, self.pin, self.verdict, self.correct, self.forget, self.dream, self.undo, self.again,
        ]  # fmt: skip
        self.last: tuple[str, list[Statement]] | None = None

    def run(self, steps: int) -> None:
        for _ in range(steps):
            self.at += 1
            self.choose.choice(self.steps)()
            self.check()
        assert is_sound(self.ledger)

    def put(self) -> None:
        session = self.choose.choice(sorted(POOL))
        wanted = [self._varied(each) for each in POOL[session] if self.choose.random() < 0.6]
        self.choose.shuffle(wanted)
        put(self.ledger, session, wanted, self.choose.choice([RULES, "model:x/1"]))
        self.model.put(session, wanted)
        self.last = session, wanted

    def _varied(self, each: Statement) -> Statement:
        changed = statement(TURNS[0], confidence=0.9, quarantine="odd") if self.choose.random() < 0.2 else each
        fields = {name: getattr(each, name) for name in ("kind", "text", "turns", "quote", "scope")}
        return Statement(**fields, confidence=changed.confidence, quarantine=changed.quarantine)

    def again(self) -> None:
        """Putting the same once more changes nothing."""
        if self.last is not None:
            put(self.ledger, *self.last)
            self.model.put(*self.last)
            before = self._state()
            assert put(self.ledger, *self.last) == reasoned.Put()
            assert self._state() == before

    def _state(self) -> tuple[list[Any], ...]:
        columns = "id, confidence, held, superseded_by, valid_to, detail, reflected, pinned, evidence"
        memories = rows(self.ledger, f"SELECT {columns} FROM memories ORDER BY id")
        return memories, rows(self.ledger, "SELECT memory_id, number, role FROM links ORDER BY 1, 2")

    def _any(self, levels: str = "observation") -> str:
        found = [row[0] for row in rows(self.ledger, "SELECT id FROM memories WHERE level = ? ORDER BY id", (levels,))]
        return str(self.choose.choice([*found, "m_none"]))

    def supersede(self) -> None:
        with self.ledger.writing() as database:
            reasoned.supersede(database, self._any(), self._any(), self.at)

    def reinforce(self) -> None:
        with self.ledger.writing() as database:
            reasoned.reinforce(database, self._any(), self._any(), self.at)

    def contradict(self) -> None:
        one, other = self._any(), self._any()
        with self.ledger.writing() as database:
            reasoned.contradict(database, one, other, "they differ", self.at) if one != other else ""

    def insight(self) -> None:
        supports = sorted({self._any(self.choose.choice(["observation", "observation", "derived"])) for _ in range(3)})
        with self.ledger.writing() as database:
            text = f"insight {self.choose.randrange(40)}"
            reasoned.put_insight(database, "insight", text, supports, "global", None, RULES, self.at)

    def digest(self) -> None:
        with self.ledger.writing() as database:
            reasoned.put_digest(database, self.choose.choice(sorted(POOL)), "short", f"long {self.at}", RULES, self.at)

    def _act(self, op: str, target: str, text: str = "", **more: Any) -> None:
        self.model.decided.add(target)
        tell(self.ledger, *act(op, target, self.at, text, **more))

    def pin(self) -> None:
        target = self.choose.choice([self._any("derived"), self.choose.choice(STATEMENTS).id])
        self._act("pin", target, pinned=self.choose.random() < 0.7)

    def verdict(self) -> None:
        target, op = self.choose.choice(STATEMENTS).id, self.choose.choice(["accept", "reject"])
        self.model.verdicts[target] = op
        over = [self._any(), self._any()] if op == "accept" and self.choose.random() < 0.4 else []
        self._act(op, target, over=over)

    def correct(self) -> None:
        self._act(self.choose.choice(["correct", "edit"]), self.choose.choice(STATEMENTS).id, f"better {self.at}")

    def forget(self) -> None:
        if self.choose.random() < 0.5:
            return
        sessions = list(SESSIONS) if self.at % 3 == 0 else []
        named = self.choose.choice([*(turn.id for turn in (*TURNS, *LATER)), *SESSION_OF, *sessions])
        tell(self.ledger, forget_event([named], self.at))
        self.model.forget(named)

    def dream(self) -> None:
        one, other = self._any(), self._any()
        with self.ledger.writing() as database:
            for each in (one, other):
                reasoned.note_change(database, f"dream {self.at % 3}", each, at=self.at)
            reasoned.supersede(database, one, other, self.at)

    def undo(self) -> None:
        with self.ledger.writing() as database:
            reasoned.undo(database, f"dream {self.choose.randrange(3)}", self.at)

    def check(self) -> None:
        found = rows(self.ledger, "SELECT id, held FROM memories WHERE level = 'observation' AND made_by <> 'person' ORDER BY id")
        assert dict(found) == self.model.held()
        kept = {row[0]: row[1:] for row in rows(self.ledger, "SELECT id, held, superseded_by, valid_to, level FROM memories")}
        assert all(newer is None or (newer in kept and until is not None) for _, newer, until, _ in kept.values())
        self._links(kept)
        self._told({each for each, (held, _, _, level) in kept.items() if held or level not in ("observation", "derived")})

    def _links(self, kept: dict[str, Any]) -> None:
        with self.ledger.reading() as database:
            for each in kept:
                assert next(reasoned.why(database, each).grounds(), None) is not None, "a memory that rests on no turn"
        for memory, role, target in rows(self.ledger, "SELECT memory_id, role, target_memory_id FROM links"):
            if role == "contradicts":
                assert kept[target][:3] == ("", None, None), f"{memory} has a side that does not stand"
            if role == "supports" and memory not in self.model.decided:
                assert not kept[target][0], f"{memory} rests on what is held back"

    def _told(self, hidden: set[str]) -> None:
        question = " ".join((*TEXTS, "storage postgres pushing better insight short long they differ"))
        scope = rank.Scope(None, everything=True)
        with self.ledger.reading() as database:
            told = {each.id for each in rank.search(database, question, scope, 500)}
            told |= {each.id for each in rank.standing(database, scope)}
            asked = understood(question)
            counts = [1] * len(asked.words)
            told |= {each.id for each in Candidates(database, asked, scope, FOREVER, False, counts).find(None, None)}
        assert not told & hidden, "something that is held back was told"


@given(seed=st.integers(0, 2**32))
@settings(max_examples=6, deadline=None)
def test_what_is_kept_is_what_the_model_says(new_ledger: NewLedger, seed: int) -> None:
    Machine(new_ledger(), seed).run(20)


@pytest.mark.slow
@given(seed=st.integers(0, 2**32))
@settings(max_examples=25, deadline=None)
def test_what_is_kept_is_what_the_model_says_in_long_histories(new_ledger: NewLedger, seed: int) -> None:
    Machine(new_ledger(), seed).run(60)


def settled(ledger: Evidence, order: list[Any]) -> dict[str, list[Any]]:
    """What a ledger holds after these puts and acts, in this order."""
    for each in order:
        if isinstance(each, Event):
            tell(ledger, each)
        else:
            put(ledger, *each)
    columns = """id, level, kind, text, confidence, trust, scope, project_id, valid_from, valid_to, superseded_by, held, pinned,
                 made_by, detail"""
    links = rows(ledger, "SELECT memory_id, role, coalesce(turn_id, target_memory_id) FROM links ORDER BY 1, 2, 3")
    return {"memories": rows(ledger, f"SELECT {columns} FROM memories ORDER BY id"), "links": links}


@pytest.mark.parametrize("seed", range(6))
def test_puts_and_acts_give_the_same_in_any_order(new_ledger: NewLedger, seed: int) -> None:
    choose = random.Random(seed)
    deeds: list[Any] = [(session, [each for each in pool if choose.random() < 0.8]) for session, pool in POOL.items()]
    for number, each in enumerate(choose.sample(STATEMENTS, 6)):
        op = choose.choice(["pin", "accept", "reject", "correct"])
        deeds += act(op, each.id, 9_000 + number, "better" if op == "correct" else "")
    states = []
    for _ in range(3):
        ledger = new_ledger()
        tell(ledger, PLACE, *TURNS, *LATER)
        states.append(settled(ledger, deeds))
        choose.shuffle(deeds)
    assert states[0] == states[1] == states[2], json.dumps(states[0], default=str)[:200]
