"""A question -> a reply that is paid for once, kept before anything is made of it, and checked.

The order is what matters. A reply that is kept already is taken instead of asking. Else the caps are asked, then the models of
the chain in their order until one answers; the reply is on the disk before anybody reads it, so a crash or a step that fails
later never pays twice. A reply that cannot be used is kept too: the same question would bring it again. It is asked once more
with the complaint, and then given up.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Event, Json, stable_id
from hindbrain.ledger.calls import Call, Spent, call, call_event, put_call, spent
from hindbrain.ledger.evidence import Evidence
from hindbrain.reason.model.asked import Model, ModelName, Question, Reply
from hindbrain.reason.model.budget import Budget, Price
from hindbrain.reason.model.failures import (
    KeyRefused,
    ModelAway,
    ModelFailed,
    ModelRefused,
    NotAllowed,
    WrongOutput,
    shown,
    worst_case,
)
from hindbrain.reason.model.taking import MAX_CHARS, take
from hindbrain.recall.tokens import tokens_in

T = TypeVar("T")

REST_AWAY: Final = 30.0  # seconds a model that did not answer is passed over, where there is another to ask
REST_REFUSED: Final = 600.0

# Told of every model that does not take its key, and with None of every one that answered.
Refusal = Callable[[ModelName, KeyRefused | None], None]


class Keeping(Protocol):
    """Where replies are kept."""

    def find(self, key: str) -> Call | None:
        """The reply to a question, if one was paid for."""
        ...

    def keep(self, told: Call) -> None:
        """Have it on the disk when this returns."""
        ...

    def spent(self, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent:
        """What was paid since a time."""
        ...


class LedgerBook:
    """The ledger's own table, and before it the journal: what is written there survives the ledger."""

    def __init__(self, ledger: Evidence, journal: Callable[[Event], None]) -> None:
        self._ledger = ledger
        self._journal = journal

    def find(self, key: str) -> Call | None:
        with self._ledger.reading() as database:
            return call(database, key)

    def keep(self, told: Call) -> None:
        self._journal(call_event(told))
        with self._ledger.writing() as database:
            put_call(database, told)

    def spent(self, since_ms: int, project_id: str | None = None, kind: str | None = None) -> Spent:
        with self._ledger.reading() as database:
            return spent(database, since_ms, project_id, kind)


class Answered(NamedTuple):
    """A reply that was kept."""

    key: str
    model: ModelName
    text: str
    complaint: str = ""


@dataclass
class _Rest:
    until: float
    failure: ModelFailed


class Calls:
    """The chain of models of one process."""

    def __init__(
        self, models: Sequence[Model], budget: Budget, clock: Clock, refusal: Refusal = lambda name, failure: None
    ) -> None:
        self._models = list(models)
        self._budget = budget
        self._clock = clock
        self._refusal = refusal
        self._resting: dict[ModelName, _Rest] = {}
        self._lock = threading.Lock()

    def ask(
        self, book: Keeping, question: Question, read: Callable[[dict[str, Json]], T], *, asked: bool = False
    ) -> tuple[T, ModelName, str]:
        """What `read` makes of the reply, who gave it, and its key. Raises ModelFailed; WrongOutput after two of no use."""
        now = question
        for last in (False, True):
            answered = self._answered(book, now, asked)
            try:
                if answered.complaint:
                    raise WrongOutput(answered.complaint)
                return read(take(answered.text)), answered.model, answered.key
            except WrongOutput as wrong:
                if last:
                    raise WrongOutput(f"{answered.model} gave no reply of use: {shown(wrong.message)}") from wrong
                again = f"\n\nYour last reply cannot be used: {shown(wrong.message)}. Reply with the corrected JSON object alone."
                now = replace(question, text=question.text + again)
        raise AssertionError("the loop above returns or raises")

    def _answered(self, book: Keeping, question: Question, asked: bool) -> Answered:
        for model in self._models:
            if kept := book.find(question.key(str(model.name))):
                return Answered(kept.key, model.name, kept.reply)
        failures: list[ModelFailed] = []
        for model in self._models:
            if rest := self._rest_of(model.name):
                failures.append(rest)
                continue
            try:
                with self._budget.admitted(book, model.name, question, asked=asked) as price:
                    answered = self._asked(book, model, question, price)
                self._refusal(model.name, None)
                return answered
            except (ModelAway, ModelRefused) as failure:
                if isinstance(failure, KeyRefused):
                    self._refusal(model.name, failure)
                self._let_rest(model.name, failure)
                failures.append(failure)
            except NotAllowed as failure:
                failures.append(failure)
        raise _best(failures)

    def _asked(self, book: Keeping, model: Model, question: Question, price: Price) -> Answered:
        asked_at = self._clock.now_ms()  # a wish to forget that comes while we wait is newer, and takes the reply away
        try:
            reply = model.ask(question)
        except WrongOutput as wrong:  # something came, and was paid for, but no text could be taken from it
            reply = Reply("", complaint=wrong.message)
        except ModelAway as away:
            if away.paid:
                lost = stable_id("call", question.key(str(model.name)), str(asked_at), str(self._clock.elapsed()))
                book.keep(self._call(lost, asked_at, model.name, question, price, Reply("")))
            raise
        # What cannot be used is kept as nothing, so that whoever finds it later comes to the same end.
        text = "" if reply.complaint or len(reply.text) > MAX_CHARS else redact_text(reply.text)[0]
        key = question.key(str(model.name))
        book.keep(self._call(key, asked_at, model.name, question, price, replace(reply, text=text)))
        complaint = reply.complaint or (f"it is too long: {len(reply.text)} characters" if len(reply.text) > MAX_CHARS else "")
        return Answered(key, model.name, text, complaint)

    def _call(self, key: str, at: int, name: ModelName, question: Question, price: Price, reply: Reply) -> Call:
        """What is kept. A server that does not count, or counts too little to be true, is counted for."""
        put_in = reply.input_tokens or tokens_in(question.system) + tokens_in(question.text)
        put_out = reply.output_tokens or tokens_in(reply.text)
        return Call(
            key, at, name.provider, name.model, question.kind, reply.text, question.project_id, put_in, put_out,
            price.micros(put_in, put_out), question.sessions,
        )  # fmt: skip

    def _rest_of(self, name: ModelName) -> ModelFailed | None:
        with self._lock:
            rest = self._resting.get(name)
            left = rest.until - self._clock.elapsed() if rest else 0.0
            if rest is None or left <= 0:
                return None
        if isinstance(rest.failure, ModelAway):
            return ModelAway(rest.failure.message, hint=rest.failure.hint, after=left)
        return rest.failure

    def _let_rest(self, name: ModelName, failure: ModelFailed) -> None:
        """One that asked to be left alone is; one that is down is passed over only where there is another."""
        seconds = failure.after if isinstance(failure, ModelAway) and failure.after is not None else 0.0
        if len(self._models) > 1:
            seconds = max(seconds, REST_AWAY if isinstance(failure, ModelAway) else REST_REFUSED)
        with self._lock:
            self._resting[name] = _Rest(self._clock.elapsed() + seconds, failure)


def _best(failures: Sequence[ModelFailed]) -> ModelFailed:
    """What to tell of several: one that may pass, then a cap, then what somebody has to mend."""
    away = [each for each in failures if isinstance(each, ModelAway)]
    capped = [each for each in failures if isinstance(each, NotAllowed)]
    return worst_case(away or capped or failures)
