"""What another side said, and the key it was asked with -> the same without the key, whole or in part.

Servers repeat a key that they do not take: cut short, broken over lines, escaped for JSON or an address. So what is looked for is
not the key as it stands but any few of its letters in a row, whatever is written between them and however they are escaped.
"""

from __future__ import annotations

import base64
import html
import re
import urllib.parse
from typing import Final

from hindbrain.base.settings import MASK

LEAST: Final = 8  # letters of a key in a row that are too many to be shown
_DEPTH: Final = 3  # an answer of a server behind a server is escaped twice
_ESCAPED: Final = re.compile(r"\\+(?:[uU]([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|([nrtbf])|(?=[\"'/\\]))")


def without_key(text: str, key: str) -> str:
    """The text with its escapes undone and every piece of the key masked; as it is where there is no key."""
    if not key:
        return text
    for _ in range(_DEPTH):
        text = html.unescape(urllib.parse.unquote(_ESCAPED.sub(_undone, text)))
    secrets = [_solid(each)[1] for each in (key, *_encoded(key))]
    if not secrets[0]:
        return text.replace(key, MASK)
    places, solid = _solid(text)
    least = min(LEAST, len(secrets[0]))
    pieces = {secret[at : at + least] for secret in secrets for at in range(len(secret) - least + 1)}
    return _masked(text, [(places[at], places[at + least - 1] + 1) for at in range(len(solid) - least + 1)
                          if solid[at : at + least] in pieces])  # fmt: skip


def _undone(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else " " if escape[3] else ""


def _encoded(key: str) -> list[str]:
    """The key in base64, at whichever of three places it begins."""
    return [base64.b64encode(b"\0" * before + key.encode()).decode()[4 if before else 0 : -4] for before in range(3)]


def _solid(text: str) -> tuple[list[int], str]:
    """The letters and digits of a text with their places; whatever may stand between them does not count."""
    found = [(place, letter) for place, letter in enumerate(text) if letter.isascii() and letter.isalnum()]
    return [place for place, _ in found], "".join(letter for _, letter in found).lower()


def _masked(text: str, spans: list[tuple[int, int]]) -> str:
    shown, at = "", 0
    for start, end in spans:
        if start >= at:
            shown += text[at:start] + MASK
        at = max(at, end)
    return shown + text[at:]
