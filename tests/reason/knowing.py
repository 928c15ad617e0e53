"""Memories made up for the tests of reflection and dreams, and how alike two texts are by their words alone."""

from __future__ import annotations

from typing import Any

from hindbrain.ledger.known import Known


def know(identifier: str, text: str, kind: str = "decision", at: int = 0, **fields: Any) -> Known:
    """A memory of a user, found by rules in a session of its own unless told otherwise."""
    given: dict[str, Any] = {
        "id": identifier, "level": "observation", "kind": kind, "text": text, "confidence": 0.8, "trust": "user",
        "scope": "project", "project_id": "p1", "session_id": f"session of {identifier}", "valid_from": at, "valid_to": None,
        "superseded_by": None, "held": "", "made_by": "rules/1", "reflected": False, "pinned": False, "detail": {},
    }  # fmt: skip
    given |= fields
    if given["scope"] == "global":
        given["project_id"] = None
    return Known(**given)


def by_words(one: str, other: str) -> float:
    """The share of words that two texts have in common: enough for texts that were made up."""
    mine, others = (set(text.casefold().split()) for text in (one, other))
    return len(mine & others) / max(1, len(mine | others))
