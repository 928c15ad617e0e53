"""A sentence -> how clearly it states why something failed, and what put it right (English, German, Spanish).

Grammar rather than phrases: a thing that went wrong as subject of "was", "came from", "lag an", "era"; a verb of repair; a
clause of consequence; a change that holds "now". What is guessed, planned, asked or advised states nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NEAR: Final = r"(?: [\w`'./()\[\]$-]{1,40})"  # a word beside the one that counts


def any_of(*patterns: str) -> re.Pattern[str]:
    """One pattern for all of these, whatever the case."""
    return re.compile("|".join(patterns), re.IGNORECASE)


_TROUBLE_EN: Final = (
    r"(?:problems?|issues?|bugs?|failures?|errors?|crash(?:es)?|leaks?|hangs?|culprits?|cause|reason|flak(?:e|iness)|timeouts?|"
    r"\w{2,40}Error|\w{2,40}Exception|"
    r"slowness|regression|mismatch|drift|exception|deadlock|spike|trouble|offender|stalls?|conflict|failing \w{2,30})"
)
_TROUBLE_DE: Final = (
    r"(?:Problem|Fehler|Ursache|Grund|Absturz|Abbruch|Hänger|Leck|Übeltäter|Auslöser|Knackpunkt|"
    r"\w{2,20}fehler|\w{2,20}problem)"
)
_TROUBLE_ES: Final = r"(?:fallo|problema|error|causa|culpable|motivo|cuelgue|fuga|bloqueo|raz[oó]n|bug|origen)"

_CAUSE: Final = any_of(
    rf"\b(?:the|that|this|our|actual|real|underlying){_NEAR}{{0,4}}? {_TROUBLE_EN}{_NEAR}{{0,5}}? "
    r"(?:(?:was|were|sat in|happened because)\b(?! (?:fixed|gone|solved|resolved|still|that you|not\b))|"
    r"(?:is|are) (?:that|because|due|caused|an?|the|in|with|our|your|not having)\b)",
    r"\b(?:root cause|culprit)\b|\b(?:cause|reason|problem|bug|issue|culprit)(?: (?:of|for|behind|with) [^.:\n]{2,50})?: "
    r"|\bto blame\b|\bturn(?:s|ed) out\b|"
    r"\bthat'?s because\b|\bhappen(?:s|"
    r"ed) because\b",
    r"\b(?:came|comes|coming|stems?|stemmed|resulted) from\b|\b(?:is|was|were|are) (?:caused|triggered|broken) by\b",
    r"\bin the end (?:it|that) was\b|\bam ende war(?:en)? es\b|\btrac(?:ed|es) (?:it )?(?:back )?to\b|\b(?:boils?|boiled|"
    r"comes?|came) down to\b",
    rf"\b{_TROUBLE_DE}\b[^.;:\n]{{0,60}}? (?:war|waren|ist|lag|liegt|kam|kommt|steckte)\b|\b(?:Ursache|Grund):",
    rf"\b(?:lag(?:'s)?{_NEAR}{{0,2}} (?:an|am|daran)|lag'?s (?:an|am|daran)|liegt{_NEAR}? daran)\b|\bdaran (?:lag|liegt)",
    rf"\bk(?:am|ommt|amen){_NEAR}{{0,2}}? (?:vo[nm]|davon|daher)\b|\bheraus(?:gestellt|stellte)\b|\b(?:schuld|verursacht|"
    rf"ausgelöst)\b",
    rf"\b(?:el|la|ese|este|esa){_NEAR}{{0,2}}? {_TROUBLE_ES}\b[^.;:\n]{{0,60}}? (?:era|eran|es|estaba|está|fue)\b|\b(?:causa|"
    rf"motivo):",
    r"\bse deb(?:e|ía|en|ían) a\b|\bpor culpa de\b|\bresult(?:a|ó)(?: ser)? (?:que\b|un|el|la)|\bven(?:ía|ían|imos) del?\b|"
    r"\bviene del?\b|\bal final era\b",
    r"\bprovocad[oa]s? por\b|\bera culpa\b",
)
# It failed, and why: "was killed because", "scheiterte an", "fallaba porque".
_BECAUSE: Final = any_of(
    r"\b(?:failed|killed|died|broke|crashed|hung|stalled|timed out|empty|rejected|refused|happened|occurred|slow|wrong|red"
    r"|lost)\b"
    r"[^.;\n]{0,40}? (?:because|'?cause|cuz|since)\b|\bwhat (?:happened|went wrong)\b[^.;\n]{0,30}? (?:is|was)\b",
    r"\b(?:scheiter\w{1,4}|entstand\w{0,2}|schlug\w{0,2}|brach\w{0,2}|stürzte\w{0,2}|hing\w{0,2})\b[^.;\n]{0,50}? (?:an|am"
    r"|weil|da|durch)\b",
    r"\b(?:fallaban?|falló|moría|petaba|tardaba|se colgaba|se caía|salía mal)\b[^.;\n]{0,40}? (?:porque|por|al)\b",
)
# What was done and what comes of it: "taking them in order ended the deadlocks", "with fullchain.pem the handshake succeeds".
_WORKS: Final = (
    r"(?:works?|worked|passe[sd]|pass|succeeds?|succeeded|runs?|ran|builds?|loads?|starts?|holds?|stays?|drops?|goes"
    r"|(?:is|are|was|were) (?:all )?(?:green|fine|ok|gone|back|clean|correct|stable|through))\b"
)
_EFFECT: Final = any_of(
    r"\b[a-z-]{2,20}ing\b [^;\n]{2,90}? (?:makes?|made|gives?|gave|keeps?|kept|ends?|ended|stops?|stopped|lets?|brings?|brought"
    r"|clears?|cleared|removes?|removed|gets?|got|avoids?|does|did) ",
    rf"\b(?:with|after|once|using|without|since)\b [^;\n]{{2,90}}? {_WORKS}",
    rf"\bI(?:'ve| have)? [a-z-]{{2,20}}(?:ed|t|de|et) [^;\n]{{1,90}}?(?:,| and)\b [^;\n]{{1,50}}? {_WORKS}",
    r"\b(?:mit|nach|nachdem|ohne|durch)\b [^;\n]{2,90}? (?:läuft|laufen|geht|gehen|klappt|bleibt|bleiben|startet|baut|lädt"
    r"|passt|sinkt"
    r"|(?:ist|sind) (?:\w{1,20} )?(?:grün|weg|gut|stabil|durch))\b",
    r"\b(?:con|tras|al|después de|sin|[a-z]{2,20}[aáeé]ndol[oa]s?|[a-z]{2,20}(?:ando|iendo))\b [^;\n]{1,90}? (?:arranca"
    r"|funciona|pasan?|baja"
    r"|queda|sale|compila|carga|ya no|va bien|deja de)\b",
)
# The other half of a sentence that tells what went wrong, by what it begins with: "…; with fullchain.pem it does".
_BY_MEANS: Final = re.compile(
    r"(?:with|using|after|once|over|through|since|mit|über|nach|seit|seitdem|per|con|tras|al|desde|usando)\b(?! (?:that|this|"
    r"all|each|the same)\b)",
    re.IGNORECASE)  # fmt: skip
_HALF: Final = re.compile(r"; |, (?:and|und|y|e) ")
_PAST: Final = any_of(
    r"\b(?:was|were|had|took|did|didn't|used|held|kept|got|came|went|read|wrote|sent|ran|lacked|broke|hung|lost|threw|blew|"
    r"fell|[a-z]{3,20}ed)\b",
    r"\b(?:war|waren|hatte\w?|wurde\w?|(?:ver)?(?:stand|lag|nahm|kam|blieb|ging|fiel|lief|hing|brach|lor|fand|hielt|stieß|warf|"
    r"schlug|traf|gab"
    r"|ließ|starb|trat|zog|schrieb|las)(?:en)?|[a-zäöü]{3,20}(?:(?<![aiou])|(?<=au))ten?)\b",
    r"\b(?:era|eran|estaban?|había\w?|tenía\w?|faltaban?|[a-záéíóú]{3,20}(?:aba|aban|ía|ían|ó))\b",
)
# "X was the Y": says why where what helped is said with it
_WAS: Final = any_of(
    r"\b(?:was|were) (?:the|an?|just|only|simply|our|because)\b", r"\b(?:war|waren) (?:der|die|das|nur|bloß|ein\w{0,2})\b",
    r"\b(?:era|eran) (?:el|la|los|las|una?|por|que|s[oó]lo)\b",
)
_FIX: Final = any_of(
    r"\b(?:fix(?:es|ed)|solv(?:es|ed)|resolv(?:es|ed)|cur(?:es|ed)|repair(?:s|ed)|unblock(?:s|ed)|work(?:s|ed) around|"
    r"got rid of)\b(?! in\b)",
    r"\b(?<!to )(?:prevents?|avoids?) (?:it|this|that|the)\b|\b(?:goes|went) away\b|\b(?:until|till) (?:we|I) \w{2,20}(?:ed|"
    r"t)\b|\b(?:was|is) (?:enough|all it took)\b|\bgets (?:it|"
    r"us) (?:through|past)\b",
    r"\b(?:the|proper|real|quick|actual) (?:fix|workaround|remedy|solution|cure|trick)\b[^.\n]{0,40}?(?: is| was|:)",
    r"\b(?:fix|workaround|remedy|solution):|\bdid the trick\b|"
    r"\b(?:is|are|was|were|builds?|works?|worked|runs?|starts?|passes|loads?) (?:\w{2,12} )?again\b",
    r"\b(?:beh(?:ebt|oben)|gelöst|löst (?:das|es|den)|repariert|gefixt|Abhilfe|Lösung|hilft|geholfen|verschwindet|verhindert|"
    r"Workaround)\b",
    r"\blässt sich umgehen\b|\b(?:ist|sind) (?:[^.;\n]{1,50} weg|Ruhe)\b|\b(?:geht|läuft|startet|baut|klappt|"
    r"funktioniert) (?:[^.;\n]{1,40} )?wieder\b",
    r"\b(?:arregl(?:a|ó|ado|ada|é|amos)|solucion(?:a|ó|ado|ada|é|amos)|res(?:uelto|uelve|uelta|olvió|olví|olvimos)|"
    r"corregid[oa]|soluci[oó]n)\b",
    r"\b(?:apañ(?:a|ado)|se quita con|desaparece|se acab(?:ó|aron)|bastaba? con|lo evita|vuelve a (?:funcionar|arrancar|ir))\b",
)
_FOLLOWS: Final = any_of(
    r",? (?:and )?so (?!that\b|far\b|I'll|I will|let|I\b|you\b|we\b)|\b(?:because|due to)\b|, (?:since|as)\b|\bwithout (?:it|"
    r"that|them)\b|"
    r"\bneed(?:s|ed)\b|\bexpect(?:s|ed)\b",
    r"\bwhich (?:meant|means|made|makes|left|leaves|broke|breaks|is why|caused|causes|kept|shadows?)\b|\bmeans that\b",
    r"\b(?:hence|therefore|thus|that'?s why|this is why)\b|\b(?:was|were|had been|been) (?:missing|left|never|stale|outdated|"
    r"wrong|too)\b",
    r"\binstead of\b|\bno longer\b|\bstill (?:pointed|had|used|referred|held|registered)\b|\balthough\b|\b(?:pointed|"
    r"points) (?:at|to)\b",
    r"\bnever (?:\w{2,20}ed|closed|freed|set|ran)\b|\b(?:was|were|had) [^.;\n]{0,60}\b(?:when|while|until)\b|\bbefore the\b|"
    r"\btwice\b|\bshadow(?:s|ed|ing)\b",
    r"\b(?:weil|wegen|aufgrund|dadurch|deshalb|deswegen|daher|wodurch|darum|sodass|so dass|fehlte|brauchte|braucht|statt|"
    r"obwohl|ohne (?:den|"
    r"das|die|es))\b",
    r"\b(?:porque|así que|por eso|por lo que|ya que|necesitaba|necesita|faltaba|falta|sin (?:él|ella|eso)|bloqueaba|impedía|"
    r"de modo que|seguía)\b",
    r"\bpor (?:no\b|[a-záéíóú]{3,20}[aei]r\b)|\bdebido a\b",
)
_DID: Final = (
    r"made|wrapped|added|pinned|moved|set|changed|switched|put|bumped|raised|lowered|replaced|disabled|enabled|removed|dropped|"
    r"excluded|rebuilt|"
    r"regenerated|renamed|reverted|turned|gave|cleared|installed|upgraded|downgraded|split|marked|locked|patched|corrected|"
    r"stripped"
)
_CHANGED: Final = any_of(
    rf"\bnow\b(?! (?:I|let|we))|\bI(?:'ve| have)? (?:{_DID})\b|\b(?:rebuilt|regenerated|after) (?:it|`)|\b(?:with|after|using|"
    rf"adding) `[^`\n]{{2,120}}`",
    r"\b(?:jetzt|nun|seitdem)\b|\bIch habe? [^.\n]{0,80}\b(?:ge|um|ein|aus|auf|hinzu)\w{2,30}\b|\b(?:mit|nach) `[^`\n]{2,120}`|"
    r"\bnach dem \w{4,20}en\b",
    r"\b(?:ahora|ya (?!está)|lo he|la he|los he|hay que|al \w{2,20}(?:ar|er|ir)(?:l[oa]s?)?)\b|\bcon `[^`\n]{2,120}`",
    r"\bhe (?:puesto|añadido|cambiado|fijado|quitado|movido|subido|bajado|metido|desactivado|activado)\b",
)
_UNSURE: Final = any_of(
    r"\?[\"')*_]{0,3}$|\b(?:could be|might|maybe|perhaps|probabl[ey]|possibly|likely|presumably|my guess|i'd guess|seems?|"
    r"appears?|looks like)\b",
    r"\bi (?:suspect|guess|think|assume|bet|believe)\b|\b(?:not sure|unclear|apparently|hypothe\w{2,10}|unless|supposedly|"
    r"would need|in theory)\b",
    r"\bmay (?:be|have|see|not|cause|lead|fail|get|still)\b",
    r"\bif (?:it|that|this|you|we|they)\b|\bhaven'?t verified\b|\bshould (?:be|fix|help|get|solve|do)\b|\b(?:typically|usually|"
    r"nearly always)\b",
    r"\b(?:vermutlich|wahrscheinlich|vielleicht|könnten?|möglich\w{0,10}|eventuell|wohl|scheint|sieht (?:so )?aus|glaube|denke|"
    r"schätze|womöglich)\b",
    r"\banscheinend\b|\bfalls (?:das|es|du|ihr|der|die|man|wir|sie|dessen|deren)\b|\b(?:quizás?|tal vez|puede (?:que|ser)|"
    r"podrían?|parece|probablemente|seguramente|creo que|supongo|igual es|diría)\b",
)
_SLIP: Final = any_of(  # what the agent itself got wrong a moment ago: nothing to remember
    r"\btypo\b|\bmy (?:own )?(?:mistake|fault|bad|slip|error|loop|test|regex|code|edit|change|patch|query|import|"
    r"\w{2,12} variable)\b|"
    r"\bI (?:had |have |just )?(?:assumed|forgot|missed|misread|mistyped|overlooked|guessed|left out|moved it)\b",
    r"\bTippfehler\b|\bmein(?:e|en)? (?:Fehler|Test|Änderung|Abfrage)\b|\bich (?:hatte|habe) [^.;\n]{0,60}(?:vergessen|"
    r"übersehen|verwechselt)\b",
    r"\berrata\b|\bmi (?:error|fallo|culpa|prueba|cambio)\b|\bsupuse\b|\bse me (?:olvidó|pasó|escapó)\b",
)
_BARE_FIX: Final = re.compile(r"(?:fixed|done|solved|behoben|gelöst|erledigt|arreglado|resuelto|hecho)[.,;!]+ ", re.IGNORECASE)
_EXPECTED: Final = any_of(  # red because it is not written yet: part of the work
    r"\bas expected\b|\b(?:doesn'?t|isn'?t|not|don'?t) [^.;\n]{0,30}\byet\b|\bwie erwartet\b|\bnoch (?:nicht|kein)\b",
    r"\bcomo (?:era de )?espera\w{1,3}\b|\b(?:todavía|aún) no\b",
)
_PLANNED: Final = any_of(
    r"\b(?:I'll|I will|let me|let's|I'm going to|going to|I'd|I would|want me to|shall I|should I|next:|todo)\b",
    r"\b(?:we|one) (?:could|should|can)\b|\bI can\b|\byou (?:could|should|can|may|might|need|want)\b|\bdo you\b",
    r"\bich (?:schaue|prüfe|werde|würde|probiere|sehe|baue|mache)\b|\b(?:soll ich|lass(?:en)? (?:mich|uns)|(?:wir|"
    r"man) (?:könnten?|sollten?))\b",
    r"\b(?:voy a|vamos a|déjame|(?:lo|la) (?:miro|compruebo|reviso|pruebo)|podemos|deberíamos|quieres que)\b",
    r"^(?:can|could|please|pls|fix|try|why|how|bitte|kannst|warum|puedes|arregla|por qué)\b",
)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a sentence states, one flag for each way of stating it."""

    cause: bool = False
    fix: bool = False
    follows: bool = False
    changed: bool = False
    effect: bool = False
    past: bool = False  # tells how something was: why, where what comes of it is said with it

    @property
    def weight(self) -> int:
        return 3 * self.cause + 3 * self.fix + self.follows + self.changed + 2 * (self.effect and not self.fix)

    @property
    def says_why(self) -> bool:
        return self.cause or self.follows

    @property
    def says_what_helped(self) -> bool:
        return self.fix or self.changed or self.effect


