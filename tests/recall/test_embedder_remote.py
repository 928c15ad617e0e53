"""Embedders behind HTTP: both protocols as they are spoken, and answers nobody should trust."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from hindbrain.base.config import load
from hindbrain.base.errors import ConfigError, EmbedderFailed
from hindbrain.recall import remote
from hindbrain.recall.embedder import Embedder, configured
from tests.recall.embedding_server import EmbeddingServer, Reply, as_json, serving, vector_of

KEY = "test-" + "key-of-nobody-123"
KINDS = ("openai", "ollama")


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with serving() as running:
        yield running


def embedder(server: EmbeddingServer, kind: str = "openai", tail: str = "", timeout: float = 20) -> remote.Remote:
    return remote.connect(kind, "small-1", server.url + tail, KEY, timeout)


def unit(text: str, width: int = 8) -> list[float]:
    row = np.array(vector_of(text, width))
    return [float(number) for number in (row / np.linalg.norm(row)).astype(np.float32)]


def failure(asked: Embedder) -> EmbedderFailed:
    with pytest.raises(EmbedderFailed) as caught:
        asked.documents(["one", "two"])
    assert KEY not in "".join(traceback.format_exception(caught.value)) + repr(asked)
    return caught.value


@pytest.mark.parametrize("kind", KINDS)
def test_texts_become_vectors_of_length_1_in_their_order_and_empty_ones_become_zeros(server: EmbeddingServer, kind: str) -> None:
    asked = embedder(server, kind)
    texts = ["alpha", " ", "beta\0", "", "gamma \ud800"]
    found = asked.documents(texts)
    assert found.dtype == np.float32
    assert found.tolist() == [unit("alpha"), [0.0] * 8, unit("beta"), [0.0] * 8, unit("gamma ?")]
    assert asked.question("alpha").tolist() == unit("alpha")
    assert (asked.name, asked.dimensions) == (f"{kind}:small-1:8", 8)
    assert [request.body["input"] for request in server.requests] == [["alpha", "beta", "gamma ?"], ["alpha"]]


def test_each_protocol_is_asked_at_its_own_path_with_model_and_key(server: EmbeddingServer) -> None:
    tails = ("", "/v1", "/v1/embeddings", "/proxy")
    for tail in tails:
        embedder(server, "openai", tail).question("x")
    for tail in ("", "/api", "/api/embed"):
        embedder(server, "ollama", tail).question("x")
    assert [request.path for request in server.requests] == [
        "/v1/embeddings", "/v1/embeddings", "/v1/embeddings", "/proxy/v1/embeddings", "/api/embed", "/api/embed", "/api/embed",
    ]  # fmt: skip
    assert {request.headers["Authorization"] for request in server.requests} == {f"Bearer {KEY}"}
    assert [request.body for request in server.requests[:1]] == [{"model": "small-1", "input": ["x"]}]


def test_numbers_of_any_size_become_a_vector_of_length_1(server: EmbeddingServer) -> None:
    rows = [[3e200, 4e200], [3e-200, 4e-200], [0, 0]]
    server.answer = lambda request: as_json({"embeddings": rows})
    found = embedder(server, "ollama").documents(["large", "small", "none"])
    assert found.tolist() == [[0.6000000238418579, 0.800000011920929]] * 2 + [[0.0, 0.0]]


def test_many_texts_go_in_batches_and_come_back_in_order(server: EmbeddingServer) -> None:
    texts = [f"text {number}" for number in range(150)]
    found = embedder(server).documents(texts)
    assert [len(request.body["input"]) for request in server.requests] == [64, 64, 22]
    assert found.tolist() == [unit(text) for text in texts]


def test_name_and_dimensions_are_asked_for_once_when_nothing_was_embedded_yet(server: EmbeddingServer) -> None:
    asked = embedder(server)
    assert server.requests == []
    assert [asked.name, asked.name, asked.dimensions] == ["openai:small-1:8", "openai:small-1:8", 8]
    assert len(server.requests) == 1


def test_a_model_that_changes_its_dimensions_fails_once_and_has_another_name_then(server: EmbeddingServer) -> None:
    asked = embedder(server)
    asked.question("x")
    server.width = 16
    found = failure(asked)
    assert (found.message, found.retryable) == ("small-1 answered with vectors of 16 numbers: they had 8 before", True)
    assert asked.name == "openai:small-1:16"
    assert asked.question("x").tolist() == unit("x", 16)


def test_secrets_are_removed_before_a_text_leaves_the_machine(server: EmbeddingServer) -> None:
    secret = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    asked = embedder(server)
    asked.question(f"why is {secret} refused")
    asked.documents([f"token: {secret}"])
    sent = [text for request in server.requests for text in request.body["input"]]
    assert len(sent) == 2
    assert all(secret not in text and "[redacted:" in text for text in sent)


def test_a_very_long_text_is_cut_before_it_is_sent(server: EmbeddingServer) -> None:
    embedder(server).documents(["x " * 1_000_000])
    assert [len(text) for text in server.requests[0].body["input"]] == [7_999]


ROW = [0.5] * 8
BROKEN: dict[str, tuple[Reply, str, bool]] = {
    "too few": (
        as_json({"data": [{"index": 0, "embedding": ROW}]}), "small-1 answered with 1 vectors: 2 texts were given", False,
    ),
    "too many": (
        as_json({"data": [{"index": n, "embedding": ROW} for n in range(3)]}),
        "small-1 answered with 3 vectors: 2 texts were given", False,
    ),
    "none": (as_json({"data": []}), "small-1 answered with 0 vectors: 2 texts were given", False),
    "widths that differ": (
        as_json({"data": [{"index": 0, "embedding": ROW}, {"index": 1, "embedding": [1.0]}]}),
        "small-1 answered with vectors that differ in width", False,
    ),
    "not a number": (
        as_json({"data": [{"index": n, "embedding": [float("nan")] * 8} for n in range(2)]}),
        "small-1 answered with numbers that are not finite", False,
    ),
    "beyond all numbers": (
        Reply(b'{"data": [{"index": 0, "embedding": [1e999]}, {"index": 1, "embedding": [1]}]}'),
        "small-1 answered with numbers that are not finite", False,
    ),
    "words": (
        as_json({"data": [{"index": n, "embedding": ["1.0"]} for n in range(2)]}),
        "small-1 answered with str96 of shape (2, 1): vectors were expected", False,
    ),
    "nothing in them": (
        as_json({"data": [{"index": n, "embedding": []} for n in range(2)]}),
        "small-1 answered with float64 of shape (2, 0): vectors were expected", False,
    ),
    "the same index twice": (
        as_json({"data": [{"index": 0, "embedding": ROW}] * 2}),
        "openai:small-1 at 127.0.0.1 answered without vectors (KeyError)", False,
    ),
    "another shape": (as_json({"embeddings": [ROW]}), "openai:small-1 at 127.0.0.1 answered without vectors (KeyError)", False),
    "a list": (as_json([1, 2]), "openai:small-1 at 127.0.0.1 answered without vectors (TypeError)", False),
    "no JSON": (Reply(b"<html>hello</html>"), "openai:small-1 at 127.0.0.1 answered with 18 bytes that are not JSON", False),
    "no text": (Reply(b"\xff\xfe\x00"), "openai:small-1 at 127.0.0.1 answered with 3 bytes that are not JSON", False),
    "nested without end": (
        Reply(b"[" * 100_000), "openai:small-1 at 127.0.0.1 answered with 100000 bytes that are not JSON", False,
    ),
    "half an answer": (
        Reply(b'{"data": [', announced=5000), "openai:small-1 at 127.0.0.1 broke off after 10 bytes of an answer", True,
    ),
    "server's fault": (Reply(b"oops", 500), "openai:small-1 at 127.0.0.1 refused with status 500: oops", True),
    "overloaded": (Reply(b"", 503), "openai:small-1 at 127.0.0.1 refused with status 503", True),
    "unknown model": (
        as_json({"error": "no such model"}, 404),
        'openai:small-1 at 127.0.0.1 refused with status 404: {"error": "no such model"}', False,
    ),
    "what a terminal obeys": (
        Reply(b"\x1b[2J\x07bad\r\n request\xff", 400),
        "openai:small-1 at 127.0.0.1 refused with status 400: [2J bad request\N{REPLACEMENT CHARACTER}", False,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", sorted(BROKEN))
def test_a_bad_answer_is_an_error_that_says_what_was_found(server: EmbeddingServer, case: str) -> None:
    reply, message, retryable = BROKEN[case]
    server.answer = lambda request: reply
    found = failure(embedder(server))
    assert (found.message, found.retryable, found.after) == (message, retryable, None)
    assert found.hint


@pytest.mark.parametrize(
    ("asks", "after"), [("7", 7.0), ("999999", 3600.0), ("Wed, 21 Oct 2026 07:28:00 GMT", None), ("-1", None), ("٣", None)]
)
def test_too_many_requests_may_be_tried_again_after_the_time_named(
    server: EmbeddingServer, asks: str, after: float | None
) -> None:
    server.answer = lambda request: Reply(b"slow down", 429, {"Retry-After": asks.encode("utf-8").decode("latin-1")})
    found = failure(embedder(server))
    assert (found.retryable, found.after) == (True, after)


def test_a_server_that_repeats_the_key_in_its_refusal_does_not_get_it_shown(server: EmbeddingServer) -> None:
    server.answer = lambda request: Reply(f"{request.headers['Authorization'].split()[1]} is wrong".encode(), 401)
    found = failure(embedder(server))
    assert found.message == "openai:small-1 at 127.0.0.1 refused with status 401: **** is wrong"
    assert "embedder_key" in found.hint
    assert found.retryable is False
    server.answer = lambda request: Reply(f"{request.headers['Authorization'].split()[1][:-2]}** is wrong".encode(), 401)
    assert failure(embedder(server)).message == "openai:small-1 at 127.0.0.1 refused with status 401: ****** is wrong"


def test_an_answer_that_comes_byte_by_byte_is_given_up_when_the_time_is_over(server: EmbeddingServer) -> None:
    server.answer = lambda request: Reply(b"{", announced=1_000_000_000, drips=True)
    found = failure(embedder(server, timeout=0.3))
    assert (found.message, found.retryable) == ("openai:small-1 at 127.0.0.1 did not answer within 0.3 s", True)


def test_a_server_that_accepts_and_says_nothing_is_given_up_when_the_time_is_over() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        asked = remote.connect("ollama", "m", f"http://127.0.0.1:{silent.getsockname()[1]}", "", 0.3)
        assert failure(asked).message == "ollama:m at 127.0.0.1 did not answer within 0.3 s"


def test_a_huge_answer_is_not_read_to_its_end(server: EmbeddingServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MAX_ANSWER", 1 << 20)
    server.answer = lambda request: Reply(b" " * (3 << 20), announced=1 << 40)
    assert failure(embedder(server)).message == "openai:small-1 at 127.0.0.1 answered with more than 1 MB"


def test_nobody_there_is_an_error_that_may_pass() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = failure(remote.connect("openai", "m", f"http://127.0.0.1:{port}", KEY, 5))
    assert found.message.startswith("openai:m at 127.0.0.1 gave no answer: ")
    assert found.retryable


@pytest.mark.parametrize("host", ["a..b", "x" * 70 + ".invalid"])
def test_a_host_that_cannot_be_one_is_an_error_like_any_other(host: str) -> None:
    found = failure(remote.connect("openai", "m", f"http://{host}", KEY, 5))
    assert found.message.startswith(f"openai:m at {host} gave no answer: ")


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirection_is_not_followed(server: EmbeddingServer, status: int) -> None:
    with serving() as other:
        server.answer = lambda request: Reply(b"", status, {"Location": other.url + request.path})
        found = failure(embedder(server))
        assert (found.message, found.retryable) == (f"openai:small-1 at 127.0.0.1 refused with status {status}", False)
        assert other.requests == []


def test_a_server_without_tls_cannot_stand_in_for_one_with_it(server: EmbeddingServer) -> None:
    asked = remote.connect("openai", "m", server.url.replace("http:", "https:"), KEY, 5)
    assert failure(asked).message.startswith("openai:m at 127.0.0.1 gave no answer: ")
    assert server.requests == []


def test_the_configuration_names_the_embedder(tmp_path: Path, server: EmbeddingServer) -> None:
    environ = {
        "HOME": "/home/ada", "HINDBRAIN_HOME": str(tmp_path), "HINDBRAIN_EMBEDDER_URL": server.url, "HINDBRAIN_EMBEDDER_KEY": KEY,
    }  # fmt: skip
    for kind in KINDS:
        asked = configured(load(environ=environ | {"HINDBRAIN_EMBEDDER": f"{kind}:org/m:latest"}))
        assert asked is not None
        assert asked.name == f"{kind}:org/m:latest:8"
    assert [request.headers["Authorization"] for request in server.requests] == [f"Bearer {KEY}"] * 2
    with pytest.raises(ConfigError, match="cannot use embedder openai:m: embedder_url is not set"):
        configured(load(environ=environ | {"HINDBRAIN_EMBEDDER": "openai:m", "HINDBRAIN_EMBEDDER_URL": ""}))


def test_ollama_is_looked_for_where_it_usually_listens(tmp_path: Path) -> None:
    asked = configured(load(environ={"HOME": "/home/ada", "HINDBRAIN_HOME": str(tmp_path), "HINDBRAIN_EMBEDDER": "ollama:m"}))
    assert isinstance(asked, remote.Remote)
    assert asked.url == "http://127.0.0.1:11434/api/embed"


def test_a_failure_leaves_nothing_behind_and_the_next_request_is_answered(server: EmbeddingServer) -> None:
    answers = iter([Reply(b"", 500)])
    server.answer = lambda request: next(answers, None) or server.honest(request)
    asked = embedder(server)
    failure(asked)
    assert asked.question("x").tolist() == unit("x")


def test_text_of_any_script_arrives_as_it_is(server: EmbeddingServer) -> None:
    embedder(server).documents(["ünïcode 日本"])
    sent = [(request.headers["Content-Type"], request.body["input"]) for request in server.requests]
    assert sent == [("application/json", ["ünïcode 日本"])]
