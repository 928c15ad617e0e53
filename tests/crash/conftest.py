"""The hook, installed once for all suites in this folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.agent import Agent, installed
from tests.engines import cluster, empty_file, engine

__all__ = ["cluster", "empty_file", "engine"]


@pytest.fixture(scope="session")
def hook(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The installed command line, without the agent's name."""
    return installed(tmp_path_factory.mktemp("installed") / "home")


@pytest.fixture
def agent(tmp_path: Path, hook: list[str]) -> Agent:
    """An agent whose home the installer has prepared."""
    return Agent(tmp_path, hook).prepare()
