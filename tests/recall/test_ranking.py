"""What stands before what, and why: each part of the ranking decides between two turns that are alike in all other parts."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from hindbrain import Hit, Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.config import load as load_config
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.recall.rank import Scope
from hindbrain.recall.weights import WEIGHTS
from hindbrain.serve.recalling import Recalling
from tests.recall.homes import START, Said, tell

LONG = "Here is a long explanation of everything one could say about it. " * 20


def found(memory: Memory, question: str, **how: object) -> list[Hit]:
    how.setdefault("project", "/p/one")
    return memory.search(question, **how)  # type: ignore[arg-type]


def texts(memory: Memory, question: str, **how: object) -> list[str]:
    return [hit.text for hit in found(memory, question, **how)]


def apart(*sayings: Said | str) -> list[Said]:
    """Each in a session of its own, an hour apart, so that none is another's neighbour."""
    told = [Said(each) if isinstance(each, str) else each for each in sayings]
    return [
        Said(each.text, f"s{number}", each.role, each.project, each.minute or 60 * number + 1) for number, each in enumerate(told)
    ]


def test_something_is_found_by_what_it_means_without_a_shared_word(memory: Memory) -> None:
    tell(memory, apart("We keep the recipes in a drawer", "The cat sleeps on the sofa", "Lunch is at noon"))
    hits = found(memory, "what should we eat")
    assert hits[0].text == "Lunch is at noon"
    assert "words" not in hits[0].parts and hits[0].parts["meaning"] > 0


def test_what_is_like_the_question_by_chance_is_not_found(memory: Memory) -> None:
    tell(memory, apart("The cat sleeps on the sofa", "Lunch is at noon"))
    assert texts(memory, "kubernetes ingress certificate rotation") == []


def test_the_person_named_comes_first(memory: Memory) -> None:
    tell(memory, apart("Maria: I adopted a puppy in spring", "Bruno: I adopted a puppy in spring too"))
    assert texts(memory, "What did Bruno adopt?")[0].startswith("Bruno")
    assert texts(memory, "What did Maria adopt?")[0].startswith("Maria")
    assert found(memory, "What did Maria adopt?")[0].parts["speaker"] == WEIGHTS["speaker"]


def test_peoples_own_words_come_before_long_replies_and_tool_output(memory: Memory) -> None:
    tell(memory, apart(
        Said(f"The marmoset cage is cleaned on Fridays. {LONG}", role="assistant"),
        Said("The marmoset cage is cleaned on Fridays", role="tool_result"),
        Said("The marmoset cage is cleaned on Fridays!", role="user"),
    ))  # fmt: skip
    hits = found(memory, "when is the marmoset cage cleaned")
    assert hits[0].role == "user"
    assert {hit.role: hit.parts.get("long_reply", hit.parts.get("tool")) for hit in hits} == {
        "user": None, "assistant": WEIGHTS["long_reply"], "tool_result": WEIGHTS["tool"],
    }  # fmt: skip


def test_a_long_reply_is_not_held_back_when_it_is_asked_for(memory: Memory) -> None:
    tell(memory, apart(Said(f"Clean the marmoset cage with vinegar. {LONG}", role="assistant"), "Marmoset and cage, please"))
    assert "long_reply" not in found(memory, "what did you recommend for the marmoset cage")[0].parts


def test_tool_output_that_holds_the_very_code_is_not_held_back(memory: Memory) -> None:
    tell(memory, apart(Said("fatal: E4711 while opening the cage", role="tool_result"), "the cage would not open"))
    hits = found(memory, "what is E4711")
    assert hits[0].role == "tool_result"
    assert "tool" not in hits[0].parts and hits[0].parts["literal"] == WEIGHTS["literal"]


def test_the_very_path_is_found_among_many_that_share_its_words(memory: Memory) -> None:
    words = ["red", "blue", "green", "one", "two", "three", "four"]
    others = [f"shop cart py src {word} cart src shop py" for word in words * 60]
    noise = [Said(f"{text} {number}", session=f"n{number}", minute=number + 1) for number, text in enumerate(others)]
    tell(memory, [*noise, Said("look into src/shop/cart.py once more, there is a lot of other text here", "x", minute=2)])
    assert texts(memory, "what about src/shop/cart.py")[0].startswith("look into src/shop/cart.py")


def test_what_was_said_in_the_time_named_comes_first(memory: Memory) -> None:
    for month in (1, 2, 3):
        memory.record(agent="a", session=f"s{month}", role="user", text=f"We talked about the marmoset, {month}",
                      at=START.replace(month=month), project="/p/one")  # fmt: skip
    memory.settle()
    hits = found(memory, "what did we say about the marmoset in January")
    assert hits[0].text.endswith("1") and hits[0].parts["date"] == WEIGHTS["date"]


def test_a_time_may_be_named_by_an_event(memory: Memory) -> None:
    def say(text: str, day: int) -> None:
        memory.record(agent="a", session=f"s{day}", role="user", text=text, at=START + timedelta(days=day), project="/p/one")

    say("The marmoset API had two endpoints", 0)
    say("The release went out this morning", 30)
    say("The marmoset API has three endpoints", 60)
    say("what happened before the release?", 70)  # who asks for it does not count
    memory.settle()
    before, after = (found(memory, f"how many marmoset API endpoints {how} the release") for how in ("before", "after"))
    assert before[0].text == "The marmoset API had two endpoints" and "date" in before[0].parts
    assert after[0].text == "The marmoset API has three endpoints" and "date" in after[0].parts


