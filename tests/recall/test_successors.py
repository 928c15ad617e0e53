"""What no longer holds stands behind what took its place, however well its words fit; unless the past is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindbrain.serve.memory import Memory

BEGUN = datetime(2025, 3, 1, tzinfo=UTC)
SAID = [
    "We decided to use MySQL for the orders service.",
    "We moved from MySQL to PostgreSQL for the orders service.",
    "We moved from PostgreSQL to CockroachDB for the orders service.",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(tmp_path / "home") as opened:
        yield opened


def told(memory: Memory, *texts: str, project: str = "shop") -> None:
    for day, text in enumerate(texts):
        at = BEGUN + timedelta(days=30 * day)
        memory.record(agent="a", session=f"s{day} {project}", role="user", text=text, at=at, project=project)
    memory.settle()


def texts(memory: Memory, question: str, **more: object) -> list[tuple[str, bool]]:
    return [(hit.text, hit.superseded) for hit in memory.search(question, project="shop", **more)]  # type: ignore[arg-type]


def test_of_a_chain_of_amendments_the_last_comes_before_all_others(memory: Memory) -> None:
    told(memory, *SAID)
    found = texts(memory, "which database does the orders service use?")
    assert found[0] == (SAID[2], False)
    assert sorted(found[1:]) == sorted([(SAID[0], True), (SAID[1], True)])


def test_what_took_the_place_is_brought_along_though_the_question_does_not_name_it(memory: Memory) -> None:
    told(memory, "We decided to use RabbitMQ as the message queue.", "We dropped RabbitMQ, jobs live in a table now.")
    found = memory.search("what do we use as message queue?", k=1, project="shop")
    assert [hit.text for hit in found] == ["We dropped RabbitMQ, jobs live in a table now."]


def test_a_question_about_the_past_and_a_moment_in_it_are_answered_as_it_was(memory: Memory) -> None:
    told(memory, *SAID)
    then = BEGUN + timedelta(days=10)
    assert texts(memory, "which database does the orders service use?", as_of=then) == [(SAID[0], False)]
    assert texts(memory, "which database did we use for the orders service before PostgreSQL?")[0][0] != SAID[2]


def test_nothing_of_another_project_is_brought_along(memory: Memory) -> None:
    told(memory, SAID[0])
    told(memory, SAID[0], SAID[1], project="other")
    assert texts(memory, "which database does the orders service use?") == [(SAID[0], False)]


def test_scores_never_rise_again(memory: Memory) -> None:
    told(memory, *SAID)
    scores = [hit.score for hit in memory.search("which database does the orders service use?", project="shop")]
    assert scores == sorted(scores, reverse=True)
