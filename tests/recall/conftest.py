"""A home of its own for each test, and one ledger file to copy where a test needs many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain import Memory
from hindbrain.base.errors import StorageError
from hindbrain.serve import daemon
from tests.engines import cluster, empty_file, engine, ledger, new_ledger, pg_url
from tests.serve.installed import until

__all__ = ["cluster", "empty_file", "engine", "ledger", "new_ledger", "pg_url"]


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """Where the test's memory lives; a worker that a hook started there does not outlive the test."""
    path = tmp_path / "home"
    yield path
    if path.exists():
        until(lambda: _stopped(path), "the worker to leave")


def _stopped(home: Path) -> bool:
    try:
        daemon.stop(home)
    except StorageError:  # one that is just coming up has not said who it is
        return False
    return True


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home=home) as opened:
        yield opened
