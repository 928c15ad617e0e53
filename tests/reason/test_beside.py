"""What a turn says beside a statement: kept in whole words, and weighed when the statement is compared with older ones."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hindbrain.ledger.known import Known
from hindbrain.ledger.statement import AFTER, BEFORE, beside
from hindbrain.reason import relating
from hindbrain.reason.beside import Beside
from hindbrain.reason.changes import Supersede
from hindbrain.reason.likeness import Likeness, by_words
from hindbrain.reason.partners import Partners
from hindbrain.reason.reflect import judge, reflect
from hindbrain.reason.relation import by_rules, relation, seen
from hindbrain.reason.sides import Sides
from tests.reason.knowing import know

LIKENESS = Likeness()
OLDER = know("o", "the garden pump stops after 8 minutes without flow", "decision", 1)


def newer(text: str, before: str = "", after: str = "", kind: str = "decision", at: int = 2) -> Known:
    return know("n", text, kind, at, detail={"before": before, "after": after})


@pytest.mark.parametrize(
    ("text", "quote", "found"),
    [
        ("Use Redis.", "Use Redis.", ("", "")),
        ("Files were slow. Use Redis. Ask first.", "Use Redis.", ("Files were slow.", "Ask first.")),
        ("Use Redis.", "Use Kafka.", ("", "")),
        ("", "x", ("", "")),
        ("a\n\n  Use Redis.\t", "Use Redis.", ("a", "")),
    ],
)
def test_what_stands_before_and_after_a_quote(text: str, quote: str, found: tuple[str, str]) -> None:
    assert beside(text, quote) == found


def test_of_a_long_turn_only_the_whole_words_next_to_the_quote_are_kept() -> None:
    before, after = beside(f"{'word ' * 200}Use Redis.{' more' * 200}", "Use Redis.")
    assert set(before.split()) == {"word"} and set(after.split()) == {"more"}
    assert BEFORE - 10 < len(before) <= BEFORE and AFTER - 10 < len(after) <= AFTER
    assert beside(f"{'x' * 5_000}Use Redis.{'y' * 5_000}", "Use Redis.") == ("", "")  # one endless word is no word


@given(some.text(max_size=400), some.text(max_size=30), some.text(max_size=400))
def test_any_text_gives_stretches_of_itself(before: str, quote: str, after: str) -> None:
    text = before + quote + after
    first, last = beside(text, quote)
    assert len(first) <= BEFORE and len(last) <= AFTER and first in text and last in text


def test_words_and_values_of_the_older_one_that_stand_beside_the_newer_tie_them() -> None:
    tied = Beside(newer("make it twelve", "8 minutes is too short for the pump."), OLDER, by_words)
    assert tied.tied and tied.valued and tied.telling >= 0.6
    assert Beside(newer("make it twelve", "that is too short."), OLDER, by_words).tied is False
    said = Beside(newer("the pump gets twelve", "the pump again."), OLDER, by_words)
    assert said.telling == 0.0  # what the statement says itself counts there


@pytest.mark.parametrize("name", ["telling", "over", "valued", "alike"])
def test_with_nothing_beside_it_nothing_is_read(name: str) -> None:
    assert not getattr(Beside(newer("make it twelve"), OLDER, by_words), name)
    assert not getattr(Beside(know("n", "make it twelve"), OLDER, by_words), name)


def test_a_thing_that_is_over_beside_the_newer_counts_as_over() -> None:
    found = Beside(newer("unbound does the names now", "Pihole is gone."), know("o", "pihole answers dns", at=1), by_words)
    assert found.over > 0 == Beside(newer("unbound does it", "Pihole is fine."), found.older, by_words).over


@pytest.mark.parametrize("hostile", [None, 3, ["a"], {"before": 1}, "\x00\ud800", "a" * 100_000])
def test_whatever_a_detail_holds_two_can_be_compared(hostile: object) -> None:
    one = know("n", "make it twelve", at=2, detail={"before": hostile, "after": hostile})
    assert relation(one, OLDER, LIKENESS) in ("", "supersedes", "contradicts", "reinforces")


def test_what_is_said_beside_a_statement_lets_it_replace_what_it_shares_no_word_with() -> None:
    told = newer("from now on only after twelve", "8 minutes without flow was too short for the garden pump.")
    assert judge(told, OLDER, LIKENESS).said == "supersedes"
    assert judge(newer("from now on only after twelve", "The tomatoes look great."), OLDER, LIKENESS).said == ""


@pytest.mark.parametrize(("before", "said"), [("The garden pump gave up too early.", "supersedes"), ("Too early.", "")])
def test_two_that_sound_nothing_alike_need_a_tie_beside_them(monkeypatch: pytest.MonkeyPatch, before: str, said: str) -> None:
    monkeypatch.setattr(relating, "weighed", lambda marks: {name: 5.0 * (name == "supersedes") for name in relating.RELATIONS})
    told = newer("from now on only after 12 minutes", before)
    assert relation(told, OLDER, lambda one, other: 0.0) == "supersedes"
    assert judge(told, OLDER, lambda one, other: 0.0).said == said


def test_doubt_beside_a_statement_makes_it_a_contradiction() -> None:
    older = know("o", "the label printer listens on port 9100", "fact", 1)
    text = "the label printer listens on port 9300"
    doubted = newer(f"Ada said on the phone {text}", "", "I had another one in mind, no idea who is right.", "fact")
    assert judge(doubted, older, LIKENESS).said == "contradicts"
    marks = seen(pair := Sides(doubted, older, LIKENESS), by_rules(pair))
    assert {"word beside idea", "word beside mind"} <= marks


def test_a_word_beside_a_statement_makes_partners_in_both_directions() -> None:
    told = newer("make it twelve", "the garden pump was too slow")
    others = [know(f"x{number}", f"something else {number}", at=1) for number in range(30)]
    assert [each.id for each in Partners([*others, OLDER]).of(told)][:1] == ["o"]
    assert [each.id for each in Partners([*others, told]).of(OLDER)][:1] == ["n"]


def test_words_of_the_statements_themselves_come_before_words_beside_them() -> None:
    told = newer("the pump gets twelve", "about the fence")
    own, near = know("a", "the pump is loud", at=1), know("b", "the fence is red", at=1)
    assert [each.id for each in Partners([near, own]).of(told)] == ["a", "b"]


def test_in_whatever_order_they_arrive_the_same_is_replaced() -> None:
    told = newer("from now on only after twelve", "8 minutes without flow was too short for the garden pump.")
    every = [OLDER, told, know("z", "the fence is painted in May", "fact", 3)]
    found = set()
    for order in permutations(every):
        current: list[Known] = []
        made = set()
        for each in order:
            made |= {(one.old, one.new) for one in reflect([each], current, LIKENESS) if isinstance(one, Supersede)}
            current.append(each)
        found.add(frozenset(made))
    assert found == {frozenset({("o", "n")})}