_NOTHING: Final = Claim()
_FEWEST: Final = 5  # words: "Fixed." names neither cause nor fix


def claim(sentence: str) -> Claim:
    """What a sentence states as sure. A part behind a semicolon may be a plan or a guess and spoils nothing before it."""
    if len(sentence.split()) < _FEWEST:
        return _NOTHING
    parts = _BARE_FIX.sub("", sentence, count=1).split("; ")
    sure = "; ".join(part for part in parts if is_sure(part) and not _EXPECTED.search(part))
    if len(sure.split()) < _FEWEST or _SLIP.search(sentence):
        return _NOTHING
    fixed = _FIX.search(sure) is not None
    caused = _CAUSE.search(sure) or _BECAUSE.search(sure) or (fixed and _WAS.search(sure))
    first, *others = _HALF.split(sure)
    means = _PAST.search(first) and any(_BY_MEANS.match(half) for half in others)
    return Claim(
        bool(caused), fixed, bool(_FOLLOWS.search(sure)), bool(_CHANGED.search(sure)), bool(_EFFECT.search(sure) or means),
        bool(_PAST.search(sure)),
    )  # fmt: skip


def is_sure(sentence: str) -> bool:
    """Whether it neither guesses, asks, plans nor advises."""
    return not _UNSURE.search(sentence) and not _PLANNED.search(sentence)


def guesses(sentence: str) -> bool:
    return _UNSURE.search(sentence) is not None
