"""The pages in a real browser: the link lets it in by itself, and what is stored does not run."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hindbrain.base.home import Home
from hindbrain.serve.memory import Memory
from tests.serve.test_web import HOSTILE, bill
from tests.serve.web_pages import CLOCK, config_of, keep, served

pytestmark = pytest.mark.browser

# The last seven keep it from looking for hosts of its makers; the budget lets a page's own navigation come to its end.
CHROMIUM = (
    "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=10000", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions",
    "--disable-default-apps",
)  # fmt: skip


def shown(profile: Path, address: str) -> str:
    """The page as it stands when everything in it has run."""
    command = [*CHROMIUM, f"--user-data-dir={profile}", "--dump-dom", address]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout


def test_the_link_lets_a_browser_in_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Memory(home) as memory:
        memory.record(agent="a", session="s", role="user", text="hello", key="k")
        memory.settle()
    keep(Home(home), bill(1, CLOCK.now_ms(), kind=HOSTILE))
    with served(config_of(home, {"MODEL": "openai:small", "MODEL_KEY": "sk-x"})) as server:
        link = server.web.link
        first, second = shown(tmp_path / "one", link), shown(tmp_path / "two", link)
    assert "What models cost today" in first and "1,050 of" in first and "<title>Overview - Hindbrain</title>" in first
    assert "&lt;script&gt;document.title='owned'" in first
    assert "This code is not good" in second and "What models cost today" not in second
