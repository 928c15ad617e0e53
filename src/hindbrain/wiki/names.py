"""A title -> the name of a file that every system takes; a path from anywhere -> a path inside the wiki, or a refusal.

Titles are words of people and of memories, so nothing of them reaches the disk but letters, digits and single dashes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import unicodedata
from collections.abc import Container
from functools import lru_cache
from pathlib import Path
from typing import Final

from hindbrain.base.errors import UnsafePath
from hindbrain.base.files import storage_error
from hindbrain.wiki.page import FOLDERS

MOST_BYTES: Final = 80
_RESERVED: Final = frozenset({"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))})
_TOP: Final = frozenset({"index.md", "log.md", "soul.md"})
# Letters that Unicode takes apart into nothing simpler.
_LATIN: Final = str.maketrans({"ß": "ss", "ø": "o", "đ": "d", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "ð": "d", "þ": "th"})


@lru_cache(maxsize=20_000)
def slug(title: str) -> str:
    """Lower-case ASCII where that can be, else the letters of the script; never empty, never reserved, at most 80 bytes."""
    joined = re.sub("-+", "-", "".join(map(_letter, unicodedata.normalize("NFC", title[:500]).casefold().translate(_LATIN))))
    name = _cut(unicodedata.normalize("NFC", joined).strip("-"), MOST_BYTES)
    if not name or name in _RESERVED:
        return "-".join(filter(None, ("page", name, hashed(title))))
    return name


def _letter(letter: str) -> str:
    """One letter as a file name has it: without marks where that leaves ASCII, a dash for what is no letter."""
    bare = "".join(part for part in unicodedata.normalize("NFKD", letter) if not unicodedata.combining(part)).lower()
    if bare.isascii() and bare.isalnum():
        return bare
    return letter if letter.isalnum() or (unicodedata.category(letter)[0] == "M" and not letter.isascii()) else "-"


def _cut(name: str, most: int) -> str:
    """Its first bytes, no letter in halves."""
    return name.encode("utf-8", "ignore")[:most].decode("utf-8", "ignore").strip("-")


@lru_cache(maxsize=50_000)
def hashed(key: str, letters: int = 8) -> str:
    """Hex digits that stand for a key."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:letters]


@lru_cache(maxsize=50_000)
def folded(path: str) -> str:
    """The same for all paths that one file system or another takes for one file."""
    return path.lower() if path.isascii() else unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).casefold())


def free(folder: str, name: str, key: str, taken: Container[str]) -> str:
    """`folder/name.md`, with digits of the key where another page has that path. `taken` holds folded paths."""
    path = f"{folder}/{name}.md"
    if folded(path) not in taken:
        return path
    for letters in (8, 16, 64):
        path = f"{folder}/{_cut(name, MOST_BYTES - letters - 1)}-{hashed(key, letters)}.md"
        if folded(path) not in taken:
            break
    return path


def short(identifier: str) -> str:
    """Eight hex digits for an id of the ledger: its own first ones, as other commands show them."""
    digits = identifier.partition("_")[2][:8]
    return digits if re.fullmatch("[0-9a-f]{8}", digits) else hashed(identifier)


@lru_cache(maxsize=50_000)
def is_page(relative: str) -> bool:
    """Whether a path inside the wiki is a page's: index, log, soul, or a Markdown file in one of the folders."""
    if relative in _TOP:
        return True
    parts = relative.split("/")
    named = len(parts) == 2 and len(parts[1]) > 3 and parts[1].endswith(".md")
    return named and parts[0] in FOLDERS.values() and _sound(parts[1])


def _sound(part: str) -> bool:
    odd = any(unicodedata.category(letter) in ("Cc", "Cs") or letter in "/\\" for letter in part)
    return bool(part) and not part.startswith(".") and not part.endswith((".", " ")) and not odd


def safe_path(root: Path, relative: str) -> Path:
    """The path below root; refuses whatever could lead out of it: dots, absolute paths, links on the way."""
    parts = relative.split("/")
    if not all(map(_sound, parts)) or len(os.fsencode(relative)) > 1_000 or _drive(parts[0]):
        raise UnsafePath(f"not a path inside the wiki: {relative[:200]!r}", path=str(root),
                         hint="pages lie in the wiki's own folders; rename the page or the link")  # fmt: skip
    path = root
    for part in parts:
        path = path / part
        if _is_link(path):
            raise UnsafePath(f"{path} is a link", path=str(path))
    return path


def _drive(part: str) -> bool:
    return re.match("[A-Za-z]:", part) is not None


def _is_link(path: Path) -> bool:
    try:
        return stat.S_ISLNK(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise storage_error("look at", path, error) from error
