"""A backend, a team and an agent -> the backend with a memory, kept in the home unless told otherwise.

    ask = hindbrain.with_memory(["gemini", "-p"], team="crew", agent="ada")
    ask("which port does staging use?")

Turns of a conversation may stand in the ledger as well. There they have an id that follows from the conversation, so that what
is forgotten there goes from the conversation too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from hindbrain.base.config import load
from hindbrain.base.errors import UsageError
from hindbrain.base.home import Home
from hindbrain.capture.event import Event, session_id
from hindbrain.converse.backend import Commanded, Talk
from hindbrain.converse.saved import MemoryManager
from hindbrain.converse.turns import ConversationConfig, Turn
from hindbrain.ledger.forget import is_forgotten

P = ParamSpec("P")
R = TypeVar("R")


@overload
def with_memory(
    backend: Sequence[str], *, team: str, agent: str, base: str | os.PathLike[str] | None = None,
    config: ConversationConfig | None = None, keeps_history: bool | None = None, reply_text: Callable[[Any], str] | None = None,
) -> Talk[[], str]: ...  # fmt: skip
@overload
def with_memory(
    backend: Callable[Concatenate[str, P], R], *, team: str, agent: str, base: str | os.PathLike[str] | None = None,
    config: ConversationConfig | None = None, keeps_history: bool | None = None, reply_text: Callable[[Any], str] | None = None,
) -> Talk[P, R]: ...  # fmt: skip
def with_memory(
    backend: Callable[..., Any] | Sequence[str], *, team: str, agent: str, base: str | os.PathLike[str] | None = None,
    config: ConversationConfig | None = None, keeps_history: bool | None = None, reply_text: Callable[[Any], str] | None = None,
) -> Talk[..., Any]:  # fmt: skip
    """The backend, told before each prompt what was said before, with prompt and reply recorded when it has replied.

    A backend is a function of a prompt, also an async one, or a command line as a list. `base` is where conversations are
    kept, by default in the home. `keeps_history` overrules what is seen of the backend; `reply_text` finds the text of a reply
    that is neither a text nor has one under a usual name.
    """
    if isinstance(backend, str | bytes):
        raise UsageError("a command line is given as one text", hint='give a list such as ["gemini", "-p"]')
    asked: Callable[..., Any] = Commanded(backend) if isinstance(backend, Sequence) else backend
    manager = MemoryManager(Home(load(None).home).teams if base is None else Path(base))
    return Talk(asked, manager, team, agent, config=config, keeps_history=keeps_history, reply_text=reply_text)


def event_of(team: str, agent: str, turn: Turn) -> Event:
    """The event that a turn of a conversation is in the ledger."""
    return Event(
        kind="turn", agent=agent, session=f"{team}/{agent}", at=_milliseconds(turn.at), key=turn.at.isoformat(), origin="api",
        role=turn.role, text=turn.text,
    )  # fmt: skip


def forget(home: Home, known: Mapping[str, int]) -> int:
    """Take what is not to be kept out of the conversations in a home; how many turns that were."""

    def judge(team: str, agent: str, turn: Turn) -> bool:
        event = event_of(team, agent, turn)
        return is_forgotten(known, event.ids, session_id(event.agent, event.session), event.at)

    return MemoryManager(home.teams).forget(judge)


def _milliseconds(at: datetime) -> int:
    return (at - datetime.fromtimestamp(0, UTC)) // timedelta(milliseconds=1)
