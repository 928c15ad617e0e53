"""A PostgreSQL server for this folder, and a wire to it that can be cut."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.engines import cluster, empty_file, pg_url
from tests.faults.wire import Wire
from tests.postgres import Cluster

__all__ = ["cluster", "empty_file", "pg_url", "wire"]


@pytest.fixture
def wire(cluster: Cluster) -> Iterator[Wire]:
    with Wire(cluster) as made:
        yield made
