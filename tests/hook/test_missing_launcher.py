"""A data directory that was deleted by hand: the agent must not notice, least of all by an exit code that blocks a prompt."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hindbrain.capture.launcher import LAUNCHER, install_launcher


@pytest.mark.parametrize("left", ["nothing", "an empty home", "an unreadable launcher"])
def test_a_hook_whose_launcher_is_gone_is_a_quiet_success(tmp_path: Path, left: str) -> None:
    home = tmp_path / "home"
    argv = [*install_launcher(home), "claude-code", "UserPromptSubmit"]
    if left == "an unreadable launcher":
        (home / LAUNCHER).unlink()
        (home / LAUNCHER).symlink_to(tmp_path / "nowhere")
    else:
        shutil.rmtree(home)
        if left == "an empty home":
            home.mkdir()
    ran = subprocess.run(argv, input=b"{}", capture_output=True, check=False, timeout=60)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
