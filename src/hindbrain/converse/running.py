"""A command line and a prompt -> what the program wrote, once it has ended well.

The prompt goes in as a file that has no name. A program that ends with an error, is not there, or takes too long raises; it is
never left running.
"""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import IO, Final

from hindbrain.base.errors import HindbrainError
from hindbrain.base.redact import redact_text

MAX_BYTES: Final = 64 << 20
_SHOWN_CHARS: Final = 300


class BackendFailed(HindbrainError):
    """The backend gave no reply"""

    exit_code = 8
    default_hint = "nothing was recorded; run the backend by itself to see what is wrong"


def run(
    argv: Sequence[str], said: str, *, wrote: Callable[[bytes], None] | None = None, timeout: float | None = None
) -> str:
    """The program's output. With `wrote`, each piece is handed on as it comes, and its errors go where ours go."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as complaints:
        given.write(said.encode("utf-8", "replace"))
        given.seek(0)
        try:
            process = subprocess.Popen(argv, stdin=given, stdout=subprocess.PIPE, stderr=None if wrote else complaints)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            raise BackendFailed(f"cannot run {argv[0]}: {why}", hint="see that it is installed and in PATH") from error
        assert process.stdout is not None
        try:
            output = _read(process.stdout, argv[0], wrote, None if timeout is None else time.monotonic() + timeout)
            code = process.wait()
        finally:
            process.kill()  # nothing happens to one that has ended
            process.wait()
            process.stdout.close()
        if code != 0:
            complaints.seek(0)
            raise BackendFailed(f"{argv[0]} ended with {_ended(code)}{_last(complaints.read())}")
    return output.decode("utf-8", "replace")


def _read(output: IO[bytes], name: str, wrote: Callable[[bytes], None] | None, deadline: float | None) -> bytes:
    held = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(output, selectors.EVENT_READ)
        while True:
            if not ready.select(None if deadline is None else max(0.0, deadline - time.monotonic())):
                raise BackendFailed(f"{name} did not end in time")
            piece = os.read(output.fileno(), 1 << 16)
            if not piece:
                return bytes(held)
            held += piece
            if wrote is not None:
                wrote(piece)
            if len(held) > MAX_BYTES:
                raise BackendFailed(f"{name} wrote more than {MAX_BYTES} bytes")


def _ended(code: int) -> str:
    return f"code {code}" if code > 0 else f"signal {-code}"


def _last(complaints: bytes) -> str:
    """The end of what it complained about, on one line."""
    text = " ".join(redact_text(complaints[-4096:].decode("utf-8", "replace"))[0].split())
    return f": {text[-_SHOWN_CHARS:]}" if text else ""
