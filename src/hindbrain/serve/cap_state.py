"""What a cap keeps from being asked -> a small file in the home, and back: what `status` and `doctor` tell of.

Only what was refused is told, not what might be: how much a question may take is known when it is asked. A note counts for its
day and for the settings it was made under, and is removed when there is room for a question of its kind again. Nothing relies on
it.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import ensure_private_dir, read_private, replace_file
from hindbrain.base.home import Home

if TYPE_CHECKING:
    from hindbrain.reason.model.asked import Question
    from hindbrain.reason.model.budget import Admission

log = logging.getLogger("hindbrain.reason")

HINT: Final = "the settings that end in daily_tokens and daily_cost say how much may be used"

_FILE: Final = "caps"  # among what is derived: a wish to forget takes it away
_LIMIT: Final = 1 << 20
_OF_PROJECT: Final = " of this project"  # as a budget says whose cap it is


class Capped(NamedTuple):
    """A kind of job that goes by rules today."""

    kind: str
    project: str  # id of the one whose cap it is; "" for a cap that holds for all
    why: str
    day: int  # when it began, in milliseconds
    stamp: str  # of the settings


def capped(config: Config, clock: Clock) -> list[Capped]:
    """What was refused today, with the settings as they are."""
    return _current(_noted(config), config, clock) if config.model else []


def capping(config: Config, clock: Clock) -> Admission:
    """Keeps what caps refuse. What cannot be written is no reason to stop working."""
    guard = threading.Lock()

    def told(question: Question, why: str) -> None:
        with guard:
            noted = _current(_noted(config), config, clock)
            wanted = _after(noted, question, why, _day(clock), _stamp(config))
            if wanted != noted:
                _write(config, wanted)

    return told


def _after(noted: list[Capped], question: Question, why: str, day: int, stamp: str) -> list[Capped]:
    """The notes once this was refused, or, without a reason, admitted."""
    from hindbrain.reason.model.budget import THIS_QUESTION

    own = question.project_id or ""
    if not why:
        return [each for each in noted if each.kind != question.kind or each.project not in ("", own)]
    project = own if _OF_PROJECT in why else ""
    same = [each for each in noted if (each.kind, each.project) == (question.kind, project)]
    said = why.replace(THIS_QUESTION, "a question")  # whoever reads it later has not asked
    if same and same[0].why == said:
        return noted
    return [*(each for each in noted if each not in same), Capped(question.kind, project, said, day, stamp)]


def _current(noted: Iterable[Capped], config: Config, clock: Clock) -> list[Capped]:
    day, stamp = _day(clock), _stamp(config)
    return [each for each in noted if (each.day, each.stamp) == (day, stamp)]


def _day(clock: Clock) -> int:
    from hindbrain.reason.model.budget import midnight

    return midnight(clock.now_ms())


def _stamp(config: Config) -> str:
    """Other settings may leave room."""
    given = [(name, value) for name, value in sorted(config.values.items()) if name.startswith("model") and "key" not in name]
    return hashlib.sha256(repr(given).encode()).hexdigest()[:8]


def _write(config: Config, noted: list[Capped]) -> None:
    derived = Home(config.home).derived
    try:
        ensure_private_dir(derived)
        replace_file(derived / _FILE, json.dumps([each._asdict() for each in noted]).encode())
    except (HindbrainError, OSError) as error:
        log.warning("what a cap refuses cannot be noted: %s", error)


def _noted(config: Config) -> list[Capped]:
    """What is noted; nothing where the file cannot be read."""
    try:
        raw: Any = json.loads(read_private(Home(config.home).derived / _FILE, _LIMIT) or b"[]")
        return [_read(Capped(**each)) for each in raw]
    except (ValueError, TypeError, AttributeError, RecursionError, HindbrainError, OSError):
        return []


def _read(found: Capped) -> Capped:
    return Capped(str(found.kind), str(found.project), str(found.why), int(found.day), str(found.stamp))
