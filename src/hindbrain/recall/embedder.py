"""Configuration -> what turns texts into vectors: the table in the package, another model, or nothing.

Vectors of two embedders say nothing to each other, so each names what it makes: whatever changes vectors changes the name, and
with another name everything is embedded anew. Search goes by words alone where there is no embedder or where it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from hindbrain.recall.static import Floats, Static

if TYPE_CHECKING:
    from hindbrain.base.config import Config


class Embedder(Protocol):
    """Turns texts into vectors of length 1. Everything here may raise EmbedderFailed, name and dimensions included: a model
    behind a network is asked for them when they are first needed, and a model that begins to answer with another number of
    dimensions has another name from then on."""

    @property
    def name(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def documents(self, texts: Sequence[str]) -> Floats:
        """One row for each text; zeros for a text without content."""

    def question(self, text: str) -> Floats:
        """One row."""


def configured(config: Config) -> Embedder | None:
    """The embedder the configuration names, None for "none". Asks no network. Raises EmbedderFailed where it cannot be used, and
    ConfigError where a setting it needs is missing."""
    kind, _, model = config.embedder.partition(":")
    if kind == "none":
        return None
    if kind == "static":
        return Static.load()
    if kind == "fastembed":
        from hindbrain.recall.local import Local  # the extra is asked for by those alone who want it

        return Local(model)
    from hindbrain.recall import remote  # http and ssl take time to load

    return remote.connect(kind, model, config.embedder_url, config.embedder_key, config.embedder_timeout)