def test_the_answer_to_a_question_that_fits_rises(memory: Memory) -> None:
    tell(memory, [
        Said("Which colour has the marmoset badge?", role="user", minute=1), Said("Turquoise.", role="assistant", minute=2),
        Said("Which day is it?", role="user", session="s2", minute=3), Said("Monday.", role="assistant", session="s2", minute=4),
    ])  # fmt: skip
    hits = {hit.text: hit for hit in found(memory, "colour of the marmoset badge")}
    assert hits["Turquoise."].parts["reply"] == WEIGHTS["reply"]
    assert set(list(hits)[:2]) == {"Which colour has the marmoset badge?", "Turquoise."}


def test_the_same_words_said_again_stand_once_before_others_and_say_how_often(memory: Memory) -> None:
    daily = [Said("run the marmoset tests", session=f"s{number}", minute=number + 1) for number in range(12)]
    tell(memory, [*daily, Said("the marmoset tests need a database", "other", minute=50)])
    hits = found(memory, "marmoset tests", k=20)
    assert [hit.text for hit in hits[:2]].count("run the marmoset tests") == 1
    first = next(hit for hit in hits if hit.text == "run the marmoset tests")
    assert (first.session, first.note.split(";")[0]) == ("s11", "said 12 times, first on 2026-03-01")
    assert len(hits) == 13  # the others are still to be found, behind


def test_a_kept_statement_stands_before_a_turn_that_says_the_same(memory: Memory) -> None:
    tell(memory, apart("Use turquoise for the marmoset badge", "Nothing else"))
    memory.remember("Use turquoise for the marmoset badge", kind="decision", project="/p/one")
    memory.settle()
    hits = found(memory, "marmoset badge turquoise")
    assert [hit.kind for hit in hits[:2]] == ["decision", "turn"]
    assert hits[0].parts["memory"] == WEIGHTS["memory"]


def test_a_memory_that_shares_one_word_stands_behind_a_turn_that_shares_all(memory: Memory) -> None:
    tell(memory, apart("The marmoset cage is cleaned every second Friday by Bruno", "Nothing else"))
    memory.remember("Bruno has a red car", kind="fact", project="/p/one")
    memory.settle()
    turn, kept = found(memory, "when does Bruno clean the marmoset cage")[:2]
    assert (turn.kind, kept.kind) == ("turn", "fact")
    # it is the best of all memories, which alone says nothing
    assert turn.parts["words"] == WEIGHTS["words"] and kept.parts["words"] < WEIGHTS["words"] / 2


def test_of_a_corrected_statement_the_present_finds_the_new_and_the_past_the_old(memory: Memory) -> None:
    old = memory.remember("The marmoset service listens on port 4000", kind="fact", project="/p/one")
    memory.settle()
    memory.correct(old, "The marmoset service listens on port 5000")
    memory.settle()
    assert texts(memory, "marmoset service port") == ["The marmoset service listens on port 5000"]
    past = found(memory, "which port did the marmoset service listen on originally")
    assert {(hit.text[-4:], hit.superseded) for hit in past} == {("4000", True), ("5000", False)}


def passages(memory: Memory, home: Path, question: str) -> list[str]:
    """The stretch of each hit's text that fits best, "" for all of it."""
    clock = SystemClock()
    recalling = Recalling(load_config(os.fspath(home)), clock)
    with Ledger.open(Home(home).ledger, clock, read_only=True) as ledger, ledger.reading() as database:
        hits = recalling.search(database, question, Scope(None, everything=True), 10)
    return [hit.text[hit.start : hit.end] for hit in hits]


def test_the_passage_that_fits_is_named_in_a_long_text(memory: Memory, home: Path) -> None:
    filler = "The weather was fine and nothing happened at all on that day. " * 15
    tell(memory, apart(f"{filler}The marmoset badge is turquoise. {filler}"))
    (passage,) = passages(memory, home, "which colour has the marmoset badge")
    assert "marmoset badge is turquoise" in passage and len(passage) <= 600


def test_what_is_short_is_shown_whole(memory: Memory, home: Path) -> None:
    tell(memory, apart("  The marmoset badge is turquoise "))
    assert passages(memory, home, "marmoset badge") == [""]


@pytest.mark.parametrize("question", ["データベース", "数据库迁移失败", "Миграция индекса", "קובץ", "데이터베이스"])
def test_a_question_in_any_script_finds_its_words(memory: Memory, question: str) -> None:
    tell(memory, apart(f"{question} ok", "something else entirely", "and another thing"))
    assert texts(memory, question)[0] == f"{question} ok"


def test_what_other_projects_hold_changes_neither_order_nor_score(memory: Memory) -> None:
    own = apart("the marmoset cage is red", "a marmoset needs a cage and water", "cage doors squeak")
    tell(memory, own)
    alone = [(hit.text, hit.parts.keys()) for hit in found(memory, "marmoset cage water")]
    tell(memory, [Said("marmoset cage water", f"o{number}", project="/p/two", minute=900 + number) for number in range(400)])
    assert [(hit.text, hit.parts.keys()) for hit in found(memory, "marmoset cage water")] == alone
