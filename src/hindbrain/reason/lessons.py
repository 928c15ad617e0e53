"""Turns -> lessons: an error that was met, its cause, and what put it right.

Two things have to come together. Something went wrong in the session (a run failed, or the user tells of trouble), and
somebody says in clear words why, or what helped; that the same command then works counts for it, that it fails again speaks
against it. One trouble yields one lesson. Where nobody says anything, `shown` looks at what was run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.causes import Claim, claim, guesses
from hindbrain.reason.complaints import asks_why, complains, tells_of_repair
from hindbrain.reason.offers import spoken
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.prose import Sentence, plain, sentences
from hindbrain.reason.runs import Run, is_again, is_assertion, looks_only, runs
from hindbrain.reason.shown import named, shown, worked_with
from hindbrain.recall.words import STOP_WORDS

_ENOUGH: Final = 4
_REACH: Final = 30  # turns after which a trouble is no longer what is being talked about
_AFTER: Final = 12  # turns within which a later run tells whether a fix held
_PATIENCE: Final = 3  # messages of the user for which a trouble they told of is the matter at hand
_QUOTE: Final = 300
_LEAD: Final = re.compile(r"(?:[A-ZÄÖÜ¡][\w' äöüñáéíóú]{0,28}(?<!cause)(?<!Ursache)(?<!fix)(?<!Fehler)(?<!Abhilfe)): (?=\S)")
_WORD: Final = re.compile(r"[A-Za-zÀ-ÿ_][\w-]{3,60}")
_DULL: Final = STOP_WORDS | frozenset(
    """
    error errors failed failure failing fails test tests file line most recent call last exit code status true false none null
    warning main import passed module return string value type object using found could cannot
    """.split()  # noqa: SIM905  # a list this long reads better as text
)


class _Trouble(NamedTuple):
    turn: int
    words: frozenset[str]
    run: Run | None
    why: bool = False  # and the user asks for its cause
    red: bool = False  # only a test said no


@dataclass(frozen=True, slots=True)
class _Candidate:
    turn: int
    start: int
    end: int
    score: int
    trouble: _Trouble | None
    worked: Run | None

    @property
    def length(self) -> int:
        return self.end - self.start


def lessons(turns: Sequence[Said]) -> list[Statement]:
    """The lessons of a session, in the order of its turns."""
    return _Session(turns).lessons()


class _Session:
    """One reading of a session from its first turn to its last."""

    def __init__(self, turns: Sequence[Said]) -> None:
        self.turns = turns
        self.runs = runs(turns)
        self.by_result = {run.result: number for number, run in enumerate(self.runs)}
        self.after = self._first_run_after()
        self.users = list(accumulate(int(turn.role == "user") for turn in turns))
        self.best: dict[int, _Candidate] = {}
        self.epochs: dict[int, int] = {}
        self.told: list[_Candidate] = []

    def _first_run_after(self) -> list[int]:
        """Of each turn, the first run whose result comes after it."""
        after, following = [0] * len(self.turns), len(self.runs)
        for number in range(len(self.turns) - 1, -1, -1):
            after[number] = following
            following = self.by_result.get(number, following)
        return after

    def lessons(self) -> list[Statement]:
        met: dict[bool, _Trouble] = {}  # the last failed run, and the last trouble the user told of
        epoch = 0
        for number, turn in enumerate(self.turns):
            trouble = self._trouble(number, turn)
            if turn.role == "assistant":
                self._agent(number, turn, list(met.values()), epoch)
            elif turn.role == "user":
                self._user(number, turn)
            if trouble:
                known = met.get(trouble.run is not None)
                epoch += not (known and trouble.run and known.run and known.run.error == trouble.run.error)
                met[trouble.run is not None] = trouble
                self.epochs[number] = epoch
        found = {candidate.turn: self._statement(candidate) for candidate in (*self.best.values(), *self.told)}
        every = [*found.items(), *shown(self.turns, self.runs, self._taken())]
        return [statement for _, statement in sorted(every, key=lambda pair: pair[0])]

    def _trouble(self, number: int, turn: Said) -> _Trouble | None:
        if turn.role == "user":
            text = turn.text[:4_000]
            bad = complains(text)
            return _Trouble(number, _words(text), None, asks_why(text)) if bad else None
        run = self.runs[self.by_result[number]] if number in self.by_result else None
        if run is None or not run.failed:
            return None
        return _Trouble(number, _words(turn.text[:2_000] + turn.text[-2_000:]), run, red=is_assertion(turn.text))

    def _agent(self, number: int, turn: Said, met: list[_Trouble], epoch: int) -> None:
        """Whether the agent states a lesson here: its best sentence, held against each trouble that is still open."""
        said = spoken(turn.text)
        claims = [claim(sentence.text) for sentence in said]
        outcomes = [(trouble, *self._outcome(number, trouble)) for trouble in met if self._is_open(trouble, number)]
        if any(again for _, _, again in outcomes):
            return
        found: list[tuple[int, int, _Trouble | None, Run | None]] = []
        for place, (sentence, stated) in enumerate(zip(said, claims, strict=True)):
            here, two = said[place:place + 2], claims[place:place + 2]
            if _is_whole(two) or (stated.cause and (met or self._looked_just_now(number))):
                found.append((stated.weight + 1, -place, None, None))
            for trouble, worked, _ in outcomes:
                helped = any(each.says_what_helped for each in two) or any(_names_command(each.text, worked) for each in here)
                if trouble.red and not helped:
                    continue  # why a test said no is worth nothing without what was done about it
                if trouble.run is None and not _is_outright(two, trouble.why):
                    continue  # a remark about what is being talked about
                if not stated.cause and not helped and any(guesses(each.text) for each in said[place + 1:place + 2]):
                    continue  # what was seen, before it is wondered at
                score = self._score(sentence.text, stated, trouble, worked, number) + _explained(stated, two, helped)
                found.append((score, -place, trouble, worked))
        score, place, about, showing = max(found, key=lambda each: each[:2], default=(0, 0, None, None))
        known = self.best.get(epoch)
        if score < _ENOUGH or (known and score < known.score):
            return
        found_now = _Candidate(number, *_span(turn.text, said, -place, showing), score, about, showing)
        if not known or score > known.score or found_now.length > known.length:
            self.best[epoch] = found_now  # of two that say as much, the one in more words

    def _is_open(self, trouble: _Trouble, number: int) -> bool:
        """Whether it is still the matter at hand: it does not work yet, or the user has not gone on to other things."""
        if number - trouble.turn > _REACH:
            return False
        since = trouble.turn if trouble.run is None else self._solved(trouble)
        return self.users[number] - self.users[since] <= (_PATIENCE if trouble.run is None else 0) if since < number else True

    def _solved(self, trouble: _Trouble) -> int:
        """The turn at which a failed run worked."""
        for run in self._runs_since(trouble):
            if not run.failed:
                return run.result
        return len(self.turns)

    def _runs_since(self, trouble: _Trouble) -> Iterator[Run]:
        """Later runs of what failed; of a trouble that was only told, all later runs in a shell."""
        first = self.after[trouble.turn]
        for run in self.runs[first:first + _REACH]:
            if run.command and (trouble.run is None or is_again(trouble.run.command, run.command)):
                yield run

    def _outcome(self, number: int, trouble: _Trouble) -> tuple[Run | None, bool]:
        """The run that shows the trouble gone, before or soon after this turn; and whether the trouble came again after it."""
        for run in self._runs_since(trouble):
            if run.result > number + _AFTER:
                break
            if run.failed and run.result > number:
                return None, trouble.run is not None
            if not run.failed and (trouble.run or run.result > number):
                return run, False
        return None, False

    def _score(self, text: str, stated: Claim, trouble: _Trouble, worked: Run | None, number: int) -> int:
        shows = _names_command(text, worked)
        held = worked is not None and worked.result < number
        if not stated.weight and not (held and (shows or (stated.past and trouble.run is not None))):
            return 0
        shared = _words(text) & trouble.words
        score = stated.weight + bool(shared) + any(_is_name(word) for word in shared)
        score += 2 * (worked is not None and trouble.run is not None) + 2 * shows + (held and stated.past and not stated.weight)
        if trouble.run is None and stated.says_why and self._looked(trouble.turn, number):
            score += 2 if trouble.why else 1
        return score

    def _looked(self, since: int, until: int) -> bool:
        first = self.after[since]
        return first < len(self.runs) and self.runs[first].result < until

    def _looked_just_now(self, number: int) -> bool:
        """Whether something was run since the user spoke."""
        return number > 0 and self.turns[number - 1].role == "tool_result"

    def _user(self, number: int, turn: Said) -> None:
        for sentence in sentences(own(turn.text).replace(BLANK, "\n")):
            if tells_of_repair(sentence.text) and len(sentence.text) <= _QUOTE:
                self.told.append(_Candidate(number, sentence.start, sentence.end, 9, None, None))
                return

    def _taken(self) -> set[int]:
        """Failed runs of troubles about which something was said."""
        said = {number: self.best[epoch] for number, epoch in self.epochs.items() if epoch in self.best}
        return {number for number, found in said.items() if self._is_about(found, number)}

    def _is_about(self, found: _Candidate, number: int) -> bool:
        if found.trouble is not None:
            return found.trouble.run is not None
        return not _words(self.turns[found.turn].text).isdisjoint(_words(self.turns[number].text))

    def _statement(self, found: _Candidate) -> Statement:
        turn = self.turns[found.turn]
        quote = turn.text[found.start:found.end]
        failed = found.trouble.run if found.trouble else None
        error = named(failed) if failed else ""
        said = plain(quote)
        text = said if not error or error.casefold() in said.casefold() else f"{error}: {said}"
        after = found.worked if found.worked and found.worked.result > found.turn else None
        again = failed is not None and after is not None and after.command == failed.command
        helped = claim(quote).says_what_helped or _names_command(quote, after)
        if after and not again and not helped and not looks_only(after.command):
            text = f"{text.rstrip('.')}; {worked_with(after)}"
        where = [turn.id]
        where += [self.turns[found.trouble.turn].id] if found.trouble else []
        where += [self.turns[found.worked.call].id, self.turns[found.worked.result].id] if found.worked else []
        mine = turn.role == "user"
        sure = 0.85 if mine else 0.8 if found.worked else 0.7
        return Statement("lesson", text, tuple(dict.fromkeys(where)), quote, sure, "user" if mine else "assistant")


def _is_whole(two: Sequence[Claim]) -> bool:
    """A lesson by itself: a sentence says why, it or the next one says what helped, and one of both says it outright."""
    if two[0].past and two[0].says_why and two[0].effect:
        return True
    helped = [each for each in two if each.says_what_helped]
    return two[0].says_why and bool(helped) and (two[0].cause or any(each.fix for each in helped))


def _is_outright(two: Sequence[Claim], asked: bool) -> bool:
    """Whether a trouble that was only told is spoken of: its cause, its repair, or a consequence together with what helped."""
    stated = two[0]
    follows = stated.follows and (asked or any(each.effect or each.fix for each in two) or (stated.past and stated.changed))
    return stated.cause or stated.fix or follows or (stated.effect and stated.past)


def _span(text: str, said: list[Sentence], at: int, worked: Run | None) -> tuple[int, int]:
    """The sentence, and the one before or after it where that states the other half and both fit into a quote."""
    chosen, whole = said[at], claim(said[at].text)
    start, end = _without_lead(chosen)
    if at and not whole.says_why and end - said[at - 1].start <= _QUOTE and _tells(claim(said[at - 1].text)):
        start = _without_lead(said[at - 1])[0]
    if at + 1 < len(said) and not whole.says_what_helped and said[at + 1].end - start <= _QUOTE:
        after = said[at + 1]
        end = after.end if claim(after.text).says_what_helped or _names_command(after.text, worked) else end
    if end - start > _QUOTE:
        cut = max(text.rfind(mark, start, start + _QUOTE) for mark in ("; ", ", ", " "))
        end = cut if cut > start else start + _QUOTE
    return start, end


def _explained(stated: Claim, two: Sequence[Claim], helped: bool) -> bool:
    """Whether it says why, with what helped; how something was says why where what came of it is said with it."""
    return (stated.says_why and helped) or (stated.past and any(each.fix or each.effect for each in two))


def _tells(stated: Claim) -> bool:
    return stated.says_why or stated.past


def _without_lead(sentence: Sentence) -> tuple[int, int]:
    lead = _LEAD.match(sentence.text)
    return sentence.start + (lead.end() if lead else 0), sentence.end


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in (found.group() for found in _WORD.finditer(text)) if word.lower() not in _DULL)


def _is_name(word: str) -> bool:
    return "_" in word or any(letter.isupper() for letter in word[1:]) or any(letter.isdigit() for letter in word)


def _names_command(text: str, worked: Run | None) -> bool:
    """Whether a sentence shows, as code, what was run in the end."""
    if worked is None:
        return False
    shown = re.findall(r"`([^`\n]{4,200})`", text)
    return any(" " in code and code in worked.command for code in shown)
