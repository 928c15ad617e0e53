"""The engines, for every test of this folder."""

from tests.engines import cluster, empty_file, engine, ledger, new_ledger, new_pair, pg_url
from tests.queues.opened import shared_url, tenant

__all__ = ["cluster", "empty_file", "engine", "ledger", "new_ledger", "new_pair", "pg_url", "shared_url", "tenant"]
