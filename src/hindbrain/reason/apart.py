"""Two statements side by side -> whether both hold although the newer one ends something: elsewhere, in part, in one case, later.

"We no longer use PostgreSQL for sessions" names PostgreSQL and says that something is over, and "we use PostgreSQL for orders"
holds all the same: sessions are another use. So are "the analytics team moved from PostgreSQL" (who), "we removed Redis from the
worker" (where) and "we deleted the Grafana dashboards" (a part). Learnt weights see the name and the end. Here the build of a
clause is looked at (build.py): where the end stands beside what the older one does not speak of, the older one is left alone.
"""

from __future__ import annotations

import re
from typing import Final

from hindbrain.reason import wording
from hindbrain.reason.build import builds
from hindbrain.reason.sides import Sides
from hindbrain.reason.vocabulary import MONTHS

_ANY: Final = r"(?: (?!THING|MATTER|OTHER|PART|AT|FOR|FROM|TO|OF|ha[st]\b|have\b)\S+)*?"
_PLACE: Final = r"(?:AT|FOR|FROM|OF)"
_T: Final = "(?:THING|MATTER)"
_FIRST: Final = r"^(?:(?!THING|MATTER|OTHER|PART|AT|FOR|FROM|TO|OF)\S+ )*?"
_WHAT: Final = r"^(?:(?!THING|MATTER|OTHER|PART|AT|FOR|FROM|TO|OF|(?:we|i|you|they|wir|ich|du|sie|nosotros|yo)\b)\S+ )*?"
# We MOVE the MATTER of OTHER from THING, wir haben den MATTER der OTHER von THING auf OTHER MOVE.
_MOVED: Final = rf"MOVE {_T} (?:AT|FOR|OF) OTHER (?:FROM|OF) THING|{_T}(?: {_PLACE})? OTHER (?:FROM|OF) THING (?:AT|TO) \S+ MOVE"
_APART: Final = tuple(re.compile(each) for each in (
    rf"NOT(?: USE)?(?: {_PLACE})? THING {_PLACE} OTHER",  # we NOT USE THING for OTHER
    rf"USE{_ANY} THING NOT {_PLACE} OTHER",  # wir USE THING NOT fuer OTHER
    rf"{_FIRST}{_PLACE} OTHER{_ANY} (?:NOT|OUT|SWAP|MOVE)\b.*THING",  # in OTHER we NOT USE THING
    rf"{_FIRST}{_PLACE} OTHER{_ANY} THING\b.* (?:NOT|OUT|SWAP)",  # aus OTHER haben wir THING OUT
    rf"{_WHAT}OTHER{_ANY} (?:NOT|MOVE){_ANY}(?: {_PLACE})? THING",  # OTHER MOVE from THING to OTHER
    rf"{_WHAT}OTHER{_ANY} (?:OUT|SWAP) THING",  # OTHER OUT THING
    rf"{_WHAT}OTHER (?:USE|IS){_ANY} THING NOT",  # OTHER USE THING nicht mehr
    rf"{_WHAT}OTHER{_ANY} NOT{_ANY} TO THING",  # OTHER NOT USE with THING
    rf"{_WHAT}OTHER{_ANY} (?:FROM|OF) THING (?:AT|TO) \S+ MOVE",  # OTHER ist von THING auf OTHER MOVE
    rf"NOT USE OTHER (?:{_PLACE}|TO) THING",  # we NOT USE OTHER on THING
    r"MOVE OTHER (?:FROM|OF) THING",
    _MOVED,
    rf"OUT(?: FROM)? THING(?: FROM)? {_PLACE} OTHER",  # we OUT THING from OTHER
    rf"THING (?:IS|wurde|wurden) (?:NOT )?OUT {_PLACE} OTHER",
    rf"THING {_PLACE} OTHER(?: TO \S+)?(?: IS)? (?:NOT|OUT|SWAP)",  # wir haben THING aus OTHER OUT
    rf"THING NOT(?: se)? USE {_PLACE} OTHER",  # THING NOT USE in OTHER
    rf"SWAP THING (?:TO \S+ {_PLACE} OTHER|{_PLACE} OTHER TO)",
    r"(?:OUT|SWAP|NOT|NOT USE) PART",
    rf"{_FIRST}PART\b{_ANY}(?: (?:{_PLACE}|TO) OTHER)?{_ANY} (?:OUT|SWAP|NOT)",
    rf"(?:OUT|SWAP) OTHER {_PLACE} THING",
    rf"SWAP OTHER TO \S+ {_PLACE} THING",
    rf"SET OTHER {_PLACE} THING",
))  # fmt: skip
_CASE: Final = re.compile(rf"{_FIRST}{_T}(?: OF {_T})* FOR OTHER IS\b|^{_T}(?: OF {_T})* IS (?:OF )?[\d.,]+ (?:\S+ )?FOR OTHER$")
_TO_COME: Final = re.compile(
    r"\b(?:will(?: be)?|gets?|(?:is|are) (?:going|planned|due) to(?: be)?|wird|werden|comes?|kommt)\b.{0,60}"
    r"\b(?:upgrad|updat|aktualisier|angehoben|umgestellt|umgezogen|migr|move|switch|replace|ersetz)\w*"
    r"|\bse (?:actualiza|migra|cambia|sustituye|reemplaza)(?:n|ra|ran)?\b"
)
_WHEN: Final = re.compile(
    rf"\b(?:(?:in|im|en|by) (?:{'|'.join(MONTHS)})|next (?:week|month|quarter|year|sprint|release|spring|summer|autumn|winter)"
    r"|(?:naechst|kommend)\w+ (?:woche|monat|quartal|jahr|sprint)|(?:proxim[oa]|que viene)|soon|bald|demnaechst|pronto)\b"
)
_ROUTINE: Final = re.compile(
    r"\b(?:(?:are|is|get|gets) (?:dropped|deleted|removed|purged|discarded|rejected)|(?:wird|werden) .{0,40}"
    r"(?:geloescht|entfernt|verworfen)|se (?:borran?|eliminan?|descartan?))\b"
)
_KEPT: Final = re.compile(
    r"\b(?:keep|kept|retain|retention|delet|purg|drop|wip|remov|expir|discard|reject|stor(?:ed|ing)|liv(?:e|es)\b|last|stay"
    r"|for \d|aufbewahr|loesch|geloesch|gespeichert|verworfen|entfernt|conserv|guard|borr|elimin|descart|caduc|durante \d)\w*"
)
_ENDS: Final = re.compile(r"\b(?:NOT|OUT|MOVE|SWAP|SET|FROM)\b")


