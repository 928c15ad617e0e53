"""Words and the kind that most marks speak for -> the kind they can be at all.

What need not be done is no task, nor is who is away next week; "we don't use feature flags" puts nothing right where nobody had
spoken of feature flags, and "deploys happen on every merge" tells what happens and asks nothing of anybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hindbrain.reason.cues import COMMON
from hindbrain.reason.forms import WORD, Context, orders
from hindbrain.reason.vocabulary import plain
from hindbrain.reason.wording import OPTIONAL

_WAIVED: Final = re.compile(
    r"\b(?:musst|muss|muessen|brauchst|braucht|brauchen)\b(?: [\w`./-]+){0,8}? (?:nicht|kein\w*)\b"
    r"|\bno (?:necesitas|tienes que|necesita|tenemos que|hay necesidad)\b"
)
_AWAY: Final = re.compile(
    r"\b(?:on (?:vacation|holiday|leave|pto)|on (?:parental|sick) leave|out of (?:the )?office|away|off sick|im urlaub"
    r"|in elternzeit|krank|nicht da|de vacaciones|de baja|fuera|takes? over|covers?(?: for)?|stands? in|is on call"
    r"|fills in|vertritt|uebernimmt"
    r"|springt ein|hat rufbereitschaft|se encarga|me sustituye|cubre|esta de guardia)\b"
)
_WHEN: Final = re.compile(
    r"\b(?:next (?:week|weekend|sprint|month|quarter)|tomorrow|this week|later|on (?:mon|tues|wednes|thurs|fri)day"
    r"|naechste[nrs]? (?:woche|monat|sprint)|morgen|bis (?:ende|anfang|mitte|zum|montag|dienstag|mittwoch|donnerstag|freitag)"
    r"|la semana que viene|el mes que viene|manana|hasta el \w+)\b"
)
_DENIES: Final = re.compile(
    r"^(?:we|our \w+|the \w+(?: \w+)?) (?:don't|do not|doesn't|does not|aren't|isn't) (?:use|have|run|do|deploy|support|ship|keep"
    r"|store|host)\b|^wir (?:benutzen|nutzen|haben|verwenden|betreiben) (?:hier |gar )*(?:kein\w{0,2}|nicht)\b"
    r"|^(?:aqui )?no (?:usamos|tenemos|hacemos|guardamos|desplegamos)\b"
)
_RULED: Final = re.compile(
    r"\b(?:any ?more|no longer|here|never|always|instead|but|because|mehr|hier|nie|immer|sondern|weil|statt|aqui|ya|nunca|siempre"
    r"|sino|porque)\b|[,;:]"
)
_HAPPENS: Final = re.compile(
    r"^(?!(?:please|we|i|you|bitte|wir|por favor)\b)(?:the |our |all |die |der |das |unsere? |los |las |el |la )?"
    r"(?:[\w`./-]+ ){1,5}?(?:happens?|occurs?|takes? place|runs?|fires?|kicks? in|triggers?|goes? out|are (?:built|run|made"
    r"|sent|deployed|created|triggered|taken|rebuilt|published)"
    r"|is (?:built|run|made|sent|deployed|created|triggered|taken|rebuilt|published)|passier(?:t|en)|laufen|laeuft"
    r"|erfolg(?:t|en)|ocurren?|corren?"
    r"|se (?:lanza|ejecuta|hace|despliega)n?|arrancan?|salen?)\b"
)
_BIDS: Final = re.compile(
    r"\b(?:must|should|has to|have to|needs? to|only|never|no|not|muss|muessen|soll\w*|nur|nie|debe\w?|solo|nunca)\b|n't\b"
)
_LEAST: Final = 4  # letters of a word that tells what is spoken of


def settled(best: str, told: Mapping[str, float], text: str, context: Context) -> str:
    """As what something is kept. told: how much speaks for each kind."""
    low = plain(text).strip(" .!")
    if best == "task" and _is_no_task(low, context):
        if _AWAY.search(low) and not _waives(low):
            return "fact"
        return max((kind for kind in told if kind not in ("task", "correction")), key=lambda kind: told[kind])
    if best in ("correction", "instruction") and _denies_nothing(low, best, context):
        return "fact"
    if best == "instruction" and _tells_what_happens(low, text, context):
        return "fact"
    return best


def _waives(low: str) -> bool:
    return OPTIONAL.search(low) is not None or _WAIVED.search(low) is not None


def _is_no_task(low: str, context: Context) -> bool:
    """Whether all that made a task of it is what need not be done, or the day on which somebody is away."""
    if not _waives(low) and not _AWAY.search(low):
        return False
    rest = _WHEN.sub(" ", _WAIVED.sub(" ", OPTIONAL.sub(" ", low)))
    bids = context.cues.has("owed", rest) or (orders(rest.strip(), context.cues) and not _waives(low))
    return not context.cues.has("task", rest) and not bids


def _denies_nothing(low: str, best: str, context: Context) -> bool:
    """Whether it says what is not so, in one plain clause, and the assistant had said nothing of it."""
    denies = _DENIES.match(low)
    if denies is None or not context.reply or _RULED.search(low) or (best == "instruction" and context.cues.has("standing", low)):
        return False
    mine = {word for word in WORD.findall(low[denies.end() :]) if len(word) >= _LEAST and word not in COMMON}
    return bool(mine) and mine.isdisjoint(WORD.findall(plain(context.reply)))


def _tells_what_happens(low: str, text: str, context: Context) -> bool:
    """Whether it is taken for a rule only because it says "on every": it tells what comes about by itself."""
    if not context.cues.has("each", text.lower()) or context.cues.has("standing", text.lower()) or orders(low, context.cues):
        return False
    return _HAPPENS.match(low) is not None and not _BIDS.search(low)
