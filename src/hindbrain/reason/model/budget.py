"""What was spent today and what a question may cost -> whether it may be asked.

Caps are counted from midnight to midnight of the machine's own time: in all, for one project, for one kind of job; in tokens and
in money. A question is billed at its worst before it is asked, on the disk and in the transaction that looks at the caps, and as
it was afterwards. So no cap is passed by several processes together, and a call whose process died, or whose answer was lost, has
cost what it may have cost. A bill holds no word of what was asked: it stays when a session is forgotten.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, Protocol

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.ledger.calls import Call, Spent, spent
from hindbrain.ledger.database import Database
from hindbrain.reason.model.asked import COMMANDS, ModelName, Question, Reply
from hindbrain.reason.model.failures import NotAllowed
from hindbrain.recall.tokens import tokens_in

NIGHT: Final = (23, 7)  # from and to, o'clock
THIS_QUESTION: Final = "this question"
KINDS: Final = ("extract", "reflect", "digest", "ask", "compile")
_TOO_FEW: Final = 4  # so many times less than we count is not believed
_TOO_MANY: Final = 10  # nor so many times what there can be
Part = Literal["", "project", "kind"]
# Told of every question that a cap refuses, with the reason, and with "" of every one that there is room for.
Admission = Callable[[Question, str], None]


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
    put_in, put_out = config.model_price(str(name), "input"), config.model_price(str(name), "output")
    return Price(known.input if put_in is None else put_in, known.output if put_out is None else put_out)


class Book(Protocol):
    """Who knows what was spent."""

    def spent(self, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent: ...


class Spending(NamedTuple):
    """What was spent, as one look at a ledger tells."""

    database: Database

    def spent(self, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent:
        return spent(self.database, since_ms, project_id, kind)


class Billing(Protocol):
    """Where bills are kept."""

    def admit(self, bill: Call, full: Callable[[Book], str]) -> str:
        """Have the bill on the disk unless `full` says why not, and say what it said; nobody else is admitted meanwhile."""
        ...


@dataclass(frozen=True)
class Budget:
    """The caps, and what a question is billed with. What is decided is told; that it is night everybody can see."""

    config: Config
    clock: Clock
    told: Admission = lambda question, why: None

    def admit(self, book: Billing, name: ModelName, question: Question, *, asked: bool) -> Call:
        """The bill of a question at its worst, kept. Raises NotAllowed at a cap, and at night unless a person asked."""
        if not asked and not self.config.model_night and is_night(self.clock.now_ms()):
            raise NotAllowed("no model is used at night", hint="hindbrain config set model_night true")
        put_in, put_out = _put_in(question), question.most_output
        # Of two tellings of one bill the earlier stands, and what it comes to is told second: so this one is dated later.
        key, at = f"{question.key(str(name))}/{secrets.token_hex(6)}", self.clock.now_ms() + 1
        micros = price_of(name, self.config).micros(put_in, put_out)
        bill = Call(key, at, *name, question.kind, "", question.project_id, put_in, put_out, micros)

        def full(spending: Book) -> str:
            return self.full(spending, bill.project_id, bill.kind, put_in + put_out, bill.cost_micros)

        reason = book.admit(bill, full)
        self.told(question, reason)
        if reason:
            raise NotAllowed(reason, hint="the settings that end in daily_tokens and daily_cost say how much may be used")
        return bill

    def settled(self, bill: Call, question: Question, reply: Reply) -> Call:
        """What it came to. A server that does not count, or counts what cannot be true, is counted for."""
        put_in = _believed(reply.input_tokens, bill.input_tokens, bill.input_tokens)
        put_out = _believed(reply.output_tokens, tokens_in(reply.text), question.most_output)
        name = ModelName(bill.provider, bill.model)
        return _told(bill, put_in, put_out, price_of(name, self.config).micros(put_in, put_out))

    def settled_by_size(self, bill: Call, question: Question, came: int) -> Call:
        """What a reply comes to that no model wrote: what was sent, and as much as came."""
        put_out = min(came, question.most_output)
        price = price_of(ModelName(bill.provider, bill.model), self.config)
        return _told(bill, bill.input_tokens, put_out, price.micros(bill.input_tokens, put_out))

    def full(
        self, book: Book, project_id: str | None, kind: str, tokens: int = 1, micros: int = 0, asked: str = THIS_QUESTION
    ) -> str:
        """Which cap so much more would pass, told in what it is a cap of; nothing where there is room. asked: what would."""
        since = midnight(self.clock.now_ms())
        for part, project, of_kind, whose in _parts(project_id, kind):
            caps = self.config.model_cap(part, "tokens"), self.config.model_cap(part, "cost")
            if not any(caps):
                continue
            spent = book.spent(since, project, of_kind)
            if caps[0] and spent.tokens + tokens > caps[0]:
                used = f"{spent.tokens:,} of {caps[0]:,.0f}"
                if spent.tokens >= caps[0]:
                    return f"the day's tokens{whose} are used up: {used}"
                return f"the day's tokens{whose} have no room: {used} used, and {asked} may take {tokens:,}"
            if caps[1] and spent.cost_micros + micros > 1e6 * caps[1]:
                used = f"{_dollars(spent.cost_micros)} of {_dollars(round(1e6 * caps[1]))} US dollars"
                if spent.cost_micros >= 1e6 * caps[1]:
                    return f"the day's money{whose} is used up: {used}"
                return f"the day's money{whose} has no room: {used} used, and {asked} may take {_dollars(micros)}"
        return ""


def for_nothing(bill: Call) -> Call:
    """The bill of a call that cost nothing."""
    return _told(bill, 0, 0, 0)


def _told(bill: Call, put_in: int, put_out: int, micros: int) -> Call:
    return replace(bill, at=bill.at - 1, input_tokens=put_in, output_tokens=put_out, cost_micros=micros)


def _dollars(micros: int) -> str:
    """Two digits at least, and as many as tell it from what is not enough."""
    whole, _, rest = f"{micros / 1e6:.6f}".partition(".")
    return f"{whole}.{rest.rstrip('0').ljust(2, '0')}"


def _put_in(question: Question) -> int:
    return tokens_in(question.system) + tokens_in(question.text)


def _believed(told: int, counted: int, most: int) -> int:
    """The tokens a server tells, unless that is far less than we count ourselves or far more than there can be."""
    if told * _TOO_FEW < counted or told <= 0:
        return counted
    return told if told <= _TOO_MANY * (most + 1_000) else max(most, counted)


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


def again_seconds(now_ms: int, *, night: bool, asked: bool = False) -> float:
    """In how many seconds a question that is refused now may be asked: in the morning at night, else when the caps begin anew.
    night: models are used at night too."""
    if not night and not asked and is_night(now_ms):
        return morning_seconds(now_ms)
    here = time.localtime(now_ms / 1000)
    hour = 0 if night else NIGHT[1]
    return time.mktime((here.tm_year, here.tm_mon, here.tm_mday + 1, hour, 0, 0, 0, 0, -1)) - now_ms / 1000