def speaks_of_another(pair: Sides) -> bool:
    """Whether both hold, whatever the newer one ends or sets: it does so elsewhere, to a part, in one case, or later."""
    if pair.older.kind in ("task", "procedure", "lesson"):
        return False  # a task is done by less than its words, and the parts of a procedure are its steps
    return ends_something_else(pair) or is_special_case(pair) or is_to_come(pair) or is_routine(pair)


def ends_something_else(pair: Sides) -> bool:
    """Whether the newer one ends, in another use, place or hand, or in a part, what the older one tells of."""
    found = [*builds(pair)]
    return any(each.search(build) for build in found for each in _APART) or _ends_another(pair, found)


def moves_another(pair: Sides) -> bool:
    """It moves a thing of the same sort that is of something else: "the ingress of the docs site from nginx"."""
    return any(re.search(_MOVED, build) for build in builds(pair))


def _ends_another(pair: Sides, found: list[str]) -> bool:
    """It ends what the older one does not name, and tells more of what it names: "no reindex; Meilisearch gets events"."""
    if pair.rivals or pair.values_differ or pair.flipped or pair.given_up:
        return False
    of_it = [build for build in found if re.search(f"{_T}|PART", build)]
    return any(re.search(r"\b(?:OUT|SWAP) OTHER$", build) for build in found) and not any(map(_ENDS.search, of_it))


def is_special_case(pair: Sides) -> bool:
    """It gives a value to one case of what the older one gives a value to: "2 MB for avatars"."""
    return bool(pair.values_differ) and any(map(_CASE.search, builds(pair)))


def is_to_come(pair: Sides) -> bool:
    """It tells what will be changed, and when: until then the older one holds."""
    return bool(_TO_COME.search(pair.new.text) and _WHEN.search(pair.new.text))


def is_routine(pair: Sides) -> bool:
    """It tells what is always thrown away ("late events are dropped after two days"); the older one is not of what is kept."""
    if not _ROUTINE.search(pair.new.text) or _KEPT.search(pair.old.text):
        return False
    return not wording.CHANGE.search(_ROUTINE.sub(" ", pair.new.text))
