"""A sentence of an answer, what it cites, and the question -> why the evidence does not say it, or nothing.

A citation proves nothing: the sentence itself is held against the words it cites. Every name and number in it has to stand there,
most of its words too, and it must not say no where all of them say yes, nor the other way round. It may take over words of the
question, as whoever answers does; but not the names or numbers of one that is answered by yes or no ("are orders in MySQL?"):
those are what is asked. Where in doubt it is refused: then the evidence stands for itself, which is an answer too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.families import tools
from hindbrain.reason.model.unsaid import foreign_names, said_stems, stem, telling
from hindbrain.reason.reversal import OPENING
from hindbrain.reason.values import NAME, ORDINARY, Reading, read
from hindbrain.reason.vocabulary import MONTHS, NUMERALS, OFTEN, OPPOSED, WEEKDAYS, plain

SUPPORTED: Final = 0.7  # of the telling words must be among those of the evidence
MOST_FOREIGN: Final = 3

# With these an answer says that something is so, is somewhere, is done, and who says it, whatever words the evidence has for it.
_LIGHT: Final = frozenset(stem(word) for word in """
    stored store stores kept keep held hold live lives located sits runs run running hosted placed found called named known
    set handled handles managed manages served done happens happen takes place works work currently now today previously
    before earlier formerly originally since later newer older instead reason because due therefore thus according says said
    say told mentioned stated noted decided agreed recorded evidence user users assistant they there yes also both still
    chosen chose responsible owner charge one ones been made based configured written built implemented support supports
    feature features gespeichert liegen liegt laeuft laufen steht stehen befindet befinden heisst derzeit aktuell momentan
    frueher vorher seitdem grund deshalb daher laut gesagt entschieden beschlossen vereinbart verwendet genutzt benutzt
    eingesetzt verantwortlich zustaendig geschrieben gebaut umgesetzt passiert findet statt erfolgt jawohl escrito escrita
    hecho hecha guarda guardan guardado guardados almacena almacenan almacenado encuentra encuentran ejecuta ejecutan corre
    llama llaman actualmente antes anteriormente desde motivo razon debido porque segun dijo dicho decidio decidimos acordo
    utiliza utilizan utilizado usado usan usar usa responsable encargado encargada ocurre realiza realizan hace hacen
