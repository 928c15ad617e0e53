"""A text and where it came from -> what it may become, and why a person has to look at it first.

Only what a person says can rule. Whatever a tool, a web page, a file or an issue says is, at most, a fact that it says so; and
what speaks to assistants in the imperative, or asks for secrets, is shown to a person before anybody else.
"""

from __future__ import annotations

import re
from typing import Final

RULING: Final = frozenset({"instruction", "preference"})  # kinds that tell an agent what to do
_TRUST_OF_ROLE: Final = {"user": "user", "assistant": "assistant", "tool_call": "assistant", "tool_result": "tool"}
_MOST: Final = 2_000  # letters of one piece that are looked at

# Words that name what must not leave the machine, and words that move it away.
_SECRET: Final = re.compile(
    r"\.env\b|\.npmrc\b|\.netrc\b|\.pgpass\b|id_rsa|id_ed25519|~/\.(?:ssh|aws|kube|gnupg|config)|/etc/(?:passwd|shadow)"
    r"|profiles\.yml|kubeconfig"
    r"|\b(?:secrets?|credentials?|passwords?|passphrases?|api[ _-]?keys?|access[ _-]?keys?|private keys?|ssh keys?|tokens?"
    r"|cookies?|environment variables"
    r"|env vars|keychain|zugangsdaten|passw(?:ort|örter)|geheimnisse|schlüssel(?! (?:der tabelle|des \w+|zum \w+|ist)\b)"
    r"|umgebungsvariablen|contraseñas?|credenciales|secretos?"
    # "clave" is a primary key, a keyword and the key to success as well
    r"|claves? (?:privadas?|secretas?|ssh|api|gpg|de (?:acceso|la api|api|ssh|cifrado|producción|administrador|root|usuario)"
    r"|del (?:servidor|usuario|administrador))"
    r"|(?:las?|tus?|mis?|sus?|nuestras?|sub\w+|env[ií]\w+) claves?(?! (?:primari|for[aá]ne|[uú]nic|compuest|natural|es\b|son\b"
    r"|está\b|del?\b|para\b|valor))"
    r"|variables de entorno)\b",
    re.IGNORECASE,
)
# Secrets that are wanted by whoever speaks: no address is needed. "send me the token count" wants none.
_WORD: Final = r"(?: (?!kein|nie|nicht|never|no |nunca)\w+)?"
_SECRETS_TO_ME: Final = re.compile(
    r"(?<!never )(?<!not )(?<!n't )\b(?:(?:send|e-?mail|mail|forward|post|hand|dm) (?:me|us)"
    r"|(?:schick|send|maile?|leite)\w{0,2} (?:mir|uns)|(?:env[ií]a|m[aá]nda|reenv[ií]a|p[aá]sa)(?:me|nos))"
    rf"{_WORD}{_WORD}{_WORD} (?:secrets|credentials|passwords?|passphrases?|api[ _-]?keys?|access[ _-]?keys?|private keys?"
    rf"|ssh keys?"
    r"|tokens|zugangsdaten|passw(?:ort|örter)|geheimnisse|schlüssel|contraseñas?|credenciales|secretos"
    r"|claves(?! (?:primari|for[aá]ne))|(?:la|tu) clave)"
    r"(?=$|[.,;:!?)]|\s(?:of|for|from|in|and|to|now|von|für|aus|und|der|des|de|del|y|por)\b)",
    re.IGNORECASE,
)
_SEND: Final = re.compile(
    r"\b(?:send|upload|post|e-?mail|forward|exfiltrate|transmit|publish|paste|submit|leak|ship|curl|wget|copy|push|dump|print"
    r"|echo|reveal|include|attach|report"
    r"|schick\w*|sende\w*|hochlad\w*|lade\w*|poste|veröffentlich\w*|überträg\w*|env[ií]a\w*|m[aá]nda\w*|sube|subir|publica\w*"
    r"|pega|reenv[ií]a\w*)\b",
    re.IGNORECASE,
)
_AWAY: Final = re.compile(
    r"https?://|\bftp://|@[\w-]+\.\w|\b(?:webhook|pastebin|gist|endpoint|server|url|public|issue|ticket|comment|channel"
    r"|externally|summary|outside|attacker"
    r"|öffentlich\w*|extern\w*|servidor|público|adresse|direcci[oó]n)\b",
    re.IGNORECASE,
)
_PIPED: Final = re.compile(
    r"\b(?:curl|wget|iwr|invoke-webrequest)\b[^|\n]{0,200}\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\|\s?(?:sudo )?(?:ba|z)?sh\b|\biex\b"
    r"|base64 -d",
    re.IGNORECASE,
)

