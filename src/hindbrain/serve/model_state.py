"""What a model did when it was last asked -> a small file in the home, and back: what `status` and `doctor` tell of.

It refused our key, or what is set; it did not answer; or its replies could not be used. It is a report and nothing relies on it:
the next job asks again whatever stands here. A note is of the last question alone, and counts only for the model, address and key
it was made about, so that it is gone as soon as one of them is set anew, and it is removed when the model gives a reply of use.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import ensure_private_dir, read_private, replace_file
from hindbrain.base.home import Home

if TYPE_CHECKING:
    from hindbrain.reason.model.asked import ModelName
    from hindbrain.reason.model.calls import Heard
    from hindbrain.reason.model.failures import ModelFailed

log = logging.getLogger("hindbrain.reason")

_FILE: Final = "model"  # among what is derived: a wish to forget takes it away
_LIMIT: Final = 1 << 20


Trouble = Literal["key", "setting", "away", "replies"]


@dataclass(frozen=True, slots=True)
class Note:
    """What a model did when it was last asked, where that was of no use."""

    said: str
    hint: str
    at: int  # milliseconds
    stamp: str  # of model, address and key: another key was not refused
    what: Trouble = "key"
    count: int = 1  # how often in a row

    @property
    def stops(self) -> bool:
        """Whether rules do all its work until somebody changes something."""
        return self.what in ("key", "setting")

    def told(self, name: str = "") -> str:
        """In plain words. name: of which of several."""
        if self.what == "key":
            return f"the key of {name} is refused" if name else "the key is refused"
        if self.what == "setting":
            return f"{name or 'it'} cannot be used as it is set"
        if self.what == "away":
            return f"{name or 'it'} did not answer when it was last asked"
        replies = "the last reply" if self.count == 1 else f"the last {self.count} replies"
        return f"{replies}{f' of {name}' if name else ''} could not be used"


def noted(config: Config) -> dict[str, Note]:
    """The configured models that were of no use when they were last asked, as they are set now."""
    stamps, notes = _stamps(config), _notes(config)
    return {name: notes[name] for name, stamp in stamps.items() if name in notes and notes[name].stamp == stamp}


def noting(config: Config, clock: Clock) -> Heard:
    """Keeps what came of the last question to each model. What cannot be written is no reason to stop working."""
    from hindbrain.reason.model.failures import shown

    guard = threading.Lock()
    stamps = _stamps(config)

    def heard(name: ModelName, failure: ModelFailed | None) -> None:
        with guard:
            notes = _notes(config)
            if failure is None and str(name) not in notes:
                return
            before = notes.pop(str(name), None)
            if failure is not None:
                what, stamp = _trouble(failure), stamps.get(str(name), "")
                again = before is not None and (before.what, before.stamp) == (what, stamp)
                count = before.count + 1 if before is not None and again else 1
                notes[str(name)] = Note(shown(failure.message), failure.hint, clock.now_ms(), stamp, what, count)
            _write(config, notes)

    return heard


def _trouble(failure: ModelFailed) -> Trouble:
    from hindbrain.reason.model.failures import KeyRefused, ModelRefused, WrongOutput

    if isinstance(failure, WrongOutput):
        return "replies"
    if isinstance(failure, KeyRefused):
        return "key"
    return "setting" if isinstance(failure, ModelRefused) else "away"


def _write(config: Config, notes: dict[str, Note]) -> None:
    derived = Home(config.home).derived
    try:
        ensure_private_dir(derived)
        replace_file(derived / _FILE, json.dumps({name: asdict(each) for name, each in notes.items()}).encode())
    except (HindbrainError, OSError) as error:
        log.warning("what a model did cannot be noted: %s", error)


def _notes(config: Config) -> dict[str, Note]:
    """What is noted; nothing where the file cannot be read."""
    try:
        raw: Any = json.loads(read_private(Home(config.home).derived / _FILE, _LIMIT) or b"{}")
        return {str(name): _read(each) for name, each in raw.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, HindbrainError, OSError):
        return {}


def _read(each: dict[str, Any]) -> Note:
    found = Note(**each)
    if found.what not in get_args(Trouble):
        raise ValueError(f"nobody notes this of a model: {found.what!r}")
    return Note(str(found.said), str(found.hint), int(found.at), str(found.stamp), found.what, int(found.count))


def _stamps(config: Config) -> dict[str, str]:
    chain = zip(config.model, config.model_urls, config.model_keys, strict=True)
    return {name: hashlib.sha256("\0".join((name, url, key)).encode()).hexdigest()[:8] for name, url, key in chain}
