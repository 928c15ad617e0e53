"""Wall time and elapsed time, as one value that can be handed down.

Wall time stamps records and may jump; elapsed time measures waits and never does. Code that needs either takes a Clock,
so a test can move both without touching the machine's.
"""

from __future__ import annotations

import time
from typing import Protocol


class Clock(Protocol):
    """What the stages may ask of time."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC."""
        ...

    def elapsed(self) -> float:
        """Seconds on a clock that never goes back."""
        ...


class SystemClock:
    """The machine's own clocks."""

    def now_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed(self) -> float:
        return time.monotonic()


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self, now_ms: int = 1_790_000_000_000) -> None:
        self._now_ms = now_ms
        self._elapsed = 0.0

    def now_ms(self) -> int:
        return self._now_ms

    def elapsed(self) -> float:
        return self._elapsed

    def advance(self, seconds: float) -> None:
        """Let time pass: both clocks move."""
        self._now_ms += int(seconds * 1000)
        self._elapsed += seconds

    def set_wall(self, now_ms: int) -> None:
        """Jump the wall clock, as a user or NTP may; elapsed time does not notice."""
        self._now_ms = now_ms