# Whoever is spoken to as an assistant, a model, an agent.
_ADDRESSED: Final = re.compile(
    r"\b(?:(?:ai|llm|coding|automated|code|language|ki|ia)[ -](?:agents?|assistants?|tools?|models?|bots?|systems?|agenten?"
    r"|assistenten?)"
    r"|(?:agents?|assistants?|copilots?|chatbots?|llms?|claude|codex|gpt|gemini|cursor)\s?(?::|,| (?:must|should|shall|are"
    r"|need|have|please|reading|working|that|who|can|may))"
    r"|any ai\b|as an ai|note (?:to|for) (?:\w+ )?(?:agents?|assistants?|ais?|llms?|models?|bots?)|(?:if )?you are an? (?:ai"
    r"|llm|agent|assistant)"
    r"|ki-(?:agenten?|assistenten?|werkzeuge?|tools?|systeme?)|(?:agenten|assistenten) (?:müssen|sollen|sollten)|hinweis (?:an"
    r"|für) (?:\w+ )?(?:ki|agenten|assistenten)"
    r"|(?:agentes?|asistentes?) (?:de (?:ia|código|programación)|deben?|tienen|autom)|(?:nota )?para (?:los )?(?:agentes"
    r"|asistentes)|si eres (?:un|una) (?:ia|agente|asistente|modelo))",
    re.IGNORECASE,
)
# The same, as nobody speaks to an assistant of their own: of assistants in general, or to undo whatever they were told before.
_AT_LARGE: Final = re.compile(
    r"\b(?:(?:all|any|every) )?(?:ai|llm|automated|coding)[ -](?:agents?|assistants?|tools?|models?|bots?) (?:must|should"
    r"|shall|are|need|have"
    r"|working|reading)|\bassistants? (?:must|should|shall|are required)|\bnote (?:to|for) (?:ai|llm|coding|automated|all|any)\b"
    r"|\bki-(?:agenten|assistenten) (?:müssen|sollen)|\b(?:agentes|asistentes) de ia\b"
    # of one prompt, or of rules about one thing, people take back their own
    r"|\b(?:ignore|disregard|forget(?= all)) (?:(?:all|any) (?:of )?(?:the |your )?(?:previous|prior|earlier|preceding) "
    r"(?:instructions?|rules?|prompts?)|(?:the |your )?(?:previous|prior|earlier|preceding) (?:instructions|rules|prompts))\b"
    r"(?! (?:about|on|regarding|concerning)\b)"
    r"|\b(?:ignorier\w{0,3}|missacht\w{0,3}|verg[ie]ss\w{0,2}(?= (?:bitte )?(?:alle|sämtliche)))(?: bitte)?"
    r"(?: (?:alle|sämtliche))?(?: (?:die|deine|eure|meine|ihre))?(?:(?<=alle)|(?<=sämtliche)|(?<=alle deine)|(?<=alle meine)"
    r"| (?:vorherig|bisherig|vorig|früher|obig|vorangegangen|vorhergehend)\w{1,2}) (?:anweisungen|instruktionen|vorgaben|prompts"
    r"|regeln)\b(?! (?:zu|zum|zur|für|über|bei|in|im|aus|der|des|unter|von(?! (?:vorher|oben|eben)))\b)|\bbeachte\w? (?:die"
    r"|deine) (?:vorherigen|bisherigen) anweisungen nicht\b"
    r"|\b(?:ignor(?:a|ad|e|en|ar)|olvid(?:a|ad|e|en|ar)|desobedece|(?:haz|haga) caso omiso (?:a|de)|no hagas caso (?:a|de))"
    r"(?: todas)?(?: (?:las|tus|mis|sus))? (?:instrucciones|indicaciones|órdenes|reglas|directrices)"
    r"(?:(?: \w+)? (?:anteriores|previas|precedentes)\b(?! (?:de|del|sobre|para|en)\b)| que (?:te|se|has|hayas)\b)"
    r"|\b(?:ignora|olvida) todas (?:las|tus) (?:instrucciones|indicaciones|reglas)\b(?! (?:de|del|sobre|para)\b)"
    r"|\byou are now (?:in |an? )?[^.\n]{0,20}\b(?:mode|unrestricted|root|admin|system)\b|\bjailbr(?:eak|oken)\b",
    re.IGNORECASE,
)
_OVERRIDE: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,30}\b(?:previous|prior|earlier|above|all|any|your|the|system"
    r"|other)\b[^.\n]{0,25}"
    r"\b(?:instructions?|rules?|prompts?|guidelines?|directions?|context)\b"
    r"|\bsystem (?:prompt|override)\b|\bnew (?:system )?instructions?:|\byou are now\b|\bdeveloper mode\b|\bjailbreak\b"
    r"|\bbeachte\w? (?:die|deine) (?:vorherigen|bisherigen) anweisungen nicht\b"
    r"|\b(?:ignorier\w*|vergiss|missachte)\b[^.\n]{0,40}\b(?:anweisung\w*|regeln?|vorgaben)\b|\b(?:ignora\w*"
    r"|olvida\w*|caso omiso)\b[^.\n]{0,40}\b(?:instrucciones|reglas|indicaciones)\b"
    r"|\b(?:don'?t|do not|never|without) (?:tell\w*|mention\w*|inform\w*|notify\w*|asking|ask)\b[^.\n]{0,20}\b(?:the )?(?:user"
    r"|human|operator|owner|developer|summary|it)\b",
    re.IGNORECASE,
)
# Orders and rules, whoever they are meant for.
_RULE: Final = re.compile(
    r"\b(?:must|always|never|from now on|are required to|is required to|important:|mandatory|you should|you have to"
    r"|make sure to|prefer|do not|don'?t|before continuing"
    r"|immer|niemals|nie|ab sofort|ab jetzt|müsst?|muss|wichtig:|bevorzuge|siempre|nunca|jam[aá]s|a partir de ahora|deben?"
    r"|importante:|prefier[ea]n?|obligatorio)\b",
    re.IGNORECASE,
)
_UNGUARD: Final = re.compile(
    r"\b(?:disable|turn off|switch off|skip|bypass|ignore|remove|drop|abschalt\w*|ausschalt\w*|umgeh\w*|desactiva\w*|salta\w*"
    r"|ignora\w*)\b[^.\n]{0,40}"
    r"\b(?:safety|guardrails?|safeguards?|permission(?:s| checks?| prompts?)?|sandbox\w*|security (?:checks?|rules?|prompts?)"
    r"|confirmations?|secret scan\w*|redaction"
    r"|commit signing|sicherheits\w*|berechtigung\w*|rückfragen|seguridad|permisos|confirmaci\w*)\b"
    r"|--dangerously-skip-permissions|\byolo mode\b",
    re.IGNORECASE,
)
_FOR_EVER: Final = re.compile(
    r"\b(?:always|never|for ?ever|from now on|every time|each time|permanently|any ?more|in (?:all|every|any)|by default|immer"
    r"|nie|niemals|für immer|ab jetzt|ab sofort"
    r"|dauerhaft|siempre|nunca|para siempre|a partir de ahora|por defecto|en todos)\b",
    re.IGNORECASE,
)


