"""A home and its manifest -> which launchers count as its own.

A home that was moved still knows the launcher it had: hooks that name it are ours. A home that was copied does not
own the hooks of the one it was copied from, and that one still has its launcher.
"""

from __future__ import annotations

import os
from pathlib import Path

from hindbrain.base.home import Home
from hindbrain.capture.launcher import LAUNCHER
from hindbrain.serve.install.hooks import Ours
from hindbrain.serve.install.manifest import Record


def ours(home: Home, records: list[Record]) -> Ours:
    """The question whether a launcher is one of this home."""
    current = home.root / LAUNCHER
    left = {record.launcher for record in records if not os.path.lexists(record.launcher)}
    known = {str(current), *left}
    real = _real(current)

    def is_ours(launcher: str) -> bool:
        return launcher in known or _real(Path(launcher)) == real

    return is_ours


def _real(launcher: Path) -> str:
    return os.path.join(os.path.realpath(launcher.parent), launcher.name)
