"""Texts -> vectors of a model behind HTTP: anything that speaks OpenAI's /v1/embeddings, and Ollama's /api/embed.

Secrets are removed from a text before it leaves the machine. The other side is not trusted: an answer has a limit of size and one
deadline for the whole of it, a redirection is not followed, and what it says in an error is shown shortened and without the key.
"""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import threading
from collections.abc import Sequence
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from hindbrain.base.errors import ConfigError, EmbedderFailed
from hindbrain.base.key_mask import without_key
from hindbrain.base.redact import redact_text
from hindbrain.recall.answers import MAX_CHARS, Once, unit_rows
from hindbrain.recall.static import Floats

BATCH: Final = 64  # texts in one request
MAX_ANSWER: Final = 32 << 20  # bytes; 64 vectors of 16,384 numbers are less
OLLAMA: Final = "http://127.0.0.1:11434"
RETRYABLE: Final = frozenset({408, 425, 429})  # and whatever is the server's own fault
SHOWN_CHARS: Final = 200


class Kind(NamedTuple):
    """What one protocol calls things."""

    path: str
    default_url: str


KINDS: Final = {"openai": Kind("/v1/embeddings", ""), "ollama": Kind("/api/embed", OLLAMA)}


def connect(kind: str, model: str, url: str, key: str, timeout: float) -> Remote:
    """The embedder; nothing is asked of it yet."""
    if not (url or KINDS[kind].default_url):
        raise ConfigError(f"cannot use embedder {kind}:{model}: embedder_url is not set",
                          hint="hindbrain config set embedder_url https://..., the part before /v1/embeddings")  # fmt: skip
    return Remote(kind, model, url or KINDS[kind].default_url, key, timeout)


