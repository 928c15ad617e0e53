"""A long piece of work -> a line that shows it is alive: drawn in place on a terminal, plain lines elsewhere.

Nothing is shown in the first second, so quick work stays quiet. It goes to stderr; stdout is for data.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from hindbrain.serve.terminal import note, printable

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

_QUIET_SECONDS: Final = 1.0
_LINE_SECONDS: Final = 5.0


class Progress:
    """Told of each step; decides itself when to show one."""

    def __init__(self, title: str, total: int | None = None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._started = time.monotonic()
        self._last_line = self._started

    def step(self, what: str = "", by: int = 1) -> None:
        """One more piece is being done."""
        self._done += by
        now = time.monotonic()
        if now - self._started < _QUIET_SECONDS:
            return
        if sys.stderr is not None and sys.stderr.isatty():
            self._draw(what)
        elif now - self._last_line >= _LINE_SECONDS:
            self._last_line = now
            note(f"{self._title}: {self._done}{f' of {self._total}' if self._total else ''} {what}".rstrip())

    def _draw(self, what: str) -> None:
        if self._bar is None:
            from rich.console import Console  # a terminal and more than a second of work: worth the import
            from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
            from rich.progress import Progress as RichProgress

            columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = RichProgress(*columns, console=Console(stderr=True), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._title, total=self._total)
        if self._task is not None:
            self._bar.update(self._task, completed=self._done, description=printable(f"{self._title} {what}"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()
