"""Turns, statements and questions -> what a model makes of them, in the types that rules make, or what rules make instead.

Every function is given what to do otherwise. Where no model is configured that is all there is. Where one is, rules decide at a
cap, at night, where the model refuses (the key, the model's name, the question), and after two replies of no use; and the result
says so: a model that is configured and cannot be used is no worse than none. One that is away is a failure of the job, which
comes back for it, unless the caller would rather have the rules' result now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Generic, NamedTuple, Protocol, TypeVar

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.capture.event import Json
from hindbrain.ledger.earlier import Earlier
from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.digest import Digest
from hindbrain.reason.model import checks, prompts
from hindbrain.reason.model.asked import COMMANDS, Limits, Model, ModelName, Question
from hindbrain.reason.model.budget import Admission, Budget, price_of
from hindbrain.reason.model.calls import Calls, Heard, Keeping
from hindbrain.reason.model.checks import Cited, Offered
from hindbrain.reason.model.checks import Found as Insight
from hindbrain.reason.model.chunks import Chunk, chunks, seen, told
from hindbrain.reason.model.failures import ModelFailed, ModelRefused, NotAllowed, WrongOutput, as_job
from hindbrain.reason.model.withheld import apart
from hindbrain.recall.tokens import tokens_in

T = TypeVar("T")

RULES: Final = "rules/1"
MOST_PAIRS: Final = 20  # in one question
MOST_STATEMENTS: Final = 60
DIGEST_TOKENS: Final = 6_000
PEOPLE: Final = ("user", "human_file", "import")
_NOTHING: Final = Earlier()
_USUAL_OUTPUT: Final = 600  # tokens of a reply, for an estimate


@dataclass(frozen=True, slots=True)
class Made(Generic[T]):
    """A result, who made it, and which replies it rests on."""

    value: T
    made_by: str = RULES  # or "model:NAME/1"
    note: str = ""  # why a model that is configured did not make it, or not all of it
    keys: tuple[str, ...] = ()
    later: bool = False  # a cap or the night was why: a model may be asked then
    others: Mapping[str, str] = field(default_factory=dict[str, str])  # by id, who made what is not by made_by
    unread: frozenset[str] = frozenset()  # turns that rules alone have read


class Told(Protocol):
    """A memory or statement, as far as a model is shown it."""

    @property
    def id(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def trust(self) -> str: ...


class Spoken(Protocol):
    """What a digest is told besides the turns."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...


class Piece(NamedTuple):
    """Evidence for an answer."""

    id: str
    text: str
    by: str  # who said it
    day: str  # when, for a reader


class Estimate(NamedTuple):
    """What reading turns would use, rather too much than too little."""

    calls: int
    tokens: int
    dollars: float


def calls_of(
    config: Config, clock: Clock, environ: Mapping[str, str], heard: Heard = lambda name, failure: None,
    admission: Admission = lambda question, why: None,
) -> Calls | None:  # fmt: skip
    """The models that are configured, for the life of a process; None where there is none, and nothing is loaded."""
    if not config.model:
        return None
    limits = Limits.within(config.model_timeout)
    chain = zip(config.model, config.model_urls, config.model_keys, strict=True)
    models = [_model(ModelName.of(name), url, key, limits, clock, environ) for name, url, key in chain]
    return Calls(models, Budget(config, clock, admission), clock, heard)


def _model(name: ModelName, url: str, key: str, limits: Limits, clock: Clock, environ: Mapping[str, str]) -> Model:
    if name.provider in COMMANDS:
        from hindbrain.reason.model.command import Commanded

        return Commanded(name, limits, environ)
    from hindbrain.reason.model.client import Hosted

    return Hosted(name, url, key, limits, clock)


def estimate(turns: Sequence[Said], config: Config) -> Estimate:
    """What a model would use to read these turns and to sum them up; nothing where none is configured."""
    if not config.model:
        return Estimate(0, 0, 0.0)
    asked = [_extraction(chunk)[0] for chunk in chunks(turns)]
    asked += [_summing(turns, ())[0]] if asked else []
    put_in = sum(tokens_in(each.system) + tokens_in(each.text) for each in asked)
    put_out = _USUAL_OUTPUT * len(asked)
    price = price_of(ModelName.of(config.model[0]), config)
    return Estimate(len(asked), put_in + put_out, price.micros(put_in, put_out) / 1e6)


