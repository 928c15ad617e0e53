"""An agent's reply -> what it proposes, and what it offers to choose from.

A proposal is what the agent would do if it were asked: "I'd go for", "my suggestion is", "ich würde", "propongo". Options are
numbered or lettered, or two parts of a question with "or" between them. Advice in general, steps of the work at hand and
guesses are neither. A way is what the agent concludes or says could be done, without proposing it: to agree to that takes more
than a yes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from hindbrain.reason.causes import any_of, is_sure
from hindbrain.reason.own_words import BLANK, own
from hindbrain.reason.prose import Sentence, sentences

_PROPOSES: Final = any_of(
    r"\b(?:I'd|I would|we should|let's)(?: (?:strongly|personally|probably|rather|simply|just|therefore|still|definitely|"
    r"actually|then|not))?(?:: |(?= [a-z]))",
    r"\b(?:my|the|one) (?:proposal|suggestion|recommendation|preference|vote|plan|pick|advice)(?: here| then|"
    r" for \w{2,20})?(?: is| would be|:)\s?(?:to )?",
    r"^(?:proposal|suggestion|recommendation|plan|proposed \w{2,20}):\s?|\bI (?:propose|suggest|recommend|advise)(?: that| to|"
    r" we)?\s?:?",
    r"(?:^|\b(?:the|a|much|probably) )(?:best|better|clean(?:est|er)|simpl(?:est|er)|saf(?:est|er)|easi(?:est|er)|"
    r"most \w{4,14})(?: \w{2,12}){0,3}?"
    r"(?: is| would be|:)(?: to)?\s",
    r"\bI(?:'m| am) (?:leaning|inclined|all for|for)(?: to| towards?)?\s|\bI (?:lean|tend|vote|favou?r)(?: to| towards?|"
    r" for)?\s|\bmy (?:take|choice)(?: is|:)\s",
    r"\bit (?:would|'d) be (?:best|better|cleaner|safer|simpler|wise) to\b|\bit (?:makes|would make)(?: more)? sense to\b",
    r"\b(?:besser|sinnvoll(?:er)?|sauberer|einfacher|sicherer|am \w{4,14}sten)(?: wäre| ist| wären)(?: es)?\b,?|\bich (?:wäre|"
    r"bin) (?:da)?für\b|"
    r"\bich tendiere zu\b|\bmein rat\b:?|\blass(?:t|en)? uns\b|\bes bietet sich an\b,?",
    r"\b(?:conviene|convendría|sería (?:mejor|preferible)|lo (?:mejor|más \w{4,14}|suyo|ideal) (?:es|sería|está en)|"
    r"te propongo)\b:?",
    r"\b(?:ich würde|würde ich|wir sollten)\b|\b(?:mein )?vorschlag(?: wäre| ist|:)?\s?:?|\bich schlage [^.\n]{0,30}vor\b:?",
    r"\b(?:ich empfehle|meine empfehlung(?: ist| wäre|:)?|am besten|am sinnvollsten)\b:?",
    r"^(?:(?:entonces|pues|así que|en ese caso|yo)[, ]+){0,2}(?:l[oa]s? |me )?(?!(?:ser|estar|habr|podr|tendr|"
    r"deber)ía)[a-zá-ú]{1,14}ría\b|"
    r"\byo (?:l[oa]s? |me )?[a-zá-ú]{1,14}ría\b",
    r"\b(?:mi |la )?(?:propuesta|sugerencia|recomendación)(?: es| sería|:)?\s?:?|\b(?:propongo|sugiero|recomiendo|recomendaría|"
    r"lo mejor (?:es|sería))\b:?",
)
_OPENING: Final = re.compile(
    r"(?:(?:suggest|propose|recommend)(?: that| to| we)? )?"
    r"(?:(?:(?:do |make |handle |solve )?(?:it |that |this )?(?:the following|as follows|like this|this way|this)|"
    r"(?:es |das )?(?:so|folgendes|folgendermaßen)(?: machen| vorgehen| lösen)?|lo siguiente|así|"
    r"esto): )?\*{0,2}", re.IGNORECASE)  # fmt: skip
# A step of the work at hand, an opinion or a guess: nothing that could be decided for the project.
_STEP: Final = (
    r"start(?! with an?\b)|begin|look|check|run|try|test|read|open|ask|wait|measure|verify|compare|label|rerun|commit|push|"
    r"close|merge|guess|"
    r"say|expect|need|be|love|like|"
    r"hate|know|assume|think|appreciate|happily|revisit|leave it|leave that|do that|do it later|see|add a comment|ping|file|"
    r"note|mention|keep away|be happy"
)
_ROUTINE: Final = any_of(
    rf"\b(?:I'd|I would|suggest|recommend|propose|let's|should)(?: (?:to|we|you|first|that|then|just|also|probably|"
    rf"rather))* (?:{_STEP})\b",
    r"\b(?:suggest|recommend|propose)(?: (?:first|then))? (?:running|trying|testing|reading|starting|measuring|waiting|holding|"
    r"reviewing|looking|checking)\b",
    r"\bwürde\b[^.\n]{0,60}\b(?:anfangen|schauen|prüfen|testen|warten|messen|nachsehen|vermuten|sagen|ansehen|probieren|"
    r"laufen lassen|greifen)\b",
    r"\b(?:empezaría|miraría|probaría|diría|mediría|esperaría)\b",
)
_GENERAL: Final = any_of(  # and what is for today alone, or changes nothing
    r"\b(?:today|tonight|heute|hoy)\b|\b(?:as (?:it )?is|como está|so lassen)(?=[.,;]|$)",
    r"\b(?:in general|generally|as a rule|normally|im allgemeinen|grundsätzlich|en general|por lo general|normalmente)\b",
)
_SHALL_WE: Final = any_of(
    r"(?:so |then |and )?(?:should|shall) we |(?:also )?sollt?en wir |(?:so )?how about |why not |what if we |(?:could|"
    r"can) we |wie wär(?:e|'s)? es mit "
    r"|wie wär'?s mit ",
    r"¿?(?:y )?(?:qué tal |si |qué te parece si |deberíamos |lo dejamos en |nos quedamos con )",
)
_OTHER: Final = any_of(
    r"^(?:alternatively|the alternative|an alternative|or\b|another (?:option|way|possibility)|the other (?:option|way)|"
    r"otherwise|you could alternatively)",
    r"^(?:alternativ|die alternative|oder\b|eine andere|man könnte (?:auch|alternativ)|la (?:otra )?alternativa|otra (?:opción|"
    r"posibilidad|alternativa)|o bien\b)",
)
_CONCLUDES: Final = any_of(
    r"^(?:(?:ok(?:ay)?|right|good|fine|gut|bien|vale)[,.] )?(?:so|then|in that case|that means|meaning|dann|also|das heißt|"
    r"das hieße|in dem fall|"
    r"entonces|así que|en ese caso|o sea)\b[,:]? (?!(?:I|I'll|I've|you|let|ich|du|ihr|voy|he)\b)",
)
_POSSIBLE: Final = any_of(
    r"^(?!I\b|you\b|it\b|that\b)[^.;]{2,80}? (?:could|would|can) (?:be \w{2,20}(?:ed|t|n)|run|use|take|go|live|stay|get)\b|"
    r"^[A-Z][a-z]{2,14}ing [^.;]{5,120}? (?:keeps?|gives?|makes?|avoids?|saves?|lets?|would)\b",
    r"\b(?:könnten?|würden?) [^.;]{2,120} (?:werden|laufen|liegen|bleiben)\b|\b(?:we|you|one) could (?!have\b|see\b|"
    r"not\b)[^?]*$|\b(?:wir|man) könnten? \w|"
    r"\b(?:podr(?:ía|ían|íamos)|se puede) \w{3,20}r\b|\b[a-zá-ú]{2,14}rían?\b",
)
_ASKS_FOR_YES: Final = any_of(  # a question that what was proposed answers
    r"^¿?\w+(?: \w+)?\?$|\b(?:that|it|this|so|das|es|eso|así)\b|\b(?:ok(?:ay)?|agreed|deal|fine|good|einverstanden|recht|passt|"
    r"vale|parece|acuerdo|thoughts)\b",
)
_MARKED: Final = any_of(
    r"(?:^|(?<=[\s,;:]))(?:[(]?(?P<sign>[a-e]|[1-5])\)|(?P<number>[1-5])\.(?=\s)|(?P<letter>[a-e]):(?=\s)|"
    r"(?:\*\*)?(?:option|variante?|opción|plan) (?P<named>[a-e]|[1-5])(?:\*\*)?\s?[:–—.-]?)\s{1,4}(?:is |wäre |sería )?",
)
_OR: Final = any_of(r",? (?:or|oder|o bien|or rather|or else|o) ")
_REASON: Final = any_of(r"(?:,? (?:since|because|so that|as this|which keeps|weil|damit|denn|porque|ya que|así)\b|: (?=(?:the|"
                        r"it|that|this|das|es)\b))"
                        r"\s?(?P<why>.{6,200})")  # fmt: skip
_SHORT_QUESTION: Final = 6  # words
_FEWEST: Final = 5  # words of a way
_LAST: Final = 3  # sentences among which a way is sought
_LEAD: Final = 3  # words before what proposes that say nothing themselves


@dataclass(frozen=True, slots=True)
class Offer:
    """Something a reply can agree to: where it stands, and what it says without the words that propose it."""

    start: int
    end: int
    text: str
    why: str = ""
    asked: bool = False  # put as a question


@dataclass(frozen=True, slots=True)
class Offered:
    """What a reply of the agent puts up for agreement."""

    proposal: Offer | None
    options: tuple[Offer, ...]
    other: str = ""  # the alternative that was not proposed
    way: Offer | None = None  # what the agent concludes or says could be done


def offered(text: str) -> Offered:
    """What is proposed in this reply of the agent: its last clear proposal, and its options in order."""
    said = spoken(text)
    proposals = [offer for offer in map(_proposal, said) if offer]
    proposal = proposals[-1] if proposals else None
    others = [sentence for sentence in said if _OTHER.match(sentence.text)]
    options = _options(text) or _either(said) or _with_other(proposal, others)
    asks = bool(said) and said[-1].text.endswith("?") and not _is_short_question(said[-1].text)
    if asks and not (proposal and proposal.end == said[-1].end):
        proposal, said = None, []  # the answer is for the question
    return Offered(proposal, options, others[0].text if others else "", _way(said))


def _is_short_question(text: str) -> bool:
    """Whether it only asks for a yes to what stands before it."""
    return len(text.split()) <= _SHORT_QUESTION and _ASKS_FOR_YES.search(text) is not None


def _way(said: list[Sentence]) -> Offer | None:
    """Among the last sentences, a conclusion or what could be done."""
    stated = [each for each in said[-_LAST:] if not each.text.endswith("?") and not _OTHER.match(each.text)]
    last = [each for each in stated if len(each.text.split()) >= _FEWEST]
    for form in (_CONCLUDES, _POSSIBLE):
        for sentence in reversed(last):
            found = form.search(sentence.text)
            if found and (is_sure(sentence.text) or form is _POSSIBLE):
                return Offer(sentence.start, sentence.end, sentence.text[found.end() if form is _CONCLUDES else 0:])
    return None


def spoken(text: str) -> list[Sentence]:
    """The agent's sentences without what it quotes: drafts of mails, pages, messages."""
    return sentences(own(text).replace(BLANK, "\n"))


