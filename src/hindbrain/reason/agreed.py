"""Turns -> what the agent put forward and the user agreed to, and the few lasting things the agent itself established.

A decision needs two: the agent's words say what, the user's next words say yes. The agent's turn is quoted, both are
evidence, and since the person agreed the person vouches for it. What the agent merely states is kept where it is plainly
about the project, and counts for less.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.assent import assented
from hindbrain.reason.causes import any_of, is_sure
from hindbrain.reason.established import established, reports
from hindbrain.reason.forms import WORD
from hindbrain.reason.habits import habits
from hindbrain.reason.offers import Offer, Offered, offered, spoken
from hindbrain.reason.own_words import own
from hindbrain.reason.prose import plain
from hindbrain.reason.replies import Reply, reply
from hindbrain.recall.words import STOP_WORDS

_SURE: Final = 0.85
_LIKELY: Final = 0.75  # told by weights
_QUOTE: Final = 300
_FEWEST: Final = 6  # words of a sentence that lays out a way
_MUCH: Final = 8  # words of a proposal to which a mere yes is enough
_LEAD: Final = 12  # letters before a colon that only open the sentence
_TAIL: Final = 200  # letters at the end of the user's message that ask
_ASKED_HOW: Final = any_of(r"\b(?:how|what about|what if|would you|could (?:we|you)|wie|was ist mit|was wäre|cómo|qué tal|"
                           r"y si)\b", r"\?\s*$", r"\.\.\.\s*$")
_ADDED: Final = 4  # words with which a pick says more than which one
_REMEMBERED: Final = 3  # messages of the user for which options stay on the table
_NONE: Final = Offered(None, ())
_REST: Final = 2  # words a weak yes may go on for and still be no more than a yes
_TELLING: Final = 4  # letters of a word that is enough to tell what is meant
_FOR_WHAT: Final = any_of(
    r"\b(?:for|für|para) (?:the |our |my |die |den |das |unsere? |unseren |el |la |los |las |nuestr[oa]s? )?"
    r"((?!(?:it|this|that|them|now|us|me|example|das|es|uns|mich|eso|esto|nosotros)\b)[\w-]{3,30}(?: [\w-]{3,30}){0,2})\s*\?"
)
_SAYS_FOR: Final = any_of(r"\b(?:for|für|para|in|im|en) (?!now\b|us\b)\w")
_NOBODY: Final = Said("", "user", "")
_COURTESY: Final = frozenset(("thanks", "thx", "ty", "thank", "danke", "gracias", "merci"))


def agreed(turns: Sequence[Said]) -> list[Statement]:
    """Decisions by agreement, then facts and procedures the agent established, in the order of the turns."""
    found = [*established(turns), *habits(turns)]
    agent, asked = -1, _NOBODY
    choices: deque[tuple[int, Offered]] = deque(maxlen=_REMEMBERED)  # by message of the user, what could be chosen from
    for number, turn in enumerate(turns):
        if turn.role == "assistant" and turn.text.strip():
            agent = number
        elif turn.role == "user":
            choices.append((agent, offered(turns[agent].text) if agent >= 0 else _NONE))
            found += _decision(turns, choices, turn, asked) or _assented(turns, agent, number)
            agent, asked = -1, turn
    return [statement for _, statement in sorted(found, key=lambda pair: pair[0])]


def _decision(turns: Sequence[Said], choices: deque[tuple[int, Offered]], user: Said, asked: Said) -> list[tuple[int, Statement]]:
    """What this message agrees to. A pick may go back to options a question or two ago; a yes is for what was said last."""
    answer = reply(user.text)
    number, put = choices[-1]
    if answer.pick is not None and not put.options and not put.proposal:
        number, put = next(((place, each) for place, each in reversed(choices) if each.options), (number, put))
    if not answer.yes or number < 0:
        return []
    agent = turns[number]
    subject = _subject(asked.text) if number == choices[-1][0] else ""
    offer = _chosen(put, answer) or _asked_for(agent, asked.text, answer) or _concluded(put, answer)
    if offer is None:
        return []
    choices.clear()  # what was decided is not decided once more by the next letter
    quote = agent.text[offer.start:offer.end][:_QUOTE]
    other = put.other if put.proposal is offer else ""
    said = _stand_alone(offer.text)
    about = f"{subject}: " if subject and _lacks(said, subject) else ""
    evidence = (agent.id, asked.id, user.id) if about else (agent.id, user.id)
    said = f"{about}{said}"
    text = f"{said}; {plain(answer.rest)}" if answer.pick is not None and len(answer.rest.split()) >= _ADDED else said
    return [(number, Statement("decision", text, evidence, quote, _SURE, "user",
                               why=plain(offer.why), instead_of=plain(other)))]  # fmt: skip


def _subject(asked: str) -> str:
    """What a user's question is about, where it says so: "should we use Redis for sessions?"."""
    found = _FOR_WHAT.search(own(asked)[-_TAIL:])
    return plain(found[1]) if found else ""


