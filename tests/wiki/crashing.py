"""A wiki to be cut off at work: one compile with something of everything to do, as a program, and what holds whatever it did.

The ledger's acts lie in a file beside the wiki, each on the disk before it counts, as in the journal. In it an act that is told
twice is one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from hindbrain.wiki import history
from hindbrain.wiki.edits import Act
from hindbrain.wiki.state import State
from tests.wiki.compiling import GIT, STORY, Ledger, Wiki

BEFORE = (*STORY, "Kafka carries the orders.", "Kafka keeps orders for a week.")
REDIS = "concepts/redis.md"
PROJECT = "projects/api-server.md"


class Kept(Ledger):
    """A ledger whose acts are in a file."""

    def __init__(self, file: Path, *, later: bool) -> None:
        super().__init__(BEFORE)
        self.file = file
        if later:
            for key in [key for key, fact in self.facts.items() if "Kafka" in fact.text]:
                del self.facts[key]
            self.say("Redis runs in Docker.", "decision")
            self.say("Unused.")
        for line in file.read_text().splitlines() if file.exists() else ():
            self._apply(Act(**json.loads(line)))

    def apply(self, acts: Sequence[Act]) -> None:
        with self.file.open("a") as file:
            for act in acts:
                file.write(json.dumps(asdict(act) | {"detail": dict(act.detail)}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        super().apply(acts)

    def told(self) -> list[str]:
        """Every act once."""
        return sorted(set(self.file.read_text().splitlines())) if self.file.exists() else []


def at(place: Path, *, git: bool, later: bool = True) -> Wiki:
    wiki = Wiki(place / "wiki", git=GIT if git else None, ledger=Kept(place / "acts", later=later))
    wiki.now += (1 if later else 0) * 86_400_000
    return wiki


def prepared(place: Path, *, git: bool) -> None:
    """Compiled once; then a person edits, adds, renames and deletes, while the ledger learns and forgets."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    wiki = at(place, git=git, later=False)
    wiki.compile()
    wiki.edit(REDIS, "Redis is emptied on every deploy.", "Redis is never emptied.")
    wiki.edit(PROJECT, "## Related", "- The office is in Porto.\n\n## Related")
    wiki.write("notes.md", "my own\n")
    (wiki.folder.root / "concepts/deploy.md").unlink()
    (wiki.folder.root / "concepts/postgresql.md").rename(wiki.folder.root / "concepts/pg.md")


def compiled(place: Path, *, git: bool) -> str:
    """The work that is cut off; what was wrong with it."""
    return at(place, git=git).compile().trouble


def undone(place: Path, *, git: bool) -> None:
    wiki = at(place, git=git)
    with State.open(wiki.folder) as state:
        history.undo(wiki.folder, state)


def main(what: str, place: str, git: str) -> None:
    sys.stdin.read()  # from here on it is our work
    if what == "compile":
        sys.exit(3 if compiled(Path(place), git=git == "git") else 0)
    undone(Path(place), git=git == "git")


if __name__ == "__main__":
    main(*sys.argv[1:])
