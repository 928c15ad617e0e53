"""A ledger with turns in two projects, and vectors for them that a test can reckon with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hindbrain import Memory
from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.ledger import vectors
from hindbrain.ledger.store import Ledger
from hindbrain.ledger.vectors import Piece
from hindbrain.recall.matrix import signs
from tests.recall.homes import START, Said, tell

MODEL = "test:8"
DIMENSIONS = 8
TURNS = 40


def numbers(rows: int, dimensions: int = DIMENSIONS, seed: int = 7) -> NDArray[np.int8]:
    """Rows of numbers, the same every time."""
    return np.random.default_rng(seed).integers(-127, 128, (rows, dimensions)).astype(np.int8)


def spoken(home: Path, turns: int = TURNS) -> Ledger:
    """A home with so many turns in four sessions of two projects, without vectors; its ledger."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.toml").write_text('embedder = "none"\n')
    with Memory.open(home=home) as memory:
        tell(memory, [
            Said(f"turn number {number}", session=f"s{number % 4}", project=f"/p/{number % 2}", minute=number + 1)
            for number in range(turns)
        ])  # fmt: skip
    return Ledger.open(Home(home).ledger, SystemClock())


def put(ledger: Ledger, rows: Sequence[NDArray[np.int8]], model: str = MODEL) -> None:
    """A vector for each of the turns that wait, in order, as far as there are rows."""
    with ledger.writing() as database:
        vectors.use_model(database, model)
        waiting = vectors.waiting(database, len(rows))
        bits = signs(np.array(rows))
        vectors.store(database, model, [
            (item, [Piece(0, len(item.text), row.tobytes(), mine.tobytes())])
            for item, row, mine in zip(waiting, rows, bits, strict=True)
        ])  # fmt: skip


def minute(number: int) -> int:
    """When a turn was said, in milliseconds."""
    return int(START.timestamp() * 1000) + (number + 1) * 60_000
