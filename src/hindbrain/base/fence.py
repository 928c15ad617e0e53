"""A text that may quote the block we inject -> the same text without it.

Recall hands memories to an agent inside one tag. The agent's client writes that block into prompts and transcripts, so
it comes back to us; taken in again, a memory would become the evidence for itself. Who renders the block and who
removes it therefore share the names below. Any tag that begins with our name is ours, whatever its attributes.
"""

from __future__ import annotations

import re
from typing import Final

FENCE_TAG: Final = "hindbrain-memory"
FENCE_OPEN: Final = f"<{FENCE_TAG}"  # attributes and ">" follow
FENCE_CLOSE: Final = f"</{FENCE_TAG}>"

_CLOSING: Final = re.compile(rf"</{FENCE_TAG}\s*>?")


def strip_injected(text: str) -> str:
    """The text outside our blocks. A block never closed reaches to the end; a stray closing tag goes too."""
    if FENCE_TAG not in text:
        return text
    pieces = _outside(text)
    joined = "".join(pieces)
    # Cutting a block out of "<hindbrain-<hindbrain-memory/>memory>" must not leave a tag behind.
    if FENCE_OPEN in joined or _CLOSING.search(joined):
        joined = " ".join(pieces)
    return joined


def _outside(text: str) -> list[str]:
    pieces: list[str] = []
    at = 0
    while (opened := text.find(FENCE_OPEN, at)) >= 0:
        pieces += _CLOSING.split(text[at:opened])
        closed = _CLOSING.search(text, opened)
        if closed is None:
            return pieces
        at = closed.end()
    return pieces + _CLOSING.split(text[at:])
