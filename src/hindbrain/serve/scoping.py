"""What a command line says about projects -> the project meant, by the ledger's id.

Without a word it is the project of the current directory: found by what the folder was known to be, else by what it is
now. A project that nothing is stored of is no error: there is nothing to find in it, and that is said.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from hindbrain.base.errors import UsageError
from hindbrain.capture.event import storable
from hindbrain.ledger.evidence import Evidence
from hindbrain.ledger.project import resolve
from hindbrain.recall import rank
from hindbrain.serve.memory import find_project

Known = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class Chosen:
    """One project, or all of them."""

    project: str | None  # the ledger's id; None when nothing is stored of it, or when everything is meant
    everything: bool
    named: str
    folder: str = ""  # where it was looked for, if it was a folder

    @property
    def unknown(self) -> bool:
        """Whether there is nothing to find."""
        return self.project is None and not self.everything

    def scope(self, after: int = -rank.FOREVER, before: int = rank.FOREVER) -> rank.Scope:
        """The same for a search."""
        return rank.Scope(self.project, everything=self.everything, after=after, before=before)


def choose(ledger: Evidence | None, project: str | None, all_projects: bool, known: Known = lambda folder: None) -> Chosen:
    """The project of `--project`, of the current directory, or all. `known` is what this machine knows of folders."""
    if project is not None and all_projects:
        raise UsageError("--project and --all-projects exclude each other", hint="give one of them")
    if all_projects:
        return Chosen(None, True, "all projects")
    place = current_folder() if project is None else as_folder(project)
    named = place or project or ""
    if not named.strip():
        raise UsageError("the project has an empty name", hint="name it, or use --all-projects")
    if ledger is None:
        return Chosen(None, False, named, place)
    found = known(place) or of_folder(ledger, place) if place else find_project(ledger, storable(named))
    return Chosen(found, False, named, place)


def as_folder(project: str) -> str:
    """The absolute folder a project was named by, "" when it was named otherwise."""
    if project in (".", "..") or project.startswith(("/", "./", "../", "~")):
        return os.path.abspath(os.path.expanduser(project))
    return ""


def current_folder() -> str:
    """Where the command was run."""
    try:
        return os.getcwd()
    except OSError as error:
        raise UsageError("the current directory is gone", hint="name a project with --project") from error


def of_folder(ledger: Evidence, folder: str) -> str | None:
    """The project of a folder by what the folder is now; None when nothing is stored of it."""
    return find_project(ledger, storable(resolve(folder).identity))


def known_folder(ledger: Evidence | None, folder: str) -> str | None:
    """The project a folder was found to belong to when it was last seen. Only its own machine's ledger can tell: on another one
    the same path is another folder."""
    known = None if ledger is None else ledger.place(folder)
    return None if known is None else known[1]
