"""Two statements side by side -> whether the newer says in almost the same words the opposite, and whether both can agree at all.

Learnt weights see many small signs, and where two statements differ in one word most signs say that they agree. That word may be
a "never", a rival of what stood there ("on MySQL" for "on PostgreSQL"), or the same two names the other way round ("tabs over
spaces"). These are looked at word by word, and only where all else that both say is the same: lines of a list differ in what they
are about, and are left alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import lru_cache
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.families import spellings, tools
from hindbrain.reason.sides import Sides, sign
from hindbrain.reason.values import ORDINARY, Reading, read, stem
from hindbrain.reason.vocabulary import plain

# What a statement is not about: that something is so, is used, is moved or stays, always or never, here.
_LIGHT: Final = """
    always never ever please now again still also instead actually really just back today here okay yes no not don dont doesn isn
    we use used uses using be run runs running stay stays staying remain remains keep keeps kept go goes going live lives sit sits
    move moved moves moving migrate migrated migrates migrating switch switched switches switching change changed changes
    prefer prefers preferred like likes want wants rather project repo repository codebase from everything anymore longer
    remember rule nope sorry mind never-mind decided decide settle settled
    immer nie niemals bitte jetzt wieder weiterhin doch nicht kein keine keinen nein hier ab sofort benutzen benutzt benutze
    benutz nutzen nutzt nutze verwenden verwendet verwende laufen laeuft lief bleiben bleibt umgestellt umstellen umgezogen
    umziehen gewechselt wechseln migriert migrieren bevorzuge bevorzugen mag lieber projekt setzen kuenftig zurueck
    siempre nunca jamas ahora otra vez usar usamos usa uses usen utilizamos utiliza utilizar quedar queda quedan sigue siguen
    mantiene pasar pasamos pasado migrar migramos migrado cambiar cambiamos volver volvemos prefiero preferimos proyecto
    adelante partir mejor corre corren
