"""Hits, best first -> the same hits, of statements about one thing the newest first, or the older when the past is asked for.

A hit moves just before the best older one of another session that speaks of the same thing, if it fits nearly as well. Not before
more than that: where both are right the second place costs nothing. That two speak of the same thing is seen by the sentence in
each that is nearest to the question; the less well the newer one fits, the more alike the two must be. Less is asked of one that
says that something changed ("instead", "moves to"), or that names what the older one said beside what the question asks ("RS256
keys are retired"); one that says that this is over is looked for further down. Two that differ in the very word the question asks
for ("access tokens", "refresh tokens") are about two things.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from hindbrain.recall import cues
from hindbrain.recall.block import day_of
from hindbrain.recall.rank import Found
from hindbrain.recall.said import UNITS, Names, Said, is_over, nearest_sentences, said, speaker, words_before
from hindbrain.recall.static import Floats, Static
from hindbrain.recall.words import spaced


class Rule(NamedTuple):
    """How much worse a newer statement may fit, and how alike it must be to the older."""

    within: float  # of the distance from the first hit's score to the last one's that is looked at
    alike: float
    more_alike: float  # in addition, times how much worse it is
    tokens: float  # how much worse it may answer the question's own words


FIRM: Final = Rule(0.6, 0.4, 0.4, 0.6)
SHORT: Final = Rule(0.8, 0.3, 0.3, 0.8)  # both are short, and said to an agent rather than among people: likelier a decision
GENTLE: Final = Rule(0.2, 0.7, 0.0, 0.6)  # the question is about an event: "did", "was"
CHANGED: Final = Rule(0.85, 0.2, 0.3, 0.85)  # the newer one says that something changed
NAMED: Final = Rule(0.8, 0.2, 0.3, 0.85)  # it names what the older one said
OVER: Final = Rule(1.4, 0.1, 0.15, 1.0)  # and says that this is over
FORMER: Final = Rule(0.8, 0.3, 0.2, 0.8)  # the past is asked for, and the worse one is the older

LOOKED_AT: Final = 5  # the first hits: any may go before another
LOOKED_AT_PLAIN: Final = 4  # without a word that says so
FROM_AFAR: Final = 2  # the first of them, which even one much further down overtakes that says that this is over
COMPARED: Final = 50
LEAST_SPAN: Final = 1.4  # from the first hit to the fiftieth; where only a few fit, the last of them is no measure of far
SHORT_CHARS: Final = 160
STALE: Final = "said before"  # begins the note of a hit that something newer speaks against


Tells = Callable[[Found, Found], bool]


def _always(newer: Found, older: Found) -> bool:
    return True


def wants_newest(question: str) -> bool:
    """Whether a question is about how things are: not how they were, nor what happened, nor what a given time brought."""
    return not (cues.names_a_time(question) or cues.asks_for_past(question) or cues.asks_for_event(question))


def newest_first(
    question: str, hits: list[Found], static: Static | None, later: Sequence[Found] = (), tells: Tells = _always
) -> list[Found]:
    """The hits in the order in which they should be told; none is lost, and of `later` those come in that amend one of them.

    `tells` says of a newer and an older one whether a note says that the one changed the other (told_changes.py).
    """
    if not hits or static is None or cues.names_a_time(question):
        return hits
    if cues.asks_for_past(question) and not cues.asks_for_former(question):
        return hits
    return _Ordering(question, hits[:COMPARED], static, later, tells).order() + hits[COMPARED:]


class _Ordering:
    def __init__(self, question: str, hits: list[Found], static: Static, later: Sequence[Found], tells: Tells) -> None:
        self.tells = tells
        self.found = len(hits)
        self.scores = [hit.score for hit in hits] + [hits[-1].score] * len(later)
        self.hits = hits = [*hits, *later]
        self.past = cues.asks_for_past(question)
        self.event = cues.asks_for_event(question)
        self.names = Names(question, static)
        self.asked = self.names.asked
        self.said = [said(hit) for hit in hits]
        self.span = max(self.scores[0] - self.scores[-1], LEAST_SPAN)
        self.most = max(hit.parts.get("tokens", 0.0) for hit in hits)
        self.question, self.static = question, static
        self.itself = spaced(question)
        # "Name: " begins what is said where people are named; where it is seldom, it is a heading like "Decision: "
        self.speakers = 2 * sum(bool(speaker(hit)) for hit in hits) > len(hits)
        states = not self.past and not self.event
        self.places = [place for place, said in enumerate(self.said) if place < LOOKED_AT or (states and said.over)]
        self.vectors: dict[int, Floats] = {}  # of the places that were compared

    def order(self) -> list[Found]:
        """Each hit in turn goes behind the ones before it, or before the one that it was chosen to go before."""
        chosen = self._chosen()
        rising = set(chosen.values())
        order: list[int] = []
        for place in range(len(self.hits)):
            behind = [at for at, other in enumerate(order) if chosen.get(other) == place] if place in rising else []
            if behind:
                self._tell(place, order[behind[0]])
                order.insert(behind[0], place)
            elif place < self.found:
                order.append(place)
        if not self.past:
            self._mark_stale(order)
        return [self.hits[place] for place in order]

    def _mark_stale(self, order: Sequence[int]) -> None:
        """Say of an older hit what became of it where it stands behind the newer one already."""
        first = [place for place in order if place < LOOKED_AT]
        for at, newer in enumerate(first):
            for older in first[at + 1 :]:
                if self.hits[older].at >= self.hits[newer].at or STALE in self.hits[older].note:
                    continue
                if not self._comparable(self.hits[older], self.hits[newer]):
                    continue
                better, worse = sorted((newer, older))
                rule = self._rule(self.said[newer], self.said[older], worse, better)
                one = rule is not None and self._one_thing(older, newer, better, worse, rule)
                if one and self.tells(self.hits[newer], self.hits[older]):
                    self.hits[older].note = _with(self.hits[older].note, _before(self.hits[newer]))

    def _chosen(self) -> dict[int, int]:
        """For each of the first hits the one that goes before it: of several the one that fits best."""
        found: dict[int, int] = {}
        for better in range(min(LOOKED_AT, self.found)):
            able = next((place for place in self.places if place > better and self._overtakes(place, better)), None)
            if able is not None:
                found[better] = able
        return found

    def _overtakes(self, place: int, better: int) -> bool:
        """Whether a hit belongs before another that fits better."""
        mine, other = self.hits[place], self.hits[better]
        if mine.at == other.at or (mine.at < other.at) != self.past:
            return False
        if other.parts.get("literal", 0.0) > mine.parts.get("literal", 0.0) and not self.said[place].changes:
            return False  # it holds the very letters that were asked for
        older, newer = (place, better) if self.past else (better, place)
        if not self._comparable(self.hits[older], self.hits[newer]):
            return False
        rule = self._rule(self.said[newer], self.said[older], place, better)
        return rule is not None and self._one_thing(older, newer, better, place, rule)

    def _rule(self, new: Said, old: Said, place: int, better: int) -> Rule | None:
        """What is asked of the two, None when they stand too far apart."""
        if self.past:
            return FORMER
        if place >= LOOKED_AT and better >= FROM_AFAR:
            return None
        named = self.names.shared(new, old)
        over = bool(named) and is_over(new, named)
        if place >= LOOKED_AT and not (over and better < FROM_AFAR):
            return None
        if place >= LOOKED_AT_PLAIN and not (named or new.changes):
            return None
        if self.event:
            return GENTLE
        plain = SHORT if not self.speakers and max(len(new.text), len(old.text)) <= SHORT_CHARS else FIRM
        return OVER if over else CHANGED if new.changes else NAMED if named else plain

    def _one_thing(self, older: int, newer: int, better: int, worse: int, rule: Rule) -> bool:
        """Whether two hits that may be compared speak of one thing, the worse one well enough."""
        gap = (self.scores[better] - self.scores[worse]) / self.span
        tokens = self.hits[better].parts.get("tokens", 0.0) - self.hits[worse].parts.get("tokens", 0.0)
        if gap > rule.within or tokens > self.most * rule.tokens:
            return False
        alike = float(self._vector(newer) @ self._vector(older))
        return alike >= rule.alike + rule.more_alike * max(gap, 0.0) and not self._other_thing(self.said[newer], self.said[older])

    def _vector(self, place: int) -> Floats:
        """That of the sentence in it that is nearest to the question; the first hits' are made together."""
        if place not in self.vectors:
            places = range(min(LOOKED_AT, len(self.hits))) if place < LOOKED_AT else (place,)
            made = nearest_sentences(self.question, [self.said[each].text for each in places], self.static)
            self.vectors.update(zip(places, made, strict=True))
        return self.vectors[place]

    def _comparable(self, older: Found, newer: Found) -> bool:
        """Whether one may speak for the other: of two sessions, and of one person as far as that can be seen. Who only asked the
        same before changed nothing."""
        if spaced(newer.text) == self.itself:
            return False
        if (older.session_id or older.id) == (newer.session_id or newer.id):
            return False
        if self.speakers and speaker(older) != speaker(newer):
            return False
        return older.role == newer.role or (newer.role == "user" and older.role == "assistant")

    def _other_thing(self, new: Said, old: Said) -> bool:
        """Whether the newer one has another word where the older one has a word of the question."""
        lost = (old.words & self.asked) - new.words
        if not lost:
            return False
        before = words_before(new.text)
        strange = old.words | self.asked | UNITS
        return any(
            firsts & lost and before.get(second, set()) - strange for second, firsts in words_before(old.text).items()
        )  # fmt: skip

    def _tell(self, place: int, other: int) -> None:
        """Note on both what became of what."""
        newer, older = self.hits[place], self.hits[other]
        # It stands where it does for the sake of what it replaces, or of what replaced it.
        if older.score > newer.score:
            newer.parts["amends" if place >= self.found else "newest"] = older.score - newer.score
            newer.score = older.score
        if self.past:
            newer, older = older, newer
        if not self.tells(newer, older):
            return  # it stands where it does all the same: the newer of two that are alike is the better guess
        newer.note = _with(newer.note, f"replaces what was said on {day_of(older.at)}")
        older.note = _with(older.note, _before(newer))


def _before(newer: Found) -> str:
    return f"{STALE} {day_of(newer.at)}'s change"


def _with(note: str, more: str) -> str:
    return f"{note}; {more}" if note else more
