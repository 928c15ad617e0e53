"""A memory on each engine: in a home of its own, or one that is shared through PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hindbrain import Memory
from tests.serve.sharing import machine


@contextmanager
def either(request: pytest.FixtureRequest, folder: Path) -> Iterator[Memory]:
    """The memory of the engine that is the request's parameter."""
    if request.param == "sqlite":
        with Memory.open(home=folder / "home") as memory:
            yield memory
        return
    with machine(folder / "machine", request.getfixturevalue("pg_url")) as made, made.memory() as memory:
        yield memory
