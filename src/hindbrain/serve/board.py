"""What stands in a project -> a board for the agents that work on it: facts, decisions, open tasks, and whose word each is.

An agent keeps something under its name (the observer), about somebody or something (the subject). What nobody kept on purpose but
was found in a session is the word of whoever said it there: the user, or that session's agent. Messages between agents are turns
like all others, in one session for each sender and team.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from hindbrain.base.errors import UsageError
from hindbrain.capture.event import storable
from hindbrain.ledger.database import Database
from hindbrain.reason.trust import doubt
from hindbrain.recall import block
from hindbrain.recall.short_ids import shortened
from hindbrain.serve.values import Said, moment

_KINDS: Final = {"fact": "facts", "decision": "decisions", "task": "tasks"}
_STANDING: Final = """
SELECT memories.id, memories.kind, memories.text, memories.created_at, memories.observer, memories.subject, memories.trust,
       sessions.agent
FROM memories LEFT JOIN sessions ON sessions.id = memories.session_id
WHERE memories.held = '' AND memories.superseded_by IS NULL AND memories.valid_to IS NULL
  AND memories.level IN ('observation', 'derived') AND memories.kind IN ('fact', 'decision', 'task')
  AND (memories.scope = 'global' OR memories.project_id = ?)
ORDER BY memories.created_at DESC, memories.id
"""
_MESSAGES: Final = """
SELECT turns.id, turns.role, turns.text, turns.tool, turns.at, sessions.agent, sessions.client_id, sessions.id, projects.name,
       turns.detail
FROM sessions JOIN turns ON turns.session_id = sessions.id LEFT JOIN projects ON projects.id = sessions.project_id
WHERE sessions.client_id = ? AND turns.at > ? ORDER BY turns.at, turns.id
"""
_STEP: Final = 1_000  # half of what is judged at once, so that no sentence lies on an edge
_USER: Final = ("user", "human_file")
_NOBODY: Final = ("user", "hindbrain")  # keeps a statement under the name of an agent


@dataclass(frozen=True, slots=True)
class Note:
    """One thing on a board."""

    id: str
    kind: str
    text: str
    by: str  # "user", or the name of an agent
    subject: str
    at: datetime
    short: str  # as much of the id as names it


@dataclass(frozen=True, slots=True)
class Board:
    """What the agents of a project share, newest first."""

    facts: tuple[Note, ...] = ()
    decisions: tuple[Note, ...] = ()
    tasks: tuple[Note, ...] = ()

    def text(self, budget_tokens: int = 1000) -> str:
        """The board as a fenced block for an agent, tasks first into the budget; "" when nothing is on it."""
        items = [
            block.Item(each.short, int(each.at.timestamp() * 1000), f"{each.kind}, {each.by}", each.text)
            for each in (*self.tasks, *self.decisions, *self.facts)
        ]
        return block.pack(items, budget_tokens)[0]


def board(database: Database, project: str | None, *, observer: str | None, subject: str | None) -> Board:
    """The board of a project, by the ledger's id; None for one that nothing is stored of, where only what is global stands."""
    rows = database.execute(_STANDING, (project or "",)).fetchall()
    short = shortened(database, [row[0] for row in rows])
    notes = [_note(short[row[0]], *row) for row in rows]
    notes = [
        each for each in notes
        if (observer is None or each.by == observer) and (subject is None or each.subject == subject)
    ]  # fmt: skip
    return Board(**{name: tuple(each for each in notes if each.kind == kind) for kind, name in _KINDS.items()})


def _note(
    short: str, id: str, kind: str, text: str, at: int, observer: str, subject: str, trust: str, agent: str | None
) -> Note:
    said_by = "user" if trust in _USER else agent or trust
    return Note(id, kind, text, observer if observer not in _NOBODY else said_by, subject, moment(at), short)


def check_words(text: str) -> None:
    """Raises UsageError for a text that a person has to look at before agents are told: no agent may hand it on as its own."""
    for start in range(0, max(len(text), 1), _STEP):
        if reason := doubt(text[start : start + 2 * _STEP], own=False):
            raise UsageError(f"an agent cannot keep this: {reason}", hint="have a person keep it, if it is to be kept")


def session_of(team: str) -> str:
    """The session that an agent's messages to a team stand in."""
    if not isinstance(team, str) or not team.strip():  # type: ignore[redundant-expr]  # callers without types
        raise UsageError("team is empty or not text", hint="give the team a name")
    return f"team {team}"


def messages(database: Database, team: str, *, to: str | None, after: int) -> list[Said]:
    """What was sent in a team, oldest first: everything, or what somebody else sent to one agent or to all."""
    found = []
    for row in database.execute(_MESSAGES, (storable(session_of(team)), after)).fetchall():
        columns: list[Any] = [*row[:4], moment(row[4]), *row[5:-1], json.loads(row[-1])]
        said = Said(*columns)
        if "to" in said.detail and (to is None or (said.detail["to"] in (to, "") and said.agent != to)):
            found.append(said)
    return found
