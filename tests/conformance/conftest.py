"""The engines, for every test of this folder; and a ledger with something in it."""

from __future__ import annotations

import pytest

from hindbrain.ledger.evidence import Evidence
from tests.conformance.reasoning import LATER, PLACE, TURNS, tell
from tests.engines import cluster, empty_file, engine, ledger, new_ledger, new_pair, pg_url
from tests.queues.opened import shared_url, tenant

__all__ = ["cluster", "empty_file", "engine", "ledger", "new_ledger", "new_pair", "pg_url", "shared_url", "tenant"]


@pytest.fixture
def told(ledger: Evidence) -> Evidence:
    """A ledger with two sessions of one project."""
    tell(ledger, PLACE, *TURNS, *LATER)
    return ledger
