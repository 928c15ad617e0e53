"""Something was forgotten -> the wiki of the home holds it no longer, neither in its pages nor in their history.

The pages follow the ledger by themselves; their older versions do not, and which of them holds a text cannot be told. So
history begins anew. A mark in the wiki's own folder says that this is to be done, and goes when it is: whoever compiles next
takes it up.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Final

from hindbrain.base.files import replace_file, storage_error
from hindbrain.base.home import Home
from hindbrain.serve.wiki_state import OWN

if TYPE_CHECKING:
    from hindbrain.wiki.folder import Folder
    from hindbrain.wiki.state import State

MARK: Final = "forgetting"


def wanted(home: Home) -> None:
    """Have the next compile do it."""
    if (home.wiki / OWN).is_dir():
        replace_file(home.wiki / OWN / MARK, b"1\n")


def is_wanted(folder: Folder) -> bool:
    return (folder.own / MARK).exists()


def begin_anew(folder: Folder, state: State) -> None:
    """Let go of every older version. The next compile makes the first one."""
    with folder.locked():
        repository = folder.root / ".git"
        try:
            if folder.git is not None and repository.is_dir() and not repository.is_symlink():
                shutil.rmtree(repository)
        except OSError as error:
            raise storage_error("remove", repository, error) from error
        with state.transaction() as connection:
            for table in ("versions", "compiles", "conflicts", "touched"):
                connection.execute(f"DELETE FROM {table}")


def done(folder: Folder) -> None:
    (folder.own / MARK).unlink(missing_ok=True)