class Remote:
    """A model behind HTTP."""

    def __init__(self, kind: str, model: str, url: str, key: str, timeout: float) -> None:
        self._kind = kind
        self._model = model
        path = KINDS[kind].path
        base = url.removesuffix(path).removesuffix(path.rpartition("/")[0])  # people give it with its end, too
        self._url = urlsplit(base + path)
        self._key = key
        self._timeout = timeout
        self._size = Once()

    def __repr__(self) -> str:
        return f"Remote({self._kind}:{self._model})"

    @property
    def url(self) -> str:
        """What is asked."""
        return self._url.geturl()

    @property
    def name(self) -> str:
        return f"{self._kind}:{self._model}:{self.dimensions}"

    @property
    def dimensions(self) -> int:
        return self._size.known or int(self._asked(["dimensions"]).shape[1])

    def documents(self, texts: Sequence[str]) -> Floats:
        """One row of length 1 for each text; zeros for a text without content."""
        given = {place: plain for place, text in enumerate(texts) if (plain := _sendable(text))}
        places, sent = list(given), list(given.values())
        batches = [self._asked(sent[start : start + BATCH]) for start in range(0, len(sent), BATCH)]
        found = np.zeros((len(texts), self.dimensions), np.float32)
        if batches:
            found[places] = np.concatenate(batches)
        return found

    def question(self, text: str) -> Floats:
        """One row of length 1."""
        found: Floats = self.documents([text])[0]
        return found

    def _asked(self, texts: list[str]) -> Floats:
        answer = self._answer(json.dumps({"model": self._model, "input": texts}).encode())
        rows = unit_rows(self._vectors(answer), len(texts), self._model)
        self._size.learn(rows.shape[1], self._model)
        return rows

    def _vectors(self, answer: Any) -> list[Any]:
        """The vectors in the order of the texts."""
        try:
            if self._kind == "ollama":
                found = answer["embeddings"]
            else:
                held = {int(each["index"]): each["embedding"] for each in answer["data"]}
                found = [held[place] for place in range(len(answer["data"]))]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise self._failed(f"answered without vectors ({type(error).__name__})", hint=_OTHER_PROTOCOL) from error
        if not isinstance(found, list):
            raise self._failed("answered without vectors", hint=_OTHER_PROTOCOL)
        return found

    def _answer(self, body: bytes) -> Any:
        status, headers, data = self._exchange(body)
        if status != 200:
            raise self._refused(status, headers, data)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:  # ValueError also for bytes that are no text
            raise self._failed(f"answered with {len(data)} bytes that are not JSON", hint=_OTHER_PROTOCOL) from error

    def _exchange(self, body: bytes) -> tuple[int, http.client.HTTPMessage, bytes]:
        connection = self._connection()
        deadline = _Deadline(self._timeout)
        try:
            connection.connect()
            deadline.holds(connection.sock)
            connection.request("POST", self._url.path, body, self._headers())
            with connection.getresponse() as response:
                data = response.read(MAX_ANSWER + 1)
                missing = response.length  # of what it announced; closing forgets it
        except (OSError, http.client.HTTPException, UnicodeError) as error:  # UnicodeError: no name of a host
            late = deadline.passed or isinstance(error, TimeoutError)
            failed = self._late() if late else self._failed(f"gave no answer: {self._shown(_said(error))}", retryable=True)
            raise failed from error
        finally:
            deadline.cancel()
            connection.close()
        if deadline.passed:
            raise self._late()
        if len(data) > MAX_ANSWER:
            raise self._failed(f"answered with more than {MAX_ANSWER >> 20} MB", hint=_OTHER_PROTOCOL)
        if missing:
            raise self._failed(f"broke off after {len(data)} bytes of an answer", retryable=True)
        return response.status, response.headers, data

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._url.hostname or "", self._url.port
        if self._url.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=ssl.create_default_context())
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _headers(self) -> dict[str, str]:
        key = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close", **key}

    def _refused(self, status: int, headers: http.client.HTTPMessage, data: bytes) -> EmbedderFailed:
        hint = _HINTS.get(status, "")
        if 300 <= status < 400:
            hint = "it points elsewhere, which is not followed: set embedder_url to the right address"
        said = self._shown(data[: 4 * SHOWN_CHARS].decode("utf-8", "replace"))
        after = headers.get("Retry-After", "")
        return self._failed(
            f"refused with status {status}{said and ': ' + said}", hint=hint, retryable=status in RETRYABLE or status >= 500,
            after=min(float(after), 3600.0) if after.isascii() and after.isdigit() else None,
        )  # fmt: skip

    def _shown(self, text: str) -> str:
        """What the other side said, fit to be shown: it may hold the key, or what a terminal would obey."""
        plain = "".join(letter if letter.isprintable() else " " for letter in redact_text(without_key(text, self._key))[0])
        return " ".join(plain.split())[:SHOWN_CHARS]

    def _late(self) -> EmbedderFailed:
        return self._failed(f"did not answer within {self._timeout:g} s", hint=_LATE, retryable=True)

    def _failed(self, what: str, *, hint: str = "", retryable: bool = False, after: float | None = None) -> EmbedderFailed:
        where = f"{self._kind}:{self._model} at {self._url.hostname}"
        return EmbedderFailed(f"{where} {what}", hint=hint, retryable=retryable, after=after)


class _Deadline:
    """Ends an exchange when its time is over, however the other side spends it: a limit for each single read is met by a byte now
    and then."""

    def __init__(self, seconds: float) -> None:
        self.passed = False
        self._seconds = seconds
        self._timer: threading.Timer | None = None

    def holds(self, sock: socket.socket) -> None:
        self._timer = threading.Timer(self._seconds, self._end, (sock,))
        self._timer.daemon = True
        self._timer.start()

    def _end(self, sock: socket.socket) -> None:
        self.passed = True
        try:
            # Not the one of SSLSocket, which would take the TLS state away under the reader.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)
        except OSError:
            pass  # it is over already

    def cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()


def _sendable(text: str) -> str:
    """A text without secrets, and without what is no Unicode; empty when nothing is in it."""
    plain = redact_text(text[:MAX_CHARS])[0].encode("utf-8", "replace").decode()
    return plain.replace("\0", " ").strip()


def _said(error: Exception) -> str:
    return str(error) or type(error).__name__


_LATE: Final = "search goes by words meanwhile; a slow model needs a larger embedder_timeout"
_OTHER_PROTOCOL: Final = "see that embedder_url leads to a server of the kind the setting embedder names"
_HINTS: Final = {
    401: "the key is missing or wrong: hindbrain config set embedder_key ...",
    403: "the key does not allow this: hindbrain config set embedder_key ...",
    404: "the model or the address is not known there: see embedder and embedder_url (Ollama fetches one by `ollama pull`)",
}