""".split())  # noqa: SIM905
_ASKS: Final = re.compile(
    r"\b(?:who|whom|whose|what|which|where|when|why|how|wer|wem|wen|wessen|was|welche\w?|wo|wohin|woher|wann|warum|wieso|weshalb"
    r"|wie|womit|worauf|wofuer|que|quien\w*|cual\w*|donde|cuando|como|cuant\w+)\b"
)
_EITHER: Final = re.compile(r"\b(?:or|oder|versus|vs)\b|\s[ou]\s")
_NO: Final = re.compile(
    r"\b(?:not|never|no|without|cannot|\w+n't|dont|doesnt|isnt|nobody|none|nothing|neither|nor|avoid\w*|forbid\w*|forbidden|banned"
    r"|prohibited|stop\w*|nicht|nichts|nie|niemals|niemand|kein\w*|ohne|weder|verboten|vermeide\w*|nunca|jamas|nadie|nada"
    r"|ningun\w*|sin|ni|tampoco|prohibid\w+|evit[ae]\w*)\b"
)
_ORDERS: Final = re.compile(
    r"\b(?:must|always|never|should|shall|have to|has to|need to|needs to|muss|muessen|soll|sollen|sollte\w*|immer|niemals|nie"
    r"|debe\w*|hay que|tiene\w* que|siempre|nunca)\b"
)
_IN_USE: Final = re.compile(
    r"\b(?:use[sd]?|using|in use|stored|kept|lives?|runs?|is in|are in|on|nutz\w*|genutzt|verwend\w*|benutz\w*|laeuft|laufen"
    r"|lieg\w+|usa\w*|utiliz\w*|en uso|guarda\w*|corre\w*)\b"
)
_DOES: Final = re.compile(r"\b(?:do|does|did|is|are|has|have|will|can|tut|macht|ist|sind|hat|hace|hacen|es|son|esta)\b")
_WORD: Final = re.compile(r"[^\W\d_]+")
_NUMBER: Final = re.compile(r"\d+(?:[.:]\d+)*")
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_DATE: Final = re.compile(
    rf"\b(?:(?P<before>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?)?(?P<month>{_MONTH})"
    r"\b(?:\s+(?P<after>\d{1,2})(?:st|nd|rd|th)?\b)?(?:,?\s+(?:de\s+|of\s+)?(?P<year>\d{4})\b)?"
)
_END: Final = re.compile(r"[.!?;:]+\s+|\n")
_DONE_WITH: Final = re.compile(r"(?<!\bwe are )(?<!\bwe're )(?<!\bI am )(?<!\bI'm )\bdone with\b")  # how, not that it is over
_FORMED: Final = re.compile(r"ge(\w{3,})(?:t|en)")  # gepusht, geschrieben
_DAY: Final = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_VALUES: Final = {**{word: f"weekday {number}" for word, number in WEEKDAYS.items()},
                  **{word: f"every {seconds}" for word, seconds in OFTEN.items()}}  # fmt: skip


def unfounded(text: str, cited: Sequence[str], question: str) -> str:
    """What a sentence says and its evidence does not, in words that a model can be told; "" where it holds."""
    own, asked = "\n".join(map(_with_days, cited)), question if _is_open(question) else ""
    parts = [part for part in _END.split(_without_yes(text)) if part.strip()] or [text]
    for part in parts:  # each by itself: what holds does not vouch for what stands beside it
        if len(parts) > 1 and not telling(part) and not _NO.search(plain(part)):
            continue
        if name := _name(part, own, asked):
            return f"a sentence names what is not in what it cites: {name[:40]}"
        if value := _value(part, f"{own}\n{asked}"):
            return f"a sentence holds a value that is not in what it cites: {value[:40]}"
        if word := _word(part, own, asked):
            return f"a sentence says what is not in what it cites: {word[:40]}"
        if _denies(_DONE_WITH.sub("made with", part), cited):
            return "a sentence says no where what it cites says yes, or yes where it says no"
    return ""


def _without_yes(text: str) -> str:
    """Without the yes or no that answers the question itself."""
    opened = OPENING.match(plain(text))
    return text[opened.end() :].lstrip(" ,.;:!-") if opened and len(plain(text)) == len(text) else text


def _is_open(question: str) -> bool:
    """Whether it asks for something, rather than whether something is so, or which of two."""
    asked = plain(question)
    if _EITHER.search(asked):
        return False
    return "?" not in asked or _ASKS.search(" ".join(asked.split()[:5])) is not None


def _with_days(text: str) -> str:
    """A text and the months of the days in it, by their names."""
    return "\n".join([text, *(_month(int(month)) for _, month, _ in _DAY.findall(text))])


def _month(number: int) -> str:
    return " ".join(name for name, which in MONTHS.items() if which == number)


def _name(text: str, own: str, asked: str) -> str:
    """A name that is not in the evidence. One that is asked about may be said, unless the evidence has another for the same."""
    if name := next(foreign_names(text, f"{own}\n{asked}"), ""):
        return name
    known = tools(plain(own))
    rivals = {family for family, _ in known}
    return next((name for family, name in sorted(tools(plain(text)) - known) if family in rivals), "")


def _value(text: str, held: str) -> str:
    """A number, a weekday, an opposite that the evidence does not hold, whichever way it is written."""
    numbers = set(_NUMBER.findall(_digits(_DAY.sub(" ", held))))
    if number := next((each for each in _NUMBER.findall(_digits(_undated(text, held))) if each not in numbers), ""):
        return number
    words, others = _WORD.findall(plain(text)), set(_WORD.findall(plain(held)))
    values = {_VALUES[word] for word in others if word in _VALUES}
    if word := next((word for word in words if word in _VALUES and _VALUES[word] not in values), ""):
        return word
    return next(_opposites(text, others, held), "")


def _undated(text: str, held: str) -> str:
    """Without the days that the evidence is of, however they are told; the 10 of one is no 10 seconds."""
    days = set(_DAY.findall(held))
    numbers = {(int(year), int(month), int(day)) for year, month, day in days}

    def told(found: re.Match[str]) -> str:
        month, year = MONTHS[found["month"]], int(found["year"] or 0)
        day = int(found["before"] or found["after"] or 0)
        same = any(month == each[1] and year in (0, each[0]) and day in (0, each[2]) for each in numbers)
        return " " if same else found[0]

    return _DATE.sub(told, _DAY.sub(lambda found: " " if found.groups() in days else found[0], plain(text)))


def _opposites(text: str, others: set[str], held: str) -> Iterator[str]:
    """Words of which the evidence has an opposite, and not the word itself, nor its name in another language."""
    named, stems = {name for _, name in tools(plain(held))}, said_stems(held)
    for word in telling(text):
        for line in OPPOSED:
            if word in line and others & line and stem(word) not in stems and not {name for _, name in tools(word)} & named:
                yield word


def _digits(text: str) -> str:
    """With the numbers that are told in words, and without what parts thousands."""
    folded = re.sub(r"(?<=\d)[,_'](?=\d{3}\b)", "", plain(text))
    return _WORD.sub(lambda found: str(NUMERALS[found[0]]) if NUMERALS.get(found[0], 1) > 1 else found[0], folded)


def _word(text: str, own: str, asked: str) -> str:
    """The first word that is not said, where it is so of too many; or any word, where the sentence says nothing that is said."""
    held, spoken = said_stems(own), said_stems(asked)
    words = [word for word in telling(text) if stem(word) not in _LIGHT and word not in NUMERALS]
    found = [word for word in words if _stands(word, held)]
    foreign = [word for word in words if not _stands(word, held) and not _stands(word, spoken)]
    count = len(found) + len(_NUMBER.findall(_digits(text)))
    if not count:  # nothing but what was asked, or nothing at all
        return foreign[0] if foreign else " ".join(text.split()) or "nothing"
    first = next(iter(_WORD.findall(plain(text))), "")
    if foreign and (count < SUPPORTED * (count + len(foreign)) or len(foreign) > MOST_FOREIGN or _ORDERS.search(plain(text))
                    or first == foreign[0]):  # fmt: skip
        return foreign[0]  # an order, or what begins like one, is said in the words of the evidence alone
    return ""


def _stands(word: str, stems: frozenset[str]) -> bool:
    """Whether a word is among these in one of its forms; German ones may begin with "ge"."""
    formed = _FORMED.fullmatch(word)
    return stem(word) in stems or (formed is not None and stem(formed[1]) in stems)


def _denies(text: str, cited: Sequence[str]) -> bool:
    """Whether its yes or no is not that of the evidence."""
    mine, others = read(text), [read(each) for each in cited]
    others = [each for each in others if mine.keys.keys() & each.keys.keys()] or others
    if _NO.search(mine.text) or wording.ENDED.search(mine.text):
        if not any(map(_restricts, others)):
            return True
    elif all(_forbids(each, mine) for each in others):
        return True  # what is forbidden, or bound to a condition, is told as if it were not
    agreed, flipped = set[str](), dict[str, float]()
    for key, weight in mine.keys.items():
        told = [each for each in others if key in each.keys]
        signs, own = {_sign(each, key, mine) for each in told}, _sign(mine, key, mine)
        if weight >= ORDINARY and own and signs == {-own}:
            flipped[key] = max(weight, *(each.keys[key] for each in told))
        elif own in signs:
            agreed.add(key)
    named = {stem(name) for _, name in tools(mine.text)}
    return bool(flipped) and (not agreed or any(weight >= NAME or key in named for key, weight in flipped.items()))


def _restricts(reading: Reading) -> bool:
    """Whether it says no to anything, or that something changed, or holds for some alone."""
    text = reading.text
    return any(cue.search(text) for cue in (wording.NOT, wording.OVER, wording.ENDED, wording.MOVED, wording.ONLY))


def _forbids(reading: Reading, mine: Reading) -> bool:
    """Whether all that both speak of stands in clauses that say no."""
    clauses = {clause for key, weight in mine.keys.items() if weight >= ORDINARY for clause in reading.clauses(key)}
    return bool(clauses) and all(_NO.search(_clause(reading, each)) for each in clauses)


def _clause(reading: Reading, number: int) -> str:
    return reading.text[reading.cuts[number] : reading.cuts[number + 1]]


def _sign(reading: Reading, key: str, mine: Reading) -> int:
    """Whether it says yes to a word, or no; 0 where it says both, or leaves room for doubt. That something was given up is a no
    to a sentence which has it in use; where it was moved, what of it is over is not clear."""
    signs = {_sign_of(reading, clause) for clause in reading.clauses(key)}
    if signs != {1} or key not in reading.ended:
        return signs.pop() if len(signs) == 1 else 0
    return -1 if (reading is mine or _IN_USE.search(mine.text)) and not wording.MOVED.search(reading.text) else 0


def _sign_of(reading: Reading, clause: int) -> int:
    if clause in reading.bound or clause not in reading.denied:
        return 0 if clause in reading.bound else 1
    said = _clause(reading, clause)
    if wording.NOT.search(said):
        return -1
    return 1 if _DOES.search(said) else 0  # it has the no of the clause before it, unless it has a verb of its own
