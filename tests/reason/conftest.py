"""The engines, for every test of this folder."""

from tests.engines import cluster, empty_file, engine, ledger, new_ledger, pg_url

__all__ = ["cluster", "empty_file", "engine", "ledger", "new_ledger", "pg_url"]
