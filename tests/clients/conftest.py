"""The real client in a network of its own, one user per test, and a promise that neither client nor worker outlives it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.home import Home
from hindbrain.serve import daemon
from tests.clients.anthropic_server import AnthropicServer
from tests.clients.claude import Claude
from tests.clients.loopback import loopback, missing

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def programs() -> dict[str, str]:
    """The pinned clients, fetched if they are not there; without them nothing here can be said."""
    if reason := missing():
        if os.environ.get("TEST_REQUIRE_TOOLS"):
            pytest.fail(f"not run: {reason}", pytrace=False)
        pytest.skip(f"not run: {reason}")
    ran = subprocess.run([ROOT / "scripts" / "clients"], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        pytest.fail(f"the client could not be fetched: {ran.stderr.strip()}", pytrace=False)
    return dict(line.split(" ", 1) for line in ran.stdout.splitlines())


@pytest.fixture(scope="session")
def program(programs: dict[str, str]) -> str:
    """Claude Code."""
    return programs["claude-code"]


@pytest.fixture
def plain(program: str, tmp_path: Path) -> Iterator[Claude]:
    """A user who has the client and not Hindbrain."""
    with loopback() as network:
        server = AnthropicServer(network.listening)
        home = Home(tmp_path / "data")
        try:
            yield Claude(program, network, server, tmp_path / "user", tmp_path / "project", home).prepare()
        finally:
            if home.root.exists():
                daemon.stop(home.root)
            server.close()


@pytest.fixture
def claude(plain: Claude) -> Claude:
    """A user who has installed Hindbrain."""
    plain.hindbrain("install", "claude-code")
    return plain
