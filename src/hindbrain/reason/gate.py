"""Statements found in a session -> those of lasting use for working with an agent.

Cues say how something was said; they do not say whether it was about work. "I'm always looking for new music" has the words of a
rule and is none. So the gate asks two more questions: is this session work (an agent that works in a folder, tools were used, the
assistant answers in technical words, or enough of the user's talk is technical), and is this sentence addressed to the agent or
about the work? What somebody asks to be remembered, and how they want to be answered, is for the agent wherever it is said. Of a
session of an exchange or two little can be told, so there a sentence that is not of somebody's own life needs one sign of work.
Talk that is none of this leaves a few plain facts about the person.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Final

from hindbrain.ledger.statement import Said, Statement
from hindbrain.reason.families import tools
from hindbrain.reason.holding import holds_everywhere
from hindbrain.reason.vocabulary import plain
from hindbrain.reason.work_words import STRONG, WEAK

LEAST_WORK: Final = 0.3  # of what people said, for a session without tools to be work
PLAINLY_WORK: Final = 0.6  # for what is kept by its form alone
TECHNICAL_REPLIES: Final = 0.045  # weight of technical words for each word that the assistant says, where it is about work
MOST_PERSONAL: Final = 3  # statements of a session that is not work
PERSONAL_CONFIDENCE: Final = 0.5
SHORT: Final = 2  # turns of a user in a session that tells little of what it is
LOOKED_AT_CHARS: Final = 2_000  # of a turn
LEAST_STEM: Final = 5
_WISH_CHARS: Final = 60  # before a statement, that may ask to remember it
GUESSED: Final = 0.5  # how sure a kind is that nothing but the form of a clause gives: good enough where people work
STRONG_WEIGHT: Final = 3  # of a mark or a word that is said of hardly anything but work

_WORD: Final = re.compile(r"[^\W\d_]+")
# A path, a file, a name of a program's own, a flag, a version, an acronym: nobody talks so of anything but work.
_MARKS: Final = re.compile(
    r"`[^`\n]+`|\b\w+[_/]\w+[_/.]\w|\b\w+\.(?:py|js|ts|tsx|go|rs|java|rb|sh|sql|md|ya?ml|toml|json|html|css|c|h|cpp"
    r"|cs|php|lock|env)\b"
    r"|\b[a-z]+[A-Z][a-z]+\w*|\b\w+_\w+|(?<!\w)--[a-z]|\bv?\d+\.\d+\.\d+|\b\w+\(\)"
    r"|\b(?:API|SQL|CI|CD|PR|MR|DB|UI|CLI|JWT|SSO|VPN|DNS|TLS|AWS|GCP|S3|QA|LTS|CORS|CDN|GPU|CPU|RAM|ORM|SLA|SLO"
    r"|TTL|UTC|LLM|OS)s?\b"
)
_SPEAKER: Final = re.compile(
    r"(?!(?:Remember|Note|Important|Reminder|Rule|Todo|TODO|FYI|Decision|Fact|Merk dir|Notiz|Wichtig|Hinweis|Recuerda|Nota|Apunta"
    r"|Importante|Ojo): )[A-ZÄÖÜ][\w'’-]{1,20}(?: [A-ZÄÖÜ][\w'’-]{1,20})?: "
)
_SOCIAL: Final = re.compile(
    r"(?:thanks|thank you|thx|wow|congrat\w*|awesome|amazing|cool|nice|great (?:job|work|idea)|good (?:job|luck|morning|night)"
    r"|hi|hello|hey|yeah|yep|aww?|haha\w*|lol|no worries|no problem|you're welcome|absolutely|totally|exactly|same here"
    r"|that's (?:so |really |a )?(?:great|awesome|amazing|cool|nice|sweet|beautiful|wonderful|good)|sounds (?:great|good|awesome)"
    r"|i (?:totally|completely) agree|i (?:really )?(?:like|love) (?:the .{0,40}\b(?:ideas?|options?|suggest\w+"
    r"|sample|variety)|th(?:at|ose|ese|is))"
    r"|danke\w*|super|klasse|gracias|genial|qué bien)\b", re.IGNORECASE,
)  # fmt: skip
_SHARED: Final = re.compile(r"\[[^\]]*(?:photo|image|picture|video|shares?)[^\]]*\]", re.IGNORECASE)
# Somebody is told what to do, from now on or in every case.
_DIRECTED: Final = re.compile(
    r"^(?:(?:and|also|but|so|then|ok|okay|please|bitte|por favor|und|y)[, ]+){0,3}(?:"
    r"(?:please )?(?:always|never|don['’]?t|do not|only|avoid|prefer|make sure|ensure|remember to|stop|keep|use"
    r"|call me|answer|reply"
    r"|respond|write|speak|ask|run|add|leave|mention|include|explain|give|put|format|sign|name|start|end|check)\b"
    r"|from now on|going forward|in (?:the )?future|by default|whenever|every time|each time"
    r"|no (?:more )?\w+ (?:without|unless|before)"
    r"|(?:you|we|all|every|any|each|no|nobody|commits?|branches|tests?|code|files?)\b[^.]{0,60}\b(?:should|must|have to|need to"
    r"|has to|may not|can(?:not|'t)|always|never|only|shall)\b"
    r"|immer|nie(?:mals)?|ab (?:jetzt|sofort)|künftig|bitte|kein\w*|nicht|siempre|nunca|a partir de ahora"
    r"|no |desde ahora|usa|responde)",
    re.IGNORECASE,
)
_ABOUT_ONESELF: Final = re.compile(
    r"\b(?:i|he|she|they|it|that|this|you)(?:['’](?:m|ve|s|re|d)| am| have| is| was| has| had| were| are)? (?:just "
    r"|really |also )?"
    r"(?:always|never)\b(?! (?:want|use|deploy|push|merge|commit|run|write|touch|need))|\bmust(?:'ve| have| be)\b"
    r"|\bnever[- ]ending\b"
    r"|\bnever (?:give up|stop|gave|been|done|seen|had|started)\b|\balways (?:been|looking|on the lookout|wanted|loved|support\w*"
    r"|remember\w*|there)\b|\blooking forward\b|^i(?:'d| would) like to\b", re.IGNORECASE,
)  # fmt: skip
_OF_A_PERSON: Final = re.compile(
    r"\b(?:i|my|mine|we|our)\b.*\b(?:live|lives|work|works|am|is|are|have|own|prefer|like|hate|love|usually|always|never|allergic"
    r"|vegetarian|born|moved|married|speak|play|run|train|drive|named|called)\b|\bprefer\b", re.IGNORECASE,
)  # fmt: skip
_FEELING: Final = re.compile(
    r"\b(?:so|really|truly|super|absolutely|such a|how)\b|!|\b(?:appreciate|grateful|thankful|blessing|inspir\w+"
    r"|beautiful|amazing"
    r"|awesome|excited|happy|proud|glad|lovely|cozy|reminds?|means a lot|the idea of)\b", re.IGNORECASE,
)  # fmt: skip
# A choice of several people, or one that is told to somebody: hardly of a private life.
_OURS: Final = re.compile(
    r"^(?:(?:ok|okay|so|and|no|also|then)[, ]+){0,2}(?:we|let['’]s|our|use|switch|drop|go with|wir|unser\w*|nimm|usamos|vamos)\b",
    re.IGNORECASE,
)
# What somebody tells of their own life: no choice for the work, whatever its words.
_TELLS_OF_ONESELF: Final = re.compile(
    r"(?:by the way,? |also,? |actually,? |recently,? ){0,3}i(?:['’]ve| have| just| recently| did| got| am|['’]m| was| had)\b",
    re.IGNORECASE,
)


# The agent is asked to keep something, in so many words. "I remember that" and "remember when" ask for nothing.
_WISHED: Final = re.compile(
    r"(?:^|[.!?;:,–—-]\s+|\n\s*)(?:(?:please|pls|and|also|btw|so|ok|okay|bitte|und|por favor|y|oye)[, ]+){0,2}(?:"
    r"(?:please )?remember(?:(?: that)?(?= (?:we|the|our|all|every|to (?:always|never)))|:|, )|remind me (?:to|that|about|of)\b"
    r"|(?:take a )?note(?: that\b|:| to self\b)|keep in mind(?: that|:|,)|make a note\b|for the record\b|don['’]t forget that "
    r"|merk(?:e)? dir\b|denk(?:e)? (?:bitte )?(?:dran|daran)\b|erinner(?:e)? mich\b|notier(?:e)?\b|vergiss nicht\b"
    r"|recuerda(?: que\b|:)|recuérdame\b|acuérdate de\b|ten en cuenta\b|apunta(?: que\b|:)|anota(?: que\b|:)|no olvides\b"
    r")[^.!?\n]{0,40}$", re.IGNORECASE,
)  # fmt: skip
# Said from now on, of what is not one's own life.
_HENCEFORTH: Final = re.compile(
    r"\b(?:from now on|from here on|going forward|as of (?:today|now)|ab (?:jetzt|sofort|heute)|künftig|a partir de (?:ahora|hoy)"
    r"|de ahora en adelante|desde ahora)\b", re.IGNORECASE,
)  # fmt: skip
# How one wants to be answered, in forms that say it of answers alone.
_ANSWERED: Final = re.compile(
    r"\b(?:kürzere|knappere|kurze|knappe|längere|ausführliche(?:re)?) (?:antworten|erklärungen|zusammenfassungen)\b"
    r"|\b(?:respuestas|explicaciones) (?:más )?(?:cortas|breves|concisas|largas|directas)\b"
    r"|\b(?:shorter|short|brief|concise|longer|direct) (?:answers|replies|responses|explanations|summaries)\b"
    r"|\b(?:comments?|emojis?|docstrings?) (?:to|in) (?:the|your|my) (?:code|answers|replies)\b", re.IGNORECASE,
)  # fmt: skip
# Of somebody's own life, whatever else is named.
_PRIVATE: Final = re.compile(
    r"\b(?:i|me|my|mine|i['’]\w+|he|she|his|her|him|they|their|ich|mich|mir|meine?[rmns]?|er|sie|ihre?[rmns]?|yo|mi|mis|él|ella|sus?"
    r"|birthday|wedding|dinner|lunch|kids?|mom|mum|dad|wife|husband|sister|brother|friends?|trip|holiday|vacation|recipe|movie|song"
    r"|geburtstag|hochzeit|urlaub|kinder|mutter|vater|freund\w*|cumpleaños|boda|vacaciones|niños|madre|padre|amig[oa]s?)\b",
    re.IGNORECASE,
)  # fmt: skip
_NAMED: Final = re.compile(r"\b[A-Z][a-z]+[A-Z]\w*|\b[A-Z]{2,5}s?\b|\b\d+(?:[.,]\d+)? ?(?:MB|GB|KB|TB|ms|kb|mb)\b|\biOS\b")

_OWN: Final = re.compile(r"(?:for example,? |speaking of \w+,? |since |and |so )?(?:my|i|i['’]\w+)\b", re.IGNORECASE)


def passed(statements: Sequence[Statement], turns: Sequence[Said], *, working: bool = False) -> list[Statement]:
    """The statements in their order, without those that only sound like one. working: said to an agent that works in a folder."""
    said = {turn.id: turn for turn in turns}
    people = _people_talk(turns)
    used = any(turn.tool or turn.role.startswith("tool") for turn in turns)
    share = 1.0 if working or used or _replies_are_technical(turns) else _share_of_work(turns)
    work, plainly = share >= LEAST_WORK, share >= PLAINLY_WORK and not people
    short = not people and sum(turn.role == "user" and bool(turn.text.strip()) for turn in turns) <= SHORT
    personal = 0
    kept = []
    for each in statements:
        if _is_social(each, people):
            continue
        if not people and (_is_for_the_agent(each, said) or (short and not work and _hints_at_work(each))):
            kept.append(each)
        elif each.confidence <= GUESSED and not plainly:
            continue
        elif (work and not people) or _is_about_work(each, said, people):
            if each.kind != "instruction" or not _describes(each):
                kept.append(each)
        elif each.kind == "instruction" and not people and _DIRECTED.search(each.text) and not _describes(each):
            kept.append(each)
        elif personal < MOST_PERSONAL and not people and _is_personal(each):
            personal += 1
            kept.append(dataclasses.replace(each, confidence=min(each.confidence, PERSONAL_CONFIDENCE)))
    return kept


def _is_for_the_agent(each: Statement, said: Mapping[str, Said]) -> bool:
    """Whether somebody asks that it be remembered, or says how they want to be answered."""
    if each.kind in ("preference", "instruction") and (holds_everywhere(each.kind, each.text) or _ANSWERED.search(each.text)):
        return not _FEELING.search(each.text)
    turn = said.get(each.turns[0])
    if turn is None or turn.role != "user":
        return False
    at = turn.text.find(each.quote)
    before = turn.text[max(0, at - _WISH_CHARS) : at] if at > 0 else ""
    return any(_WISHED.search(text) for text in (before, f"{before}{_head(each.quote)}"))


def _head(quote: str) -> str:
    """The first words of a quote, which may hold the wish themselves."""
    return " ".join(quote.split()[:4])


def _hints_at_work(each: Statement) -> bool:
    """Whether one sign of work is in it and nothing of somebody's own life: enough where hardly anything else is said."""
    if each.kind in ("preference", "lesson") or _PRIVATE.search(each.text) or _FEELING.search(each.text):
        return False
    if _HENCEFORTH.search(each.text) or _NAMED.search(each.text) or tools(plain(each.text)):
        return True
    least = 1 if each.confidence > GUESSED else 2
    return _technical(each.text) + _plurals(each.text) >= least


