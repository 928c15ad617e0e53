"""The reason of a choice is what it gives as one, and what it is instead of is what could have been taken in its place."""

from __future__ import annotations

import pytest

from hindbrain.ledger.statement import Statement
from hindbrain.reason.cues import cues_of
from hindbrain.reason.extract import extract
from hindbrain.reason.forms import Context
from hindbrain.reason.grounds import why_of
from hindbrain.reason.rivals import instead_of
from tests.reason.talk import talk


def choice(text: str) -> Statement:
    said = extract(talk("u: Can you look at the failing build of the backend?", "a: Done.", f"u: {text}", "a: Noted."))
    (found,) = said
    return found


@pytest.mark.parametrize(
    ("text", "why", "other"),
    [
        ("We'll go with FastAPI because the team already knows it, not Django.", "the team already knows it", "Django"),
        ("We use PostgreSQL for orders because of jsonb, not SQLite.", "jsonb", "SQLite"),
        ("We chose Postmark because of the price.", "the price", ""),
        ("Wir nehmen Postgres wegen jsonb, nicht MySQL.", "jsonb", "MySQL"),
        ("Wir nehmen FastAPI, da wir es schon kennen.", "wir es schon kennen", ""),
        ("Nos quedamos con FastAPI porque el equipo ya lo conoce, no Django.", "el equipo ya lo conoce", "Django"),
        ("Use uv, otherwise the lockfile breaks.", "otherwise the lockfile breaks", ""),
        ("We use Redis, it's fast enough for us.", "it's fast enough for us", ""),
        ("For the iOS app we stick with UIKit, SwiftUI is still too buggy.", "SwiftUI is still too buggy", ""),
    ],
)
def test_a_reason_is_told_without_what_is_turned_down(text: str, why: str, other: str) -> None:
    found = choice(text)
    assert (found.why, found.instead_of) == (why, other)


@pytest.mark.parametrize(
    "text",
    [
        "We no longer use PostgreSQL for sessions, they're in Redis now.",
        "We dropped iOS 15, the minimum is iOS 17 now.",
        "jquery gets replaced by Alpine bit by bit, start with the cart drawer",
        "We're raising the minimum to Rust 1.82, and whoever is stuck may use the old release.",
    ],
)
def test_the_new_state_of_things_is_no_reason_for_it(text: str) -> None:
    assert choice(text).why == ""


@pytest.mark.parametrize(
    "text",
    [
        "The admin no longer uses Redux, we use Zustand there",
        "The scripts folder isn't TypeScript any more, it's plain Python",
        "therefore marts get plural names, staging may stay as it is",
    ],
)
def test_nor_is_what_is_instead(text: str) -> None:
    assert why_of("decision", text, Context(cues_of("en"), "en")) == ""


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("No, the tests live in test/, not in src/.", "src/"),
        ("die Nummer steht in auftrag, nicht in kunden", "kunden"),
        ("la fecha está en pedidos, no en facturas", "facturas"),
        ("We take Kotlin, not Java.", "Java"),
        ("Das Ding heißt nicht Django sondern FastAPI.", "Django"),
        ("We moved from MySQL to PostgreSQL.", "MySQL"),
        ("We chose FastAPI over Django.", "Django"),
        ("We no longer use PostgreSQL for sessions, they're in Redis now.", "PostgreSQL"),
        ("We dropped the nightly full reindex; Meilisearch is updated by events now.", "nightly full reindex"),
        ("We dropped the column legacy_id from orders.", "column legacy_id"),
        ("We dropped iOS 15, the minimum is iOS 17 now.", "iOS 15"),
        ("jquery gets replaced by Alpine bit by bit", "jquery"),
    ],
)
def test_what_is_left_behind_is_named_as_it_was_said(text: str, other: str) -> None:
    assert choice(text).instead_of == other


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Wir haben uns für Kotlin Multiplatform entschieden, weil das Team kein Dart kann"),
        ("de", "wir schicken XRechnung, deren Portal nimmt kein ZUGFeRD"),
        ("en", "the pump driver speaks Modbus over TCP"),
        ("en", "we support Safari from Big Sur on"),
        ("en", "samsung kills the worker when there is no setForeground"),
        ("en", "the rewrite gets no Django signals at all"),
        ("en", "we test on Android, not at all by hand"),
        ("es", "usamos XML porque el portal no acepta JSON"),
    ],
)
def test_not_everything_behind_a_no_is_turned_down(language: str, text: str) -> None:
    assert instead_of(text, Context(cues_of(language), language)) == ""


def test_what_another_sentence_turns_down_belongs_to_that_one() -> None:
    said = extract(talk(
        "u: Can you look at the failing build?", "a: Done.",
        "u: Let's set up the checkout service. We'll go with FastAPI because the team knows it, not Django.",
        "a: Noted."))  # fmt: skip
    assert [(each.text[:12], each.instead_of) for each in said] == [("Let's set up", ""), ("We'll go wit", "Django")]


@pytest.mark.parametrize(
    "text", ["", "not", "not " * 3_000, "because of " * 2_000, ", not x" * 2_000, "no longer " * 2_000, "İ not X"]
)
def test_any_text_is_looked_through(text: str) -> None:
    for language in ("en", "de", "es"):
        context = Context(cues_of(language), language)
        assert why_of("decision", text, context) in text
        assert instead_of(text, context) in text
