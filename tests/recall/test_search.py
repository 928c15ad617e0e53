"""What a search finds, in which order, and what it leaves out."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from hindbrain import Memory
from tests.recall.homes import START, Said, tell


def texts(memory: Memory, question: str, **how: object) -> list[str]:
    how.setdefault("project", "/p/one")
    return [hit.text for hit in memory.search(question, **how)]  # type: ignore[arg-type]


def test_a_turn_is_found_by_the_words_of_the_turn_before_it(memory: Memory) -> None:
    tell(memory, ["Which colour shall the marmoset badge have?", Said("Turquoise, I think.", role="assistant"), "Let us go on."])
    assert texts(memory, "marmoset badge")[:2] == ["Which colour shall the marmoset badge have?", "Turquoise, I think."]


def test_a_turn_is_found_by_the_words_of_the_turn_after_it(memory: Memory) -> None:
    tell(memory, ["Turquoise, I think.", Said("Good, the marmoset badge is turquoise now", role="assistant")])
    assert "Turquoise, I think." in texts(memory, "marmoset")


def test_own_words_count_more_than_a_neighbours(memory: Memory) -> None:
    tell(memory, ["short answer", "the marmoset", "another answer"])
    assert texts(memory, "marmoset")[0] == "the marmoset"


def test_what_tools_said_is_nobodys_neighbour(memory: Memory) -> None:
    tell(memory, ["look it up", Said("marmoset in line 12", role="tool_result"), Said("Done.", role="assistant")])
    assert texts(memory, "marmoset") == ["marmoset in line 12"]


def test_a_session_of_which_more_fits_comes_first(memory: Memory) -> None:
    rest = [Said(f"filler number {number} about nothing", session="s9", minute=number + 1) for number in range(5)]
    tell(memory, [
        *rest, Said("the marmoset cage", session="alone", minute=50), Said("unrelated gardening", session="alone", minute=51),
        Said("the marmoset cage", session="rich", minute=60),
        Said("marmoset feeding and cage cleaning", session="rich", minute=61),
    ])  # fmt: skip
    hits = memory.search("marmoset cage", project="/p/one")
    same = [hit.session for hit in hits if hit.text == "the marmoset cage"]
    assert same[0] == "rich"
    assert {"words", "session"} < hits[0].parts.keys()
    assert hits[0].score == pytest.approx(sum(hits[0].parts.values()))


def test_a_search_keeps_to_its_project_unless_it_is_told_otherwise(memory: Memory) -> None:
    tell(memory, [Said("marmoset one", project="/p/one"), Said("marmoset two", session="s2", project="/p/two")])
    assert texts(memory, "marmoset") == ["marmoset one"]
    assert texts(memory, "marmoset", project="/p/two") == ["marmoset two"]
    assert sorted(texts(memory, "marmoset", project=None)) == ["marmoset one", "marmoset two"]
    assert texts(memory, "marmoset", project="/p/three") == []


def test_time_limits_include_both_their_ends(memory: Memory) -> None:
    tell(memory, [Said(f"marmoset {minute}", minute=minute) for minute in (1, 2, 3)])
    second = START + timedelta(minutes=2)
    assert sorted(texts(memory, "marmoset", as_of=second)) == ["marmoset 1", "marmoset 2"]
    assert sorted(texts(memory, "marmoset", after=second)) == ["marmoset 2", "marmoset 3"]
    moment = timedelta(milliseconds=1)
    assert texts(memory, "marmoset", as_of=second, after=second) == ["marmoset 2"]
    assert texts(memory, "marmoset", as_of=second - moment, after=START + timedelta(minutes=1) + moment) == []


def test_a_time_without_a_zone_is_utc(memory: Memory) -> None:
    naive = datetime(2026, 3, 1, 12, 30)  # noqa: DTZ001
    memory.record(agent="a", session="s", role="user", text="marmoset", at=naive, project="p")
    memory.settle()
    assert [hit.at for hit in memory.search("marmoset", as_of=naive, after=naive)] == [naive.replace(tzinfo=UTC)]


def test_the_same_question_gives_the_same_order_even_among_equals(memory: Memory) -> None:
    tell(memory, [Said("the same words", session=f"s{number}", minute=7) for number in range(20)])
    first = [hit.id for hit in memory.search("same words", k=20, project="/p/one")]
    assert len(first) == 20
    assert all([hit.id for hit in memory.search("same words", k=20, project="/p/one")] == first for _ in range(3))
    assert [hit.id for hit in memory.search("same words", k=5, project="/p/one")] == first[:5]


def test_the_order_does_not_depend_on_the_order_of_arrival(tmp_path: Path) -> None:
    sayings = [Said(f"marmoset {number % 3} cage", session=f"s{number % 4}", minute=number + 1) for number in range(24)]
    found = []
    for seed in range(3):
        shuffled = sayings if seed == 0 else random.Random(seed).sample(sayings, len(sayings))
        with Memory.open(home=tmp_path / str(seed)) as memory:
            for said in shuffled:
                memory.record(
                    agent="a", session=said.session, role="user", text=said.text, project="/p/one",
                    key=said.text + str(said.minute),
                    at=START + timedelta(minutes=said.minute),
                )  # fmt: skip
                if seed == 2 and said.minute % 7 == 0:
                    memory.settle()
            memory.settle()
            found.append([(hit.id, round(hit.score, 9)) for hit in memory.search("marmoset cage", k=50, project="/p/one")])
    assert found[0] == found[1] == found[2]


def test_recording_the_same_turns_again_changes_nothing(memory: Memory) -> None:
    sayings = [f"marmoset {number}" for number in range(8)]
    tell(memory, sayings)
    before = memory.search("marmoset 3", project="/p/one")
    tell(memory, sayings)
    assert memory.search("marmoset 3", project="/p/one") == before


@pytest.mark.parametrize("question", ["what is it", "The", "and or not", "who are you?"])
def test_a_question_of_stop_words_alone_is_asked_as_it_is(memory: Memory, question: str) -> None:
    tell(memory, ["what is it and who are you, the one or not", "marmoset"])
    assert len(texts(memory, question)) > 0


@pytest.mark.parametrize("word", ["marmoset", "MARMOSET", "marmosets", "märmöset", "the marmoset and what it is"])
def test_something_is_found_whenever_a_word_matches(memory: Memory, word: str) -> None:
    tell(memory, ["one marmoset", *(f"nothing of the kind {number}" for number in range(30))])
    assert texts(memory, word)[0] == "one marmoset"


def test_one_matching_word_among_many_is_enough(memory: Memory) -> None:
    tell(memory, ["one marmoset", "nothing"])
    others = " ".join(f"word{number}" for number in range(40))
    assert texts(memory, f"{others} marmoset")[0] == "one marmoset"


@pytest.mark.parametrize("question", ["", "   ", "?!,;", "\x00", "\ud800", "\u200b\u202e", "🦖"])
def test_a_question_without_words_finds_nothing(memory: Memory, question: str) -> None:
    tell(memory, ["one marmoset 🦖"])
    assert texts(memory, question) == []


@pytest.mark.parametrize("letters", [1, 680, 690, 700, 3_000, 30_000])
def test_a_hit_has_its_whole_text_however_long_and_is_seen_to_ask(memory: Memory, letters: int) -> None:
    text = "the marmoset " + "x" * letters + " or not?"
    tell(memory, [text, Said("the heron", session="s2")])
    (hit,) = memory.search("marmoset", project="/p/one")
    assert hit.text == text
    assert hit.parts["question"] < 0


@pytest.mark.parametrize("k", [0, -1, 1, 3, 10**9])
def test_no_more_is_given_than_was_asked_for(memory: Memory, k: int) -> None:
    tell(memory, [f"marmoset {number}" for number in range(4)])
    assert len(texts(memory, "marmoset", k=k)) == min(max(k, 0), 4)


def test_a_home_that_holds_nothing_answers_with_nothing(memory: Memory) -> None:
    assert memory.search("marmoset") == []
    assert memory.context("marmoset").text == ""
