"""A rule or a liking -> where it holds: in its project, or everywhere.

Erring towards the project: a rule that is missing elsewhere is said again, one that nobody meant there is in the way. So what
names this place stays here, whatever else it says. Everywhere holds what the person says so of ("in all projects"), and how they
want to be talked to: the answers they get, not the answers of a gateway. Looked for in all languages at once, as a few words
hardly tell which one they are in.
"""

from __future__ import annotations

import re
from typing import Final

_SOME: Final = r"(?:\w+ )?" * 4  # words between
_TONGUE: Final = (
    r"(?:english|german|spanish|french|dutch|italian|portuguese|polish|swedish|norwegian|danish|deutsch|englisch|spanisch"
    r"|französisch|italienisch|español|inglés|castellano|alemán|francés|italiano|portugués)"
)
_ANSWERS: Final = (
    r"(?:answers?|repl(?:y|ies)|responses?|explanations?|summar(?:y|ies)|recaps?|antwort(?:en)?|erklärung(?:en)?"
    r"|zusammenfassung(?:en)?|respuestas?|explicaci(?:ón|ones)|res[uú]men(?:es)?)"
)
_MANNER: Final = (
    r"(?:short(?:er)?|brief(?:er|ly)?|terse(?:r|ly)?|concise(?:ly)?|long(?:er)?|verbose|wordy|detailed|plain(?:ly)?|to the point"
    r"|kurze?[rsnm]?|kürzer\w{0,2}|knapp\w{0,3}|lange?[rsnm]?|ausführlich\w{0,3}|prägnant\w{0,2}"
    r"|cort[oa]s?|breve(?:s|mente)?|concis[oa]s?|larg[oa]s?|escuet[oa]s?|detallad[oa]s?)"
)
_LEAD: Final = (
    r"(?:^|[,;:.] )(?:(?:please|pls|always|only|never|you|should|must|have to|from now on|in future|going forward|and|also|ok"
    r"|so|then"
    r"|just|but|don'?t|do not|bitte|immer|nur|nie|niemals|ab jetzt|ab sofort|künftig|und|du|sollst|por favor|siempre|nunca|solo"
    r"|sólo|a partir de ahora|desde ahora|y),? ){0,5}"
)
_WAY: Final = (
    rf"(?:in (?:plain |simple |british |american )?{_TONGUE}|auf {_TONGUE}|en {_TONGUE}|(?:more |less |muy |más |sehr )?{_MANNER}"
    r"|in (?:\w+ )?(?:sentences?|prose|bullets?|bullet points|paragraphs?)|in (?:\w+ )?(?:sätzen|stichpunkten)"
    r"|(?:without|ohne|sin) (?:jargon|emojis?|fluff|filler|floskeln|rodeos|jerga))"
)
_PLACE: Final = (
    r"(?:repos?|repository|repositories|projects?|code ?base|code|monorepo|solution|workspace|package|module|service|app|branch"
    r"|folder"
    r"|directory|file|team|website|projekte?s?|paket|modul|dienst|zweig|ordner|verzeichnis|datei|proyecto|repositorio"
    r"|código|paquete|módulo|servicio|rama|carpeta|directorio|archivo|fichero|equipo)"
)
# Names the place where it was said: this repository, here.
_HERE: Final = re.compile(
    rf"\b(?:here|hier|hierzulande|aquí|acá|(?:this|these|our|diese[mrns]?|unsere?[mrns]?|este|esta|nuestr[oa]) (?:\w+ )?{_PLACE}"
    rf"|(?:in|for|on|of|within|inside|throughout) the (?:\w+ )?{_PLACE}|im (?:\w+ )?{_PLACE}|(?:in|für|bei) (?:dem|der"
    rf"|das) {_PLACE}"
    rf"|(?:en|del?|para) (?:el|la) {_PLACE}|del {_PLACE})\b"
)
# Says of itself that it holds everywhere.
_ALL_OVER: Final = re.compile(
    r"\b(?:(?:in|across|for|on|at) (?:all|every|any|each)(?: of)?(?: the| my| our)?(?: other)? (?:projects?|repos?"
    r"|repositor(?:y|ies)"
    r"|code ?bases?)|(?:no matter|regardless of|whatever) (?:which |what |the )?(?:project|repo)|(?:wherever|everywhere) (?:i"
    r"|we) work"
    r"|(?:in|bei|für) (?:alle[nr]?|jede[ms]|sämtlichen?)(?: meinen?| unseren?)? (?:projekte?n?|repos?|repositor(?:y|ies))"
    r"|projektübergreifend|(?:en|para) (?:todos|cualquier|cada)(?: los| mis| nuestros)? (?:proyectos?|repos?|repositorios?))\b"
    r"|^(?:and |und |y )?(?:everywhere|überall|en todas partes|en todos lados)[:,]"
)
# At the end of a rule "everywhere" is all over the code; at the end of a liking it is wherever one works.
_LIKED_ALL_OVER: Final = re.compile(r"\b(?:everywhere|überall|en todas partes|en todos lados)$")
# How one wants to be talked to.
_TALK: Final = re.compile(
    rf"\b(?:your|ur|deine[rnm]?|tus?) (?:\w+ )?(?:\w+ )?{_ANSWERS}\b"
    rf"|\b{_MANNER},? (?:(?:and |und )?{_MANNER} )?{_ANSWERS}(?=$|[.,;:!)]| (?:to (?:me|us)|for me|please|pls|without|with|over"
    rf"|than|best|like"
    r"|from|instead|and|lieber|bitte|von dir|ohne|mit|am|reich\w+|sind mir|übrigens|wie)\b)"
    rf"|\b{_ANSWERS} (?:más |muy )?{_MANNER}(?=$|[.,;:!)]| (?:por favor|que te|sin|con|y|please|pls|like)\b)"
    rf"|{_LEAD}(?:(?:keep|make|give me|i (?:like|want|prefer|need)|halte?) )?(?:the |all |die |las )?{_ANSWERS}"
    rf"(?: (?:bitte|immer|nur|always|only|please|siempre|möglichst|to be|as))* {_WAY}\b"
    rf"|\bi(?:'d)? (?:\w+ )?(?:like|prefer|hate|love|want|need) (?:such |the |my )?(?:answers|explanations|summaries)\b"
    rf"|{_LEAD}(?:answer|reply|respond|talk|speak|antworte|rede|sprich|responde|contesta|habla)"
    rf"(?: (?:back|only|always|mir|uns|bitte|immer|nur|siempre|solo|sólo|por favor))* {_WAY}\b"
    rf"|{_LEAD}{_WAY} (?:antworten|erklären|reden)\b"
    rf"|\b(?:answer|address|(?:talk|speak|reply|respond)(?: back)? (?:to|with)|explain (?:it |this |that |things "
    rf"|everything )?to) (?:me|us)\b"
    rf"|\bgive (?:me|us) {_SOME}{_ANSWERS}\b|\bcall me (?!before|when|if|first|back|as soon)|\bspare me the (?:jargon"
    rf"|lectures?|essays?|flattery)\b"
    rf"|\b(?:antworte|antwortest du) (?:mir|uns)\b|\b(?:mit mir|with me) {_SOME}{_TONGUE}\b|\bfass dich kurz\b"
    rf"|\bschreib\w{{0,2}} mir (?:\w+ )?(?:\w+ )?auf {_TONGUE}\b|\b(?:duze?|sieze?|nenne?) mich\b|\bconmigo\b"
    r"|\b(?:respónde|contésta|hábla|explíca|tutéa|tráta)(?:me|nos)\b|\bme (?:contestes|respondas|hables|trates|tutees)\b"
    r"|\bllámame (?!antes|cuando|si\b|primero)"
    rf"|\bno (?:more |long )?(?:explanations|summaries|recaps)\b(?= unless| please|$|,)"
    rf"|\b(?:stop|don'?t|never|quit|no more) (?:apologi[sz]\w+|flatter\w*)|{_LEAD}(?:be|keep it) (?:more |less |very )?(?:brief"
    rf"|terse|concise)\b"
)
# What else answers or is answered: other people, programs, what is written for others.
_OTHERS: Final = re.compile(
    r"`|\w[/_]\w|https?:|\b(?:apis?|endpoints?|servers?|gateways?|handlers?|bots?|chatbots?|apps?|web(?:site|hook)s?|customers?"
    r"|users?"
    r"|clients?|readers?|contributors?|visitors?|patients?|commits?|tickets?|tests?|logs?|requests?|json|http|kunden?\w{0,10}"
    r"|nutzer\w{0,3}"
    r"|leser\w{0,3}|anfragen?|clientes?|usuarios?|lectores|pacientes?|familias|peticiones|correos?|mails?|emails?)\b"
)


def holds_everywhere(kind: str, text: str) -> bool:
    """Whether it is meant for every project."""
    low = " ".join(text.lower().split()).strip(" .!")
    if kind not in ("preference", "instruction") or _HERE.search(low):
        return False
    if _ALL_OVER.search(low) or (kind == "preference" and _LIKED_ALL_OVER.search(low)):
        return True
    return _TALK.search(low) is not None and _OTHERS.search(low) is None
