"""A user with a home, settings of an agent, and the command line: what the tests of the installer work on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hindbrain.base.clock import SystemClock
from hindbrain.base.home import Home
from hindbrain.serve.install import adding, manifest, removing
from hindbrain.serve.install.agents import CLAUDE_CODE, Scope

EVENTS = [event.name for event in CLAUDE_CODE.events]


@dataclass(frozen=True)
class User:
    """Everything is inside one directory."""

    root: Path
    home: Home
    environ: Mapping[str, str]

    @classmethod
    def at(cls, root: Path) -> User:
        (root / "user").mkdir(parents=True)
        environ = {"PATH": os.environ["PATH"], "HOME": str(root / "user"), "HINDBRAIN_HOME": str(root / "data")}
        return cls(root, Home(root / "data"), {**environ, "LANG": "C.UTF-8"})

    @property
    def folder(self) -> Path:
        return self.root / "user" / ".claude"

    @property
    def settings(self) -> Path:
        return self.folder / "settings.json"

    def has(self, data: bytes) -> None:
        self.folder.mkdir(exist_ok=True)
        self.settings.write_bytes(data)

    def argv(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "hindbrain", *arguments]

    def cli(
        self, *arguments: str, cwd: Path | None = None, before: tuple[str, ...] = (), **environ: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*before, *self.argv(*arguments)], env={**self.environ, **environ}, cwd=cwd or self.root, capture_output=True,
            encoding="utf-8", timeout=60, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip

    def done(self, *arguments: str, **more: Any) -> str:
        """Run a command that has to succeed."""
        ran = self.cli(*arguments, **more)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout

    def install(self, scope: Scope = "user") -> adding.Plan:
        """The same without a process of its own."""
        return adding.install(self.home, CLAUDE_CODE, scope, self.environ, self.root, SystemClock())[0]

    def uninstall(self, scope: Scope = "user") -> list[str]:
        with manifest.held(self.home):
            undos, records = removing.plan(self.home, CLAUDE_CODE, scope, self.environ, self.root)
            removing.apply(self.home, CLAUDE_CODE, undos, records)
        return [undo.how for undo in undos]

    def commands(self, path: Path | None = None) -> dict[str, list[list[str]]]:
        """What the agent would run, event by event."""
        hooks = json.loads((path or self.settings).read_text("utf-8"))["hooks"]
        return {event: [[hook["command"], *hook.get("args", [])] for group in groups for hook in group["hooks"]]
                for event, groups in hooks.items()}  # fmt: skip

    def tree(self, path: Path | None = None) -> dict[str, bytes]:
        """Every file and folder of the user's directory."""
        top = path or self.root / "user"
        return {str(found.relative_to(top)): found.read_bytes() if found.is_file() else b"/" for found in sorted(top.rglob("*"))}
