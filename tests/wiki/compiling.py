"""A wiki on the disk with a small ledger behind it: what a person does to its files, and what a compile makes of it.

The ledger is a table of facts that acts change as the real one does, and in which an act counts once, however often it is told.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from hindbrain.wiki.compile import Compiled, Options, compile
from hindbrain.wiki.draft import Drawn
from hindbrain.wiki.edits import Act
from hindbrain.wiki.folder import Folder
from hindbrain.wiki.page import Fact, Material, Sitting
from hindbrain.wiki.state import State
from tests.wiki.made import HOUR, START, fact, number

GIT = Path(found) if (found := shutil.which("git")) else None
PROJECTS = {"p_1": "api-server"}
STORY = (
    "Staging runs PostgreSQL 16 in eu-west-1.",
    "Use PostgreSQL for the ledger, because of JSONB.",
    "PostgreSQL backups run at night with pgBackRest.",
    "Redis holds the sessions of api-server.",
    "Redis is emptied on every deploy.",
    "The deploy script waits for PostgreSQL and Redis.",
)


def sitting(of: int, facts: Sequence[str] = ()) -> Sitting:
    began = START + of * HOUR
    told = (began, began + HOUR, "Work on the ledger.", "")
    return Sitting(f"s_{number(of)}", "claude-code", "p_1", "main", *told, (), tuple(facts))


class Ledger:
    """Facts, and what people did to them."""

    def __init__(self, texts: Sequence[str] = STORY) -> None:
        self.facts: dict[str, Fact] = {}
        self.acts: list[Act] = []
        for text in texts:
            self.say(text)

    def say(self, text: str, kind: str = "fact", **other: object) -> str:
        said = fact(len(self.facts) + 1, text, kind, **other)  # type: ignore[arg-type]
        self.facts[said.id] = said
        return said.id

    def apply(self, acts: Sequence[Act]) -> None:
        for act in acts:
            self.acts.append(act)
            self._apply(act)

    def _apply(self, act: Act) -> None:
        if act.op == "remember":
            key = hashlib.sha256(f"{act.kind} {act.text}".encode()).hexdigest()[:24]
            made = fact(900, act.text, act.kind, project=act.project)
            self.facts.setdefault(f"m_{key}", replace(made, id=f"m_{key}", trust="human_file", sources=()))
        elif act.op == "edit" and act.memory in self.facts:
            was = self.facts[act.memory]
            self.facts[act.memory] = replace(was, text=act.text or was.text, kind=act.kind or was.kind)
        elif act.op == "reject":
            self.facts.pop(act.memory, None)
        elif act.op in ("done", "undone") and act.memory in self.facts:
            end = START + 500 * HOUR if act.op == "done" else None
            self.facts[act.memory] = replace(self.facts[act.memory], valid_to=end)

    def material(self) -> Material:
        said = [each for each in self.facts.values() if each.sources]
        held = sitting(1, [each.id for each in said])
        return Material(dict(self.facts), {held.id: held}, PROJECTS, "")


class Wiki:
    """The folder, and whoever works in it."""

    def __init__(self, root: Path, *, git: Path | None = None, ledger: Ledger | None = None) -> None:
        self.folder = Folder(root, git)
        self.ledger = ledger if ledger is not None else Ledger()
        self.now = START + 1000 * HOUR
        self.before: Drawn | None = None

    def compile(self, options: Options = Options()) -> Compiled:  # noqa: B008
        self.now += HOUR
        with State.open(self.folder, look=options.dry_run) as state:
            made = compile(
                self.folder, state, self.ledger.material(), options, self.ledger.apply, self.now,
                refresh=self.ledger.material, before=self.before,
            )  # fmt: skip
        self.before = made.drawn
        return made

    def texts(self) -> dict[str, str]:
        """Every file a person sees."""
        return {path: self.read(path) for path in self.folder.files()}

    def pages(self) -> dict[str, str]:
        """But the log, which tells when."""
        return {path: text for path, text in self.texts().items() if path != "log.md"}

    def read(self, path: str) -> str:
        return (self.folder.root / path).read_text("utf-8")

    def write(self, path: str, text: str) -> None:
        """What a person saves; a while ago, so that it is not taken for half-saved."""
        file = self.folder.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        self.age(path)

    def age(self, path: str) -> None:
        os.utime(self.folder.root / path, (self.now / 1000, self.now / 1000))

    def edit(self, path: str, old: str, new: str) -> None:
        text = self.read(path)
        assert text.count(old) >= 1, (path, old, text)
        self.write(path, text.replace(old, new, 1))

    def state(self) -> State:
        return State.open(self.folder)
