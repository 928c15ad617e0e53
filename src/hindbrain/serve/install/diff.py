"""A file before and after -> the difference as people read it."""

from __future__ import annotations

import difflib
from pathlib import Path


def unified(path: Path, before: bytes | None, after: bytes | None) -> str:
    """A unified diff; empty when nothing changes. A last line without line end is marked as diff and git mark it."""
    old, new = (_lines(data) for data in (before, after))
    names = ("/dev/null" if before is None else str(path), "/dev/null" if after is None else str(path))
    shown = difflib.unified_diff(old, new, *names)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in shown)


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
