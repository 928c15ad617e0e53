"""docs/library.md names everything the library offers."""

from __future__ import annotations

import re
from pathlib import Path

import hindbrain
from hindbrain import Memory

DOCUMENT = (Path(__file__).resolve().parent.parent.parent / "docs" / "library.md").read_text("utf-8")


def test_every_method_of_memory_has_its_place_in_the_table() -> None:
    table = "".join(line for line in DOCUMENT.split("\n") if line.startswith("| `"))
    named = set(re.findall(r"`(\w+)[(`]", table))
    offered = {name for name in dir(Memory) if not name.startswith("_")} | {"answered_by"}
    assert offered - {"tell", "look", "is_shared"} - named == set()  # those are there for our own stages


def test_every_public_name_can_be_loaded() -> None:
    loaded = {name: getattr(hindbrain, name) for name in hindbrain.__all__ if name != "__version__"}
    assert {name: each.__module__ for name, each in loaded.items() if not each.__module__.startswith("hindbrain.")} == {}
