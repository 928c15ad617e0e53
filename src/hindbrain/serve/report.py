"""An exception nobody expected -> a redacted report file in the home's log directory."""

from __future__ import annotations

import os
import platform
import time
import traceback
from pathlib import Path

from hindbrain import __version__
from hindbrain.base.files import ensure_private_dir, replace_file
from hindbrain.base.redact import redact_text


def write_report(home: Path, error: BaseException) -> Path:
    """Where the report was written. Arguments of the command are left out: they may hold what no rule recognises."""
    text = "".join(traceback.format_exception(error))
    head = f"hindbrain {__version__}, Python {platform.python_version()}, {platform.platform()}\n\n"
    clean, _ = redact_text(head + text)
    ensure_private_dir(home)
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    path = ensure_private_dir(home / "log") / f"crash-{stamp}-{os.getpid()}.txt"
    replace_file(path, clean.encode("utf-8", "backslashreplace"))
    return path
