"""A user's words -> whether they tell of trouble, ask for its cause, or tell how it was put right (English, German, Spanish).

To tell of trouble is cheap: it only opens the question what it came from. To tell of a repair makes a lesson by itself, so what
is asked for, supposed or remembered of other places is none.
"""

from __future__ import annotations

from typing import Final

from hindbrain.reason.causes import any_of, claim
from hindbrain.reason.runs import shows_failure

_COMPLAINT: Final = any_of(
    r"\b(?:errors?|fail(?:s|ed|ing|ure)?|crash\w{0,6}|broken|breaks|broke|bugs?|hangs?|hung|stuck|died|dies|dead|kill(?:ed|s)|"
    r"leak\w{0,4}|flak\w{1,6})\b",
    r"\b(?:flicker\w{0,4}|timeouts?|times? out|timed out|throw(?:s|ing)|50[0-4]s?|wrong|slow|corrupt\w{0,6}|missing|los[te]s?|"
    r"doesn'?t work|not working)\b",
    r"\bany idea\b|\binstead of\b|\bblocked\b|\bkeeps? \w{2,20}ing\b|\bni idea\b|\bkeine Ahnung\b",
    r"\b(?:won'?t|why|weird|red|exception|differ\w{0,6}|drain\w{0,4}|NaN|oom|regression|stale|empty|vanish\w{0,3}|"
    r"disappear\w{0,3}|"
    r"twice|duplicat\w{1,5})\b",
    r"\b(?:Fehler|kaputt|geht nicht|klappt nicht|läuft nicht|stürzt|abgestürzt|hängt|warum|wieso|bricht|falsch|langsam|"
    r"verlor\w{0,4}|ruckel\w{0,3}|leer|verschw\w{2,6})\b",
    r"\b(?:Problem\w{0,2}|seltsam|falla\w{0,4}|fallo|revienta|peta|roto|rota|no (?:va|funciona|arranca|compila|deja)|"
    r"se (?:cuelga|pierden?|cae))\b",
    r"\b(?:por qué|lent[oa]|lentísim[oa]|vací[oa]|desaparec\w{1,4}|tarda\w{0,3}|quej\w{1,5}|problema|"
    r"pierd[ae]n?|rechaza\w{0,3})\b",
)
_WHY: Final = any_of(r"\b(?:why|how come|what'?s (?:wrong|going on|causing)|any idea|no idea|warum|wieso|weshalb|woran|"
                      r"keine Ahnung|por qué|qué pasa|ni idea)\b")  # fmt: skip
_TOLD: Final = any_of(  # a past repair or finding of the user's own: who, did what, by which means
    r"\b(?:fixed|solved|resolved|cured|got rid of|got around)\b[^.?!\n]{1,120}?\b(?:with|by \w{2,20}ing|via|using|through)\b|"
    r"\broot cause (?:was|turned|is (?:that|the|a|an))\b|\broot cause:",
    r"\bfound (?:it|the (?:bug|cause|culprit|problem|issue))\b[:,;] |\bfigured (?:it )?out\b[:,;] |\b(?:was|were) down to\b",
    r"\bturned out\b|\b(?:was|were) (?:caused|triggered) by\b|\bthe (?:problem|issue|cause|culprit|reason|trick|fix) was\b",
    r"\b(?:what|that|only thing that|\w{2,20}ing [^.?!\n]{1,60}) (?:helped|fixed (?:it|that)|did it|did the trick)\b",
    r"\b(?:lag(?:'s)? (?:\w{2,20} )?(?:an|am|daran)|Ursache (?:war|ist)|geholfen hat|hilft nur|stellte sich heraus|"
    r"hat sich herausgestellt)\b",
    r"\bhat(?:te)? [^.?!\n]{0,60}(?:behoben|gelöst|geholfen|repariert)\b",
    r"\b(?:se (?:arregl(?:a|ó)|solucion(?:a|ó)) con|lo (?:arregl|solucion)(?:é|ó|amos)|era (?:por )?culpa de|la causa (?:era|"
    r"fue)|era por(?:que)?)\b",
    r"\b(?:el (?:problema|fallo) era|resulta que|resultó (?:ser|que))\b",
)
_ASKED: Final = any_of(
    r"\b(?:my|the|our|an|their) (?:last|old|previous|former|other) (?:job|project|team|company|place)\b|\blast place\b|"
    r"\balways\b",
    r"\bfrüher\b|\balten (?:firma|job|projekt)\b|\ben mi (?:anterior|antiguo)\b|\bfind out\b",
    r"\?|^(?:can|could|would|please|pls|if|whether|bitte|kannst|falls|wenn|puedes|si)\b",
    r"\b(?:should|needs? to|must|to be|get (?:it|this|that)|want) (?:be )?(?:fixed|solved|resolved)\b",
)


def complains(text: str) -> bool:
    """Whether something does not work: said, or shown by what was pasted."""
    return _COMPLAINT.search(text) is not None or shows_failure(text)


def asks_why(text: str) -> bool:
    return _WHY.search(text) is not None


def tells_of_repair(sentence: str) -> bool:
    """Whether it tells what the cause was or what helped."""
    stated = claim(sentence)
    explained = stated.past and stated.says_why and (stated.fix or stated.effect)
    return (explained or _TOLD.search(sentence) is not None) and not _ASKED.search(sentence)
