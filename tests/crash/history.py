"""What was acknowledged, and what is there afterwards -> the list of promises that were broken.

Every suite that kills, fails or damages something records each operation it tried and how the operation ended, then hands
over what can be read at the end. The checker knows nothing of files or processes, so a wrong writer or a wrong reader can
be put before it as well, and must be found out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from hindbrain.journal.read import Damage, Record, archives, read_archive, read_segment, segments


class Ended(Enum):
    """How an operation looked to the one who asked for it."""

    ACKNOWLEDGED = "acknowledged"  # it said yes: must be there
    REPORTED = "reported"  # it said that it could not: may be there, must have been counted or said
    CUT_OFF = "cut off"  # it never came to an answer: there wholly, or not at all


@dataclass(frozen=True, slots=True)
class Operation:
    """One attempt to keep `content` under a key of its own."""

    key: str
    content: bytes
    ended: Ended


@dataclass(slots=True)
class Kept:
    """What can be read at the end, in order."""

    records: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])
    damages: list[Damage] = field(default_factory=list[Damage])

    @property
    def torn(self) -> int:
        return sum(damage.kind == "torn" for damage in self.damages)

    @property
    def damaged(self) -> int:
        return sum(damage.kind == "damaged" for damage in self.damages)


class History:
    """The operations of one run, in the order in which they ended."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def add(self, key: str, content: bytes, ended: Ended) -> None:
        self.operations.append(Operation(key, content, ended))

    def count(self, ended: Ended) -> int:
        return sum(operation.ended is ended for operation in self.operations)

    def problems(self, kept: Kept, *, repeats: bool = True) -> list[str]:
        """What was promised and does not hold; `repeats` allows one operation to be there more than once."""
        wanted = {operation.key: operation for operation in self.operations}
        found: dict[str, set[bytes]] = {}
        for key, content in kept.records:
            found.setdefault(key, set()).add(content)
        return [
            *_missing(self.operations, found),
            *_changed(wanted, found),
            *([] if repeats else _repeated(kept.records)),
            *_untold_damage(self, kept),
        ]


def _missing(operations: Iterable[Operation], found: Mapping[str, set[bytes]]) -> list[str]:
    promised = [each.key for each in operations if each.ended is Ended.ACKNOWLEDGED]
    return [f"acknowledged but gone: {key}" for key in promised if key not in found]


def _changed(wanted: Mapping[str, Operation], found: Mapping[str, set[bytes]]) -> list[str]:
    problems = [f"there but never asked for: {key}" for key in found if key not in wanted]
    for key, contents in found.items():
        if key in wanted and contents != {wanted[key].content}:
            problems.append(f"there with other content: {key}")
    return problems


def _repeated(records: Iterable[tuple[str, bytes]]) -> list[str]:
    return [f"there {times} times: {key}" for key, times in Counter(key for key, _ in records).items() if times > 1]


def _untold_damage(history: History, kept: Kept) -> list[str]:
    """Only an operation that was cut off or reported may leave a torn line behind, and one at most."""
    allowed = history.count(Ended.CUT_OFF) + history.count(Ended.REPORTED) * MAX_TRIES
    problems = [f"{kept.torn} torn lines, {allowed} explained"] if kept.torn > allowed else []
    return problems + ([f"{kept.damaged} damaged lines"] if kept.damaged else [])


# a writer that meets an error tries other segments before it gives up, and may leave a torn line in each
MAX_TRIES: Final = 4


def key_of(payload: bytes) -> str:
    """The key a test put into its payload; text between the first pair of bars."""
    parts = payload.split(b"|", 2)
    return parts[1].decode("utf-8", "replace") if len(parts) == 3 else f"no key: {payload[:40]!r}"


def read_journal(home: Path) -> Kept:
    """Everything that archives and segments of a home hold, as a reader sees it once no writer is left."""
    kept = Kept()
    items: list[Record | Damage] = []
    for path in archives(home / "archive"):
        items += read_archive(path)
    for path in segments(home / "journal"):
        items += read_segment(path, final=True)
    for item in items:
        if isinstance(item, Damage):
            kept.damages.append(item)
        else:
            kept.records.append((key_of(item.line.payload), item.line.payload))
    return kept
