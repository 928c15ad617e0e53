"""A home with a compiled wiki, and a person at its pages: edits that were saved a while ago, as no editor is at them any more."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from hindbrain.serve.memory import Memory
from tests.serve.commands import CommandLine, at

SAID = {
    "cache": ("fact", "Redis keys expire after 30 minutes"),
    "use": ("decision", "Redis is used for sessions"),
    "rule": ("instruction", "Never push to main"),
    "task": ("task", "Rotate the keys of the Redis replica"),
    "ports": ("fact", "The api listens on port 8085"),
}


@dataclass
class Person:
    """Somebody who has the folder open."""

    run: CommandLine
    ids: dict[str, str]

    @property
    def root(self) -> Path:
        return self.run.home.wiki

    def text(self, path: str) -> str:
        return (self.root / path).read_text("utf-8")

    def edit(self, path: str, change: Callable[[str], str]) -> None:
        """Save a page that differs; it was saved ten seconds ago."""
        text = self.text(path)
        changed = change(text)
        assert changed != text
        self.write(path, changed)

    def write(self, path: str, text: str) -> None:
        (self.root / path).write_text(text, "utf-8")
        moment = time.time() - 10
        os.utime(self.root / path, (moment, moment))

    def delete_line(self, path: str, words: str) -> None:
        self.edit(path, lambda text: "".join(line for line in text.splitlines(keepends=True) if words not in line))

    def line(self, path: str, words: str) -> str:
        """The one line that says so, without its mark."""
        (found,) = [line for line in self.text(path).splitlines() if words in line]
        return found.rpartition(" ^")[0]

    def stands(self) -> dict[str, str]:
        """What holds: id -> text."""
        with Memory(self.run.home.root) as memory:
            return {each.id: each.text for each in memory.memories()}

    def errors(self) -> list[str]:
        """What lint calls an error."""
        found = self.run("wiki", "lint", "--json").data["findings"]
        return [f"{each['page']}: {each['message']}" for each in found if each["severity"] == "error"]


def compiled(run: CommandLine) -> Person:
    """Things a person had kept, in one project, compiled for the first time."""
    with Memory(run.home.root) as memory:
        ids = {
            name: memory.remember(text, kind=kind, project=str(run.folder), at=at(1 + number))
            for number, (name, (kind, text)) in enumerate(SAID.items())
        }
        memory.settle()
    assert run("wiki", "compile").code == 0
    return Person(run, ids)
