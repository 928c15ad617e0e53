"""What only sounds like a rule, a choice or a task is not kept; what is of use for the work is, in work and beside it."""

from __future__ import annotations

import dataclasses

import pytest

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.gate import GUESSED, MOST_PERSONAL, PERSONAL_CONFIDENCE, passed


def told(text: str, kind: str, *others: Said) -> list[Statement]:
    """What is left of one statement that was made of a whole turn, in a session with these other turns."""
    statement = Statement(kind, text, ("t",), text, 0.85)
    return passed([statement], [Said("t", "user", text), *others])


def others(*texts: str) -> list[Said]:
    return [Said(f"o{number}", "user", text) for number, text in enumerate(texts)]


CALL = Said("c", "tool_call", "pytest -q", tool="Bash")
CHAT = others("I had such a great weekend with my sister", "We went hiking and it rained all day", "Do you like pasta?")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I'm always on the lookout for new artists to listen to", "instruction"),
        ("That must have been awesome", "instruction"),
        ("It's like a never-ending journey", "instruction"),
        ("I've never done a swim event before", "instruction"),
        ("[shares a photo of two dogs]", "instruction"),
        ("Thanks so much for the advice", "decision"),
        ("I think I'll go with the blue sofa", "decision"),
        ("Moments like this remind me why I keep going", "task"),
        ("I really appreciate it", "preference"),
        ("I love all the yellow leaves, it looks so cozy", "preference"),
        ("I've replaced the old toaster and it turned out really well", "lesson"),
    ],
)  # fmt: skip
def test_talk_of_daily_life_makes_none(text: str, kind: str) -> None:
    assert told(text, kind, *CHAT) == []


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Always answer in German", "instruction"),
        ("Please never use emojis", "instruction"),
        ("The order service uses MySQL", "fact"),
        ("We'll go with Fastify", "decision"),
        ("Use pnpm instead of npm", "correction"),
        ("Deploys go through `make ship`", "procedure"),
        ("wir nehmen Postgres für die Rechnungen", "decision"),
    ],
)
def test_what_is_for_the_agent_or_about_the_work_stays_whatever_else_was_said(text: str, kind: str) -> None:
    assert [each.text for each in told(text, kind, *CHAT)] == [text]


def test_where_tools_were_used_a_choice_needs_no_technical_word() -> None:
    assert told("I think I'll go with the blue one", "decision", *CHAT) == []
    assert len(told("I think I'll go with the blue one", "decision", *CHAT, CALL)) == 1


def test_where_the_talk_is_technical_it_is_work_without_tools() -> None:
    work = others("the pytest fixture leaks", "why does the migration on postgres fail?", "refactor the endpoint")
    assert len(told("I think I'll go with the second one", "decision", *work)) == 1


def test_where_the_assistant_answers_in_technical_words_it_is_work_without_tools() -> None:
    """People who design with an agent say little that is technical themselves."""
    said, asked = "the second one is simpler, take it", others("what would you do?", "and if two people save at once?")
    design = Said("a", "assistant", "Either a Redis lock around the endpoint, or a version column in the PostgreSQL table.")
    chat = Said("a", "assistant", "Either a long walk along the river, or an afternoon at home with a good book and some tea.")
    guess = [Statement("decision", said, ("t",), said, GUESSED)]
    talk = [Said("t", "user", said), *asked]
    assert passed(guess, [*talk, design]) == guess
    assert passed(guess, [*talk, chat]) == passed(guess, talk) == []


def test_a_compliment_is_no_choice_even_at_work() -> None:
    assert told("Great job, that's exactly it", "decision", CALL) == []
    assert len(told("Thanks, and we use pnpm here", "correction", CALL)) == 1


def test_people_who_talk_with_each_other_tell_an_agent_nothing() -> None:
    chat = [Said("a", "user", "Gina: How was the show?"), Said("b", "assistant", "Jon: Wonderful!")]
    assert told("Jon: We should always believe in ourselves", "instruction", *chat) == []
    assert told("Jon: I prefer Saturday mornings", "preference", *chat) == []


def test_of_a_person_a_few_lasting_things_are_kept_and_not_as_if_they_were_sure() -> None:
    texts = [f"I prefer running on {day}s" for day in ("Monday", "Tuesday", "Friday", "Sunday", "Saturday")]
    turns = [Said(str(number), "user", text) for number, text in enumerate(texts)]
    found = passed([Statement("preference", each.text, (each.id,), each.text, 0.9) for each in turns], turns)
    assert [(each.text, each.confidence) for each in found] == [(text, PERSONAL_CONFIDENCE) for text in texts[:MOST_PERSONAL]]


@pytest.mark.parametrize("text", ["", " ", "a" * 200_000, "ok, " * 40_000, "`" * 50_000, "_/" * 50_000, "\u202e\u200b" * 1_000])
def test_any_text_goes_through(text: str) -> None:
    statement = Statement("instruction", text or "x", ("t",), text, 0.9)
    assert len(passed([statement], [Said("t", "user", text)])) <= 1
    assert passed([statement], []) in ([], [statement])


def test_what_is_kept_by_its_form_alone_is_kept_where_people_work() -> None:
    guessed = Statement("fact", "the deploy job feeds `/var/lib/x`", ("t",), "the deploy job feeds `/var/lib/x`", GUESSED)
    turn = Said("t", "user", guessed.text)
    assert passed([guessed], [turn, *CHAT]) == []
    assert passed([guessed], [turn, *CHAT, CALL]) == [guessed]
    assert passed([dataclasses.replace(guessed, confidence=0.6)], [turn, *CHAT]) != []
