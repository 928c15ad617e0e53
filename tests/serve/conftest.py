"""A home of its own per test, the installed hook on it, and a promise that no worker outlives the test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hindbrain.base.home import Home
from hindbrain.capture.launcher import install_launcher
from hindbrain.serve import daemon
from tests.engines import cluster, pg_url
from tests.serve.commands import CommandLine
from tests.serve.installed import Installed

__all__ = ["cluster", "pg_url"]


@pytest.fixture
def installed(tmp_path: Path) -> Iterator[Installed]:
    """The user's own directory is inside too, so that no transcript of the person running the tests is read."""
    home = Home(tmp_path / "data")
    user = tmp_path / "user"
    user.mkdir()
    environ = {"PATH": os.environ["PATH"], "HOME": str(user), "LANG": "C.UTF-8"}
    yield Installed(home, install_launcher(home.root), environ)
    daemon.stop(home.root)


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    """The command line in a project's folder, on a home of its own."""
    folder = tmp_path / "shop"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return CommandLine(Home(tmp_path / "data"), folder, capsys)