def trust_of(role: str, given: str = "") -> str:
    """Who vouches for a turn: what its source says, else what its role says; a role nobody knows is not trusted."""
    return given or _TRUST_OF_ROLE.get(role, "tool")


def may_become(kind: str, trust: str) -> bool:
    """Whether what is vouched for in this way may become a memory of this kind."""
    return trust in ("user", "human_file") or (trust in ("assistant", "import") and kind not in RULING) or kind == "fact"


def may_hold_orders(text: str) -> bool:
    """Whether a long text is worth reading sentence by sentence: a quick look that misses nothing `doubt` would find."""
    return any(pattern.search(text) for pattern in (_SECRET, _SECRETS_TO_ME, _PIPED, _UNGUARD, _OVERRIDE, _ADDRESSED))


def seeks_secrets(text: str) -> bool:
    """Whether it asks for secrets to be sent, shown or published, or for code from the net to be run."""
    piece = text[:_MOST]
    if _PIPED.search(piece):
        return True
    if _SECRETS_TO_ME.search(piece):
        return True
    return bool(_SECRET.search(piece) and _SEND.search(piece) and _AWAY.search(piece))


def unguards(text: str) -> bool:
    """Whether it wants checks that protect the user to be off for good."""
    piece = text[:_MOST]
    return bool(_UNGUARD.search(piece) and _FOR_EVER.search(piece))


def doubt(text: str, *, own: bool) -> str:
    """Why a person has to look at this text before an agent is told; nothing where there is no reason. own: the user's words."""
    piece = text[:_MOST]
    if seeks_secrets(piece):
        return "it asks for secrets to be sent or for code from the net to be run"
    if unguards(piece):
        return "it wants protective checks to be off for good"
    if own:  # whose rules they are may take them back
        return "it speaks to assistants at large, as a text that was pasted would" if _AT_LARGE.search(piece) else ""
    if _OVERRIDE.search(piece):
        return "it wants earlier instructions to be ignored or something to be kept from the user"
    if _ADDRESSED.search(piece) and (_RULE.search(piece) or _SEND.search(piece)):
        return "it gives orders to assistants, and no person of this project said it"
    return ""