"""
LIGHT: Final = frozenset(map(stem, _LIGHT.split()))
OPENING: Final = re.compile(r"^\W*(?:(?:oh|ah|sorry|hm+|actually|wait|ok|okay)\W+)*(?:no|nope|nein)\b(?=\s*[,.;:!-])")
_NEGATED: Final = re.compile(
    r"\b(?:not|never|no|without|cannot|\w+n't|dont|doesnt|nicht|nie|niemals|kein\w*|ohne|nunca|jamas|sin|tampoco)\b"
)
_STAYS: Final = re.compile(
    r"\b(?:stay(?:s|ing)?|remains?|keeps? (?:on|using|running)|bleib(?:t|en)|(?:se|nos) queda\w*|sigue\w*|se mantiene\w*)\b"
)
_TAKEN_BACK: Final = re.compile(
    r"\b(?:actually no|doch nicht|lieber doch|mejor no|al final no|(?:scratch|forget) that|on second thought|vergiss das"
    r"|olvida eso)\b"
)
_LEFT: Final = re.compile(
    r"\b(?:from|off|away from|instead of|rather than|over|than|not|no|without|statt|anstatt|von|kein\w*|ohne|als|en vez de"
    r"|en lugar de|antes que|de|sin)\s+(?:the |dem |der |den |el |la )?[\w.+#-]+"
)
_WHY: Final = re.compile(r"\b(?:because|since|weil|denn|da sonst|porque|ya que)\b.*", re.DOTALL)
_SIDE_BY_SIDE: Final = re.compile(
    r"\b(?:support\w*|install\w*|document\w*|compar\w+|export\w*|import\w*|connect\w*|integrat\w+|add\w*|learn\w*|translat\w+"
    r"|unterstuetz\w*|installier\w*|vergleich\w*|uebersetz\w*|soport\w*|instal\w+|compar\w+|traduc\w+|anad\w+)\b"
)
_ORDER: Final = re.compile(
    r"([\w.+#-]+) (?:(?:lieber|eher|mas|more) )?(?:over|instead of|rather than|than|statt|anstatt|als|en vez de|en lugar de"
    r"|antes que|sobre) ([\w.+#-]+)|prefiero ([\w.+#-]+) a ([\w.+#-]+)"
)
_SPEAKS: Final = re.compile(r"\b(?:answer|repl|respond|writ|speak|talk|comment|antwort|schreib|sprech|sprich|kommentier|contest"
                            r"|escrib|habl|coment)\w*")  # fmt: skip
_WRITTEN: Final = re.compile(r"\b(?:(?:re)?written|rewrote|implemented|coded|(?:um)?geschrieben|(?:re)?escrit[oa]s?)\b")
_LANGUAGE: Final = re.compile(
    r"\b(?:in|en) (python|javascript|typescript|rust|golang|go|java|kotlin|ruby|php|swift|scala|elixir|perl|haskell|c\+\+|c#)"
    r"(?!\w)"
)
_AT: Final = ("in", "on", "at", "for", "to", "into", "within", "inside", "im", "am", "an", "auf", "bei", "beim", "fuer", "zu",
              "en", "para", "con")  # fmt: skip
_OTHER_NAMES: Final = {"leerzeichen": "spaces", "tabulatoren": "tabs", "tabuladores": "tabs", "tabulaciones": "tabs",
                       "espacios": "spaces"}  # fmt: skip


def at_odds(pair: Sides) -> bool:
    """Whether they cannot agree, however much speaks for it: two rivals, two values of one unit, or a plain no for a yes."""
    if reverses(pair) or (pair.flipped >= ORDINARY and not pair.own_words):
        return True
    counted = any(new.unit == old.unit != "" and new.type != "series" for new, old in pair.values_differ)
    return counted or (bool(_rival_names(pair)) and not wording.ADDED.search(pair.new.text))


def reverses(pair: Sides) -> bool:
    """Whether the newer says the opposite of the older one in almost its words."""
    return may_reverse(pair) and (insists(pair) or _denies(pair) or _names_a_rival(pair) or _turns_round(pair))


def may_reverse(pair: Sides) -> bool:
    """Whether it is said of how things are, in general, and of the same place."""
    if {"task", "lesson"} & {pair.newer.kind, pair.older.kind} or pair.newer.text.rstrip(' "”»').endswith("?"):
        return False
    text = pair.new.text
    if wording.ONCE.search(text) or wording.EXCEPTED.search(text) or wording.ADDED.search(text):
        return False
    return not pair.two_places or "programming" in _rival_names(pair)


def insists(pair: Sides) -> bool:
    """Whether it says that a thing stays with one value after the older one named another: "the orders stay on MySQL"."""
    taken_back = any(_TAKEN_BACK.search(each) for each in (pair.new.text, plain(pair.beside.nearest[0])))
    if not (taken_back or _STAYS.search(pair.new.text) or OPENING.search(pair.new.text)):
        return False
    rivals = _rival_names(pair)
    if not rivals and not any(new.unit == old.unit != "" for new, old in pair.values_differ):
        return False
    mine, other = (about(each, rivals) for each in (_main(pair.new), _main(pair.old)))
    telling = sum(pair.shared.get(key, 0.0) for key in mine.keys() & other.keys())
    return telling >= ORDINARY and (mine.keys() <= other.keys() or other.keys() <= mine.keys())


def denies_something_else(pair: Sides) -> bool:
    """Whether the no of one is of what the other does not speak of: "no emojis in commits" leaves "small commits" alone."""
    if not pair.flipped or pair.values_differ or pair.rivals or pair.opposed or pair.soft:
        return False
    if not {pair.newer.kind, pair.older.kind} <= {"instruction", "preference"}:
        return False
    for reading, other in ((pair.new, pair.old), (pair.old, pair.new)):
        if reading.denied and not other.denied and not wording.MAY.search(other.text):
            shared = {key for key, weight in pair.shared.items() if weight >= ORDINARY and key in reading.keys}
            return bool(shared) and all(_is_place_of_no(reading, other, key) for key in shared)
    return False


def _is_place_of_no(reading: Reading, other: Reading, key: str) -> bool:
    """Whether a word follows a no, its object and "in" or the like, and the object is not said by the other."""
    for clause in reading.clauses(key):
        said = [word for word, where in reading.tokens if where == clause]
        told = [stem(word) for word in said]
        first = next((place for place, word in enumerate(said) if _NEGATED.fullmatch(word)), None)
        last = told.index(key) if key in told else 0
        at = next((place for place in range(last - 1, max(-1, last - 3), -1) if said[place] in _AT), None)
        if first is None or at is None or first > at:
            return False
        between = {word for word in told[first + 1 : at] if word in reading.keys and word not in LIGHT}
        if not between or between & other.keys.keys():
            return False
    return True


def _denies(pair: Sides) -> bool:
    """The same words but for one no."""
    mine, other = (about(each) for each in (pair.new, pair.old))
    if not mine or mine.keys() != other.keys() or values_of(pair.new) != values_of(pair.old) or max(mine.values()) < ORDINARY:
        return False
    texts = [OPENING.sub("", each.text) for each in (pair.new, pair.old)]
    nos = sorted((len(_NEGATED.findall(text)), bool(wording.NOT.search(text))) for text in texts)
    return nos == [(0, False), (1, True)] and not (pair.new.bound or pair.old.bound)


def _names_a_rival(pair: Sides) -> bool:
    """The same words but for one name, and another for the same purpose in its place."""
    rivals = _rival_names(pair)
    if len(rivals) != 1 or any(_SIDE_BY_SIDE.search(each.text) for each in (pair.new, pair.old)):
        return False
    if "spoken" in rivals and not all(_SPEAKS.search(each.text) for each in (pair.new, pair.old)):
        return False
    mine, other = (about(each, rivals).keys() for each in (pair.new, pair.old))
    nos = [bool(_NEGATED.search(OPENING.sub("", each.text))) for each in (pair.new, pair.old)]
    return mine == other and nos == [False, False] and values_of(pair.new) == values_of(pair.old)


def _turns_round(pair: Sides) -> bool:
    """The same two names, the other way round: tabs over spaces, spaces over tabs."""
    mine, other = (_orders(each.text) for each in (pair.new, pair.old))
    if not any((last, first) in other for first, last in mine):
        return False
    return about(pair.new).keys() == about(pair.old).keys()


@lru_cache(4_096)
def _orders(text: str) -> frozenset[tuple[str, str]]:
    found = (match.groups() for match in _ORDER.finditer(text))
    pairs = ((one or three or "", two or four or "") for one, two, three, four in found)
    return frozenset((stem(first.strip(".")), stem(last.strip("."))) for first, last in pairs)


def _rival_names(pair: Sides) -> dict[str, frozenset[str]]:
    """By what they are for: the names of which each says one, and none of the other's."""
    mine, other = (_named(each) for each in (pair.new, pair.old))
    return {family: names | other[family] for family, names in mine.items() if family in other and not names & other[family]}


