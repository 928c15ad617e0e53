"""A few words -> whether they plainly lay down a rule, in any of the languages, or plainly ask for one step of the work.

What is learnt of a whole session's language says little of "Nunca uses var" in the midst of English work. The form says enough:
"never" or "always" at the beginning, or right behind the verb that begins it, with an imperative or an infinitive. "Siempre
falla" and "Nie klappt was" have no order in them and tell what happens. In English a bare "don't push to main" is such a rule
too, unless it is about this one thing or this one time. "Rename parse to parse_line in reader.py" is done once, and over.
"""

from __future__ import annotations

import re
from typing import Final

SURE: Final = 0.85  # as sure as any rule that its cues give away
_POLITE: Final = r"^(?:(?:please|pls|bitte|por favor|and|und|y|also|ok|okay|oye|wichtig|importante|ojo)[,:]? )*"

_ORDER_ES: Final = (
    r"(?:usa|utiliza|ejecuta|lanza|haz|escribe|añade|pon|comprueba|revisa|verifica|prueba|crea|documenta|commitea|etiqueta"
    r"|actualiza|borra|quita|renombra|formatea|pregunta|pregúntame|avísame|confirma|valida|incluye|mantén|instala|despliega"
    r"|guarda"
    r"|firma|pide|pídeme|consulta|trabaja|abre|cierra|separa|responde|respóndeme|contesta)"
)
_BANNED_ES: Final = (
    r"(?:\w{2,}(?:ques|gues|ees)|hagas|uses|utilices|borres|elimines|subas|cambies|edites|ejecutes|lances|escribas|pongas|metas"
    r"|añadas"
    r"|quites|fusiones|instales|actualices|crees|muevas|renombres|dejes|guardes|mandes|envíes|llames|importes|devuelvas|corras"
    r"|reinicies"
    r"|desactives|saltes|ignores|confíes|asumas|mezcles|copies|imprimas|expongas|incluyas|compartas|fuerces|abras|cierres"
    r"|reescribas"
    r"|sobrescribas|modifiques|commitees|respondas|contestes|trabajes|pruebes|silencies|captures|lleves|pidas|des|vuelvas a \w+)"
)
_SPANISH: Final = re.compile(
    rf"{_POLITE}(?:(?:nunca|jamás) (?:(?:me|lo|la|los|las|le|te) )?{_BANNED_ES}|no (?:(?:me|lo|la|los|las"
    rf"|le) )?{_BANNED_ES} (?:nunca|jamás)"
    rf"|(?:nunca|jamás|siempre) \w{{2,}}[aei]r(?:l[oae]s?)?|siempre {_ORDER_ES}|{_ORDER_ES} siempre)\b(?! que\b)"
)
_BETWEEN: Final = r"(?:(?!(?:ich|wir|er|man|du|ihr)\b)[\w`./@-]+ )?"
_ORDER_DE: Final = (
    r"(?:(?:push|verwend|deploy|lösch|committ?|benutz|nutz|führ|schreib|mach|setz|leg|pack|füg|änder|bearbeit|fass|rühr|merg"
    r"|rebas|test|prüf"
    r"|start|stopp|lass|frag|sag|antwort|erklär|erstell|bau|veröffentlich|speicher|logg|verschieb|ruf|halt|acht|beacht|vermeid"
    r"|überschreib"
    r"|entfern|squash|tagg|roll|schalt|umgeh|verschlüssel|mock|hardcod|editier|nenn|hol|klär|zeig|stell|\w{3,}ier)e?|nimm|gib"
    r"|lies|wirf)"
)
_GERMAN: Final = re.compile(
    rf"{_POLITE}{_ORDER_DE} (?!(?:ich|wir|er|man|es|uns)\b){_BETWEEN * 3}(?:niemals|nie"
    rf"|immer(?! noch| wieder| mehr)|stets)\b"
)
# "Nie auf main pushen": the infinitive is the last word of its clause, and small.
_BARE_GERMAN: Final = re.compile(
    rf"(?i:{_POLITE}(?:niemals|nie|immer(?! noch| wieder| mehr)|stets)) (?!(?:ich|wir|er|man|du|ihr|werden|wird|sind|ist|haben"
    rf"|hat|müssen|muss|können"
    rf"|kann|waren|war"
    r"|wurden|wollen|wenn|gehen|kommen|laufen|bleiben|hatten|hätten)\b)"
    rf"[\w`./@-]+ {_BETWEEN * 7}"
    r"(?!ge(?!hen|ben|neri|währ)|(?:verstanden|bekommen|worden|zufrieden|offen|trocken|selten|oben|unten|hinten|außen|innen"
    r"|gegen|neben"
    r"|zwischen|wegen|einen|keinen|den|allen|seinen|meinen|unseren|[\w]*lichen|[\w]*baren)\b)[a-zäöüß]{2,}(?:en|ern|eln)"
    r"(?=$|[,;:.!)]| (?:vor|nach|bevor|wenn|bei|ohne|außer|weil|sonst|damit|und|statt)\b)"
)