def _plurals(text: str) -> int:
    """What the words of work weigh that stand in the plural: they are too short to be known by their beginning."""
    words = {word for word in _WORD.findall(text[:LOOKED_AT_CHARS].lower()) if not _weight(word) and word.endswith("s")}
    return sum(_weight(word.removesuffix("s")) for word in words)


def tells_of_oneself(text: str) -> bool:
    """Whether somebody speaks of their own days, with no word of work."""
    return bool(_TELLS_OF_ONESELF.match(text) or _OWN.match(text)) and _technical(text) < STRONG_WEIGHT


def _is_about_work(each: Statement, said: Mapping[str, Said], people: bool) -> bool:
    """Whether a statement is about work though its session is not."""
    strength = _technical(each.text)
    ours = each.kind in ("decision", "correction", "instruction") and _OURS.search(each.text)
    if ours and not people and not _FEELING.search(each.text):
        return True
    if people or (each.kind not in ("fact", "preference") and _TELLS_OF_ONESELF.match(each.text)):
        return strength >= STRONG_WEIGHT
    return strength >= 2 or (strength > 0 and _is_technical_turn(each, said))


def is_technical(text: str) -> bool:
    """Whether a text has marks of work, a word that is said of hardly anything else, or two that often are."""
    return _technical(text) >= 2