def _lacks(said: str, subject: str) -> bool:
    """Whether a few words do not say what they are for."""
    words = set(WORD.findall(said.lower()))
    told = any(word in words for word in WORD.findall(subject.lower()) if word not in STOP_WORDS)
    return not told and len(said.split()) <= _MUCH and not _SAYS_FOR.search(said)


def _assented(turns: Sequence[Said], agent: int, user: int) -> list[tuple[int, Statement]]:
    """What this message agrees to in words that no rule knows."""
    if agent < 0:
        return []
    after = next((turn.text for turn in turns[user + 1 : user + 3] if turn.role == "assistant"), "")
    offer = assented(turns[agent].text, turns[user].text, after)
    if offer is None:
        return []
    quote = turns[agent].text[offer.start:offer.end][:_QUOTE]
    evidence = (turns[agent].id, turns[user].id)
    return [(agent, Statement("decision", _stand_alone(offer.text), evidence, quote, _LIKELY, "user", why=plain(offer.why)))]


def _chosen(put: Offered, answer: Reply) -> Offer | None:
    if answer.pick is not None:
        if put.options:
            return put.options[answer.pick] if answer.pick < len(put.options) else None
        named = put.proposal and f"({'abcde'[answer.pick]})" in put.proposal.text.lower()
        return put.proposal if answer.pick == 0 or named else None
    if put.proposal and (answer.strong or _is_only_yes(answer, put.proposal)):
        said_much = len(put.proposal.text.split()) >= _MUCH or put.proposal.asked
        return put.proposal if said_much or _says_more(answer, put.proposal) else None
    return None


def _concluded(put: Offered, answer: Reply) -> Offer | None:
    """What was not put forward is agreed to in plain words, not by a mere yes."""
    if not put.way or put.proposal or answer.pick is not None or reports(put.way.text):
        return None
    return put.way if _says_more(answer, put.way) else None


def _says_more(answer: Reply, offer: Offer) -> bool:
    """Whether it is more than a yes: it judges, tells to go on, or takes up a word of what it is for."""
    theirs = set(WORD.findall(offer.text.lower())) - STOP_WORDS
    return answer.like_that or answer.judges or (answer.strong and any(
        len(word) >= _TELLING and word in theirs for word in WORD.findall(answer.said.lower())))


def _is_only_yes(answer: Reply, proposal: Offer) -> bool:
    """A mere "ok" agrees where nothing of its own follows, or what follows is about the proposal."""
    words = [word.strip(".,:;!") for word in answer.rest.lower().split()]
    if any(word in _COURTESY for word in words):
        return False
    return len(words) <= _REST or any(len(word) > _TELLING and word in proposal.text.lower() for word in words)


def _asked_for(agent: Said, asked: str, answer: Reply) -> Offer | None:
    """How the agent says something would be done, when it was asked how and told to go ahead like that."""
    if answer.pick is not None or not answer.like_that or not _ASKED_HOW.search(own(asked)[-_TAIL:]):
        return None
    for sentence in spoken(agent.text)[:2]:
        if is_sure(sentence.text) and not reports(sentence.text) and len(sentence.text.split()) >= _FEWEST:
            lead = sentence.text.find(": ")
            return Offer(sentence.start, sentence.end, sentence.text[lead + 2:] if 0 < lead < _LEAD else sentence.text)
    return None


def _stand_alone(text: str) -> str:
    said = plain(text).rstrip(" .,;:")
    return said[:1].upper() + said[1:]