def _named(reading: Reading) -> dict[str, frozenset[str]]:
    """The tools that a statement is for, by what they are for; those that it leaves or denies are not among them."""
    text = _LEFT.sub(" ", OPENING.sub("", reading.text))
    for word, name in _OTHER_NAMES.items():
        text = text.replace(word, name)
    found: dict[str, set[str]] = defaultdict(set)
    for family, name in tools(text):
        if sign(reading, stem(name.split()[0])) >= 0:
            found[family].add(name)
    if _WRITTEN.search(text):
        found["programming"] |= set(_LANGUAGE.findall(text))
    return {family: frozenset(names) for family, names in found.items() if names}


def about(reading: Reading, rivals: dict[str, frozenset[str]] | None = None) -> dict[str, float]:
    """The words that say what a statement is about, without the names of rivals."""
    names = {form for each in (rivals or {}).values() for name in each for form in spellings(name)}
    names |= {word for word, name in _OTHER_NAMES.items() if name in names}
    left = LIGHT | {stem(part) for name in names for part in (name, *re.split(r"[\s-]", name))}
    return {key: weight for key, weight in reading.keys.items() if key not in left}


def _main(reading: Reading) -> Reading:
    """A statement without its reason."""
    cut = _WHY.sub("", reading.text)
    return reading if cut == reading.text else read(cut)


def values_of(reading: Reading) -> frozenset[str]:
    return frozenset(value.what for value in reading.values)
