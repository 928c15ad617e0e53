"""Embedders of the extra fastembed. The package itself is large and fetches models, so one of its shape stands in for it."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

from hindbrain.base.errors import EmbedderFailed
from hindbrain.recall.local import Local


class TextEmbedding:
    """What is used of fastembed.TextEmbedding, with its names and its ways to fail."""

    made: ClassVar[list[TextEmbedding]] = []

    def __init__(self, model_name: str, threads: int | None = None) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported in TextEmbedding.")
        if model_name == "away":
            raise OSError("could not download")
        self.model_name = model_name
        self.asked: list[tuple[str, list[str]]] = []
        TextEmbedding.made.append(self)

    def embed(self, documents: Iterable[str], batch_size: int = 256) -> Iterator[Any]:
        yield from self._rows("embed", documents)

    def passage_embed(self, texts: Iterable[str], **kwargs: Any) -> Iterator[Any]:
        yield from self._rows("passage", texts)

    def query_embed(self, query: Iterable[str], **kwargs: Any) -> Iterator[Any]:
        yield from self._rows("query", query)

    def _rows(self, way: str, texts: Iterable[str]) -> Iterator[Any]:
        given = list(texts)
        self.asked.append((way, given))
        for _ in given:
            if self.model_name == "breaks":
                raise RuntimeError("the runtime below gave up")
            yield np.array([3.0, 4.0 if way == "query" else -4.0, 0.0]) if self.model_name != "nan" else np.array([np.nan])


@pytest.fixture
def fastembed(monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("fastembed")
    module.TextEmbedding = TextEmbedding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fastembed", module)
    monkeypatch.setattr(TextEmbedding, "made", [])


@pytest.mark.usefixtures("fastembed")
def test_documents_and_questions_go_their_own_ways_and_the_model_is_loaded_once() -> None:
    local = Local("some/model")
    assert TextEmbedding.made == []
    assert local.documents(["a", " ", "b"]).tolist() == [[0.6000000238418579, -0.800000011920929, 0.0], [0.0] * 3,
                                                         [0.6000000238418579, -0.800000011920929, 0.0]]  # fmt: skip
    assert local.question("q").tolist() == [0.6000000238418579, 0.800000011920929, 0.0]
    assert (local.name, local.dimensions) == ("fastembed:some/model:3", 3)
    (model,) = TextEmbedding.made
    assert model.asked == [("passage", ["a", "b"]), ("query", ["q"])]


@pytest.mark.usefixtures("fastembed")
def test_the_dimensions_are_found_by_embedding_when_nothing_was_yet() -> None:
    local = Local("some/model")
    assert local.name == "fastembed:some/model:3"
    assert local.documents([""]).tolist() == [[0.0] * 3]
    assert local.question(" ").tolist() == [0.0] * 3
    assert [model.asked for model in TextEmbedding.made] == [[("embed", ["dimensions"])]]


@pytest.mark.usefixtures("fastembed")
@pytest.mark.parametrize(
    ("model", "message", "retryable"),
    [
        ("unknown", "fastembed could not load unknown: Model unknown is not supported in TextEmbedding.", False),
        ("away", "fastembed could not load away: could not download", True),
        ("breaks", "breaks could not embed 1 texts: the runtime below gave up", False),
        ("nan", "nan answered with numbers that are not finite", False),
    ],
)  # fmt: skip
def test_whatever_goes_wrong_below_is_one_error(model: str, message: str, retryable: bool) -> None:
    with pytest.raises(EmbedderFailed) as caught:
        Local(model).documents(["a"])
    assert (caught.value.message, caught.value.retryable) == (message, retryable)


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)  # as if it were not installed
    with pytest.raises(EmbedderFailed) as caught:
        Local("some/model").question("q")
    assert caught.value.message.startswith("cannot use fastembed:some/model: ")
    assert caught.value.hint == "pip install 'hindbrain[fastembed]', or set embedder to static"
