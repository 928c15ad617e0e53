"""A home that holds what a test says was said, and each way out of it: the library, the ledger asked by a hook, the worker."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger.store import Ledger
from hindbrain.serve.answer import _from_ledger
from hindbrain.serve.asking import Asking

START = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
ASKER = "the-session-that-asks"


@dataclass(frozen=True)
class Said:
    """A turn to be recorded."""

    text: str
    session: str = "s1"
    role: str = "user"
    project: str | None = "/p/one"
    minute: int = 0
    agent: str = "claude-code"


def tell(memory: Memory, sayings: Iterable[Said | str]) -> list[str]:
    """Record what was said, a minute apart unless it says otherwise, and wait until it can be found; the ids."""
    ids = []
    for number, each in enumerate(sayings):
        said = Said(each) if isinstance(each, str) else each
        at = START + timedelta(minutes=said.minute or number)
        ids.append(memory.record(
            agent=said.agent, session=said.session, role=said.role, text=said.text, at=at, project=said.project, key=f"k{number}",
        ))  # fmt: skip
    memory.settle()
    return ids


@contextmanager
def told(path: Path, sayings: Iterable[Said | str]) -> Iterator[Memory]:
    """A new home in which all of this was said."""
    with Memory.open(home=path) as memory:
        tell(memory, sayings)
        yield memory


def payload(event: str, cwd: str, prompt: str = "", session: str = ASKER, **more: str) -> dict[str, str]:
    """What Claude Code sends at an event that may be answered."""
    return {
        "session_id": session, "transcript_path": f"/nonexistent/{session}.jsonl", "cwd": cwd, "hook_event_name": event,
        "prompt": prompt, **more,
    }  # fmt: skip


def context_of(answer: bytes | None, event: str) -> str:
    """The text an agent is handed, out of the one form it takes; "" for no answer."""
    if not answer:
        return ""
    shape = json.loads(answer)
    text: str = shape["hookSpecificOutput"]["additionalContext"]
    assert shape == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return text


def by_hook(home: Path, event: str, call: dict[str, str]) -> str:
    """What the hook finds in the ledger when no worker answers."""
    return context_of(_from_ledger(os.fsencode(home), event, json.dumps(call).encode()), event)


def by_worker(home: Path, event: str, call: dict[str, str]) -> str:
    """What the worker answers."""
    with Ledger.open(Home(home).ledger, SystemClock(), read_only=True) as ledger:
        return context_of(Asking(Home(home), SystemClock()).answer(ledger, event, dict(call)), event)
