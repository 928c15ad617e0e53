"""A question -> a reply that is paid for once, kept before anything is made of it, and checked.

The order is what matters. A reply that is kept already is taken instead of asking. Else the models of the chain are asked in
their order until one answers, each once its bill is kept (budget.py); the reply is on the disk before anybody reads it, so a
crash or a step that fails later never pays twice. A reply that cannot be used is kept too: the same question would bring it
again. It is asked once more with the complaint, and then given up. Where no text came at all, that is remembered for an hour
alone: a hotel's sign-in page says nothing about the model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Protocol, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.redact import redact_text
from hindbrain.capture.event import Event, Json
from hindbrain.ledger.calls import Call, call, call_event, put_call
from hindbrain.ledger.evidence import Evidence
from hindbrain.reason.model.asked import Model, ModelName, Question
from hindbrain.reason.model.budget import Book, Budget, Spending, for_nothing
from hindbrain.reason.model.failures import (
    ModelAway,
    ModelFailed,
    ModelRefused,
    NotAllowed,
    WrongOutput,
    shown,
    worst_case,
)
from hindbrain.reason.model.taking import MAX_CHARS, take

T = TypeVar("T")

REST_AWAY: Final = 30.0  # seconds a model that did not answer is passed over, where there is another to ask
REST_REFUSED: Final = 600.0
_HOUR_MS: Final = 3_600_000

# Told what came of every question that was put to a model: the failure, or None where its reply could be used.
Heard = Callable[[ModelName, ModelFailed | None], None]


class Keeping(Protocol):
    """Where replies are kept."""

    def find(self, key: str) -> Call | None:
        """The reply to a question, if one was paid for."""
        ...

    def keep(self, *told: Call) -> None:
        """Have them on the disk when this returns."""
        ...

    def admit(self, bill: Call, full: Callable[[Book], str]) -> str:
        """Have the bill on the disk unless `full` says why not, and say what it said; nobody else is admitted meanwhile."""
        ...


class LedgerBook:
    """The ledger's own table, and before it the journal: what is written there survives the ledger."""

    def __init__(self, ledger: Evidence, journal: Callable[[Event], None]) -> None:
        self._ledger = ledger
        self._journal = journal

    def find(self, key: str) -> Call | None:
        with self._ledger.reading() as database:
            return call(database, key)

    def keep(self, *told: Call) -> None:
        for each in told:
            self._journal(call_event(each))
        with self._ledger.writing() as database:
            for each in told:
                put_call(database, each)

    def admit(self, bill: Call, full: Callable[[Book], str]) -> str:
        with self._ledger.writing() as database:  # one at a time, whichever process
            reason = full(Spending(database))
            if not reason:
                self._journal(call_event(bill))
                put_call(database, bill)
        return reason


class Answered(NamedTuple):
    """A reply that was kept."""

    key: str
    model: ModelName
    text: str
    complaint: str = ""
    fresh: bool = False  # it was asked for now


@dataclass
class _Rest:
    until: float
    failure: ModelFailed


class Calls:
    """The chain of models of one process."""

    def __init__(
        self, models: Sequence[Model], budget: Budget, clock: Clock, heard: Heard = lambda name, failure: None
    ) -> None:
        self._models = list(models)
        self._budget = budget
        self._clock = clock
        self._heard = heard
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
                found = read(take(answered.text))
                self._hear(answered, None)
                return found, answered.model, answered.key
            except WrongOutput as wrong:
                self._hear(answered, wrong)
                if last:
                    raise WrongOutput(f"{answered.model} gave no reply of use: {shown(wrong.message)}") from wrong
                again = f"\n\nYour last reply cannot be used: {shown(wrong.message)}. Reply with the corrected JSON object alone."
                now = replace(question, text=question.text + again)
        raise AssertionError("the loop above returns or raises")

    def _hear(self, answered: Answered, failure: WrongOutput | None) -> None:
        if answered.fresh:  # what was kept says nothing of how the model is now
            self._heard(answered.model, failure)

    def _answered(self, book: Keeping, question: Question, asked: bool) -> Answered:
        for model in self._models:
            if answered := self._kept(book, model.name, question):
                return answered
        failures: list[ModelFailed] = []
        for model in self._models:
            if rest := self._rest_of(model.name):
                failures.append(rest)
                continue
            try:
                answered = self._asked(book, model, question, self._budget.admit(book, model.name, question, asked=asked))
                return answered._replace(fresh=True)
            except (ModelAway, ModelRefused) as failure:
                self._heard(model.name, failure)
                self._let_rest(model.name, failure)
                failures.append(failure)
            except NotAllowed as failure:
                failures.append(failure)
        raise _best(failures)

    def _kept(self, book: Keeping, name: ModelName, question: Question) -> Answered | None:
        """The reply that was paid for; or, within the hour, that none came that could be read."""
        key = question.key(str(name))
        if kept := book.find(key):
            return Answered(key, name, kept.reply)
        if kept := book.find(self._void_key(key)):
            return Answered(kept.key, name, "", kept.reply)
        return None

    def _void_key(self, key: str) -> str:
        return f"{key}/void {self._clock.now_ms() // _HOUR_MS}"

    def _asked(self, book: Keeping, model: Model, question: Question, bill: Call) -> Answered:
        """Ask, the bill being kept at its worst: where the process ends, or nobody knows what came of it, it stays so."""
        try:
            reply = model.ask(question)
        except WrongOutput as wrong:  # something came, and was paid for, but no text could be taken from it
            paid = bill if wrong.came is None else self._budget.settled_by_size(bill, question, wrong.came)
            return self._void(book, model.name, question, paid, wrong.message)
        except ModelFailed as failure:
            if not (isinstance(failure, ModelAway) and failure.paid):
                book.keep(for_nothing(bill))
            raise
        paid = self._budget.settled(bill, question, reply)
        if reply.complaint or not reply.text.strip() or len(reply.text) > MAX_CHARS:
            long = len(reply.text) > MAX_CHARS
            said = reply.complaint or (f"it is too long: {len(reply.text)} characters" if long else "the reply is empty")
            return self._void(book, model.name, question, paid, said)
        text = redact_text(reply.text)[0]
        key = question.key(str(model.name))
        book.keep(_reply(key, question, paid, text), paid)
        return Answered(key, model.name, text)

    def _void(self, book: Keeping, name: ModelName, question: Question, bill: Call, complaint: str) -> Answered:
        """Keep the complaint where the reply would stand."""
        key, said = self._void_key(question.key(str(name))), shown(complaint)
        book.keep(_reply(key, question, bill, said), bill)
        return Answered(key, name, "", said)

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


def _reply(key: str, question: Question, bill: Call, text: str) -> Call:
    """What came, as it is kept beside its bill. A wish to forget that comes while we wait is newer, and takes it away."""
    return Call(key, bill.at, bill.provider, bill.model, question.kind, text, question.project_id, sessions=question.sessions)


def _best(failures: Sequence[ModelFailed]) -> ModelFailed:
    """What to tell of several: one that may pass, then a cap, then what somebody has to mend."""
    away = [each for each in failures if isinstance(each, ModelAway)]
    capped = [each for each in failures if isinstance(each, NotAllowed)]
    return worst_case(away or capped or failures)
