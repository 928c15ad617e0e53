"""Text of any origin -> text a terminal only shows.

Stored text, paths and arguments may hold escape sequences that move the cursor, fill the clipboard or turn the reading
direction. Everything the command line prints goes through here; data to stdout, everything else to stderr.
"""

from __future__ import annotations

import io
import json
import os
import sys
import unicodedata
from typing import Final, TextIO

from hindbrain.base.errors import StorageError

# Control, format (bidi, zero width), lone surrogates, private use, and the two separators that may end a line.
_ACTIVE: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def printable(text: str) -> str:
    """One line of text with everything active or invisible shown as an escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escaped(letter) if unicodedata.category(letter) in _ACTIVE else letter for letter in text)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape", "backslashreplace").decode("ascii")


def printable_lines(text: str) -> str:
    """Several lines of text; line breaks stay, everything else active is shown as an escape."""
    return "\n".join(printable(line) for line in text.split("\n"))


def say(text: str = "") -> None:
    """Data, for stdout."""
    _write(printable_lines(text) + "\n")


def say_json(data: object) -> None:
    """Data for a program: plain ASCII, so nothing in it is active."""
    _write(json.dumps(data, indent=2, ensure_ascii=True).replace("\x7f", "\\u007f") + "\n")


def note(text: str) -> None:
    """Anything that is not data, for stderr; a process started without one is told nothing."""
    stream: TextIO | None = getattr(sys, "stderr", None)
    if stream is not None:
        stream.write(printable_lines(text) + "\n")


def flush() -> None:
    """Write out what say() was given; until then nobody knows whether it could be written."""
    _write("")


def silence(stream: object) -> None:
    """Point a stream nobody reads at nothing, or Python complains once more when it closes it."""
    if isinstance(stream, io.TextIOWrapper):
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, stream.fileno())
        os.close(nothing)


def _write(text: str) -> None:
    stream: TextIO | None = getattr(sys, "stdout", None)
    if stream is None and text:
        raise StorageError("cannot write the output: stdout is closed", hint="check where the output goes")
    if stream is None:
        return
    try:
        stream.write(text)
        if not text:
            stream.flush()
    except BrokenPipeError:
        raise  # the reader had enough; no fault
    except OSError as error:
        silence(stream)
        raise StorageError(
            f"cannot write the output: {error.strerror}", hint="check where the output goes", errno=error.errno
        ) from error
