"""What a model said of our key -> a small file in the home, and back: what `status` and `doctor` tell of.

It is a report and nothing relies on it: the next job asks again whatever stands here. A note counts only for the model, address
and key it was made about, so that it is gone as soon as one of them is set anew, and it is removed when the model answers.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from hindbrain.base.clock import Clock
from hindbrain.base.config import Config
from hindbrain.base.errors import HindbrainError
from hindbrain.base.files import ensure_private_dir, read_private, replace_file
from hindbrain.base.home import Home

if TYPE_CHECKING:
    from hindbrain.reason.model.asked import ModelName
    from hindbrain.reason.model.calls import Refusal
    from hindbrain.reason.model.failures import KeyRefused

log = logging.getLogger("hindbrain.reason")

_FILE: Final = "model"  # among what is derived: a wish to forget takes it away
_LIMIT: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Refused:
    """A model that does not take the key it is asked with."""

    said: str
    hint: str
    at: int  # milliseconds
    stamp: str  # of model, address and key: another key was not refused


def refused(config: Config) -> dict[str, Refused]:
    """The configured models that last refused the keys they have now."""
    stamps, noted = _stamps(config), _noted(config)
    return {name: noted[name] for name, stamp in stamps.items() if name in noted and noted[name].stamp == stamp}


def noting(config: Config, clock: Clock) -> Refusal:
    """Keeps what models say of their keys. What cannot be written is no reason to stop working."""
    guard = threading.Lock()
    stamps = _stamps(config)

    def told(name: ModelName, failure: KeyRefused | None) -> None:
        with guard:
            noted = _noted(config)
            if failure is None and str(name) not in noted:
                return
            noted.pop(str(name), None)
            if failure is not None:
                stamp = stamps.get(str(name), "")
                noted[str(name)] = Refused(failure.message, failure.hint, clock.now_ms(), stamp)
            _write(config, noted)

    return told


def _write(config: Config, noted: dict[str, Refused]) -> None:
    derived = Home(config.home).derived
    try:
        ensure_private_dir(derived)
        replace_file(derived / _FILE, json.dumps({name: asdict(each) for name, each in noted.items()}).encode())
    except (HindbrainError, OSError) as error:
        log.warning("what a model said of its key cannot be noted: %s", error)


def _noted(config: Config) -> dict[str, Refused]:
    """What is noted; nothing where the file cannot be read."""
    try:
        raw: Any = json.loads(read_private(Home(config.home).derived / _FILE, _LIMIT) or b"{}")
        return {str(name): _read(each) for name, each in raw.items()}
    except (ValueError, TypeError, AttributeError, RecursionError, HindbrainError, OSError):
        return {}


def _read(each: dict[str, Any]) -> Refused:
    found = Refused(**each)
    return Refused(str(found.said), str(found.hint), int(found.at), str(found.stamp))


def _stamps(config: Config) -> dict[str, str]:
    chain = zip(config.model, config.model_urls, config.model_keys, strict=True)
    return {name: hashlib.sha256("\0".join((name, url, key)).encode()).hexdigest()[:8] for name, url, key in chain}
