"""A home with something in it, and the command line run on it in this process: its two outputs and its exit code."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hindbrain.base.home import Home
from hindbrain.serve import cli
from hindbrain.serve.memory import Memory


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What a program would get."""
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """Runs commands on one home, from one folder."""

    home: Home
    folder: Path
    capsys: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ran:
        self.capsys.readouterr()
        code = cli.run(["--home", str(self.home.root), *arguments])
        said = self.capsys.readouterr()
        return Ran(code, said.out, said.err)

    def one(self, *arguments: str) -> Any:
        """The JSON of a command that must work."""
        ran = self(*arguments, "--json")
        assert ran.code == 0, ran
        return ran.data


def at(day: int, hour: int = 12) -> datetime:
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def fill(home: Home, shop: Path) -> dict[str, str]:
    """Two projects, three sessions; gives the ids of what was said."""
    other = str(shop.with_name("other"))
    said = [
        ("prompt", "talk-1", "user", "why does the login test fail?", 1, str(shop)),
        ("reply", "talk-1", "assistant", "the fixture clock ran in UTC while the cookie used local time", 2, str(shop)),
        ("call", "talk-1", "tool_call", "pytest -q tests/login", 3, str(shop)),
        ("second", "talk-2", "user", "use PostgreSQL for the orders service", 4, str(shop)),
        ("foreign", "talk-3", "user", "the login page of another project", 5, other),
    ]
    with Memory(home.root) as memory:
        made = {
            name: memory.record(agent="claude-code", session=session, role=role, text=text, at=at(day), project=project, key=name)
            for name, session, role, text, day, project in said
        }
        memory.settle()
    return made