def phrased(sentence: Sentence) -> Offer:
    """A sentence as something to agree to: without the words that propose it, where it has such."""
    return _proposal(sentence) or Offer(sentence.start, sentence.end, sentence.text)


def _proposal(sentence: Sentence) -> Offer | None:
    found = _PROPOSES.search(sentence.text)
    if sentence.text.endswith("?"):
        return _question(sentence)
    if not found or _ROUTINE.search(sentence.text) or _GENERAL.search(sentence.text) or _OTHER.match(sentence.text):
        return None
    lead = len(sentence.text[:found.start()].split())
    said = sentence.text[found.end():] if lead <= _LEAD else sentence.text
    said = _OPENING.sub("", said.lstrip(" :*"), count=1)
    if len(said.split()) < 2:
        return None
    why = _REASON.search(said)
    return Offer(sentence.start, sentence.end, said, why.group("why").rstrip(". ") if why else "")


def _question(sentence: Sentence) -> Offer | None:
    """A choice put as a question: "should we keep X?". What the agent offers to do next is none, nor is "X or Y?"."""
    found = _SHALL_WE.match(sentence.text)
    said = sentence.text[found.end():].rstrip("? ") if found else ""
    return Offer(sentence.start, sentence.end, said, asked=True) if len(said.split()) > 1 and not _OR.search(said) else None


