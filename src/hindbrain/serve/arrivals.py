"""The memories that stand -> the order in which this home came to know them, so that a program can go on where it stopped.

A memory's own times do not tell: what was said last year may be imported today, and another machine's may arrive late. So the
home keeps a list of ids, and whoever looks appends what is not on it yet, durably, before anybody is told. A position is a place
on that list. Ids only; a list that was lost begins anew under another name, and who comes with a position of the old one is told
everything again: twice rather than never.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hindbrain.base.errors import UsageError
from hindbrain.base.files import Lock, ensure_private_dir, replace_file
from hindbrain.base.home import Home
from hindbrain.ledger.evidence import Evidence
from hindbrain.serve.values import Kept, memory_of

_STANDING: Final = """
SELECT id FROM memories
WHERE held = '' AND superseded_by IS NULL AND valid_to IS NULL AND level IN ('observation', 'derived') {project}
ORDER BY created_at, id
"""
_IN_PROJECT: Final = "AND (project_id = ? OR scope = 'global')"
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class News:
    """A memory that came, and the position behind it."""

    position: str
    memory: Kept


def position(ledger: Evidence, home: Home) -> str:
    """The place behind everything that stands now."""
    name, ids = _noted(ledger, home)
    return f"{name}:{len(ids)}"


def arrived(ledger: Evidence, home: Home, after: str, project: str | None) -> tuple[str, list[News]]:
    """What came after a position and stands, in order, and the position behind all of it. `project` is the ledger's id."""
    name, ids = _noted(ledger, home)
    start = _place(after, name, len(ids))
    wanted = set(_standing(ledger, project))
    news = []
    for number, each in enumerate(ids[start:], start + 1):
        if each in wanted and (memory := memory_of(ledger, each)) is not None:  # it may be forgotten by now
            news.append(News(f"{name}:{number}", memory))
    return f"{name}:{len(ids)}", news


def _noted(ledger: Evidence, home: Home) -> tuple[str, Sequence[str]]:
    """The list with everything on it that stands; on the disk before this returns."""
    path = home.arrivals / "order"
    standing = _standing(ledger, None)
    name, ids = _read(path)
    if name and not set(standing).difference(ids):
        return name, ids
    ensure_private_dir(home.arrivals)
    with Lock(home.arrivals / "lock"):
        name, ids = _read(path)
        known = set(ids)
        name, ids = name or secrets.token_hex(4), [*ids, *(each for each in standing if each not in known)]
        replace_file(path, "".join(f"{line}\n" for line in (name, *ids)).encode("ascii"))
    return name, ids


def _read(path: Path) -> tuple[str, list[str]]:
    try:
        name, *ids = path.read_text("ascii").splitlines()
    except (FileNotFoundError, UnicodeDecodeError, ValueError):  # no list, or none that we wrote
        return "", []
    return name, ids


def _standing(ledger: Evidence, project: str | None) -> list[str]:
    query = _STANDING.format(project="" if project is None else _IN_PROJECT)
    with ledger.reading() as database:
        return [row[0] for row in database.execute(query, () if project is None else (project,)).fetchall()]


def _place(after: str, name: str, count: int) -> int:
    if not after:
        return 0
    known, mark, number = after.partition(":")
    if not mark or not number.isascii() or not number.isdigit() or len(number) > _MOST_DIGITS:
        raise UsageError(f"{after[:80]!r} is no position", hint="give the position of the last News, or none")
    # a place behind the end is one of a list that was put back to an older state
    return int(number) if known == name and int(number) <= count else 0
