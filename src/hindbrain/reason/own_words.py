"""What a user's turn holds -> the stretches that are the user's own words.

A prompt may carry logs, code, mails, pages, quotes, and blocks that Hindbrain or the agent's client put in. They keep their
place, so that whatever is found can be quoted letter by letter, but they are blanked: nobody said them here. Every step is one
pass over the text.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from hindbrain.base.fence import FENCE_CLOSE, FENCE_OPEN

BLANK: Final = "\x00"  # stands for a letter that is not the user's own; no prompt holds one that matters

# Blocks that clients wrap around what nobody typed. A tag with a hyphen or underscore in its name is a machine's as well.
_TAG: Final = re.compile(
    r"<([a-z]+[-_][a-z_-]{1,40}|document|context|stdout|stderr|file|pre|code|blockquote|instructions"
    r"|system)(?:\s[^<>]{0,300})?>",
    re.IGNORECASE,
)
_LOG: Final = re.compile(
    r"\s*(?:\d{4}-\d\d-\d\d[T ]\d|\d\d:\d\d:\d\d|\[\d|\[(?:info|warn|error|debug|trace)|(?:error|warning|warn|fatal|info|debug"
    r"|note|panic|traceback|caused by|exception"
    r"|fehler|aviso)\b\s?[:\[(]|E\d{3,}|E   |at [\w.$<>]+\(|File \"|>>> |\$ |% |\+\+\+ |--- |@@ |diff --git|# |// |/\*|\* @"
    r"|\*\* |#!|</?\w+[ >/]|(?:import|from|def|class|return"
    r"|const|let|var|func|fn|public|private|SELECT|INSERT|UPDATE|CREATE|FROM|RUN|COPY|ENV)\s.{0,80}[;{}(=]|[{}\[\]();]+\s*$"
    r"|\w+(?:Error|Exception)\b|[\w./-]+\.\w+:\d+)"
)
_MAIL: Final = re.compile(
    r"\s*(?:(?:from|to|subject|date|cc|von|an|betreff|datum|de|para|asunto|fecha)\s?:\s|-{3,} ?(?:forwarded|original"
    r"|weitergeleitet|mensaje)|(?:on|am|el) .{5,80}(?:wrote|schrieb|escribió):\s*$)",
    re.IGNORECASE,
)
# What announces that others speak from the next line on.
_ANNOUNCES: Final = re.compile(
    r"\b(?:log|logs|output|trace|traceback|stack|error|errors|mail|e-?mail|message|readme|docs?|issue|ticket|comment|says|said"
    r"|wrote|writes|paste|pasted|quote|snippet|slack|thread|page"
    r"|diff|config|excerpt|ausgabe|fehler|meldung|auszug|nachricht|schreibt|schrieb|sagt|steht|zitat|salida|registro|correo"
    r"|mensaje|dice|escribe|escribió|extracto|traza)\b[^\n]{0,60}:\s*$",
    re.IGNORECASE,
)
# How a paragraph begins that is the user's own again: a small letter, or a word with which people turn to somebody.
_SPEAKS: Final = re.compile(
    r"\s*(?:[a-zäöüáéíóúñ¿]|(?:Please|Pls|Can|Could|What|Why|How|Do|Does|Is|Are|Should|So|Ok|Okay|And|But|Any|Thoughts|Btw"
    r"|By the way|Now|Then"
    r"|I|I'm|I'd|We|Let's|You|Fix|Implement|Look|Check|Bitte|Kannst|Was|Wie|Warum|Und|Also|Ich|Wir|Schau|Mach|Por favor|Puedes"
    r"|Qué|Cómo|Y|Yo)\b)"
)
_QUOTES: Final = {'"': '"', "“": "”", "„": "“", "«": "»", "»": "«"}
_QUOTE_MARK: Final = re.compile("[" + "".join(_QUOTES) + "]")
_SHORT_QUOTE: Final = 36  # letters: a name or a value, not something somebody else says
_LONG_QUOTE: Final = 2_000
_INDENT: Final = ("    ", "\t")


@lru_cache(64)  # several readers ask for the same turn
def own(text: str) -> str:
    """The text with everything blanked that is not the user's own words; of the same length."""
    spans = [*_blocks(text), *_fenced(text)]
    left = _blanked(text, spans)
    left = _blanked(left, _lines(left))
    return _blanked(left, _quoted(left))


def _blanked(text: str, spans: list[tuple[int, int]]) -> str:
    if not spans:
        return text
    pieces, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at:start], BLANK * (end - max(start, at))]
            at = end
    return "".join([*pieces, text[at:]])


def _blocks(text: str) -> list[tuple[int, int]]:
    """Our own injected block, and those of clients. One never closed reaches to the end."""
    spans, at = [], 0
    while (opened := text.find(FENCE_OPEN, at)) >= 0:
        closed = text.find(FENCE_CLOSE, opened)
        at = len(text) if closed < 0 else closed + len(FENCE_CLOSE)
        spans.append((opened, at))
    at, unclosed = 0, set[str]()
    while found := _TAG.search(text, at):
        name, at = found[1], found.end()
        if name in unclosed:
            continue
        closed = text.find(f"</{name}", at)
        if closed < 0:
            unclosed.add(name)  # every later search for it would run to the end again
            if "-" in name:
                spans.append((found.start(), len(text)))
                break
            continue
        spans.append((found.start(), at := min(len(text), closed + len(name) + 3)))
    return spans


def _fenced(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    while (opened := text.find("```", at)) >= 0:
        closed = text.find("```", opened + 3)
        at = len(text) if closed < 0 else closed + 3
        spans.append((opened, at))
    return spans


def _lines(text: str) -> list[tuple[int, int]]:
    """Lines of logs, code and mails, and what follows their announcement, up to a paragraph in which the user speaks again."""
    spans: list[tuple[int, int]] = []
    at, pasted, parted, many = 0, False, False, text.count("\n") > 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        bare = line.strip(BLANK + " \t\r")
        if many and _MAIL.match(line[:200]):
            return [*spans, (start, len(text))]
        if not bare:
            parted = pasted and bool(spans) and spans[-1][1] >= start - 1  # an empty line may stand before the paste
            continue
        pasted, parted = pasted and not (parted and _SPEAKS.match(line[:60]) is not None), False
        if pasted or line.lstrip().startswith(">") or (many and (line.startswith(_INDENT) or _LOG.match(line[:200]))):
            spans.append((start, min(at, len(text))))
        if not pasted:
            pasted = many and _ANNOUNCES.search(line[-160:]) is not None
    return spans


def _quoted(text: str) -> list[tuple[int, int]]:
    """Long quotations: somebody else's words. Short ones are names and values and stay."""
    spans, at = [], 0
    for mark in _QUOTE_MARK.finditer(text):
        index = mark.start()
        if index < at:
            continue
        end = text.find(_QUOTES[mark[0]], index + 1, index + _LONG_QUOTE)
        if end < 0:
            at = index + 1 if len(text) < _LONG_QUOTE else index + 64  # hostile rows of quotes are not searched one by one
            continue
        at = end + 1
        if end - index > _SHORT_QUOTE and "\n\n" not in text[index:end]:
            spans.append((index, end + 1))
    return spans
