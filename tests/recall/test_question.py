"""What a question asks for, read off its wording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hindbrain.recall.question import MAX_LITERALS, holds, phrases, speaker_of, understood


@pytest.mark.parametrize(("question", "exact", "numbers"), [
    ("why does src/shop/cart.py fail with ECONNREFUSED?", ["src/shop/cart.py", "econnrefused"], []),
    ("what is getUserById, user_id or E1234 on port 8080", ["getuserbyid", "user_id", "e1234"], ["8080"]),
    ('who said "hello world"?', ["hello world"], []),
    ("version v1.2.3 of 10,000", ["v1.2.3"], ["10,000"]),
    ("see /etc/hosts and ~/notes and C:\\Temp\\x.log", ["/etc/hosts", "~/notes", "c:\\temp\\x.log"], []),
    ("What did Caroline's mother say about the well-known dog?", [], []),
    ("I think so of the US, TV and API", [], []),
    ("", [], []),
])  # fmt: skip
def test_what_must_be_found_letter_for_letter(question: str, exact: list[str], numbers: list[str]) -> None:
    asked = understood(question)
    assert (asked.exact, asked.numbers) == (exact, numbers)


@pytest.mark.parametrize(("text", "literal", "held"), [
    ("the house", "us", False), ("in the us.", "us", True), ("bus us", "us", True), ("see src/a.py:12", "src/a.py", True),
    ("e47110 only", "e4711", False), ("", "x", False), ("xx x", "x", True), ("v1.2.30", "v1.2.3", False),
])  # fmt: skip
def test_a_literal_is_no_part_of_a_longer_word(text: str, literal: str, held: bool) -> None:
    assert holds(text, literal) == held


def test_a_literal_is_looked_for_as_words_that_follow_each_other() -> None:
    assert phrases(["src/shop/cart.py", "e1234", "--", '"a"b"']) == ["src shop cart py", "e1234", "a b"]


@pytest.mark.parametrize(("text", "speaker"), [
    ("Maria Lopez: I moved", {"maria", "lopez"}), ("Bob: hi", {"bob"}), ("note: this is no name", set()),
    ("12:30 is late", set()), ("", set()), ("Hello there", set()), ("Émile: oui", {"émile"}),
])  # fmt: skip
def test_who_speaks_is_read_off_the_beginning(text: str, speaker: set[str]) -> None:
    assert speaker_of(text) == speaker


@pytest.mark.parametrize(("question", "reply", "past"), [
    ("what did you recommend for the flaky test?", True, False),
    ("remind me which crate you suggested", True, False),
    ("what was changed in the parser", True, False),
    ("which database did we use before?", False, True),
    ("what do we use now, and not before", False, False),
    ("which port does the server listen on", False, False),
])  # fmt: skip
def test_which_way_a_question_looks(question: str, reply: bool, past: bool) -> None:
    asked = understood(question)
    assert (asked.wants_reply, asked.wants_past) == (reply, past)


@pytest.mark.parametrize("piece", ["A_", "a.", "/", "a-", "aB", "'", '"x', "1,", "~/", "a:", "\\x", "#"])
def test_a_question_of_one_piece_a_hundred_thousand_times_is_read_at_once(piece: str) -> None:
    asked = understood(piece * 50_000)
    assert len(asked.literals) <= 2 * MAX_LITERALS


@given(text=st.text(st.characters(), max_size=200))
def test_any_text_is_understood(text: str) -> None:
    asked = understood(text)
    assert all('"' not in each for each in phrases(asked.literals))
    assert all(each == each.lower() for each in asked.exact)
