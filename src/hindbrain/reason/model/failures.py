"""How a model let us down -> what becomes of the job: tried again, or later; or done by rules instead.

ModelFailed
 +-- ModelAway      it may answer later: the job is tried again, or comes back when the server asks it to
 +-- ModelRefused   it will not answer before somebody changes something: rules decide, and `status` says so until it answers
 |    +-- KeyRefused   what it does not take is the key
 +-- WrongOutput    it answered, and what it said cannot be used: asked once more with the complaint, then rules decide
 +-- NotAllowed     it was not asked: a cap is reached, or it is night; rules decide

What the other side says is shown shortened, on one line, without secrets and without any piece of the key.
"""

from __future__ import annotations

import email.utils
from collections.abc import Sequence
from typing import Final

from hindbrain.base.errors import HindbrainError
from hindbrain.base.key_mask import without_key
from hindbrain.base.redact import redact_text
from hindbrain.queues.job import FIRST_DELAY, BackOff, JobFailed, Park, Retry

SHOWN_CHARS: Final = 200
LONGEST_WAIT: Final = 3_600.0  # seconds; a server that asks for more is asked again after this
LEAST_WAIT: Final = FIRST_DELAY  # of one that says "at once", or names a time that has passed: it said so with a refusal
LIMITED_WAIT: Final = 30.0  # of a server that limits us and does not say how long


class ModelFailed(HindbrainError):
    """A model could not be used"""

    exit_code = 8
    default_hint = "work goes on by rules meanwhile; see the settings that begin with model in `hindbrain config show`"


class ModelAway(ModelFailed):
    """A model does not answer now"""

    def __init__(self, message: str = "", *, hint: str = "", after: float | None = None, paid: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.after = after  # seconds the other side asks to be left alone
        self.paid = paid  # it had the question: it may have worked on it, and that may cost


class ModelRefused(ModelFailed):
    """A model cannot be used as it is configured"""


class KeyRefused(ModelRefused):
    """A model does not take the key it is asked with, or there is none"""


class WrongOutput(ModelFailed):
    """What a model said cannot be used"""

    def __init__(self, message: str = "", *, hint: str = "", came: int | None = None) -> None:
        super().__init__(message, hint=hint)
        self.came = came  # tokens of what came, where it is plain that no model wrote it; None where one may have


class NotAllowed(ModelFailed):
    """A model was not asked"""


def as_job(failure: ModelFailed) -> JobFailed:
    """What the queue is told."""
    if isinstance(failure, ModelAway):
        if failure.after is None:
            return Retry(failure.message, hint=failure.hint)
        return BackOff(failure.message, seconds=failure.after, hint=failure.hint, rising=True)
    return Park(failure.message, hint=failure.hint)


def worst_case(failures: Sequence[ModelFailed]) -> ModelFailed:
    """What to say when none of several models answered: the one that may be back first."""
    away = [each for each in failures if isinstance(each, ModelAway)]
    if not away:
        return failures[0]
    return min(away, key=lambda each: each.after or 0.0)


def wait_asked(header: str, now_ms: int) -> float | None:
    """The seconds a Retry-After asks for, given as a number or as a date, within limits; None for anything else."""
    text = header.strip()
    if text.isascii() and text.isdigit():
        return min(max(float(text[:12]), LEAST_WAIT), LONGEST_WAIT)
    try:
        moment = email.utils.parsedate_to_datetime(text)
        return min(max(moment.timestamp() - now_ms / 1000, LEAST_WAIT), LONGEST_WAIT)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def shown(text: str, key: str = "") -> str:
    """What the other side said, fit to be shown: it may hold the key, or what a terminal would obey."""
    text = without_key(text[: 8 * SHOWN_CHARS], key)
    plain = "".join(letter if letter.isprintable() else " " for letter in redact_text(text)[0])
    return " ".join(plain.split())[:SHOWN_CHARS]
