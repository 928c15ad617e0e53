"""Payloads -> segments on disk, as the tests of the journal need them."""

from __future__ import annotations

import os
from pathlib import Path

from hindbrain.journal.append import append
from hindbrain.journal.line import HOOK, frame
from hindbrain.journal.read import Damage, Record, read_segment, segments


def framed(number: int, size: int = 120) -> bytes:
    """A line whose payload names itself, not all of one length."""
    text = b"|%d|" % number
    return frame(HOOK, b"claude-code", 1_790_000_000_000_000_000 + number, text + b"." * (size + number % 7 - len(text)))


def write(home: Path, numbers: range | list[int], size: int = 120) -> Path:
    """Append a line for each number; the newest segment."""
    for number in numbers:
        append(os.fsencode(home), framed(number, size))
    return segments(home / "journal")[-1]


def numbers_in(items: list[Record | Damage]) -> list[int]:
    return [int(item.line.payload.split(b"|")[1]) for item in items if isinstance(item, Record)]


def damages_in(items: list[Record | Damage]) -> list[Damage]:
    return [item for item in items if isinstance(item, Damage)]


def everything(home: Path, *, final: bool = True) -> list[Record | Damage]:
    found: list[Record | Damage] = []
    for path in segments(home / "journal"):
        found += read_segment(path, final=final)
    return found
