"""A memory on each engine in turn: a home alone, and a home whose ledger is shared on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain import Memory
from tests.engines import ENGINES, cluster, pg_url

__all__ = ["cluster", "pg_url"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=ENGINES)
def memory(request: pytest.FixtureRequest, home: Path) -> Iterator[Memory]:
    url = request.getfixturevalue("pg_url") if request.param == "postgresql" else None
    with Memory.open(home=home, database=url) as opened:
        yield opened
