"""Acts that say which agent keeps a statement, and about whom -> memories that carry both, with an agent's trust.

What a person has kept is the user's word. What an agent of a team keeps is its own: others are told so with its name, and it
cannot become a rule. The acts are events, so this too follows from the journal alone.
"""

from __future__ import annotations

import json
from typing import Final

from hindbrain.base.errors import UsageError
from hindbrain.capture.event import Json, stable_id, storable
from hindbrain.ledger.database import Database

# What an agent may keep: nothing that is told to others as a rule.
KINDS: Final = ("decision", "fact", "lesson", "procedure", "task", "insight")
RESERVED: Final = ("user", "hindbrain", "assistant", "tool")
MOST_CHARS: Final = 200
_MARKS: Final = frozenset(":,[]<>")

_ACTS: Final = """
SELECT events.id, events.detail FROM events
WHERE events.kind = 'memory' AND json_extract(events.detail, '$.observer') IS NOT NULL
"""
_SET: Final = """
UPDATE memories SET observer = ?, subject = ?, trust = 'assistant' WHERE id = ? AND (observer <> ? OR subject <> ?)
"""


def told(observer: str, subject: str, kind: str, pinned: bool) -> dict[str, Json]:
    """What an act says of it; raises UsageError for what an agent must not keep."""
    for name, value in (("observer", observer), ("subject", subject)):
        if not value.strip() or len(value) > MOST_CHARS:
            raise UsageError(f"{name} is empty or longer than {MOST_CHARS} characters", hint=f"give the {name} a name")
    # a name stands in front of what is said: it must not look like another kind, another speaker or another line
    if observer.strip().lower() in RESERVED or not observer.isprintable() or not _MARKS.isdisjoint(observer):
        hint = f"these are taken: {', '.join(RESERVED)}; leave out {' '.join(sorted(_MARKS))}"
        raise UsageError(f"{observer!r} is no name for an agent", hint=hint)
    if kind not in KINDS or pinned:
        raise UsageError("an agent cannot keep rules", hint=f"keep one of {', '.join(KINDS)}, not pinned; a person may pin it")
    return {"observer": storable(observer), "subject": storable(subject)}


def apply(connection: Database) -> None:
    """Give the memories that agents keep their names; inside the caller's transaction."""
    wanted = []
    for identifier, detail in connection.execute(_ACTS).fetchall():
        said = json.loads(detail)
        observer, subject = str(said.get("observer")), str(said.get("subject") or said.get("observer"))
        wanted.append((observer, subject, stable_id("m", identifier), observer, subject))
    if wanted:
        connection.executemany(_SET, wanted)
