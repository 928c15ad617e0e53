"""A user's reply to a proposal -> yes, a pick among what was offered, or neither (English, German, Spanish).

Somebody agrees with a word ("yes", "dale"), with a judgement of what was said ("that makes sense", "das überzeugt mich"), or by
telling to go on with it ("build that", "so machen wir's"). The first sentence answers, what follows goes on; only an order to
go on may come a sentence later. A question, a refusal or a "but" agrees to nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from hindbrain.reason.causes import any_of
from hindbrain.reason.own_words import BLANK, own

_HEAD: Final = 320  # letters of a reply that can be its answer
_YES: Final = re.compile(
    r"(?:(?:ok(?:ay|i|ie)?|k|oh|ah|haha|lol|hm+|um|well|right|alright|great|cool|nice|good|oh well|so|na|nun|gut|super|schön|"
    r"bueno|pues|venga|ah[ií] va|"
    r"fair enough|thanks|thx|danke|gracias)[,.!:;)\s-]+){0,3}"
    r"(?P<yes>y(?:es+|eah?|ep|up|ess|e|ea)?\b|sure\b|agreed?\b|i agree|deal\b|done deal|(?:that |it |this )?(?:sounds?|"
    r"looks?) (?:very |really |pretty |quite )?"
    r"(?:good|great|right|fine|reasonable|sane|sensible|like a plan|perfect|ok)|(?:that |it |this )?(?:makes|make) (?:total |"
    r"perfect |a lot of )?sense|"
    r"(?:please )?(?:go|go ahead|go for (?:it|that)|do (?:it|that|so|the|this|exactly)|proceed|ship it|make it so)\b|"
    r"let'?s (?:do|go with|take|use|have) (?:that|it|this|so|exactly|your|the)\b|"
    r"works for me|fine (?:by|with) me|i'?m (?:fine|ok|happy) with|i(?:'d| would)? (?:like|love) (?:that|it|this)|love (?:it|"
    r"that)|\+1|👍|✅|perfect\b|exactly\b|"
    r"(?:that'?s|that is|exactly) (?:what i|how i|fine|good|it|perfect|the one|exactly)|good (?:idea|plan|call|point)|"
    r"absolutely|definitely|"
    r"ja\b|jap?\b|jo\b|jep\b|jawohl|passt\b|klingt (?:\w+ )?(?:gut|vernünftig|sinnvoll|plausibel|prima|nach)|mach(?:en wir|"
    r"e?n?)? (?:das |es |mal |bitte )?(?:so|das|es)\b|so machen|"
    r"einverstanden|genau\b|gerne?\b|finde? ich (?:auch )?gut|gute idee|nehmen wir|bin dabei|leg los|abgemacht|perfekt\b|"
    r"in ordnung|geht klar|stimme zu|"
    r"s[ií]\b(?! (?:eso|no|hay|es que))|vale\b|dale\b|perfecto\b|de acuerdo|hecho\b|adelante\b|me (?:gusta|parece (?:bien|"
    r"perfecto|genial)|cuadra|vale|convence)|suena bien|"
    r"hazlo|as[ií] (?:mismo|lo|está bien|vale)|claro\b|eso es|genial\b|buena idea|tira\b|trato hecho|conforme|ok(?:ay)?\b|"
    r"great\b|fine\b|good\b|cool\b|nice\b|alright\b|gut\b|super\b|bueno\b)",
    re.IGNORECASE)  # fmt: skip
_WEAK: Final = re.compile(r"(?:ok(?:ay)?|great|fine|good|cool|nice|alright|gut|super|bueno|perfect|perfecto|perfekt|genial|"
                          r"vale|passt|genau|exactly|claro|hecho)$", re.IGNORECASE)
# To have nothing against it is to agree, for all its negations.
_UNOPPOSED: Final = any_of(
    r"\b(?:(?:can(?:'?t|not)|don'?t|do not) (?:see|have|find) (?:an?|any)|no|nothing|zero|"
    r"without(?: any)?) (?:\w{2,12} )?(?:holes?|objections?|"
    r"complaints?|issues?|to add|against)\b(?: in| to| with)?(?: that| it| this)?",
    r"\bwhy not\b|\b(?:can'?t|won'?t|doesn'?t) hurt\b|\bnot bad\b|\bno[- ]brainer\b|\bwarum (?:auch )?nicht\b|"
    r"\bschadet \w{0,4} ?nicht\b|"
    r"\bnicht schlecht\b|\b(?:nichts|kein\w{0,2}) (?:\w{2,12} )?(?:dagegen|einw[aä]nde?|einzuwenden|hinzuzufügen)\b|"
    r"\bpor qué no\b|\bnada (?:mal|que (?:objetar|añadir|decir))\b|\b(?:sin|ninguna|no veo) (?:\w{2,12} )?(?:pegas?|objeci\w+)\b",
)
_NO: Final = any_of(
    r"\b(?:no|nope|nah|not|don'?t|never|neither|none|nein|nee|nicht|kein\w*|tampoco|para nada)\b|\?",
)
_BUT: Final = any_of(
    r"\b(?:but|however|except|rather|instead|wait|stop|hold on|hmm+|later|not (?:now|yet|today)|unless|maybe|let me think|"
    r"think about|"
    r"not sure|dunno|although)\b",
    r"\b(?:aber|lieber|stattdessen|warte|stopp|später|außer|vielleicht|überleg\w*|keine ahnung|noch nicht|nicht jetzt)\b",
    r"\b(?:pero|mejor|espera|todavía|quizás?|luego|salvo|ni idea|me lo pienso|ahora no)\b|\?",
)
# Told to go on: an order, or "we" and "I" with one, that ends with what stands for the proposal.
_IT: Final = r"(?:it|that|this|those|them|so|exactly|precisely)"
_GO_ON: Final = any_of(
    rf"^(?:(?:so|and|then|ok(?:ay)?|yes|please|pls|just|i|we|i'?ll|we'?ll|let'?s|let us|she says|he says|they say)[, ]+){{0,3}}"
    rf"(?:do|go with|go for|build|make|take|use|plan|treat|write|ship|handle|implement) (?:\w{{2,12}} ){{0,2}}?{_IT}"
    r"(?: (?:like (?:that|this)|that way|this way|way|one|so|then|please|pls|as \w{2,10}))*$",
    r"^(?:\w{2,12} ){0,2}go(?: ahead| on)?(?: with (?:it|that|this))?(?: please| then)?$|\bgo ahead\b|\bproceed\b|\bship it\b",
    rf"\blet(?:'?s| us) do (?:\w{{2,12}} )?{_IT}\b|\b(?:as you (?:say|suggest|propose))$",
    r"\bso machen\b|\bmach(?:en|ma|e|t|en wir)?(?:'s| wir| wir's| das| es| mal| bitte| genau){0,3} so\b|"
    r"\bmach(?:en wir)?(?: das| es|'s)?$|"
    r"\bleg los\b|\bhau (?:rein|raus)\b|\bnur zu\b|\bnehmen wir so\b",
    r"(?<!más )\badelante\b|\bh(?:az|aga|ága|agamos|agámos)lo\b|\bas[ií] (?:déjalo|mismo|queda|lo (?:hacemos|dejamos))\b|"
    r"\bdéjalo así\b|"
    r"\bdale\b|\btira (?:con|por|pa)\b|\bórale\b",
)
# A judgement of what was proposed, in a clause of its own.
_WELL: Final = any_of(
    r"\b(?:convinced|convincing|settled|settles|persuaded|splendid|excellent|brilliant|reasonable|"
    r"sensible|obviously|of course|by all means)\b|^\W*(?:i'?m |ok(?:ay)? )?sold$|👍|✅|\+1|"
    r"\b(?:that|this|it)(?:'?s| is)(?: \w{2,6}){0,2} (?:nicer|better|cleaner|simpler)\b|^\W*(?:less bad|(?:much |even )?better)$",
    r"\b(?:makes?|making)(?: \w{2,10}){0,3} sense\b|\b(?:that|it|this) (?:matches|works|helps|would (?:help|work)|is (?:good|fine"
    r"|right))\b|\bit'?s (?:good|fine|right)\b|\bgood (?:idea|plan|call|thinking)\b",
    r"\bi (?:really )?(?:like|love) (?:it|that|this|the)\b|\b(?:what|as|how) (?:i|we)(?:'?d| would)\b|\bi was hoping\b|"
    r"\bwhat i (?:meant|had in mind|wanted|was thinking)\b|"
    r"\byou had me\b|\bsame here\b|\bi(?:'?d| would)? agree\b|\bagreed\b|\bi'?m in\b",
    r"\b(?:überzeug\w{1,4}|logisch|rund|vernünftig|sinnvoll|einleuchtend|meinetwegen|von mir aus|seh\w? ich (?:auch|genau) ?so|"
    r"klingt|"
    r"gekauft|gebongt|passt)\b",
    r"\b(?:razonable|sentido|sensato|convence\w?|convencid[oa]|convincente|buena idea|de acuerdo|eso mismo|me (?:lo compro|fío|"
    r"cuadra|gusta|"
    r"parece)|mucho mejor|comprado)\b",
)
_TURNS: Final = re.compile(r"\W{1,4}(?:(?:hm+|ah|oh|and|y|und) )?(?:but|wait|hold on|aber|moment|warte|pero|"
                           r"espera)\b", re.IGNORECASE)
_UNDERSTOOD: Final = any_of(r"^\W*(?:(?:that|it|this|ah|ok(?:ay)?|das|eso)[, ]+)*(?:makes?|macht|"
                            r"tiene)(?: \w{2,10}){0,2} (?:sense|sinn|sentido)\W*$")
_LEADING_NO: Final = re.compile(r"(?:no|nope|nah|nein|nee)\b[,.!: ]{1,3}", re.IGNORECASE)
_SENTENCE_END: Final = re.compile(r"[\n!;?]+|\.+(?:\s|$)")
_CLAUSE_END: Final = re.compile(r",(?: (?:so|and|und|y|which)\b)?|\s[–-]\s|:\s")
_LEADING_NOISE: Final = re.compile(r"^(?:(?:h+m+|a+h+|o+h+|uh+|well|puh|hm|na|tja|uf|ay|mm+)\b[,.!…\s]*)+", re.IGNORECASE)
_ECHO: Final = 60  # letters in which a yes takes up what it is for
_CLAUSE: Final = 14  # words of a clause that judges, or tells to go on
_LIKE_THAT: Final = re.compile(r"\b(?:like that|that way|as you say|exactly (?:so|that|like)|do (?:that|it)|"
                               r"mach(?:en wir)? (?:das |es )?(?:so|das)|genau so|so machen|as[ií]|hazlo|adelante|leg los|"
                               r"mach(?:en wir)?(?:'s| es)?|go(?: ahead| for it)?[.!]*$|love it)(?=\W|$)", re.IGNORECASE)
_PLACES: Final = (
    ("first", "1st", "former", "erste", "ersteres", "primera", "primero", "primer", "number one", "one", "a", "1"),
    ("second", "2nd", "latter", "zweite", "letztere", "letzteres", "segunda", "segundo", "number two", "two", "b", "2"),
    ("third", "3rd", "dritte", "tercera", "tercero", "tercer", "number three", "three", "c", "3"),
    ("fourth", "4th", "vierte", "cuarta", "cuarto", "four", "d", "4"),
    ("fifth", "5th", "fünfte", "quinta", "quinto", "five", "e", "5"),
)
_PLACE_OF: Final = {word: place for place, words in enumerate(_PLACES) for word in words}
_ORDINAL: Final = (
    r"first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th|former|latter|last|(?:erst|zweit|dritt|viert|fünft)e[snr]?|letztere?s?|"
    r"primer[ao]?|segund[ao]|tercer[ao]?|cuart[ao]|quint[ao]|últim[ao]"
)
_NOUN: Final = r"one|option|variante?|approach|choice|way|idea|opción|vorschlag|weg|lösung"
_ENDED: Final = (
    r"(?= ?(?:$|[,.!;:)]| (?:it is|is|sounds?|looks|then|please|pls|bitte|for|because|since|with|dann|klingt|gefällt|passt|ist|"
    r"weil|me|parece|suena|por|porque|y|and|und)\b))"
)
_PICK: Final = any_of(
    rf"(?:^|[,.] )(?:(?:yes|yeah|ok|ja|sí|then|dann|rather)[, ]+)?(?P<first>{_ORDINAL})(?: (?:{_NOUN}))?{_ENDED}",
    rf"\b(?:the|die|der|das|den|dem|la|el|lo|your)\s+(?P<ordinal>{_ORDINAL})(?: (?:{_NOUN}))?{_ENDED}",
    r"\b(?:option|variante?|number|nr\.?|nummer|plan|opción|approach|lösung|no\.)\s?[#(]?(?P<named>[a-e]|[1-5])\b",
    r"^(?:(?:ok(?:ay)?|yes|yeah|ja|sí|si|dann|let'?s|then|pues|venga)[, ]+){0,3}(?:(?:go|do|take|use|i'?ll take|i'?d take|nimm|"
    r"nehmen wir|vamos|tira|i vote|let'?s do)"
    rf"(?: (?:with|for|con|mit))? )?\(?(?P<bare>[a-e]|[1-5])\)?{_ENDED}(?! (?:and|y|und)\b)",
)


@dataclass(frozen=True, slots=True)
class Reply:
    """How a user answered."""

    yes: bool = False
    strong: bool = False  # more than a friendly noise
    like_that: bool = False  # agrees to a way of doing something
    judges: bool = False  # says that it is good
    pick: int | None = None  # place of what was chosen among what was offered, -1 for the last
    rest: str = ""  # what follows the pick or, in its own clause, the yes
    said: str = field(default="", compare=False)  # the first words, for what they take up


_NOTHING: Final = Reply()


def reply(text: str) -> Reply:
    """How this message answers what stands before it."""
    head = _LEADING_NOISE.sub("", own(text[:4 * _HEAD]).replace(BLANK, " ").strip()[:_HEAD])
    first = _SENTENCE_END.split(head, maxsplit=1)[0]
    if head[len(first):len(first) + 1] == "?":
        return _NOTHING
    chosen = _LEADING_NO.sub("", first, count=1)
    found = _PICK.search(chosen)
    place = _place(found) if found else None
    if found and place is not None and not _NO.search(chosen) and not _BUT.search(chosen):
        return Reply(yes=True, strong=True, pick=place, rest=chosen[found.end():].strip(" ,.!:()"))
    return _agreeing(head, first)


def _agreeing(head: str, first: str) -> Reply:
    said = _UNOPPOSED.sub("yes", first)
    yes = _YES.match(said)
    at = yes.end() if yes else 0
    goes_on = _told_to_go_on(head)
    clause = min((each for each in _CLAUSE_END.split(said) if _judges(each)), key=_understands, default="")
    upto = max(at, said.find(clause) + len(clause) if clause else 0, len(said) if yes and not goes_on else 0)
    if not (yes or clause or goes_on) or _BUT.search(said) or _NO.search(said[at:upto]):
        return _NOTHING
    if not goes_on and _TURNS.match(head[len(first):]):
        return _NOTHING
    like_that = goes_on or _LIKE_THAT.search(first) is not None
    strong = like_that or bool(clause) or (yes is not None and not _WEAK.match(yes.group("yes").strip()))
    understood = _understands(clause)
    if (not strong or understood) and not like_that and "?" in head:
        return _NOTHING
    rest = _CLAUSE_END.split(said[at:].lstrip(" ,.!:"), maxsplit=1)[0] if yes else ""
    judges = bool(clause and not understood) or said != first
    return Reply(True, strong, like_that, judges, rest=rest.strip(" ,.!"), said=head[:_ECHO])


def _told_to_go_on(head: str) -> bool:
    """In the first sentences, up to one that asks, refuses or objects."""
    at = 0
    for end in (*list(_SENTENCE_END.finditer(head))[:3], None):
        sentence, at, mark = (head[at:end.start()], end.end(), end.group()) if end else (head[at:], len(head), "")
        if "?" in mark or _BUT.search(sentence):
            return False
        clauses = [each.strip() for each in _CLAUSE_END.split(sentence)]
        if any(len(each.split()) <= _CLAUSE and _GO_ON.search(each) and not _NO.search(each) for each in clauses):
            return True
        if _NO.search(" ".join(sentence.split()[:2])):
            return False
    return False


def _understands(clause: str) -> bool:
    return _UNDERSTOOD.search(clause) is not None


def _judges(clause: str) -> bool:
    return len(clause.split()) <= _CLAUSE and _WELL.search(clause) is not None and not _NO.search(clause)


def _place(found: re.Match[str]) -> int | None:
    word = next(value for value in found.groupdict().values() if value).lower()
    if word in ("last", "último", "última"):
        return -1
    return next((place for form, place in _PLACE_OF.items() if word == form or _is_form(word, form)), None)


def _is_form(word: str, form: str) -> bool:
    """The same ordinal with another ending."""
    return len(form) > 4 and word.startswith(form[:-1])
