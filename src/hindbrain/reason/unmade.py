"""A sentence -> whether what it speaks of came about, and how far a "but" belongs to what stands before it.

"We almost chose Kotlin but didn't" has all the words of a choice and tells of none; cut at its "but" it tells the opposite. So
what takes back or limits is never cut off, and what was almost done, was given up in the same breath, or would only follow if
things were other than they are, is not kept. "We nearly took Kafka, then went with NATS" tells what was chosen, and stays whole.
"""

from __future__ import annotations

import re
from typing import Final

_CHOSE: Final = (
    r"(?:chose|chosen|picked|went|gone|took|taken|moved|switched|migrated|decided|used|adopted|bought|dropped|replaced|settled"
    r"|opted|ported|rewrote|rewritten|introduced|started|ended up|signed|standardi[sz]ed|put|kept|made|built|hosted|ditched)"
)
# What somebody was close to doing. "We have almost moved" is on its way, and "almost always" is how things are.
_NEARLY: Final = re.compile(
    rf"(?<!\w)(?:(?:i|we|you|they|he|she|the team)(?: had|['’]d)? (?:very )?(?:almost|nearly|all but) {_CHOSE}\b"
    r"|(?:i|we|they|he|she|the team) (?:came|were|was|had been) (?:very |so |this )?(?:close to|about to|on the verge of)\b"
    r"|(?:fast|beinahe) (?:hätten?|wären?|wär) (?:ich|wir|sie|er|man|das team)\b"
    r"|(?:ich|wir|sie|er|man) (?:hätten?|wären?|wär)\b[^,.;]{0,40}? (?:fast|beinahe)\b"
    r"|(?:ich|wir|sie|er) (?:waren?|standen?) (?:kurz davor|drauf und dran)\b"
    r"|casi (?:que )?(?:nos |me )?\w{2,14}(?:amos|imos|emos|aron|ieron)\b(?! (?:siempre|todos?|todas?|nunca)\b)"
    r"|(?:estuv(?:e|imos|ieron)|estábamos|estaba) a punto de\b|por poco (?:nos |no )?\w{2,14}(?:amos|imos|emos)\b)"
)
# How it turned out in the end, where something else came of it.
_OUTCOME: Final = re.compile(
    r"(?:[,;]|\b(?:but|then|so|instead|aber|dann|pero|y al final|luego),?) (?:[\w'’]+ ){0,4}?(?:"
    r"(?:went|go|going) (?:with|for|back)|took|take|chose|choose|picked|stay(?:ed|s)?|stuck|stick|kept|keep|use"
    r"|settled|landed|moved to|(?:blieben|bleiben|nahmen|nehmen|nutzen|genommen|geblieben)"
    r"|(?:nos quedamos|seguimos|elegimos|usamos|cogimos|fuimos con))\b"
)
_SOON: Final = r"(?: (?:then|in the end|after all|at last|finally|we|i|they|it|so far|just))*"
_GAVE_UP: Final = re.compile(
    # "…, but didn't", "…, but never did it": nothing more is said of it
    rf"\bbut{_SOON},? (?:didn['’]?t|did not|never did|haven['’]?t|have not|hasn['’]?t|never got (?:round|around) to (?:it|that))"
    r"(?: (?:do|manage|finish|dare|bother|happen|go|get|use|take|make) ?(?:it|that|this|so|through with it|there|to it)?)?"
    r"(?: (?:in the end|after all|yet|so far|then|back then|at the time))?$"
    rf"|\bbut{_SOON} (?:gave up|(?:dropped|abandoned|scrapped|shelved|discarded) (?:it|that|the (?:idea|plan)))$"
    r"|\bbut (?:that |it )?(?:fell through|came to nothing|never happened|didn['’]?t happen)$"
    r"|\baber(?: dann| am ende| schließlich| letztlich| doch)+ nicht$|\baber (?:dann )?(?:doch )?(?:gelassen|verworfen)$"
    r"|\bhaben(?: wir)? es (?:dann |aber |am ende |doch )*(?:nicht (?:gemacht|getan)|gelassen|bleiben lassen|verworfen)$"
    r"|\b(?:daraus|draus) (?:wurde|ist) (?:aber |dann )?nichts(?: geworden)?$"
    r"|\bpero(?: al final| luego| entonces)+ no$|\bpero(?: al final| luego)* no (?:(?:lo|la) (?:hicimos|hice|hicieron)|salió)$"
    r"|\bpero(?: al final| luego)* (?:lo|la) (?:descartamos|dejamos|abandonamos)$"
)
_CONTRARY: Final = re.compile(
    r"\bif (?:\w+ ){0,3}?(?:ever |had |were |was |did |could |didn['’]?t |hadn['’]?t |weren['’]?t |used |moved |went |chose "
    r"|took |switched |dropped |kept |stayed |left |needed |wanted |grew |added |got |\w{3,14}ed )"
    r"[^?]{0,120}?\b(?:would|wouldn['’]?t|(?:we|i|you|they|it|that|there)['’]d)\b"
    r"(?! (?:like|love|prefer|rather|appreciate|want)\b)"
    r"|\b(?:would(?:n['’]?t)?|(?:we|you|they|it|that|there)['’]d)\b (?!(?:like|love|prefer|rather|appreciate|want|you)\b)"
    r"[^?]{2,120}?\bif \w+ (?:ever |had |were |did |used |moved |went |chose |took |switched |dropped |\w{3,14}ed )"
    r"|\b(?:wenn|falls|sollten|würden|hätten|wären)\b[^?]{2,120}?\b(?:würden?|wären?|hätten?|nähmen?|umstiegen|gingen?)\b"
    r"[^?]{0,20}?, ?(?:dann |so )?(?:würden?|wären?|hätten?|müssten?|könnten?|bräuchten?)\b"
    r"(?! (?:ich |wir )?(?:gern|lieber)\b)"
    r"|\b(?:müssten?|würden?|bräuchten?|wären?|hätten?) (?:wir|man|die|der|das|alle)\b[^?]{2,120}?, (?:wenn|falls) (?:wir|man)\b"
    r"[^?]{2,80}?\b(?:würden?|wären?|hätten?|nähmen?|umstiegen|gingen?)\b"
    r"|\bsi (?:\w+ ){0,4}?\w{2,14}(?:áramos|iéramos|éramos|ásemos|iésemos|ara|iera|aran|ieran)\b"
    r"[^?]{2,120}?\b\w{2,14}(?:ríamos|ría|rían)\b"
    r"|\b\w{2,14}(?:ríamos|ría|rían)\b[^?]{2,120}?\bsi (?:\w+ ){0,4}?\w{2,14}(?:áramos|iéramos|éramos|ásemos|iésemos|ara|iera)\b"
)
_THEREFORE: Final = re.compile(
    r"[,;] ?(?:and )?(?:so|hence|therefore|that['’]s why|which is why|deshalb|daher|darum|also|deswegen|así que|por eso)\b"
)
# What stands behind a "but" and only limits or takes back what stands before it: it has no subject of its own.
_LIMITS: Final = re.compile(
    r"(?:then |in the end |dann |al final )*(?:not|only|never|except|without|no longer|didn['’]?t|did not|decided against"
    r"|(?:doch )?nicht|nur|nie|ohne|erst ab|noch nicht|no|solo|sólo|nunca|sin|excepto|todavía no)\b",
    re.IGNORECASE,
)
_STATED: Final = 4  # words before a supposition that say something of their own
_FEW: Final = 7  # words that limit; more than that say something of their own


def limits(text: str) -> bool:
    """Whether what stands behind a "but" belongs to what stands before it: "but not for the watch app", "but didn't"."""
    return _LIMITS.match(text) is not None and len(text.split()) <= _FEW


def came_to_nothing(text: str) -> bool:
    """Whether it only tells what was nearly done, what was given up again, or what would follow if."""
    low = text.strip(" .!").lower()
    contrary = _CONTRARY.search(low)
    if contrary:  # "X is the case, and if we had Y we would" says something before it supposes
        return not _THEREFORE.search(low) and len(low[: contrary.start()].rpartition(", ")[0].split()) < _STATED
    if takes_back(low):
        return True
    nearly = _NEARLY.search(low)
    return nearly is not None and not _OUTCOME.search(low, nearly.end())


def takes_back(text: str) -> bool:
    """Whether it says that nothing came of it."""
    return _GAVE_UP.search(text.strip(" .!").lower()) is not None


def is_close(text: str) -> bool:
    """Whether it tells of something that somebody was close to doing: how it went on is said in the same sentence."""
    return _NEARLY.search(text.lower()) is not None
