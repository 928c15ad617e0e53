"""The figures on facts that changed: what counts as the newest first, and as a stale answer that says so."""

from __future__ import annotations

from datetime import UTC, datetime

from bench.conversations import Question
from bench.knowledge_updates import Answered, figures, newest_first, stale_marked
from hindbrain import Hit

QUESTION = Question("q", "?", frozenset({"old#2", "new#0"}), newest="new")


def hit(key: str, *, superseded: bool = False, note: str = "") -> Hit:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    return Hit(key, "", 1.0, "s", (key,), at, "turn", "user", "lme", None, {}, superseded=superseded, note=note)


def test_the_first_session_that_holds_an_answer_has_to_be_the_newest() -> None:
    assert newest_first(QUESTION, [hit("other#1"), hit("new#4"), hit("old#2")])
    assert not newest_first(QUESTION, [hit("old#2"), hit("new#0")])
    assert not newest_first(QUESTION, [hit("other#1")])


def test_a_stale_answer_is_marked_by_its_end_or_by_a_note_on_what_came_later() -> None:
    assert stale_marked(QUESTION, [hit("new#0"), hit("old#2", superseded=True)]) is True
    assert stale_marked(QUESTION, [hit("new#0"), hit("old#2", note="said before 3 May's change")]) is True
    assert stale_marked(QUESTION, [hit("old#2", note="said 3 times"), hit("old#2", superseded=True)]) is False
    assert stale_marked(QUESTION, [hit("new#0"), hit("old#1")]) is None


def test_the_share_of_marked_ones_is_among_questions_that_found_a_stale_one() -> None:
    found = [Answered("a", True, True), Answered("b", False, False), Answered("c", True, None)]
    assert figures(found) == {"newest_first": 0.6667, "stale_marked": 0.5, "stale_found": 2, "n": 3}
    assert figures([]) == {"newest_first": None, "stale_marked": None, "stale_found": 0, "n": 0}
