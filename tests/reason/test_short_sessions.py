"""A session of one exchange keeps what is about work or asked to be remembered, and nothing of anybody's private life."""

from __future__ import annotations

import pytest

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.extract import extract
from hindbrain.reason.gate import GUESSED, passed
from tests.reason.talk import talk


@pytest.mark.parametrize("reply", [["a: Noted."], ["a: OK."], []])
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Merk dir: die Preise sind immer in Cent gespeichert, nie in Euro.", "instruction"),
        ("Recuerda que los importes van siempre en céntimos.", "instruction"),
        ("Remind me to rotate the Apple certificate before December.", "task"),
        ("Remember: invoices are numbered per tenant.", "fact"),
        ("Prefiero respuestas cortas y sin disculpas.", "preference"),
        ("Ich hätte gern kürzere Antworten, ohne Einleitung.", "preference"),
        ("Feature flags live in LaunchDarkly.", "fact"),
        ("Releases are weekly from now on, every Thursday.", "fact"),
        ("Emails are sent via SendGrid.", "fact"),
        ("Max upload size is 20 MB.", "fact"),
        ("Für das Tracing nehmen wir OpenTelemetry.", "decision"),
        ("Falta añadir tests al módulo de facturación.", "task"),
        ("Alice owns the billing service.", "fact"),
    ],
)
def test_one_exchange_is_enough_whatever_the_reply(text: str, kind: str, reply: list[str]) -> None:
    assert [each.kind for each in extract(talk(f"u: {text}", *reply))] == [kind]


def test_whether_a_tool_is_kept_does_not_hang_on_the_reply() -> None:
    for reply in (["a: Noted."], ["a: OK."], []):
        assert [each.text for each in extract(talk("u: We use SQS for the email queue.", *reply))] == [
            "We use SQS for the email queue"]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "I'm always on the lookout for new artists to listen to.",
        "My sister's birthday is on Friday, we always bake a cake together.",
        "Don't forget to prepare emotionally, since the wait can be hard.",
        "I remember that trip, it never stopped raining.",
        "Remember when we went to the lake? We always had so much fun.",
        "We decided to go hiking with the kids, the trail was beautiful!",
        "Wir gehen ab jetzt jeden Sonntag mit den Kindern schwimmen, das ist so schön!",
        "Mi madre siempre hace la mejor tortilla, ¡qué rica!",
        "The movie runs for three hours and the song at the end is lovely.",
    ],
)
def test_private_talk_leaves_nothing(text: str) -> None:
    assert extract(talk(f"u: {text}", "a: That sounds lovely!")) == []


def test_people_who_talk_with_each_other_ask_no_agent_to_remember() -> None:
    assert extract(talk("u: Gina: Remember that we always meet at noon.", "a: Jon: Sure, remind me to bring the cake!")) == []


def test_a_sign_of_work_is_enough_only_where_hardly_anything_else_is_said() -> None:
    said = Statement("fact", "Feature flags live in the garage", ("t",), "Feature flags live in the garage", 0.6)
    turn = Said("t", "user", said.text)
    chat = [Said(f"o{number}", "user", text) for number, text in enumerate(("We went hiking", "It rained", "Do you like pasta?"))]
    assert passed([said], [turn]) == [said]
    assert passed([said], [turn, *chat]) == []


def test_what_is_said_to_an_agent_that_works_in_a_folder_is_work() -> None:
    said = Statement("decision", "the second one is simpler, take it", ("t",), "the second one is simpler, take it", GUESSED)
    turn = Said("t", "user", said.text)
    assert passed([said], [turn], working=True) == [said]
    assert passed([said], [turn]) == []
    people = [Said("a", "user", "Gina: How was the show?"), Said("b", "assistant", "Jon: Wonderful!")]
    assert passed([said], [turn, *people, *people], working=True) == []


@pytest.mark.parametrize(
    "text", ["remember: " * 5_000, "remind me to " * 5_000, "Merk dir: ", "recuerda que", "\n" * 1_000 + "note that"]
)
def test_any_wish_is_looked_at(text: str) -> None:
    extract(talk(f"u: {text}"))
