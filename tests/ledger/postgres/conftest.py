"""A private server for the tests of this folder."""

from tests.engines import cluster, pg_url

__all__ = ["cluster", "pg_url"]
