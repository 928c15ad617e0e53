"""What was said -> a turn as it is kept, its line of JSON, and the turn again.

The JSON of a turn is `{"role", "content", "timestamp"}`: conversations are kept in a layout that other programs write too, so
these names are not ours to choose. Secrets and what we injected ourselves are taken out before anything is held or written.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, cast

from hindbrain.base.errors import HindbrainError, UsageError
from hindbrain.base.fence import strip_injected
from hindbrain.base.prefilter import suspicious
from hindbrain.base.redact import redact_text

Role = Literal["user", "assistant"]
ROLES: Final = ("user", "assistant")
# Longer texts are kept in part, with a mark; one turn must not make every save slow.
MAX_TEXT_CHARS: Final = 200_000


class NotAConversation(HindbrainError):
    """A text is not a saved conversation"""

    exit_code = 4
    default_hint = "it was not written by Hindbrain or a program of the same layout; move it away"


@dataclass(frozen=True, slots=True)
class Turn:
    """What one side said, and when (UTC)."""

    role: Role
    text: str
    at: datetime

    @property
    def key(self) -> tuple[datetime, str]:
        """What tells a turn from every other of its conversation: no two are recorded at the same microsecond."""
        return self.at, self.role


@dataclass(frozen=True, slots=True)
class ConversationConfig:
    """How many turns are kept word for word, and how much may be told of them."""

    max_turns: int = 5
    budget_chars: int = 4000
    budget_tokens: int | None = None  # as well as the characters, where a model counts tokens

    def __post_init__(self) -> None:
        for name in ("max_turns", "budget_chars", "budget_tokens"):
            value = getattr(self, name)
            if name == "budget_tokens" and value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise UsageError(f"{name} is {value!r}", hint="give a whole number, 0 or more")


def utc(at: datetime) -> datetime:
    """A time in UTC; one without a zone is taken as that. Years no calendar goes on after are none."""
    found = at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    if not 1 < found.year < 9999:
        raise OverflowError(f"{at} is beyond all years")
    return found


def role_of(role: object) -> Role:
    """The role, if it is one."""
    if role not in ROLES:
        raise UsageError(f"{role!r} is not a role of a conversation", hint=f"use one of {', '.join(ROLES)}")
    return role


def kept_text(text: str) -> str:
    """A text as it may be kept: no secrets, no block of ours, nothing that UTF-8 cannot hold, not without end."""
    if not isinstance(text, str):
        raise UsageError(f"a turn is {type(text).__name__}, not str", hint="decode it first")
    if not text.isascii():
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
    text = strip_injected(text.replace("\x00", "\ufffd"))
    if len(text) > MAX_TEXT_CHARS:
        text = f"{text[:MAX_TEXT_CHARS]}\n[... {len(text) - MAX_TEXT_CHARS} more characters not kept]"
    return redact_text(text)[0] if suspicious(text.encode()) else text


def as_data(turn: Turn) -> dict[str, str]:
    """A turn as JSON has it."""
    stamp = turn.at.astimezone(UTC).isoformat(timespec="microseconds").removesuffix("+00:00") + "Z"
    return {"role": turn.role, "content": turn.text, "timestamp": stamp}


def from_data(data: object) -> Turn:
    """The turn that JSON tells of."""
    if not isinstance(data, dict):
        raise NotAConversation(f"a turn is {type(data).__name__}, not an object")
    role, text, stamp = (data.get(name) for name in ("role", "content", "timestamp"))
    if not isinstance(text, str) or role not in ROLES:
        raise NotAConversation(f"a turn has the role {role!r:.40} and a content that is {type(text).__name__}")
    try:
        at = utc(datetime.fromisoformat(cast(str, stamp)))
    except (TypeError, ValueError, OverflowError) as error:
        raise NotAConversation(f"a turn has the time {stamp!r:.60}") from error
    return Turn(cast(Role, role), kept_text(text), at)


def encode(turn: Turn) -> bytes:
    """One line."""
    return json.dumps(as_data(turn), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes) -> Turn:
    """The turn of a line."""
    try:
        return from_data(json.loads(line))
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, a number of a million digits
        raise NotAConversation(f"a line of {len(line)} bytes is no turn") from error
