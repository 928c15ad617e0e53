"""What was almost done, given up again or only supposed is not kept; no "but" is cut off so that the rest says the opposite."""

from __future__ import annotations

import pytest

from hindbrain.reason.extract import extract
from hindbrain.reason.unmade import came_to_nothing, limits
from tests.reason.talk import talk

WORK = ("u: Can you look at the failing build of the backend?", "a: Done.")


def kept(text: str) -> list[str]:
    return [each.text for each in extract(talk(*WORK, f"u: {text}", "a: Noted.", "u: thanks, now show me the diff", "a: Here."))]


@pytest.mark.parametrize(
    "text",
    [
        "We almost chose Kotlin but didn't.",
        "We almost moved to MySQL last year but didn't.",
        "We nearly switched to Bun, but the lockfile support was missing.",
        "We were close to going with Kafka.",
        "We wanted to move to MySQL but didn't.",
        "We decided to move to MySQL, but didn't do it in the end.",
        "If we ever moved to MySQL we'd have to rewrite the JSON queries",
        "We'd have to rewrite the JSON queries if we ever moved to MySQL.",
        "Beinahe wären wir auf MySQL umgestiegen.",
        "Wir hätten fast Kotlin genommen, haben es dann aber gelassen.",
        "Wir wollten auf Bun wechseln, haben es aber nicht gemacht.",
        "Wenn wir je auf MySQL umsteigen würden, müssten wir die JSON-Abfragen neu schreiben.",
        "Casi elegimos Kotlin, pero no.",
        "Estuvimos a punto de pasar a MySQL pero no lo hicimos.",
        "Íbamos a usar Redis pero al final no.",
        "Si algún día pasáramos a MySQL tendríamos que reescribir las consultas.",
    ],
)
def test_what_never_came_about_is_not_kept(text: str) -> None:
    assert kept(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "We almost chose Kotlin but went with Swift",
        "We almost went with Kafka, then took Redis streams instead",
        "We thought about moving to Bun but decided against it",
        "We moved to MySQL but didn't migrate the archive table",
        "We chose Kotlin, but not for the watch app",
        "Wir nehmen Kotlin, aber nicht für die Uhr",
        "Usamos Kotlin, pero no para el reloj",
        "If we moved to MySQL we'd lose jsonb, so we stay on PostgreSQL",
    ],
)
def test_what_takes_back_or_limits_is_told_with_what_it_limits(text: str) -> None:
    assert kept(f"{text}.") == [text]


@pytest.mark.parametrize(
    "text",
    [
        "We almost always use uv for scripts",
        "Almost all services run on Fargate",
        "The migration to MySQL is nearly done",
        "We've almost finished the move to MySQL",
        "Fast alle Services laufen auf Fargate",
        "Casi todos los servicios corren en Fargate",
        "If we ever move to MySQL, remind me to rewrite the JSON queries",
        "If the build fails, tell me before you change the tests",
        "We almost lost the prod data when Kim ran the seed script, so never run it there",
        "I'd prefer short answers, if that's possible",
    ],
)
def test_almost_and_if_alone_take_nothing_away(text: str) -> None:
    assert kept(f"{text}.") == [text]


def test_a_rule_behind_a_but_stands_for_itself() -> None:
    assert "never force-push anywhere" in kept("Amend what you like, but never force-push anywhere.")
    assert kept("We use Kotlin for the app, but the watch runs on Swift 6.") == [
        "We use Kotlin for the app", "the watch runs on Swift 6"]  # fmt: skip


@pytest.mark.parametrize(
    "text", ["", "but", "if " * 5_000, "we almost " * 5_000, "si algún día " * 3_000, "wenn wir würden, " * 3_000]
)
def test_any_text_is_looked_at(text: str) -> None:
    assert came_to_nothing(text) in (True, False)
    assert limits(text) in (True, False)