@dataclass(frozen=True)
class Reasoner:
    """Reasons for one job or one question."""

    calls: Calls | None
    book: Keeping | None = None
    project_id: str | None = None
    sessions: tuple[str, ...] = ()
    asked: bool = False  # a person waits for it: at night too
    give_way: bool = False  # rules decide as well where a model is away
    check: Callable[[], None] = lambda: None  # raises when going on is of no use: a call that takes long is ended then

    def extract(
        self, turns: Sequence[Said], otherwise: Callable[[], list[Statement]], earlier: Earlier = _NOTHING
    ) -> Made[list[Statement]]:
        """What is worth keeping of a session, and what rules set aside in it, whatever a model says. Where the model fails for a
        stretch, what models found there before stands, and what rules find in the turns that none has read."""
        if self.calls is None:
            return Made(otherwise())
        made, ruled = self._extracted(turns), otherwise()
        if made.unread:
            made = _filled(made, ruled, earlier)
        return _guarded(made, ruled, turns)

    def _extracted(self, turns: Sequence[Said]) -> Made[list[Statement]]:
        """What the model finds; `unread` are the turns of the stretches it failed for."""
        found: list[Statement] = []
        makers: list[ModelName] = []
        keys: list[str] = []
        left: set[str] = set()
        failed: list[_ByRules] = []
        for chunk in chunks(turns):
            question, offered = _extraction(chunk)
            try:
                statements, maker, key = self._asked(question, offered.statements)
            except _ByRules as by_rules:
                left |= {turn.id for turn in chunk.turns}
                failed.append(by_rules)
                continue
            found += statements
            makers.append(maker)
            keys.append(key)
        note, later = str(failed[0]) if failed else "", any(each.later for each in failed)
        unread = frozenset(left if makers else (turn.id for turn in turns))
        return Made(_once(found), _name(makers), note, tuple(keys), later, unread=unread)

    def relation(self, pairs: Sequence[tuple[Told, Told]], otherwise: Callable[[], list[str]]) -> Made[list[str]]:
        """What the newer of each pair (first) does to the older, in the words of reason.relation."""
        if self.calls is None or not pairs:
            return Made(otherwise())
        found: list[str] = []
        makers, keys = [], []
        for start in range(0, len(pairs), MOST_PAIRS):
            part = pairs[start : start + MOST_PAIRS]
            names = [f"p{number + 1}" for number in range(len(part))]
            named = list(zip(names, part, strict=True))
            shown: list[Json] = [{"id": name, "newer": _line(newer), "older": _line(older)} for name, (newer, older) in named]
            try:
                by_name, maker, key = self._asked(
                    prompts.relate(shown), lambda said, names=names: checks.relations(said, names)  # type: ignore[misc]
                )
            except _ByRules as by_rules:
                return by_rules.made(otherwise())
            found += [_founded(by_name[name], *pair) for name, pair in named]
            makers.append(maker)
            keys.append(key)
        return Made(found, _name(makers), keys=tuple(keys))

    def digest(self, turns: Sequence[Said], statements: Sequence[Spoken], otherwise: Callable[[], Digest]) -> Made[Digest]:
        """A session, short and long."""
        if self.calls is None or not turns:
            return Made(otherwise())
        question, evidence = _summing(turns, statements)
        try:
            (short, long), maker, key = self._asked(question, lambda said: checks.digest(said, evidence))
        except _ByRules as by_rules:
            return by_rules.made(otherwise())
        return Made(Digest(short, long), _name([maker]), keys=(key,))

    def insight(self, statements: Sequence[Told], otherwise: Callable[[], list[Insight]]) -> Made[list[Insight]]:
        """What several statements say together."""
        if self.calls is None or len(statements) < 3:
            return Made(otherwise())
        named = {f"s{number + 1}": each for number, each in enumerate(statements[-MOST_STATEMENTS:])}
        shown: list[Json] = [{"id": name, **_line(each)} for name, each in named.items()]
        offered = {name: (each.id, each.text, each.trust) for name, each in named.items()}
        try:
            found, maker, key = self._asked(prompts.insight(shown), lambda said: checks.insights(said, offered))
        except _ByRules as by_rules:
            return by_rules.made(otherwise())
        return Made(found, _name([maker]), keys=(key,))

    def answer(self, question: str, evidence: Sequence[Piece], otherwise: Callable[[], list[Cited]]) -> Made[list[Cited]]:
        """Sentences that cite the evidence; none where it does not answer."""
        if self.calls is None or not evidence:
            return Made(otherwise())
        named = {f"e{number + 1}": each for number, each in enumerate(evidence)}
        shown: list[Json] = [
            {"id": name, "by": each.by, "day": each.day, "text": _plain(each.text, 2_000)} for name, each in named.items()
        ]
        offered = {name: (each.id, f"{each.day} {each.text}\n({each.by})") for name, each in named.items()}
        asked = prompts.answer(_plain(question, 2_000), shown)
        try:
            found, maker, key = self._asked(asked, lambda said: checks.sentences(said, offered, question))
        except _ByRules as by_rules:
            return by_rules.made(otherwise())
        return Made(found, _name([maker]), keys=(key,))

    def introduction(self, title: str, statements: Sequence[Piece], otherwise: Callable[[], list[Cited]]) -> Made[list[Cited]]:
        """Sentences that introduce a page of the wiki, each citing statements of it."""
        if self.calls is None or not statements:
            return Made(otherwise())
        named = {f"s{number + 1}": each for number, each in enumerate(statements)}
        shown: list[Json] = [
            {"id": name, "kind": each.by, "since": each.day, "text": _plain(each.text, 500)} for name, each in named.items()
        ]
        offered = {name: (each.id, f"{each.day} {each.text}") for name, each in named.items()}
        words = _plain(title, 200)
        try:
            found, maker, key = self._asked(prompts.page(words, shown), lambda said: checks.introduction(said, offered, words))
        except _ByRules as by_rules:
            return by_rules.made(otherwise())
        return Made(found, _name([maker]), keys=(key,))

    def _asked(self, question: Question, read: Callable[[dict[str, Json]], T]) -> tuple[T, ModelName, str]:
        assert self.calls is not None and self.book is not None
        whole = replace(question, project_id=self.project_id, sessions=self.sessions, check=self.check)
        try:
            return self.calls.ask(self.book, whole, read, asked=self.asked)
        except (NotAllowed, WrongOutput, ModelRefused) as failure:
            raise _ByRules(failure.message, later=isinstance(failure, NotAllowed)) from failure
        except ModelFailed as failure:
            if self.give_way:
                raise _ByRules(failure.message) from failure
            raise as_job(failure) from failure