def _technical(text: str) -> int:
    head = text[:LOOKED_AT_CHARS]
    words = set(_WORD.findall(head.lower()))
    marks = STRONG_WEIGHT * bool(_MARKS.search(head))
    return marks + sum(map(_weight, words))


@lru_cache(20_000)
def _weight(word: str) -> int:
    return STRONG_WEIGHT * _among(word, STRONG) or int(_among(word, WEAK))


def _among(word: str, known: Collection[str]) -> bool:
    return word in known or any(word[:length] in known for length in range(LEAST_STEM, min(len(word), 10) + 1))


def _share_of_work(turns: Sequence[Said]) -> float:
    own = [turn for turn in turns if turn.role == "user" and turn.text.strip()]
    return sum(_technical(turn.text) >= STRONG_WEIGHT for turn in own) / len(own) if own else 0.0


def _replies_are_technical(turns: Sequence[Said]) -> bool:
    replies = [turn.text[:LOOKED_AT_CHARS] for turn in turns if turn.role == "assistant"]
    words = sum(len(text.split()) for text in replies)
    return words > 0 and sum(map(_technical, replies)) >= TECHNICAL_REPLIES * words


def _people_talk(turns: Sequence[Said]) -> bool:
    """Whether people talk with each other: what is said begins with who says it."""
    own = [turn for turn in turns if turn.role in ("user", "assistant") and turn.text.strip()]
    return bool(own) and 2 * sum(bool(_SPEAKER.match(turn.text)) for turn in own) > len(own)


def _is_technical_turn(each: Statement, said: Mapping[str, Said]) -> bool:
    turn = said.get(each.turns[0])
    return turn is not None and turn.role == "user" and len(turn.text) < 400 and is_technical(turn.text)


def _is_social(each: Statement, people: bool) -> bool:
    """Thanks, compliments, photos: nothing to keep, whatever their words are, unless something is said beside it."""
    text = _SPEAKER.sub("", each.text, count=1) if people else each.text
    if _SHARED.search(text):
        return True
    match = _SOCIAL.match(text.strip())
    return match is not None and not is_technical(text[match.end() :])


def _describes(each: Statement) -> bool:
    """Whether a supposed rule only says how somebody is."""
    return bool(_ABOUT_ONESELF.search(each.text)) and not is_technical(each.text)


def _is_personal(each: Statement) -> bool:
    return each.kind in ("fact", "preference") and bool(_OF_A_PERSON.search(each.text)) and not _FEELING.search(each.text)
