"""The engines, for tests that read a ledger."""

from __future__ import annotations

from tests.engines import cluster, empty_file, ledger, new_ledger

__all__ = ["cluster", "empty_file", "ledger", "new_ledger"]
