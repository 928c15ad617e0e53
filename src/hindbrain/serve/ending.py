"""SIGTERM or SIGHUP -> the end of a command that leaves no process behind.

While a command line agent works for us, the command ends like one that was interrupted from the keyboard: everything on the way
out is done, with the exit code a shell reports for the signal. At any other time the signal does what it always does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
_PROCESSES: Final = "hindbrain.reason.model.processes"  # not loaded: then nothing of the kind is under way


def on_signals() -> None:
    """Only where nobody else has a say: `nohup` has a signal ignored, the worker has a way of its own."""
    with contextlib.suppress(ValueError):  # not the main thread
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _end)


def _end(number: int, frame: FrameType | None) -> None:
    processes = sys.modules.get(_PROCESSES)
    if processes is None or not getattr(processes, "UNDER_WAY", None):
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        return
    for each in _SIGNALS:
        signal.signal(each, signal.SIG_IGN)  # a second one would cut the first one's end short
    raise SystemExit(128 + number)
