"""A wiki's folder -> the texts of its pages; a name -> the page meant; pages -> files for other readers.

Reads alone, but for what is exported. Links are not followed and folders that begin with a dot are not looked into, so what is
read is what a person sees in the folder.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hindbrain.base.errors import NotFound, StorageError, UnsafePath, UsageError
from hindbrain.base.files import new_file, storage_error, write_all
from hindbrain.wiki import export
from hindbrain.wiki.folder import Folder, NotText
from hindbrain.wiki.links import Wiki, folded
from hindbrain.wiki.outline import Link

FORMATS: Final = ("html", "markdown", "obsidian", "json")


def texts(folder: Folder) -> dict[str, str]:
    """Path inside the wiki -> text, of every Markdown file: ours and people's own. What is no text is left out.

    Raises NotFound where there is no wiki.
    """
    if not folder.there:
        raise NotFound(f"there is no wiki in {folder.root}", hint="make one with `hindbrain wiki compile`")
    found = {}
    for path in folder.files():
        with contextlib.suppress(NotText, UnsafePath):
            file = folder.read(path)
            if file is not None:
                found[path] = file.text
    return found


def page_named(pages: Mapping[str, str], name: str) -> str:
    """The path of the page that is meant by its path, file name, title or alias, as a link would. Raises NotFound."""
    target, _, _ = name.strip().removeprefix("[[").removesuffix("]]").partition("|")
    wiki = Wiki(pages)
    by_id = [path for path, leaf in wiki.pages.items() if leaf.read.id and leaf.read.id == target.strip()]
    found = by_id[0] if by_id else wiki.resolve(Link(0, 0, 0, target.partition("#")[0].strip() or "index", "", ""), "").path
    if not found:
        near = _near(wiki, target)
        raise NotFound(f"there is no page {name[:80]!r}", hint=f"did you mean {near}?" if near else "see `hindbrain wiki search`")
    return found


def _near(wiki: Wiki, target: str) -> str:
    import difflib  # needed on the way to an error only

    names = {folded(name): name for leaf in wiki.pages.values() for name in (leaf.title, *leaf.aliases) if name}
    found = difflib.get_close_matches(folded(target), names, n=1)
    return names[found[0]] if found else ""


def exported(pages: Mapping[str, str], form: str, target: Path, title: str) -> list[Path]:
    """Write the wiki in another form; the files that were written. A folder must be empty."""
    match form:
        case "html":
            return [_one_file(target, export.html(pages, title))]
        case "json":
            return [_one_file(target, export.as_json(pages))]
        case "markdown" | "obsidian":
            _empty_folder(target)
            return export.written(target, export.markdown(pages) if form == "markdown" else export.vault(pages))
        case _:
            raise UsageError(f"{form!r} is not a form of export", hint=f"use one of {', '.join(FORMATS)}")


def _one_file(target: Path, text: str) -> Path:
    if target.is_dir():
        raise UsageError(f"{target} is a folder", hint="name the file to write")
    if target.is_symlink() or (target.exists() and not target.is_file()):
        raise StorageError(f"{target} is no plain file", path=str(target), hint="name another file")
    with new_file(target) as descriptor:
        write_all(descriptor, text.encode("utf-8", "surrogateescape"))
    return target


def _empty_folder(target: Path) -> None:
    """An export never mixes with what is somebody else's."""
    try:
        target.mkdir(parents=True, exist_ok=True)
        there = [entry.name for entry in os.scandir(target)]
    except OSError as error:
        raise storage_error("use", target, error) from error
    if there:
        raise UsageError(f"{target} is not empty: it holds {there[0]!r}", hint="name a folder that is not there yet, or is empty")
