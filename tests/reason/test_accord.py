"""Two that say no to one thing, ask for one side or like two things are not at odds; true opposites stay so."""

from __future__ import annotations

import pytest

from hindbrain.reason.likeness import Likeness
from hindbrain.reason.reflect import judge
from tests.reason.knowing import know

LIKENESS = Likeness()
KINDS = ("instruction instruction", "preference preference", "instruction preference", "fact fact", "decision fact")


def told(older: str, newer: str) -> set[str]:
    """Whatever kinds both are of."""
    kinds = (each.split() for each in KINDS)
    return {judge(know("n", newer, new, 2), know("o", older, old, 1), LIKENESS).said for old, new in kinds}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Never force push.", "Force pushing is forbidden here."),
        ("Never push to main.", "Pushing to main is not allowed."),
        ("No emojis in commits.", "Emojis in commits are forbidden."),
        ("Kein Force-Push.", "Force-Push ist hier verboten."),
        ("Niemals auf main pushen.", "Auf main pushen ist verboten."),
        ("Nunca hagas force push.", "El force push está prohibido."),
        ("Keep your answers short", "I like concise answers"),
        ("I like short answers", "Keep answers brief"),
        ("I like short answers", "I like concise answers"),
        ("Antworte kurz", "Ich mag knappe Antworten"),
        ("Respuestas cortas", "Me gustan las respuestas breves"),
        ("I like detailed commit messages.", "I like small commits."),
        ("Ich mag ausführliche Commit-Nachrichten.", "Ich mag kleine Commits."),
        ("Me gustan los mensajes de commit detallados.", "Me gustan los commits pequeños."),
        ("We switched the ingress of the docs site from nginx to Traefik.", "The main ingress is nginx."),
        ("Wir haben den Ingress der Doku-Seite von nginx auf Traefik umgestellt.", "Der Haupt-Ingress ist nginx."),
    ],
)
def test_two_that_agree_or_speak_of_two_things_are_not_at_odds(one: str, other: str) -> None:
    assert not (told(one, other) | told(other, one)) & {"contradicts", "supersedes"}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I like detailed commit messages.", "I like short commit messages."),
        ("Keep your answers short", "I like detailed answers"),
        ("I like small commits.", "I like big commits."),
        ("Never force push.", "Force pushing is allowed now."),
        ("Niemals auf main pushen.", "Auf main pushen ist jetzt erlaubt."),
        ("Nunca hagas force push.", "El force push ya está permitido."),
        ("Antworte kurz", "Antworte ausführlich"),
        ("I prefer tabs", "I prefer spaces"),
        ("I like tests in one file", "I don't like tests in one file"),
        ("The main ingress is nginx.", "The main ingress is Traefik."),
        ("The main ingress is nginx.", "We switched the main ingress from nginx to Traefik."),
    ],
)
def test_what_is_at_odds_stays_at_odds(older: str, newer: str) -> None:
    assert told(older, newer) & {"contradicts", "supersedes"}
    assert "reinforces" not in told(older, newer)
