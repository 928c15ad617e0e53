"""What is asked of a model, and what it answered, in words that every way of asking shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from hindbrain.capture.event import Json, stable_id

HOSTED: Final = ("anthropic", "openai", "gemini", "ollama")
COMMANDS: Final = ("claude-cli", "codex-cli")


@dataclass(frozen=True, slots=True)
class Question:
    """One call: what never changes first, so that servers may keep it; then what is asked about."""

    kind: str  # extract, reflect, digest, ask, compile
    version: str  # of the prompt
    system: str
    text: str
    schema: dict[str, Json]
    most_output: int = 2_000  # tokens
    project_id: str | None = None
    sessions: tuple[str, ...] = ()  # ids of those it shows anything of
    check: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)  # raises when no answer is wanted any more

    def key(self, model: str) -> str:
        """Names the reply: the same question to the same model is never paid for twice."""
        return stable_id("call", self.kind, model, self.version, self.system, self.text)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model wrote, and what it counted; 0 where it did not say."""

    text: str
    input_tokens: int = 0
    output_tokens: int = 0
    complaint: str = ""  # why it cannot be used, where that is known already: it was paid for all the same


class ModelName(NamedTuple):
    """A model as the setting names it."""

    provider: str
    model: str

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"

    @classmethod
    def of(cls, name: str) -> ModelName:
        provider, _, model = name.partition(":")
        return cls(provider, model)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long and how much of an answer is waited for. Seconds and bytes."""

    total: float = 120.0
    connect: float = 10.0
    first_byte: float = 120.0  # a model that does not stream sends nothing until it is done
    idle: float = 30.0
    bytes: int = 2 << 20

    @classmethod
    def within(cls, seconds: float) -> Limits:
        """The limits of a call that may take so long in all."""
        return cls(seconds, min(10.0, seconds), seconds, min(30.0, seconds))


class Model(Protocol):
    """Something that can be asked."""

    @property
    def name(self) -> ModelName: ...

    def ask(self, question: Question) -> Reply:
        """The reply, as it came. Raises ModelFailed."""
        ...
