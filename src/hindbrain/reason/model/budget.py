"""What was spent today and what a question may cost -> whether it may be asked.

Caps are counted from midnight to midnight of the machine's own time: in all, for one project, for one kind of job; in tokens and
in money. A question is counted at its worst before it is asked and as it was afterwards, so a cap is not passed. What is under
way counts too.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple, Protocol

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.ledger.calls import Spent
from hindbrain.reason.model.asked import COMMANDS, ModelName, Question
from hindbrain.reason.model.failures import NotAllowed
from hindbrain.recall.tokens import tokens_in

NIGHT: Final = (23, 7)  # from and to, o'clock
KINDS: Final = ("extract", "reflect", "digest", "ask")
Part = Literal["", "project", "kind"]


class Price(NamedTuple):
    """US dollars for a million tokens: which is millionths of a dollar for one."""

    input: float
    output: float

    def micros(self, put_in: int, put_out: int) -> int:
        return round(put_in * self.input + put_out * self.output)


# The longest beginning of a model's name decides.
PRICES: Final[Mapping[str, Price]] = {
    "claude-haiku-4": Price(1.0, 5.0), "claude-3-5-haiku": Price(0.8, 4.0), "claude-3-haiku": Price(0.25, 1.25),
    "claude-sonnet-4": Price(3.0, 15.0),
    "gpt-4o-mini": Price(0.15, 0.6), "gpt-4.1-nano": Price(0.1, 0.4), "gpt-4.1-mini": Price(0.4, 1.6),
    "gpt-5-nano": Price(0.05, 0.4), "gpt-5-mini": Price(0.25, 2.0), "gpt-5.4-nano": Price(0.2, 1.25),
    "gpt-5.4-mini": Price(0.75, 4.5),
    "gemini-2.0-flash": Price(0.1, 0.4), "gemini-2.5-flash-lite": Price(0.1, 0.4), "gemini-2.5-flash": Price(0.3, 2.5),
    "gemini-3-flash": Price(0.5, 3.0),
}  # fmt: skip
UNKNOWN: Final = Price(3.0, 15.0)  # rather too much: a cap in money must hold for a model nobody gave a price for
FREE: Final = Price(0.0, 0.0)


def price_of(name: ModelName, config: Config) -> Price:
    """As it is set, else as the table has it. What runs here, or on the user's own subscription, costs nothing a token."""
    known = FREE
    if name.provider not in ("ollama", *COMMANDS):
        plain = name.model.rpartition("/")[2]
        found = max((each for each in PRICES if plain.startswith(each)), key=len, default="")
        known = PRICES.get(found, UNKNOWN)
    put_in, put_out = config.model_price("input"), config.model_price("output")
    return Price(known.input if put_in is None else put_in, known.output if put_out is None else put_out)


class Book(Protocol):
    """Who knows what was spent."""

    def spent(self, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent: ...


@dataclass(slots=True)
class _UnderWay:
    project_id: str | None
    kind: str
    tokens: int
    micros: int


@dataclass
class Budget:
    """Holds the caps of one process."""

    config: Config
    clock: Clock
    _under_way: list[_UnderWay] = field(default_factory=list[_UnderWay])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def admitted(self, book: Book, name: ModelName, question: Question, *, asked: bool) -> Iterator[Price]:
        """The price to count by. Raises NotAllowed at a cap, and at night unless a person asked."""
        if not asked and not self.config.model_night and is_night(self.clock.now_ms()):
            raise NotAllowed("no model is used at night", hint="hindbrain config set model_night true")
        price = price_of(name, self.config)
        put_in = tokens_in(question.system) + tokens_in(question.text)
        worst = _UnderWay(
            question.project_id, question.kind, put_in + question.most_output, price.micros(put_in, question.most_output)
        )
        with self._lock:
            if reason := self.full(book, worst.project_id, worst.kind, worst.tokens, worst.micros):
                raise NotAllowed(reason, hint="the settings that end in daily_tokens and daily_cost say how much may be used")
            self._under_way.append(worst)
        try:
            yield price
        finally:
            with self._lock:
                self._under_way.remove(worst)

    def full(self, book: Book, project_id: str | None, kind: str, tokens: int = 1, micros: int = 0) -> str:
        """Which cap so much more would pass; nothing where there is room."""
        since = midnight(self.clock.now_ms())
        for part, project, of_kind, whose in _parts(project_id, kind):
            caps = self.config.model_cap(part, "tokens"), self.config.model_cap(part, "cost")
            if not any(caps):
                continue
            spent = book.spent(since, project, of_kind)
            held = [each for each in self._under_way if project in (None, each.project_id) and of_kind in (None, each.kind)]
            if caps[0] and spent.tokens + sum(each.tokens for each in held) + tokens > caps[0]:
                return f"the day's tokens{whose} are used up: {spent.tokens} of {caps[0]:.0f}"
            if caps[1] and spent.cost_micros + sum(each.micros for each in held) + micros > 1e6 * caps[1]:
                return f"the day's money{whose} is used up: {spent.cost_micros / 1e6:.4f} of {caps[1]:.2f} US dollars"
        return ""


def _parts(project_id: str | None, kind: str) -> Iterator[tuple[Part, str | None, str | None, str]]:
    yield "", None, None, ""
    if project_id is not None:
        yield "project", project_id, None, " of this project"
    yield "kind", None, kind, f" of the kind {kind}"


def is_night(now_ms: int) -> bool:
    """Whether it is night where the machine stands."""
    hour = time.localtime(now_ms / 1000).tm_hour
    return hour >= NIGHT[0] or hour < NIGHT[1]


def morning_seconds(now_ms: int) -> float:
    """How long the night still lasts; 0 by day."""
    if not is_night(now_ms):
        return 0.0
    here = time.localtime(now_ms / 1000)
    day = here.tm_mday + (here.tm_hour >= NIGHT[0])
    return time.mktime((here.tm_year, here.tm_mon, day, NIGHT[1], 0, 0, 0, 0, -1)) - now_ms / 1000


def midnight(now_ms: int) -> int:
    """When the machine's own day began."""
    here = time.localtime(now_ms / 1000)
    return int(1000 * time.mktime((here.tm_year, here.tm_mon, here.tm_mday, 0, 0, 0, 0, 0, -1)))
