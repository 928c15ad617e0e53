"""A home -> whether its wiki is to be kept up to date, and whether it is. Little is loaded for it: the worker asks often."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from hindbrain.base.config import Config
from hindbrain.base.files import read_private, replace_file
from hindbrain.base.home import Home
from hindbrain.ledger.evidence import Evidence

OWN: Final = ".hindbrain"  # as wiki.folder has it
COMPILED: Final = "compiled"  # in it: what the ledger was like when the pages were made


def is_kept(config: Config) -> bool:
    """Whether the worker is to see to the wiki of this home: there is one, and nobody said no."""
    return config.wiki_enabled and (Home(config.home).wiki / OWN / "state.db").exists()


def news(own: Path, ledger: Evidence) -> str:
    """What the ledger is like now, where the pages were made of another; "" where they are up to date."""
    from hindbrain.wiki import source

    data = read_private(own / COMPILED)
    with ledger.reading() as database:
        token = source.changed_token(database)
    return "" if data is not None and data.decode("ascii", "replace").strip() == token else token


def note(own: Path, token: str) -> None:
    """The pages are made of this."""
    replace_file(own / COMPILED, f"{token}\n".encode())
