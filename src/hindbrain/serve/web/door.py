"""A code that was printed on the terminal -> the key a browser shows from then on.

The code is good once, so what is left of it in a history or a log opens nothing; a used one is replaced, and whoever sits at the
terminal is told the next. Both live in this process alone: they are on no disk, and end with it.
"""

from __future__ import annotations

import hmac
import secrets
import threading
from collections.abc import Callable


class Door:
    """Who may come in. `renewed` is told every code that takes the place of a used one."""

    def __init__(self, renewed: Callable[[str], None] = lambda code: None) -> None:
        self._key = secrets.token_urlsafe(32)
        self._code = secrets.token_urlsafe(16)
        self._renewed = renewed
        self._lock = threading.Lock()

    @property
    def code(self) -> str:
        """The one that is good now."""
        return self._code

    def enter(self, code: str) -> str | None:
        """The key, for a code that is good; None for any other. Of two that come at once one gets it."""
        with self._lock:
            if not _same(code, self._code):
                return None
            self._code = secrets.token_urlsafe(16)
            fresh = self._code
        self._renewed(fresh)
        return self._key

    def opens(self, key: str) -> bool:
        """Whether it is the key."""
        return _same(key, self._key)


def _same(shown: str, wanted: str) -> bool:
    """Compared in a time that tells nothing of how much of it is right."""
    return hmac.compare_digest(shown.encode("utf-8", "replace"), wanted.encode())
