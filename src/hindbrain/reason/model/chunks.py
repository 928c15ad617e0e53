"""A session's turns -> stretches small enough for one question, cut so that what was asked before is asked again word for word.

Stretches are filled from the beginning, so turns that come later change none but the last: the replies to the others are found
again by their keys and cost nothing. What a model sees of a turn is shortened; what is checked later is the whole turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from hindbrain.base.fence import strip_injected
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Json
from hindbrain.ledger.statement import Said
from hindbrain.recall.tokens import tokens_in

MOST_TOKENS: Final = 3_000
MOST_TURNS: Final = 60
CONTEXT: Final = 2  # turns of talk before a stretch that are shown with it: "yes, do that" needs what it says yes to
_CHARS: Final = {"user": (3_000, 1_000), "assistant": (1_000, 500), "tool_call": (300, 100), "tool_result": (300, 300)}


@dataclass(frozen=True, slots=True)
class Chunk:
    """Turns that are asked about together, and the last of those before them."""

    turns: tuple[Said, ...]
    before: tuple[Said, ...] = ()


def chunks(turns: Sequence[Said]) -> list[Chunk]:
    """The stretches, in order. A turn alone may be more than the limit; it is shortened anyway."""
    found: list[Chunk] = []
    held: list[Said] = []
    tokens = 0
    talk: list[Said] = []
    before: tuple[Said, ...] = ()
    for turn in turns:
        if not (text := seen(turn)):
            continue
        cost = tokens_in(text) + 20
        if held and (tokens + cost > MOST_TOKENS or len(held) >= MOST_TURNS):
            found.append(Chunk(tuple(held), before))
            held, tokens, before = [], 0, tuple(talk[-CONTEXT:])
        held.append(turn)
        tokens += cost
        if turn.role in ("user", "assistant"):
            talk.append(turn)
    return [*found, Chunk(tuple(held), before)] if held else found


def seen(turn: Said) -> str:
    """What a model is shown of a turn: without blocks that we put in, without secrets, its middle left out where it is long."""
    head, tail = _CHARS.get(turn.role, (300, 300))
    text = turn.command if turn.command and turn.command in turn.text else turn.text  # only what can be quoted
    plain = redact_text(strip_injected(text[: 20 * (head + tail)]))[0].encode("utf-8", "replace").decode().strip()
    return plain if len(plain) <= head + tail + 20 else f"{plain[:head]} [...] {plain[-tail:]}"


def told(turns: Iterable[Said], names: dict[str, str]) -> list[Json]:
    """Turns as a question shows them, each under the short name it is to be cited by."""
    shown: list[Json] = []
    for turn in turns:
        each: dict[str, Json] = {"id": names[turn.id], "by": _BY.get(turn.role, "tool")}
        if turn.trust:
            each["by"] = turn.trust
        if turn.tool:
            each["tool"] = turn.tool[:60]
        if turn.error:
            each["failed"] = True
        shown.append({**each, "text": seen(turn)})
    return shown


_BY: Final = {"user": "user", "assistant": "assistant", "tool_call": "assistant runs", "tool_result": "tool"}
