"""Every byte of a home -> which files still hold a word, however it is stored."""

from __future__ import annotations

from pathlib import Path

from hindbrain.journal.pack import unpack


def holding(home: Path, word: str) -> list[str]:
    """The files that hold a word as text, escaped, or as an index entry; archives are looked into.

    The index shares the beginnings of its terms and keeps their stems, so words to look for begin unlike any other and are
    searched for without their first letters and their ending.
    """
    inner = word[3:-5].encode()  # the stemmer also halves a double letter before the ending
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if path.name.endswith(".gz"):
                data += b"".join(block.data or b"" for block in unpack(data))
            if inner in data.lower():
                found.append(str(path.relative_to(home)))
    return found
