"""A ledger's file -> which bytes belong to which kind of page, so that flips can be spread over all of them.

SQLite's own page statistics (dbstat) name the pages in use; those that it does not name are free. apsw brings it along.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import BinaryIO, Final

import apsw

PAGE: Final = 4096
HEADER_BYTES: Final = 100
FRAME: Final = 24 + PAGE
WAL_HEADER: Final = 32
# kinds whose bytes are the content itself: a changed letter there is a sound database that says something else
CONTENT: Final = frozenset({"table leaf", "overflow"})
KINDS: Final = (
    "header", "schema", "table internal", "table leaf", "overflow", "index internal", "index leaf", "full text", "free",
)  # fmt: skip


def kinds_of(path: Path) -> dict[str, list[tuple[int, int]]]:
    """By kind: stretches (start, end) of the file."""
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rootless = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE '%WITHOUT ROWID%'")}
        indexes = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index'")}
        pages = connection.execute("SELECT name, pagetype, pageno FROM dbstat").fetchall()
    finally:
        connection.close()
    found: dict[str, list[tuple[int, int]]] = {kind: [] for kind in KINDS}
    found["header"].append((0, HEADER_BYTES))
    used = set()
    for name, pagetype, number in ((str(row[0]), str(row[1]), int(str(row[2]))) for row in pages):
        used.add(number)
        start = (number - 1) * PAGE + (HEADER_BYTES if number == 1 else 0)
        found[_kind(name, pagetype, name in indexes, name in rootless)].append((start, number * PAGE))
    for number in range(1, path.stat().st_size // PAGE + 1):
        if number not in used:
            found["free"].append(((number - 1) * PAGE, number * PAGE))
    return found


def _kind(name: str, pagetype: str, is_index: bool, rootless: bool) -> str:
    if name in ("sqlite_schema", "sqlite_master"):
        return "schema"
    if "_fts_" in name:
        return "full text"
    if pagetype == "overflow":
        return "overflow"
    if rootless:  # such a table keeps rows in its inner pages too
        return "table leaf"
    return f"{'index' if is_index else 'table'} {pagetype}"


def flip(path: Path, start: int, end: int, chosen: random.Random) -> str:
    """Change one bit of a stretch that is in use; what was done, to be said when a check fails."""
    with path.open("r+b") as file:
        stretches = _in_use(file, start, end)
        place, bit = chosen.randrange(*stretches[chosen.randrange(len(stretches))]), 1 << chosen.randrange(8)
        file.seek(place)
        (old,) = file.read(1)
        file.seek(place)
        file.write(bytes([old ^ bit]))
    return f"{path.name} byte {place} bit {bit}"


def _in_use(file: BinaryIO, start: int, end: int) -> list[tuple[int, int]]:
    """Of a page of a tree its header with the cells' places, and the cells; any other stretch as a whole."""
    file.seek(start)
    head = file.read(8)
    page_start = start - start % PAGE
    if end - page_start != PAGE or head[0] not in (2, 5, 10, 13):
        return [(start, end)]
    cells, content = int.from_bytes(head[3:5], "big"), int.from_bytes(head[5:7], "big")
    places = (start, start + (12 if head[0] in (2, 5) else 8) + 2 * cells)
    return [places, (page_start + content, end)] if page_start + content < end else [places]