class _ByRules(Exception):
    """Rules decide; the text says why."""

    def __init__(self, why: str, *, later: bool = False) -> None:
        super().__init__(why)
        self.later = later

    def made(self, value: T) -> Made[T]:
        return Made(value, note=str(self), later=self.later)


def _filled(made: Made[list[Statement]], ruled: Sequence[Statement], earlier: Earlier) -> Made[list[Statement]]:
    """With what is known of the turns that are unread: by a model from before, by rules where none has read."""
    left = made.unread
    kept = [each for each in earlier.statements if each.turns[0] in left]
    unread = left - earlier.read - {turn for each in kept for turn in each.turns}
    known = {each.id for each in (*made.value, *kept)}
    added = [each for each in ruled if each.id not in known and not unread.isdisjoint(each.turns)]
    by = made.made_by
    if by == RULES and (kept or not earlier.read.isdisjoint(left)):
        by = earlier.made_by
    others = {**{each.id: earlier.makers[each.id] for each in kept}, **{each.id: RULES for each in added}}
    return replace(made, value=_once([*made.value, *kept, *added]), made_by=by, others=others, unread=unread)


def _guarded(made: Made[list[Statement]], ruled: Sequence[Statement], turns: Sequence[Said]) -> Made[list[Statement]]:
    """With what rules hold back, and without what rests on the same words."""
    held = [each for each in ruled if each.quarantine]
    if not held:
        return made
    own = {each.id for each in ruled}
    found = [*(each for each in made.value if each.id in own and not each.quarantine),
             *apart((each for each in made.value if each.id not in own), held, turns)]  # fmt: skip
    others = {**{each.id: made.others[each.id] for each in found if each.id in made.others}, **{each.id: RULES for each in held}}
    return replace(made, value=[*found, *held], others=others)


def _extraction(chunk: Chunk) -> tuple[Question, Offered]:
    names = {turn.id: f"t{number + 1}" for number, turn in enumerate((*chunk.before, *chunk.turns))}
    question = prompts.extract(told(chunk.turns, names), told(chunk.before, names))
    return question, Offered({names[turn.id]: turn for turn in (*chunk.before, *chunk.turns)})


def _summing(turns: Sequence[Said], statements: Sequence[Spoken]) -> tuple[Question, str]:
    """The question, with as much of the talk as there is room for, both ends first; and all that a digest may speak of."""
    lines: list[Json] = [_plain(f"{each.kind}: {each.text}", 500) for each in list(statements)[-MOST_STATEMENTS:]]
    talk = [turn for turn in turns if turn.role in ("user", "assistant") and seen(turn)]
    room = DIGEST_TOKENS
    kept: set[str] = set()
    for _, turn in sorted(enumerate(talk), key=lambda each: min(each[0], len(talk) - 1 - each[0])):
        room -= tokens_in(seen(turn)) + 20
        if room < 0 and kept:
            break
        kept.add(turn.id)
    names = {turn.id: f"t{number + 1}" for number, turn in enumerate(talk)}
    shown = told([turn for turn in talk if turn.id in kept], names)
    return prompts.digest(shown, lines), "\n".join([*(str(line) for line in lines), *(turn.text for turn in turns)])


def _line(each: Told) -> dict[str, Json]:
    return {"kind": each.kind, "by": each.trust, "text": _plain(each.text, 500)}


def _plain(text: str, most: int) -> str:
    from hindbrain.base.redact import redact_text

    return redact_text(text[:most])[0].encode("utf-8", "replace").decode()


def _founded(relation: str, newer: Told, older: Told) -> str:
    """What a tool or an agent said does not take the place of what a person said: that is for a person to look at."""
    if relation == "supersedes" and newer.trust not in PEOPLE and older.trust in PEOPLE:
        return "contradicts"
    return relation


def _once(found: Sequence[Statement]) -> list[Statement]:
    return list({each.id: each for each in reversed(found)}.values())[::-1]


def _name(makers: Sequence[ModelName]) -> str:
    """Who made it: the last model that did; a chain may have changed in between."""
    return f"model:{makers[-1]}/{prompts.VERSION}" if makers else RULES