def _with_other(proposal: Offer | None, others: list[Sentence]) -> tuple[Offer, ...]:
    if not proposal or not others:
        return ()
    both = [proposal, *(Offer(sentence.start, sentence.end, sentence.text) for sentence in others)]
    return tuple(sorted(both, key=lambda offer: offer.start))


def _options(text: str) -> tuple[Offer, ...]:
    """Lettered or numbered options, as long as they are in order from the first."""
    found: list[tuple[int, int]] = []
    for mark in _MARKED.finditer(text[:20_000]):
        sign = (mark.group("sign") or mark.group("number") or mark.group("letter") or mark.group("named")).lower()
        place = "abcde".find(sign) if sign.isalpha() else int(sign) - 1
        if place == len(found):
            found.append(mark.span())
    if len(found) < 2:
        return ()
    ends = [start for start, _ in found[1:]] + [len(text)]
    return tuple(_option(text, start, min(end, start + 300)) for (_, start), end in zip(found, ends, strict=True))


def _option(text: str, start: int, end: int) -> Offer:
    stop = re.search(r"\n|[.](?:\s|$)|;\s", text[start:end])
    piece = text[start:start + stop.start() if stop and stop.start() > 2 else end].rstrip(" ,;\n")
    return Offer(start, start + len(piece), piece.strip(" ,;*"))


def _either(said: list[Sentence]) -> tuple[Offer, ...]:
    """The two sides of the last question that has an "or" in it."""
    for sentence in reversed(said):
        parts = list(_OR.finditer(sentence.text))
        if sentence.text.endswith("?") and len(parts) == 1:
            return tuple(_sides(sentence, parts[0]))
    return ()


def _sides(sentence: Sentence, middle: re.Match[str]) -> Iterator[Offer]:
    before, after = sentence.text[:middle.start()], sentence.text[middle.end():].rstrip("? ")
    yield Offer(sentence.start, sentence.start + len(before), before)
    yield Offer(sentence.start + middle.end(), sentence.start + middle.end() + len(after), after)