_BANNED_EN: Final = (
    r"(?:touch|edit|push|commit|modify|delete|change|use|merge|deploy|run|add|write|mock|rename|remove|force|rebase|log|print"
    r"|hard-?code|import|install|upgrade|bump|move|refactor|reformat|squash|disable|skip|ignore|expose|store|share|send|call|put"
    r"|create|introduce|rely|assume|return|catch|swallow|copy|paste|inline|generate|publish|release|tag|amend|repeat|mix|wrap)"
)
_FORBIDS: Final = re.compile(
    rf"{_POLITE}(?:(?:don['’]?t|do not|never) (?:ever )?{_BANNED_EN}|avoid|only (?:ever )?use) "
    r"(?!(?:it|this|that|them|these|those|anything|everything|any of|the (?:same|other))\b)"
)
_THIS_TIME: Final = re.compile(
    r"\b(?:yet|now|this time|today|tonight|until|till|unless|so far|again|(?:for|in|with|to|on|of) (?:this|that|it|these|those)"
    r"|i|you|we|then|first|there|because|since)\b|\?"
)
_STEP: Final = re.compile(
    rf"{_POLITE}(?:now |then |next,? |can you |could you )*(?:rename|refactor|write|move|delete|add|create|update|fix|implement"
    r"|remove|extract|split|revert|document|inline)\b"
)
_PIECE_OF_CODE: Final = re.compile(
    r"\b\w+\.(?:py|js|tsx?|go|rs|java|rb|sh|sql|md|ya?ml|toml|json|html|css|c|h|cpp)\b|\b\w+_\w+|\b\w+\(\)"
    r"|\b(?:function|method|class|import|helper|typo|migration|endpoint|variable|type hints?|docstring|unit test)\b"
)
_LASTS: Final = re.compile(
    r"[,;:]|\b(?:always|never|every\w*|each|only|must|should|don['’]?t|do not|any|all|whenever|when|before|after|unless|until"
    r"|instead|rather|not|no|future|from now on|per|new|whole|so that|because|since|default|by)\b"
)
_NO_ORDER: Final = re.compile(rf"{_POLITE}(?:don['’]?t|do not) (?:worry|bother|mind|panic|hesitate|sweat)\b")
_STEP_WORDS: Final = 14
_RULE_WORDS: Final = 12


def forbids(text: str) -> bool:
    """Whether somebody is told in English what never to do, or what alone to use."""
    low = text.strip(" .!").lower()
    return _FORBIDS.match(low) is not None and len(low.split()) <= _RULE_WORDS and not _THIS_TIME.search(low)


def is_one_step(text: str) -> bool:
    """Whether it asks for something that is done once, to a piece of the code; or orders nothing at all."""
    low = text.strip(" .!").lower()
    if _NO_ORDER.match(low):
        return True
    step = _STEP.match(low) is not None and _PIECE_OF_CODE.search(low) is not None
    return step and len(low.split()) <= _STEP_WORDS and not _LASTS.search(low)


def lays_down(text: str) -> bool:
    """Whether somebody is told what to do always, or never."""
    said = text.strip(" .!¡")
    low = said.lower()
    return any(form.match(low) for form in (_SPANISH, _GERMAN)) or _BARE_GERMAN.match(said) is not None
