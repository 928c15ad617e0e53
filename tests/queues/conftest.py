"""The engines for every test of this folder."""

from __future__ import annotations

from tests.engines import cluster, empty_file, engine, pg_url

__all__ = ["cluster", "empty_file", "engine", "pg_url"]
