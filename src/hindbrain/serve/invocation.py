"""One run of the command line: the flags that every command shares, and the configuration they lead to."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import click

from hindbrain.base.config import Config, find_home, load


class Invocation:
    """Handed to every command. The configuration is read when a command first asks, so a broken one can be repaired."""

    def __init__(self) -> None:
        self.home_flag: str | None = None
        self.answered_by = ""  # "shared" or "local", once a command has asked; "" where nothing is shared

    @cached_property
    def config(self) -> Config:
        """The checked configuration; raises ConfigError."""
        return load(self.home_flag)

    @property
    def home(self) -> Path:
        """The data directory, without reading any file in it."""
        return find_home(self.home_flag)[0]

    @property
    def answered(self) -> dict[str, str]:
        """For a program: which ledger an answer comes from, where there are two."""
        return {"ledger": self.answered_by} if self.answered_by else {}


pass_invocation = click.make_pass_decorator(Invocation)
